"""Uniform picks from a pool of several vertices: draw numbers, and look up the edges with these numbers.

See engine/batches/collective.py.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, neighbor_at, row_of
from csaw.engine.cpu.kernels.constants import POOLED, vertex_bias
from csaw.engine.cpu.kernels.traverse import in_pool
from csaw.engine.cpu.kernels.weigh import accumulate, search
from csaw.engine.draws.addresses import FRONTIER_DRAWS
from csaw.engine.draws.random import below_wide, draw64, frontier_word, is_bias, neg_log, pool_word
from csaw.partition.base.compile import inner, njit

# Selection of the vertices that expand at a depth from pools of vertices that wait (C-SAW, figure 2).
#
# An entry of a pool is (instance, slot, source, previous vertex, vertex). Without replacement, entries arrive at
# exponential times of rate `vertex_bias`, and the earliest ones expand: successive selection. With replacement, picks
# search in running sums of integers.


@inner
def waiting_bias(params, graph, seed, depth, instance, source, prev, v, bad):
    """The bias of an entry; -1 where it is none, with the vertex in ``bad``."""
    bias = float(vertex_bias(params, graph, seed, instance, depth, source, prev, v, -1, 1.0))
    if is_bias(bias):
        return bias
    bad[0], bad[1], bad[2] = 1, v, -1
    return -1.0


@njit(nogil=True)
def race_pool(entries, graph, params, seed, depth, instance, slot, source, prev, vertex, times, bad):
    """times[e] for ``entries`` e: when each arrives at this depth; -1: never."""
    graph = borrowed(graph)
    for e in entries:
        bias = waiting_bias(params, graph, seed, depth, instance[e], source[e], prev[e], vertex[e], bad)
        if bias < 0.0:
            return
        word = draw64(seed, uint64(instance[e]), uint64(slot[e]), FRONTIER_DRAWS + uint64(depth))
        times[e] = neg_log(word) / bias if bias > 0.0 else -1.0


@njit(nogil=True)
def draw_pool(pools, graph, params, seed, depth, begins, instance, source, prev, vertex, biases, sums, picks, bad):
    """picks[i] [size] for ``pools`` i: entries of begins[i] .. begins[i + 1] - 1, each drawn by its bias; -1 where none
    can be.

    ``biases``, ``sums``: room for a number of each entry.
    """
    graph = borrowed(graph)
    for i in pools:
        low, count, largest = begins[i], begins[i + 1] - begins[i], 0.0
        for e in range(low, low + count):
            biases[e] = waiting_bias(params, graph, seed, depth, instance[e], source[e], prev[e], vertex[e], bad)
            if biases[e] < 0.0:
                return
            largest = max(largest, biases[e])
        total = accumulate(biases[low : low + count], count, largest, sums[low : low + count])
        for j in range(picks.shape[1]):
            picks[i, j] = -1
            if total > 0:
                word = frontier_word(seed, uint64(instance[low]), uint64(depth), uint64(j))
                target = int64(below_wide(word, uint64(total)))
                picks[i, j] = low + search(sums[low : low + count], count, target)


# Uniform picks from a pool of several vertices.


@njit(nogil=True)
def draw_numbers(rows, seed, instance, slot, bound, out):
    """Fill out[i] for i in ``rows`` with independent random numbers below bound[i]."""
    for i in rows:
        for turn in range(out.shape[1]):
            word = pool_word(seed, uint64(instance[i]), uint64(slot[i]), uint64(turn))
            out[i, turn] = int64(below_wide(word, uint64(bound[i])))


@njit(nogil=True)
def look_up(entries, graph, frontier, offset):
    """Write the targets of the edges at ``offset`` in the entries' rows to ``out``, if they may be selected at all."""
    graph = borrowed(graph)
    vertex, start, capacity, out = frontier.vertex, frontier.start, frontier.capacity, frontier.out
    seen_from, seen_to, seen = frontier.seen_from, frontier.seen_to, frontier.seen
    for i in entries:
        v = vertex[i]
        row = row_of(graph, v)
        for cell in range(start[i], start[i] + capacity[i]):
            dst = neighbor_at(graph, row + offset[cell])
            if not POOLED or in_pool(v, dst, seen, seen_from[i], seen_to[i]):
                out[cell] = dst
