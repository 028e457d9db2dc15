"""Biases of one row as integers, so that their sum does not depend on the order, and the tables made of them."""

import math

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import at_edge, degree, neighbor_at, row_of, stored_weight
from csaw.engine.cpu.kernels.constants import EDGE_COLUMNS, NEIGHBOR_WEIGHTS, SUCCESSIVE, TABLES, edge_bias
from csaw.engine.draws.random import below_wide, is_bias
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty

REST = 32  # bits of what is left of a bias in whole units


@inner
def shift_for(largest, count):
    """The power of two that scales biases up to ``largest`` so that ``count`` of them stay below 2^62."""
    bits = 1
    while count >> bits:
        bits += 1
    return 61 - math.frexp(largest)[1] - bits


@inner
def scaled(bias, shift):
    """``bias * 2^shift`` as an integer; a possible edge keeps at least 1."""
    value = int64(math.ldexp(bias, shift))
    return value if value > 0 else (int64(1) if bias > 0.0 else int64(0))


@inner
def weigh(params, graph, seed, instance, depth, source, prev, v, row, chosen, count, biases, bad):
    """Write the biases of ``count`` edges of v to ``biases``; return the largest.

    It is -1 if one is bad, with its edge in ``bad``.

    ``chosen``: positions within the row of these edges; empty means the whole row.
    """
    largest = 0.0
    for i in range(count):
        position = row + (chosen[i] if chosen.size > 0 else i)
        dst = neighbor_at(graph, position)
        weight = stored_weight(graph, position) if NEIGHBOR_WEIGHTS else 1.0
        seen = at_edge(graph, position) if EDGE_COLUMNS else graph
        bias = float(edge_bias(params, seen, seed, instance, depth, source, prev, v, dst, weight))
        if not is_bias(bias):
            bad[0], bad[1], bad[2] = 1, v, dst
            return -1.0
        biases[i] = bias
        largest = max(largest, bias)
    return largest


@inner
def halves_of(shift):
    """Two powers of two whose product is 2^shift.

    Two multiplications by them are as exact as ldexp, and take a quarter of its time.
    """
    return math.ldexp(1.0, shift >> 1), math.ldexp(1.0, shift - (shift >> 1))


@inner
def accumulate(biases, count, largest, ctps):
    """The integer CTPS: ``ctps[i]`` is the sum of biases 0..i scaled; returns the total (0: all biases are zero).

    What is left of a bias in whole units is carried to the next ones, so that no sum is off by more than one unit.
    """
    total = rest = int64(0)
    if largest > 0.0:
        half, other = halves_of(shift_for(largest, count))
        for i in range(count):
            units = biases[i] * half * other
            value = int64(units)
            total += value
            rest += int64((units - float(value)) * 2.0**REST)
            ctps[i] = total + (rest >> REST)
    return total + (rest >> REST)


@inner
def accumulate_each(biases, count, largest, ctps):
    """The same for successive picks without replacement.

    An edge with a bias above zero keeps a unit, because all others may be taken.
    """
    total = int64(0)
    if largest > 0.0:
        half, other = halves_of(shift_for(largest, count))
        for i in range(count):
            value = int64(biases[i] * half * other)
            total += value + int64((value == 0) & (biases[i] > 0.0))
            ctps[i] = total
    return total


@inner
def search(ctps, count, target):
    """The first i with ctps[i] > target: never one of bias zero."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) >> 1
        if ctps[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def inverse_transform(ctps, count, word):
    """Inverse transform sampling with one 64-bit word (C-SAW, section II-B)."""
    return search(ctps, count, int64(below_wide(word, uint64(ctps[count - 1]))))


@njit(nogil=True)
def build_table(params, graph, vertices, bad):
    """Build the alias entries of the rows of some vertices, from ``indices`` and ``weights``.

    A sweep in integers makes them (Walker 1977).

    With several tables, an edge has its entries side by side, and each table is of the biases at the first depth of its
    case.

    A row of d edges has d * 2^32 units of chance, 2^32 a bucket. A row whose biases are all zero gets all-ones aliases.
    """
    none = graph.table.dtype.type(-1)
    size = 16
    biases, units, ctps = empty(size, np.float64), empty(size, np.int64), empty(size, np.int64)
    whole, turns = empty(0, np.int64), empty(2 * size + 1, np.int64)
    for v in vertices:
        row = row_of(graph, v)
        count = degree(graph, v)
        if count > size:
            size = 2 * count
            biases, units, ctps = empty(size, np.float64), empty(size, np.int64), empty(size, np.int64)
            turns = empty(2 * size + 1, np.int64)
        for i in range(count):
            for number in range(TABLES):
                graph.table[entry_of(row, i, number)] = graph.indices[row + i]
        for number in range(TABLES):
            depth = first_depth(graph.cases, number)
            largest = weigh(params, graph, 0, 0, depth, -1, -1, v, row, whole, count, biases, bad)
            if largest < 0.0:
                return
            total = accumulate(biases, count, largest, ctps)
            if graph.strength.size > 0:
                graph.strength[v] = math.ldexp(float(total), -shift_for(largest, count)) if total > 0 else 0.0
            if total == 0:
                for i in range(count):
                    note(graph.table, row, i, i, 0, number)
                    graph.table[entry_of(row, i, number) + uint64(1)] = none
                continue
            quantise(ctps, count, total, units)
            sweep(graph.table, row, count, units, turns, number)


@njit(inline="always")
def entry_of(row, at, number):
    """The place of the entry in table ``number`` of edge ``at`` of a row."""
    return uint64(3) * (uint64(TABLES) * (uint64(row) + uint64(at)) + uint64(number))


@inner
def first_depth(cases, number):
    """The first depth whose steps are drawn from table ``number``."""
    depth = 0
    while TABLES > 1 and cases[depth] != number:
        depth += 1
    return depth


@njit(nogil=True)
def build_sums(params, graph, first_vertex, last_vertex, bad):
    """Build the CTPS of the rows of a range of vertices, and count each row's biases above zero."""
    biases, whole = empty(16, np.float64), empty(0, np.int64)
    for v in range(first_vertex, last_vertex):
        row = graph.indptr[v]
        count = graph.indptr[v + 1] - row
        if count > biases.size:
            biases = empty(2 * count, np.float64)
        largest = weigh(params, graph, 0, 0, 0, -1, -1, v, row, whole, count, biases, bad)
        if largest < 0.0:
            return
        sums = graph.sums[row : row + count]
        sums[:] = 0
        if SUCCESSIVE:
            accumulate_each(biases, count, largest, sums)
        else:
            accumulate(biases, count, largest, sums)
        possible = 0
        for i in range(count):
            possible += biases[i] > 0.0
        graph.possible[v] = possible


@inner
def quantise(ctps, count, total, units):
    """Split count * 2^32 units of chance in proportion, exactly all of them, none to an edge of bias zero."""
    whole = int64(count) << 32
    ratio = float(whole) / float(total)
    before = int64(0)
    for i in range(count):
        upto = whole if ctps[i] == total else min(whole, int64(float(ctps[i]) * ratio))
        units[i] = upto - before
        before = upto


@inner
def sweep(table, row, count, units, turns, number):
    """Fill light buckets from heavy ones, both in order of position.

    Integers make every device build the same table. ``turns``: room for 2 count + 1 positions, those of light buckets
    first, then those of heavy ones.

    A turn fills the next light bucket, or, once the heavy one has become light itself, that one from the next heavy
    one. Which of the two it is no processor can foresee, so it is computed, not branched on.
    """
    bucket, one = int64(1) << 32, uint64(1)
    lights, heavies, behind = uint64(0), uint64(0), uint64(count)
    for i in range(count):
        heavy = uint64(units[i] > bucket)
        turns[lights] = turns[behind + heavies] = i
        lights, heavies = lights + one - heavy, heavies + heavy
    left, last = bucket, heavies - min(heavies, one)
    turns[behind + heavies] = turns[behind + last]
    if heavies > 0:
        left = units[turns[behind]]
    light, heavy = uint64(0), uint64(0)
    while light < lights or (left < bucket and heavy < last):
        fills = uint64(left >= bucket) | uint64(heavy == last)
        at = uint64(turns[behind + heavy + fills * (light - behind - heavy)])
        light, heavy = light + fills, heavy + one - fills
        giver = uint64(turns[behind + heavy])
        own, given, is_light = units[at], units[giver], int64(fills)
        note(
            table,
            row,
            at,
            giver if own != bucket else at,
            (left + is_light * (own - left)) * int64(own != bucket),
            number,
        )
        left += given + is_light * (own - given) - bucket
    for rest in range(heavy, heavies):
        at = uint64(turns[behind + uint64(rest)])
        note(table, row, at, at, 0, number)


@njit(inline="always")
def note(table, row, at, giver, below, number):
    """Write the alias and the threshold of entry ``at`` of a row."""
    entry = entry_of(row, at, number)
    table[entry + uint64(1)] = table[entry_of(row, giver, number)]
    table[entry + uint64(2)] = below
