"""The rounds of a custom measure, and what they have found: the same on every device.

Where values are the best of all that has come (``keeps_best`` of the measure), those that changed are pushed along
rows, or pulled where rows can be left early. Any other measure pulls: each vertex reads the row of those that values
come from. Where nothing but values decides, only vertices next to a changed one are pulled to.
"""

import ast
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from csaw.engine.api.hook_language import placed
from csaw.engine.api.hooks import TREES, Hook, Rewriter, expression, written_out
from csaw.engine.api.option import LARGEST, Option
from csaw.engine.plan.contracts import Array
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.analytics.network import Network


# The hooks of a measure of the user's own as plain functions, by the machinery of samplers' hooks.
#
#     self.NAME          params[k]; a vertex option is the number of its vertex
#     e.src, e.dst       src, dst               v.id         src
#     e.src_degree       src_degree             v.degree     src_degree
#     e.value            value, that of e.src   v.value      value
#     e.dst_value        other                  v.combined   other
#     e.weight           weight                 v.total      total, the sum of what the hook `total` gives
#     e.round, v.round   number                 e.nothing    a literal: what changes nothing in `combine`
#
# Every hook gets the same arguments, ARGUMENTS, so a kernel need not know which of them it reads.

ARGUMENTS = (
    "params",
    "number",
    "vertices",
    "total",
    "src",
    "dst",
    "src_degree",
    "dst_degree",
    "value",
    "other",
    "weight",
)
COMBINES = ("min", "max", "sum", "or")  # their places are the numbers in engine/analytics/cuda/kernels/rounds.cuh
RULES = {"round": "number", "vertices": "vertices", "nothing": "", "total": "total"}
OF_EDGE = {
    "src": "src",
    "dst": "dst",
    "src_degree": "src_degree",
    "dst_degree": "dst_degree",
    "value": "value",
    "dst_value": "other",
    "weight": "weight",
} | RULES
OF_VERTEX = {"id": "src", "degree": "src_degree", "value": "value", "combined": "other"} | RULES
FIELDS: Mapping[str, Mapping[str, str]] = {
    "start": {name: OF_VERTEX[name] for name in ("id", "degree", "vertices", "nothing")},
    "edge": OF_EDGE,
    "vertex": OF_VERTEX,
    "total": {name: OF_VERTEX[name] for name in ("id", "degree", "value", "vertices", "round", "nothing")},
}
"""What the view of each hook has, and the argument that it is."""


class Hooked(Protocol):
    """The part of a measure's class that rounds read; engine/analytics/own_measure.py declares it."""

    combine: ClassVar[str]
    rounds: int | None
    limit: int
    tolerance: float | None
    reads_weights: bool

    @property
    def keeps_best(self) -> bool:
        """Whether a value is the best of all that has come to its vertex in any round."""

    @property
    def sends_alike(self) -> bool:
        """Whether a vertex passes the same along each of its edges."""

    @property
    def sends_by_value(self) -> bool:
        """Whether nothing but its value decides what a vertex passes along."""

    def reads(self, field: str) -> bool:
        """Whether a hook that makes values reads this field."""

    def hooks(self, *, real: bool) -> dict[str, Hook]:
        """The hooks of the class, rewritten for values that are floats or integers."""

    @classmethod
    def name(cls) -> str:
        """The name of the measure."""

    @classmethod
    def options(cls) -> dict[str, Option]:
        """All options by name."""

    @classmethod
    def has(cls, hook: str) -> bool:
        """Whether the class has a hook of its own."""


@dataclass(frozen=True)
class VertexOption(Option):
    """An option that is the original id of a vertex; hooks read the number of that vertex."""


class _Rewriter(Rewriter):
    """Rewrites what a hook of a measure reads of its options and of its edge or vertex."""

    def __init__(self, measure: Hooked, name: str, where: str, me: str, view: str, real: bool) -> None:
        # Of an algorithm, it reads the options, which a measure has, too.
        super().__init__(measure, where, me, view, True, None, random=False, of_vertex=name != "edge")  # type: ignore[arg-type]
        self.measure, self.fields, self.real = measure, FIELDS[name], real

    def _option(self, name: str) -> ast.expr:
        if name in (names := numbers(self.measure)):
            return expression(f"params[{names.index(name)}]")
        return super()._option(name)

    def _field(self, name: str) -> ast.expr:
        name = {"src": "id", "src_degree": "degree"}.get(name, name) if self.of_vertex else name
        if name not in self.fields or (name == "total" and not self.measure.has("total")):
            missing = "; it is what the hook total gives in all" if name == "total" and name in self.fields else ""
            raise OptionError(f"{self.where}: no {self.view}.{name}; there are {', '.join(self.fields)}{missing}")
        self.reads.add(name)
        if name == "nothing":
            return ast.Constant(nothing(self.measure.combine, self.real))
        return expression(self.fields[name])

    def _engine_call(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        raise OptionError(f"{self.where}: no call {self.view}.{name}(...); a measure's hook reads only fields")


def nothing(combine: str, real: bool) -> float:
    """Return the number that changes nothing where it is combined with others."""
    least = float("inf") if real else LARGEST
    found = {"min": least, "max": -least}.get(combine, 0)
    return float(found) if real else found


def numbers(measure: Hooked) -> list[str]:
    """The names of the options that are numbers or vertices, in the order of ``params[k]``."""
    return [
        name
        for name, one in measure.options().items()
        if one.kind in (int, float, bool) or isinstance(one, VertexOption)
    ]


def rewritten(measure: Hooked, name: str, real: bool) -> Hook:
    """Rewrite one hook; OptionError, with the line of the user's file, if it uses anything that a hook cannot.

    ``real``: whether values are floats.
    """
    method = getattr(type(measure), name)

    def rewriter_of(where: str, me: str, view: str) -> _Rewriter:
        return _Rewriter(measure, name, where, me, view, real)

    try:
        with TREES:
            text, rewriter = written_out(measure.name(), method, name, ARGUMENTS, rewriter_of)
    except RecursionError as error:
        raise OptionError(f"{measure.name()}.{name}: nested too deeply, or calls itself; write it in steps") from error
    except OptionError as error:
        raise placed(error, method) from error
    return Hook(name, text, frozenset(rewriter.reads))


# Rounds of such a measure.

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
            f"{measure.name()}: after {number:,} rounds, the values of {changed:,} vertices still change; if it "
            "ends later, raise limit in the class; if it never ends, set rounds to a fixed number, or tolerance "
            "to the change at which to stop"
        )


def refuse_fault(asked: Asked, hook: str, vertex: int, number: int) -> None:
    """OptionError about a hook that gave NaN at a vertex, if there is one."""
    if vertex < 0:
        return
    measure, known = asked.measure, asked.store.original_ids(np.array([vertex]))[0]
    said = f"{measure.name()}.{hook}: expected a number, found NaN (not a number) at vertex {known}"
    error = OptionError(f"{said}{f' in round {number}' * (number > 0)}, as from 0 / 0 or inf - inf")
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
