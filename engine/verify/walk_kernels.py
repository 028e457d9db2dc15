"""Passes over walks in dense ids: one thread works on each piece of a sample, and the interpreter is free meanwhile."""

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import empty, place_between

SCANNED = 16  # entries of a row that are compared one after the other: a cache line


@njit(nogil=True)
def look_up(stored, fill, low, table, out):
    """Dense ids of stored ones: -1 for ``fill``, otherwise the entry of ``table`` at the id less ``low``, or -2 beyond
    it.
    """
    for i in range(stored.shape[0]):
        for k in range(stored.shape[1]):
            place = np.uint64(
                np.int64(stored[i, k]) - low
            )  # wraps to a place beyond the table where the id is too far off
            inside = place < np.uint64(table.size)
            found = np.int64(table[place if inside else np.uint64(0)])
            out[i, k] = -1 if stored[i, k] == fill else (found if inside else -2)


@njit(nogil=True)
def check_walks(indptr, indices, both, walks, lengths, fits, off):
    """Set ``fits`` of each walk whose vertices are as many as its length says, and ``off`` of each of its steps that
    goes along no edge; return their number.

    Both are False before. ``both``: the graph has each edge in both directions, so that the shorter one of two rows
    tells.
    """
    width, wrong = walks.shape[1], 0
    low, left, waiting = empty(width, np.uint64), empty(width, np.uint64), empty(width, np.uint64)
    wanted = empty(width, indices.dtype)
    for i in range(walks.shape[0]):
        steps = lengths[i]
        fit = 0 <= steps < width
        for k in range(width):
            fit &= walks[i, k] >= 0 if k <= steps else walks[i, k] == -1
        fits[i] = fit
        if fit:
            find_rows(indptr, both, walks[i], steps, low, left, wanted)
            search_rows(indices, steps, low, left, wanted, waiting)
            for k in range(steps):
                if not holds(indices, low[k], left[k], wanted[k]):
                    off[i, k] = not (both and has_edge(indptr, indices, walks[i, k], walks[i, k + 1]))
                    wrong += off[i, k]
    return wrong


@njit(nogil=True)
def find_rows(indptr, both, walk, steps, low, left, wanted):
    """The row in which each step of a walk is searched: its begin ``low``, its size ``left``, and the vertex ``wanted``
    there.

    Numbers without a sign, here and below: Numba need not look for negative places then, and a step took 51 ns in place
    of 74.
    """
    begin = np.uint64(indptr[walk[0]])
    size = np.uint64(indptr[walk[0] + 1]) - begin
    for k in range(steps):
        to = walk[k + 1]
        begin_there = np.uint64(indptr[to])
        size_there = np.uint64(indptr[to + 1]) - begin_there
        there = both and size_there < size
        low[k] = begin_there if there else begin
        left[k] = size_there if there else size
        wanted[k] = walk[k] if there else to
        begin, size = begin_there, size_there


@njit(nogil=True)
def search_rows(indices, steps, low, left, wanted, waiting):
    """Narrow each row, ``left`` entries from ``low`` on, down to at most SCANNED of them, the ``wanted`` one among them
    if it is there.

    The binary searches go on side by side, without branches: what one of them waits for from memory is on its way while
    the others go on.
    """
    one, few, going = np.uint64(1), np.uint64(SCANNED), 0
    for k in range(steps):
        waiting[going] = k
        going += left[k] > few
    while going > 0:
        still = 0
        for j in range(going):
            k = waiting[np.uint64(j)]
            half = left[k] >> one
            at = low[k] + half
            low[k] = at if indices[at] <= wanted[k] else low[k]
            rest = left[k] - half
            left[k] = rest
            waiting[np.uint64(still)] = k
            still += rest > few
        going = still


@njit(nogil=True)
def holds(indices, low, left, wanted):
    """Whether ``wanted`` is among a few entries."""
    found = False
    for at in range(low, low + left):
        found |= indices[at] == wanted
    return found


@njit(nogil=True)
def has_edge(indptr, indices, v, to):
    """Whether the row of ``v`` has an edge to ``to``."""
    low, high = indptr[v], indptr[v + 1]
    while low < high:
        middle = (low + high) >> 1
        if np.int64(indices[middle]) < to:
            low = middle + 1
        else:
            high = middle
    return low < indptr[v + 1] and np.int64(indices[low]) == to


@njit(nogil=True)
def slot_of(v, prev, source, mask):
    """The first slot of a table of situations where this one may be."""
    mixed = np.uint64(v) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(prev + 2) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ np.uint64(source + 2)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64((mixed >> np.uint64(32)) & np.uint64(mask))


@njit(nogil=True)
def fill_slots(keys, slots):
    """Enter situations, the rows (v, prev, source) of ``keys``, into a table of -1, whose size is a power of two."""
    mask = slots.size - 1
    for s in range(keys.shape[0]):
        slot = slot_of(keys[s, 0], keys[s, 1], keys[s, 2], mask)
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = s


@njit(nogil=True)
def count_choices(
    walks, lengths, fits, others, first, of_prev, of_source, keys, slots, start, outcome, counts, strange
):
    """Count the choices made in the situations ``keys`` by their outcomes, and in ``strange`` those that the law never
    makes.

    Walks that are not among the ``others`` count for nothing, or for their ``first`` step alone.
    """
    mask, width = slots.size - 1, walks.shape[1]
    for i in range(walks.shape[0]):
        steps = min(lengths[i] + 1, width - 1) if others[i] else min(1, width - 1)
        for k in range(steps if fits[i] and (others[i] or first) else 0):
            v, prev = walks[i, k], walks[i, k - 1] if of_prev and k > 0 else -1
            source = walks[i, 0] if of_source else -1
            slot = slot_of(v, prev, source, mask)
            while slots[slot] >= 0:
                s = slots[slot]
                if keys[s, 0] == v and keys[s, 1] == prev and keys[s, 2] == source:
                    count_one(start[s], start[s + 1], outcome, walks[i, k + 1], counts, strange, s)
                    break
                slot = (slot + 1) & mask


@njit(nogil=True)
def count_one(low, end, outcome, chosen, counts, strange, situation):
    """Count one choice of a situation whose outcomes are outcome[low:end], ascending."""
    low = place_between(outcome, low, end, chosen)
    if low < end and outcome[low] == chosen:
        counts[low] += 1
    else:
        strange[situation] += 1
