"""The base of walks in time: a walk knows the time of the edge that it came along, and its sample has all of them."""

from typing import ClassVar

from csaw.engine.api.algorithm import LENGTH_HELP, MOST_STEPS, Walk
from csaw.engine.api.option import option


class TemporalWalk(Walk):
    """Base of walks along edges that have times, the edge column ``time`` of the graph.

        class Recent(TemporalWalk):
            def edge_bias(self, e):
                if e.depth == 0:
                    return 1.0
                return 1.0 / (e.time - e.previous_time) if e.time > e.previous_time else 0.0

    Hooks also read ``e.previous_time``, the time of the edge before, which is ``start_time`` at the source, and
    ``e.start_time``, that of the walk's first edge (at the source, ``start_time``, too). Both are 64-bit integers; at
    the source without a ``start_time`` they are the least one, -2^63, or with ``backward`` the largest, from which no
    difference may be taken.
    """

    timed: ClassVar[bool] = True
    backward: ClassVar[bool] = False
    """Whether walks go back in time, so that a walk without a ``start_time`` begins after all edges."""
    bounded_in_time: ClassVar[bool] = False
    """Whether there is a longest time between edges that follow each other, or a time after which none is taken."""
    exponential_in_time: ClassVar[bool] = False
    """Whether steps have an exponential bias of times, of which each edge then keeps an envelope."""
    walk_length: int = option(80, help=LENGTH_HELP.partition(";")[0], low=0, high=MOST_STEPS)  # type: ignore[assignment]
    start_time: int | None = option(
        None,
        kind=int,
        reads="time",
        help="time at which walks start, a number or a date as in the graph's input: their first edges are those that "
        "may follow an edge of that time",
        none="any edge may be the first",
    )
