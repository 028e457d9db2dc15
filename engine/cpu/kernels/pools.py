"""Uniform picks from a pool of several vertices: draw numbers, and look up the edges with these numbers.

See engine/batches/pools.py.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, neighbor_at, row_of
from csaw.engine.cpu.kernels.constants import POOLED
from csaw.engine.cpu.kernels.traverse import in_pool
from csaw.engine.draws.random import below_wide, pool_word
from csaw.partition.base.compile import njit


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
