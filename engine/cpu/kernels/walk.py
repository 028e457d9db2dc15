"""Walk kernels: 64 walkers of a thread advance in turn, and each memory line is prefetched before its walker needs it.

Between calls the state of the ``walkers`` lives in the batch's arrays: see state.py. A kernel takes the walkers of
``todo`` on until they are done or need a row that is not in memory. Row w of ``out`` is the walk of instance first + w.
Where walks have no limit, ``length`` is the last step of the present round, and ``out`` is a tuple: an array of
vertices, and for each walker the place in it of step 0, from which its steps of this round follow; see
engine/batches/walks.py.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    at_edge,
    borrowed,
    degree,
    for_hooks,
    is_loaded,
    neighbor_at,
    prefetch_edge,
    row_of,
    stored_weight,
    vertex_count,
    with_times,
    with_word,
)
from csaw.engine.cpu.kernels.by_time import after_edge, keep_times
from csaw.engine.cpu.kernels.constants import (
    ASKS_LATER,
    CHECKED,
    DRAWS_AHEAD,
    EDGE_COLUMNS,
    HAS_DEAD_END,
    HAS_UPDATE,
    LOGGED,
    MEMBERSHIP,
    NEIGHBOR_WEIGHTS,
    READS_PATH,
    TABLE,
    TABLES,
    TIMED,
    UNLIMITED,
    dead_end,
    update,
)
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.weigh import accumulate, inverse_transform, weigh
from csaw.engine.draws.addresses import HOOK_DRAWS
from csaw.engine.draws.random import SHIFT, below, draw64, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full, zeros

LANES = 64
GROUP = 16  # of these lanes take turns in walk_by_edge


@njit(inline="always")
def after(params, graph, seed, instance, step, source, prev, src, dst, weight, bad):
    """The next vertex of a walk: the selected dst, unless ``update`` replaces it; at a dead end dst is -1, and
    ``dead_end`` decides.

    If a user's own hook returns no vertex, the walk ends and ``bad`` names the place.
    """
    then = int64(dst)
    if HAS_DEAD_END and dst < 0:
        then = int64(dead_end(params, graph, seed, instance, step, source, prev, src, dst, weight))
    elif HAS_UPDATE and dst >= 0:
        then = int64(update(params, graph, seed, instance, step, source, prev, src, dst, weight))
    if CHECKED and then >= vertex_count(graph):
        bad[0], bad[1], bad[2] = 2, src, then
        then = int64(-1)
    return then


@njit(inline="always")
def goes_on(graph, here, then, step, length):
    """Whether a walker that stepped from ``here`` to ``then`` can take another step right now."""
    beside = not MEMBERSHIP or ASKS_LATER or is_loaded(graph, here)
    return then >= 0 and step < length and is_loaded(graph, then) and beside


@njit(inline="always")
def put(out, w, step, v):
    """Note that walker w arrives at v with a step: in its row of ``out``, or in the next entry of a log, whose first
    entry counts them.
    """
    if LOGGED:
        entry = uint64(out[0, 0]) + uint64(1)
        out[0, 0] = entry
        out[entry, 0], out[entry, 1], out[entry, 2] = w, step, v
    elif UNLIMITED:
        out[0][uint64(out[1][uint64(w)] + step)] = v
    else:
        out[uint64(w), uint64(step)] = v


@njit(inline="always")
def with_path(graph, out, w):
    """The graph as hooks read it for walker w: with its walk, where they read that."""
    if not READS_PATH:
        return graph
    if UNLIMITED:
        return for_hooks(graph, out[0][out[1][w] :], graph.known)
    return for_hooks(graph, out[w], graph.known)


@njit(inline="always")
def for_walker(graph, out, w, walkers):
    """The graph as hooks read it for walker w: with its walk and its times, where they read them."""
    graph = with_path(graph, out, w)
    return with_times(graph, walkers.clock[w, 0], walkers.clock[w, 1]) if TIMED else graph


@njit(inline="always")
def borrowed_out(out):
    """The output without reference counts: see memory.borrow."""
    if LOGGED or not UNLIMITED:
        return borrow(out)
    return borrow(out[0]), borrow(out[1])


@njit(inline="always")
def put_source(out, w, v):
    """Note where a walk begins, which a log does without, and a round, unless hooks read it."""
    if UNLIMITED and READS_PATH:
        out[0][out[1][w]] = v
    elif not LOGGED and not UNLIMITED:
        out[uint64(w), 0] = v


@inner
def save(w, here, then, taken, length, at, prev, step, alive, out):
    """Store the state of a walker after ``taken`` steps, when its walk is over or it waits for a partition."""
    step[w] = taken
    alive[w] = then >= 0 and taken < length
    if then >= 0:
        at[w], prev[w] = then, here
    elif not LOGGED and not UNLIMITED:
        for rest in range(uint64(taken + 1), uint64(length + 1)):  # unsigned: a negative index would count from the end
            out[uint64(w), rest] = out.dtype.type(-1)


@njit(inline="always")
def neighbor_by_alias(graph, spot, count, word):
    """Return the neighbor that the alias entry at ``spot`` of a row of ``count`` and the coin in ``word`` decide on.

    It is -1 if all biases are zero.
    """
    entry = uint64(3) * uint64(spot)
    coin = (word * uint64(count)) >> SHIFT
    dst = graph.table[entry] if coin < uint64(graph.table[entry + uint64(2)]) else graph.table[entry + uint64(1)]
    return int64(-1) if dst == graph.table.dtype.type(-1) else int64(dst)


@njit(inline="always")
def drawn_neighbor(graph, spot, count, word):
    """The neighbor that ``word``, which chose ``spot`` in a row of ``count`` edges, draws; -1 if there is none."""
    if count == uint64(0):
        return int64(-1)
    return neighbor_by_alias(graph, spot, count, word) if TABLE else neighbor_at(graph, spot)


@njit(inline="always")
def draw_words(group, seed, instance, steps, words):
    """Draw the random words of a group's next steps.

    Nothing else is in the loop, so that it runs in vector registers.
    """
    for j in range(uint64(group), uint64(group + GROUP)):
        w0, w1, _, _ = philox(seed, instance[j], steps[j], uint64(0))
        words[j] = (w0 << SHIFT) | w1


@njit(inline="always")
def draw_ahead(group, seed, instance, steps, drawn):
    """Draw the words that ``update`` reads in a group's next steps, in vector registers.

    One by one they take as long as the rest of a step.
    """
    for j in range(uint64(group), uint64(group + GROUP)):
        w0, w1, _, _ = philox(seed, instance[j], steps[j], HOOK_DRAWS)
        drawn[j] = (w0 << SHIFT) | w1


@njit(inline="always")
def request_edges(group, graph, here, steps, words, counts, spots):
    """Find the edges, or their entries in tables, that the words of a group choose, and ask for their memory lines."""
    for j in range(uint64(group), uint64(group + GROUP)):
        v = uint64(here[j])
        counts[j] = uint64(degree(graph, v))
        spots[j] = uint64(row_of(graph, v)) + below(words[j], counts[j])
        if TABLES > 1:
            spots[j] = uint64(TABLES) * spots[j] + uint64(graph.cases[steps[j]])
        prefetch_edge(graph, spots[j])


@njit(nogil=True)
def walk_by_edge(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks whose bias is uniform or in the alias table: one neighbor a draw.

    Groups of lanes take turns: each makes the step whose memory lines were asked for a turn ago, and draws words for
    its next one, while the rows that the group before it came to arrive. So requests are spread over time, and
    arithmetic runs beside them.
    """
    graph, out = borrowed(graph), borrowed_out(out)
    source, at, prev = borrow(walkers.source), borrow(walkers.at), borrow(walkers.previous)
    step, alive = borrow(walkers.step), borrow(walkers.alive)
    lanes = min(LANES, -(-todo.size // GROUP) * GROUP)
    lane, here, back = full(LANES, -1, np.int64), zeros(LANES, np.int64), empty(LANES, np.int64)
    instance, steps, words = zeros(LANES, np.uint64), zeros(LANES, np.uint64), empty(LANES, np.uint64)
    counts, spots, drawn = empty(LANES, np.uint64), empty(LANES, np.uint64), empty(LANES, np.uint64)
    taken, ended, before = 0, 0, lanes - GROUP
    while ended < todo.size:
        for group in range(0, lanes, GROUP):
            for j in range(uint64(group), uint64(group + GROUP)):
                w = lane[j]
                if w >= 0:
                    v, t = here[j], int64(steps[j])
                    dst = drawn_neighbor(graph, spots[j], counts[j], words[j])
                    known = with_path(graph, out, w)
                    known = with_word(known, drawn[j]) if DRAWS_AHEAD else known
                    then = after(params, known, seed, first + w, t, source[w], back[j], v, dst, 1.0, bad)
                    if then >= 0:
                        t += 1
                        put(out, w, t, then)
                        prefetch(graph.indptr, uint64(then))
                    if goes_on(graph, v, then, t, length):
                        here[j], back[j], steps[j] = then, v, uint64(t)
                        continue
                    save(w, v, then, t, length, at, prev, step, alive, out)
                    lane[j] = -1
                    ended += 1
                if taken < todo.size:
                    w = todo[taken]
                    lane[j], here[j], back[j], instance[j], steps[j] = w, at[w], prev[w], uint64(first + w), step[w]
                    put_source(out, w, source[w])
                    prefetch(graph.indptr, uint64(here[j]))
                    taken += 1
            draw_words(group, seed, instance, steps, words)
            if DRAWS_AHEAD:
                draw_ahead(group, seed, instance, steps, drawn)
            request_edges(before, graph, here, steps, words, counts, spots)
            before = group


@njit(nogil=True)
def walk_by_row(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks of any bias: inverse transform over the whole row at every step."""
    graph = borrowed(graph)
    source, at, prev = walkers.source, walkers.at, walkers.previous
    step, alive = walkers.step, walkers.alive
    size = 64
    biases, ctps, whole = empty(size, np.float64), empty(size, np.int64), empty(0, np.int64)
    for w in todo:
        v, back, t = at[w], prev[w], step[w]
        put_source(out, w, source[w])
        graph = for_walker(graph, out, w, walkers)
        going = True
        while going:
            row = row_of(graph, v)
            count = degree(graph, v)
            if count > size:
                size = 2 * count
                biases, ctps = empty(size, np.float64), empty(size, np.int64)
            largest = weigh(params, graph, seed, first + w, t, source[w], back, v, row, whole, count, biases, bad)
            if largest < 0.0:
                return
            position, dst, weight = row, int64(-1), 1.0
            if accumulate(biases, count, largest, ctps) > 0:
                word = draw64(seed, uint64(first + w), uint64(t), uint64(0))
                position = row + inverse_transform(ctps, count, word)
                dst = neighbor_at(graph, position)
                weight = stored_weight(graph, position) if NEIGHBOR_WEIGHTS else 1.0
            seen = at_edge(graph, position) if EDGE_COLUMNS else graph
            then = after(params, seen, seed, first + w, t, source[w], back, v, dst, weight, bad)
            if then >= 0:
                t += 1
                put(out, w, t, then)
                graph = after_edge(graph, dst, position, t, w, walkers) if TIMED else graph
            going = goes_on(graph, v, then, t, length)
            if going:
                v, back = then, v
            else:
                save(w, v, then, t, length, at, prev, step, alive, out)
                keep_times(w, then, t, length, graph.previous, graph.began, walkers)


@njit(nogil=True)
def gather_round(low, high, first, walkers, before, steps, places, vertices, out):
    """Copy the steps that the walkers[low:high] of a round took to their walks.

    That of walker w begins at out[places[w - first]].

    ``vertices``: a row for each walker of the round. ``before``: steps before the round.
    """
    for i in range(low, high):
        w = walkers[i]
        place = places[w - first] + before + 1
        for k in range(min(steps[w] - before, vertices.shape[1])):
            out[place + k] = vertices[i, k]
