"""Triangles of a simple undirected network on a GPU, in 19 bytes an edge with the graph itself, 27 with wide ids.

Where that does not fit, parts of the lists of neighbors stay on the GPU while others pass by (triangles_streamed.py): a
triangle needs the lists of two of its vertices alone.

Several GPUs split a range of the rows each, copy the others' from each other, and count the triangles of a share of the
middle vertices each; of a graph that is streamed, each takes the next part when it is done with one. Where each has its
own rows alone, lists pass by between them (triangles_spread.py). Counts are added.
"""

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics import pieces
from csaw.engine.analytics.clusterings import Clusterings, of_arrays, with_none
from csaw.engine.analytics.cuda import oriented, triangles_spread, triangles_streamed
from csaw.engine.analytics.cuda import triangle_counts as counting
from csaw.engine.analytics.cuda.footprints import MASKED_PRODUCT, require_room, triangles_bytes
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.oriented import Split
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import exchange, here, on_each, rows_of
from csaw.engine.cuda.declarations import BLOCK
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.cuda.launch import Kernels


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
        found = triangles_streamed.counted(network, each)
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
    for low, high in pieces.spans(network.vertices):
        own = cupy.empty(high - low)
        found.append(_often(kernels, network.indptr[low : high + 1], triangles[low:high], own))
        own.get(out=local[low:high])
    return Clusterings(degrees, often, together, local, *pieces.occurrences(found))


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
