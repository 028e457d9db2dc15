"""Triangles of a simple undirected network on a GPU, in 19 bytes an edge with the graph itself, 27 with wide ids.

Where that does not fit, parts of the lists of neighbors stay on the GPU while others pass by: a
triangle needs the lists of two of its vertices alone.

Several GPUs split a range of the rows each, copy the others' from each other, and count the triangles of a share of the
middle vertices each; of a graph that is streamed, each takes the next part when it is done with one. Where each has its
own rows alone, lists pass by between them (triangles_spread.py). Counts are added.

If rows do not fit, all of them pass by once, and their lists of lower neighbors go to host memory
(engine/analytics/cuda/oriented.py). Then a part of the lists stays on the GPU, as those of the middle vertices, while
all pieces of higher rank pass by, the part's own ones first; so P parts copy every list (P + 1) / 2 times. What
vertices of a piece are higher neighbors of the middle ones is counted out for each pair of them.

The memory, beside what is kept of each vertex: half for the part, a tenth for each of two pieces, a fifth for higher
neighbors. Triangles of the dense part are counted while the first part stays, if it holds all of that.
"""

from collections.abc import Iterator
from functools import cached_property

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics import passes
from csaw.engine.analytics.clusterings import Clusterings, of_arrays, with_none
from csaw.engine.analytics.cuda import oriented, triangles_spread
from csaw.engine.analytics.cuda import triangle_counts as counting
from csaw.engine.analytics.cuda.footprints import (
    BLOCK_SHARE,
    MASKED_PRODUCT,
    RANKED_BYTES,
    least_block_bytes,
    require_room,
    triangles_bytes,
)
from csaw.engine.analytics.cuda.network import DeviceNetwork, LoadedKernels
from csaw.engine.analytics.cuda.oriented import (
    LEAST,
    MOST_ENTRIES,
    MOST_WARPS,
    Higher,
    Lists,
    Passing,
    Runs,
    Split,
    bytes_of,
    cuts_of,
    host_bytes,
    host_memory,
    rank_by_degree,
)
from csaw.engine.analytics.cuda.piece_groups import Group, grouped
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import exchange, here, in_order, on_each, rows_of
from csaw.engine.analytics.cuda.triangle_counts import Counts
from csaw.engine.cuda.declarations import BLOCK
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.choices import Residency
from csaw.partition import GraphStore
from csaw.partition.graph.views import Recut

PART_SHARE, PIECE_SHARE = 2, 10  # one part of this many is for lists that stay, and for those that pass by
# of a vertex of a part: where its higher neighbors begin, how many there are, and up to where they are filled in
HIGHER_BYTES = 20
# of an entry of a block beside both slots, and of a row, where rows are short: what is split, and two runs
WRITTEN_BYTES, ROW_BYTES = 12, 112
DENSE_SHARE = 16  # the dense parts take at most one part of this many


def counted(network: DeviceNetwork, each: bool) -> list[tuple[int, Array | None]]:
    """Count the triangles: the counts of each GPU, as triangles.triangles returns them.

    BudgetError where rows of the longest length do not fit.
    """
    store, budget = network.store, network.memory - RANKED_BYTES * network.vertices
    if network.edges != store.edges or store.directed:  # made on the GPU of the store's graph, and kept for others
        rows = network.id_dtype.itemsize * network.edges
        store, budget = network.host.undirected.store, budget - rows - network.beside
    else:
        network.let_go()
    if store.max_degree < LEAST:
        return [counting.none_found(network, each)]
    stream = _in_blocks(network, store, budget)
    try:
        networks = stream.among(len(stream.shares))
        cuts = cuts_of(stream, rank_by_degree(stream)[1], budget // PIECE_SHARE)
        runs = Runs(cuts, _memory(network, stream, int(cuts[-1])))
        try:
            return _count_runs(stream, networks, runs, budget, each)
        finally:
            runs.close()
    finally:
        stream.loaded = LoadedKernels()  # in place of the network's, which it keeps
        if store is network.store:
            vars(stream).pop("host", None)
        stream.close()


def _count_runs(
    stream: DeviceNetwork, networks: tuple[DeviceNetwork, ...], runs: Runs, budget: int, each: bool
) -> list[tuple[int, Array | None]]:
    def write(one: DeviceNetwork, number: int) -> tuple[Array, Counts]:
        rank = rank_by_degree(one)[0]
        runs.write(one, rank, rows_of(one, *stream.shares[number]))
        one.forget_blocks()  # of rows that are not read again
        cupy.get_default_memory_pool().free_all_blocks()
        return rank, counting.no_counts(runs.ranks, each)

    kept = dict(zip(networks, on_each(networks, write), strict=True))
    pieces, parts = _pieces_and_parts(runs, budget)
    works = [(part, [one for one in pieces if one.low >= part.low]) for part in parts]
    workers = {one: _Counting(one, runs, works, counts, budget) for one, (_, counts) in kept.items()}
    for _ in in_order(networks, works, lambda one, work: workers[one].count(*work)):
        pass
    workers.clear()
    return on_each(networks, lambda one, _: counting.found(one, kept[one][1], kept[one][0]))


def _pieces_and_parts(runs: Runs, budget: int) -> tuple[list[Group], list[Group]]:
    """Group the pieces that pass by at a time, and the parts that stay: neighbors in rank together.

    Each group is as large as its share of the memory has room for.
    """
    sizes = bytes_of(runs.sizes, len(runs.runs)).tolist()
    pieces = grouped([Group(k, k + 1, size) for k, size in enumerate(sizes)], budget // PIECE_SHARE)
    kept = HIGHER_BYTES * np.diff(runs.cuts)
    staying = [one._replace(bytes=one.bytes + int(kept[one.low : one.high].sum())) for one in pieces]
    return pieces, grouped(staying, budget // PART_SHARE)


def _memory(network: DeviceNetwork, stream: DeviceNetwork, ranks: int) -> np.ndarray | None:
    """Page-locked memory for the runs, which the network keeps for the next time.

    None where the host has no room for it beside the rows.
    """
    needed = host_bytes(stream, ranks)
    if stream.host_copy is None or stream.id_dtype.itemsize * stream.edges + needed > stream.host.budget:
        return None
    if network.spool is None or network.spool.size < needed:
        network.spool = host_memory(stream, ranks)
    return network.spool


def _in_blocks(network: DeviceNetwork, store: GraphStore, budget: int) -> DeviceNetwork:
    """The graph of ``store`` in blocks that ``budget`` bytes are enough for.

    BudgetError where they are not for the longest row.
    """
    least = least_block_bytes(store.max_degree)
    if budget < least:
        needed = network.memory - budget + least
        raise network.refusal(
            needed,
            f"triangles need {needed:,} bytes of the GPU, for what is kept of {network.vertices:,} vertices and for "
            f"rows of {store.max_degree:,} neighbors",
        )
    kept = network.kept.bytes(network.vertices, store.edges, network.id_dtype.itemsize)
    slots = 2 * network.edge_bytes * min(budget // BLOCK_SHARE, MOST_ENTRIES)
    if isinstance(network, PooledNetwork):
        stream = network.in_blocks(store, kept + slots)
    else:
        stream = network.of_store(store, kept + _of_blocks(network, store, slots, budget))
    stream.indptr, stream.loaded = network.indptr, network.loaded
    if store is network.store:
        stream.host, stream.host_copy = network.host, network.host_copy
    if not isinstance(network, PooledNetwork):
        stream.cut = _cut(stream, budget)
    return stream


def _of_blocks(network: DeviceNetwork, store: GraphStore, slots: int, budget: int) -> int:
    """The bytes of ``slots`` that blocks of rows take.

    They are fewer than those of all rows where ``budget`` is not enough for what is made of all of them at once, if the
    longest row is not half of them.
    """
    at_once = _written_bytes(store) * store.edges + ROW_BYTES * store.vertices <= budget
    if at_once or network.residency is Residency.RESIDENT:
        return slots
    return min(slots, network.edge_bytes * max(store.edges - 1, 2 * store.max_degree))


def _written_bytes(store: GraphStore) -> int:
    """Bytes of an entry of a block, where rows are short."""
    return 2 * store.id_dtype.itemsize + WRITTEN_BYTES


def _cut(stream: DeviceNetwork, budget: int) -> Recut:
    """The rows in blocks that ``budget`` bytes are enough for, whether their rows are long or many."""
    entries, begins, vertex = stream.offsets, list[tuple[int, int]](), 0
    written = _written_bytes(stream.store) * entries + ROW_BYTES * np.arange(stream.vertices + 1)
    while vertex < stream.vertices:
        begins.append((vertex, int(entries[vertex])))
        ends = (
            np.searchsorted(upto, upto[vertex] + most, side="right") - 1
            for upto, most in ((entries, min(budget // BLOCK_SHARE, MOST_ENTRIES)), (written, budget))
        )
        vertex = max(vertex + 1, int(min(ends)))
    return Recut(stream.store, begins)


class _Counting:
    """Counts the triangles of a GPU part by part, in memory that it keeps for them."""

    def __init__(
        self, network: DeviceNetwork, runs: Runs, works: list[tuple[Group, list[Group]]], counts: Counts, budget: int
    ) -> None:
        self.network, self.runs, self.counts = network, runs, counts
        self.dense_bytes = min(network.edges // counting.DENSE_EDGES, budget // DENSE_SHARE)
        pieces, sizes = works[0][1], runs.sizes
        entries = [int((4 * sizes[one.low : one.high, 1] + sizes[one.low : one.high, 2]).sum()) for one in pieces]
        passing = max(one.bytes for one in pieces)
        self.most = max(part.bytes for part, _ in works), passing, passing, 4 * max(entries)

    @cached_property
    def room(self) -> list[Array]:
        """Memory for a part, for two pieces, and for higher neighbors."""
        return [cupy.empty(size, np.uint8) for size in self.most]

    @cached_property
    def many(self) -> int:
        return counting.many_neighbors(self.network)

    def count(self, part: Group, pieces: list[Group]) -> None:
        """Count the triangles whose middle vertex is in ``part``; ``pieces``: its own, and all of higher rank."""
        network, counts = self.network, self.counts
        room, stream = self.room, cupy.cuda.Stream(non_blocking=True)
        stream.wait_event(cupy.cuda.get_current_stream().record())
        middles = self.runs.read(network, part.low, part.high, room[0], stream)
        cupy.cuda.get_current_stream().wait_event(stream.record())
        dense = counting.dense_parts(network, middles, self.runs.ranks, counts.each, self.dense_bytes)
        for others in self._others(middles, part, pieces, stream):
            if dense:
                counting.count_dense(network, dense, others, counts)
            counting.count(network, middles, self._higher(middles, others), others, self.many, counts)

    def _others(self, middles: Lists, part: Group, pieces: list[Group], stream: cupy.cuda.Stream) -> Iterator[Lists]:
        """Yield the lists of the pieces: of those in the part from there, of others as they pass by."""
        passing = Passing(
            self.runs, self.network, [one for one in pieces if one.low >= part.high], self.room[1:3], stream
        )
        for one in pieces:
            if one.high <= part.high:
                first, last = self.runs.cuts[[one.low, one.high]].tolist()
                yield middles._replace(
                    first=first, last=last, ranked=middles.ranked[first - middles.first :][: last - first]
                )
        yield from passing

    def _higher(self, middles: Lists, others: Lists) -> Higher:
        """The vertices of ``others`` by their neighbors in ``middles``."""
        size, count = middles.last - middles.first, others.last - others.first
        higher, begin = cupy.zeros(size, np.uint32), cupy.zeros(size, np.int64)
        kernels, warps = self.network.kernels("oriented_runs"), 32 * min(count, MOST_WARPS)
        given = (count, others.first, *others[2:], middles.first, middles.last)
        kernels.over("count_higher", warps, *given, higher)
        cupy.cumsum(higher[:-1].astype(np.int64), out=begin[1:])
        words = self.room[3].view(np.uint32)
        kernels.over("fill_higher", warps, *given, begin.copy(), words)
        return Higher(begin, higher, words)


def triangles(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """Count the triangles of the graph, and of ``each`` vertex if that is asked for.

    BudgetError where the GPU memory that may be used does not hold the parts of a graph that is streamed; DeviceError
    where 2^32 vertices or more have two neighbors or more.

    Returns:
        The number of triangles, and those that each vertex is in, int64 [V], or None.
    """
    if isinstance(network, PooledNetwork) and triangles_spread.has_room(network):
        found = triangles_spread.counted(network, each)
    elif network.resident and triangles_bytes(network, network.edges) <= network.budget:
        found = _in_memory(network, each)
    else:
        found = counted(network, each)
    total, vertices = found[0]
    for more, of_vertices in found[1:]:
        total += more
        if each:
            vertices += here(of_vertices)
    return total, vertices


def _in_memory(network: DeviceNetwork, each: bool) -> list[tuple[int, Array | None]]:
    """Count the triangles of rows that fit each GPU: the counts of each."""
    networks = network.among(len(network.shares))
    entries = [tuple(int(network.indptr[vertex]) for vertex in span) for span in network.shares]

    def split(one: DeviceNetwork, number: int) -> tuple[Array, Array, Split]:
        first, last = network.shares[number]
        ranks, whole = oriented.rank_by_degree(one), oriented.empty_split(one.edges, one.vertices)
        own = Split(whole.rows, *(numbers[first:last] for numbers in whole[1:]))
        oriented.split(one, ranks[0], next(rows_of(one, first, last)), own)
        return *ranks, whole

    ready = on_each(networks, split)

    def count_share(one: DeviceNetwork, number: int) -> tuple[int, Array | None]:
        rank, order, whole = ready[number]
        with exchange():
            for other, (_, _, there) in enumerate(ready):
                if other != number:
                    vertices, rows = slice(*network.shares[other]), slice(*entries[other])
                    for theirs, own, span in zip(there, whole, (rows, *3 * (vertices,)), strict=True):
                        fetch(theirs[span], own[span])
        counts, share = counting.no_counts(order.size, each), (number, len(networks))
        lists, higher = oriented.placed(one, order, whole)
        dense = counting.dense_parts(one, lists, order.size, each, one.edges // counting.DENSE_EDGES)
        counting.count_dense(one, dense, lists, counts, share)
        counting.count(one, lists, higher, lists, counting.many_neighbors(one), counts, share)
        return counting.found(one, counts, rank)

    return on_each(networks, count_share)


# By a masked product, in memory: twin of the one in engine/analytics/cpu/triangles.py.

FEW = 64  # entries of a mask that a warp searches, as in engine/analytics/cuda/kernels/masked_product.cu
PRODUCT_BLOCK, PRODUCT_BLOCKS = 256, 16  # threads of a block, and blocks of a multiprocessor


def masked_product(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """Count the triangles of a simple undirected network, and of ``each`` vertex if that is asked for.

    BudgetError where the GPU's memory does not hold the rows twice; DeviceError as of ``triangles``.

    Returns:
        The number of triangles, and those that each vertex is in, int64 [V], or None.
    """
    require_room(network, "masked products", MASKED_PRODUCT.bytes(network.vertices, network.edges))
    rank, order = oriented.rank_by_degree(network)
    split = oriented.empty_split(network.edges, network.vertices)
    oriented.split(network, rank, next(network.blocks()), split)
    begin, length = network.indptr[order], split.lower[order]
    few, many = cupy.flatnonzero((length > 1) & (length <= FEW)), cupy.flatnonzero(length > FEW)
    counts, kernels = counting.no_counts(order.size, each), network.kernels("masked_product", EACH=int(each))
    given, most = (begin, length, split.rows, counts.total, counts.of_rank), network.gpu.processors * PRODUCT_BLOCKS
    kernels.launch("multiply_few", min(-(-few.size * 32 // PRODUCT_BLOCK), most), PRODUCT_BLOCK, few.size, few, *given)
    ticket = cupy.zeros(1, np.uint64)
    kernels.launch("multiply_many", min(many.size, most), PRODUCT_BLOCK, ticket, many.size, many, *given)
    return counting.found(network, counts, rank)


# Clusterings: the same as engine/analytics/clusterings.py finds.

ON_HOST = 1 << 16  # vertices whose clusterings the host finds before a GPU has compiled the kernels for it
BLOCKS = 4  # of a multiprocessor, which count low degrees in shared memory


def clustering(network: DeviceNetwork, *, triangles: Array) -> Clusterings:
    """Find clusterings of the triangles of each vertex, int64 [V]."""
    if network.vertices <= ON_HOST:
        return of_arrays(np.diff(network.indptr.get()), triangles.get())
    kernels, local, found = network.kernels("clustering"), np.empty(network.vertices), []
    degrees, often, together = _by_degree(network, kernels, triangles)
    for low, high in passes.spans(network.vertices):
        own = cupy.empty(high - low)
        found.append(_often(kernels, network.indptr[low : high + 1], triangles[low:high], own))
        own.get(out=local[low:high])
    return Clusterings(degrees, often, together, local, *passes.occurrences(found))


def _by_degree(network: DeviceNetwork, kernels: Kernels, triangles: Array) -> tuple[np.ndarray, ...]:
    """The degrees that occur, and the vertices and the triangles of each."""
    vertices, blocks = network.vertices, BLOCKS * network.gpu.processors
    most = cupy.zeros(1, np.uint64)
    kernels.launch("find_most", blocks, BLOCK, vertices, network.indptr, most)
    often, together = (cupy.zeros(int(most[0]) + 1, np.uint64) for _ in range(2))
    kernels.launch("add_by_degree", blocks, BLOCK, vertices, network.indptr, triangles, often.size, often, together)
    often, together = (one.get().view(np.int64) for one in (often, together))
    degrees = np.flatnonzero(often)
    return degrees, often[degrees], together[degrees]


def _often(kernels: Kernels, indptr: Array, triangles: Array, local: Array) -> tuple[np.ndarray, np.ndarray]:
    """Fill ``local`` with the clusterings of some vertices; which occur, and how often, as of one piece of _often."""
    size = local.size
    above, sizes = cupy.empty(size), cupy.zeros(2, np.uint64)
    kernels.over("cluster", size, size, indptr, triangles, local, above, sizes)
    count, none = sizes.get().tolist()
    if not count:
        return with_none(np.empty(0), np.empty(0, np.int64), none)
    above = above[:count]
    above.sort()
    upto = cupy.empty(count, np.int64)
    kernels.over("mark_new", count, count, above, upto)
    cupy.cumsum(upto, out=upto)
    values, begin = (cupy.empty(int(upto[-1]), kind) for kind in (np.float64, np.int64))
    kernels.over("place_new", count, count, above, upto, values, begin)
    return with_none(values.get(), np.diff(np.append(begin.get(), count)), none)
