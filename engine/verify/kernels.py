"""Look-ups over many edges at once, for verify."""

import numpy as np

from csaw.partition.compile import njit, prange


@njit(parallel=True)
def first_edge(indptr, indices, src, dst, out):
    """Number of the first stored edge from each src to its dst or, where there is none, to what follows it."""
    for i in prange(src.size):
        low, high = indptr[src[i]], indptr[src[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if np.int64(indices[middle]) < dst[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@njit(parallel=True)
def multiplicity(indptr, indices, src, dst, out):
    """How many edges lead from each src to its dst; 0 where one of the two is no vertex."""
    vertices = indptr.size - 1
    for i in prange(src.size):
        out[i] = 0
        a, b = src[i], dst[i]
        if 0 <= a < vertices and 0 <= b < vertices:
            low, high = indptr[a], indptr[a + 1]
            while low < high:
                middle = (low + high) >> 1
                if np.int64(indices[middle]) < b:
                    low = middle + 1
                else:
                    high = middle
            while low < indptr[a + 1] and np.int64(indices[low]) == b:
                out[i] += 1
                low += 1


@njit(nogil=True)
def pool_sizes(indptr, indices, entry_key, entry_depth, visit_key, visit_depth, once, out):
    """Edges that each frontier entry could select: all of its row, or those to vertices not yet visited (``once``).

    A key is instance * vertices + vertex; visit_key is ascending, visit_depth the depth of each first visit.
    """
    vertices = indptr.size - 1
    for i in range(entry_key.size):
        v = entry_key[i] % vertices
        base = entry_key[i] - v
        out[i] = 0
        for edge in range(indptr[v], indptr[v + 1]):
            if not once:
                out[i] += 1
                continue
            key = base + np.int64(indices[edge])
            at = np.searchsorted(visit_key, key)
            seen = at < visit_key.size and visit_key[at] == key and visit_depth[at] <= entry_depth[i]
            out[i] += not seen


@njit(nogil=True)
def replay(counts, src, dst, source_counts, sources, out):
    """Walkers moved one after the other: out is the first edge of each instance that starts where no walker is, or -1.

    ``sources`` is overwritten by where the walkers end.
    """
    edge = source = 0
    for i in range(counts.size):
        out[i] = -1
        for step in range(counts[i]):
            moved = False
            for w in range(source, source + source_counts[i]):
                if sources[w] == src[edge + step]:
                    sources[w] = dst[edge + step]
                    moved = True
                    break
            if not moved:
                out[i] = step
                break
        edge += counts[i]
        source += source_counts[i]
