"""Which rows differ between two graph stores whose vertices have the same numbers, such as two versions of a store."""

from collections.abc import Collection, Iterator

import numpy as np

from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import INDICES, GraphStore

Rows = tuple[np.ndarray, list[np.ndarray]]
"""Offsets of some rows, from 0, and the numbers of their edges, an array for each column."""


def changed_rows(old: GraphStore, new: GraphStore, columns: Collection[EdgeColumn]) -> np.ndarray:
    """Find the rows of ``new`` that are not the same in ``old``: with other neighbors, or other numbers in ``columns``.

    Partitions whose files have the same checksums are not read.

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
    for part in new.partitions:
        if _same_files(old, new, part, names):
            continue
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


def _same_files(old: GraphStore, new: GraphStore, part: Partition, names: list[str]) -> bool:
    """Whether the older store has a partition of the same vertices with the same bytes, by the digests of both."""
    for other in old.partitions:
        if (other.first_vertex, other.last_vertex) == (part.first_vertex, part.last_vertex):
            pairs = [(old.digest_of(other.number, one), new.digest_of(part.number, one)) for one in ("indptr", *names)]
            return all(before == after is not None for before, after in pairs)
    return False


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
