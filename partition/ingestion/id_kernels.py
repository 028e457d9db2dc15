"""Kernels that number ids: each gets its rank among all of them, by a table over their range or by a hash table."""

import numpy as np

from csaw.partition.base.compile import njit


@njit(nogil=True)
def mark(ids, base, seen):
    """Set ``seen[id - base]`` for each id that occurs, modulo 2^64, for ids of any sign.

    Several threads may mark entries of one table, since all write the same value. Each writes only entries that are not
    marked, because a write takes the cache line from other threads.
    """
    for i in range(ids.size):
        if not seen[np.uint64(ids[i]) - base]:
            seen[np.uint64(ids[i]) - base] = True


@njit(nogil=True)
def rank_seen(seen, base, first, ids, table):
    """The ids of a slice that begins at ``base``, ranks counted from ``first``: their bits to ``ids[rank]``, their
    ranks to ``table``.
    """
    rank = np.int64(first)
    for i in range(seen.size):
        if seen[i]:
            ids[rank] = base + np.uint64(i)
            table[i] = rank
            rank += 1


@njit(nogil=True)
def rank_by_table(ids, base, table, out):
    for i in range(ids.size):
        out[i] = table[np.uint64(ids[i]) - base]


MIX = np.uint64(0x9E3779B97F4A7C15)  # of Fibonacci hashing: the upper bits of a product depend on all bits of a number


@njit(nogil=True)
def fill_slots(ids, shift, slots):
    """A hash table of ranks, counted from 1, by their ids (uint64, each once): ``slots`` has 2^(64 - shift) places,
    more than there are ids.
    """
    for rank in range(ids.size):
        place = np.int64((ids[rank] * MIX) >> shift)
        while slots[place] != 0:
            place = (place + 1) & (slots.size - 1)
        slots[place] = rank + 1


@njit(nogil=True)
def rank_by_slots(wanted, ids, shift, slots, out):
    """The rank of each wanted id, all of which are there."""
    for i in range(wanted.size):
        bits = np.uint64(wanted[i])
        place = np.int64((bits * MIX) >> shift)
        while ids[np.int64(slots[place]) - 1] != bits:
            place = (place + 1) & (slots.size - 1)
        out[i] = slots[place] - 1
