"""Whether an edge may exist, by the filter of a row, or exists, by a row's hash table.

A hash table is a row's buckets of 8 slots, at most half full: one gather answers nearly every question. A slot holds a
neighbor + 1, or 0. With MEMBER_WEIGHTS the weights of a bucket's neighbors follow them: 64 bytes, a cache line, instead
of 32. Row v has the buckets from row / 4 + v on, so no table says where they are. cuda/kernels/graph.cuh has the same.

A filter has 8 bits an edge, and a search in the row follows where it does not say no. On R-MAT scale 20, 13 % of a
node2vec walk's questions had to be searched, which took half of the time of a step.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.constants import HASHED, MEMBER_WEIGHTS
from csaw.engine.cpu.kernels.memory import lowest, matches, prefetch
from csaw.partition.base.compile import njit


@njit(inline="always")
def bloom_word(row, width, value):
    """The place of ``value`` in a row's filter: (word, mask of four bits)."""
    h = uint64(value) * uint64(0x9E3779B97F4A7C15)
    h ^= h >> uint64(29)
    h *= uint64(0xBF58476D1CE4E5B9)
    h ^= h >> uint64(32)
    first = row >> 3
    words = ((row + width - 1) >> 3) - first + 1
    bits = (
        (uint64(1) << (h & uint64(63)))
        | (uint64(1) << ((h >> uint64(6)) & uint64(63)))
        | (uint64(1) << ((h >> uint64(12)) & uint64(63)))
        | (uint64(1) << ((h >> uint64(18)) & uint64(63)))
    )
    return first + int64(((h >> uint64(32)) * uint64(words)) >> uint64(32)), bits


@njit(inline="always")
def first_bucket(graph, v, value):
    """The buckets of the row of v, and the one in which ``value`` is if there is room: (first, number, bucket)."""
    row, end = uint64(graph.indptr[uint64(v)]), uint64(graph.indptr[uint64(v) + uint64(1)])
    first, count = (row >> uint64(2)) + uint64(v), (end >> uint64(2)) - (row >> uint64(2)) + uint64(1)
    mixed = (uint64(value) * uint64(0x9E3779B1)) & uint64(0xFFFFFFFF)
    return first, count, (mixed * count) >> uint64(32)


@njit(inline="always")
def find_member(graph, v, value):
    """The place of ``value`` in the hash table of the row of v, or -1."""
    first, count, bucket = first_bucket(graph, v, value)
    asked, slots, there = np.uint32(value + 1), uint64(0), True
    place = uint64(0)
    while slots == uint64(0) and there:
        place = (first + bucket) * uint64(16 if MEMBER_WEIGHTS else 8)
        slots = matches(graph.members, place, asked)
        there = graph.members[place + uint64(7)] != 0  # else nothing went on to the next bucket
        bucket = bucket + uint64(1) if bucket + uint64(1) < count else uint64(0)
    return int64(place + lowest(slots)) if slots != uint64(0) else int64(-1)


@njit(inline="always")
def is_member(graph, v, value, place, decided):
    """Whether the row of v has ``value``, whose first bucket is at ``place``; nothing to rely on if that is decided."""
    slots = matches(graph.members, place, np.uint32(value + 1))
    if graph.members[place + uint64(7)] != 0 and slots == uint64(0) and not decided and v >= 0:  # few are full
        return find_member(graph, v, value) >= 0
    return slots != uint64(0)


@njit(inline="always")
def prefetch_membership(graph, a, b):
    if HASHED:
        first, _, bucket = first_bucket(graph, a, b)
        prefetch(graph.members, (first + bucket) * uint64(16 if MEMBER_WEIGHTS else 8))
    elif graph.bloom.size > 0:
        row = graph.indptr[a]
        word, _ = bloom_word(row, graph.indptr[a + 1] - row, b)
        prefetch(graph.bloom, uint64(word))


@njit(inline="always")
def may_have(graph, a, b):
    """Whether the edge a -> b may exist: False if the filter of a's row, where there is one, tells that it does not."""
    if graph.bloom.size == 0:
        return True
    row = graph.indptr[a]
    word, bits = bloom_word(row, graph.indptr[a + 1] - row, b)
    return graph.bloom[word] & bits == bits
