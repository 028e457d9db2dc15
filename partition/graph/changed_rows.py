"""Which rows differ between two graph stores whose vertices have the same numbers, such as two versions of a store."""

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.base.parallel import processors
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import INDICES, GraphStore, array_name
from csaw.partition.graph.types import RELATION

Rows = tuple[np.ndarray, list[np.ndarray]]
"""Offsets of some rows, from 0, and the numbers of their edges, an array for each column."""


def changed_rows(
    old: GraphStore, new: GraphStore, columns: Collection[EdgeColumn], relations: Collection[int] | None = None
) -> np.ndarray:
    """Find the rows of ``new`` that are not the same in ``old``: with other neighbors, or other numbers in ``columns``.

    Partitions that share their files are not read.

    Args:
        old: the store before.
        new: the store after; its first vertices are those of the other, in the same order.
        columns: the columns of edges that count, which both stores have.
        relations: the numbers of the relations whose edges count, by relation; None: all edges count.

    Returns:
        bool [V + 1], V vertices of ``new``: True for each row that differs, and for the rows of new vertices. The last
        entry is False, and stands for no vertex.

    Raises:
        StoreError: a file has changed.
    """
    found = np.zeros(new.vertices + 1, bool)
    found[old.vertices : new.vertices] = True
    by_relation = {RELATION.array} if relations is not None else set()
    names = [INDICES, *{column.array for column in columns} | by_relation]
    with ThreadPoolExecutor(processors()) as threads:
        for first, last, before, now in _both(old, new, names, relations):
            found[first:last] = _differ(before, now, threads)
    return found


def moved_edges(old: GraphStore, new: GraphStore, relations: Collection[int]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of edges of these relations in ``old``, ascending, and in ``new``, both int64.

    Only those in partitions that the stores do not share, of vertices that have equally many in both.
    """
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for _, _, before, now in _both(old, new, [RELATION.array], relations, numbers=True):
        same = np.diff(before[0]) == np.diff(now[0])
        first, second = (values[-1][np.repeat(same, np.diff(offsets))] for offsets, values in (before, now))
        found.append((first, second))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _both(
    old: GraphStore, new: GraphStore, names: list[str], relations: Collection[int] | None, *, numbers: bool = False
) -> Iterator[tuple[int, int, Rows, Rows]]:
    """Yield ranges of vertices whose rows are in other files in ``new`` than in ``old``: the first, the one after the
    last, and their rows in both.
    """
    for part in changed_partitions(old, new, names):
        rows = _Rows(new, part, names, relations, numbers)
        for other in old.partitions:
            first, last = max(part.first_vertex, other.first_vertex), min(part.last_vertex, other.last_vertex)
            if first < last:
                yield first, last, _Rows(old, other, names, relations, numbers).of(first, last), rows.of(first, last)


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
    """Numbers that tell the rows of a partition apart: its vertices, and which files it has, under any names."""
    arrays = [store.array(array_name(part.number, name)) for name in ("indptr", *names)]
    told = [array.file(chunk).stat() for array in arrays for chunk in range(array.chunks)]
    return part.first_vertex, part.last_vertex, *(number for one in told for number in (one.st_dev, one.st_ino))


class _Rows:
    """The rows of a partition, and the arrays of these ``names``; only edges of ``relations``, if these are given. With
    ``numbers``, those of edges in the store come last.
    """

    def __init__(
        self,
        store: GraphStore,
        part: Partition,
        names: list[str],
        relations: Collection[int] | None = None,
        numbers: bool = False,
    ) -> None:
        types = dict(zip(names, _types_of(store, names), strict=True))
        arrays = {name: np.empty(part.edges, kind) for name, kind in types.items()}
        store.read_edges(part.number, arrays)
        self.first, self.offsets, self.values = part.first_vertex, store.read_offsets(part.number), [*arrays.values()]
        if numbers:
            self.values.append(part.first_edge + np.arange(part.edges))
        if relations is not None:
            held = np.isin(arrays[RELATION.array], list(relations))
            self.offsets = np.append(0, np.cumsum(held))[self.offsets]
            self.values = [values[held] for values in self.values]

    def of(self, first: int, last: int) -> Rows:
        """The rows of the vertices ``first`` to before ``last``."""
        offsets = self.offsets[first - self.first : last - self.first + 1]
        low, high = int(offsets[0]), int(offsets[-1])
        return offsets - low, [values[low:high] for values in self.values]


def _types_of(store: GraphStore, names: list[str]) -> Iterator[np.dtype]:
    of_columns = {column.array: column.dtype for column in store.edge_columns}
    return (store.id_dtype if name == INDICES else of_columns[name] for name in names)


ROWS = 1 << 16  # that a thread compares at a time


def _differ(old: Rows, new: Rows, threads: ThreadPoolExecutor) -> np.ndarray:
    """bool [n]: which of n rows differ."""
    differ = np.asarray(np.diff(old[0]) != np.diff(new[0]))
    begins = range(0, differ.size, ROWS)
    for before, after in zip(old[1], new[1], strict=True):
        kind = f"u{max(before.itemsize, after.itemsize)}"  # bits: no number that is none equals itself
        same = before.dtype == after.dtype
        bits = [one.view(kind) if same else one.astype(kind) for one in (before, after)]
        list(threads.map(lambda at, bits=bits: mark(at, old[0], bits[0], new[0], bits[1], differ), begins))
    return differ


@njit(nogil=True)
def mark(
    begin: int, old_ptr: np.ndarray, old: np.ndarray, new_ptr: np.ndarray, new: np.ndarray, differ: np.ndarray
) -> None:
    """Mark those of ROWS rows from ``begin`` on whose numbers are not the same; other rows are marked already."""
    for row in range(begin, min(begin + ROWS, differ.size)):
        low, at = old_ptr[row], new_ptr[row]
        if not differ[row]:
            for k in range(old_ptr[row + 1] - low):
                if old[low + k] != new[at + k]:
                    differ[row] = True
                    break
