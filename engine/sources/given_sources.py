"""Lists of sources as a user gives them: a file, an array, or seeds with a label for each, checked, and brought to
dense ids.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.bases import InTime, LinksWithNegatives
from csaw.engine.sources.given_columns import EXACT, IDS
from csaw.engine.sources.source_rows import (
    ID,
    LABEL,
    TIME,
    Table,
    places_of,
    plain_integers,
    refusal,
    rows_of,
    says,
    text_of,
)
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted, real_of, whole_of
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.attributes import STRING
from csaw.partition.graph.edge_columns import NO_TIME
from csaw.partition.graph.given_arrays import array_of, column_of
from csaw.partition.ingestion.text.cells import NUMBER
from csaw.partition.ingestion.time_value import expected_time, read_time, times_of

# The times of sources, of traversals that select in time.


LINK_TIMES, SOURCE_TIMES = "--negative-time", "--time-strategy"


class Asked(Enum):
    """The times that an algorithm asks of its sources."""

    NEVER = 0  # it does not sample in time, or has one option for the time of all
    WITHOUT = 1  # none, where no strategy is given
    SAME = 2  # one for all, which an option gives
    EACH = 3  # one for each, which their list has


class InStore(NamedTuple):
    """Times of sources as a store has them, int64: those that csaw itself has kept."""

    times: np.ndarray


class SourceTimes(NamedTuple):
    """The time of each place of a list of sources, int64; None where all have the time ``same``."""

    listed: np.ndarray | None
    same: int = NO_TIME

    def at(self, places: np.ndarray) -> np.ndarray:
        """int64: the times at these places of the list; NO_TIME where a place is below 0."""
        found = np.full(places.shape, self.same, np.int64) if self.listed is None else self.listed[places]
        found[places < 0] = NO_TIME
        return found


def times_asked(algorithm: Algorithm) -> Asked:
    """The times that an algorithm with its options asks of its sources."""
    if not isinstance(algorithm, InTime | LinksWithNegatives):
        return Asked.NEVER
    way = algorithm.negative_time if isinstance(algorithm, LinksWithNegatives) else algorithm.time_strategy
    if way is None:
        return Asked.WITHOUT
    return Asked.EACH if algorithm.start_time is None else Asked.SAME


def asks_times(algorithm: Algorithm) -> bool:
    """Whether each source of an algorithm has a time."""
    return times_asked(algorithm) in (Asked.SAME, Asked.EACH)


def known_times(name: str, times: np.ndarray) -> np.ndarray:
    """The ``times`` of sources; OptionError, which begins with ``name``, where one of them is NO_TIME."""
    if (none := np.flatnonzero(times == NO_TIME)).size:
        raise OptionError(
            f"{name}: expected times from {NO_TIME + 1} to 2^63 - 1, found {NO_TIME}, which means no time, at entry "
            f"{none[0]}"
        )
    return times


def flag_of_times(algorithm: Algorithm) -> str:
    """The option with which an algorithm reads the times of its sources."""
    return LINK_TIMES if isinstance(algorithm, LinksWithNegatives) else SOURCE_TIMES


def source_times(algorithm: Algorithm, listed: np.ndarray | None) -> SourceTimes | None:
    """The times of an algorithm's sources, of which those that are ``listed`` have one each; None where it asks none.

    OptionError where it asks for times and there are none, or where nodes of one mini-batch would have several.
    """
    if not asks_times(algorithm):
        return None
    if times_asked(algorithm) is Asked.SAME:
        return SourceTimes(None, int(getattr(algorithm, "start_time", NO_TIME)))
    if listed is None:
        raise OptionError(
            f"{flag_of_times(algorithm)}: expected a time for each source, found none; give a file of --sources whose "
            "lines end with a time, or --start-time, a time for all of them"
        )
    if not getattr(algorithm, "disjoint", True) and np.unique(listed).size > 1:
        _refuse_shared(algorithm)
    return SourceTimes(listed)


def _refuse_shared(algorithm: Algorithm) -> None:
    """OptionError where seeds of different times would share nodes."""
    if "disjoint" in algorithm.options():
        raise OptionError(
            "--time-strategy: seeds of different times need --disjoint, because a node that two seeds share "
            "would have two times; pass --disjoint, or one --start-time for all seeds"
        )
    if (seeds := getattr(algorithm, "seeds_per_batch", 1)) > 1:
        raise OptionError(
            f"--time-strategy: all seeds of a mini-batch of {algorithm.name()} have one time, because they add to the "
            f"same budgets; found seeds of different times and --seeds-per-batch {seeds}; pass --seeds-per-batch 1, or "
            "one --start-time for all seeds"
        )


# Lists of sources, as a user gives them.

Number = TypeVar("Number", int, float)
LABELS: Final = "y"
"""The labels of seeds, as PyTorch Geometric calls them: in a mapping of sources, and among the
arrays of mini-batches.
"""
CHANCES = "probability"  # the array of the chances of seeds that are drawn
TIMES = "time"
"""The times of sources, likewise."""
IDS_ALONE = {1: "one vertex id"}
FORMS = {
    Asked.EACH: (
        {2: "a vertex id and its time, separated by a space, tab or comma"},
        {
            2: "a vertex id and its time, separated by a space, tab or comma",
            3: "a vertex id, its label and its time",
        },
        "a time to all of them",
    ),
    Asked.SAME: (
        IDS_ALONE,
        {1: "one vertex id, because a label is followed by a time"},
        "times to all of them without --start-time",
    ),
}
"""By the times that are asked for: the numbers of columns that a file may have, of sources and of seeds, which may have
labels, with what their lines then have; and what to give.
"""
WITHOUT_TIMES = (
    IDS_ALONE,
    IDS_ALONE | {2: "a vertex id and its label, a number"},
    "a label to all of them or to none",
)
LINK_ENDS = 2
LABELLED = 2  # columns beside that of times
NO_TIMES = {
    Asked.NEVER: "; this algorithm takes no times of sources",
    Asked.WITHOUT: "; times are read with {}",
    Asked.SAME: "; times are read with {} and without --start-time, which is the time of all",
}
PLAIN = "1"  # units of numbers that are kept as they are


class Listed(NamedTuple):
    """The dense ids of sources, int64 [n]; the labels, float64 [n], and times, int64 [n], of those that have some."""

    ids: np.ndarray
    labels: np.ndarray | None = None
    times: np.ndarray | None = None


def read_sources(
    given: object,
    store: GraphStore,
    *,
    are_seeds: bool,
    are_links: bool = False,
    times: Asked = Asked.NEVER,
) -> Listed:
    """The list of sources that a user gives for ``store``.

    given: a file of original ids, as :func:`rows_of` reads it; for an algorithm whose sources ``are_seeds`` of
        mini-batches, of one id on each line, or of an id and a label, a number, on every line. Or an array of original
        ids. Or, for seeds, a mapping with the arrays ``ids`` and ``y``, the labels.
    are_links: whether each line has two ids, the ends of a link, which both get its time.
    times: those that the algorithm asks for. If each source has one, each line ends with it, as the input of the store
        has times, and a mapping has them as ``time``. Beside one for all, each line is an id alone, so that no time is
        taken for a vertex or a label.

    FormatError, with the line, for a file that is none of these; OptionError for other values, and where the graph
    lacks a vertex.
    """
    if isinstance(given, str | Path):
        return _from_file(Path(given), store, are_seeds, times, 2 if are_links else int(are_seeds))
    if isinstance(given, Mapping):
        return _from_mapping(given, store, are_seeds, times, are_links)
    return Listed(_from_array(given, store, are_links))


def _from_mapping(
    given: Mapping[str, object], store: GraphStore, are_seeds: bool, asked: Asked, are_links: bool
) -> Listed:
    timed = asked is Asked.EACH
    needed = {IDS, TIMES} if timed else {IDS, LABELS} if are_seeds else set()
    if not needed or not needed <= set(given) <= needed | ({LABELS} if are_seeds else set()):
        with_times = f", in time {IDS} and {TIMES} where no start_time is given"
        way = NO_TIMES.get(asked, "").format(LINK_TIMES if are_links else SOURCE_TIMES) if TIMES in given else ""
        raise OptionError(
            f"sources: expected an array of ids, or, for mini-batches, a mapping with {IDS} and "
            f"{LABELS}{with_times * timed}, found one with {', '.join(map(quoted, given)) or 'nothing'}{way}"
        )
    ids = _from_array(given[IDS], store, are_links)
    labels = _labels(given[LABELS], ids.size) if LABELS in given else None
    if not timed:
        return Listed(ids, labels)
    if are_links and not isinstance(given[TIMES], InStore):
        return Listed(ids, None, np.repeat(_times(given[TIMES], ids.size // LINK_ENDS, _units(store)), LINK_ENDS))
    return Listed(ids, labels, _times(given[TIMES], ids.size, _units(store)))


def _times(given: object, sources: int, units: str) -> np.ndarray:
    """int64: a time for each of so many sources, or links. OptionError for anything else."""
    name = f"sources: {TIMES}"
    if isinstance(given, InStore):
        return given.times
    held = column_of(name, given) if isinstance(given, list | tuple) else array_of(name, given)
    if held.shape != (sources,):
        raise OptionError(
            f"{name}: expected a time for each of {sources:,} sources, found an array of the shape {held.shape}"
        )
    return known_times(name, times_of(name, held, units))


def _units(store: GraphStore) -> str:
    """The units of the times of a store; those of plain numbers where it has none, which is said elsewhere."""
    return PLAIN if store.stored.time is None else store.stored.time.units


def _from_array(given: object, store: GraphStore, are_links: bool = False) -> np.ndarray:
    kind = object if store.id_kind == STRING else None  # NumPy's own strings would all be as wide as the longest
    if isinstance(given, AbstractSet | bytes):
        raise OptionError(f"sources: expected an array of ids, found {quoted(given)}")
    integers = isinstance(given, list | tuple) and all(type(one) is int for one in given)  # NumPy makes floats of some
    held = column_of("sources", given) if integers else array_of("sources", given, kind)
    if are_links and held.ndim > 1 and held.shape[1:] != (LINK_ENDS,):
        turned = "; transpose it" * (held.ndim == 2 and len(held) == LINK_ENDS)
        raise OptionError(
            "sources: expected an array of the shape (links, 2), the source and the destination of each link, found "
            f"one of the shape {held.shape}{turned}"
        )
    ids = held.ravel()
    if kind is None and ids.size and ids.dtype.kind not in "iu" and not _are_integers(ids):
        raise OptionError(f"sources: expected integers, the ids of vertices, found {quoted(given)}")
    return np.asarray(store.dense_ids(ids), np.int64)


def _are_integers(values: np.ndarray) -> bool:
    """Whether values of Python's own, which no 64 bits hold together, are integers; truths and times are not."""
    return values.dtype.kind == "O" and all(isinstance(one, int) and not isinstance(one, bool) for one in values)


def _labels(given: object, seeds: int) -> np.ndarray:
    held = array_of(f"sources: {LABELS}", given)
    if held.shape != (seeds,) or held.dtype.kind not in "iuf":
        raise OptionError(
            f"sources: {LABELS}: expected a number for each of {seeds:,} seeds, found an array of "
            f"{held.dtype} of the shape {held.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(held) if held.dtype.kind == "f" else (held > EXACT) | (held < -EXACT))
    if bad.size:
        raise OptionError(f"sources: {LABELS}: expected {_LABEL}, found {held[bad[0]]} at entry {bad[0]}")
    return held.astype(np.float64)


def _from_file(path: Path, store: GraphStore, are_seeds: bool, asked: Asked, a_line: int) -> Listed:
    """``a_line``: the number of ids that each line must have; 0 for any."""
    if not os.path.isfile(path):  # False, too, for a text that no file can be called
        is_pipe = os.path.exists(path) and not path.is_dir()
        why = "which is a pipe; write the ids to a file first" if is_pipe else "which is not a file"
        raise OptionError(
            f"--sources: expected all, random:N, type:NAME or a file of vertex ids, found {quoted(str(path))}, {why}"
        )
    are_links, one_time = a_line == LINK_ENDS, a_line == LINK_ENDS and asked is Asked.SAME
    units, are_words, are_columns = (
        _units(store),
        store.id_kind == STRING,
        are_seeds or (asked in FORMS and not one_time),
    )
    tells, data = (1 if are_columns else None) if are_words else 0, text_of(path)
    if not are_words and (asked not in FORMS or one_time) and (ids := plain_integers(data, a_line=a_line)) is not None:
        return Listed(np.asarray(store.dense_ids(ids), np.int64))
    read = rows_of(path, data, is_value=partial(_is_value, asked, units), tells=tells)
    read = _below_a_name(read, store) if are_words else read
    if are_links:
        return _links_of(path, read, store, asked is Asked.EACH, units)
    if not are_columns:
        if read.names:
            _places(path, read, WITHOUT_TIMES[0], timed=False)
        return Listed(_dense(path, ((row.line, cell) for row in read.rows for cell in row.cells), store))
    rows, timed = list(_columns(path, read, are_seeds, asked)), asked is Asked.EACH
    ids = _dense(path, ((line, words[0]) for line, words in rows), store)
    columns = len(rows[0][1]) if rows else 1
    labels = times = None
    if columns - timed == LABELLED:
        found = (_number(path, line, words[1], _label, "a label, " + _LABEL) for line, words in rows)
        labels = np.fromiter(found, np.float64, len(rows))
    if timed:
        times = _times_in(path, ((line, words[-1]) for line, words in rows), units)
    return Listed(ids, labels, times)


def _links_of(path: Path, read: Table, store: GraphStore, timed: bool, units: str) -> Listed:
    """The links of a file, each of two ids and, where they are ``timed``, a time, which is last or has such a name."""
    named = [place for place, name in enumerate(read.names) if says(name) == TIME]
    if timed and len(named) > 1:
        raise FormatError(
            f"{path}:{read.line}: expected one column of times, found the names {', '.join(map(quoted, read.names))}"
        )
    at, wanted = (named or [LINK_ENDS])[0], "two vertex ids" + ", and its time" * timed
    for line, cells, text in read.rows:
        if len(cells) != LINK_ENDS + timed:
            raise FormatError(
                f"{path}:{line}: expected the source and the destination of a link, {wanted}, found {quoted(text)}"
            )
    rows = [(line, cell) for line, cells, _ in read.rows for k, cell in enumerate(cells) if not timed or k != at]
    times = _times_in(path, ((line, cells[at]) for line, cells, _ in read.rows), units) if timed else None
    return Listed(_dense(path, rows, store), None, None if times is None else np.repeat(times, LINK_ENDS))


def _below_a_name(read: Table, store: GraphStore) -> Table:
    """The rows below the name of a column of words, which no vertex is called."""
    first = read.rows[0].cells if read.rows else []
    if read.names or len(read.rows) < 2 or len(first) != 1 or says(first[0]) != ID:
        return read
    try:
        store.dense_ids(first)
    except OptionError:
        return Table(read.rows[1:], first, read.rows[0].line)
    return read


def _is_value(asked: Asked, units: str, cell: str) -> bool:
    """Whether a cell of a file of sources is a number, or a time where these are asked for."""
    return bool(NUMBER.fullmatch(cell.encode())) or (asked is Asked.EACH and read_time(cell, units) is not None)


def _columns(path: Path, read: Table, are_seeds: bool, asked: Asked) -> Iterable[tuple[int, list[str]]]:
    """The number and the words of each row of a file of sources: on all of them an id, with a label or without, and
    with a time where each source has one, in this order, whatever the order of named columns is.
    """
    of_sources, of_seeds, each = FORMS.get(asked, WITHOUT_TIMES)
    known, columns, places = of_seeds if are_seeds else of_sources, 0, None
    if read.names:
        places = _places(path, read, known, timed=asked is Asked.EACH)
        columns = len(places)
    for line, words, text in read.rows:
        columns = columns or min(max(len(words), min(known)), max(known))
        if len(words) != columns:
            raise FormatError(
                f"{path}:{line}: expected {known[columns]}, found {quoted(text)}; give each "
                f"{'seed' if are_seeds else 'source'} a separate line, and {each}"
            )
        yield line, [words[place] for place in places] if places else words


def _places(path: Path, read: Table, known: Collection[int], *, timed: bool) -> list[int]:
    """The places of ids, labels and times in a file with names above its columns, which are as many as ``known`` says.

    FormatError where there are more names or fewer, and where they say something else.
    """
    where, columns = f"{path}:{read.line}", min(max(len(read.names), min(known)), max(known))
    wanted = [ID, *[LABEL] * (columns - timed == LABELLED), *[TIME] * timed]
    if len(read.names) != columns:
        raise refusal(where, read.names, wanted, f"which are {len(read.names)}")
    return places_of(where, read.names, wanted)


def _dense(path: Path, words: Iterable[tuple[int, str]], store: GraphStore) -> np.ndarray:
    """int64: the dense ids of original ones, given with their lines."""
    if store.id_kind == STRING:
        return np.asarray(store.dense_ids([word for _, word in words]), np.int64)
    numbers = [_number(path, line, word, whole_of, "a vertex id") for line, word in words]
    return np.asarray(store.dense_ids(numbers), np.int64)


def _times_in(path: Path, words: Iterable[tuple[int, str]], units: str) -> np.ndarray:
    """int64: the times of some words, given with their lines."""
    wanted = f"a time, {expected_time(units)}, not {NO_TIME}, which means no time"
    return np.fromiter((_number(path, line, word, partial(_time, units), wanted) for line, word in words), np.int64)


def _number(path: Path, line: int, word: str, read: Callable[[str], Number], wanted: str) -> Number:
    try:
        return read(word)
    except ValueError as error:
        raise FormatError(f"{path}:{line}: expected {wanted}, found {quoted(word)}") from error


_LABEL = "a finite number, and an integer of at most 2^53, which 64-bit floats hold exactly"


def _time(units: str, word: str) -> int:
    """A time, as the input of a store with these units has it; ValueError where it is none, or means no time."""
    time = read_time(word, units)
    if time is None or time == NO_TIME:
        raise ValueError
    return time


def _label(word: str) -> float:
    """A label; ValueError where it is no finite number, or an integer that a 64-bit float does not hold."""
    label = real_of(word)
    if not np.isfinite(label) or (word.lstrip("+-").isdigit() and abs(int(word)) > EXACT):
        raise ValueError
    return label
