"""Finding the columns of the ends and weights of edges: by options, by the names in a header, or by position.

Names are compared without regard to case, quotes and any character that is neither a letter nor a digit:
``From_Node-ID`` is ``fromnodeid``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError, OptionError

ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("fromnodeid", "tonodeid"),
    ("srcnid", "dstnid"),
    ("sourceid", "targetid"),
    ("srcid", "dstid"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("sourcenode", "targetnode"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("vertex1", "vertex2"),
    ("startid", "endid"),
    ("origin", "destination"),
    ("src", "dest"),
    ("source", "destination"),
    ("i", "j"),
)
SIDES = SOURCES, TARGETS = tuple({pair[end] for pair in ENDS} for end in (0, 1))
WEIGHTS = ("weight", "weights", "edgeweight", "w")
KNOWN_NAMES = {*SOURCES, *TARGETS, *WEIGHTS}
TIMES = ("time", "times", "timestamp", "timestamps", "datetime", "date", "ts", "t")
FLAGS = ("--source-column", "--target-column", "--weight-column")
EDGE_COLUMN, TIME_COLUMN = "--edge-column", "--time-column"


@dataclass(frozen=True)
class Wishes:
    """The options that name columns: a name, or a number that counts from 1; None or ``auto`` let the file decide.

    ``further``: those of edge columns; ``time``: that of times.
    """

    source: str | None = None
    target: str | None = None
    weight: str = "auto"
    further: tuple[str, ...] = ()
    time: str | None = None

    @property
    def asked(self) -> list[tuple[str, str | None]]:
        """Each wish behind its option, as messages name it."""
        weight = None if self.weight in ("auto", "none") else self.weight
        others = [(EDGE_COLUMN, wish) for wish in self.further]
        others += [] if self.time is None else [(TIME_COLUMN, self.time)]
        return [*zip(FLAGS, (self.source, self.target, weight), strict=True), *others]

    @property
    def names(self) -> list[str]:
        """The wishes that are names, not numbers."""
        return [wish for _, wish in self.asked if wish is not None and not is_number(wish)]


@dataclass(frozen=True)
class Columns:
    """Positions of the columns, from 0; a weight of -1 means that there is none; ``further``: of edge columns."""

    source: int = 0
    target: int = 1
    weight: int = -1
    further: tuple[int, ...] = ()

    @property
    def last(self) -> int:
        """The last column that is read."""
        return max(self.source, self.target, self.weight, *self.further)


def is_number(wish: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", wish) is not None


def wish_of(flag: str, wish: object) -> str | None:
    """The wish of option ``flag`` as text.

    OptionError for a value that is neither a name nor a number, or a number that no column can have.
    """
    if isinstance(wish, int | np.integer) and not isinstance(wish, bool):
        wish = str(wish)
    if wish is not None and not isinstance(wish, str):
        raise OptionError(f"{flag}: expected a name, or a number from 1, found {quoted(wish)}")
    if wish is not None and is_number(wish) and (len(wish) > 9 or int(wish) < 1):
        raise OptionError(f"{flag}: expected a name, or a number from 1 for the first column, found {wish[:24]}")
    if wish == "":
        raise OptionError(f"{flag}: expected a name, or a number from 1, found nothing")
    return wish


def plain(name: str) -> str:
    """A name in the form in which names are compared; it may be empty. A number stays as it is: 1.0 is not 10."""
    letters = "".join(c for c in name.lower() if c.isalnum())
    return name if letters.isdecimal() else letters


def named_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of source and target by each pair of known names; without a pair, by the only known names of both."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(plain(name), []).append(place)
    if found := [pair for one, other in ENDS for pair in product(places.get(one, ()), places.get(other, ()))]:
        return found
    sources, targets = ([k for name, of_name in places.items() if name in side for k in of_name] for side in SIDES)
    return [(sources[0], targets[0])] if len(sources) == len(targets) == 1 else []


def named_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of source and target by known names, of several pairs the first; None where there is none."""
    return next(iter(named_pairs(names)), None)


def choose(where: str, names: Sequence[str] | None, count: int, wishes: Wishes) -> Columns:
    """The columns of rows with ``count`` cells under a header of ``names``, None without one.

    ``where`` begins each error.

    Raises OptionError where a wish cannot be met, FormatError where two are the same, or the names do not say which
    columns are the ends.
    """
    source, target, weight, *others = (
        None if wish is None else place_of(where, names, count, wish, flag) for flag, wish in wishes.asked
    )
    further = tuple(place for place in others if place is not None)
    if source is None or target is None:
        source, target = _ends(where, names, count, source, target, (weight, *further))
    if weight is None:
        weight = _weight(where, names, count, (source, target), further) if wishes.weight == "auto" else -1
    roles = list(zip((flag for flag, _ in wishes.asked), (source, target, weight, *further), strict=True))
    for (flag, place), (other, same) in combinations(roles, 2):
        if place == same:
            raise FormatError(
                f"{where}: column {place + 1} cannot have two roles; choose different columns with {flag} and {other}"
            )
    return Columns(source, target, weight, further)


def columns_of_table(where: str, names: Sequence[str], wishes: Wishes) -> Columns:
    """The columns of a table in memory: of two or three without telling names, which nobody names, by their places.

    Errors as of ``choose``.
    """
    plain_names = [plain(name) for name in names]
    tells = len(set(plain_names)) < len(names) or any(name in KNOWN_NAMES for name in plain_names)
    known = names if len(names) > 3 or tells or wishes.names else None
    return choose(where, known, len(names), wishes)


def notes(names: Sequence[str], columns: Columns, wishes: Wishes) -> list[str]:
    """Warnings about a choice of columns that a header of ``names`` did not decide."""
    said, header = [], ",".join(names)
    if not (wishes.source or wishes.target) and named_ends(names) is None:
        said.append(
            f"the first row {header!r} is read as a header, not as an edge, and does not name both ends: "
            f"column {columns.source + 1} is read as the source, "
            f"column {columns.target + 1} as the target"
        )
    read = {names[place] for place in (columns.source, columns.target, *columns.further)}
    others = [name for name in names if name not in read and plain(name) not in ("", "id", "index")]
    if wishes.weight == "auto" and columns.weight < 0 and others:
        timed = " and --time-column" if any(plain(name) in TIMES for name in others) else ""
        said.append(
            f"no column is called weight, the graph has no weights; not read: {', '.join(others)[:200]} "
            f"(see --weight-column{timed})"
        )
    return said


def place_of(where: str, names: Sequence[str] | None, count: int, wish: str, flag: str) -> int:
    """The position of the column that a wish, the value of option ``flag``, means; OptionError where it means none."""
    exact = [k for k, name in enumerate(names or ()) if name == wish]
    found = exact or [k for k, name in enumerate(names or ()) if plain(wish) and plain(name) == plain(wish)]
    if is_number(wish) and not exact:
        if int(wish) > count:
            raise OptionError(f"{where}: {flag} {wish}: expected a number from 1 to {count}, the number of columns")
        return int(wish) - 1
    if is_number(wish) and exact != [int(wish) - 1]:
        raise OptionError(
            f"{where}: {flag} {wish}: column {exact[0] + 1} has that name; expected a name or number that "
            "identifies one column; skip the header with --skip-lines and give numbers"
        )
    if len(found) == 1:
        return found[0]
    if found:
        raise OptionError(
            f"{where}: {flag}: {len(found)} columns are called {quoted(wish)}; expected one, give its number from 1"
        )
    number = f"its number from 1 after =, such as {wish}:int64=3" if flag == EDGE_COLUMN else "a number from 1"
    has = f"it has {', '.join(names)}"[:300] if names else f"there is no header; give {number}"
    raise OptionError(f"{where}: {flag}: no column {quoted(wish)}; {has}")


def _ends(
    where: str,
    names: Sequence[str] | None,
    count: int,
    source: int | None,
    target: int | None,
    taken: Sequence[int | None],
) -> tuple[int, int]:
    """Positions of both ends where options name at most one: by header names, by position without a header, or the only
    columns that are left.
    """
    if source is None and target is None and names is None:
        return 0, 1
    known = named_pairs(names or ())
    pairs = _with_options(known, source, target)
    if len(pairs) > 1:
        raise FormatError(_readings(where, names, count, known))
    if pairs and pairs[0][0] != pairs[0][1]:
        return pairs[0]
    left = [k for k in range(count) if k not in taken and not (names and plain(names[k]) in WEIGHTS)]
    sides = [_side(names[k]) if names else 0 for k in left]
    if len(left) != 2 or sides[0] == sides[1] != 0:
        raise FormatError(_readings(where, names, count, [(0, 1), (1, 2) if count > 2 else (1, 0)]))
    turned = left[1] == source or left[0] == target if source != target else sides[0] > 0 or sides[1] < 0
    return (left[1], left[0]) if turned else (left[0], left[1])


def _with_options(pairs: list[tuple[int, int]], source: int | None, target: int | None) -> list[tuple[int, int]]:
    """The pairs that have the end which an option names; where none has it, that end with the other end of each."""
    held = [pair for pair in pairs if pair[0] == source or pair[1] == target] or pairs
    named = [(one if source is None else source, other if target is None else target) for one, other in held]
    return list(dict.fromkeys(named))


def _side(name: str) -> int:
    """-1 for the name of a source, 1 of a target, 0 for any other."""
    return (plain(name) in TARGETS) - (plain(name) in SOURCES)


def _weight(
    where: str, names: Sequence[str] | None, count: int, ends: tuple[int, int], further: tuple[int, ...]
) -> int:
    """The position of weights that no option names: by the header or, without one, the third of three. FormatError
    where two have the same name.
    """
    left = [k for k in range(count) if k not in further]
    if names is None:
        return left[2] if len(left) == 3 and left[2] not in ends else -1
    named = sorted((WEIGHTS.index(plain(names[k])), k) for k in left if plain(names[k]) in WEIGHTS and k not in ends)
    if len(named) > 1 and named[0][0] == named[1][0]:
        raise FormatError(
            f"{where}: columns {named[0][1] + 1} and {named[1][1] + 1} are both called {WEIGHTS[named[0][0]]}; choose "
            "one with --weight-column, by number from 1, or none"
        )
    return named[0][1] if named else -1


def _readings(where: str, names: Sequence[str] | None, count: int, pairs: Sequence[tuple[int, int]]) -> str:
    """The error for columns that may be read by either of the first two ``pairs``."""
    shown = list(names) if names else [f"column {k + 1}" for k in range(count)]
    if count < 2:
        return f"{where}: expected at least 2 columns, the ends of an edge, found {count}: {', '.join(shown)}"
    one, other = (f"{shown[a]!r} -> {shown[b]!r} (columns {a + 1} and {b + 1})" for a, b in pairs[:2])
    return (
        f"{where}: {','.join(shown)[:200]!r} does not show which columns are the ends of an edge: {one}, or "
        f"{other}? Choose with --source-column and --target-column, by name or by number from 1"
    )
