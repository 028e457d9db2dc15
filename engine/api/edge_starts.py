"""Where walks in time start: at vertices, or at edges of the whole graph, which their times may bias."""

from csaw.engine.api.option import option
from csaw.engine.api.temporal_walk import TemporalWalk
from csaw.partition.errors import OptionError

BIASES = ("uniform", "linear", "exponential", "exponential-rank")
"""Biases by time, of steps and of start edges; kernels know them by their places here."""
MOST_RANKS = 2.0**32  # in which a bias changes by e: ranks that a word draws stay far below 2^53


def check_bias(flags: tuple[str, str, str], bias: str, per: str, scale: float) -> None:
    """OptionError where what biases count by, or their scale, says nothing beside a bias.

    ``flags``: the options of all three.
    """
    by_bias, by_per, by_scale = flags
    if per == "time" and bias == "exponential":
        raise OptionError(
            f"{by_per} time: expected {by_bias} uniform, linear or exponential-rank, found exponential, which weighs "
            "each edge by its time"
        )
    if scale != 1 and not bias.startswith("exponential"):
        raise OptionError(f"{by_scale}: expected {by_bias} exponential or exponential-rank beside it, found {bias}")
    if bias == "exponential-rank" and scale > MOST_RANKS:
        raise OptionError(f"{by_scale}: expected at most {MOST_RANKS:.0f} ranks, found {scale:g}")


class EdgeStarts(TemporalWalk):
    """Mixin of walks in time that start at vertices, or at edges."""

    start: str = option(
        "vertex",
        help="start at vertices, from which the first edge is drawn as any other, or at edges of the whole graph",
        choices=("vertex", "edge"),
    )
    start_bias: str = option(
        "uniform",
        help="bias of an edge among all that a walk may start at: none, linear in its rank by time, or exponential in "
        "its time or in that rank",
        choices=BIASES,
        is_later=True,
    )
    start_prefer: str = option(
        "late",
        help="whether biases of start edges prefer late edges, or early ones",
        choices=("late", "early"),
        is_later=True,
    )
    start_per: str = option(
        "edge",
        help="whether start edges are drawn by edges, or by different times, of whose edges one is then drawn",
        choices=("edge", "time"),
        is_later=True,
    )
    start_scale: float = option(
        1.0,
        reads="scale",
        reads_beside=("start_bias", "exponential"),
        help="time in which an exponential bias of start edges changes by e, in the units of the graph or, of dates, "
        "such as 12h; of one in ranks, how many",
        low=0,
        open_low=True,
        is_later=True,
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        if self.start == "edge" and (self.start_time is not None or getattr(self, "last_time", None) is not None):
            raise OptionError(
                f"--start edge: expected no {'--last-time' if self.start_time is None else '--start-time'}, because "
                "any edge of the graph may be the first; pass --start vertex"
            )
        for name in ("start_bias", "start_prefer", "start_per", "start_scale"):
            if self.start != "edge" and getattr(self, name) != self.options()[name].default:
                raise OptionError(f"--{name.replace('_', '-')}: expected --start edge beside it, found {self.start}")
        check_bias(("--start-bias", "--start-per", "--start-scale"), self.start_bias, self.start_per, self.start_scale)
        if self.start_bias == "uniform" and self.start_prefer == "early":
            raise OptionError("--start-prefer early: expected another --start-bias beside it, found uniform")

    @property
    def sources_from(self) -> str:  # type: ignore[override]
        """Edges, or all vertices."""
        return "edges" if self.start == "edge" else "all"

    @property
    def starts_by_time(self) -> bool:
        """Whether walks start at edges that are not all as likely, because of their times."""
        return self.start == "edge" and (self.start_bias, self.start_per) != ("uniform", "edge")
