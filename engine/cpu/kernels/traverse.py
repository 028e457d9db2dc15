"""Traversal kernels: neighbors for a list of frontier entries, each (instance, slot, vertex, previous vertex), and
uniform picks from a pool of several vertices.

Entry i writes at most ``capacity[i]`` neighbors from ``start[i]`` on, and their number to ``found[i]``. The rows of all
entries of a call must be in memory; results do not depend on which call serves an entry. Where PLACED, ``edge`` gets
the number of each neighbor's edge, counted through all rows.

Of a pool, numbers of edges are drawn, and the edges with these numbers are looked up: see engine/batches/collective.py.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    away,
    borrowed,
    degree,
    neighbor_at,
    prefetch_edge,
    row_of,
    stored_weight,
    vertex_count,
)
from csaw.engine.cpu.kernels.constants import (
    EACH_EDGE_ONCE,
    INDUCED,
    KEYED,
    NEIGHBOR_WEIGHTS,
    PLACED,
    POOLED,
    REPLACE,
    SELECT,
    UNIFORM,
    edge_bias,
    update,
    vertex_bias,
)
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.select import (
    by_inverse_transform,
    by_keys,
    pick_word,
    successive,
    uniform_distinct,
    with_replacement,
)
from csaw.engine.cpu.kernels.walk import drawn_neighbor
from csaw.engine.cpu.kernels.weigh import accumulate, search, weigh
from csaw.engine.draws.addresses import FRONTIER_DRAWS, REST_DRAWS, SIZE_DRAWS, TRIAL_DRAWS, UPDATE_DRAWS
from csaw.engine.draws.random import (
    SHIFT,
    below,
    below_wide,
    draw64,
    fraction_of,
    frontier_word,
    is_bias,
    neg_log,
    philox,
    pool_word,
)
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, place_between

AHEAD = 32


@inner
def has(seen, low, high, value):
    """Whether the sorted seen[low:high] holds ``value``."""
    place = place_between(seen, low, high, value)
    return place < high and seen[place] == value


@inner
def in_pool(v, dst, seen, low, high):
    """Whether the edge v -> dst may be selected at all."""
    return v <= dst if EACH_EDGE_ONCE else has(seen, low, high, dst) == INDUCED


@inner
def fill_pool(graph, v, row, count, seen, low, high, chosen):
    """Fill ``chosen`` with the positions within the row that may be selected at all; returns their number."""
    size = 0
    for i in range(count):
        if in_pool(v, neighbor_at(graph, row + i), seen, low, high):
            chosen[size] = i
            size += 1
    return size


@njit(nogil=True)
def geometric_sizes(instance, slot, seed, limit, rest, most, sizes):
    """Forest fire's neighbor sizes: the number of coins that succeed before the first failure, at most ``most``; see
    selection.coin.
    """
    for i in range(instance.size):
        flips = uint64(0)
        while flips < uint64(most[i]):
            words = philox(seed, uint64(instance[i]), uint64(slot[i]), SIZE_DRAWS + (flips >> uint64(2)))
            part = flips & uint64(3)
            word = words[0] if part == 0 else words[1] if part == 1 else words[2] if part == 2 else words[3]
            if word > limit or (word == limit and not rest_succeeds(seed, instance[i], slot[i], flips, rest)):
                break
            flips += uint64(1)
        sizes[i] = int64(flips)


@inner
def rest_succeeds(seed, instance, slot, number, rest):
    """Whether a coin that fell on its limit is a success, with chance rest / 2^64."""
    return rest > uint64(0) and draw64(seed, uint64(instance), uint64(slot), REST_DRAWS + number) < rest


@njit(nogil=True)
def update_frontier(edges, graph, params, seed, depth, instance, slot, source, prev, src, dst, then, bad):
    """Ask ``update`` which vertices follow the sampled ``edges``: to ``then``, -1 for none.

    ``slot``: the number of each edge's end in its instance. Where a hook returns no vertex, ``bad`` names the place.
    """
    graph = borrowed(graph)
    for e in edges:
        own = draw64(seed, uint64(instance[e]), uint64(slot[e]), UPDATE_DRAWS)
        to = update(params, graph, own, instance[e], depth, source[e], prev[e], src[e], dst[e], 1.0)
        then[e] = -1
        if to >= vertex_count(graph):
            bad[0], bad[1], bad[2] = 2, src[e], int64(min(float(to), 2.0**62))
        elif to >= 0:  # NaN is no vertex, and no integer that every compiler agrees on
            then[e] = int64(to)


# Trials: any edge of a vertex is proposed, and accepted by its bias over a bound of all biases.
#
# The first accepted edges are the picks; without replacement, an edge that is picked already is passed over. So each
# pick has the biases of what is left, as in successive selection. Trials end after a number that the row decides, which
# take about as long as reading the row, or before, where so few are accepted that they would end so: what they have not
# picked is drawn from the whole row, without what they have. When they end depends on how many they accept, not on
# which, so the law is the same. cuda/kernels/trials.cuh has the same.

EDGES_A_PICK = 8  # rows that have no more edges for each pick are not tried
EDGES_A_TRIAL = 4  # of a row, for each trial at most
TRIED_PICKS = 256  # of a vertex at most: each is compared with those before
LEAST_TRIED, MOST_TRIALS = 32, 1 << 27
FIRST_TRIALS = 32  # after which, and after twice as many each time, it is seen whether others would do


@inner
def is_tried(count, k):
    """Whether trials pay in a row of ``count`` edges of which k are wanted."""
    return k <= TRIED_PICKS and count > EDGES_A_PICK * k and count >= LEAST_TRIED


@inner
def is_among(value, values, size):
    """Whether ``value`` is one of the first ``size`` values."""
    found = False
    for i in range(size):
        found |= values[i] == value
    return found


@inner
def accepts(params, graph, seed, depth, frontier, i, position, dst, coin, bounds):
    """Whether the edge at ``position`` is accepted by its bias, which is computed where its bounds do not decide."""
    low, high, highest = bounds
    weight, level = stored_weight(graph, position) if NEIGHBOR_WEIGHTS else 1.0, coin * highest
    if level < low * weight:
        return True
    if level >= high * weight:
        return False
    v, prev, source = frontier.vertex[i], frontier.previous[i], frontier.source[i]
    return level < float(edge_bias(params, graph, seed, frontier.instance[i], depth, source, prev, v, dst, weight))


@inner
def by_trials(params, graph, seed, depth, bounds, frontier, i, row, count, spots, coins, picked, tally):
    """Positions within its row of the picks of entry i that trials find, to ``picked``; returns their number.

    ``bounds``: TrialBounds. ``spots``, ``coins``: room for a number of each pick.
    """
    instance, slot, v = uint64(frontier.instance[i]), uint64(frontier.slot[i]), frontier.vertex[i]
    k, low, end = frontier.capacity[i], frontier.seen_from[i], frontier.seen_to[i]
    size, accepted, trial, look = 0, int64(0), int64(0), int64(FIRST_TRIALS)
    most = min(count // EDGES_A_TRIAL, MOST_TRIALS)
    while size < k and trial < most:
        if trial == look:
            if (accepted + 1) * most < trial * k:
                break
            look *= 2
        here = min(k - size, min(look, most) - trial)  # so none is drawn in vain
        for j in range(here):
            w0, w1, w2, w3 = philox(seed, instance, slot, TRIAL_DRAWS + uint64(trial + j))
            spots[j], coins[j] = int64(below((w0 << SHIFT) | w1, uint64(count))), fraction_of(w2, w3)
            prefetch_edge(graph, uint64(row + spots[j]))
        for j in range(here):
            position, dst = row + spots[j], neighbor_at(graph, row + spots[j])
            if POOLED and not in_pool(v, dst, frontier.seen, low, end):
                continue
            if accepts(params, graph, seed, depth, frontier, i, position, dst, coins[j], bounds):
                accepted += 1
                picked[size] = spots[j]
                size += int64(REPLACE or not is_among(spots[j], picked, size))
        trial += here
    tally[0] += trial
    return size


@inner
def leave_out(picked, size, chosen, count, biases):
    """Set the biases of the first ``size`` picks, positions within a row, to 0 among its ``chosen``, or all, edges."""
    for j in range(size):
        at = picked[j] if chosen.size == 0 else place_between(chosen, 0, count, picked[j])
        biases[at] = 0.0


@njit(nogil=True)
def select_neighbors(entries, graph, params, seed, depth, bounds, frontier, bad, tally):
    """Select neighbors of the frontier entries numbered ``entries``, by the method that the constants name.

    ``bounds``: TrialBounds of this depth, for rejection.
    """
    graph = borrowed(graph)
    instance, slot, vertex, previous, source, seen_from, seen_to, seen = frontier[:8]
    start, capacity, found, out, edge, out_key = frontier[8:]
    room = 64
    tried = TRIED_PICKS if SELECT == "rejection" else 0
    spots, coins, first = empty(tried, np.int64), empty(tried, np.float64), empty(tried, np.int64)
    biases, ctps, keys = empty(room, np.float64), empty(room, np.int64), empty(room, np.float64)
    pool, picked, targets = empty(room, np.int64), empty(room, np.int64), empty(room, np.int64)
    taken = empty(room, np.uint64)
    for i in entries:
        v, k = vertex[i], capacity[i]
        row = row_of(graph, v)
        count = degree(graph, v)
        found[i] = 0
        if count == 0 or k == 0:
            continue
        before = 0
        if SELECT == "rejection" and is_tried(count, k):
            before = by_trials(params, graph, seed, depth, bounds, frontier, i, row, count, spots, coins, first, tally)
            for j in range(before):
                out[start[i] + j] = neighbor_at(graph, row + first[j])
                edge[start[i] + j] = row + first[j] - away(graph, v)
            found[i] = before
            k -= before
            if k == 0:
                continue
        if max(count, k) > room:
            room = 2 * max(count, k)
            biases, ctps, keys = empty(room, np.float64), empty(room, np.int64), empty(room, np.float64)
            pool, picked, targets = empty(room, np.int64), empty(room, np.int64), empty(room, np.int64)
            taken = empty(room, np.uint64)
        chosen = pool[:0]
        if POOLED:
            count = fill_pool(graph, v, row, count, seen, seen_from[i], seen_to[i], pool)
            chosen = pool
            if count == 0:
                continue
        where, at = uint64(instance[i]), uint64(slot[i])
        largest = 1.0
        if not UNIFORM:
            largest = weigh(
                params, graph, seed, instance[i], depth, source[i], previous[i], v, row, chosen, count, biases, bad
            )
            if largest < 0.0:
                return
            if largest == 0.0:
                continue
            if before > 0 and not REPLACE:
                leave_out(first, before, chosen, count, biases)
        if SELECT == "keys":
            size = by_keys(seed, where, at, biases, chosen, count, UNIFORM, min(k, count), keys, picked)
        elif REPLACE:
            if not UNIFORM:
                accumulate(biases, count, largest, ctps)
            size = with_replacement(seed, where, at, ctps, count, UNIFORM, k, targets, picked)
        elif k >= count:
            size = 0
            for j in range(count):
                if UNIFORM or biases[j] > 0.0:
                    picked[size] = j
                    size += 1
        elif UNIFORM and SELECT == "uniform":
            size = uniform_distinct(seed, where, at, count, k, picked)
        else:
            if UNIFORM:
                biases[:count] = 1.0
            size = by_inverse_transform(seed, where, at, biases, count, largest, k, ctps, taken, targets, picked, tally)
        for j in range(size):
            position, cell = row + (chosen[picked[j]] if POOLED else picked[j]), start[i] + before + j
            out[cell] = neighbor_at(graph, position)
            if PLACED:
                edge[cell] = position - away(graph, v)
            if KEYED:
                out_key[cell] = keys[j]
        found[i] = before + size


@njit(nogil=True)
def select_by_sums(entries, graph, seed, frontier, tally):
    """Select like ``select_neighbors``, for whole rows whose running sums were made beforehand.

    Entries come in groups, with memory lines prefetched.
    """
    graph = borrowed(graph)
    instance, slot, vertex, found = frontier.instance, frontier.slot, frontier.vertex, frontier.found
    start, capacity, out = frontier.start, frontier.capacity, frontier.out
    rows, counts = empty(AHEAD, np.int64), empty(AHEAD, np.int64)
    picked, targets, biases, taken = (
        empty(1, np.int64),
        empty(1, np.int64),
        empty(0, np.float64),
        empty(0, np.uint64),
    )
    for group in range(0, entries.size, AHEAD):
        here = min(AHEAD, entries.size - group)
        for j in range(here):
            prefetch(graph.indptr, uint64(vertex[entries[group + j]]))
            prefetch(graph.possible, uint64(vertex[entries[group + j]]))
        for j in range(here):
            v = vertex[entries[group + j]]
            rows[j], counts[j] = graph.indptr[v], graph.indptr[v + 1] - graph.indptr[v]
            if counts[j] > 0:
                prefetch(graph.sums, uint64(rows[j] + counts[j] - 1))
                prefetch(graph.sums, uint64(rows[j] + (counts[j] >> 1)))
                prefetch(graph.indices, uint64(rows[j]))
        for j in range(here):
            i = entries[group + j]
            row, count, k = rows[j], counts[j], capacity[i]
            found[i] = 0
            if count == 0 or k == 0 or graph.sums[row + count - 1] == 0:
                continue
            if k > picked.size:
                picked, targets = empty(k, np.int64), empty(k, np.int64)
            sums, where, at = graph.sums[row : row + count], uint64(instance[i]), uint64(slot[i])
            if REPLACE:
                size = with_replacement(seed, where, at, sums, count, False, k, targets, picked)
            elif k < count:
                k = min(k, int64(graph.possible[vertex[i]]))
                total = sums[count - 1]
                size = successive(seed, where, at, biases, count, 1.0, k, sums, total, taken, targets, picked, tally)
            else:
                size = with_weight(sums, count, picked)
            for n in range(size):
                prefetch(graph.indices, uint64(row + picked[n]))
            for n in range(size):
                out[start[i] + n] = neighbor_at(graph, row + picked[n])
            found[i] = size


@inner
def with_weight(sums, count, picked):
    """Pick all candidates whose bias is above zero; returns their number."""
    size, before = 0, int64(0)
    for j in range(count):
        if sums[j] > before:
            picked[size] = j
            size += 1
        before = sums[j]
    return size


@njit(nogil=True)
def select_by_table(entries, graph, seed, frontier):
    """Select with replacement, uniformly or by alias table: frontier entries in groups, with
    memory lines prefetched.
    """
    graph = borrowed(graph)
    instance, slot, vertex, found = frontier.instance, frontier.slot, frontier.vertex, frontier.found
    start, capacity, out, edge = frontier.start, frontier.capacity, frontier.out, frontier.edge
    rows, counts = empty(AHEAD, np.int64), empty(AHEAD, np.int64)
    for group in range(0, entries.size, AHEAD):
        size = min(AHEAD, entries.size - group)
        for j in range(size):
            prefetch(graph.indptr, uint64(vertex[entries[group + j]]))
        for j in range(size):
            i = entries[group + j]
            rows[j], counts[j] = row_of(graph, vertex[i]), degree(graph, vertex[i])
            for n in range(capacity[i]):
                word = pick_word(seed, uint64(instance[i]), uint64(slot[i]), uint64(n))
                prefetch_edge(graph, uint64(rows[j]) + below(word, uint64(counts[j])))
        for j in range(size):
            i = entries[group + j]
            size_here = 0
            for n in range(capacity[i] if counts[j] > 0 else 0):
                word = pick_word(seed, uint64(instance[i]), uint64(slot[i]), uint64(n))
                count = uint64(counts[j])
                dst = drawn_neighbor(graph, uint64(rows[j]) + below(word, count), count, word)
                if dst < 0:
                    break
                out[start[i] + size_here] = dst
                if PLACED:
                    edge[start[i] + size_here] = graph.indptr[vertex[i]] + int64(below(word, count))
                size_here += 1
            found[i] = size_here


# Selection of the vertices that expand at a depth from pools of vertices that wait (C-SAW, figure 2).
#
# An entry of a pool is (instance, slot, source, previous vertex, vertex). Without replacement, entries arrive at
# exponential times of rate `vertex_bias`, and the earliest ones expand: successive selection. With replacement, picks
# search in running sums of integers.


@inner
def waiting_bias(params, graph, seed, depth, instance, source, prev, v, bad):
    """The bias of an entry; -1 where it is none, with the vertex in ``bad``."""
    bias = float(vertex_bias(params, graph, seed, instance, depth, source, prev, v, -1, 1.0))
    if is_bias(bias):
        return bias
    bad[0], bad[1], bad[2] = 1, v, -1
    return -1.0


@njit(nogil=True)
def race_pool(entries, graph, params, seed, depth, instance, slot, source, prev, vertex, times, bad):
    """times[e] for ``entries`` e: when each arrives at this depth; -1: never."""
    graph = borrowed(graph)
    for e in entries:
        bias = waiting_bias(params, graph, seed, depth, instance[e], source[e], prev[e], vertex[e], bad)
        if bias < 0.0:
            return
        word = draw64(seed, uint64(instance[e]), uint64(slot[e]), FRONTIER_DRAWS + uint64(depth))
        times[e] = neg_log(word) / bias if bias > 0.0 else -1.0


@njit(nogil=True)
def draw_pool(pools, graph, params, seed, depth, begins, instance, source, prev, vertex, biases, sums, picks, bad):
    """picks[i] [size] for ``pools`` i: entries of begins[i] .. begins[i + 1] - 1, each drawn by its bias; -1 where none
    can be.

    ``biases``, ``sums``: room for a number of each entry.
    """
    graph = borrowed(graph)
    for i in pools:
        low, count, largest = begins[i], begins[i + 1] - begins[i], 0.0
        for e in range(low, low + count):
            biases[e] = waiting_bias(params, graph, seed, depth, instance[e], source[e], prev[e], vertex[e], bad)
            if biases[e] < 0.0:
                return
            largest = max(largest, biases[e])
        total = accumulate(biases[low : low + count], count, largest, sums[low : low + count])
        for j in range(picks.shape[1]):
            picks[i, j] = -1
            if total > 0:
                word = frontier_word(seed, uint64(instance[low]), uint64(depth), uint64(j))
                target = int64(below_wide(word, uint64(total)))
                picks[i, j] = low + search(sums[low : low + count], count, target)


# Uniform picks from a pool of several vertices.


@njit(nogil=True)
def draw_numbers(rows, seed, instance, slot, bound, out):
    """Fill out[i] for i in ``rows`` with independent random numbers below bound[i]."""
    for i in rows:
        for turn in range(out.shape[1]):
            word = pool_word(seed, uint64(instance[i]), uint64(slot[i]), uint64(turn))
            out[i, turn] = int64(below_wide(word, uint64(bound[i])))


@njit(nogil=True)
def look_up(entries, graph, frontier, offset):
    """Write the targets of the edges at ``offset`` in the entries' rows to ``out``, if they may be selected at all."""
    graph = borrowed(graph)
    vertex, start, capacity, out = frontier.vertex, frontier.start, frontier.capacity, frontier.out
    seen_from, seen_to, seen = frontier.seen_from, frontier.seen_to, frontier.seen
    for i in entries:
        v = vertex[i]
        row = row_of(graph, v)
        for cell in range(start[i], start[i] + capacity[i]):
            dst = neighbor_at(graph, row + offset[cell])
            if not POOLED or in_pool(v, dst, seen, seen_from[i], seen_to[i]):
                out[cell] = dst
