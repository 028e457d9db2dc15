"""Sums over the neighbors of each vertex, and an iteration of PageRank: of integers, in any order the same bits, and of
floats in one order, that of the warps of a GPU. Twin: engine/analytics/cuda/kernels/ordered.cuh.

Each kernel does a range of vertices, so that threads share the work without meeting. Floats are summed in pieces of
512, and the sums of the pieces in the same way: that of some numbers is that of 32 lanes, number i in lane i % 32 in
their order, which are then added in halves.
"""

import numpy as np
from numba import uint64

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import place_of, zeros

LANES, PIECE = 32, 512


@inner(nogil=True)
def added(lanes, width):
    """The sum of the lanes, of which those from ``width`` on are 0."""
    half = LANES
    while half > 1 and half >= 2 * width:
        half //= 2
    while half > 1:
        half //= 2
        for lane in range(min(half, width)):
            lanes[lane] += lanes[lane + half]
    return lanes[0]


@inner(nogil=True)
def emptied(lanes, width):
    """The same; all lanes are 0 then, for the next sum."""
    found = added(lanes, min(width, LANES))
    for lane in range(min(width, LANES)):
        lanes[lane] = 0.0
    return found


@inner(nogil=True)
def ordered_sum(numbers, count, lanes, pieces):
    """The sum of the first ``count`` numbers. ``lanes``, ``pieces`` [LANES]: scratch, 0 before and after."""
    found = 0.0
    for low in range(0, count, PIECE):
        high = min(low + PIECE, count)
        for i in range(low, high):
            lanes[(i - low) % LANES] += numbers[i]
        found = emptied(lanes, high - low)
        pieces[low // PIECE % LANES] += found
    return emptied(pieces, LANES)


@inner(nogil=True)
def row_sum(begin, end, indices, values, lanes, pieces):
    """The sum of ``values`` of the neighbors indices[begin:end]. Scratch as of ``ordered_sum``."""
    found = 0.0
    for low in range(begin, end, PIECE):
        high = min(low + PIECE, end)
        for i in range(uint64(0), uint64(high - low)):
            lanes[i % uint64(LANES)] += values[uint64(indices[uint64(low) + i])]
        found = emptied(lanes, high - low)
        if end - begin > PIECE:
            pieces[(low - begin) // PIECE % LANES] += found
    return emptied(pieces, LANES) if end - begin > PIECE else found


HALF = np.uint64(0xFFFFFFFF)


@njit(nogil=True)
def sum_rows(low, high, first, indptr, indices, values, out):
    """Write the sum of ``values`` of the neighbors of each vertex of low .. high - 1 to ``out``.

    Row v is at indptr[v - first].

    The places are unsigned: Numba first asks of a signed index whether it counts from the end, which took half of the
    time.
    """
    for v in range(low, high):
        total = values.dtype.type(0)
        for i in range(np.uint64(indptr[v - first]), np.uint64(indptr[v - first + 1])):
            total += values[indices[i]]
        out[v] = total


@njit(nogil=True)
def settle(low, high, base, sources, damping, degrees, sums, ranks, shares):
    """Give the vertices low .. high - 1 their new ranks, and set what each passes along one of its edges.

    Returns the change of ranks, and all that is passed.

    A rank is ``sums``, what comes along edges, and ``base``: of every vertex, or of the rising ``sources`` alone where
    there are any.
    """
    changed, passed = np.int64(0), np.int64(0)
    source = place_of(sources, low)
    for v in range(low, high):
        rank = sums[v]
        if sources.size == 0:
            rank += base
        elif source < sources.size and sources[source] == v:
            rank += base
            source += 1
        changed += abs(rank - ranks[v])
        ranks[v] = rank
        shares[v] = np.int64(np.float64(rank) * (damping / np.float64(degrees[v]))) if degrees[v] else 0
        passed += shares[v] * degrees[v]
    return changed, passed


@inner(nogil=True)
def _product(x, y):
    """The high and the low 64 bits of a product of unsigned integers, by their halves."""
    x_high, x_low, y_high, y_low = x >> np.uint64(32), x & HALF, y >> np.uint64(32), y & HALF
    low, middle = x_low * y_low, x_high * y_low
    middle += low >> np.uint64(32)
    other = x_low * y_high + (middle & HALF)
    high = x_high * y_high + (middle >> np.uint64(32)) + (other >> np.uint64(32))
    return high, (other << np.uint64(32)) | (low & HALF)


@njit(nogil=True)
def sum_products(low, high, x, y):
    """The sum of x[v] * y[v] for v of low .. high - 1, as its high and its low 64 bits; x and y are uint64."""
    high_sum, low_sum = np.uint64(0), np.uint64(0)
    for v in range(low, high):
        more_high, more_low = _product(x[v], y[v])
        low_sum += more_low
        high_sum += more_high + np.uint64(low_sum < more_low)
    return high_sum, low_sum


@njit(nogil=True)
def sum_by_key(keys, values, out):
    """Add values[v] to out[keys[v]]."""
    for v in range(keys.size):
        out[keys[v]] += values[v]


@njit(nogil=True)
def push_rows(low, high, first, indptr, indices, values, out):
    """Add ``values`` of each row's vertex to ``out`` of its entries among low .. high - 1.

    It is the twin of sum_rows for rows of the other direction. Rows are sorted.
    """
    for row in range(indptr.size - 1):
        begin, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        if begin < end and low > 0:
            begin += np.uint64(place_of(indices[begin:end], low))
        while begin < end and indices[begin] < high:
            out[indices[begin]] += values[first + row]
            begin += np.uint64(1)


# Sums of floating-point numbers, in the order of the lanes above. Twin: engine/analytics/cuda/kernels/ordered_sums.cu.


@njit(nogil=True)
def sum_rows_in_order(low, high, first, indptr, indices, values, out):
    """Write the sum of ``values`` of the neighbors of each vertex of low .. high - 1 to ``out``, float64.

    Row v is at indptr[v - first]. Returns 0.
    """
    lanes, pieces = zeros(LANES, np.float64), zeros(LANES, np.float64)
    for v in range(low, high):
        out[v] = row_sum(indptr[v - first], indptr[v - first + 1], indices, values, lanes, pieces)
    return 0
