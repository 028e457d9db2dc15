"""What rows give to the budgets of their neighbors, and the edges among the vertices of a mini-batch.

See engine/batches/budgets.py.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, neighbor_at, row_of
from csaw.engine.cpu.kernels.by_time import time_at, times_allowed
from csaw.engine.cpu.kernels.constants import BY_TIME
from csaw.engine.cpu.kernels.layers import member_cell, member_table
from csaw.engine.draws.random import neg_log, pool_word
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full, place_behind, place_of, zeros

BUDGET_UNITS, BUDGET_REST_BITS = 1 << 40, 31  # of a share, as engine/batches/budgets.py has them


# The budgets of a mini-batch are a hash table with linear probing, at most half full: ``table`` int64 [cells], vertices
# and -1, and ``given`` int64 [2 cells], units and rests beside each other. A vertex of the mini-batch has units of -1.


@njit(nogil=True)
def begin_budgets(members):
    """The budgets of a mini-batch of these vertices, before anything is given: table, given, and how many are there."""
    table, given = full(int64(64), -1, np.int64), zeros(int64(128), np.int64)
    filled = int64(0)
    for vertex in members:
        if 2 * filled >= table.size:
            table, given = larger_budgets(table, given)
        cell = member_cell(table, vertex)
        filled += table[cell] < 0
        table[cell], given[2 * cell] = vertex, -1
    return table, given, filled


@njit(nogil=True)
def larger_budgets(table, given):
    """The same budgets with twice as many cells."""
    more, given_more = full(2 * table.size, -1, np.int64), zeros(4 * table.size, np.int64)
    for cell in range(table.size):
        if table[cell] >= 0:
            to = member_cell(more, table[cell])
            more[to] = table[cell]
            given_more[2 * to], given_more[2 * to + 1] = given[2 * cell], given[2 * cell + 1]
    return more, given_more


@njit(nogil=True)
def give_shares(entries, graph, vertex, now, rules, found, table, given, filled):
    """Add what the rows of the entries give to their neighbors; returns the budgets as ``begin_budgets`` does.

    In time, rows have only the edges before ``now``, and ``found`` [entries] gets their numbers.
    """
    graph = borrowed(graph)
    low, high = times_allowed(now, True, rules)
    for i in entries:
        row, end = row_of(graph, vertex[i]), row_of(graph, vertex[i]) + degree(graph, vertex[i])
        count = end - row
        if BY_TIME:
            count = int64(0)
            for position in range(row, end):
                count += is_early(graph, position, low, high)
            found[i] = count
        if count == 0:
            continue
        units = BUDGET_UNITS // count
        rest = (BUDGET_UNITS - units * count << BUDGET_REST_BITS) // count
        for position in range(row, end):
            if not is_early(graph, position, low, high):
                continue
            if 2 * filled >= table.size:
                table, given = larger_budgets(table, given)
            neighbor = int64(neighbor_at(graph, position))
            cell = member_cell(table, neighbor)
            filled += table[cell] < 0
            table[cell] = neighbor
            if given[2 * cell] >= 0:
                sum_of_rests = given[2 * cell + 1] + rest
                given[2 * cell] += units + (sum_of_rests >> BUDGET_REST_BITS)
                given[2 * cell + 1] = sum_of_rests & (1 << BUDGET_REST_BITS) - 1
    return table, given, filled


@inner(forceinline=True)
def is_early(graph, position, low, high):
    """Whether the edge at a position has one of these times; any edge has if times do not count."""
    if BY_TIME:
        return low <= time_at(graph, position) <= high
    return True


@njit(nogil=True)
def draw_budgets(table, given, seed, instance, depth, bases, away, numbers):
    """Draw numbers[k] vertices of each type k, all if there are fewer; returns them, type by type in the order in which
    they are drawn, which are of the mini-batch from now on.

    bases: the first vertex of each type; away: what is to be added to its vertices for those of the graph itself.
    """
    begin = zeros(bases.size + 1, np.int64)
    for kind in range(bases.size):
        begin[kind + 1] = begin[kind] + min(numbers[kind], table.size)
    time, vertex, held = empty(begin[-1], np.float64), empty(begin[-1], np.int64), zeros(bases.size, np.int64)
    for cell in range(table.size):
        if table[cell] < 0 or given[2 * cell] < 0:
            continue
        kind = place_behind(bases, table[cell]) - 1
        if numbers[kind] == 0:
            continue
        value = float(given[2 * cell]) + float(given[2 * cell + 1]) / 2.0**BUDGET_REST_BITS
        number = uint64(table[cell] + away[kind])
        slot = (number >> uint64(31) << uint64(16)) + uint64(depth)
        word = pool_word(seed, uint64(instance), slot, number & uint64((1 << 31) - 1))
        low, high = begin[kind], begin[kind + 1]
        arrive(time[low:high], vertex[low:high], held[kind], neg_log(word) / (value * value), table[cell])
        held[kind] = min(held[kind] + 1, high - low)
    out, kept = empty(held.sum(), np.int64), 0
    for kind in range(bases.size):
        low, high = begin[kind], begin[kind + 1]
        for left in range(held[kind], 0, -1):  # the latest first
            out[kept + left - 1] = vertex[low]
            time[low], vertex[low] = time[low + left - 1], vertex[low + left - 1]
            settle(time[low:high], vertex[low:high], left - 1)
        kept += held[kind]
    for one in out:
        given[2 * member_cell(table, one)] = -1
    return out


@inner
def arrive(time, vertex, held, when, one):
    """Let a vertex into a heap of ``held`` vertices, the latest first, if there is room or it comes before that one."""
    if held < time.size:
        place = held
        while place > 0 and is_later(when, one, time[place - 1 >> 1], vertex[place - 1 >> 1]):
            above = place - 1 >> 1
            time[place], vertex[place] = time[above], vertex[above]
            place = above
        time[place], vertex[place] = when, one
    elif is_later(time[0], vertex[0], when, one):
        time[0], vertex[0] = when, one
        settle(time, vertex, held)


@inner
def settle(time, vertex, held):
    """Move the first vertex of a heap of ``held`` down to its place."""
    place, below = 0, 1
    when, one = time[0], vertex[0]
    while below < held:
        if below + 1 < held and is_later(time[below + 1], vertex[below + 1], time[below], vertex[below]):
            below += 1
        if not is_later(time[below], vertex[below], when, one):
            break
        time[place], vertex[place] = time[below], vertex[below]
        place, below = below, 2 * below + 1
    time[place], vertex[place] = when, one


@inner
def is_later(when, one, other_time, other):
    """Whether a vertex comes after another one; of equal times, the lower vertex first."""
    return when > other_time or (when == other_time and one > other)


@njit(nogil=True)
def find_members(entries, graph, vertex, local, known, vertices, now, rules, out):
    """The edges of the entries that lead to known vertices of the same instance: columns of ``out`` int64 [3, edges]
    with the entry, the number of the neighbor among known vertices, and the number of the edge. Returns how many. In
    time, only edges before ``now`` [entries], with a fourth column for their times.

    known: instance * vertices + vertex of each, ascending; an instance's are in a hash table, as in list_members.
    """
    graph = borrowed(graph)
    kept, last = 0, int64(-1)
    table, numbers = empty(1, np.int64), empty(1, np.int64)
    for entry in entries:
        if local[entry] != last:
            last = local[entry]
            low, high = place_of(known, last * vertices), place_of(known, (last + 1) * vertices)
            table = member_table(known[low:high], last * vertices, known)
            numbers = empty(table.size, np.int64)
            for number in range(low, high):
                numbers[member_cell(table, known[number] - last * vertices)] = number
        row, first = row_of(graph, vertex[entry]), graph.indptr[uint64(vertex[entry])]
        low, high = times_allowed(now[entry] if BY_TIME else int64(0), True, rules)
        for place in range(degree(graph, vertex[entry])):
            neighbor = int64(neighbor_at(graph, row + place))
            cell = member_cell(table, neighbor)
            if table[cell] == neighbor and is_early(graph, row + place, low, high):
                out[0, kept], out[1, kept], out[2, kept] = entry, numbers[cell], first + place
                if BY_TIME:
                    out[3, kept] = time_at(graph, row + place)
                kept += 1
    return kept
