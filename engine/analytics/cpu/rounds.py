"""Rounds of a custom measure on the CPU, in host memory or from disk.

What changed is pushed along rows from a queue with one thread while there is little, else by all threads. What is
pulled does not depend on the order of threads, since each vertex has its row to itself. Hooks are compiled each alone
first, so that an error names the hook and its line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numba import float64, int64, typeof, types
from numba.core.errors import NumbaError

from csaw.engine.analytics.cpu.footprints import CHECK_BYTES, WEIGHT_BYTES, both_directions_bytes
from csaw.engine.analytics.cpu.kernels import adjacency
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.rounds import (
    ARGUMENTS,
    CHUNK,
    Asked,
    BestRounds,
    CombinedRounds,
    Hooked,
    Rounds,
    Settled,
    added,
    is_real,
    refuse_fault,
)
from csaw.engine.api.hook_language import placed
from csaw.engine.api.hooks import Hook
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.cpu.typed_hooks import named_type, reason_of
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError, OptionError

FEW = 1 << 17  # entries of rows that one thread pushes along in less time than all threads look at every vertex
PULL_SHARE = 15
NO_WEIGHTS = np.empty(0, np.float32)


def rounds(network: HostNetwork, *, asked: Asked, backward: Callable[[], HostNetwork]) -> Rounds:
    """Run the rounds of a measure over a network; ``backward()`` is the one with the rows of the other direction.

    State: 16 bytes a vertex for values, and some flags. From disk, a round reads the blocks that it needs.
    """
    return (_Best if asked.measure.keeps_best else _Combined)(network, asked, backward).run()


class _State:
    """The values of vertices and their flags, as a measure begins."""

    def __init__(self, network: HostNetwork, asked: Asked, backward: Callable[[], HostNetwork]) -> None:
        self.network, self.asked, self.backward = network, asked, backward
        self.measure, self.params, _ = asked
        self.weighted = self.measure.reads_weights
        self.spans = network.spans(network.vertices)
        made = self.made = compiled(self.measure, self.params, weighted=self.weighted)
        self.values, self.active = np.empty(network.vertices, made.types.value), np.empty(network.vertices, np.uint8)
        given = (self.params, network.vertices, network.degrees, self.values, self.active)
        self.refuse("start", network.each(made.kernels.begin, self.spans, *given), 0)

    def refuse(self, hook: str, faults: list[int], number: int) -> None:
        """Raise OptionError if one of the ranges has a vertex at which a hook gave NaN."""
        refuse_fault(self.asked, hook, max(faults, default=-1), number)


class _Best(_State, BestRounds[HostNetwork]):
    """Rounds of a measure whose values are the best of all that has come."""

    def __init__(self, network: HostNetwork, asked: Asked, backward: Callable[[], HostNetwork]) -> None:
        super().__init__(network, asked, backward)
        self.following, self.reached = self.values.copy(), self.active
        self.few, self.pull_share = FEW, PULL_SHARE

    def settle(self) -> Settled:
        network = self.network
        found = network.each(
            self.made.kernels.settle, self.spans, self.reached, network.degrees, self.values, self.following
        )
        self.active, self.reached = self.reached, np.zeros_like(self.active)
        some = [Settled(*one) for one in found if one[0]]
        if not some:
            return Settled(0, 0)
        least, most = min(one.least for one in some), max(one.most for one in some)
        return Settled(sum(one.changed for one in some), sum(one.entries for one in some), least, most)

    def passed_along(self, value: float) -> float:
        kind = self.made.types.value.type
        found: float = self.made.kernels.passed_along(self.params, self.network.vertices, kind(value))
        return found

    def pull(self, number: int, bound: float) -> None:
        rows, state = self.backward(), (self.active, self.values, self.following, self.reached)
        given = (self.params, self.made.types.value.type(bound), self.network.degrees, *state)
        for block in rows.blocks():
            rows.over_rows(self.made.kernels.pull_best, block, *given)

    def push(self, number: int) -> None:
        network, kernels = self.network, self.made.kernels
        state = (self.params, number, 0.0, network.degrees, self.active, self.values, self.following, self.reached)
        for block in network.blocks(weights=self.weighted, wanted=any_active(self.active)):
            weights = block.weights if self.weighted else NO_WEIGHTS
            self.refuse("edge", network.over_rows(kernels.push_rows, block, weights, *state), number)

    def push_few(self, number: int, last: int) -> tuple[int, Settled]:
        network, block = self.network, next(self.network.blocks(weights=self.weighted))
        changed = np.flatnonzero(self.active.view(bool))
        queue, room = (np.empty(network.vertices, network.id_dtype) for _ in range(2))
        queue[: changed.size] = changed
        weights = block.weights if self.weighted else NO_WEIGHTS
        number, size, _, fault = self.made.kernels.push_few(
            *(block.indptr, block.indices, weights, self.params, number, 0.0, network.degrees),
            *(self.values, self.following, self.reached, queue, room, changed.size, self.few, last),
        )
        self.refuse("edge", [fault], number)
        self.reached[queue[:size]] = 1  # which settle makes the active ones
        return number, self.settle()


class _Combined(_State, CombinedRounds[HostNetwork]):
    """Rounds in which vertices combine all that comes to them, and make a value of it."""

    def __init__(self, network: HostNetwork, asked: Asked, backward: Callable[[], HostNetwork]) -> None:
        super().__init__(network, asked, backward)
        self.following = np.empty_like(self.values)
        self.changed = np.zeros(network.vertices, np.uint8)
        self.sent = np.empty(network.vertices if self.measure.sends_alike else 0, self.made.types.combined)
        self.rows = incoming_with_weights(network) if self.weighted and network.directed else self.backward()

    def pull(self, number: int, total: float, some: bool) -> tuple[int, int]:
        network, rows = self.network, self.rows
        kernels = self._of_some if some else self.made.kernels
        wanted = any_active(self.active) if some and not rows.resident else None
        if wanted is not None:
            self.following[:] = self.values
            self.changed.fill(0)
        given = (self.params, number, total, network.degrees)
        if self.measure.sends_alike:
            self.refuse("edge", network.each(kernels.send, self.spans, *given, self.values, self.sent), number)
        state, found = (*given, self.sent, self.active, self.values, self.following, self.changed), []
        for block in rows.blocks(weights=self.weighted, wanted=wanted):
            weights = block.weights if self.weighted else NO_WEIGHTS
            found += rows.over_rows(kernels.pull, block, weights, *state)
        self.refuse("edge", [one[2] for one in found], number)  # first: a vertex that gets NaN gives NaN
        self.refuse("vertex", [one[3] for one in found], number)
        return sum(one[0] for one in found), sum(one[1] for one in found)

    @cached_property
    def _of_some(self) -> Kernels:
        """Kernels that pull to active vertices alone."""
        return compiled(self.measure, self.params, weighted=self.weighted, some=True).kernels

    def mark(self) -> None:
        network = self.network
        self.active.fill(0)
        for block in network.blocks(wanted=any_active(self.changed)):
            network.over_rows(self.made.kernels.mark, block, self.changed, self.active)

    def total(self, number: int) -> float:
        given = (self.params, number, self.network.degrees, self.values)
        return self._added(self.made.kernels.add_totals, self.made.types.total, *given)

    def moved(self) -> float:
        return self._added(self.made.kernels.add_changes, np.dtype(np.float64), self.values, self.following)

    def _added(self, kernel: Callable[..., None], kind: np.dtype, *given: object) -> float:
        sums = np.empty(-(-self.network.vertices // CHUNK), kind)
        self.network.each(kernel, self.network.spans(sums.size), CHUNK, *given, sums)
        return added(sums.tolist(), is_real(kind))


def incoming_with_weights(network: HostNetwork) -> HostNetwork:
    """The network of a directed graph with its edges reversed, which keep their weights.

    BudgetError unless memory has room for the rows of either direction and for weights of both.
    """
    needed = both_directions_bytes(network)
    if network.residency is Residency.DISK or needed > network.memory:
        way = "leave out --residency disk" if network.residency is Residency.DISK else network.advice(needed)
        raise BudgetError(
            f"{network.store.path}: a measure that reads e.weight and has a hook vertex, or a sum, needs all rows "
            f"of a directed graph in memory, in both directions: {needed:,} bytes, but only {network.memory:,} "
            f"are allowed; {way}"
        )
    more = WEIGHT_BYTES + CHECK_BYTES + (0 if network.has_incoming else network.id_dtype.itemsize)
    if network.rows_bytes + network.edges * more > network.budget:  # the undirected ones are in memory, too
        network.withdraw()
    back = network.incoming
    block, rows = network.whole(True), back.whole(False)
    weights, at = np.empty(network.edges, np.float32), rows.indptr[:-1].copy()
    given = (block.indptr, block.indices, block.weights, at, weights)
    network.each(adjacency.fill_weights, network.spans(network.vertices), *given)
    return HostNetwork.of_arrays(rows.indptr, rows.indices, weights, directed=True, like=network)


# The hooks, compiled.

FILES = ("../../analytics/cpu/kernels/rounds.py",)
MOST_KNOWN = 256  # kernels and single hooks, of some dozens of measures
MIXED = "start gives an integer, and this a number with a fraction; write a float there, such as 0.0, or int() here"
HEADER = """\
# Written by csaw; delete at will.
import math
import numpy as np
from numba import float64, int64, uint64
from csaw.engine.analytics.cpu.kernels.atomics import fetch_least, fetch_most, fetch_or
from csaw.engine.analytics.cpu.kernels.sums import LANES, PIECE, emptied, ordered_sum
from csaw.engine.analytics.cpu.kernels.sssp import INFINITE
from csaw.engine.draws.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, zeros
"""


class Types(NamedTuple):
    """The types of a measure's values, of what is combined, and of its total: int64 or float64."""

    value: np.dtype
    combined: np.dtype
    total: np.dtype


@dataclass(frozen=True)
class Compiled:
    """The kernels of a measure, and its types."""

    kernels: Kernels
    types: Types


def compiled(measure: Hooked, params: tuple[float, ...], *, weighted: bool, some: bool = False) -> Compiled:
    """Compile the hooks of a measure.

    ``weighted``: whether the rows that are read have weights; ``some``: whether active vertices alone are pulled to.

    OptionError as of ``types_of``.
    """
    found = types_of(measure, params)
    constants = {
        "COMBINE": measure.combine,
        "REAL": is_real(found.value),
        "COMBINED_REAL": is_real(found.combined),
        "TOTAL_REAL": is_real(found.total),
        "ORDERED": measure.combine == "sum" and is_real(found.combined),
        "WEIGHTED": weighted,
        "SOME": some,
        "EVERY": not measure.has("edge"),
        "SENT": measure.sends_alike,
    }
    hooks = measure.hooks(real=is_real(found.value)).values()
    return Compiled(_kernels(tuple(constants.items()), tuple(hooks), FILES), found)


@lru_cache(MOST_KNOWN)
def _kernels(constants: tuple[tuple[str, object], ...], hooks: tuple[Hook, ...], files: tuple[str, ...]) -> Kernels:
    """The kernels of these constants and hooks, the same ones each time: to write them takes some milliseconds."""
    return Kernels(dict(constants), list(hooks), files, HEADER)


def types_of(measure: Hooked, params: tuple[float, ...]) -> Types:
    """The types of a measure, by compiling its hooks one after the other.

    OptionError if a hook cannot be compiled, or may return no number or one of another type than values are of.
    """
    one = _Typing(measure, params)
    value = one.returned("start", False, {})
    real = isinstance(value, types.Float)
    kinds = {"value": value, "other": value}
    total = one.returned("total", real, {"value": value}) if measure.has("total") else float64
    kinds["total"] = total
    combined = one.returned("edge", real, kinds) if measure.has("edge") else value
    if measure.combine in ("min", "max"):  # whose nothing, of integers, is another number than that of floats
        if isinstance(combined, types.Float) and not real:
            raise one.error("edge", MIXED)
        combined = value
    kinds["other"] = combined
    last = one.returned("vertex", real, kinds) if measure.has("vertex") else combined
    if isinstance(last, types.Float) and not real:
        hook = "vertex" if measure.has("vertex") else "edge"
        raise one.error(hook, MIXED)
    real_bits = isinstance(combined, types.Float)
    if measure.combine == "or" and (real_bits or (real and not measure.has("vertex"))):
        hook = "edge" if measure.has("edge") and real_bits else "start"
        raise one.error(
            hook,
            "expected an integer, whose bits are combined by or, found a float; a power such as 2**k is one, 1 << k is "
            "an integer",
        )
    return Types(*map(_dtype, (value, combined, total)))


def _dtype(kind: types.Type) -> np.dtype:
    return np.dtype(np.float64 if isinstance(kind, types.Float) else np.int64)


class _Typing:
    """Compiles the hooks of a measure one by one."""

    def __init__(self, measure: Hooked, params: tuple[float, ...]) -> None:
        self.measure, self.params = measure, params

    def returned(self, hook: str, real: bool, kinds: Mapping[str, types.Type]) -> types.Type:
        """Compile a hook for values that are ``real`` or not, and return int64 or float64, what it returns.

        ``kinds``: types of arguments that are no integers by nature.
        """
        given: dict[str, types.Type] = dict.fromkeys(ARGUMENTS, int64) | {
            "params": typeof(self.params),
            "weight": float64,
        }
        signature = tuple((given | {"total": float64} | dict(kinds))[name] for name in ARGUMENTS)
        hooks = tuple(one for name, one in self.measure.hooks(real=real).items() if name == hook)
        function = getattr(_kernels((), hooks, ()), hook)
        try:
            function.compile(signature)
        except NumbaError as error:
            said = f"{self.measure.name()}.{hook} cannot be compiled: {reason_of(error)}"
            raise placed(OptionError(said), getattr(type(self.measure), hook)) from error
        found = types.unliteral(function.overloads[signature].signature.return_type)
        if not isinstance(found, (types.Integer, types.Float, types.Boolean)):
            raise self.error(hook, f"expected every path to return a number, found {named_type(found)}")
        return float64 if isinstance(found, types.Float) else int64

    def error(self, hook: str, said: str) -> OptionError:
        """An error about a hook, with its line."""
        return placed(OptionError(f"{self.measure.name()}.{hook}: {said}"), getattr(type(self.measure), hook))
