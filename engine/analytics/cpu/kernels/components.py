"""Components of a graph, weak and strong, and core numbers.

A component is known by its smallest vertex.
"""

import numpy as np
from numba import uint64

from csaw.engine.analytics.cpu.kernels.atomics import exchange_if, fetch_min
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, zeros

# Connected components by union of trees: Afforest (Sutton, Ben-Nun and Barak, IPDPS 2018).
# Twin: engine/analytics/cuda/kernels/components.cu.
#
# ``parent`` has a vertex of the same component for each vertex, never a larger one than itself; a root is its own. A
# root is hooked to a smaller one alone, so that in the end every vertex has the smallest of its component, whatever the
# order in which threads took the edges.

AHEAD = 16  # vertices whose rows are asked for before they are looked at


@inner(nogil=True)
def link(one, other, parent):
    """Join the trees of two vertices. Threads may join others at the same time."""
    a, b = parent[one], parent[other]
    while a != b:
        high, low = max(a, b), min(a, b)
        above = parent[high]
        if above == low or (above == high and exchange_if(parent, high, high, low) == high):
            return
        a, b = parent[parent[high]], parent[low]


@njit(nogil=True)
def link_first(low, high, first, indptr, indices, parent, count):
    """Join each vertex of low .. high - 1 with the first ``count`` neighbors of its row."""
    for v in range(low, high):
        begin, end = indptr[v - first], indptr[v - first + 1]
        prefetch(indices, uint64(indptr[min(v + AHEAD, high) - first]))
        for i in range(begin, min(begin + count, end)):
            link(v, indices[i], parent)


@njit(nogil=True)
def link_rest(low, high, first, indptr, indices, parent, count, hub):
    """Join each vertex of low .. high - 1 with its other neighbors, unless it is in the tree of ``hub``.

    ``hub`` -1: in any case. An edge is lost only if both its ends are left out, and those are in one tree.
    """
    for v in range(low, high):
        if hub >= 0 and root(v, parent) == root(hub, parent):
            continue
        for i in range(indptr[v - first] + count, indptr[v - first + 1]):
            link(v, indices[i], parent)


@inner(nogil=True)
def root(v, parent):
    """The root of a vertex's tree."""
    above = parent[v]
    while parent[above] != above:
        above = parent[above]
    return above


@njit(nogil=True)
def flatten(low, high, parent):
    """Let each vertex of low .. high - 1 point to its root."""
    for v in range(low, high):
        while parent[v] != parent[parent[v]]:
            parent[v] = parent[parent[v]]


@njit(nogil=True)
def number(low, high, parent):
    """Let each vertex of low .. high - 1 point to itself."""
    for v in range(low, high):
        parent[v] = v


# Strongly connected components: by a search in depth of rows in memory, or by passes over blocks of rows. Passes
# need rows of edges that leave alone: a vertex reaches a root back if a neighbor of its does.


@njit(nogil=True)
def search(indptr, indices, index, path, waiting, at):
    """Number components V, V - 1, ... in ``index`` [V], which is 0 before.

    PEA_FIND_SCC2: Pearce, Information Processing Letters 116(1), 2016.

    index: while its component is open, a vertex has the least number of those open that it is known to reach, from 1 in
    order of discovery. path, waiting [V]: the path of the search, and vertices left behind whose component is open. at
    [V]: the next entry of each row on the path.
    """
    state = (index.size, 0, 1)  # the next component, vertices that wait, the next number
    for start in range(index.size):
        if index[start]:
            continue
        path[0], at[start], index[start] = start, indptr[start], state[2]
        length, state = 1, (state[0], state[1], state[2] + 1)
        while length:
            v = path[length - 1]
            while at[v] < indptr[v + 1] and index[indices[at[v]]]:
                at[v] += 1
            if at[v] < indptr[v + 1]:
                u = indices[at[v]]
                path[length], at[u], index[u] = u, indptr[u], state[2]
                length, state = length + 1, (state[0], state[1], state[2] + 1)
            else:
                length -= 1
                state = leave(v, indptr, indices, index, waiting, state)


@inner(nogil=True)
def leave(v, indptr, indices, index, waiting, state):
    """Close the component of a vertex whose neighbors were all searched, or let it wait for one that it reaches."""
    component, waits, number = state
    least = index[v]
    for i in range(indptr[v], indptr[v + 1]):
        least = min(least, index[indices[i]])
    if least < index[v]:
        index[v], waiting[waits] = least, v
        return component, waits + 1, number
    number -= 1
    while waits and index[waiting[waits - 1]] >= least:
        waits -= 1
        index[waiting[waits]] = component
        number -= 1
    index[v] = component
    return component - 1, waits, number


@njit(nogil=True)
def name(index, smallest):
    """Replace the number of each component by its smallest vertex. smallest [V + 1]: room for them."""
    for v in range(index.size - 1, -1, -1):
        smallest[index[v]] = v
    for v in range(index.size):
        index[v] = smallest[index[v]]


@njit(nogil=True)
def spread(low, high, first, indptr, indices, label, color):
    """Give colors to neighbors that have a larger one.

    Vertices that have a label are left out. Returns how many changed.
    """
    none, changed = label.size, 0
    for v in range(low, high):
        if label[v] == none and color[v] != none:
            for i in range(indptr[v - first], indptr[v - first + 1]):
                u = indices[i]
                if label[u] == none and color[u] > color[v] and fetch_min(color, u, color[v]) > color[v]:
                    changed += 1
    return changed


@njit(nogil=True)
def come_back(low, high, first, indptr, indices, label, color, back):
    """Mark in ``back`` the vertices with a marked neighbor of their own color. Returns how many."""
    none, changed = label.size, 0
    for v in range(low, high):
        if label[v] == none and not back[v] and color[v] != none:
            for i in range(indptr[v - first], indptr[v - first + 1]):
                if back[indices[i]] and color[indices[i]] == color[v]:
                    back[v] = 1
                    changed += 1
                    break
    return changed


@njit(nogil=True)
def trim(low, high, first, indptr, indices, label, met):
    """Let vertices without a label that lead to no other such one be components of their own; returns how many were.

    Marks in ``met`` those that others lead to.
    """
    none, trimmed = label.size, 0
    for v in range(low, high):
        if label[v] != none:
            continue
        ends = True
        for i in range(indptr[v - first], indptr[v - first + 1]):
            u = indices[i]
            if u != v and label[u] == none:
                ends = False
                met[u] = 1
        if ends:
            label[v] = v
            trimmed += 1
    return trimmed


# Core numbers of a simple undirected graph: by peeling a graph in memory, or by lowering estimates block by block.


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
