"""Bounds of the eccentricities of vertices, tightened by the distances to and from one of them.

Takes and Kosters, Algorithms 6(1), 2013; Borassi et al., Theoretical Computer Science 586, 2015. ``inside`` [V] says
which vertices count; each of them reaches all others. Sums of distances only break ties, so they may overflow.
"""

import numpy as np

from csaw.partition.base.compile import njit


@njit(nogil=True)
def farthest(low, high, inside, distance):
    """Find the largest distance of a vertex of low .. high - 1, -1 where none counts.

    Returns it, the first vertex that has it, and the sum of all distances.
    """
    most, vertex, total = np.int64(-1), np.int64(-1), np.int64(0)
    for v in range(low, high):
        if inside[v]:
            total += distance[v]
            if distance[v] > most:
                most, vertex = np.int64(distance[v]), np.int64(v)
    return most, vertex, total


@njit(nogil=True)
def tighten(low, high, inside, to, away, eccentricity, lower, upper, total):
    """Tighten the bounds of vertices by a vertex of this eccentricity. Returns 0.

    It is at the distance ``to[v]`` from v, and v is at the distance ``away[v]`` from it.
    """
    for v in range(low, high):
        if inside[v]:
            lower[v] = max(lower[v], to[v], eccentricity - away[v])
            upper[v] = min(upper[v], to[v] + eccentricity)
            total[v] += to[v]
    return 0


@njit(nogil=True)
def likeliest(low, high, inside, bound, total, sign, limit, root, near):
    """Find the vertex of the largest ``sign * bound`` among those of which it is above ``limit``.

    Only vertices v with ``2 * root[v] > near`` are candidates; of several the one with the largest ``sign * total``.

    Returns:
        How many vertices are above the limit, how many of them are candidates, and of the best one its bound, its
        total, both times ``sign``, and its number; -1 if there is none.
    """
    above, count, most, sums, vertex = 0, 0, np.int64(limit), np.int64(0), np.int64(-1)
    for v in range(low, high):
        if inside[v] and sign * bound[v] > limit:
            above += 1
            if 2 * np.int64(root[v]) > near:
                count += 1
                value, of_value = np.int64(sign * bound[v]), np.int64(sign * total[v])
                if vertex < 0 or value > most or (value == most and of_value > sums):
                    most, sums, vertex = value, of_value, np.int64(v)
    return above, count, most, sums, vertex
