"""Which partitions the schedule brings, on graphs and batches that only count."""

from types import SimpleNamespace

import numpy as np
import pytest

from csaw.engine.plan.options import Policy
from csaw.engine.schedule.schedule import Schedule, rows_of


class CountingGraph:
    """Partitions of given sizes that are in memory or not, with the bytes that were moved."""

    reads_in_place = False

    def __init__(self, sizes: list[int], fetches: int = 0) -> None:
        self.bytes, self.fetches = np.array(sizes), fetches
        self.loaded = np.zeros(len(sizes), np.uint8)
        self.coming: set[int] = set()
        self.transfers = self.moved = self.waited = self.most_held = 0

    def sizes(self) -> np.ndarray:
        return self.bytes

    costs = sizes

    def fetch(self, number: int) -> None:
        assert number not in self.coming
        assert not self.loaded[number]
        assert len(self.coming) < self.fetches
        self.coming.add(number)
        self._bring(number)

    def load(self, number: int) -> None:
        assert not self.loaded[number]
        if number in self.coming:
            self.coming.remove(number)
        else:
            self.waited += 1
            self._bring(number)
        self.loaded[number] = 1

    def _bring(self, number: int) -> None:
        self.transfers += 1
        self.moved += int(self.bytes[number])
        held = {*np.flatnonzero(self.loaded).tolist(), *self.coming, number}
        self.most_held = max(self.most_held, int(self.bytes[list(held)].sum()))

    def evict(self, number: int) -> None:
        self.coming.discard(number)
        self.loaded[number] = 0

    def leave(self) -> None:
        pass

    def ahead(self, waiting: dict[int, int]) -> None:
        assert not any(self.loaded[number] for number in waiting)


class Walkers:
    """Walkers that need the partitions ``paths`` [walkers, steps], one after the other."""

    comes_back = True

    def __init__(self, graph: CountingGraph, paths: np.ndarray) -> None:
        self.graph, self.paths, self.step = graph, paths, np.zeros(len(paths), np.int64)

    def _waiting(self) -> tuple[np.ndarray, np.ndarray]:
        walkers = np.flatnonzero(self.step < self.paths.shape[1])
        return walkers, self.paths[walkers, self.step[walkers]]

    def advance(self) -> None:
        while True:
            walkers, parts = self._waiting()
            served = walkers[self.graph.loaded[parts] > 0]
            if not served.size:
                return
            self.step[served] += 1

    def wants(self) -> np.ndarray:
        return rows_of(np.bincount(self._waiting()[1], minlength=self.graph.loaded.size))


class Trees:
    """Instances that need ``needs`` [depth, partitions] rows of partitions, one depth after the other."""

    comes_back = False

    def __init__(self, graph: CountingGraph, needs: np.ndarray) -> None:
        self.graph, self.left, self.depth = graph, needs.copy(), 0

    def advance(self) -> None:
        while self.depth < len(self.left):
            self.left[self.depth, self.graph.loaded > 0] = 0
            if self.left[self.depth].any():
                return
            self.depth += 1

    def wants(self) -> np.ndarray:
        return rows_of(self.left[self.depth] if self.depth < len(self.left) else np.zeros(self.graph.loaded.size, int))


class ReadGraph(CountingGraph):
    """Partitions of which single rows can be read; a round of the scheduler costs ``round_bytes``."""

    reads_in_place, in_place_bytes = True, 0

    def __init__(self, sizes: list[int], round_bytes: int) -> None:
        super().__init__(sizes)
        self.round_bytes, self.held = round_bytes, self.loaded.copy()

    def room_to_reach(self, batch: object) -> int:
        return 0

    def reach(self, batch: object, room: float) -> bool:
        self.held = self.loaded.copy()
        self.loaded[:] = 1
        return True

    def leave(self) -> None:
        self.loaded[:] = self.held

    def load(self, number: int) -> None:
        super().load(number)
        self.held[number] = 1

    def evict(self, number: int) -> None:
        super().evict(number)
        self.held[number] = 0


class Readers(Walkers):
    """Walkers that take one step of rows in place at a time, each at the cost of one byte."""

    def advance(self) -> None:
        if (self.graph.loaded != self.graph.held).any():
            self.step += self.step < self.paths.shape[1]
            self.graph.leave()
        super().advance()

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        return float(wants[:, 2].sum()), float((self.paths.shape[1] - self.step).sum())


def test_small_partitions_are_not_loaded_where_rounds_cost_more_than_reading_rows():
    found = {}
    for round_bytes in (0, 50):
        graph = ReadGraph([20] * 8, round_bytes)
        schedule = Schedule(graph, 80, Policy())
        schedule.run(Readers(graph, paths(8, 0, 0, seed=1)))
        found[round_bytes] = graph.transfers, schedule.counters.rounds
    loads, rounds = zip(*found.values(), strict=True)
    assert loads[1] == 4  # what fits; the rest is read where it is, in a round for each step
    assert rounds[1] < rounds[0]
    assert loads[0] > 10


def run(kind, needs, sizes, capacity, *, aware: bool, fetches: int = 0) -> SimpleNamespace:
    graph = CountingGraph(sizes, fetches)
    batch = kind(graph, needs)
    schedule = Schedule(graph, capacity, Policy(workload_aware=aware, in_place=False))
    schedule.run(batch)
    assert graph.most_held <= capacity
    assert not graph.coming
    assert schedule.counters.loads == graph.transfers
    return SimpleNamespace(transfers=graph.transfers, waited=graph.waited, rounds=schedule.counters.rounds)


def paths(parts: int, skew: float, stay: float, seed: int, walkers: int = 200, steps: int = 20) -> np.ndarray:
    """Walkers' partitions: a walker stays with probability ``stay``, or goes to partition k by (k + 1) ** -skew."""
    rng = np.random.default_rng(seed)
    weight = (np.arange(parts) + 1.0) ** -skew
    to = rng.choice(parts, (walkers, steps), p=weight / weight.sum())
    for step in range(1, steps):
        to[:, step] = np.where(rng.random(walkers) < stay, to[:, step - 1], to[:, step])
    return to


SHAPES = [(4, 2), (7, 3), (14, 7), (16, 4), (20, 2)]  # partitions, and how many of them fit


@pytest.mark.parametrize(("parts", "fit"), SHAPES)
@pytest.mark.parametrize(("skew", "stay"), [(0, 0), (1, 0.5), (2, 0)])
def test_scheduling_never_moves_more_for_walks_than_loading_in_order(parts, fit, skew, stay):
    moved = {}
    for aware in (False, True):
        runs = [run(Walkers, paths(parts, skew, stay, seed), [10] * parts, 10 * fit, aware=aware) for seed in range(3)]
        moved[aware] = sum(one.transfers for one in runs)
    assert moved[True] <= moved[False]
    if skew == 2 and fit > 2:  # partitions to which most walkers return stay in memory
        assert moved[True] * 1.3 < moved[False]


def test_a_partition_where_all_began_and_none_returns_does_not_stay():
    to = paths(7, 0, 0, 1, walkers=100, steps=1200) % 6
    to[:, 0] = 6
    without = paths(6, 0, 0, 1, walkers=100, steps=1200)
    moved = run(Walkers, to, [10] * 7, 30, aware=True).transfers
    assert moved < 1.2 * run(Walkers, without, [10] * 6, 30, aware=True).transfers


@pytest.mark.parametrize(("parts", "fit"), SHAPES)
@pytest.mark.parametrize("most", [1, 4, 1000])
def test_scheduling_moves_no_more_for_traversals_than_loading_in_order(parts, fit, most):
    moved = {False: 0, True: 0}
    for seed in range(10):
        needs = np.random.default_rng(seed).integers(0, most + 1, (4, parts))
        for aware in moved:
            moved[aware] += run(Trees, needs, [10] * parts, 10 * fit, aware=aware).transfers
    assert moved[True] <= moved[False]


def test_a_small_partition_makes_way_no_earlier_than_a_large_one():
    sizes = [10, 40, 10, 40, 10, 40]
    for seed in range(5):
        found = run(Walkers, paths(6, 0, 0, seed), sizes, 90, aware=True)
        assert found.transfers < run(Walkers, paths(6, 0, 0, seed), sizes, 90, aware=False).transfers


@pytest.mark.parametrize("aware", [False, True])
def test_copies_run_beside_sampling_where_they_need_no_processor(aware):
    needs = np.full((3, 8), 5)
    waits = run(Trees, needs, [10] * 8, 40, aware=aware)
    beside = run(Trees, needs, [10] * 8, 40, aware=aware, fetches=8)
    assert beside.transfers == waits.transfers == waits.waited == 16
    assert beside.waited <= (1 if aware else 4) * 3


def test_no_more_copies_are_under_way_than_a_graph_can_make():
    found = run(Trees, np.full((2, 8), 5), [10] * 8, 40, aware=True, fetches=1)  # asserted by the graph
    assert found.transfers == 12
