"""Edges added to rows that are stored, or removed from them: of a partition, or of a part of one, in memory.

Rows stay sorted by neighbor, edges to one neighbor by relation if they have some, and repeated edges stay in the order
in which they came.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from csaw.partition.errors import FormatError
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT
from csaw.partition.graph.store import INDICES
from csaw.partition.graph.types import MOST_RELATIONS, RELATION

KEEP, FIRST, SUM, LAST, ERROR, REMOVE = "keep", "first", "sum", "last", "error", "remove"
"""What becomes of a new edge whose ends have an edge already; and that such edges are removed."""

Arrays = Mapping[str, np.ndarray]
"""Of edges, by the names of the arrays of a partition: ``indices``, and those of edge columns."""


class Rows(NamedTuple):
    """Rows of consecutive vertices: ``indptr`` int64 [rows + 1] from 0, and what each of their edges has."""

    indptr: np.ndarray
    arrays: Arrays


class Counts(NamedTuple):
    """Numbers of edges: added, there already (``repeated``), of those ``changed``, removed, and not there to remove."""

    added: int = 0
    repeated: int = 0
    changed: int = 0
    removed: int = 0
    missing: int = 0

    @property
    def changes(self) -> int:
        """How many edges of a graph are others than before."""
        return self.added + self.changed + self.removed

    def and_of(self, other: "Counts") -> "Counts":
        """The numbers of both."""
        return Counts(*(one + another for one, another in zip(self, other, strict=True)))


class Policy(NamedTuple):
    """The way in which edges that are there are merged: one of the words above.

    ``directed``: whether an edge is in one row. ``by_relation``: whether an edge of another relation is another edge.
    ``forward``: how many relations come before those with the same edges in the other direction.
    """

    word: str
    directed: bool
    by_relation: bool = False
    forward: int = MOST_RELATIONS

    def once(self, rows: np.ndarray, arrays: Arrays) -> np.ndarray:
        """Whether each entry counts: of an undirected edge, that of its lesser end alone, and no edge of a reverse."""
        if self.forward < MOST_RELATIONS:
            return arrays[RELATION.array] < self.forward
        return np.ones(rows.size, np.bool_) if self.directed else rows <= arrays[INDICES].astype(np.int64)

    def keys(self, arrays: Arrays) -> np.ndarray:
        """Keys that order the edges of a row and tell them apart: the neighbor, and then the relation if it counts."""
        neighbors = arrays[INDICES]
        return neighbors.astype(np.int64) * MOST_RELATIONS + arrays[RELATION.array] if self.by_relation else neighbors


def merged(
    old: Rows,
    first: int,
    rows: np.ndarray,
    new: Arrays,
    policy: Policy,
    repeated: Callable[[int, int], Exception],
) -> tuple[Rows, Counts]:
    """Merge new edges into rows, or remove these edges from them.

    Args:
        old: rows of the vertices from ``first`` on, at least as many as new edges need.
        first: the first vertex.
        rows: int64 [edges], the place among these rows of the source of each new edge, rising.
        new: the arrays of the new edges, keys rising within a row, with the names of ``old``; to remove edges, those
            that the keys are made of are enough.
        policy: what becomes of edges that are there.
        repeated: makes the error for an edge with this row and key: one that is there, which the policy ``error``
            raises, or one that is there several times, whose weight or values are to be replaced.

    Returns:
        The rows, and what has become of the new edges.
    """
    counted, keys = policy.once(rows + first, new), policy.keys(new)
    low, high = ranges_of(Rows(old.indptr, {INDICES: policy.keys(old.arrays)}), rows, keys)
    there = high > low
    if policy.word == REMOVE:
        removed = int((high - low)[counted].sum())
        return _without(old, rows, low, high), Counts(removed=removed, missing=int((counted & ~there).sum()))
    if policy.word == KEEP:
        there = np.zeros(rows.size, np.bool_)
    wrong = there if policy.word == ERROR else high - low > 1 if policy.word in (SUM, LAST) else np.zeros(0, np.bool_)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise repeated(int(rows[at]) + first, int(keys[at]))
    changed = np.zeros(rows.size, np.bool_)
    if policy.word in (SUM, LAST) and there.any():
        old, changed[there] = _changed(old, low[there], {name: one[there] for name, one in new.items()}, policy.word)
    sums = (int((counted & those).sum()) for those in (~there, there, changed))
    return _with(old, rows[~there], high[~there], {name: one[~there] for name, one in new.items()}), Counts(*sums)


def order_of(rows: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """The order of edges by row, then by neighbor or key; those with the same stay in their order. int64 both."""
    width = int(neighbors.max(initial=0)) + 1
    if (int(rows.max(initial=0)) + 1) * width > 2**63 - 1:
        return np.lexsort((neighbors, rows))
    return np.argsort(rows * width + neighbors, kind="stable")  # of few runs in order, it takes little time


def last_of_each(rows: np.ndarray, keys: np.ndarray, new: Arrays) -> tuple[np.ndarray, Arrays]:
    """Of new edges with the same keys, which follow each other, the last alone."""
    last = np.ones(rows.size, np.bool_)
    last[:-1] = (rows[1:] != rows[:-1]) | (keys[1:] != keys[:-1])
    return (rows, new) if last.all() else (rows[last], {name: one[last] for name, one in new.items()})


def ranges_of(old: Rows, rows: np.ndarray, neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries with the same ends as each new edge begin and end, or where such entries would stand. Edges of
    one row that follow each other have rising neighbors.
    """
    from csaw.partition.graph.csr import entries_between  # brings Numba

    low, high, held = np.empty(rows.size, np.int64), np.empty(rows.size, np.int64), old.arrays[INDICES]
    entries_between(old.indptr, held, rows, neighbors.astype(held.dtype, copy=False), low, high)
    return low, high


def _changed(old: Rows, at: np.ndarray, new: Arrays, word: str) -> tuple[Rows, np.ndarray]:
    """The rows with the values of ``new`` added to the weights, or in the place of all values, of the entries ``at``;
    and which of these are others than before.
    """
    arrays, changed = dict(old.arrays), np.zeros(at.size, np.bool_)
    for name in (WEIGHT.array,) if word == SUM else new.keys() - {INDICES}:
        values = new[name]
        if word == SUM:
            with np.errstate(over="ignore"):
                values = (arrays[name][at].astype(np.float64) + values).astype(np.float32)
            if not np.isfinite(values).all():
                raise FormatError(
                    "the weights of a repeated edge add up to more than float32 can hold; scale them down, or pass "
                    "--duplicates first"
                )
        if name != EDGE_ID.array:
            changed |= (arrays[name][at] != values) & ~(np.isnan(values) & np.isnan(arrays[name][at]))
        arrays[name] = arrays[name].copy()
        arrays[name][at] = values
    return Rows(old.indptr, arrays), changed


def _with(old: Rows, rows: np.ndarray, at: np.ndarray, new: Arrays) -> Rows:
    """The rows with new entries before the places ``at``, which rise."""
    if not rows.size:
        return old
    begins, ends = np.append(0, at), np.append(at, old.arrays[INDICES].size)
    places = at + np.arange(at.size)
    arrays = {}
    for name, held in old.arrays.items():
        arrays[name] = _runs(held, begins, ends, held.size + at.size, 1)
        arrays[name][places] = new[name]
    return Rows(_moved(old.indptr, rows, 1), arrays)


def _without(old: Rows, rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> Rows:
    """The rows without the entries from ``low`` to before ``high``, ranges that follow each other."""
    removed = high - low
    if not removed.any():
        return old
    size = old.arrays[INDICES].size
    begins, ends = np.append(0, high), np.append(low, size)
    kept = {name: _runs(held, begins, ends, size - int(removed.sum()), 0) for name, held in old.arrays.items()}
    return Rows(_moved(old.indptr, rows, -removed), kept)


def _moved(indptr: np.ndarray, rows: np.ndarray, by: np.ndarray | int) -> np.ndarray:
    """Offsets after the number of entries of ``rows`` has changed."""
    change = np.zeros(indptr.size, np.int64)
    np.add.at(change, rows + 1, by)
    return indptr + np.cumsum(change)


def _runs(held: np.ndarray, begins: np.ndarray, ends: np.ndarray, size: int, gap: int) -> np.ndarray:
    """An array of ``size`` elements: runs of ``held``, with ``gap`` elements between them that are left open."""
    from csaw.partition.arrays.spool import copy_runs  # brings Numba

    out, item = np.empty(size, held.dtype), held.itemsize
    copy_runs(np.ascontiguousarray(held).view(np.uint8), begins * item, ends * item, gap * item, out.view(np.uint8))
    return out
