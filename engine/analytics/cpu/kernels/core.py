"""Core numbers of a simple undirected graph: by peeling a graph in memory, or by lowering estimates block by block."""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, zeros


@njit(nogil=True)
def peel(indptr, indices, cores):
    """Take the vertex of the least degree away, again and again (Batagelj and Zaversnik 2003, arXiv cs/0310049).

    ``cores`` has the degrees, and gets the core numbers. ``order`` has the vertices by what is left of their degrees,
    which ``cores`` says; those of degree d begin at begins[d].
    """
    most = -1
    for degree in cores:
        most = max(most, np.int64(degree))
    begins = zeros(most + 2, cores.dtype)
    for degree in cores:
        begins[degree + 1] += 1
    for degree in range(begins.size - 1):
        begins[degree + 1] += begins[degree]
    order, places = empty(cores.size, cores.dtype), empty(cores.size, cores.dtype)
    for v in range(cores.size):
        places[v] = begins[cores[v]]
        order[places[v]] = v
        begins[cores[v]] += 1
    for degree in range(begins.size - 1, 0, -1):
        begins[degree] = begins[degree - 1]
    begins[0] = 0
    for turn in range(cores.size):
        v = order[turn]
        for i in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
            u = indices[i]
            if cores[u] > cores[v]:
                _one_less(u, cores, begins, order, places)


@inner(nogil=True)
def _one_less(u, cores, begins, order, places):
    """Exchange a vertex with the first of its degree, which then has one less."""
    degree, place = cores[u], places[u]
    first = begins[degree]
    other = order[first]
    order[place], order[first] = other, u
    places[other], places[u] = place, first
    begins[degree] += 1
    cores[u] -= 1


@njit(nogil=True)
def lower(low, high, first, indptr, indices, cores, active, following):
    """Lower the estimate of each active vertex to the most neighbors whose estimates are as high.

    Lü et al., Nature Communications 7:10168, 2016. Marks in ``following`` the neighbors that this may lower next: those
    with a higher estimate, also where another thread is about to lower that. Estimates only fall, and none falls below
    the core number, so it does not matter which of them other threads have lowered before.
    """
    counts = zeros(64, np.int64)
    for v in range(low, high):
        if not active[v]:
            continue
        begin, end, estimate = np.uint64(indptr[v - first]), np.uint64(indptr[v - first + 1]), cores[v]
        if counts.size <= estimate:
            counts = zeros(2 * estimate, np.int64)
        for i in range(begin, end):
            counts[min(cores[indices[i]], estimate)] += 1
        found, reached = estimate, counts[estimate]
        while reached < found:
            found -= 1
            reached += counts[found]
        counts[: estimate + 1] = 0
        if found < estimate:
            cores[v] = found
            for i in range(begin, end):
                if cores[indices[i]] > found:
                    following[indices[i]] = True
