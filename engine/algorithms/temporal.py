"""Temporal walk: edges follow each other in time (CTDNE: Nguyen et al., Companion of WWW 2018)."""

from csaw.engine.algorithm import TemporalWalk, option
from csaw.partition.errors import OptionError


class Temporal(TemporalWalk):
    """The walk takes edges in the order of their times, the next one by how soon it comes."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "edge_bias" in vars(cls):
            raise OptionError("temporal: its bias is --time-bias; derive a class with an edge_bias from TemporalWalk")

    paper = "Nguyen et al., Companion of WWW 2018"
    by_time = True
    direction: str = option("forward", help="whether walks go forward or back in time", choices=("forward", "backward"))
    time_order: str = option(
        "strict",
        help="whether the next edge must have another time, or may have the same: monotone",
        choices=("strict", "monotone"),
    )
    start: str = option(
        "vertex",
        help="start at vertices, from which the first edge is drawn as any other, or at edges of the whole graph, "
        "equally likely",
        choices=("vertex", "edge"),
    )
    time_bias: str = option(
        "uniform",
        help="bias of an edge among those that may follow: none, linear in its rank by time, or exponential in the "
        "time until then",
        choices=("uniform", "linear", "exponential"),
    )
    prefer: str = option(
        "near", help="whether linear and exponential biases prefer edges near in time, or far", choices=("near", "far")
    )
    per: str = option(
        "edge",
        help="whether uniform and linear biases count edges, or different times, of whose edges one is then drawn",
        choices=("edge", "time"),
    )
    time_scale: float = option(
        1.0, help="time, in the units of the graph, in which an exponential bias changes by e", low=0, open_low=True
    )
    time_window: int | None = option(
        None, kind=int, help="longest time between two edges that follow each other", low=0, none="no limit"
    )
    last_time: int | None = option(
        None, kind=int, help="time after which no edge is taken; backward, before which", none="no limit"
    )

    def __init__(self, **values):
        super().__init__(**values)
        if self.per == "time" and self.time_bias == "exponential":
            raise OptionError(
                "--per time: expected --time-bias uniform or linear, found exponential, which weighs each edge by its "
                "time"
            )
        if self.start == "edge" and (self.start_time is not None or self.last_time is not None):
            raise OptionError(
                f"--start edge: expected no {'--last-time' if self.start_time is None else '--start-time'}, because "
                "each edge of the graph is as likely to be the first; pass --start vertex"
            )
        if self.time_bias == "uniform" and self.prefer == "far":
            raise OptionError("--prefer far: expected --time-bias linear or exponential beside it, found uniform")
        if self.time_bias != "exponential" and self.time_scale != 1:
            raise OptionError(f"--time-scale: expected --time-bias exponential beside it, found {self.time_bias}")

    @property
    def backward(self):
        return self.direction == "backward"

    @property
    def bounded_in_time(self):
        return self.time_window is not None or self.last_time is not None

    @property
    def sources_from(self):
        return "edges" if self.start == "edge" else "all"

    def edge_bias(self, e):
        return 1.0
