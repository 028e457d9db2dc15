"""Shortest paths by weight: delta-stepping over rows in any order. Twin: engine/analytics/cuda/kernels/sssp.cu.

Meyer and Sanders, Journal of Algorithms 49(1), 2003.

A distance is the least float64 sum along a path, added from the source on. Adding a weight never makes the larger of
two sums the smaller one, so the least of all paths is the same in whatever order they are found. Sums are not negative,
so that their bits, as unsigned integers, are ordered as they are.

    distance  float64 [V], infinite where there is no path; bits: the same memory as uint64
    round_of  int32 [V]: the round in which a vertex's row is to be gone through, or was
    active    uint8 [chunks]: whether a chunk of 4096 vertices has one of the round
"""

from llvmlite import ir
from numba import float64, int32, types
from numba.extending import intrinsic

from csaw.engine.analytics.cpu.kernels.atomics import fetch_min
from csaw.partition.base.compile import njit

INFINITE = float("inf")


@intrinsic
def bits_of(typingctx, number):
    """The bits of a float64, as a uint64."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


@njit(nogil=True)
def relax(low, high, first, indptr, indices, weights, distance, bits, round_of, number, active, following, limit):
    """Go through the rows of the vertices low .. high - 1 that are of round ``number``; returns their entries.

    Neighbors that come below ``limit`` are of the next round, and their chunks in ``following``.
    """
    entries = 0
    v = low
    while v < high:
        end = min(high, (v // 4096 + 1) * 4096)
        if active[v // 4096]:
            for w in range(v, end):
                if round_of[w] == number:
                    far = distance[w]
                    entries += indptr[w - first + 1] - indptr[w - first]
                    for i in range(indptr[w - first], indptr[w - first + 1]):
                        u, new = indices[i], far + float64(weights[i])
                        if new < distance[u] and bits_of(new) < fetch_min(bits, u, bits_of(new)) and new < limit:
                            round_of[u] = int32(number + 1)
                            following[u >> 12] = 1
        v = end
    return entries


@njit(nogil=True)
def choose(low, high, distance, round_of, number, active, floor, limit):
    """Let vertices of the chunks low .. high - 1 with floor <= distance < limit be of round ``number``.

    Returns how many are, and the least distance from ``limit`` on.
    """
    chosen, least = 0, INFINITE
    for chunk in range(low, high):
        for v in range(chunk * 4096, min(distance.size, chunk * 4096 + 4096)):
            far = distance[v]
            if far >= limit:
                least = min(least, far)
            elif far >= floor:
                round_of[v] = int32(number)
                active[chunk] = 1
                chosen += 1
    return chosen, least
