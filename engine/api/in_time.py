"""Options of traversals whose vertices select among the edges before a time: neighbors in time, as mixins."""

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.option import flag_of, option
from csaw.partition.errors import OptionError

STRATEGIES = ("uniform", "last")
ROOT, PREVIOUS = "root", "previous"
BESIDE = ("start_time", "time_order", "time_against", "time_window")
"""The options that say nothing without a strategy."""


class InTime(Algorithm):
    """Mixin of traversals that may select in time: ``class Mine(InTime, Traversal)``.

    A vertex then selects among its edges whose time is at most that of its source, or less where ``time_order`` is
    strict, and not longer before it than ``time_window``: any of them, or the last by time.
    """

    time_strategy: str | None = option(
        None,
        kind=str,
        help="select among the edges that are not later than the source's time: uniform, any of them, or last, the "
        "latest; of edges at one time, those to larger dense ids count as later",
        choices=STRATEGIES,
        none="times do not count",
        is_later=True,
    )
    start_time: int | None = option(
        None,
        kind=int,
        reads="time",
        help="time of all sources, a number or a date as in the graph's input, after which no edge is selected; a file "
        "of sources then has ids alone",
        none="each line of --sources ends with a time",
        is_later=True,
    )
    time_order: str = option(
        "monotone",
        help="whether an edge may have the very time that it is compared with, monotone, or must be earlier, strict",
        choices=("monotone", "strict"),
        is_later=True,
    )
    time_window: int | None = option(
        None,
        kind=int,
        reads="length",
        help="longest time from an edge to the time that it is compared with, a number or, of dates, such as 7d",
        low=0,
        none="no limit",
        is_later=True,
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        if self.time_strategy is None:
            self._refuse_alone()
            return
        if getattr(self, "replace", False):
            self._refuse_replace()
        if getattr(self, "unique", False):
            raise OptionError("--time-strategy: expected no --unique beside it; run without one of them")

    def _refuse_replace(self) -> None:
        """OptionError where edges that are sure are to be drawn with replacement."""
        if self.time_strategy == "last":
            raise OptionError("--time-strategy last: expected no --replace beside it, because the last edges are sure")
        if min(getattr(self, "fanout", ()), default=0) < 0:
            raise OptionError(
                "--replace: expected fanouts of at least 0 beside --time-strategy, found -1, which takes each edge once"
            )

    def _refuse_alone(self) -> None:
        """OptionError for an option about times where no time counts."""
        for name, declared in self.options().items():
            if name in BESIDE and getattr(self, name) != declared.default:
                raise OptionError(f"{flag_of(name)}: expected --time-strategy {' or '.join(STRATEGIES)} beside it")

    @property
    def against_previous(self) -> bool:
        """Whether an edge is compared with the edge before it, rather than with the time of the source."""
        return getattr(self, "time_against", ROOT) == PREVIOUS


def against_option() -> str:
    """Declare the option of traversals whose entries came along one edge each."""
    said = (
        "time with which edges are compared: that of their source, root, or that of the edge before, previous, so that "
        "times fall along every path"
    )
    return option(ROOT, help=said, choices=(ROOT, PREVIOUS), is_later=True)
