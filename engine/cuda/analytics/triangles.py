"""Triangles of a simple undirected network, of the whole graph and of each vertex, on a GPU: 18 bytes an edge with the graph itself.

Where that does not fit, parts of the rows stay on the GPU while all blocks of rows pass by: a triangle needs the rows of two of its vertices alone.

Several GPUs split a range of the rows each, copy the others' from each other, and count the triangles of a share of the middle vertices each; of rows that do not fit, each
takes the next part when it is done with one. Counts are added.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.cuda.several import exchange, here, in_order, on_each, rows_of
from csaw.engine.network import Block
from csaw.partition.errors import BudgetError

HUBS = 0xFFFF  # ranks that 16 bits hold, beside the sign of all others
LONG = 1024  # neighbors from which a row is split by a whole block
MANY = 48  # neighbors from which a vertex is worth a bitmap of the hubs
CHUNK = 2048  # higher neighbors of a task, as in triangles.cu
ENTRY_BYTES = 9  # of an entry of a row: in the graph, split, and half of them in 16 bits
VERTEX_BYTES = 32  # of a vertex beside STATE_BYTES, while middle vertices are sorted by their neighbors
FETCH_SHARE = 4  # one part of this many of the memory is for blocks that are copied, a half for the rows that stay
BIG, SMALL, MIDDLE, FEW = 512, (32, 2), 128, 256  # threads of a block of each kernel; two short rows are a block


class Part(NamedTuple):
    """Split rows of the vertices ``first`` .. ``last`` - 1; the names are those of triangles.cu."""

    first: int
    last: int
    indptr: Array
    rows: Array
    lower: Array
    close: Array


class Counts(NamedTuple):
    """What a GPU counts: uint64 [1], and [V] twice, empty where triangles of vertices are not counted. ``rank``: uint32 [V], as of ``_rank``."""

    rank: Array
    total: Array
    by_rank: Array
    by_vertex: Array


def compute(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """The number of triangles, and of ``each`` vertex: int64 [V], those that it is in (None unless asked for).

    BudgetError where the GPU memory that may be used does not hold the parts of a graph that is streamed.
    """
    if network.resident and ENTRY_BYTES * network.edges + VERTEX_BYTES * network.vertices <= network.room:
        found = _in_memory(network, each)
    else:
        found = _stream(network, each)
    total, vertices = found[0]
    for more, of_vertices in found[1:]:
        total += more
        if each:
            vertices += here(of_vertices)
    return total, vertices


def _counts(network: DeviceNetwork, each: bool) -> Counts:
    size = network.vertices if each else 0
    return Counts(_rank(network), *(cupy.zeros(count, np.uint64) for count in (1, size, size)))


def _found(counts: Counts, each: bool) -> tuple[int, Array | None]:
    """What a GPU has counted, as ``compute`` returns it."""
    vertices = (counts.by_vertex + counts.by_rank[counts.rank]).astype(np.int64) if each else None
    return int(counts.total[0]), vertices


def _rank(network: DeviceNetwork) -> Array:
    """uint32 [V]: ranks by degree, the highest first, ties in order of ids."""
    rank = cupy.empty(network.vertices, np.uint32)
    order = cupy.argsort(-cupy.diff(network.indptr), kind="stable")
    rank[order] = cupy.arange(network.vertices, dtype=np.uint32)
    return rank


def _in_memory(network: DeviceNetwork, each: bool) -> list[tuple[int, Array | None]]:
    """What each GPU counts of rows that fit it."""
    networks = network.among(len(network.shares))
    entries = [tuple(network.indptr[cupy.asarray(span)].tolist()) for span in network.shares]

    def split(one: DeviceNetwork, number: int) -> tuple[Counts, Part]:
        counts, block, size = _counts(one, each), next(one.blocks()), one.vertices
        whole = Part(0, size, block.indptr, *(cupy.empty(length, np.uint32) for length in (one.edges, size, size)))
        own = next(rows_of(one, *network.shares[number]))
        return counts, _split(one, counts.rank, own, whole)

    ready = on_each(networks, split)

    def count(one: DeviceNetwork, number: int) -> tuple[int, Array | None]:
        counts, whole = ready[number]
        with exchange():
            for other, (_, there) in enumerate(ready):
                if other != number:
                    vertices, rows = slice(*network.shares[other]), slice(*entries[other])
                    for theirs, own, span in zip(there[3:], whole[3:], (rows, vertices, vertices), strict=True):
                        fetch(theirs[span], own[span])
        _count(one, whole, whole, counts, (number, len(networks)))
        return _found(counts, each)

    return on_each(networks, count)


def _stream(network: DeviceNetwork, each: bool) -> list[tuple[int, Array | None]]:
    """What each GPU counts with ranges of rows in the middle of triangles, while all blocks pass by each of them."""
    store, room = network.store, network.room
    if network.edges != store.edges or store.directed:  # made on the GPU of the store's graph, and kept for others
        store, room = network.host.undirected.store, room - 4 * network.edges
    else:
        network.let_go()
    stream = _narrow(network, store, room)
    try:
        networks = stream.among(len(stream.shares))
        most = min(room // 2 // 4, -(-stream.edges // len(networks)))
        counts = dict(zip(networks, on_each(networks, lambda one, _: _counts(one, each)), strict=True))
        for _ in in_order(networks, _ranges(stream, most), lambda one, span: _pass(one, *span, counts[one])):
            pass
        return on_each(networks, lambda one, _: _found(counts[one], each))
    finally:
        stream.loaded = {}  # the network's, which it keeps
        stream.close()


def _pass(stream: DeviceNetwork, first: int, last: int, counts: Counts) -> None:
    middles = _joined(stream, counts.rank, first, last)
    for block in stream.blocks():
        _count(stream, middles, _split(stream, counts.rank, block), counts)


def _narrow(network: DeviceNetwork, store: Any, room: int) -> DeviceNetwork:
    """The graph of ``store`` in blocks of which two take a part of ``room``. BudgetError where they do not fit."""
    least = 2 * network.edge_bytes * max(store.max_degree, 1)
    if room // FETCH_SHARE < least:
        needed = network.gpu_memory - room + FETCH_SHARE * least
        raise BudgetError(
            f"{network.store.path}: triangles need {needed:,} bytes of the GPU, for what is kept of {network.vertices:,} vertices and for rows of "
            f"{store.max_degree:,} neighbors, and {network.gpu_memory:,} are allowed; raise --gpu-memory to {needed:,}"
        )
    kept = STATE_BYTES * network.vertices + room // FETCH_SHARE
    stream = DeviceNetwork(store, network.gpu, others=network.others, gpu_memory=kept, **network.host_options)
    stream.indptr, stream.loaded = network.indptr, network.loaded
    return stream


def _ranges(stream: DeviceNetwork, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of vertices of whole blocks, with at most ``most`` entries."""
    first, edges = 0, 0
    for part in stream.cut.partitions:
        if edges and edges + part.edges > most:
            yield first, part.first_vertex
            first, edges = part.first_vertex, 0
        edges += part.edges
    yield first, stream.vertices


def _split(network: DeviceNetwork, rank: Array, block: Block, into: Part | None = None) -> Part:
    """The split rows of a block: a part of its own, or in their place in ``into``."""
    count = block.last - block.first
    if into is None:
        into = Part(
            block.first,
            block.last,
            block.indptr,
            *(cupy.empty(size, np.uint32) for size in (block.indices.size, count, count)),
        )
    at = block.first - into.first
    edge = int(into.indptr[at] - block.indptr[0])  # 0 where the block is a view of all rows
    rows, lower, close = (
        into.rows[edge : edge + block.indices.size],
        into.lower[at : at + count],
        into.close[at:][:count],
    )
    kernels = network.kernels("oriented")
    given = (block.first, np.uint32(HUBS), block.indptr, block.indices, rank, rows, lower, close)
    long = cupy.flatnonzero(cupy.diff(block.indptr) > LONG)
    kernels.launch(
        "split_rows", min(long.size, network.gpu.processors * 8), BIG, long.size, long, block.indices.size, *given
    )
    kernels.launch(
        "split_rows", min(-(-count // SMALL[1]), network.gpu.processors * 64), SMALL, count, None, LONG, *given
    )
    return into


def _joined(stream: DeviceNetwork, rank: Array, first: int, last: int) -> Part:
    """The split rows of the vertices ``first`` .. ``last`` - 1, of several blocks."""
    indptr = stream.indptr[first : last + 1] - stream.indptr[first]
    sizes = (int(indptr[-1]), last - first, last - first)
    part = Part(first, last, indptr, *(cupy.empty(size, np.uint32) for size in sizes))
    for block in stream.blocks(wanted=lambda low, high: first <= low and high <= last):
        _split(stream, rank, block, part)
    return part


def _count(
    network: DeviceNetwork, middles: Part, others: Part, counts: Counts, share: tuple[int, int] = (0, 1)
) -> None:
    """Count the triangles whose middle vertex is in ``middles`` and whose vertex of highest rank is in ``others``.

    ``share``: (k, n) takes of the middle vertices every n-th by rank, from k on: neighbors in rank have about the same work.
    """
    rank, (part, parts) = counts.rank, share
    near_begin = cupy.zeros(others.last - others.first + 1, np.int64)
    cupy.cumsum((others.close.astype(np.int64) + 3) // 4, out=near_begin[1:])
    near = cupy.empty(4 * int(near_begin[-1]), np.uint16)
    network.kernels("oriented").over(
        "shorten_rows", 32 * min(near_begin.size - 1, 1 << 20), near_begin.size - 1, others.indptr, others.rows, others.close, near_begin, near
    )  # fmt: skip
    kernels = network.kernels("triangles", EACH=int(counts.by_rank.size > 0))
    degrees = cupy.diff(middles.indptr)
    higher = degrees - middles.lower
    ranks = rank[middles.first : middles.last]
    able = (middles.lower > 0) & (higher > 0) & (ranks % parts == part)
    hub = ranks < HUBS
    rows_y = (middles.first, middles.indptr, middles.rows, middles.lower)
    rows_x = (others.indptr, others.rows, others.lower)
    out = (counts.total, counts.by_rank, counts.by_vertex)
    chosen = cupy.flatnonzero(able & hub)
    tasks = cupy.zeros(chosen.size + 1, np.int64)
    cupy.cumsum((higher[chosen] + CHUNK - 1) // CHUNK, out=tasks[1:])
    span = (others.first, others.last)
    kernels.launch(
        "count_hubs", int(tasks[-1]), FEW, chosen.size, chosen, tasks, rank, *rows_y, *span, near_begin, near, *out
    )
    chosen = cupy.flatnonzero(able & ~hub & (degrees >= MANY))
    ticket = cupy.zeros(1, np.uint64)
    kernels.launch(
        "count_middle", min(chosen.size, network.gpu.processors * 16), MIDDLE, chosen.size, chosen, ticket, rank, *rows_y, middles.close,
        *span, *rows_x, others.close, near_begin, near, *out,
    )  # fmt: skip
    chosen = cupy.flatnonzero(able & ~hub & (degrees < MANY))
    blocks = min(-(-chosen.size // 8), network.gpu.processors * 8)
    kernels.launch("count_few", blocks, FEW, chosen.size, chosen, rank, *rows_y, *span, *rows_x, *out)
