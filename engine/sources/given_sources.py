"""Lists of sources as a user gives them: a file, an array, or seeds with a label for each, checked, and brought to
dense ids.
"""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TypeVar

import numpy as np

from csaw.engine.sources.given_columns import EXACT, IDS
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.attributes import STRING
from csaw.partition.graph.given_arrays import array_of, column_of

Number = TypeVar("Number", int, float)
LABELS = "y"
CHANCES = "probability"  # the array of the chances of seeds that are drawn
"""The labels of seeds, as PyTorch Geometric calls them: in a mapping of sources, and among the
arrays of mini-batches.
"""
COLUMNS = {1: "one vertex id", 2: "a vertex id and its label, a number"}
Listed = tuple[np.ndarray, np.ndarray | None]
"""The dense ids of sources, int64 [n], and their labels, float64 [n]; None where they have none."""


def read_sources(given: object, store: GraphStore, *, are_seeds: bool) -> Listed:
    """The list of sources that a user gives for ``store``.

    given: a file of original ids; for an algorithm whose sources ``are_seeds`` of mini-batches, of one id on each line,
    or of an id and a label, a number, on every
        line. Or an array of original ids. Or, for seeds, a mapping with the arrays ``ids`` and ``y``, the labels.

    FormatError, with the line, for a file that is none of these; OptionError for other values, and where the graph
    lacks a vertex.
    """
    if isinstance(given, str):
        return _from_file(Path(given), store, are_seeds)
    if isinstance(given, Mapping):
        if not are_seeds or set(given) != {IDS, LABELS}:
            raise OptionError(
                f"sources: expected an array of ids, or, for mini-batches, a mapping with {IDS} and "
                f"{LABELS}, found one with {', '.join(map(str, given)) or 'nothing'}"
            )
        return (ids := _from_array(given[IDS], store)), _labels(given[LABELS], ids.size)
    return _from_array(given, store), None


def _from_array(given: object, store: GraphStore) -> np.ndarray:
    kind = object if store.id_kind == STRING else None  # NumPy's own strings would all be as wide as the longest
    if isinstance(given, AbstractSet | bytes):
        raise OptionError(f"sources: expected an array of ids, found {quoted(given)}")
    integers = isinstance(given, list | tuple) and all(type(one) is int for one in given)  # NumPy makes floats of some
    ids = (column_of("sources", given) if integers else array_of("sources", given, kind)).ravel()
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


def _from_file(path: Path, store: GraphStore, are_seeds: bool) -> Listed:
    if not path.is_file():
        raise OptionError(f"--sources: expected all, random:N or a file of vertex ids, found {quoted(str(path))}")
    text = _text_of(path)
    if not are_seeds:
        words = ((line, word) for line, row in enumerate(text.splitlines(), 1) for word in row.split())
        return _dense(path, words, store), None
    rows = list(_rows(path, text))
    ids = _dense(path, ((line, words[0]) for line, words in rows), store)
    if not rows or len(rows[0][1]) == 1:
        return ids, None
    labels = (_number(path, line, words[1], _label, "a label, " + _LABEL) for line, words in rows)
    return ids, np.fromiter(labels, np.float64, len(rows))


def _text_of(path: Path) -> str:
    """Read a file as text; FormatError, with the line, if it is not UTF-8."""
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = quoted(data[error.start : error.start + 8])
        raise FormatError(f"{path}:{line}: expected vertex ids in UTF-8, found the bytes {found}") from error


def _rows(path: Path, text: str) -> Iterable[tuple[int, list[str]]]:
    """The number and the words of each line of a file of seeds that is not empty: on all lines an id, or on all an id
    and a label.
    """
    columns = 0
    for line, row in enumerate(text.splitlines(), 1):
        if words := row.split():
            columns = columns or min(len(words), 2)
            if len(words) != columns:
                raise FormatError(
                    f"{path}:{line}: expected {COLUMNS[columns]}, found {quoted(row)}; give each seed a "
                    "line of its own, and a label to all of them or to none"
                )
            yield line, words


def _dense(path: Path, words: Iterable[tuple[int, str]], store: GraphStore) -> np.ndarray:
    """int64: the dense ids of original ones, given with their lines."""
    if store.id_kind == STRING:
        return np.asarray(store.dense_ids([word for _, word in words]), np.int64)
    numbers = [_number(path, line, word, int, "a vertex id") for line, word in words]
    return np.asarray(store.dense_ids(numbers), np.int64)


def _number(path: Path, line: int, word: str, read: Callable[[str], Number], wanted: str) -> Number:
    try:
        return read(word)
    except ValueError as error:
        raise FormatError(f"{path}:{line}: expected {wanted}, found {quoted(word)}") from error


_LABEL = "a finite number, and an integer of at most 2^53, which 64-bit floats hold exactly"


def _label(word: str) -> float:
    """A label; ValueError where it is no finite number, or an integer that a 64-bit float does not hold."""
    label = float(word)
    if not np.isfinite(label) or (word.lstrip("+-").isdigit() and abs(int(word)) > EXACT):
        raise ValueError
    return label
