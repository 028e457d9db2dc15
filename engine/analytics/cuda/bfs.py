"""Breadth-first search on a GPU: twin of engine/analytics/cpu/bfs.py."""

from csaw.engine.analytics.cuda import bfs_shares
from csaw.engine.analytics.cuda.bfs_shares import pays
from csaw.engine.analytics.cuda.levels import Found
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.search_state import SearchState, course_of, few_of, unreached
from csaw.engine.analytics.passes import CHUNK, search_by_blocks
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, source: int) -> Array:
    """Find the number of edges on a shortest path from ``source`` to each vertex, along directions.

    State: 12 bytes a vertex and three bitmaps, and 16 for each vertex of a level that is pushed. A graph that does not
    fit is read once a level, without the blocks that have no vertex of its frontier. Several GPUs share the large
    levels of a graph that all of them have in memory already; or all but those of a few vertices, where the graph is
    pooled, or the user has said how they tell each other what they have reached.

    Returns:
        int32 [V], -1 where there is no path.
    """
    if not pays(network):
        return alone(network, source)
    distance = unreached(network)
    bfs_shares.search(network, source, distance)
    return distance


def alone(network: DeviceNetwork, source: int) -> Array:
    """Search as ``compute`` does with the GPU of the network alone: others may have searches of their own to do."""
    distance = unreached(network)
    if network.resident:
        _search(network, source, distance)
        return distance
    distance[source] = 0

    def push(block: Block, *given: Array) -> None:
        rows = (block.first, block.last, block.indptr, block.indices)
        network.kernels("bfs").over("push_rows", block.last - block.first, *rows, distance, *given)

    search_by_blocks(network, source, CHUNK, push)
    return distance


def _search(network: DeviceNetwork, source: int, distance: Array) -> None:
    """Push along rows, and pull along those backward where they are in memory already."""
    state, course, as_bits = SearchState(network, distance), course_of(network, source), False
    few = few_of(network)
    state.start(source)
    while course.now.size:
        pulls = course.begin()
        if pulls and not as_bits:
            state.mark(0, course.now.size)
        elif as_bits and not pulls:
            state.collect(0, network.vertices)
        as_bits = pulls
        if not pulls and max(course.now) <= few:
            course.went_on(state.push_few(course.now, course.level))
            continue
        if pulls:
            state.pull(0, network.vertices, course.level)
        else:
            state.push(course.now, course.level)
        course.reached(Found(*state.found()))
