"""Which partitions are in memory when: workload-aware scheduling, written once for every backend (C-SAW, section V-B).

The partition with the most waiting instances comes next, in place of the one that came longest ago: by then nobody waits for that one, and
what is kept meanwhile still serves walkers that come back. All instances of a batch share the schedule, so one transfer serves them all.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from csaw.engine.contracts import Partitions, WaitingBatch
from csaw.engine.plan.options import Policy


@dataclass
class Counters:
    """What scheduling did; seconds of the host's clock."""

    rounds: int = 0
    loads: int = 0
    evictions: int = 0
    in_place: int = 0
    overlapped: int = 0
    load_seconds: float = 0.0
    advance_seconds: float = 0.0


class Stopped(Exception):
    """The run ends before its end, by what another thread has met."""


class Schedule:
    """Advances batches to their end with ``capacity`` bytes of partitions in memory at once."""

    def __init__(
        self, graph: Partitions, capacity: int, policy: Policy, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.graph, self.policy, self.stopped = graph, policy, stopped
        self.capacity = capacity
        self.counters = Counters()
        self.size = graph.sizes()
        graph.leave()
        # The partitions that take room, the one that came longest ago first.
        self.held: list[int] = np.flatnonzero(graph.loaded).tolist()
        self.coming: int | None = None  # the last of them, while it is still being copied
        self.latest = -1  # that came in order

    def run(self, batch: WaitingBatch) -> None:
        """Draw a batch to its end; Stopped where ``stopped`` says so before."""
        self.graph.leave()
        while (wants := self._advance(batch)).size:
            if self.stopped():
                raise Stopped
            self.counters.rounds += 1
            clock = time.perf_counter()
            if self._suits_in_place(batch, wants) and self._reach(batch):
                self.counters.in_place += 1
            elif self.policy.workload_aware:
                self._bring(wants, batch.comes_back)
            else:
                self._bring_in_order(wants)
            self.counters.load_seconds += time.perf_counter() - clock
        return self._load(self.coming) if self.coming is not None else None

    def _advance(self, batch: WaitingBatch) -> np.ndarray:
        """One launch, to its end; what is waited for then."""
        clock = time.perf_counter()
        batch.advance()
        wants = batch.wants()
        self.counters.advance_seconds += time.perf_counter() - clock
        return wants

    def _suits_in_place(self, batch: WaitingBatch, wants: np.ndarray) -> bool:
        """Whether reading in place what is waited for takes less time than copying it.

        For walks both are of one step: of n walkers those that step out of what is loaded read, and as many of the other partitions must come.
        Room that is still free is filled before, where what remains of the batch makes that worth its copy.
        """
        graph = self.graph
        if not (self.policy.in_place and graph.reads_in_place):
            return False
        step, rest = batch.bytes_in_place(wants)
        size, cost = self.size.astype(float), graph.costs()
        missing = [part for part in np.unique(wants[:, :2]).tolist() if part not in self.held]
        free = self.capacity - size[self.held].sum() - graph.in_place_bytes
        if any(size[part] <= free and rest * size[part] > cost[part] * size.sum() for part in missing):
            return False
        return step < cost[missing].sum()

    def _reach(self, batch: WaitingBatch) -> bool:
        """Read in place, in the room that partitions leave; they make way until there is room for what is waited for, or for half of all."""
        wanted = min(self.graph.room_to_reach(batch), self.capacity / 2)
        while (room := self.capacity - sum(int(self.size[part]) for part in self.held)) < wanted and self.held:
            self._evict(self.held[0])
        return self.graph.reach(batch, room)

    def _bring(self, wants: np.ndarray, comes_back: bool) -> None:
        """Load what most wait for, then what there is room for, and begin with what comes after that.

        What instances may come back to is kept as long as there is room; else it makes way for what is waited for.
        """
        waiting = np.bincount(wants[:, :2].ravel(), np.repeat(wants[:, 2], 2), self.graph.loaded.size)
        need = self._next(wants)
        self._make_room(need, waiting)
        for part in need:
            self._load(part)
        others = sorted(
            (part for part in np.flatnonzero(waiting).tolist() if part not in self.held), key=lambda p: (-waiting[p], p)
        )
        idle = [] if comes_back else [part for part in self.held if not waiting[part] and part not in need]
        for part in others:
            while idle and not self._fits([part]):
                self._evict(idle.pop(0))
            if self._fits([part]):
                self._load(part)
        others = [part for part in others if part not in self.held]
        self.graph.ahead({part: int(waiting[part]) for part in others})
        if others and self._overlaps():
            self._fetch(others[0], need, waiting)

    def _next(self, wants: np.ndarray) -> list[int]:
        """The partitions to be loaded together next: where most wait for what it takes to bring them."""
        first, second = wants[:, 0], wants[:, 1]
        here = self.graph.loaded.astype(bool)
        if self.coming is not None:
            here[self.coming] = True
        cost = np.where(here, 0, self.graph.costs())
        price = cost[first] + np.where(first == second, 0, cost[second])
        row = wants[np.argmax(wants[:, 2] / np.maximum(price, 1))]
        return list(dict.fromkeys(row[:2].tolist()))

    def _bring_in_order(self, wants: np.ndarray) -> None:
        """As many as fit of those that are waited for, in order of their numbers and round again, instead of what is there."""
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
        for part in keep:
            self._load(part)

    def _fits(self, parts: list[int], beside: list[int] | None = None) -> bool:
        """Whether there is room for partitions ``beside`` others, by default what is held."""
        return (
            sum(int(self.size[part]) for part in {*(self.held if beside is None else beside), *parts}) <= self.capacity
        )

    def _evict(self, part: int) -> None:
        self.graph.evict(part)
        self.held.remove(part)
        self.coming = None if part == self.coming else self.coming
        self.counters.evictions += 1

    def _make_room(self, need: list[int], waiting: np.ndarray) -> None:
        """Evict until ``need`` fits: first what nobody waits for, of that what came longest ago."""
        for part in sorted((p for p in self.held if p not in need), key=lambda p: bool(waiting[p])):
            if self._fits(need):
                return
            self._evict(part)

    def _load(self, part: int) -> None:
        if not self.graph.loaded[part]:
            self.graph.load(part)
            self.counters.loads += part not in self.held
        if part not in self.held:
            self.held.append(part)
        self.coming = None if part == self.coming else self.coming

    def _overlaps(self) -> bool:
        """Whether launches take so long that a copy beside them is worth the room that they do without.

        Doing without it takes more copies (1.6 times as many for walks with three of seven partitions), and on a CPU, where reading from
        memory takes the processors' time, more time too: 1.03 to 1.37 s instead of 0.69 to 1.08. So only what copies by itself fetches ahead.
        """
        slow = self.counters.advance_seconds > self.counters.load_seconds
        return self.graph.fetches and self.coming is None and slow

    def _fetch(self, part: int, need: list[int], waiting: np.ndarray) -> None:
        """Begin to copy a partition while the others are sampled, unless there is no room beside ``need``."""
        if len(self.held) <= len(need) and not self._fits([part]):
            return
        self._make_room([*need, part], waiting)
        if self._fits([part]):
            self.graph.fetch(part)
            self.held.append(part)
            self.coming = part
            self.counters.loads += 1
            self.counters.overlapped += 1
