"""Matches of a pattern by backtracking: candidates are filtered by degree and joined edge by edge.

Rows are of a simple undirected graph, sorted. Candidates for a vertex of the pattern are the shortest row among those
of the matched vertices that it is joined to, above the numbers that symmetry asks for; the other rows are searched.
Where the last vertex is joined to one alone and asks for no label, its candidates are counted at once. Where a symmetry
exchanges the last two, which have no edge between them, pairs of the candidates for both are counted at once.

    joined, after, needs, wanted   the pattern's plan (analytics/pattern.py)
    labels                         int32 [V], the number of the label of each vertex; empty where no vertex asks for one
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels.oriented import sort_row
from csaw.engine.cpu.kernels.memory import atomic_add
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty


@njit(nogil=True)
def renumber(low, high, first, indptr, indices, number, at, out):
    """Write the row of each vertex v of low .. high - 1 to out[at[number[v]]] and on, in numbers, ascending.

    The row of v is at indptr[v - first].
    """
    for v in range(low, high):
        begin, size = at[number[v]], indptr[v - first + 1] - indptr[v - first]
        for i in range(size):
            out[begin + i] = number[indices[indptr[v - first] + i]]
        sort_row(out[begin : begin + size])


@inner(nogil=True)
def _upto(row, value):
    """Number of entries of a sorted row that are at most ``value``."""
    low, high = 0, row.size
    while low < high:
        middle = (low + high) // 2
        if row[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@inner(nogil=True)
def _row(indptr, indices, v):
    return indices[indptr[v] : indptr[v + 1]]


@inner(nogil=True)
def has(row, value):
    """Whether a sorted row has this entry."""
    place = _upto(row, value)
    return place > 0 and row[place - 1] == value


@inner(nogil=True)
def _candidates(level, chosen, indptr, indices, joined, after):
    """Find the candidates for a level: the matched vertex whose row has them, where they begin, and their bound.

    They are above the bound, and begin at a place among all entries.
    """
    driver, bound = -1, -1
    for i in range(level):
        if joined[i, level]:
            v = chosen[i]
            if driver < 0 or indptr[v + 1] - indptr[v] < indptr[chosen[driver] + 1] - indptr[chosen[driver]]:
                driver = i
        if after[i, level]:
            bound = max(bound, chosen[i])
    v = chosen[driver]
    return driver, indptr[v] + _upto(_row(indptr, indices, v), bound), bound


@inner(nogil=True)
def _fits(candidate, level, driver, chosen, indptr, indices, joined, needs):
    if indptr[candidate + 1] - indptr[candidate] < needs[level]:
        return False
    for i in range(level):
        if not joined[i, level]:
            if candidate == chosen[i]:
                return False
        elif i != driver and not has(_row(indptr, indices, chosen[i]), candidate):
            return False
    return True


@inner(nogil=True)
def _last(chosen, indptr, indices, joined, after, needs, wanted, labels, each):
    """Count the candidates for the last vertex of the pattern.

    Each adds 1 to all vertices of its match in ``each``, unless that is empty.
    """
    level = needs.size - 1
    driver, begin, bound = _candidates(level, chosen, indptr, indices, joined, after)
    end = indptr[chosen[driver] + 1]
    if needs[level] == 1 and wanted[level] < 0 and each.size == 0:
        row, found = _row(indptr, indices, chosen[driver]), end - begin
        for i in range(level):
            found -= i != driver and chosen[i] > bound and has(row, chosen[i])
        return found
    found = 0
    for at in range(begin, end):
        candidate = np.int64(indices[at])
        if wanted[level] >= 0 and labels[candidate] != wanted[level]:
            continue
        if _fits(candidate, level, driver, chosen, indptr, indices, joined, needs):
            found += 1
            if each.size:
                atomic_add(each, np.uint64(candidate), np.int64(1))
    if each.size and found:
        for i in range(level):
            atomic_add(each, np.uint64(chosen[i]), np.int64(found))
    return found


@inner(nogil=True)
def _are_twins(joined, after, wanted):
    """Whether a symmetry exchanges the last two vertices, so that they have the same candidates, and no edge."""
    last = wanted.size - 1
    if joined[last - 1, last] or not after[last - 1, last] or wanted[last - 1] != wanted[last]:
        return False
    for i in range(last - 1):
        if joined[i, last - 1] != joined[i, last] or after[i, last - 1] != after[i, last]:
            return False
    return True


@inner(nogil=True)
def _fitting(level, begin, driver, chosen, indptr, indices, joined, needs, wanted, labels):
    """Number of the candidates for a level, from ``begin`` on, that fit."""
    found = 0
    for at in range(begin, indptr[chosen[driver] + 1]):
        candidate = np.int64(indices[at])
        if wanted[level] < 0 or labels[candidate] == wanted[level]:
            found += _fits(candidate, level, driver, chosen, indptr, indices, joined, needs)
    return found


@njit(nogil=True)
def count_matches(low, high, indptr, indices, joined, after, needs, wanted, labels, each):
    """Number of matches whose first vertex is in low .. high - 1.

    ``each``: int64 [V], to which those of each vertex are added, or empty.
    """
    size, total = needs.size, 0
    chosen, at, drivers = empty(size, np.int64), empty(size, np.int64), empty(size, np.int64)
    in_pairs = each.size == 0 and _are_twins(joined, after, wanted)
    for root in range(low, high):
        if indptr[root + 1] - indptr[root] < needs[0]:
            continue
        if wanted[0] >= 0 and labels[root] != wanted[0]:
            continue
        chosen[0], level = root, 1
        drivers[1], at[1], _ = _candidates(1, chosen, indptr, indices, joined, after)
        while level > 0:
            if in_pairs and level == size - 2:
                both = _fitting(
                    level, at[level], drivers[level], chosen, indptr, indices, joined, needs, wanted, labels
                )
                total += both * (both - 1) // 2
                level -= 1
                continue
            if at[level] == indptr[chosen[drivers[level]] + 1]:
                level -= 1
                continue
            candidate = np.int64(indices[at[level]])
            at[level] += 1
            if wanted[level] >= 0 and labels[candidate] != wanted[level]:
                continue
            if not _fits(candidate, level, drivers[level], chosen, indptr, indices, joined, needs):
                continue
            chosen[level] = candidate
            if level == size - 2:
                total += _last(chosen, indptr, indices, joined, after, needs, wanted, labels, each)
            else:
                level += 1
                drivers[level], at[level], _ = _candidates(level, chosen, indptr, indices, joined, after)
    return total
