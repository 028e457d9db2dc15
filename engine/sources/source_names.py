"""The names above the columns of a file of sources, which say what each column has, as those of a file of edges do."""

from collections.abc import Sequence

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import TIMES, named_ends, plain

ID, LABEL, TIME = "ids", "labels", "times"
"""The kinds of columns of a file of sources."""
IDS = (
    *("id", "vertex", "vertexid", "node", "nodeid", "vid", "nid", "source", "sourceid", "src", "seed", "seedid"),
    *("ids", "vertices", "vertexids", "nodes", "nodeids", "sources", "sourceids", "seeds", "seedids"),
)
LABELS = ("y", "label", "labels", "class", "classes")
SAYS = dict.fromkeys(IDS, ID) | dict.fromkeys(LABELS, LABEL) | dict.fromkeys((*TIMES, "seedtime", "inputtime"), TIME)


def says(name: str) -> str | None:
    """The kind of column that a name stands for; None for a name that does not say it."""
    return SAYS.get(plain(name))


def named_by(text: str, columns: int) -> list[str] | None:
    """The names in a comment above the first row, where each of them says another thing, ids among them, and they are
    as many as the columns; otherwise None.
    """
    words = text.lstrip("#% \t").replace(",", " ").replace(";", " ").split()
    said = [says(word) for word in words]
    are_names = len(words) == columns > 1 and None not in said and len(set(said)) == columns and ID in said
    return words if are_names else None


def places_of(where: str, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The place of each of ``wanted``, what the columns have in their usual order, among columns of so many ``names``.

    Names that say nothing are those of what is left, in the usual order.

    FormatError, which begins with ``where``, for a name that says what is not wanted, two that say the same, names of
    an edge, and several that say nothing beside others in an unusual order.
    """
    said = [says(name) for name in names]
    if why := _why_not(names, said, wanted):
        raise refusal(where, names, wanted, why)
    left = (place for place, what in enumerate(said) if what is None)
    return [said.index(what) if what in said else next(left) for what in wanted]


def _why_not(names: Sequence[str], said: Sequence[str | None], wanted: Sequence[str]) -> str | None:
    """Why columns of such ``names`` cannot be told apart as those that are ``wanted``; None where they can."""
    pairs = list(zip(names, said, strict=True))
    if named_ends(names):
        return "which are those of the ends of edges"
    if wrong := [name for name, what in pairs if what and what not in wanted]:
        return f"of which {quoted(wrong[0])} is that of {says(wrong[0])}"
    if twice := [name for name, what in pairs if what and said.count(what) > 1]:
        return f"of which {' and '.join(map(quoted, twice))} say the same"
    unknown = [name for name, what in pairs if what is None]
    if len(unknown) > 1 and any(what not in (None, usual) for what, usual in zip(said, wanted, strict=True)):
        return f"of which {' and '.join(map(quoted, unknown))} may each be that of any of these"
    return None


def refusal(where: str, names: Sequence[str], wanted: Sequence[str], why: str) -> FormatError:
    """The error for ``names`` above columns that are to be ``wanted``."""
    several = len(wanted) > 1
    example = " ".join({ID: "id", LABEL: "label", TIME: "time"}[what] for what in wanted)
    return FormatError(
        f"{where}: expected {'columns' if several else 'one column'} of {', '.join(wanted)}, found the names "
        f"{', '.join(map(quoted, names))}, {why}; leave {'these columns' if several else 'this column'} alone, below "
        f"{example!r}{', in any order' * several}"
    )
