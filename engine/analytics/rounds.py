"""The rounds of a measure of the user's own, and what they have found: the same on every device.

Where values are the best of all that has come (``keeps_best`` of the measure), those that changed are pushed along
rows, or pulled where rows can be left early. Any other measure pulls: each vertex reads the row of those that values
come from. Where nothing but values decides, only vertices next to a changed one are pulled to.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from csaw.engine.analytics.own_hooks import Hooked
from csaw.engine.api.hook_errors import placed
from csaw.engine.plan.contracts import Array
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.analytics.network import Network

AnyNetwork = TypeVar("AnyNetwork", bound="Network")
CHUNK = 1 << 14  # vertices whose numbers are added in one order, so that a sum has the same bits by any threads
MARK_SHARE = 4  # marking ends of changed rows reads rows: with more than this share of all entries, all are pulled


class Asked(NamedTuple):
    """A measure of the user's own, the numbers of its ``params[k]``, and the store that ids of vertices are of."""

    measure: Hooked
    params: tuple[float, ...]
    store: GraphStore


@dataclass(frozen=True)
class Rounds:
    """Values of all vertices, int64 or float64 [V], after so many ``rounds``."""

    values: Array
    rounds: int

    @property
    def method(self) -> str:
        return f"{self.rounds} round{'s' * (self.rounds != 1)}"


def is_real(kind: np.dtype) -> bool:
    """Whether numbers of a type are floats."""
    return kind.kind == "f"


def last_round(measure: Hooked) -> int:
    """The number of the last round that may be begun."""
    return measure.limit if measure.rounds is None else measure.rounds


def refuse_endless(measure: Hooked, number: int, changed: int) -> None:
    """OptionError about values that still change after ``number`` rounds, where that many are not wanted."""
    if changed and measure.rounds is None and number >= measure.limit:
        raise OptionError(
            f"{measure.name()}: after {number:,} rounds, the values of {changed:,} vertices still change; if it ends "
            "later, raise limit in the class; if it never ends, set rounds to a number of rounds, or tolerance to the "
            "change at which to stop"
        )


def refuse_fault(asked: Asked, hook: str, vertex: int, number: int) -> None:
    """OptionError about a hook that gave NaN at a vertex, if there is one."""
    if vertex < 0:
        return
    measure, known = asked.measure, asked.store.original_ids(np.array([vertex]))[0]
    said = f"{measure.name()}.{hook}: expected a number, found NaN (not a number) at vertex {known}"
    error = OptionError(f"{said}{f' in round {number}' * (number > 0)}; such as 0 / 0 or inf - inf gives")
    raise placed(error, getattr(type(measure), hook)) if measure.has(hook) else error


def added(parts: Iterable[float], real: bool) -> float:
    """The sum of the chunks, exact before it is rounded, so that their order makes no difference.

    One of integers wraps around at 64 bits, as those of the chunks do.
    """
    parts = list(parts)
    if not real:
        return (sum(parts) + (1 << 63)) % (1 << 64) - (1 << 63)
    return math.fsum(parts) if all(map(math.isfinite, parts)) else sum(parts)


class Settled(NamedTuple):
    """The vertices that changed in a round: how many, the entries of their rows, and the ends of their values."""

    changed: int
    entries: int
    least: float = 0
    most: float = 0


class BestRounds(ABC, Generic[AnyNetwork]):
    """Rounds of a measure whose values are the best of all that has come.

    ``few``: entries of rows that are pushed along in less time than to look at every vertex takes. ``pull_share``:
    Beamer's alpha, as of a search: the share of all entries from which on those that changed are pulled. ``values``:
    int64 or float64 [V].
    """

    network: AnyNetwork
    measure: Hooked
    values: Array
    few: int
    pull_share: int

    def run(self) -> Rounds:
        """Go on until no value changes, or to the last round that is wanted."""
        last, number, now = last_round(self.measure), 0, self.settle()
        while now.changed and number < last:
            if self.network.resident and now.entries < self.few:
                number, now = self.push_few(number, last)
            else:
                number, bound = number + 1, self._bound(now)
                self.push(number) if bound is None else self.pull(number, bound)
                now = self.settle()
            refuse_endless(self.measure, number, now.changed)
        return Rounds(self.values, number)

    @property
    def has_backward(self) -> bool:
        """Whether the rows of the other direction are in memory, so that rounds can be pulled."""
        return self.network.resident and (not self.network.directed or self.network.has_incoming)

    def _bound(self, now: Settled) -> float | None:
        """A value such that nothing better can go along an edge next, where one is known and it pays to pull.

        Where values are passed along as they are, it is the best of them; where all are the same and nothing else
        decides, it is what all edges carry, as in a search.
        """
        if not self.has_backward or now.entries <= self.network.edges // self.pull_share:
            return None
        if not self.measure.has("edge") and self.measure.combine != "or":
            return now.least if self.measure.combine == "min" else now.most
        if self.measure.sends_by_value and now.least == now.most:
            bound = self.passed_along(now.least)
            return bound if not math.isnan(bound) else None
        return None

    @abstractmethod
    def settle(self) -> Settled:
        """Let those that were reached in a round, or that begin, have their new values and be the active ones."""

    @abstractmethod
    def push(self, number: int) -> None:
        """Do a round over the rows of the active vertices."""

    @abstractmethod
    def pull(self, number: int, bound: float) -> None:
        """Do a round over rows of the other direction, which are left once a vertex has ``bound``."""

    @abstractmethod
    def push_few(self, number: int, last: int) -> tuple[int, Settled]:
        """Do rounds after ``number`` while little is to be done, up to ``last``; returns the last one's number, and as
        ``settle``.
        """

    @abstractmethod
    def passed_along(self, value: float) -> float:
        """Return the value that goes along any edge of a vertex of this value, where nothing else decides it."""


class CombinedRounds(ABC, Generic[AnyNetwork]):
    """Rounds in which vertices combine all that comes to them, and make a value of it.

    ``rows``: the network whose rows hold the vertices that values come from. ``values``, ``following``: int64 or
    float64 [V], before a round and after it.
    """

    network: AnyNetwork
    rows: AnyNetwork
    measure: Hooked
    values: Array
    following: Array

    def run(self) -> Rounds:
        """Go on until no value changes, or only within the tolerance, or to the last round that is wanted."""
        measure, last, number, some = self.measure, last_round(self.measure), 0, False
        by_values = not (measure.reads("round") or measure.reads("total"))
        while number < last:
            number += 1
            total = self.total(number) if measure.has("total") else 0.0
            changed, entries = self.pull(number, total, some)
            moved = self.moved() if measure.tolerance is not None else 0.0
            self.take_over()
            if (not changed and not measure.reads("round")) or (
                measure.tolerance is not None and moved <= measure.tolerance
            ):
                break
            refuse_endless(measure, number, changed)
            some = by_values and entries < self.network.edges // MARK_SHARE and not self._marks_in_turn
            if some:
                self.mark()
        return Rounds(self.values, number)

    def take_over(self) -> None:
        """Let the values after a round be those before the next."""
        self.values, self.following = self.following, self.values

    @property
    def _marks_in_turn(self) -> bool:
        """Whether to mark vertices is to read all rows, and then those again that are pulled along."""
        return self.rows is not self.network and self.rows in self.network.relatives and self.rows.resident

    @abstractmethod
    def total(self, number: int) -> float:
        """The sum of what the hook ``total`` gives."""

    @abstractmethod
    def pull(self, number: int, total: float, some: bool) -> tuple[int, int]:
        """Do a round; returns how many vertices changed, and the entries of their rows. ``some``: of marked ones."""

    @abstractmethod
    def moved(self) -> float:
        """The sum of the changes of a round."""

    @abstractmethod
    def mark(self) -> None:
        """Mark the vertices whose values could change in the next round."""
