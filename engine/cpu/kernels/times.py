"""The times that a walk knows: that of an edge, and those of its steps, which its sample has."""

from numba import int64, uint64

from csaw.engine.cpu.kernels.access import with_times
from csaw.engine.cpu.kernels.constants import TIME_COLUMN, TIMED
from csaw.partition.base.compile import inner

NO_TIME = -9223372036854775808  # after the end of a walk


@inner(forceinline=True)
def time_at(graph, position):
    """The time of the edge at a position."""
    return int64(graph.edge_columns[TIME_COLUMN][position])


@inner
def after_edge(graph, dst, position, step, w, walkers):
    """The graph as hooks read it after a step that took the edge at ``position``, if any (``dst`` -1: none), whose time
    is noted.
    """
    now = time_at(graph, position) if dst >= 0 else int64(graph.previous)
    walkers.times[w, step - 1] = now
    return with_times(graph, now, now if step == 1 else int64(graph.began))


@inner
def keep_times(w, then, step, length, now, began, walkers):
    """Store the times of a walker that waits, or end the row of times of one whose walk is over; nothing where walks
    know no times.
    """
    if not TIMED:
        return
    walkers.clock[w, 0], walkers.clock[w, 1] = now, began
    if then < 0:
        for rest in range(uint64(step), uint64(length)):
            walkers.times[w, rest] = NO_TIME
