"""Which rows differ between two graph stores whose vertices have the same numbers, such as two versions of a store."""

from collections.abc import Collection, Iterator

import numpy as np

from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import INDICES, GraphStore, array_name

Rows = tuple[np.ndarray, list[np.ndarray]]
"""Offsets of some rows, from 0, and the numbers of their edges, an array for each column."""


def changed_rows(old: GraphStore, new: GraphStore, columns: Collection[EdgeColumn]) -> np.ndarray:
    """Find the rows of ``new`` that are not the same in ``old``: with other neighbors, or other numbers in ``columns``.

    Partitions that share their files are not read.

    Args:
        old: the store before.
        new: the store after; its first vertices are those of the other, in the same order.
        columns: the columns of edges that count, which both stores have.

    Returns:
        bool [V + 1], V vertices of ``new``: True for each row that differs, and for the rows of new vertices. The last
        entry is False, and stands for no vertex.

    Raises:
        StoreError: a file has changed.
    """
    found = np.zeros(new.vertices + 1, bool)
    found[old.vertices : new.vertices] = True
    names = [INDICES, *(column.array for column in columns)]
    for part in changed_partitions(old, new, names):
        rows = _Rows(new, part, names)
        for other in old.partitions:
            first, last = max(part.first_vertex, other.first_vertex), min(part.last_vertex, other.last_vertex)
            if first < last:
                found[first:last] = _differ(_Rows(old, other, names).of(first, last), rows.of(first, last))
    return found


def with_edge_to(store: GraphStore, marked: np.ndarray) -> np.ndarray:
    """Mark the vertices that have an edge to a marked one, too; ``marked`` is what :func:`changed_rows` returns."""
    found = marked.copy()
    if not marked.any():
        return found
    for part in store.partitions:
        rows = _Rows(store, part, [INDICES])
        hits = np.flatnonzero(marked[rows.values[0]])
        found[part.first_vertex + np.searchsorted(rows.offsets, hits, side="right") - 1] = True
    return found


def changed_partitions(old: GraphStore, new: GraphStore, names: Collection[str]) -> list[Partition]:
    """The partitions of ``new`` that are not those of ``old``, too: their offsets and the arrays of these ``names`` are
    other files. Hard links to one file have the same bytes.
    """
    held = {_files(old, part, names) for part in old.partitions}
    return [part for part in new.partitions if _files(new, part, names) not in held]


def _files(store: GraphStore, part: Partition, names: Collection[str]) -> tuple[int, ...]:
    """What tells the rows of a partition apart: its vertices, and which files it has, whatever their names are."""
    arrays = [store.array(array_name(part.number, name)) for name in ("indptr", *names)]
    told = [array.file(chunk).stat() for array in arrays for chunk in range(array.chunks)]
    return part.first_vertex, part.last_vertex, *(number for one in told for number in (one.st_dev, one.st_ino))


class _Rows:
    """The rows of a partition, and the arrays of these ``names``."""

    def __init__(self, store: GraphStore, part: Partition, names: list[str]) -> None:
        types = dict(zip(names, _types_of(store, names), strict=True))
        arrays = {name: np.empty(part.edges, kind) for name, kind in types.items()}
        store.read_edges(part.number, arrays)
        self.first, self.offsets, self.values = part.first_vertex, store.read_offsets(part.number), [*arrays.values()]

    def of(self, first: int, last: int) -> Rows:
        """The rows of the vertices ``first`` to before ``last``."""
        offsets = self.offsets[first - self.first : last - self.first + 1]
        low, high = int(offsets[0]), int(offsets[-1])
        return offsets - low, [values[low:high] for values in self.values]


def _types_of(store: GraphStore, names: list[str]) -> Iterator[np.dtype]:
    of_columns = {column.array: column.dtype for column in store.edge_columns}
    return (store.id_dtype if name == INDICES else of_columns[name] for name in names)


def _differ(old: Rows, new: Rows) -> np.ndarray:
    """bool [n]: which of n rows differ."""
    sizes = np.diff(new[0])
    differ = np.asarray(np.diff(old[0]) != sizes)
    same = np.flatnonzero(~differ)
    ends = np.cumsum(sizes[same])
    for before, after in zip(_edges_of(same, old), _edges_of(same, new), strict=True):
        kind = f"u{before.dtype.itemsize}"  # bits: numbers that are none equal themselves
        wrong = before != after if before.dtype != after.dtype else before.view(kind) != after.view(kind)
        differ[same[np.searchsorted(ends, np.flatnonzero(wrong), side="right")]] = True
    return differ


def _edges_of(rows: np.ndarray, held: Rows) -> Iterator[np.ndarray]:
    """The numbers of the edges of some rows, one row after the other."""
    offsets, columns = held
    chosen = np.zeros(offsets.size - 1, bool)
    chosen[rows] = True
    edges = np.repeat(chosen, np.diff(offsets))
    return (values[edges] for values in columns)
