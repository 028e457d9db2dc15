"""Connected components by union of trees: Afforest (Sutton, Ben-Nun and Barak, IPDPS 2018).

Twin: engine/analytics/cuda/kernels/components.cu.

``parent`` has a vertex of the same component for each vertex, never a larger one than itself; a root is its own. A root
is hooked to a smaller one alone, so that in the end every vertex has the smallest of its component, whatever the order
in which threads took the edges.
"""

from numba import uint64

from csaw.engine.analytics.cpu.kernels.atomics import exchange_if
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import inner, njit

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
