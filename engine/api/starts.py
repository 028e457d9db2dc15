"""Kinds of sources: the vertices where instances start."""

from enum import StrEnum
from typing import Self

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.bases import TemporalWalk
from csaw.engine.api.option import option
from csaw.partition.errors import OptionError


class SourceKind(StrEnum):
    """A kind of sources, under the name that algorithms declare as ``sources_from`` and requests keep."""

    said: str
    """The words of reports for it."""

    ALL = "all", "all vertices, in order"
    RANDOM = "random", "random vertices"
    CONNECTED = "connected", "random vertices that have neighbors"
    DISTINCT = "distinct", "random vertices, all different"
    EVERY = "every", "all vertices at once"
    CLUSTERS = "clusters", "random clusters, all different"
    EDGES = "edges", "where random edges begin"
    LINKS = "links", "random edges"
    LIST = "list", "a list of vertices"

    def __new__(cls, name: str, said: str) -> Self:
        made = str.__new__(cls, name)
        made._value_, made.said = name, said
        return made

    @property
    def in_turn(self) -> bool:
        """Whether instances take their sources from a list, one after the other, rather than by themselves."""
        return self in (SourceKind.ALL, SourceKind.LIST)

    @property
    def without_repeats(self) -> bool:
        """Whether the sources of an instance are a set that is drawn at once."""
        return self in (SourceKind.DISTINCT, SourceKind.CLUSTERS)


def sources_each(algorithm: Algorithm) -> int:
    """Number of sources of an instance: those that its pool begins with, or its whole frontier."""
    pool = algorithm.rule.waiting
    return int(pool.start if pool else getattr(algorithm, "frontier_size", 1))


# Where walks in time start: at vertices, or at edges of the whole graph, which their times may bias.

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
            f"{by_per} time: expected {by_bias} uniform, linear or exponential-rank, found exponential, which "
            "weights each edge by its time"
        )
    if scale != 1 and not bias.startswith("exponential"):
        raise OptionError(f"{by_scale}: expected {by_bias} exponential or exponential-rank with it, found {bias}")
    if bias == "exponential-rank" and scale > MOST_RANKS:
        raise OptionError(f"{by_scale}: expected at most {MOST_RANKS:.0f} ranks, found {scale:g}")


class EdgeStarts(TemporalWalk):
    """Mixin of walks in time that start at vertices, or at edges."""

    start: str = option(
        "vertex",
        help="start at vertices, whose first edge is drawn like any other, or at edges of the whole graph",
        choices=("vertex", "edge"),
    )
    start_bias: str = option(
        "uniform",
        help="bias of a start edge: uniform, linear in its rank by time, exponential in its time, or exponential "
        "in its rank",
        choices=BIASES,
        is_later=True,
    )
    start_prefer: str = option(
        "late",
        help="whether --start-bias prefers late or early edges",
        choices=("late", "early"),
        is_later=True,
    )
    start_per: str = option(
        "edge",
        help="draw a start edge directly (edge), or draw a time first and then one of its edges (time)",
        choices=("edge", "time"),
        is_later=True,
    )
    start_scale: float = option(
        1.0,
        reads="scale",
        reads_beside=("start_bias", "exponential"),
        help="time in which an exponential --start-bias changes by a factor of e, in the units of the graph, or "
        "for dates a length such as 12h; for exponential-rank, a number of ranks",
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
                raise OptionError(f"--{name.replace('_', '-')}: expected --start edge with it, found {self.start}")
        check_bias(("--start-bias", "--start-per", "--start-scale"), self.start_bias, self.start_per, self.start_scale)
        if self.start_bias == "uniform" and self.start_prefer == "early":
            raise OptionError("--start-prefer early: expected a --start-bias other than uniform")

    @property
    def sources_from(self) -> str:  # type: ignore[override]
        """Edges, or all vertices."""
        return "edges" if self.start == "edge" else "all"

    @property
    def starts_by_time(self) -> bool:
        """Whether walks start at edges that are not all as likely, because of their times."""
        return self.start == "edge" and (self.start_bias, self.start_per) != ("uniform", "edge")
