"""Which partitions are in memory when: workload-aware scheduling, written once for every backend (C-SAW, section V-B).

The partition with the most waiting instances is loaded next. No instance waits for those in memory any more, so it
takes the place of the one to which instances come least often; the others still serve walkers that return to them. All
instances of a batch share the schedule, so one transfer serves them all.

A copy beside sampling never takes the place of a partition that walkers return to: that moved 1.4 times as much on
average, and 2 times where two partitions fit.

Eviction by arrivals moves .5 to 1 times what eviction of the partition that was loaded longest ago moves: as much where
all partitions are alike, half where most steps lead to a few of them (tests/engine/schedule/test_schedule.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from csaw.engine.plan.contracts import Array, Partitions, WaitingBatch
from csaw.engine.plan.options import Policy

# The partitions that a batch waits for, how many instances wait for each, and how many come to each.


def rows_of(count: np.ndarray) -> np.ndarray:
    """Return the waits of instances where one partition at a time serves them.

    They are like ``crowds``, each partition needed with itself.

    ``count`` [partitions]: instances that each would serve; one that either of two serves is counted at both.
    """
    part = np.flatnonzero(count)
    return np.stack([part, part, count[part]], axis=1)


def crowds(xp: ModuleType, graph: Partitions, needs: tuple[Array, ...]) -> np.ndarray:
    """Return the waits of instances, int64 [m, 3].

    Each is a partition, the other one it is needed with, and how many wait for both.

    ``needs`` is the vertex whose row each of them needs, and the one whose row it needs beside that, if any: arrays of
    ``xp`` (NumPy or its like on a GPU).
    """
    parts, numbers = graph.loaded.size, [graph.partition_of(vertices) for vertices in needs]
    pairs = numbers[0].astype(np.int64) * parts + numbers[-1]
    if parts * parts <= COUNTED:
        found = xp.bincount(pairs, minlength=parts * parts)
        count = found if xp is np else found.get()
        pair = np.flatnonzero(count)
        return np.stack([pair // parts, pair % parts, count[pair]], axis=1)
    pairs, count = xp.unique(pairs, return_counts=True)
    both = xp.stack([pairs // parts, pairs % parts, count], axis=1)
    return both if xp is np else both.get()


COUNTED = 1 << 16  # pairs of partitions that are counted in an array of all; more are found by sorting
AGING = 0.998  # a round: half is left after 350


class Arrivals:
    """How often instances come to each partition, counted while it is not in memory.

    What is known of one in memory ages, so that a partition where many began and few return is evicted in the end.
    Biased walks of 1,000 steps over 8 partitions of which 4 fit need 721 transfers with AGING, 1,473 without it, 1,017
    if the partition that was loaded longest ago is evicted, and 2,799 in order (R-MAT 19 x 2).
    """

    def __init__(self, parts: int) -> None:
        self.waiting = np.zeros(parts)
        self.came, self.served = np.zeros(parts), np.zeros(parts)

    def see(self, waiting: np.ndarray, loaded: np.ndarray) -> None:
        """Count the instances that came since the last call.

        ``waiting`` [partitions]: the instances that wait for each; ``loaded``: whether each was in memory since then.
        """
        away = loaded == 0
        served = self.waiting[~away].sum() if self.waiting.any() else waiting.sum()
        self.came[~away] *= AGING
        self.came[away] += np.maximum(waiting - self.waiting, 0)[away]
        self.served[away] += served
        self.waiting = waiting.astype(float)

    def rates(self) -> np.ndarray:
        """Instances that come to each partition for each one that is served: float64 [partitions]."""
        return self.came / np.maximum(self.served, 1)


# Schedules: which partitions are in memory when.


@dataclass
class Counters:
    """Counts of what the scheduler did."""

    rounds: int = 0
    loads: int = 0
    evictions: int = 0
    in_place: int = 0
    overlapped: int = 0


class Stopped(Exception):
    """Raised in a thread to end the run early, because another thread has failed or was interrupted."""


class Schedule:
    """Advances batches to their end while at most ``capacity`` bytes of partitions are in memory.

    ``policy`` says which parts of scheduling are on. ``stopped`` returns True when the run should end early; Stopped is
    raised then.
    """

    def __init__(
        self, graph: Partitions, capacity: int, policy: Policy, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.graph, self.policy, self.stopped = graph, policy, stopped
        self.capacity = capacity
        self.counters = Counters()
        self.size = graph.sizes()  # bytes of each partition
        graph.leave()
        # Partitions in memory, the one that was loaded longest ago first.
        self.held: list[int] = np.flatnonzero(graph.loaded).tolist()
        self.coming: list[int] = []  # those of ``held`` that are still being copied, in the order of their copies
        self.arrivals = Arrivals(self.size.size)
        self.latest = -1  # the last partition that was loaded in order

    def run(self, batch: WaitingBatch) -> None:
        """Draw a batch to its end; Stopped where ``stopped`` says so before."""
        self.graph.leave()
        while (wants := self._advance(batch)).size:
            if self.stopped():
                raise Stopped
            self.counters.rounds += 1
            if self._suits_in_place(batch, wants) and self._reach(batch):
                self.counters.in_place += 1
            elif self.policy.workload_aware:
                self._bring(wants, batch.comes_back)
            else:
                self._bring_in_order(wants)
        for part in list(self.coming):
            self._load(part)

    def _advance(self, batch: WaitingBatch) -> np.ndarray:
        """Advance the batch as far as the loaded rows allow, and return the partitions that it waits for: see
        ``crowds``.
        """
        batch.advance()
        return batch.wants()

    def _suits_in_place(self, batch: WaitingBatch, wants: np.ndarray) -> bool:
        """Whether reading the needed rows in place takes less time than loading their partitions.

        For walks, both costs are those of one step: the walkers whose partition is not loaded each read a row, or all
        partitions that they wait for are loaded, each in a round of its own. Free memory is filled with partitions
        first, where the rest of the batch makes that worth its copy.
        """
        graph = self.graph
        if not (self.policy.in_place and graph.reads_in_place):
            return False
        step, rest = batch.bytes_in_place(wants)
        size, cost = self.size.astype(float), graph.costs() + graph.round_bytes
        missing = [part for part in np.unique(wants[:, :2]).tolist() if part not in self.held]
        free = self.capacity - size[self.held].sum() - graph.in_place_bytes
        if any(size[part] <= free and rest * size[part] > cost[part] * size.sum() for part in missing):
            return False
        return bool(step + graph.round_bytes < cost[missing].sum())

    def _reach(self, batch: WaitingBatch) -> bool:
        """Read the needed rows in place, in the memory that partitions leave.

        Evict partitions until the rows fit, or until rows have half of the memory.

        False: the batch cannot advance.
        """
        wanted = min(self.graph.room_to_reach(batch), self.capacity / 2)
        while (room := self.capacity - sum(int(self.size[part]) for part in self.held)) < wanted and self.held:
            self._evict(self.held[0])
        return self.graph.reach(batch, room)

    def _bring(self, wants: np.ndarray, comes_back: bool) -> None:
        """Load the partition that most instances wait for, and bring others while there is room.

        ``wants``: see ``crowds``. ``comes_back``: whether instances may return to partitions that they have left. If
        so, those are kept as long as there is room; otherwise they make way for partitions that are waited for.
        """
        waiting = np.bincount(wants[:, :2].ravel(), np.repeat(wants[:, 2], 2), self.graph.loaded.size)
        self.arrivals.see(waiting, self.graph.loaded)
        need = self._next(wants)
        self._make_room(need, waiting)
        for part in need:
            self._load(part)
        self._bring_others(need, waiting, comes_back)

    def _bring_others(self, need: list[int], waiting: np.ndarray, comes_back: bool) -> None:
        """Bring more of the partitions that instances wait for beside ``need``, those that most wait for first."""
        others = sorted(
            (part for part in np.flatnonzero(waiting).tolist() if part not in self.held), key=lambda p: (-waiting[p], p)
        )
        idle = [] if comes_back else [part for part in self.held if not waiting[part] and part not in need]
        for part in others:
            while idle and not self._fits([part]):
                self._evict(idle.pop(0))
            if self._fits([part]):
                self._begin(part)
        others = [part for part in others if part not in self.held]
        self.graph.ahead({part: int(waiting[part]) for part in others})

    def _next(self, wants: np.ndarray) -> list[int]:
        """The one or two partitions to load next: those with the most waiting instances for
        the cost of loading them.
        """
        first, second = wants[:, 0], wants[:, 1]
        here = self.graph.loaded.astype(bool)
        here[self.coming] = True
        cost = np.where(here, 0, self.graph.costs())
        price = cost[first] + np.where(first == second, 0, cost[second])
        row = wants[np.argmax(wants[:, 2] / np.maximum(price, 1))]
        return list(dict.fromkeys(row[:2].tolist()))

    def _bring_in_order(self, wants: np.ndarray) -> None:
        """Replace the loaded partitions by as many as fit of those that are waited for.

        They come in the order of their numbers, starting again at 0 after the last.
        """
        if self.coming:
            self._load(self.coming[0])
            return
        turns = wants[np.argsort((wants[:, 0] - self.latest - 1) % self.graph.loaded.size, kind="stable")]
        keep = list(dict.fromkeys(turns[0, :2].tolist()))
        for row in turns[1:]:
            more = list(dict.fromkeys([*keep, *row[:2].tolist()]))
            if not self._fits(more, beside=[]):
                break
            keep = more
        self.latest = keep[-1]
        for part in [part for part in self.held if part not in keep]:
            self._evict(part)
        for part in turns[0, :2].tolist():
            self._load(part)
        for part in keep:
            self._begin(part)

    def _fits(self, parts: list[int], beside: list[int] | None = None) -> bool:
        """Whether ``parts`` fit the memory beside the partitions ``beside`` (default: those that are held)."""
        return (
            sum(int(self.size[part]) for part in {*(self.held if beside is None else beside), *parts}) <= self.capacity
        )

    def _evict(self, part: int) -> None:
        self.graph.evict(part)
        self.held.remove(part)
        self._has_come(part)
        self.counters.evictions += 1

    def _make_room(self, need: list[int], waiting: np.ndarray) -> None:
        """Evict partitions until ``need`` fits: first those that fewest instances wait for, and of these the ones to
        which fewest come, for the memory that they take.
        """
        worth = self.arrivals.rates() / np.maximum(self.size, 1)
        for part in sorted((p for p in self.held if p not in need), key=lambda p: (waiting[p], worth[p])):
            if self._fits(need):
                return
            self._evict(part)

    def _load(self, part: int) -> None:
        if not self.graph.loaded[part]:
            self.graph.load(part)
            self.counters.loads += part not in self.held
        if part not in self.held:
            self.held.append(part)
        self._has_come(part)

    def _begin(self, part: int) -> None:
        """Bring a partition that fits: copy it while those in memory are sampled, if the graph can, or else load it."""
        if part in self.held:
            return
        if len(self.coming) < self.graph.fetches:
            self._fetch(part)
        else:
            self._load(part)

    def _fetch(self, part: int) -> None:
        self.graph.fetch(part)
        self.held.append(part)
        self.coming.append(part)
        self.counters.loads += 1
        self.counters.overlapped += 1

    def _has_come(self, part: int) -> None:
        if part in self.coming:
            self.coming.remove(part)
