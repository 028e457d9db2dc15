"""Strongly connected components: by a search in depth of rows in memory, or by passes over blocks of rows.

In both, a component is known by its smallest vertex. Passes need rows of edges that leave alone: a vertex reaches a
root back if a neighbor of its does.
"""

from csaw.engine.analytics.cpu.kernels.atomics import fetch_min
from csaw.partition.base.compile import inner, njit


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
