"""Sums of biases by vertex, and the edges to drawn vertices, of samples of layers: a thread does an instance.

See engine/batches/layers.py.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, neighbor_at, row_of
from csaw.engine.cpu.kernels.weigh import scaled, shift_for, weigh
from csaw.engine.draws.random import LOW, SHIFT, below_wide, draw64, neg_log, pool_word
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copied, empty, place_of, zeros

# Whole rows with the biases of their edges, and races of numbers: what layers of vertices are drawn with.
#
# See engine/batches/layers.py.


@njit(nogil=True)
def weigh_rows(entries, graph, params, vertex, start, out, biases, bad):
    """Write the neighbors of the entries to ``out`` from start[i] on, and the biases of the edges to them beside."""
    graph = borrowed(graph)
    whole = start[:0]
    for i in entries:
        v = vertex[i]
        row = row_of(graph, v)
        count = degree(graph, v)
        cells = biases[start[i] : start[i] + count]
        if weigh(params, graph, 0, 0, 0, -1, -1, v, row, whole, count, cells, bad) < 0.0:
            return
        for j in range(count):
            out[start[i] + j] = neighbor_at(graph, row + j)


@njit(nogil=True)
def race_numbers(rows, seed, instance, slot, number, rate, times):
    """times[i] for i in ``rows``: when number[i] of a pool arrives, at an exponential time of rate[i] (Efraimidis and
    Spirakis, IPL 97(5), 2006).
    """
    for i in rows:
        word = pool_word(seed, uint64(instance[i]), uint64(slot[i]), uint64(number[i]))
        times[i] = neg_log(word) / float(rate[i])


@njit(nogil=True)
def list_rows(entries, graph, vertex, start, out):
    """Write the neighbors of the entries to ``out`` from start[i] on."""
    graph = borrowed(graph)
    for i in entries:
        row = row_of(graph, vertex[i])
        for j in range(degree(graph, vertex[i])):
            out[start[i] + j] = neighbor_at(graph, row + j)


@njit(nogil=True)
def list_members(entries, graph, met, vertices, counts, out):
    """Write the neighbors of ``entries`` that are members of the same instance to ``out``.

    Entries are numbers in ``met``. The number of each goes to ``counts``; returns their sum.

    met: instance * vertices + vertex of each member, ascending. An instance's members are in a hash table with linear
    probing, at most half full, while its
    edges are looked up: it stays in a core's cache, where a bitmap of all vertices does not.
    """
    graph = borrowed(graph)
    kept, end = 0, int64(-1)  # end: the key after those of the instance whose members the table has
    table = out[:0]
    for i in range(entries.size):
        entry = entries[i]
        if met[entry] >= end:
            base = met[entry] // vertices * vertices
            end = base + vertices
            table = member_table(met[place_of(met, base) : place_of(met, end)], base, out)
        row, before = row_of(graph, met[entry] - base), kept
        for position in range(row, row + degree(graph, met[entry] - base)):
            neighbor = neighbor_at(graph, position)
            if table[member_cell(table, neighbor)] == out.dtype.type(neighbor):
                out[kept] = neighbor
                kept += 1
        counts[i] = kept - before
    return kept


@njit(nogil=True)
def member_table(keys, base, like):
    """A table of the vertices ``keys`` - base, of the type of ``like``, in which all ones stand for no vertex."""
    size = 4
    while size < 2 * keys.size:
        size *= 2
    table = empty(size, like.dtype)
    table[:] = ~like.dtype.type(0)
    for key in keys:
        table[member_cell(table, key - base)] = key - base
    return table


@inner
def member_cell(table, vertex):
    """Return the cell of a vertex in a table, or the free one in which it would be.

    This is Fibonacci hashing (Knuth, TAOCP 3, 6.4).
    """
    mask = uint64(table.size - 1)
    cell = ((uint64(vertex) * uint64(0x9E3779B97F4A7C15)) >> uint64(32)) & mask
    while table[cell] != ~table.dtype.type(0) and table[cell] != table.dtype.type(vertex):
        cell = (cell + uint64(1)) & mask
    return cell


@njit(nogil=True)
def select_shared(entries, graph, seed, instance, vertex, start, depth, size, out):
    """Write the neighbors that entries of degree d keep to ``out`` from start[i] on: those whose number of [0, 1) is
    below size / d; -1 keeps all.
    """
    graph = borrowed(graph)
    for i in entries:
        row = row_of(graph, vertex[i])
        count = degree(graph, vertex[i])
        for j in range(count):
            dst = neighbor_at(graph, row + j)
            word = shared_word(seed, uint64(instance[i]), depth, uint64(dst))
            if size < 0 or below_wide(word, uint64(count)) < uint64(size):
                out[start[i] + j] = dst


@inner
def shared_word(seed, instance, depth, dst):
    """The random word of a vertex in an instance and at a depth, by which all entries decide on their edges to it."""
    return draw64(seed, instance, uint64(depth) + (dst >> SHIFT << uint64(16)), dst & LOW)


# Sums of biases by vertex, of samples of layers.

DIGIT = 11  # bits that a pass of the sort goes by


@inner
def sort_by_vertex(vertex, unit, bits):
    """``vertex``, numbers of ``bits`` bits, ascending, and ``unit`` with them: by digits, the lowest first."""
    other_vertex, other_unit = empty(vertex.size, vertex.dtype), empty(unit.size, unit.dtype)
    places = empty(1 << DIGIT, np.int64)
    for shift in range(0, bits, DIGIT):
        places[:] = 0
        for v in vertex:
            places[v >> shift & (places.size - 1)] += 1
        before = 0
        for digit in range(places.size):
            places[digit], before = before, before + places[digit]
        for i in range(vertex.size):
            digit = vertex[i] >> shift & (places.size - 1)
            other_vertex[places[digit]], other_unit[places[digit]] = vertex[i], unit[i]
            places[digit] += 1
        vertex, other_vertex, unit, other_unit = other_vertex, vertex, other_unit, unit
    return vertex, unit


@njit(nogil=True)
def add_up(low, high, dst, bias, bits, few):
    """The different vertices, ascending, that the edges low .. high - 1 of an instance lead to, and the sums of their
    biases as integers of one scale: int64 both; and the sum of the lightness of these integers, see
    engine/batches/integer_sums.py.

    ``dst`` int64, ``bias`` float64: of each edge; ``bits``: of the largest vertex; ``few``: the units of a bias whose
    rounding may be seen, at most.
    """
    largest, light = 0.0, int64(0)
    for i in range(low, high):
        largest = max(largest, bias[i])
    unit = zeros(high - low, np.int64)
    if largest > 0.0:
        shift = shift_for(largest, high - low)
        for i in range(low, high):
            unit[i - low] = scaled(bias[i], shift)
            if unit[i - low] <= few and bias[i] > 0.0:
                light += few // unit[i - low]
    vertex, unit = sort_by_vertex(copied(dst[low:high]), unit, bits)
    last = -1
    for i in range(vertex.size):
        if last >= 0 and vertex[last] == vertex[i]:
            unit[last] += unit[i]
        else:
            last += 1
            vertex[last], unit[last] = vertex[i], unit[i]
    return copied(vertex[: last + 1]), copied(unit[: last + 1]), light


@njit(nogil=True)
def match(first_draw, last_draw, drawn, low, high, dst):
    """The edges low .. high - 1 of an instance that lead to vertices it has drawn: int64 [n] their numbers, the first
    draw that gave the vertex, and how many did.

    ``drawn`` int64: the vertex of each draw, of which the instance has first_draw .. last_draw - 1.
    """
    table = member_table(drawn[first_draw:last_draw], 0, drawn)
    draw, times = empty(table.size, np.int64), zeros(table.size, np.int64)
    for number in range(first_draw, last_draw):
        cell = member_cell(table, drawn[number])
        if times[cell] == 0:
            draw[cell] = number
        times[cell] += 1
    edges, size = np.empty((3, high - low), np.int64), 0
    for edge in range(low, high):
        cell = member_cell(table, dst[edge])
        if times[cell] > 0:
            edges[0, size], edges[1, size], edges[2, size] = edge, draw[cell], times[cell]
            size += 1
    return edges[:, :size].copy()
