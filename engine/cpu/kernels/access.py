"""Reading the graph in a kernel: rows, neighbors, membership. Part of every specialised kernel; see specialize.py.

indptr    int64 [V + 1]   always whole
indices   id    [E]       neighbors; unloaded partitions have address space, and memory for single rows (single_rows.py)
weights   f32   [E]       only where the kernel reads them
table     id    [3 E]     alias entries {neighbor, its alias, threshold}, in place of indices and weights
sums      i64   [E]       running sums of a row's biases, if selection searches in them; possible u32 [V] number of its edges with a bias above zero
strength  f64   [V]       sum of a row's biases, if the return edge is drawn apart
bloom     u64   [E / 8]   8 bits an edge, row after row; empty when there is none
loaded    u8    [P + 1]   whether each partition, and last the single rows, can be read; part_of u16 [V] partition of each vertex, or P for a single row
"""

from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.constants import STREAMED, TABLE, UNDIRECTED
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.partition.compile import inner, njit


class GraphArrays(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    table: np.ndarray
    sums: np.ndarray
    possible: np.ndarray
    strength: np.ndarray
    bloom: np.ndarray
    loaded: np.ndarray
    part_of: np.ndarray


@inner
def borrowed(graph):
    """The graph without reference counts, for use inside a kernel: see memory.borrow."""
    return GraphArrays(
        borrow(graph.indptr),
        borrow(graph.indices),
        borrow(graph.weights),
        borrow(graph.table),
        borrow(graph.sums),
        borrow(graph.possible),
        borrow(graph.strength),
        borrow(graph.bloom),
        borrow(graph.loaded),
        borrow(graph.part_of),
    )


@njit(inline="always")
def degree(graph, v):
    return graph.indptr[v + 1] - graph.indptr[v]


@njit(inline="always")
def vertex_count(graph):
    return graph.indptr.size - 1


@njit(inline="always")
def neighbor_at(graph, position):
    """The neighbor at an edge position."""
    return int64(graph.table[3 * position]) if TABLE else int64(graph.indices[position])


@njit(inline="always")
def prefetch_edge(graph, position):
    """Ask for the memory of an edge; an alias entry may lie in two lines (asking for both: 10 % faster weighted walks)."""
    if TABLE:
        prefetch(graph.table, uint64(3) * uint64(position))
        prefetch(graph.table, uint64(3) * uint64(position) + uint64(2))
    else:
        prefetch(graph.indices, uint64(position))


@njit(inline="always")
def is_loaded(graph, v):
    """Whether the row of v is in memory (NONE counts as loaded)."""
    return (not STREAMED) or v < 0 or graph.loaded[graph.part_of[v]] != 0


@inner
def first_at_least(graph, low, high, value):
    """The first position in [low, high) whose neighbor is at least ``value``: rows are sorted."""
    while low < high:
        middle = (low + high) >> 1
        if neighbor_at(graph, middle) < value:
            low = middle + 1
        else:
            high = middle
    return low


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
def prefetch_membership(graph, a, b):
    if graph.bloom.size > 0 and a >= 0:
        row = graph.indptr[a]
        word, _ = bloom_word(row, graph.indptr[a + 1] - row, b)
        prefetch(graph.bloom, uint64(word))


@inner(forceinline=True)
def is_neighbor(graph, a, b):
    """Whether the edge a -> b exists: the row's filter first, then an exact search."""
    if a < 0:
        return False
    low, high = graph.indptr[a], graph.indptr[a + 1]
    if graph.bloom.size > 0:
        word, bits = bloom_word(low, high - low, b)
        if graph.bloom[word] & bits != bits:
            return False
    return has_edge(graph, a, b, low, high)


@inner
def has_edge(graph, a, b, low, high):
    """Whether the edge a -> b exists, by binary search in the row of a, at [low, high), or in that of b if it is shorter and has the edge too."""
    if UNDIRECTED and not STREAMED and graph.indptr[b + 1] - graph.indptr[b] < high - low:
        a, b = b, a
        low, high = graph.indptr[a], graph.indptr[a + 1]
    found = first_at_least(graph, low, high, b)
    return found < high and neighbor_at(graph, found) == b
