"""Reading the graph in a kernel: rows, neighbors, membership. Part of every specialized kernel; see cpu/specialize.py.

indptr        int64 [V + 1]   always whole
indices       id    [E]       neighbors. On a streamed graph they have address space for single rows
                              (engine/schedule/single_rows.py), and behind them slots for partitions (cpu/graph.py)
weights       f32   [E]       only where the kernel reads them
table         id    [3 E]     alias entries {neighbor, its alias, threshold}, in place of indices and weights
sums          i64   [E]       running sums of a row's biases, if selection searches in them
possible      u32   [V]       number of a vertex's edges with a bias above zero, beside sums
strength      f64   [V]       sum of a row's biases, if the return edge is drawn apart
bloom         u64   [E / 8]   8 bits an edge, row after row; empty when there is none
members       u32   [2 E + 8 V]  rows as hash tables, in place of filters
member_weights  f32       the same memory as floats
events        u32   [EVENT_WORDS E]  edges in the order by time of their row: {neighbor, where those that may follow the
                              edge begin, or end if time goes backward, in the neighbor's order, time}; empty when steps
                              read the order and then the edge. Neighbors in time know of none that follow
event_times   i64   [EVENT_WORDS / 2 E]  the same memory: of 4 words, the time of event k is number 2 k + 1. Of 8,
                              where biases are exponential, it is number 4 k + 1, then come the envelope of the edges
                              that may follow, 0 where there is none (envelopes.py), and the time of their number 0
far_ends      u32   [E]       where those that may follow event k end, or begin if time goes backward; empty where they
                              reach to the end of the row
moved         i64   [P]       places from a partition's own place in these arrays to the slot in which it is; 0 where it
                              is not loaded
loaded        u8    [P + 1]   whether each partition can be read, and last, whether there are single rows
near          u32   [V / 64 + 1]  the partition of the first vertex of each block of 64
begins        i64   [P + 1]   the first vertex of each partition
alone         u8    [V / 8 + 1]  a bit for each vertex: whether its row is there by itself
cases         u8    [steps]     the number of the alias table from which a step is drawn
columns       f64   [columns * V]  data of vertices, column after column
edge_columns  [E] each        a tuple of the edge columns that hooks read beside weights, of their own types
previous, began  i64      times of the walk's last edge and of its first, where it is one in time
word          u64         the random word that ``update`` reads, where it was drawn ahead
path          id    [L + 1]   the walk whose next step is drawn, where hooks read it
known         i64   [3]       an edge a -> b, and whether it exists, 1 or 0; -1: not known
edge          integer         place of the edge whose columns a hook reads

Whether an edge may exist, by the filter of a row, or exists, by a row's hash table.

A hash table is a row's buckets of 8 slots, at most half full: one gather answers nearly every question. A slot holds a
neighbor + 1, or 0. With MEMBER_WEIGHTS the weights of a bucket's neighbors follow them: 64 bytes, a cache line, instead
of 32. Row v has the buckets from row / 4 + v on, so no table says where they are. cuda/kernels/graph.cuh has the same.

A filter has 8 bits an edge, and a search in the row follows where it does not say no. On R-MAT scale 20, 13 % of a
node2vec walk's questions had to be searched, which took half of the time of a step.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.constants import HASHED, MEMBER_WEIGHTS, MEMBERSHIP, STREAMED, TABLE, TABLES, UNDIRECTED
from csaw.engine.cpu.kernels.memory import borrow, lowest, matches, prefetch
from csaw.partition.base.compile import inner, njit


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


BLOCK_BITS = 6  # log2 of the vertices that share an entry of ``near``


# The last six members (previous, began, word, path, known, edge) keep this order: ``for_hooks``, ``with_word``,
# ``with_times`` and ``at_edge`` below cut them off by place. Add other members before ``previous``.
class GraphArrays(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    table: np.ndarray
    sums: np.ndarray
    possible: np.ndarray
    strength: np.ndarray
    bloom: np.ndarray
    members: np.ndarray
    member_weights: np.ndarray
    events: np.ndarray
    event_times: np.ndarray
    far_ends: np.ndarray
    moved: np.ndarray
    loaded: np.ndarray
    near: np.ndarray
    begins: np.ndarray
    alone: np.ndarray
    cases: np.ndarray
    columns: np.ndarray
    edge_columns: tuple[np.ndarray, ...]
    previous: int
    began: int
    word: np.uint64
    path: np.ndarray
    known: np.ndarray
    edge: int


@inner
def borrowed(graph):
    """The graph without reference counts, for use inside a kernel: see memory.borrow."""
    return borrow(graph)


@inner
def for_hooks(graph, path, known):
    """The graph as hooks read it: with the ``path`` of one walk, and with ``known``, the answer to one question whether
    an edge exists.
    """
    return GraphArrays(*graph[:-3], path, known, graph.edge)


@inner
def with_word(graph, word):
    """The graph as ``update`` reads it where a word was drawn ahead for it."""
    return GraphArrays(*graph[:-4], word, *graph[-3:])


@inner
def with_times(graph, previous, began):
    """The graph as hooks read it of a walk in time."""
    return GraphArrays(*graph[:-6], previous, began, *graph[-4:])


@inner
def at_edge(graph, position):
    """The graph as hooks read it of one edge: that at ``position``."""
    return GraphArrays(*graph[:-1], int64(position))


@njit(inline="always")
def degree(graph, v):
    return graph.indptr[uint64(v) + uint64(1)] - graph.indptr[uint64(v)]


@njit(inline="always")
def away(graph, v):
    """How far the row of v is from its own place in the arrays of edges: its partition may be in a slot."""
    return graph.moved[partition_of(graph.near, graph.begins, int64(v))] if STREAMED else int64(0)


@njit(inline="always")
def row_of(graph, v):
    """The place of the first edge of v in the arrays of edges."""
    return graph.indptr[uint64(v)] + away(graph, v)


@njit(inline="always")
def vertex_count(graph):
    return graph.indptr.size - 1


@njit(inline="always")
def column_value(graph, column, v):
    """The number of v in a column of data; NaN for what is no vertex."""
    if v < 0 or v >= vertex_count(graph):
        return math.nan
    return graph.columns[column * vertex_count(graph) + v]


@njit(inline="always")
def edge_integer(graph, column):
    """The number of the edge at hand in a column of integers; ``column`` is a constant, because each has its type."""
    return int64(graph.edge_columns[column][graph.edge])


@njit(inline="always")
def edge_real(graph, column):
    """The number of the edge at hand in a column of floats; ``column`` is a constant, because each has its type."""
    return np.float64(graph.edge_columns[column][graph.edge])


@njit(inline="always")
def previous_time(graph):
    """The time of the edge that a walk took last; before the first, the time at which it starts."""
    return int64(graph.previous)


@njit(inline="always")
def start_time(graph):
    """The time of the first edge of a walk; before it, the time at which it starts."""
    return int64(graph.began)


@njit(inline="always")
def path_vertex(graph, depth, steps):
    """The vertex so many steps back on the walk from where it is after ``depth`` steps; -1 before its source."""
    return int64(graph.path[depth - steps]) if 0 <= steps <= depth else int64(-1)


@njit(inline="always")
def neighbor_at(graph, position):
    """The neighbor at an edge position."""
    if TABLE:
        return int64(graph.table[uint64(3 * TABLES) * uint64(position)])
    return int64(graph.indices[uint64(position)])


@njit(inline="always")
def stored_weight(graph, position):
    """The weight at an edge position: 32 bits in memory, 64 where it is computed with, as hooks do."""
    return np.float64(graph.weights[position])


@njit(inline="always")
def prefetch_edge(graph, position):
    """Ask for the memory of an edge; an alias entry may lie in two lines (asking for both: 10 % faster
    weighted walks).
    """
    if TABLE:
        prefetch(graph.table, uint64(3) * uint64(position))
        prefetch(graph.table, uint64(3) * uint64(position) + uint64(2))
    else:
        prefetch(graph.indices, uint64(position))


@njit(inline="always")
def is_loaded(graph, v):
    """Whether the row of v is in memory (NONE counts as loaded)."""
    return (not STREAMED) or v < 0 or graph.loaded[partition_of(graph.near, graph.begins, v)] != 0 or is_alone(graph, v)


@njit(inline="always")
def is_alone(graph, v):
    """Whether the row of v is in memory by itself."""
    return graph.loaded[graph.loaded.size - 1] != 0 and (graph.alone[v >> 3] >> (v & 7)) & 1 != 0


@njit(inline="always")
def partition_of(near, begins, v):
    """The partition of v: that of its block, or found by a search among those that the block has."""
    low, high = int64(near[v >> BLOCK_BITS]), int64(near[(v >> BLOCK_BITS) + 1])
    while low < high:
        middle = (low + high + 1) >> 1
        if begins[middle] <= v:
            low = middle
        else:
            high = middle - 1
    return low


@njit(inline="always")
def can_ask(graph, a, b):
    """Whether a row in memory tells if the edge a -> b exists."""
    return is_loaded(graph, a) or (UNDIRECTED and is_loaded(graph, b))


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


@inner(forceinline=True)
def is_neighbor(graph, a, b):
    """Whether the edge a -> b exists: what is known, then the row's hash table, or its filter and an exact search."""
    if a < 0 or b < 0:
        return False
    if MEMBERSHIP and graph.known[2] >= 0 and graph.known[0] == a and graph.known[1] == b:
        return graph.known[2] == 1
    if HASHED:
        return find_member(graph, a, b) >= 0
    if not may_have(graph, a, b):
        return False
    low, high, goal = row_to_search(graph, a, b)
    found = first_at_least(graph, low, high, goal)
    return found < high and neighbor_at(graph, found) == goal


@inner
def row_to_search(graph, a, b):
    """The row that tells whether the edge a -> b exists, and what to look for in it: (begin, end, neighbor).

    It is the row of a, or that of b if that has the edge too and is shorter, or alone in memory.
    """
    if UNDIRECTED and is_loaded(graph, b) and (degree(graph, b) < degree(graph, a) or not is_loaded(graph, a)):
        low = row_of(graph, b)
        return low, low + degree(graph, b), int64(a)
    low = row_of(graph, a)
    return low, low + degree(graph, a), int64(b)


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
