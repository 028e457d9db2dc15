"""Look-ups over many edges at once, for verify."""

import numpy as np

from csaw.engine.draws.random import draw64, neg_log
from csaw.engine.samples import UNKNOWN, Samples
from csaw.partition import Graph
from csaw.partition.base.compile import inner, njit, prange
from csaw.partition.base.kernel_tools import GAMMA, empty, mixed, place_between, place_of
from csaw.partition.base.read_only import thawed


@inner
def first_at_least(indptr, indices, row, neighbor):
    """The first place in a row, which is sorted, whose neighbor is at least this one; the end of the row if none is."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if np.int64(indices[middle]) < neighbor:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True)  # on one thread: it is often called for a few edges, where waking threads took most of the time
def first_edge(indptr, indices, src, dst, out):
    """Number of the first stored edge from each src to its dst or, where there is none, of the next edge of the row."""
    for i in range(src.size):
        out[i] = first_at_least(indptr, indices, src[i], dst[i])


def edge_weights(graph: Graph, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """float64: the weight of each edge src -> dst, of several to one neighbor the first's; 0 where there is none."""
    assert graph.weights is not None
    first = np.empty(src.size, np.int64)
    first_edge(graph.indptr, graph.indices, src, dst, first)
    at = np.minimum(first, graph.indices.size - 1)
    there = (first < graph.indptr[src + 1]) & (graph.indices[at] == dst)
    return np.where(there, graph.weights[at], 0).astype(np.float64)


@njit(parallel=True)
def multiplicity(indptr, indices, src, dst, out):
    """Number of edges from each src to its dst; 0 where one of the two is no vertex."""
    vertices = indptr.size - 1
    for i in prange(src.size):
        out[i] = 0
        a, b = src[i], dst[i]
        if 0 <= a < vertices and 0 <= b < vertices:
            low = first_at_least(indptr, indices, a, b)
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
def find_outcomes(start, outcome, situation, wanted, at):
    """The place of each ``wanted`` outcome in the table of its situation; -1 where it is impossible."""
    for i in range(wanted.size):
        end = start[situation[i] + 1]
        low = place_between(outcome, start[situation[i]], end, wanted[i])
        at[i] = low if low < end and outcome[low] == wanted[i] else -1


@njit(nogil=True)
def likeliest_first(chance, order, room):
    """The numbers of the chances, the largest chance first and equal ones in their order, in ``order`` or ``room``.

    Runs that are sorted are merged; np.argsort, with all that it can sort, takes two seconds to compile.
    """
    size, width = chance.size, 1
    for cell in range(size):
        order[cell] = cell
    while width < size:
        for begin in range(0, size, 2 * width):
            middle, end = min(begin + width, size), min(begin + 2 * width, size)
            a, b = begin, middle
            for place in range(begin, end):
                if a < middle and (b == end or chance[order[a]] >= chance[order[b]]):
                    room[place] = order[a]
                    a += 1
                else:
                    room[place] = order[b]
                    b += 1
        order, room = room, order
        width *= 2
    return order


@njit(nogil=True)
def likelier(start, chance, first, at, low):
    """The chance of all outcomes before that of each choice, likeliest first, then in their order.

    The choices first[s] .. first[s + 1] - 1 belong to situation s, and ``at`` is the place of the outcome of each. A
    few choices are summed one by one.
    """
    for s in range(start.size - 1):
        cells = chance[start[s] : start[s + 1]]
        if first[s + 1] - first[s] > 16:
            order, room = empty(cells.size, np.int64), empty(cells.size, np.int64)
            before, total = empty(cells.size, np.float64), 0.0
            for cell in likeliest_first(cells, order, room):
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
def of_neighbors(outcome, values, out):
    """The value of each outcome that is a vertex, 1 where there are no ``values``; 0 of others."""
    for cell in range(outcome.size):
        to = outcome[cell]
        out[cell] = 0.0 if to < 0 else 1.0 if values.size == 0 else np.float64(values[to])


@njit(nogil=True)
def add_up(labels, terms, sums):
    """Add each row of ``terms`` to the column of ``sums`` that its label names, in order."""
    for i in range(labels.size):
        for k in range(terms.shape[1]):
            sums[k, labels[i]] += terms[i, k]


@njit(nogil=True, error_model="numpy")
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


@njit(nogil=True)
def arrivals(seed, instance, slots, draw, rates):
    """Times at which the vertices of a pool arrive, each at an exponential time of its own rate."""
    out = empty(rates.size, np.float64)
    for i in range(rates.size):
        out[i] = neg_log(draw64(seed, instance, slots[i], draw)) / rates[i]
    return out


@njit(nogil=True)
def hops_from(begin, ends, frontier, many, hops):
    """Breadth-first search: ``hops`` of each vertex from the ``many`` first of ``frontier``, where it is 0; -1 where it
    is never met.

    The edges of vertex v lead to ends[begin[v]] .. ends[begin[v + 1] - 1]; ``frontier`` has room for all vertices.
    """
    done = 0
    while done < many:
        v = frontier[done]
        done += 1
        for k in range(begin[v], begin[v + 1]):
            u = ends[k]
            if hops[u] < 0:
                hops[u] = hops[v] + 1
                frontier[many] = u
                many += 1


@inner
def mixed_with(word, value):
    """A hash of a hash and the next number."""
    return mixed((word ^ np.uint64(np.int64(value))) + GAMMA)


@njit(nogil=True)
def mix_rows(rows, out):
    """Mix the numbers of each row, integers of any type, into its hash in ``out``, uint64 [rows]."""
    for i in range(out.size):
        word = out[i]
        for k in range(rows.shape[1]):
            word = mixed_with(word, rows[i, k])
        out[i] = word


@njit(nogil=True)
def mix_runs(values, counts, out):
    """The same of the ``counts`` next of all ``values`` for each."""
    at = 0
    for i in range(out.size):
        word = mixed_with(out[i], counts[i])
        for k in range(at, at + counts[i]):
            word = mixed_with(word, values[k])
        at += counts[i]
        out[i] = word


# Passes over walks in dense ids: one thread works on each piece of a sample, and the interpreter is free meanwhile.


@njit(nogil=True)
def look_up(stored, fill, low, table, out):
    """Dense ids of stored ones: -1 for ``fill``, otherwise the entry of ``table`` at the id less ``low``, or -2 beyond
    it.
    """
    for i in range(stored.shape[0]):
        for k in range(stored.shape[1]):
            place = np.uint64(
                np.int64(stored[i, k]) - low
            )  # wraps to a place beyond the table where the id is too far off
            inside = place < np.uint64(table.size)
            found = np.int64(table[place if inside else np.uint64(0)])
            out[i, k] = -1 if stored[i, k] == fill else (found if inside else -2)


@njit(nogil=True)
def slot_of(v, prev, source, mask):
    """The first slot of a table of situations where this one may be."""
    mixed = np.uint64(v) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(prev + 2) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ np.uint64(source + 2)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64((mixed >> np.uint64(32)) & np.uint64(mask))


@njit(nogil=True)
def fill_slots(keys, slots):
    """Enter situations, the rows (v, prev, source) of ``keys``, into a table of -1, whose size is a power of two."""
    mask = slots.size - 1
    for s in range(keys.shape[0]):
        slot = slot_of(keys[s, 0], keys[s, 1], keys[s, 2], mask)
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = s


@njit(nogil=True)
def count_choices(
    walks, lengths, fits, others, first, of_prev, of_source, keys, slots, start, outcome, counts, strange
):
    """Count the choices made in the situations ``keys`` by their outcomes, and in ``strange`` those that the law never
    makes.

    Walks that are not among the ``others`` count for nothing, or for their ``first`` step alone.
    """
    mask, width = slots.size - 1, walks.shape[1]
    for i in range(walks.shape[0]):
        steps = min(lengths[i] + 1, width - 1) if others[i] else min(1, width - 1)
        for k in range(steps if fits[i] and (others[i] or first) else 0):
            v, prev = walks[i, k], walks[i, k - 1] if of_prev and k > 0 else -1
            source = walks[i, 0] if of_source else -1
            slot = slot_of(v, prev, source, mask)
            while slots[slot] >= 0:
                s = slots[slot]
                if keys[s, 0] == v and keys[s, 1] == prev and keys[s, 2] == source:
                    count_one(start[s], start[s + 1], outcome, walks[i, k + 1], counts, strange, s)
                    break
                slot = (slot + 1) & mask


@njit(nogil=True)
def count_one(low, end, outcome, chosen, counts, strange, situation):
    """Count one choice of a situation whose outcomes are outcome[low:end], ascending."""
    low = place_between(outcome, low, end, chosen)
    if low < end and outcome[low] == chosen:
        counts[low] += 1
    else:
        strange[situation] += 1


# Dense ids of the ids that a sample holds, by a table where the graph's ids are close together.

SPARSE = 8  # entries of the table for each vertex, at most


class DenseIds:
    """Maps ids of a sample to dense ones; threads may share it.

    ``vertices``: those of the graph at hand. What a sample's manifest says of its graph may be wrong, and no kernel may
    read the row of a vertex that is not there.
    """

    def __init__(self, samples: Samples, ids: np.ndarray | None, vertices: int) -> None:
        self.samples, self.ids, self.vertices = samples, ids, vertices
        self.table: np.ndarray | None = None
        if samples.ids != "original" or ids is None or not ids.size:
            return
        self.low, high = int(ids.min()), int(ids.max())
        self.span = high - self.low + 1
        if self.span <= SPARSE * ids.size and max(-self.low, high) < 2**62:
            self.table = np.full(self.span, UNKNOWN, np.int32 if ids.size < 2**31 else np.int64)
            self.table[ids.astype(np.int64) - self.low] = np.arange(ids.size)
        else:
            samples.dense(ids[:0], ids)  # sorts them once, before threads ask

    def __call__(self, array: np.ndarray) -> np.ndarray:
        """Dense ids of ``array`` [n] or [n, m], int64: NOTHING for an entry without a vertex, UNKNOWN for an id that
        the graph does not have.
        """
        if self.table is None:
            dense = self.samples.dense(array, self.ids)
            dense[dense >= self.vertices] = UNKNOWN
            return dense
        out = np.empty(array.shape, np.int64)
        held = thawed(array)
        rows = (held.reshape(-1, 1), out.reshape(-1, 1)) if array.ndim == 1 else (held, out)
        look_up(rows[0], array.dtype.type(self.samples.fill), self.low, self.table, rows[1])
        return out


@njit(nogil=True)
def copy_at(first, copies, times, wanted, share, out):
    """Of the edges from number ``first`` on, ``copies`` of them, one of the time ``wanted``: the one that ``share`` of
    all of these is in front of; -1 where there is none.
    """
    for i in range(first.size):
        same = 0
        for edge in range(first[i], first[i] + copies[i]):
            same += times[edge] == wanted[i]
        left, out[i] = np.int64(share[i] * same), -1
        for edge in range(first[i], first[i] + copies[i]):
            if times[edge] == wanted[i]:
                if left == 0:
                    out[i] = edge
                left -= 1


@njit(parallel=True)
def copies_until(indptr, indices, times, src, dst, until, out):
    """Number of edges from each src to its dst that are not later than a time; 0 where one of the two is no vertex."""
    vertices = indptr.size - 1
    for i in prange(src.size):
        out[i] = 0
        a, b = src[i], dst[i]
        if 0 <= a < vertices and 0 <= b < vertices:
            low = first_at_least(indptr, indices, a, b)
            while low < indptr[a + 1] and np.int64(indices[low]) == b:
                out[i] += times[low] <= until[i]
                low += 1


@njit(nogil=True)
def place_negatives(indptr, indices, source, own, low, high, negatives, upto, classes, before, taken):
    """Of the negatives of links, the biases of all vertices below each that could have been drawn; and those of each
    class that could not, because an edge leads to them or they are the source itself (``own``).

    ``low``, ``high``: the vertices among which a link's negatives are. ``upto``: the biases of all vertices below one.
    ``before``: float64 [links, negatives], to be filled. ``taken``: float64 [links, classes], zeros.
    """
    for i in range(source.size):
        for j in range(negatives.shape[1]):
            before[i, j] = upto[negatives[i, j]] - upto[low[i]]
        last, has_own = np.int64(-1), False
        for position in range(indptr[source[i]], indptr[source[i] + 1]):
            v = np.int64(indices[position])
            if v == last or v < low[i] or v >= high[i]:
                continue
            last, has_own = v, has_own or v == source[i]
            bias = upto[v + 1] - upto[v]
            taken[i, classes[v]] += bias
            for j in range(negatives.shape[1]):
                before[i, j] -= bias if v < negatives[i, j] else 0.0
        if own[i] and not has_own:
            bias = upto[source[i] + 1] - upto[source[i]]
            taken[i, classes[source[i]]] += bias
            for j in range(negatives.shape[1]):
                before[i, j] -= bias if source[i] < negatives[i, j] else 0.0


@njit(nogil=True)
def place_negatives_until(
    indptr, indices, times, source, own, until, low, high, negatives, place, upto, classes, blocks, size, before, free
):
    """Of the negatives of links as of a time, the biases of all vertices in front of each that could have been drawn;
    and those of all that could, by class.

    ``until``: the time after which an edge does not count. ``low``, ``high``: the places in their order of the vertices
    among which a link's negatives are. ``place``: of each vertex. By place: ``upto``, the biases of all before one;
    ``classes``; ``blocks``, float64 [n, classes], sums of the biases before every ``size`` of them. ``before``:
    float64 [links, negatives], to be filled. ``free``: float64 [links, classes], zeros.
    """
    for i in range(source.size):
        for end, sign in ((high[i], 1.0), (low[i], -1.0)):
            free[i] += sign * blocks[end // size]
            for p in range(end // size * size, end):
                free[i, classes[p]] += sign * (upto[p + 1] - upto[p])
        for j in range(negatives.shape[1]):
            before[i, j] = upto[place[negatives[i, j]]] - upto[low[i]]
        last, has_own = np.int64(-1), False
        for position in range(indptr[source[i]], indptr[source[i] + 1] + 1):
            is_last = position == indptr[source[i] + 1]  # when all of the row is known
            if is_last and (has_own or not own[i]):
                break
            v = source[i] if is_last else np.int64(indices[position])
            if not is_last and (v == last or times[position] > until[i]):
                continue
            last, has_own = v, has_own or v == source[i]
            p = place[v]
            if low[i] <= p < high[i]:
                bias = upto[p + 1] - upto[p]
                free[i, classes[p]] -= bias
                for j in range(negatives.shape[1]):
                    before[i, j] -= bias if p < place[negatives[i, j]] else 0.0
