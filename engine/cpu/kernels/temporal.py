"""Steps of walks in time: the edges that may follow are a range of the row's order by time.

Where the graph has its edges in that order, each notes the range that may follow it; otherwise two searches find it.
The twin of cuda/kernels/temporal.cu.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import at_edge, borrowed, degree, neighbor_at, prefetch_edge, row_of, with_times
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_BACK,
    L_BEGAN,
    L_COUNT,
    L_DRAW,
    L_ENVELOPE,
    L_FAR,
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NEAR,
    L_NEXT,
    L_NOW,
    L_OTHER,
    L_PLACE,
    L_POSITION,
    L_ROW,
    L_STEP,
    L_TAKEN,
    L_WALKER,
    L_WORD,
    LARGEST,
    NO_FOLLOWER,
    NO_TIME,
    envelope_after,
    event_neighbor,
    event_time,
    far_end,
    find_candidates,
    keep_times,
    near_end,
    note_ranges,
    place_at,
    request_event,
    take_known,
    time_after,
    time_at,
)
from csaw.engine.cpu.kernels.constants import (
    ALONG,
    BACKWARD,
    EVENT_WORDS,
    EVENTS,
    FROM_TIMES,
    HAS_LAST,
    HAS_START,
    HAS_UPDATE,
    HAS_WINDOW,
    PER_TIME,
    TIME_BIAS,
    TIMED,
)
from csaw.engine.cpu.kernels.envelopes import (
    LEVELS,
    find_envelopes,
    judge_trials,
    place_drawn,
    place_trials,
    request_envelopes,
)
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.walk import after, borrowed_out, goes_on, put, put_source, save, with_path
from csaw.engine.draws.random import SHIFT, below_wide, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full

# Edges in the order by time of their rows, of a graph that is all in memory, and where the edges begin that may follow
# each of them: a uniform step of a walk in time reads one line of them, as one of other walks does. See access.py for
# their form.


@njit(nogil=True)
def sort_events(graph, first, last):
    """Copy the edges of the rows ``first`` .. ``last`` - 1 in their order, of a graph that is all in memory."""
    graph = borrowed(graph)
    for v in range(first, last):
        row, count = row_of(graph, v), degree(graph, v)
        for k in range(count):
            position = place_at(graph, row, count, k)
            graph.events[uint64(EVENT_WORDS) * uint64(row + k)] = neighbor_at(graph, position)
            graph.event_times[uint64(EVENT_WORDS // 2) * uint64(row + k) + uint64(1)] = time_at(graph, position)


@njit(nogil=True)
def find_followers(graph, first, last, rules, scale):
    """Note which edges may follow the events ``first`` .. ``last`` - 1 of a graph that is all in memory.

    They are a range in the order by time of an edge's end: see near_end and far_end. ``rules`` and ``scale``: the
    numbers of a run in time.
    """
    if not TIMED:
        return  # neighbors in time follow the time of a seed, or of an edge whose place is not kept
    graph, state = borrowed(graph), full(FIELDS, -1, np.int64)
    for begin in range(first, last, BESIDE):
        lanes = min(BESIDE, last - begin)
        for j in range(lanes):
            state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j] = j, event_neighbor(graph, begin + j), 1
            state[L_NOW + j] = event_time(graph, begin + j)
        note_ranges(lanes, state, graph, rules)
        for j in range(lanes):
            near = state[L_NEAR + j] if BACKWARD or state[L_LOW + j] < state[L_HIGH + j] else NO_FOLLOWER
            graph.events[uint64(EVENT_WORDS) * uint64(begin + j) + uint64(1)] = np.uint32(near)
            if HAS_WINDOW or HAS_LAST:
                graph.far_ends[begin + j] = np.uint32(state[L_FAR + j])
        if TIME_BIAS == 2:
            find_envelopes(lanes, state, graph, scale)
            for j in range(lanes):
                spot = uint64(EVENT_WORDS // 2) * uint64(begin + j)
                graph.event_times[spot + uint64(2)] = state[L_ENVELOPE + j]
                graph.event_times[spot + uint64(3)] = state[L_NEXT + j]


# Steps along edges in the order by time of a graph that is all in memory, where no hook says where a step leads: the
# edge that a lane takes knows what may follow it, and whether nothing may.
#
# Walks end after a few steps, so their ends count. A row of the sample is filled when its walk begins: of the same
# length each time, which processors foresee, and in the cache when its steps are put. A walk ends with the edge that
# nothing may follow, not with a step that finds none.


@inner(forceinline=True)
def begin_on_events(j, w, state, graph, length, walkers, out):
    """Let a lane begin walk w, whose row and times are filled with what stands for no step."""
    source = walkers.source[w]
    state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j] = w, source, 0
    state[L_DRAW + j] = state[L_ENVELOPE + j] = 0
    prefetch(graph.indptr, uint64(source))
    for step in range(uint64(length + 1)):
        out[uint64(w), step] = out.dtype.type(-1)
    out[uint64(w), 0] = source
    for step in range(uint64(length)):
        walkers.times[uint64(w), step] = NO_TIME


@inner(forceinline=True)
def take_event(j, state, graph, length, walkers, out):
    """Take a lane along the edge that it has drawn; returns whether its walk goes on."""
    w, t, position = state[L_WALKER + j], state[L_STEP + j], state[L_POSITION + j]
    if position >= 0:
        then, near = event_neighbor(graph, position), near_end(graph, position)
        t += 1
        put(out, w, t, then)
        walkers.times[uint64(w), uint64(t - 1)] = event_time(graph, position)
        if t < length and near != int64(0 if BACKWARD else NO_FOLLOWER):
            prefetch(graph.indptr, uint64(then))
            state[L_HERE + j], state[L_STEP + j] = then, t
            state[L_NEAR + j], state[L_FAR + j] = near, far_end(graph, position)
            if TIME_BIAS == 2:
                state[L_DRAW + j], state[L_ENVELOPE + j] = 0, envelope_after(graph, position)
                state[L_NEXT + j] = time_after(graph, position)
            return True
    walkers.step[w], walkers.alive[w] = t, 0
    return False


# Steps of walks in time.

GROUPS, TOGETHER = 4, 16  # groups of lanes that take turns, and lanes of each


@inner(forceinline=True)
def draw_step_words(lanes, state, seed, first):
    """Draw the random words of a step of each lane.

    Nothing else is in the loop, so that it runs in vector registers.
    """
    for j in range(uint64(lanes)):
        instance, step = uint64(first + state[uint64(L_WALKER) + j]), uint64(state[uint64(L_STEP) + j])
        draw = uint64(state[uint64(L_DRAW) + j]) if TIME_BIAS == 2 and EVENTS else uint64(0)
        w0, w1, w2, w3 = philox(seed, instance, step, draw)
        state[uint64(L_WORD) + j] = int64((w0 << SHIFT) | w1)
        if PER_TIME or TIME_BIAS == 2:
            state[uint64(L_OTHER) + j] = int64((w2 << SHIFT) | w3)


@inner(forceinline=True)
def draw_steps(lanes, state, graph, seed, first, scale):
    """Set PLACE of each lane to that of the edge that its step draws; -1 where none may follow."""
    draw_step_words(lanes, state, seed, first)
    for j in range(lanes):
        low, high, step = state[L_LOW + j], state[L_HIGH + j], uint64(state[L_STEP + j])
        if TIME_BIAS == 0 and not PER_TIME:
            place = low + int64(below_wide(uint64(state[L_WORD + j]), uint64(high - low)))  # without a branch
            state[L_PLACE + j] = place if low < high else -1
        else:
            state[L_PLACE + j] = -1
            if low < high:
                instance = uint64(first + state[L_WALKER + j])
                state[L_PLACE + j] = place_drawn(graph, state, j, low, high, seed, instance, step, scale)


@inner(forceinline=True)
def request_places(lanes, state, graph):
    """Set POSITION of each lane to where its edge is read, -1 where there is none, and ask for its memory line."""
    for j in range(lanes):
        place, row = state[L_PLACE + j], state[L_ROW + j]
        if EVENTS:
            event = row + place
            state[L_POSITION + j] = event if place >= 0 else -1
            request_event(graph, event)
            if HAS_WINDOW or HAS_LAST:
                prefetch(graph.far_ends, uint64(event))
        else:
            state[L_POSITION + j] = place_at(graph, row, state[L_COUNT + j], place) if place >= 0 else -1
    for j in range(0 if EVENTS else lanes):
        if state[L_POSITION + j] >= 0:
            prefetch_edge(graph, uint64(state[L_POSITION + j]))


@inner(forceinline=True)
def request_steps(state, graph, seed, first, walkers, room):
    """Draw the next edge of each lane of a group, and ask for its memory line."""
    known = EVENTS and take_known(TOGETHER, state, graph)
    if not known and not ALONG:
        find_candidates(TOGETHER, state, graph, walkers.rules)
    if TIME_BIAS == 2 and EVENTS:
        request_envelopes(TOGETHER, state, graph)
        draw_step_words(TOGETHER, state, seed, first)
        place_trials(TOGETHER, state, graph, walkers.scale[0], room)
    else:
        draw_steps(TOGETHER, state, graph, seed, first, walkers.scale[0])
    request_places(TOGETHER, state, graph)


@inner
def find_first(todo, graph, walkers, near, far):
    """Find the range of edges that may be next of each walker of ``todo``, as NEAR and FAR of a lane.

    They are not read where walks may start with any edge of a row.
    """
    state = full(FIELDS, -1, np.int64)
    for begin in range(0, todo.size, BESIDE):
        lanes = min(BESIDE, todo.size - begin)
        for j in range(lanes):
            w = todo[begin + j]
            state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j] = w, walkers.at[w], walkers.step[w]
            state[L_NOW + j] = walkers.clock[w, 0]
        note_ranges(lanes, state, graph, walkers.rules)
        for j in range(lanes):
            near[begin + j], far[begin + j] = state[L_NEAR + j], state[L_FAR + j]


@inner(forceinline=True)
def take_walker(j, w, state, graph, length, walkers, out):
    """Let a lane go on with walker w."""
    if ALONG:
        begin_on_events(j, w, state, graph, length, walkers, out)
        return
    state[L_WALKER + j], state[L_HERE + j], state[L_BACK + j] = w, walkers.at[w], walkers.previous[w]
    state[L_STEP + j], state[L_NOW + j], state[L_BEGAN + j] = walkers.step[w], walkers.clock[w, 0], walkers.clock[w, 1]
    state[L_DRAW + j] = state[L_ENVELOPE + j] = 0
    put_source(out, w, walkers.source[w])
    prefetch(graph.indptr, uint64(state[L_HERE + j]))


@inner(forceinline=True)
def edge_of(graph, state, j):
    """The position of the edge that a lane has drawn, where hooks may read its columns; 0 where there is none."""
    if EVENTS and HAS_UPDATE and state[L_PLACE + j] >= 0:
        return place_at(graph, state[L_ROW + j], state[L_COUNT + j], state[L_PLACE + j])
    return int64(0) if EVENTS else max(state[L_POSITION + j], 0)


@inner(forceinline=True)
def make_step(j, state, graph, params, seed, first, length, walkers, out, bad):
    """Take a lane along the edge that it has drawn; returns whether its walk goes on.

    A lane that does not take the edge of its trial stays, for another one.
    """
    if TIME_BIAS == 2 and EVENTS and state[L_TAKEN + j] == 0:
        state[L_DRAW + j] += 1
        return True
    if ALONG:
        return take_event(j, state, graph, length, walkers, out)
    w, v, t, position = state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j], state[L_POSITION + j]
    now, began, back = state[L_NOW + j], state[L_BEGAN + j], state[L_BACK + j]
    seen = at_edge(with_times(with_path(graph, out, w), now, began), edge_of(graph, state, j))
    dst, near, far, envelope, following = int64(-1), int64(-1), int64(-1), int64(0), int64(0)
    if position >= 0:
        dst = event_neighbor(graph, position) if EVENTS else neighbor_at(graph, position)
        now = event_time(graph, position) if EVENTS else time_at(graph, position)
        near = near_end(graph, position) if EVENTS else int64(-1)
        far = far_end(graph, position) if EVENTS else int64(-1)
        envelope = envelope_after(graph, position) if TIME_BIAS == 2 and EVENTS else int64(0)
        following = time_after(graph, position) if TIME_BIAS == 2 and EVENTS else int64(0)
    then = after(params, seen, seed, first + w, t, walkers.source[w], back, v, dst, 1.0, bad)
    if then >= 0:
        t += 1
        put(out, w, t, then)
        prefetch(graph.indptr, uint64(then))
        walkers.times[w, t - 1], began = now, now if t == 1 else began
    if not goes_on(graph, v, then, t, length):
        save(w, v, then, t, length, walkers.at, walkers.previous, walkers.step, walkers.alive, out)
        keep_times(w, then, t, length, now, began, walkers)
        return False
    state[L_HERE + j], state[L_BACK + j], state[L_STEP + j] = then, v, t
    state[L_NOW + j], state[L_BEGAN + j] = now, began
    state[L_NEAR + j], state[L_FAR + j] = near if then == dst else -1, far
    if TIME_BIAS == 2 and EVENTS:
        state[L_DRAW + j], state[L_ENVELOPE + j], state[L_NEXT + j] = 0, envelope if then == dst else 0, following
    return True


@njit(nogil=True)
def walk_by_time(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks whose steps are drawn from the order of a row by time.

    Groups of lanes take turns, as in walk_by_edge: each makes the step whose memory lines were asked for some turns
    ago, and then the group before it, whose rows have come meanwhile, draws its next one.
    """
    graph, out, walkers = borrowed(graph), borrowed_out(out), borrow(walkers)
    states = full(GROUPS * FIELDS, -1, np.int64)
    room = empty(2 * LEVELS * TOGETHER, np.uint64)
    searched = todo.size if EVENTS and (HAS_START or HAS_LAST or FROM_TIMES) else 0
    near, far = empty(searched, np.int64), empty(searched, np.int64)
    if searched > 0:
        find_first(todo, graph, walkers, near, far)
    groups = min(GROUPS, -(-todo.size // TOGETHER))
    for group in range(groups):
        for j in range(TOGETHER):
            states[FIELDS * group + L_HERE + j] = 0  # rows are read of lanes without a walker, too,
            states[FIELDS * group + L_ENVELOPE + j] = 0  # and envelopes: -1 would be one of more levels than there are
    taken, ended, before = 0, 0, groups - 1
    while ended < todo.size:
        for group in range(groups):
            state = borrow(states[FIELDS * group : FIELDS * (group + 1)])
            if TIME_BIAS == 2 and EVENTS:
                judge_trials(TOGETHER, state, graph, walkers.scale[0])
            for j in range(TOGETHER):
                if state[L_WALKER + j] >= 0:
                    if make_step(j, state, graph, params, seed, first, length, walkers, out, bad):
                        continue
                    state[L_WALKER + j] = -1
                    ended += 1
                if taken < todo.size:
                    take_walker(j, todo[taken], state, graph, length, walkers, out)
                    if EVENTS and (HAS_START or HAS_LAST or FROM_TIMES):
                        state[L_NEAR + j], state[L_FAR + j] = near[taken], far[taken]
                    elif EVENTS:  # any edge of the row
                        state[L_NEAR + j], state[L_FAR + j] = (LARGEST, 0) if BACKWARD else (0, LARGEST)
                    else:
                        state[L_NEAR + j], state[L_FAR + j] = -1, -1
                    taken += 1
            state = borrow(states[FIELDS * before : FIELDS * (before + 1)])
            request_steps(state, graph, seed, first, walkers, borrow(room[:]))
            before = group
