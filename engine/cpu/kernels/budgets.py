"""What rows give to the budgets of their neighbors, and the edges among the vertices of a mini-batch.

See engine/batches/budgets.py.
"""

import numpy as np
from numba import int64

from csaw.engine.cpu.kernels.access import borrowed, degree, neighbor_at, row_of
from csaw.engine.cpu.kernels.layers import member_cell, member_table
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import empty, full, place_of, zeros

BUDGET_UNITS, BUDGET_REST_BITS = 1 << 40, 31  # of a share, as engine/batches/budgets.py has them


@njit(nogil=True)
def give_shares(entries, graph, vertex, vertices):
    """What the rows of the entries give to their neighbors, added up: int64 [n] the neighbors, in the order of a hash
    table, and their units and rests.
    """
    graph = borrowed(graph)
    edges = int64(0)
    for i in entries:
        edges += degree(graph, vertex[i])
    size = int64(4)
    while size < 2 * min(edges, vertices):
        size *= 2
    table = full(size, -1, np.int64)
    given = zeros(2 * size, np.int64)
    found = 0
    for i in entries:
        row, count = row_of(graph, vertex[i]), degree(graph, vertex[i])
        if count == 0:
            continue
        units = BUDGET_UNITS // count
        rest = (BUDGET_UNITS - units * count << BUDGET_REST_BITS) // count
        for position in range(row, row + count):
            neighbor = int64(neighbor_at(graph, position))
            cell = member_cell(table, neighbor)
            found += table[cell] < 0
            table[cell] = neighbor
            given[2 * cell] += units
            given[2 * cell + 1] += rest
    out, n = np.empty((3, found), np.int64), 0
    for cell in range(size):
        if table[cell] >= 0:
            out[0, n], out[1, n], out[2, n] = table[cell], given[2 * cell], given[2 * cell + 1]
            n += 1
    return out


@njit(nogil=True)
def find_members(entries, graph, vertex, local, known, vertices, out):
    """The edges of the entries that lead to known vertices of the same instance: columns of ``out`` int64 [3, edges]
    with the entry, the number of the neighbor among known vertices, and the place in the row. Returns how many.

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
        row = row_of(graph, vertex[entry])
        for place in range(degree(graph, vertex[entry])):
            neighbor = int64(neighbor_at(graph, row + place))
            cell = member_cell(table, neighbor)
            if table[cell] == neighbor:
                out[0, kept], out[1, kept], out[2, kept] = entry, numbers[cell], place
                kept += 1
    return kept
