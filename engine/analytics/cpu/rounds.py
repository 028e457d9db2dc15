"""Rounds of a measure of the user's own, in host memory or from disk.

Where values are the best of all that has come (``keeps_best`` of the measure), those that changed are pushed along
rows, from a queue with one thread while there are few, else by all threads. Any other measure pulls: each vertex reads
the row of those that values come from, in its order, so that sums of floats have the same bits by any threads. Where
nothing but values decides, only vertices next to a changed one are pulled to.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from csaw.engine.analytics.cpu.kernels import adjacency
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.typed_rounds import compiled
from csaw.engine.analytics.own_hooks import Hooked
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.rounds import CHUNK, Rounds, added, last_round, refuse_endless, refuse_fault
from csaw.engine.cpu.specialize import Kernels
from csaw.partition.errors import BudgetError

FEW = 1 << 17  # entries of rows that one thread pushes along in less time than all threads look at every vertex
PULL_SHARE = 15  # Beamer's alpha, as of a search: the share of all entries from which on those that changed are pulled
MARK_SHARE = (
    4  # marking ends of changed rows reads rows: where more than a fourth of all entries is theirs, all are pulled
)
NO_WEIGHTS = np.empty(0, np.float32)


def compute(network: HostNetwork, *, measure: Hooked, backward: Callable[[], HostNetwork]) -> Rounds:
    """Run the rounds of a measure over a network; ``backward()`` is the one with the rows of the other direction.

    State: 16 bytes a vertex for values, and some flags. From disk, a round reads the blocks that it needs.
    """
    return (_Best if measure.keeps_best else _Combined)(network, measure, backward).run()


class _Rounds:
    """The state of the rounds of a measure."""

    def __init__(self, network: HostNetwork, measure: Hooked, backward: Callable[[], HostNetwork]) -> None:
        self.network, self.measure, self.backward = network, measure, backward
        self.params = measure.parameters_of(network)
        self.weighted = measure.reads_weights
        self.spans = network.spans(network.vertices)
        made = self.made = compiled(measure, self.params, weighted=self.weighted)
        self.values, self.active = np.empty(network.vertices, made.value), np.empty(network.vertices, np.uint8)
        given = (self.params, network.vertices, network.degrees, self.values, self.active)
        self.refuse("start", network.each(made.kernels.begin, self.spans, *given), 0)

    def refuse(self, hook: str, faults: list[int], number: int) -> None:
        """Raise OptionError if one of the ranges has a vertex at which a hook gave NaN."""
        refuse_fault(self.measure, self.network, hook, max(faults, default=-1), number)


class _Best(_Rounds):
    """Rounds of a measure whose values are the best of all that has come."""

    def run(self) -> Rounds:
        network, last, number = self.network, last_round(self.measure), 0
        self.following, self.reached = self.values.copy(), self.active
        changed, entries = self._settle()
        while changed and number < last:
            if network.resident and entries < FEW:
                number, changed, entries = self._push_few(number, last)
            else:
                number += 1
                self._pull() if self._can_pull(entries) else self._push(number)
                changed, entries = self._settle()
            refuse_endless(self.measure, number, changed)
        return Rounds(self.values, number)

    def _settle(self) -> tuple[int, int]:
        """Let those that were reached be the active ones; returns how many there are, and the entries of their rows."""
        network = self.network
        found = network.each(
            self.made.kernels.settle, self.spans, self.reached, network.degrees, self.values, self.following
        )
        self.active, self.reached = self.reached, np.zeros_like(self.active)
        some = [one for one in found if one[0]]
        self.bound = self._bound([one[2] for one in some], [one[3] for one in some]) if some else None
        return sum(one[0] for one in found), sum(one[1] for one in found)

    def _bound(self, least: list, most: list) -> float | None:
        """A value such that nothing better can go along an edge next, where one is known.

        ``least``, ``most``: the ends of values that are passed along. Where they are passed as they are, it is the best
        of them; where all are the same and nothing else decides, it is what all edges carry, as in a search.
        """
        measure = self.measure
        if not measure.has("edge") and measure.combine != "or":
            return min(least) if measure.combine == "min" else max(most)
        if measure.sends_by_value and min(least) == max(most):
            found = self.made.kernels.passed_along(self.params, self.network.vertices, self.made.value.type(least[0]))
            return self.made.value.type(found) if not np.isnan(found) else None
        return None

    def _can_pull(self, entries: int) -> bool:
        """Whether rows of the other direction are at hand, and are left early."""
        ready = self.network.resident and (not self.network.directed or self.network.has_incoming)
        return self.bound is not None and ready and entries > self.network.edges // PULL_SHARE

    def _pull(self) -> None:
        """Do a round over rows of the other direction."""
        rows, state = self.backward(), (self.active, self.values, self.following, self.reached)
        given = (self.params, self.made.value.type(self.bound), self.network.degrees, *state)
        for block in rows.blocks():
            rows.over_rows(self.made.kernels.pull_best, block, *given)

    def _push(self, number: int) -> None:
        """Do a round over the rows of those that changed, by all threads."""
        network, kernels = self.network, self.made.kernels
        state = (self.params, number, 0.0, network.degrees, self.active, self.values, self.following, self.reached)
        for block in network.blocks(weights=self.weighted, wanted=any_active(self.active)):
            weights = block.weights if self.weighted else NO_WEIGHTS
            self.refuse("edge", network.over_rows(kernels.push_rows, block, weights, *state), number)

    def _push_few(self, number: int, last: int) -> tuple[int, int, int]:
        """Do rounds by one thread while little is to be done; returns the last one's number, and as ``_settle``."""
        network, block = self.network, next(self.network.blocks(weights=self.weighted))
        changed = np.flatnonzero(self.active.view(bool))
        queue, room = (np.empty(network.vertices, network.id_dtype) for _ in range(2))
        queue[: changed.size] = changed
        weights = block.weights if self.weighted else NO_WEIGHTS
        number, size, _, fault = self.made.kernels.push_few(
            *(block.indptr, block.indices, weights, self.params, number, 0.0, network.degrees),
            *(self.values, self.following, self.reached, queue, room, changed.size, FEW, last),
        )
        self.refuse("edge", [fault], number)
        self.reached[queue[:size]] = 1  # which _settle makes the active ones
        changed_now, entries = self._settle()
        return number, changed_now, entries


class _Combined(_Rounds):
    """Rounds in which vertices combine all that comes to them, and make a value of it."""

    def run(self) -> Rounds:
        network, measure, last, number = self.network, self.measure, last_round(self.measure), 0
        self.following = np.empty_like(self.values)
        self.changed = np.zeros(network.vertices, np.uint8)
        self.sent = np.empty(network.vertices if measure.sends_alike else 0, self.made.combined)
        self.rows = _with_weights(network) if self.weighted and network.directed else self.backward()
        by_values = not (measure.reads("round") or measure.reads("total"))
        some = False
        while number < last:
            number += 1
            changed, entries = self._pull(number, some)
            moved = self._moved() if measure.tolerance is not None else 0.0
            self.values, self.following = self.following, self.values
            if (not changed and not measure.reads("round")) or (
                measure.tolerance is not None and moved <= measure.tolerance
            ):
                break
            refuse_endless(measure, number, changed)
            some = by_values and entries < network.edges // MARK_SHARE
            if some:
                self._mark()
        return Rounds(self.values, number)

    def _pull(self, number: int, some: bool) -> tuple[int, int]:
        """Do a round; returns how many vertices changed, and the entries of their rows. ``some``: of active ones."""
        network, rows = self.network, self.rows
        kernels = self._of_some if some else self.made.kernels
        wanted = any_active(self.active) if some and not rows.resident else None
        if wanted is not None:
            self.following[:] = self.values
            self.changed.fill(0)
        given = (self.params, number, self._total(number), network.degrees)
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

    def _mark(self) -> None:
        """Mark the vertices whose values could change in the next round."""
        network = self.network
        self.active.fill(0)
        for block in network.blocks(wanted=any_active(self.changed)):
            network.over_rows(self.made.kernels.mark, block, self.changed, self.active)

    def _total(self, number: int) -> float:
        """The sum of what the hook ``total`` gives."""
        if not self.measure.has("total"):
            return 0.0
        given = (self.params, number, self.network.degrees, self.values)
        return self._added(self.made.kernels.add_totals, self.made.total, *given)

    def _moved(self) -> float:
        """The sum of the changes of a round."""
        return self._added(self.made.kernels.add_changes, np.dtype(np.float64), self.values, self.following)

    def _added(self, kernel: Callable[..., None], kind: np.dtype, *given: Any) -> Any:
        sums = np.empty(-(-self.network.vertices // CHUNK), kind)
        self.network.each(kernel, self.network.spans(sums.size), CHUNK, *given, sums)
        return added(sums.tolist(), kind.kind == "f")


def _with_weights(network: HostNetwork) -> HostNetwork:
    """The network of a directed graph with its edges reversed, which keep their weights."""
    if not network.resident:
        raise BudgetError(
            f"{network.store.path}: a measure that reads e.weight and has a hook vertex, or a sum, needs all rows of a "
            f"directed graph in memory; raise {network.flag}, or run without --residency"
        )
    block, back = network.whole(True), network.incoming
    rows = back.whole(False)
    weights, at = np.empty(network.edges, np.float32), rows.indptr[:-1].copy()
    given = (block.indptr, block.indices, block.weights, at, weights)
    network.each(adjacency.fill_weights, network.spans(network.vertices), *given)
    return HostNetwork.of_arrays(rows.indptr, rows.indices, weights, directed=True, like=network)
