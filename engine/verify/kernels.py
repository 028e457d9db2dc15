"""Look-ups over many edges at once, for verify."""

import numpy as np

from csaw.partition.base.compile import njit, prange
from csaw.partition.base.kernel_arrays import empty, place_of


@njit(parallel=True)
def first_edge(indptr, indices, src, dst, out):
    """Number of the first stored edge from each src to its dst or, where there is none, of the next edge of the row."""
    for i in prange(src.size):
        low, high = indptr[src[i]], indptr[src[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if np.int64(indices[middle]) < dst[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@njit(parallel=True)
def multiplicity(indptr, indices, src, dst, out):
    """Number of edges from each src to its dst; 0 where one of the two is no vertex."""
    vertices = indptr.size - 1
    for i in prange(src.size):
        out[i] = 0
        a, b = src[i], dst[i]
        if 0 <= a < vertices and 0 <= b < vertices:
            low, high = indptr[a], indptr[a + 1]
            while low < high:
                middle = (low + high) >> 1
                if np.int64(indices[middle]) < b:
                    low = middle + 1
                else:
                    high = middle
            while low < indptr[a + 1] and np.int64(indices[low]) == b:
                out[i] += 1
                low += 1


@njit(nogil=True)
def pool_sizes(indptr, indices, entry_key, entry_depth, visit_key, visit_depth, once, out):
    """Number of edges that each frontier entry could select: all of its row, or those to vertices not visited yet
    (``once``).

    A key is instance * vertices + vertex; visit_key is ascending, visit_depth the depth of each first visit.
    """
    vertices = indptr.size - 1
    for i in range(entry_key.size):
        v = entry_key[i] % vertices
        base = entry_key[i] - v
        out[i] = 0
        for edge in range(indptr[v], indptr[v + 1]):
            if not once:
                out[i] += 1
                continue
            key = base + np.int64(indices[edge])
            at = place_of(visit_key, key)
            seen = at < visit_key.size and visit_key[at] == key and visit_depth[at] <= entry_depth[i]
            out[i] += not seen


@njit(nogil=True)
def replay(counts, src, dst, source_counts, sources, out):
    """Move walkers one after the other: ``out`` is the first edge of each instance that starts where no walker stands,
    or -1.

    ``sources`` is overwritten by the last vertices of the walkers.
    """
    edge = source = 0
    for i in range(counts.size):
        out[i] = -1
        for step in range(counts[i]):
            moved = False
            for w in range(source, source + source_counts[i]):
                if sources[w] == src[edge + step]:
                    sources[w] = dst[edge + step]
                    moved = True
                    break
            if not moved:
                out[i] = step
                break
        edge += counts[i]
        source += source_counts[i]


@njit(nogil=True)
def one_law(indptr, indices, bias, p, q, v, prev, outcome, chance, kind):
    """Fill in the possible neighbors of ``v``, ascending, with their chances, and their kinds: 2 a return, 1 a common
    neighbor, 0 another; return their number.
    """
    filled, total, each = 0, 0.0, np.int64(bias.size > 1)
    other, end = (indptr[prev], indptr[prev + 1]) if prev >= 0 else (0, 0)
    for edge in range(indptr[v], indptr[v + 1]):
        dst = np.int64(indices[edge])
        while other < end and np.int64(indices[other]) < dst:
            other += 1
        beside = other < end and np.int64(indices[other]) == dst
        share = np.float64(bias[edge * each])
        if dst == prev:
            share /= p
        elif prev >= 0 and not beside:
            share /= q
        if share <= 0.0:
            continue
        total += share
        if filled > 0 and outcome[filled - 1] == dst:
            chance[filled - 1] += share
            continue
        outcome[filled], chance[filled], kind[filled] = dst, share, 2 if dst == prev else np.int64(beside)
        filled += 1
    for cell in range(filled):
        chance[cell] /= total
    return filled


@njit(nogil=True)
def row_laws(indptr, indices, bias, p, q, vertex, before, room, outcome, chance, common, size):
    """The law of one step from each ``vertex``, by a merge of its row with that of the vertex ``before`` it (-1: none).

    Situation s fills ``size[s]`` cells from room[s] on: the possible outcomes, ascending, repeated edges together, or
    -1 alone at a dead end. ``bias`` has a number for each edge, or one for all.
    """
    longest = 0
    for s in range(vertex.size):
        longest = max(longest, room[s + 1] - room[s])
    kind = empty(longest, np.int64)
    for s in range(vertex.size):
        first = room[s]
        filled = one_law(indptr, indices, bias, p, q, vertex[s], before[s], outcome[first:], chance[first:], kind)
        for cell in range(filled):
            common[first + cell] = kind[cell] == 1
        if filled == 0:
            outcome[first], chance[first], common[first] = -1, 1.0, False
            filled = 1
        size[s] = filled


@njit(nogil=True)
def elsewhere(degree, vertex, target, share, stays, room, outcome, chance, common, size):
    """Laws of ``row_laws`` with a walk that goes to ``target`` instead with chance ``share``, or ``stays`` by the
    degrees, and from a dead end.

    A walk that may stay moves from v to u only with chance min(1, degree of v / degree of u). A walk at a dead end that
    is its target ends.
    """
    for s in range(vertex.size):
        first, v = room[s], vertex[s]
        end = first + size[s]
        if outcome[first] < 0 or share >= 1.0:
            outcome[first] = -1 if outcome[first] < 0 and target[s] == v else target[s]
            chance[first], common[first], size[s] = 1.0, False, 1
            continue
        rest = share
        for cell in range(first, end):
            kept = 1.0 - share
            if stays and degree[outcome[cell]] > degree[v]:
                kept = degree[v] / degree[outcome[cell]]
                rest += chance[cell] * (1.0 - kept)
            chance[cell] *= kept
        if rest <= 0.0:
            continue
        at = end
        while at > first and outcome[at - 1] >= target[s]:
            at -= 1
        if at < end and outcome[at] == target[s]:
            chance[at] += rest
            continue
        for cell in range(end, at, -1):
            outcome[cell], chance[cell], common[cell] = outcome[cell - 1], chance[cell - 1], common[cell - 1]
        outcome[at], chance[at], common[at] = target[s], rest, False
        size[s] += 1


@njit(nogil=True)
def find_outcomes(start, outcome, situation, wanted, at):
    """The place of each ``wanted`` outcome in the table of its situation; -1 where it is impossible."""
    for i in range(wanted.size):
        low, high = start[situation[i]], start[situation[i] + 1]
        end = high
        while low < high:
            middle = (low + high) >> 1
            if outcome[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        at[i] = low if low < end and outcome[low] == wanted[i] else -1


@njit(nogil=True)
def likelier(start, chance, first, at, low):
    """The chance of all outcomes before that of each choice, likeliest first, then in their order.

    The choices first[s] .. first[s + 1] - 1 belong to situation s, and ``at`` is the place of the outcome of each. A
    few choices are summed one by one.
    """
    for s in range(start.size - 1):
        cells = chance[start[s] : start[s + 1]]
        if first[s + 1] - first[s] > 16:
            ranked = np.argsort(-cells, kind="mergesort")
            before, total = empty(cells.size, np.float64), 0.0
            for cell in ranked:
                before[cell] = total
                total += cells[cell]
            for i in range(first[s], first[s + 1]):
                low[i] = before[at[i] - start[s]]
        else:
            for i in range(first[s], first[s + 1]):
                own, total = at[i] - start[s], 0.0
                for cell in range(cells.size):
                    if cells[cell] > cells[own] or (cells[cell] == cells[own] and cell < own):
                        total += cells[cell]
                low[i] = total


@njit(nogil=True)
def score_rows(start, chance, other, largest, value, mean, variance, change):
    """Scores of outcomes: their chance in another law, to which ``other`` is proportional, in units of their own
    ``chance``, cut at ``largest``.

    ``mean`` and ``variance`` are those of the score in each situation, ``change`` its growth from its own law to the
    other one.
    """
    for s in range(start.size - 1):
        total = 0.0
        for cell in range(start[s], start[s + 1]):
            total += other[cell]
        total, own, theirs = max(total, 1e-300), 0.0, 0.0
        for cell in range(start[s], start[s + 1]):
            share = other[cell] / total
            value[cell] = share / chance[cell] if share < largest * chance[cell] else largest
            own += chance[cell] * value[cell]
            theirs += share * value[cell]
        spread = 0.0
        for cell in range(start[s], start[s + 1]):
            spread += chance[cell] * (value[cell] - own) ** 2
        mean[s], variance[s], change[s] = own, spread, theirs - own
