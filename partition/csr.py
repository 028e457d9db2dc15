"""Edges to rows: counting sort by source, sort within a row, repeats. Kernels of the ingest; stable, so file order decides."""

import numpy as np

from csaw.partition.compile import njit

KEEP, FIRST, SUM = 0, 1, 2


@njit(nogil=True)
def mark(ids, base, seen):
    """Note which ids occur: ``seen[id - base]``."""
    for i in range(ids.size):
        seen[ids[i] - base] = True


@njit(nogil=True)
def rank_by_table(ids, base, table, out):
    for i in range(ids.size):
        out[i] = table[ids[i] - base]


@njit(nogil=True)
def count_degrees(src, dst, undirected, drop_loops, degrees, reached):
    """Rows' sizes before repeats are merged, and who is a target; returns the number of self loops."""
    loops = 0
    for i in range(src.size):
        if src[i] == dst[i]:
            loops += 1
            if drop_loops:
                continue
        degrees[src[i]] += 1
        reached[dst[i]] = True
        if undirected and src[i] != dst[i]:
            degrees[dst[i]] += 1
    return loops


@njit(nogil=True)
def deal(src, dst, weights, undirected, drop_loops, bucket_of, buckets, out_src, out_dst, out_weights, ends):
    """Sort directed entries by bucket of their row, keeping their order; ``ends`` [buckets + 1] cuts them."""
    ends[:] = 0
    for i in range(src.size):
        if src[i] == dst[i] and drop_loops:
            continue
        ends[bucket_of[src[i]] + 1] += 1
        if undirected and src[i] != dst[i]:
            ends[bucket_of[dst[i]] + 1] += 1
    for k in range(buckets):
        ends[k + 1] += ends[k]
    at = ends.copy()
    for i in range(src.size):
        if src[i] == dst[i] and drop_loops:
            continue
        for reverse in range(2 if undirected and src[i] != dst[i] else 1):
            a, b = (dst[i], src[i]) if reverse else (src[i], dst[i])
            k = bucket_of[a]
            out_src[at[k]], out_dst[at[k]] = a, b
            if weights.size > 0:
                out_weights[at[k]] = weights[i]
            at[k] += 1


@njit(nogil=True)
def build_rows(src, dst, weights, first, rows, duplicates, indptr, indices, out_weights):
    """CSR of the vertices first .. first + rows - 1; returns (entries kept, repeats). Outputs hold as many entries as ``src``."""
    indptr[:] = 0
    for i in range(src.size):
        indptr[src[i] - first + 1] += 1
    for v in range(rows):
        indptr[v + 1] += indptr[v]
    at = indptr[:-1].copy()
    for i in range(src.size):
        cell = at[src[i] - first]
        indices[cell] = dst[i]
        if weights.size > 0:
            out_weights[cell] = weights[i]
        at[src[i] - first] = cell + 1
    kept, repeats = 0, 0
    for v in range(rows):
        low, high = indptr[v], indptr[v + 1]
        sort_row(indices, out_weights, low, high)
        indptr[v] = kept
        i = low
        while i < high:
            j = i + 1
            total = float(out_weights[i]) if weights.size > 0 else 0.0
            while j < high and indices[j] == indices[i] and duplicates != KEEP:
                if weights.size > 0:
                    total += float(out_weights[j])
                j += 1
            repeats += j - i - 1
            indices[kept] = indices[i]
            if weights.size > 0:
                out_weights[kept] = total if duplicates == SUM else out_weights[i]
            kept += 1
            i = j
    indptr[rows] = kept
    return kept, repeats


@njit
def sort_row(indices, weights, low, high):
    """Stable sort of one row by neighbor, weights alongside."""
    if weights.size == 0:
        if high - low > 32:
            indices[low:high] = np.sort(indices[low:high])
            return
    elif high - low > 32:
        order = np.argsort(indices[low:high], kind="mergesort")
        indices[low:high] = indices[low:high][order]
        weights[low:high] = weights[low:high][order]
        return
    for i in range(low + 1, high):
        value = indices[i]
        weight = weights[i] if weights.size > 0 else np.float32(0)
        j = i - 1
        while j >= low and indices[j] > value:
            indices[j + 1] = indices[j]
            if weights.size > 0:
                weights[j + 1] = weights[j]
            j -= 1
        indices[j + 1] = value
        if weights.size > 0:
            weights[j + 1] = weight
