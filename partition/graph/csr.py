"""Kernels that turn edges into rows: edges are dealt to buckets of rows and sorted in each by a radix sort.

All are stable, so the order of the file decides.

A bucket is small enough to be sorted in the processor's cache: all passes over it cost less than a single pass over all
edges.
"""

import numpy as np

from csaw.partition.arrays.spool import gather
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copied, empty, place_behind, place_between, zeros

KEEP, FIRST, SUM = 0, 1, 2
DIGIT_BITS = 12  # of a pass of the radix sort: its counters stay in the first level cache


@njit(nogil=True)
def count_buckets(src, dst, undirected, drop_loops, bucket_of, reached, counts, src_buckets, dst_buckets):
    """Add the number of directed edges of each bucket to ``counts``; returns the number of self loops.

    The buckets of their rows are written down for ``deal``: a look at a large table costs more than all else here.
    Where edges have one direction, ``reached`` is set for each vertex that is a target; threads may share it, as in
    ``id_kernels.mark``. Otherwise targets have edges of their own.
    """
    loops = 0
    for i in range(src.size):
        loop = src[i] == dst[i]
        loops += loop
        if loop and drop_loops:
            continue
        bucket = bucket_of[src[i]]
        src_buckets[i] = bucket
        counts[bucket] += 1
        if undirected and not loop:
            bucket = bucket_of[dst[i]]
            dst_buckets[i] = bucket
            counts[bucket] += 1
        elif not undirected and not reached[dst[i]]:
            reached[dst[i]] = True
    return loops


@njit(nogil=True)
def deal(
    src,
    dst,
    weights,
    number,
    undirected,
    drop_loops,
    src_buckets,
    dst_buckets,
    at,
    out_src,
    out_dst,
    out_weights,
    out_numbers,
):
    """Copy directed edges to the buckets of their rows, in their order, from the places ``at`` on.

    ``number``: that of the first edge among all of the input.
    """
    for i in range(src.size):
        loop = src[i] == dst[i]
        if loop and drop_loops:
            continue
        for reverse in range(2 if undirected and not loop else 1):
            a, b = (dst[i], src[i]) if reverse else (src[i], dst[i])
            bucket = dst_buckets[i] if reverse else src_buckets[i]
            cell = at[bucket]
            at[bucket] = cell + 1
            out_src[cell], out_dst[cell] = a, b
            if weights.size > 0:
                out_weights[cell] = weights[i]
            if out_numbers.size > 0:
                out_numbers[cell] = number + i


@njit(nogil=True)
def count_degrees(src, degrees):
    """Count the edges of each row, before repeats are merged, into ``degrees``."""
    for i in range(src.size):
        degrees[src[i]] += 1


@njit(nogil=True)
def build_buckets(
    addresses,
    handles,
    ends,
    sizes,
    cuts,
    vertices,
    duplicates,
    indptr,
    indices,
    out_weights,
    out_numbers,
    src_room,
    dst_room,
    weight_room,
    number_room,
):
    """CSR of neighboring buckets, one after the other, so that each stays in the cache; returns what :func:`build_rows`
    does, entries -1 where a file is too short.

    ``addresses`` and ``handles`` [columns, pieces] say where dealt columns are, as ``gather`` takes them; bucket k is
    the entries ``ends[k]`` to before ``ends[k + 1]`` of their pieces, ``sizes[k]`` together, and the rows ``cuts[k]``
    to before ``cuts[k + 1]``. ``..._room`` is for the largest bucket; outputs hold all entries. Where numbers have no
    dealt column, they are the places of the entries among all that are read here.
    """
    kept, merged, repeats, largest, before = np.int64(0), np.int64(0), False, np.int64(0), np.int64(0)
    for k in range(sizes.size):
        n, first, last = sizes[k], cuts[k], cuts[k + 1]
        src, dst, weights, numbers = src_room[:n], dst_room[:n], weight_room[:n], number_room[:n]
        for column in range(2 + (weights.size > 0) + (numbers.size > 0)):
            if column == addresses.shape[0]:
                for i in range(n):  # np.arange would compile for a second
                    numbers[i] = before + i
                continue
            if column < 2:
                item, to = src.itemsize, (src if column == 0 else dst).ctypes.data
            elif column == 2 and weights.size > 0:
                item, to = 4, weights.ctypes.data
            else:
                item, to = 8, numbers.ctypes.data
            if not gather(addresses[column], handles[column], ends[k], ends[k + 1], item, to):
                return np.int64(-1), merged, repeats, largest
        starts = indptr[first - cuts[0] : last - cuts[0] + 1]
        found = build_rows(
            src,
            dst,
            weights,
            numbers,
            first,
            last - first,
            vertices,
            duplicates,
            starts,
            indices[kept : kept + n],
            out_weights[kept : kept + n],
            out_numbers[kept : kept + n],
        )
        for row in range(starts.size):
            starts[row] += kept
        kept, merged, before = kept + found[0], merged + found[1], before + n
        repeats, largest = repeats or found[2], max(largest, found[3])
    return kept, merged, repeats, largest


@inner
def build_rows(
    src, dst, weights, numbers, first, rows, vertices, duplicates, indptr, indices, out_weights, out_numbers
):
    """CSR of the vertices first .. first + rows - 1; returns (entries kept, repeats merged, whether some are left,
    entries of the largest row).

    Outputs hold as many entries as ``src``, which is used up.
    """
    bits = 1
    while vertices >> bits > 0:
        bits += 1
    passes = -(-bits // DIGIT_BITS)
    width = -(-bits // passes)
    other_src, other_dst = empty(src.size, src.dtype), empty(dst.size, dst.dtype)
    other_weights, other_numbers = empty(weights.size, weights.dtype), empty(numbers.size, numbers.dtype)
    for k in range(passes):
        sort_by_digit(src, dst, weights, numbers, k * width, width, other_src, other_dst, other_weights, other_numbers)
        src, other_src = other_src, src
        dst, other_dst = other_dst, dst
        weights, other_weights = other_weights, weights
        numbers, other_numbers = other_numbers, numbers
    sort_by_row(src, dst, weights, numbers, first, rows, indptr, indices, out_weights, out_numbers)
    return merge_repeats(duplicates, indptr, indices, out_weights, out_numbers)


@inner
def sort_by_digit(src, dst, weights, numbers, shift, width, out_src, out_dst, out_weights, out_numbers):
    """Sort edges by the bits shift .. shift + width - 1 of the target; stable."""
    mask = (1 << width) - 1
    at = zeros(mask + 2, np.int64)
    for i in range(dst.size):
        at[((np.int64(dst[i]) >> shift) & mask) + 1] += 1
    for k in range(mask + 1):
        at[k + 1] += at[k]
    for i in range(dst.size):
        digit = (np.int64(dst[i]) >> shift) & mask
        cell = at[digit]
        at[digit] = cell + 1
        out_src[cell], out_dst[cell] = src[i], dst[i]
        if weights.size > 0:
            out_weights[cell] = weights[i]
        if numbers.size > 0:
            out_numbers[cell] = numbers[i]


@inner
def sort_by_row(src, dst, weights, numbers, first, rows, indptr, indices, out_weights, out_numbers):
    """Sort edges by source and cut them into rows by ``indptr``; stable."""
    indptr[:] = 0
    for i in range(src.size):
        indptr[src[i] - first + 1] += 1
    for v in range(rows):
        indptr[v + 1] += indptr[v]
    at = copied(indptr)
    for i in range(src.size):
        cell = at[src[i] - first]
        at[src[i] - first] = cell + 1
        indices[cell] = dst[i]
        if weights.size > 0:
            out_weights[cell] = weights[i]
        if numbers.size > 0:
            out_numbers[cell] = numbers[i]


@inner
def merge_repeats(duplicates, indptr, indices, weights, numbers):
    """One entry for each run of equal ones in a row, unless all are kept; in place.

    Returns what :func:`build_rows` does.
    """
    kept, high, left, largest = 0, 0, False, 0
    for v in range(indptr.size - 1):
        begin, i, high = kept, high, indptr[v + 1]
        while i < high:
            j = i + 1
            total = float(weights[i]) if weights.size > 0 else 0.0
            while duplicates != KEEP and j < high and indices[j] == indices[i]:
                if weights.size > 0:
                    total += float(weights[j])
                j += 1
            left |= j < high and indices[j] == indices[i]
            indices[kept] = indices[i]
            if weights.size > 0:
                weights[kept] = total if duplicates == SUM else weights[i]
            if numbers.size > 0:
                numbers[kept] = numbers[i]
            kept += 1
            i = j
        indptr[v + 1] = kept
        largest = max(largest, kept - begin)
    return kept, high - kept, left, largest


@njit(nogil=True)
def count_present(indptr, indices, rows, wanted):
    """Count the pairs (row, neighbor) that are entries, by binary search."""
    found = 0
    for k in range(rows.size):
        low, high = indptr[rows[k]], indptr[rows[k] + 1]
        while low < high:
            middle = (low + high) >> 1
            if np.int64(indices[middle]) < wanted[k]:
                low = middle + 1
            else:
                high = middle
        found += low < indptr[rows[k] + 1] and np.int64(indices[low]) == wanted[k]
    return found


@njit(nogil=True)
def entries_between(indptr, indices, rows, neighbors, low, high):
    """Find where the entries with the ends of each edge begin and end: merging.ranges_of says the rest."""
    row, at, end = np.int64(-1), np.int64(0), np.int64(0)
    for k in range(rows.size):
        if rows[k] != row:
            row = rows[k]
            at, end = indptr[row], indptr[row + 1]
        at = place_between(indices, at, end, neighbors[k])
        low[k] = high[k] = at
        if at < end and indices[at] == neighbors[k]:
            alone = at + 1 == end or indices[at + 1] != neighbors[k]
            high[k] = at + 1 if alone else at + place_behind(indices[at:end], neighbors[k])
