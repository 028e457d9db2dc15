"""Sums of biases by vertex, and the edges to drawn vertices, of samples of layers: a thread does an instance.

See engine/batches/layers.py.
"""

import numpy as np

from csaw.engine.cpu.kernels.rows import member_cell, member_table
from csaw.engine.cpu.kernels.weigh import scaled, shift_for
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import copied, empty, zeros

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
def add_up(low, high, dst, bias, bits):
    """The different vertices, ascending, that the edges low .. high - 1 of an instance lead to, and the sums of their
    biases as integers of one scale: int64 both.

    ``dst`` int64, ``bias`` float64: of each edge; ``bits``: of the largest vertex.
    """
    largest = 0.0
    for i in range(low, high):
        largest = max(largest, bias[i])
    unit = zeros(high - low, np.int64)
    if largest > 0.0:
        shift = shift_for(largest, high - low)
        for i in range(low, high):
            unit[i - low] = scaled(bias[i], shift)
    vertex, unit = sort_by_vertex(copied(dst[low:high]), unit, bits)
    last = -1
    for i in range(vertex.size):
        if last >= 0 and vertex[last] == vertex[i]:
            unit[last] += unit[i]
        else:
            last += 1
            vertex[last], unit[last] = vertex[i], unit[i]
    return copied(vertex[: last + 1]), copied(unit[: last + 1])


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
