"""Triangles of a simple undirected network, of the whole graph and of each vertex, on a GPU: 18 bytes an edge with the graph itself.

Where that does not fit, parts of the rows stay on the GPU while all blocks of rows pass by: a triangle needs the rows of two of its vertices alone.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cuda.network import STATE_BYTES, DeviceNetwork
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
    """What is counted: uint64 [1], and [V] twice; empty where triangles of vertices are not counted."""

    total: Array
    by_rank: Array
    by_vertex: Array


def compute(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """The number of triangles, and of ``each`` vertex: int64 [V], those that it is in (None unless asked for).

    BudgetError where the GPU memory that may be used does not hold the parts of a graph that is streamed.
    """
    rank, size = _rank(network), network.vertices if each else 0
    counts = Counts(*(cupy.zeros(size, np.uint64) for size in (1, size, size)))
    if network.resident and ENTRY_BYTES * network.edges + VERTEX_BYTES * network.vertices <= network.room:
        whole = _split(network, rank, next(iter(network.blocks())))
        _count(network, rank, whole, whole, counts)
    else:
        _stream(network, rank, counts)
    vertices = (counts.by_vertex + counts.by_rank[rank]).astype(np.int64) if each else None
    return int(counts.total[0]), vertices


def _rank(network: DeviceNetwork) -> Array:
    """uint32 [V]: ranks by degree, the highest first, ties in order of ids."""
    rank = cupy.empty(network.vertices, np.uint32)
    order = cupy.argsort(-cupy.diff(network.indptr), kind="stable")
    rank[order] = cupy.arange(network.vertices, dtype=np.uint32)
    return rank


def _stream(network: DeviceNetwork, rank: Array, counts: Counts) -> None:
    """Count with each range of rows in the middle of triangles in turn, while all blocks pass by."""
    store, room = network.store, network.room
    if network.edges != store.edges or store.directed:  # made on the GPU of the store's graph, and kept for others
        store, room = network.host.undirected.store, room - 4 * network.edges
    else:
        network.held.clear()
    stream = _narrow(network, store, room)
    try:
        for first, last in _ranges(stream, room // 2 // 4):
            _pass(network, stream, rank, first, last, counts)
    finally:
        stream.close()


def _pass(network: DeviceNetwork, stream: DeviceNetwork, rank: Array, first: int, last: int, counts: Counts) -> None:
    middles = _joined(network, stream, rank, first, last)
    for block in stream.blocks():
        _count(network, rank, middles, _split(network, rank, block), counts)


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
    return DeviceNetwork(store, network.gpu, gpu_memory=kept, **network.host_options)


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
    at, edge = block.first - into.first, int(into.indptr[block.first - into.first])
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


def _joined(network: DeviceNetwork, stream: DeviceNetwork, rank: Array, first: int, last: int) -> Part:
    """The split rows of the vertices ``first`` .. ``last`` - 1, of several blocks."""
    indptr = network.indptr[first : last + 1] - network.indptr[first]
    sizes = (int(indptr[-1]), last - first, last - first)
    part = Part(first, last, indptr, *(cupy.empty(size, np.uint32) for size in sizes))
    for block in stream.blocks(wanted=lambda low, high: first <= low and high <= last):
        _split(network, rank, block, part)
    return part


def _count(network: DeviceNetwork, rank: Array, middles: Part, others: Part, counts: Counts) -> None:
    """Count the triangles whose middle vertex is in ``middles`` and whose vertex of highest rank is in ``others``."""
    near_begin = cupy.zeros(others.last - others.first + 1, np.int64)
    cupy.cumsum((others.close.astype(np.int64) + 3) // 4, out=near_begin[1:])
    near = cupy.empty(4 * int(near_begin[-1]), np.uint16)
    network.kernels("oriented").over(
        "shorten_rows", 32 * min(near_begin.size - 1, 1 << 20), near_begin.size - 1, others.indptr, others.rows, others.close, near_begin, near
    )  # fmt: skip
    kernels = network.kernels("triangles", EACH=int(counts.by_rank.size > 0))
    degrees = cupy.diff(middles.indptr)
    higher = degrees - middles.lower
    able = (middles.lower > 0) & (higher > 0)
    hub = rank[middles.first : middles.last] < HUBS
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
