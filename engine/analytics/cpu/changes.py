"""The differences between two versions of a graph store, and how they change degrees, components and triangles.

Partitions whose files are hard links to those of the other version are not read. The rows of all others are compared.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from csaw.engine.analytics.changes import Entries, MeasuredAnew
from csaw.engine.analytics.cpu.kernels import changes as kernels
from csaw.engine.analytics.cpu.kernels.components import flatten
from csaw.engine.analytics.cpu.network import HostNetwork, equal_ranges
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore
from csaw.partition.arrays.spool import copy_runs
from csaw.partition.base.sorting import distinct
from csaw.partition.graph.changed_rows import changed_partitions
from csaw.partition.graph.merging import LAST, Policy, Rows, merged, ranges_of
from csaw.partition.graph.parts import cuts_of
from csaw.partition.graph.store import INDICES
from csaw.partition.graph.views import Recut

SHARE = 4  # of the memory: for rows of the older version, changes, and rows around them
CHANGE_BYTES = 256  # of a change, in all arrays that are made of it
CHANGED = 4  # a part of the entries: with more changes, measuring anew is as fast
LOOKUPS = 2  # of neighbors, times the entries: with more, counting all triangles of an R-MAT graph is as fast
TASKS_OF_THREAD = 4
TAG = "tag"


def room_of(network: HostNetwork) -> Footprint:
    """The memory that a comparison takes, beside what the measure keeps."""
    offsets, marks = 48, network.threads  # bytes of a vertex
    return Footprint(offsets + marks, fixed=network.memory // SHARE)


class HostChanges:
    """The changes in a network since an earlier version of its store, ``old``; found when they are first asked for."""

    def __init__(self, old: GraphStore, network: HostNetwork) -> None:
        self.old, self.network = old, network

    @cached_property
    def entries(self) -> Entries:
        old, network, room = self.old, self.network, self.network.memory // SHARE // 4
        if old.id_dtype != network.id_dtype or max(old.max_degree, 1) * old.id_dtype.itemsize > room:
            raise MeasuredAnew("there is too little memory to compare the versions")
        ptr = np.full(network.vertices + 1, old.edges, np.int64)
        ptr[: old.vertices + 1] = old.read_indptr()
        parts = changed_partitions(old, network.store, [INDICES])
        spans, whole = [(part.first_vertex, part.last_vertex) for part in parts], Recut(old, [(0, 0)])
        most, found = min(room // CHANGE_BYTES, network.edges // CHANGED), [_none()]
        for block in network.blocks(wanted=lambda low, high: any(_within(spans, low, high))):
            for first, last in _within(spans, block.first, block.last):
                cuts = cuts_of(ptr[first : last + 1] - ptr[first], room // old.id_dtype.itemsize)
                for low, high in pairwise([*(first + cut for cut in cuts), last]):
                    held = np.empty(int(ptr[high] - ptr[low]), old.id_dtype)
                    whole.read_edges(0, {INDICES: held}, int(ptr[low]))
                    own = block.indptr[low - block.first : high + 1 - block.first]
                    rows = low, ptr[low : high + 1] - ptr[low], held, own, block.indices
                    found.append(_differing(network, *rows, most))
                    most -= found[-1].rows.size
        return Entries(*map(np.concatenate, zip(*found, strict=True)))

    def components(self, labels: np.ndarray) -> np.ndarray:
        network = self.network
        parent = np.arange(network.vertices, dtype=network.id_dtype)
        parent[: labels.size] = labels
        kernels.join(self.entries.rows, self.entries.neighbors, parent)
        network.each(flatten, network.spans(parent.size), parent)
        return parent

    def triangles(self) -> tuple[int, np.ndarray]:
        network, each = self.network, np.zeros(self.network.vertices, np.int64)
        ends, lesser, greater, sign = _changed_edges(network, self.entries)
        if not sign.size:
            return 0, each
        rows = _rows_of(network.undirected, ends)
        places, others, tags = np.append(lesser, greater), np.append(greater, lesser), np.append(sign, sign)
        order = np.lexsort((others, places))
        tagged = {INDICES: ends[others[order]].astype(network.id_dtype), TAG: tags[order]}
        held = Rows(rows.indptr, {**rows.arrays, TAG: np.zeros(rows.indptr[-1], np.int8)})
        (indptr, arrays), _ = merged(held, 0, places[order], tagged, Policy(LAST, directed=True), AssertionError)
        lengths = np.diff(indptr)
        far = np.where(lengths[lesser] > lengths[greater], lesser, greater)
        near = lesser + greater - far
        if int(lengths[near].sum()) > LOOKUPS * network.edges:
            raise MeasuredAnew("too many edges of vertices with many neighbors have changed")
        order = np.argsort(far, kind="stable")
        given = (far[order], near[order], sign[order], ends, indptr, arrays[INDICES], arrays[TAG], each)
        ranges = equal_ranges(np.append(0, np.cumsum(lengths[given[1]])), network.threads * TASKS_OF_THREAD)
        return int(sum(network.each(kernels.close, ranges, *given))), each


def _none() -> Entries:
    none = np.empty(0, np.int64)
    return Entries(none, none, none, none.astype(np.int8))


def _differing(
    network: HostNetwork,
    first: int,
    ptr: np.ndarray,
    old: np.ndarray,
    indptr: np.ndarray,
    new: np.ndarray,
    most: int,
) -> Entries:
    """The changes of the rows from vertex ``first`` on; MeasuredAnew for more than ``most``."""
    begin, none = np.zeros(ptr.size, np.int64), _none()
    ranges = equal_ranges(ptr + indptr, network.threads * TASKS_OF_THREAD)
    network.each(kernels.differ, ranges, ptr, old, indptr, new, begin[1:], begin, old[:0], none.more, none.turned)
    if int(begin.sum()) > most:
        raise MeasuredAnew("too many edges have changed")
    rows = np.repeat(np.arange(first, first + ptr.size - 1), begin[1:])
    np.cumsum(begin, out=begin)
    neighbors, more, turned = (
        np.empty(rows.size, old.dtype),
        np.empty(rows.size, np.int64),
        np.empty(rows.size, np.int8),
    )
    if rows.size:
        network.each(kernels.differ, ranges, ptr, old, indptr, new, begin, begin, neighbors, more, turned)
    return Entries(rows, neighbors.astype(np.int64), more, turned)


def _within(spans: list[tuple[int, int]], low: int, high: int) -> Iterator[tuple[int, int]]:
    """The parts of spans that lie in low .. high - 1."""
    return ((max(first, low), min(last, high)) for first, last in spans if first < high and last > low)


def _changed_edges(network: HostNetwork, changes: Entries) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The edges that only one version has of the simple undirected graph, each once.

    Returns the vertices that they join, which rise, the places of the two ends of each among these, and 1 for an edge
    of the newer version, -1 for one of the older.
    """
    changes = changes.of((changes.turned != 0) & (changes.rows != changes.neighbors))
    ends, at = np.unique(np.append(changes.rows, changes.neighbors), return_inverse=True)
    rows, neighbors = np.split(at, 2)
    if not network.directed:
        upper = rows < neighbors
        return ends, rows[upper], neighbors[upper], changes.turned[upper]
    turned = rows * ends.size + neighbors
    pairs = distinct(np.minimum(rows, neighbors) * ends.size + np.maximum(rows, neighbors))
    lesser, greater = np.divmod(pairs, max(ends.size, 1))
    held, now, before = _rows_of(network, ends), np.zeros(pairs.size, np.bool_), np.zeros(pairs.size, np.bool_)
    for one, other in ((lesser, greater), (greater, lesser)):
        low, high = ranges_of(held, one, ends[other])
        now |= high > low
        before |= (high > low) ^ np.isin(one * ends.size + other, turned)
    sign = now.astype(np.int8) - before
    return ends, lesser[sign != 0], greater[sign != 0], sign[sign != 0]


def _rows_of(network: HostNetwork, vertices: np.ndarray) -> Rows:
    """Copy the rows of some vertices, which rise; MeasuredAnew where there is no room for them."""
    offsets, item = network.offsets, network.id_dtype.itemsize
    indptr = np.append(0, np.cumsum(offsets[vertices + 1] - offsets[vertices]))
    out = np.empty(int(indptr[-1]), network.id_dtype)
    if 2 * out.size * (item + 1) > network.memory // SHARE // 2:
        raise MeasuredAnew("there is too little memory for the rows around the changed edges")
    for block in network.blocks(wanted=lambda *ends: bool(np.diff(np.searchsorted(vertices, ends))[0])):
        low, high = np.searchsorted(vertices, [block.first, block.last]).tolist()
        own, to = vertices[low:high] - block.first, out[indptr[low] : indptr[high]]
        begins, stops = block.indptr[own] * item, block.indptr[own + 1] * item
        copy_runs(block.indices.view(np.uint8), begins, stops, 0, to.view(np.uint8))
    return Rows(indptr, {INDICES: out})
