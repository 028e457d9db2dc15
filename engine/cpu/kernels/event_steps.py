"""Steps along edges in the order by time of a graph that is all in memory, where no hook says where a step leads: the
edge that a lane takes knows what may follow it, and whether nothing may.

Walks end after a few steps, so their ends count. A row of the sample is filled when its walk begins: of the same length
each time, which processors foresee, and in the cache when its steps are put. A walk ends with the edge that nothing may
follow, not with a step that finds none.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.by_time import (
    L_DRAW,
    L_ENVELOPE,
    L_FAR,
    L_HERE,
    L_NEAR,
    L_NEXT,
    L_POSITION,
    L_STEP,
    L_WALKER,
    NO_FOLLOWER,
    envelope_after,
    event_neighbor,
    event_time,
    far_end,
    near_end,
    time_after,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, TIME_BIAS
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.times import NO_TIME
from csaw.engine.cpu.kernels.walk import put
from csaw.partition.base.compile import inner


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
