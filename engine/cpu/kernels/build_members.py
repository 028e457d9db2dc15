"""Building the filters and hash tables of rows: see members.py."""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, neighbor_at, row_of
from csaw.engine.cpu.kernels.constants import MEMBER_WEIGHTS
from csaw.engine.cpu.kernels.members import bloom_word, first_bucket
from csaw.engine.cpu.kernels.memory import lowest, matches
from csaw.partition.base.compile import njit

PAGE_WORDS = 1024  # of 4 bytes


@njit(nogil=True)
def build_bloom(graph, bloom, first_vertex, last_vertex):
    """Fill the filters of some vertices' rows; see members.bloom_word.

    Neighboring rows share a word: one thread at a time.
    """
    for v in range(first_vertex, last_vertex):
        row = graph.indptr[v]
        width = graph.indptr[v + 1] - row
        for i in range(width):
            word, bits = bloom_word(row, width, neighbor_at(graph, row + i))
            bloom[word] |= bits


@njit(nogil=True)
def build_members(graph, first_vertex, last_vertex):
    """Fill the hash tables of some vertices' rows."""
    graph = borrowed(graph)
    members, empty, width = graph.members, np.uint32(0), uint64(16 if MEMBER_WEIGHTS else 8)
    for v in range(first_vertex, last_vertex):
        row, last = row_of(graph, v), int64(-1)
        first, count, _ = first_bucket(graph, v, 0)
        for word in range(first * width, (first + count) * width, uint64(PAGE_WORDS)):
            members[word] = empty  # the system maps a page twice that is read before it is written
        for position in range(row, row + degree(graph, v)):
            neighbor = neighbor_at(graph, position)
            if neighbor == last:  # a repeated edge
                continue
            last = neighbor
            first, count, bucket = first_bucket(graph, v, neighbor)
            place = (first + bucket) * width
            slots = matches(members, place, empty)
            while slots == uint64(0):
                bucket = bucket + uint64(1) if bucket + uint64(1) < count else uint64(0)
                place = (first + bucket) * width
                slots = matches(members, place, empty)
            place += lowest(slots)
            members[place] = np.uint32(neighbor + 1)
            if MEMBER_WEIGHTS:
                graph.member_weights[place + uint64(8)] = graph.weights[position]
