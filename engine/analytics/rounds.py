"""What the rounds of a measure of the user's own have found, and how they may end, the same on every device."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.analytics.own_hooks import Hooked
from csaw.engine.api.hook_place import placed
from csaw.engine.plan.contracts import Array
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.analytics.network import Network

CHUNK = 1024  # vertices whose numbers are added in their order, so that a sum has the same bits by any threads


@dataclass(frozen=True)
class Rounds:
    """Values of all vertices, int64 or float64 [V], after so many ``rounds``."""

    values: Array
    rounds: int

    @property
    def method(self) -> str:
        return f"{self.rounds} round{'s' * (self.rounds != 1)}"


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


def refuse_fault(measure: Hooked, network: "Network", hook: str, vertex: int, number: int) -> None:
    """OptionError about a hook that gave NaN at a vertex, if there is one."""
    if vertex < 0:
        return
    known = network.store.original_ids(np.array([vertex]))[0]
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
