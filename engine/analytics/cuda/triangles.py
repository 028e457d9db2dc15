"""Triangles of a simple undirected network on a GPU, in 19 bytes an edge with the graph itself, 27 with wide ids.

Where that does not fit, parts of the lists of neighbors stay on the GPU while others pass by (triangles_streamed.py): a
triangle needs the lists of two of its vertices alone.

Several GPUs split a range of the rows each, copy the others' from each other, and count the triangles of a share of the
middle vertices each; of a graph that is streamed, each takes the next part when it is done with one. Where each has its
own rows alone, lists pass by between them (triangles_spread.py). Counts are added.
"""

from csaw.engine.analytics.cuda import oriented, triangles_spread, triangles_streamed
from csaw.engine.analytics.cuda import triangle_counts as counting
from csaw.engine.analytics.cuda.footprints import triangles_bytes
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.oriented import Split
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import exchange, here, on_each, rows_of
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
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
