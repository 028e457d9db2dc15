"""Triangles of a graph that is spread over GPUs, of which none has all rows.

Each GPU orients its own rows by degree, and keeps their lists of lower neighbors, so that an edge is in one list
(oriented.py). Vertices are known by their ranks. Then GPUs take works one after the other: the lists of some
consecutive ranks, as those of the vertices of highest rank of a triangle, are put together of what each GPU has of
them. They stay while the lists of all lower ranks pass by over the link between the GPUs, as those of the middle
vertices: one piece is copied while the triangles of the one before are counted. Triangles of the dense part are
counted when a work begins. All numbers are integers, so that it does not matter who counts what.

The memory of a GPU beside the rows, the lists and what is kept of each vertex: half for the lists that stay and for
the higher neighbors that they give to others, an eighth for each of two pieces, a sixteenth for the dense part.
"""

import logging
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda import triangle_counts as counting
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.oriented import (
    ENTRY,
    LEAST,
    LIST_BYTES,
    MOST_ENTRIES,
    MOST_WARPS,
    OTHER,
    UNIT,
    Higher,
    Lists,
    Passing,
    Runs,
    bytes_of,
    cuts_of,
    rank_by_degree,
)
from csaw.engine.analytics.cuda.piece_groups import Group, divided, grouped
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import in_order, on_each, rows_of
from csaw.engine.analytics.cuda.triangle_counts import Counts
from csaw.engine.analytics.passes import within
from csaw.engine.analytics.rows_in_memory import Block

log = logging.getLogger(__name__)
PLACE_BYTES = (
    20  # of a vertex: where its higher neighbors begin, up to where they are filled in, and how many there are
)
BLOCK_BYTES = 32  # of an entry of a block while its lists are written
BLOCK_VERTEX = 2  # entries that a vertex of a block counts as
LEAST_ROWS = 2  # of the longest length, for which a block must have room
LEAST_ROOM = 1 << 20  # bytes, as blocks of few rows are slow
STAY_SHARE, PIECE_SHARE, DENSE_SHARE = 2, 8, 16  # one part of this many of the memory is for what the module says
MOST_WORKS = 32  # times that the lists of a GPU may be as large as the room: they pass by for each group that stays
FINE = 256  # pieces of lists at least, of which works are made
PASSES = 4  # groups of pieces at least that pass by, so that all but one are copied while others are in use
WORKS_OF_GPU = 4  # so that the last works of the GPUs end at about the same time


def has_room(network: PooledNetwork) -> bool:
    """Whether each GPU has room for lists beside its rows; else they go by way of the host (triangles.py)."""
    needed = least_memory(network)
    if needed > network.memory:
        log.info(
            "triangles of %s go by way of host memory: %s bytes are needed on each GPU, and %s are allowed",
            network.store.path,
            f"{needed:,}",
            f"{network.memory:,}",
        )
    return needed <= network.memory


def least_memory(network: PooledNetwork) -> int:
    """Bytes that each GPU needs for its rows, their lists, and what passes by."""
    longest = BLOCK_BYTES * LEAST_ROWS * (network.store.max_degree + BLOCK_VERTEX)
    lists = OTHER * network.spread.entries + LIST_BYTES * network.vertices
    return network.memory - _budget(network) + max(longest, LEAST_ROOM, lists // MOST_WORKS)


def _budget(network: PooledNetwork) -> int:
    """Bytes of a GPU beside its rows, what is kept of each vertex, and the most that its lists can take."""
    entries, vertices = network.spread.entries, max(last - first for first, last in network.shares)
    lists = OTHER * entries + (ENTRY + UNIT) * vertices
    return network.budget - network.edge_bytes * entries - lists - PLACE_BYTES * network.vertices


def counted(network: PooledNetwork, each: bool) -> list[tuple[int, Array | None]]:
    """Count the triangles where ``has_room``: the counts of each GPU, as triangles.triangles returns them.

    Rows of other networks of the graph are given back.
    """
    if network.store.max_degree < LEAST:
        return [counting.none_found(network, each)]
    for other in network.relatives:
        if other is not network:
            other.let_go()
    networks, budget = network.among(len(network.shares)), _budget(network)
    order = rank_by_degree(network)[1]
    every = OTHER * network.edges + LIST_BYTES * order.size
    cuts = cuts_of(network, order, max(min(budget // PIECE_SHARE, every // FINE), 1))
    del order
    most = max(min(budget // BLOCK_BYTES, MOST_ENTRIES), network.store.max_degree + BLOCK_VERTEX)
    blocks, runs = _blocks(network, most), Runs(cuts, None, on_gpus=True)

    def write(one: DeviceNetwork, number: int) -> tuple[Array, Counts]:
        rank = rank_by_degree(one)[0]
        for own in rows_of(one, *network.shares[number]):
            runs.write(one, rank, _parts(own, blocks[number], network.offsets))
        cupy.get_default_memory_pool().free_all_blocks()
        return rank, counting.no_counts(runs.ranks, each)

    try:
        kept = dict(zip(networks, on_each(networks, write), strict=True))
        plan = _Plan(runs, budget, len(networks))
        workers = {one: _Counting(one, runs, plan, counts) for one, (_, counts) in kept.items()}
        for _ in in_order(networks, plan.works, lambda one, work: workers[one].count(work)):
            pass
        workers.clear()
        return on_each(networks, lambda one, _: counting.found(one, kept[one][1], kept[one][0]))
    finally:
        runs.close()


def _blocks(network: PooledNetwork, most: int) -> list[list[int]]:
    """Cut the rows of each GPU into blocks of at most ``most`` entries, where a vertex counts as BLOCK_VERTEX of them.

    ``most``: as many as the longest row counts as at least. Returns where the blocks of each GPU begin, and its end.
    """
    found = []
    for low, high in network.shares:
        begin, end = network.offsets[[low, high]].tolist()
        if end - begin + BLOCK_VERTEX * (high - low) <= most:
            found.append([low, high] if low < high else [high])
            continue
        upto = network.offsets[low : high + 1] + BLOCK_VERTEX * np.arange(high - low + 1)
        found.append([low, *(low + last for _, last in within(upto, most))])
    return found


def _parts(rows: Block, begins: list[int], offsets: np.ndarray) -> Iterator[Block]:
    """Yield the rows of a GPU block by block."""
    for low, high in pairwise(begins):
        begin, end = (offsets[[low, high]] - offsets[rows.first]).tolist()
        indptr = rows.indptr[low - rows.first : high - rows.first + 1] - begin
        yield Block(low, high, indptr, rows.indices[begin:end], None)


class _Plan:
    """The lists that stay on a GPU and those that pass by, in ``budget`` bytes of it.

    works: the lists that stay, one group after the other. pieces: those that pass by. head: those of the dense parts.
    staying, passing: bytes for each, of those that stay with the higher neighbors that they give to others.
    """

    def __init__(self, runs: Runs, budget: int, gpus: int) -> None:
        sizes = runs.sizes
        self.lists, words = bytes_of(sizes, len(runs.runs)), OTHER * (4 * sizes[:, 1] + sizes[:, 2])
        self.works = divided(sizes, self.lists + words, budget // STAY_SHARE, gpus * WORKS_OF_GPU)
        each = [Group(piece, piece + 1, size) for piece, size in enumerate(self.lists.tolist())]
        self.pieces = grouped(each, min(budget // PIECE_SHARE, int(self.lists.sum()) // PASSES))
        dense = min(int(np.searchsorted(runs.cuts, max(counting.DENSE, default=1))), len(each))
        self.head = grouped(each[:dense], budget // STAY_SHARE)[0]
        together = [self.end(one) + int(words[one.low : one.high].sum()) for one in self.works]
        self.staying, self.passing = max(self.end(self.head), *together), max(one.bytes for one in self.pieces)
        self.dense_bytes = budget // DENSE_SHARE

    def end(self, group: Group) -> int:
        """The bytes of the lists of a group, up to where the higher neighbors that they give begin."""
        return -(-int(self.lists[group.low : group.high].sum()) // 32) * 32


class _Counting:
    """Counts the triangles of the works that a GPU takes, in memory that it keeps for them."""

    def __init__(self, network: DeviceNetwork, runs: Runs, plan: _Plan, counts: Counts) -> None:
        self.network, self.runs, self.plan, self.counts = network, runs, plan, counts

    @cached_property
    def memory(self) -> list[Array]:
        """Memory for what stays, and for two pieces that pass by."""
        return [cupy.empty(size, np.uint8) for size in (self.plan.staying, self.plan.passing, self.plan.passing)]

    @cached_property
    def many(self) -> int:
        return counting.many_neighbors(self.network)

    @cached_property
    def dense(self) -> dict[int, Array]:
        """The bit matrices of the dense parts, of the lists of the lowest ranks."""
        lists, _ = self._read(self.plan.head)
        most = min(self.network.edges // counting.DENSE_EDGES, self.plan.dense_bytes)
        return counting.dense_parts(self.network, lists, self.runs.ranks, self.counts.each, most)

    def _read(self, group: Group) -> "tuple[Lists, cupy.cuda.Stream]":
        """Read lists to where they stay. Returns the stream on which they came, too."""
        stream = cupy.cuda.Stream(non_blocking=True)
        stream.wait_event(cupy.cuda.get_current_stream().record())  # the memory may be in use
        lists = self.runs.read(self.network, group.low, group.high, self.memory[0], stream)
        cupy.cuda.get_current_stream().wait_event(stream.record())
        return lists, stream

    def count(self, work: Group) -> None:
        """Count the triangles whose vertex of highest rank is in ``work``."""
        dense, network, counts = self.dense, self.network, self.counts
        others, stream = self._read(work)
        pieces = [one for one in self.plan.pieces if one.low < work.high]
        passing = Passing(self.runs, network, pieces, self.memory[1:3], stream)
        if dense:
            counting.count_dense(network, dense, others, counts)
        begin, higher, words = self._higher(others, self.memory[0][self.plan.end(work) :])
        for middles in passing:
            own = slice(middles.first, middles.last)
            counting.count(network, middles, Higher(begin[own], higher[own], words), others, self.many, counts)

    def _higher(self, others: Lists, room: Array) -> Higher:
        """The vertices of ``others`` by their lower neighbors, which are of any ranks, in ``room`` (uint8)."""
        ranks, count = self.runs.ranks, others.last - others.first
        higher, begin = cupy.zeros(ranks, np.uint32), cupy.zeros(ranks + 1, np.int64)
        kernels, warps = self.network.kernels("oriented_runs"), 32 * min(count, MOST_WARPS)
        given = (count, others.first, *others[2:], 0, ranks)
        kernels.over("count_higher", warps, *given, higher)
        cupy.cumsum(higher.astype(np.int64), out=begin[1:])
        words = room[: room.size // OTHER * OTHER].view(np.uint32)
        kernels.over("fill_higher", warps, *given, begin.copy(), words)
        return Higher(begin, higher, words)
