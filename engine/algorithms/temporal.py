"""Temporal walk: edges follow each other in time (CTDNE: Nguyen et al., Companion of WWW 2018)."""

from csaw.engine.algorithm import option
from csaw.engine.api.starts import BIASES, EdgeStarts, check_bias
from csaw.partition.errors import OptionError


class Temporal(EdgeStarts):
    """The walk follows edges in the order of their times; it chooses the next uniformly, or by how soon it comes."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "edge_bias" in vars(cls):
            raise OptionError(
                "temporal has no edge bias except --time-bias; for another one, derive a class from TemporalWalk"
            )

    paper = "Nguyen et al., Companion of WWW 2018"
    by_time = True
    direction: str = option(
        "forward", help="whether walks go forward or backward in time", choices=("forward", "backward")
    )
    time_order: str = option(
        "strict",
        help="whether the next edge must have a different time (strict) or may have the same time (monotone)",
        choices=("strict", "monotone"),
    )
    time_bias: str = option(
        "uniform",
        help="bias of an edge among those that may follow: uniform, linear in its rank by time, exponential in "
        "the time until it, or exponential in its rank",
        choices=BIASES,
    )
    prefer: str = option(
        "near",
        help="whether a --time-bias other than uniform prefers edges that are near or far in time",
        choices=("near", "far"),
    )
    per: str = option(
        "edge",
        help="draw the next edge directly (edge), or draw a time first and then one of its edges (time)",
        choices=("edge", "time"),
    )
    time_scale: float = option(
        1.0,
        reads="scale",
        reads_beside=("time_bias", "exponential"),
        help="time in which an exponential --time-bias changes by a factor of e, in the units of the graph, or "
        "for dates a length such as 12h; for exponential-rank, a number of ranks",
        low=0,
        open_low=True,
    )
    time_window: int | None = option(
        None,
        kind=int,
        reads="length",
        help="longest time between two consecutive edges: a number, or for dates a length such as 7d",
        low=0,
        none="no limit",
    )
    last_time: int | None = option(
        None,
        kind=int,
        reads="time",
        help="time after which no edge is followed (backward: before which), in the format of --start-time",
        none="no limit",
    )

    def __init__(self, **values):
        super().__init__(**values)
        check_bias(("--time-bias", "--per", "--time-scale"), self.time_bias, self.per, self.time_scale)
        if self.time_bias == "uniform" and self.prefer == "far":
            raise OptionError("--prefer far: expected a --time-bias other than uniform")

    @property
    def backward(self):
        return self.direction == "backward"

    @property
    def bounded_in_time(self):
        return self.time_window is not None or self.last_time is not None

    @property
    def exponential_in_time(self):
        return self.time_bias == "exponential"

    def edge_bias(self, e):
        return 1.0
