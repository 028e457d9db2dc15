"""Selection of neighbors on the CPU, for the frontiers of traversals."""

import numpy as np

from csaw.engine.batches.fixed import scaled
from csaw.engine.cpu.kernels.state import arrays_of
from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.plan.contracts import Frontier, TimedFrontier
from csaw.engine.plan.selection import coin

SLICE = 2048  # frontier entries of a task
POOLS = 64  # of vertices that wait, of a task
MEMBERS_EDGES = 1 << 18  # that a task looks up among an instance's members: makes up for a hash table of some thousand


class CpuSelector(CpuRunner):
    """Selects in threads, over slices of the frontier's entries."""

    def geometric_sizes(self, instance: np.ndarray, slot: np.ndarray, most: np.ndarray) -> np.ndarray:
        sizes = np.empty(slot.size, np.int64)
        limit, rest = (np.uint64(number) for number in coin(self.algorithm))
        self.kernels.geometric_sizes(instance, slot, np.uint64(self.seed), limit, rest, most, sizes)
        return sizes

    def update_frontier(self, depth: int, *edges: np.ndarray) -> np.ndarray:
        kernel, then = self.kernels.update_frontier, np.empty(edges[0].size, np.int64)
        given = (self.graph.arrays, self.params, np.uint64(self.seed), depth, *edges, then)
        self.in_slices(np.arange(then.size), SLICE, lambda some, bad, _: kernel(some, *given, bad))
        return then

    def race_pool(self, depth: int, *entries: np.ndarray) -> np.ndarray:
        kernel, times = self.kernels.race_pool, np.empty(entries[0].size)
        given = (self.graph.arrays, self.params, np.uint64(self.seed), depth, *entries, times)
        self.in_slices(np.arange(times.size), SLICE, lambda some, bad, _: kernel(some, *given, bad))
        return times

    def draw_pool(self, depth: int, size: int, begins: np.ndarray, *entries: np.ndarray) -> np.ndarray:
        kernel, picks = self.kernels.draw_pool, np.empty((begins.size - 1, size), np.int64)
        room = np.empty(entries[0].size), np.empty(entries[0].size, np.int64)
        given = (self.graph.arrays, self.params, np.uint64(self.seed), depth, begins, *entries, *room, picks)
        self.in_slices(np.arange(len(picks)), POOLS, lambda some, bad, _: kernel(some, *given, bad))
        return picks

    def draw_numbers(self, instance: np.ndarray, slot: np.ndarray, bound: np.ndarray, tries: int) -> np.ndarray:
        out, seed = np.empty((instance.size, tries), np.int64), np.uint64(self.seed)
        draw = self.kernels.draw_numbers
        self.in_slices(np.arange(instance.size), SLICE, lambda todo, *_: draw(todo, seed, instance, slot, bound, out))
        return out

    def select_neighbors(self, f: Frontier, entries: np.ndarray) -> None:
        if self.needs.independent_picks:
            self._select_by_table(f, entries)
        elif f.trying:
            self._look_up(f, entries)
        elif self.plan.graph_layout.has_sums:
            self._select_by_sums(f, entries)
        else:
            self._select_from_rows(f, entries)

    def _select_by_table(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.select_by_table, (self.graph.arrays, np.uint64(self.seed), arrays_of(f))
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given))

    def select_in_time(self, f: TimedFrontier, entries: np.ndarray) -> None:
        kernel = self.kernels.select_in_time
        given = (self.graph.arrays, np.uint64(self.seed), arrays_of(f), f.now, f.time, self.time_rules)
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given))

    def list_in_time(self, f: TimedFrontier, entries: np.ndarray, size: int) -> None:
        kernel, given = (
            self.kernels.list_in_time,
            (self.graph.arrays, np.uint64(self.seed), arrays_of(f), f.now, f.time),
        )
        drawn = f.depth, size, self.time_rules
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given, *drawn))

    def _look_up(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.look_up, (self.graph.arrays, arrays_of(f), f.offset)
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given))

    def _select_by_sums(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.select_by_sums, (self.graph.arrays, np.uint64(self.seed), arrays_of(f))
        self.in_slices(entries, SLICE, lambda some, _, tally: kernel(some, *given, tally))

    def _select_from_rows(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.select_neighbors, (self.graph.arrays, self.params, np.uint64(self.seed), f.depth)
        arrays = arrays_of(f)
        self.in_slices(entries, SLICE, lambda some, bad, tally: kernel(some, *given, arrays, bad, tally))

    def weigh_rows(
        self, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, out: np.ndarray, biases: np.ndarray
    ) -> None:
        graph, kernel = self.graph.arrays, self.kernels.weigh_rows
        self.in_slices(
            entries, SLICE, lambda some, bad, _: kernel(some, graph, self.params, vertex, start, out, biases, bad)
        )

    def list_rows(self, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, out: np.ndarray) -> None:
        graph, kernel = self.graph.arrays, self.kernels.list_rows
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, graph, vertex, start, out))

    def list_members(
        self, met: np.ndarray, entries: np.ndarray, vertices: np.ndarray, degree: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return edges among members, as in Backend, by a hash table of an instance's members in each thread."""
        graph, kernel, upto = self.graph.arrays, self.kernels.list_members, np.cumsum(degree)
        total = int(upto[-1]) if upto.size else 0
        marks = np.searchsorted(upto, np.arange(MEMBERS_EDGES, total, MEMBERS_EDGES)).tolist()
        bounds = sorted({0, *marks, entries.size})
        counts, found = np.zeros(entries.size, np.int64), [np.empty(0, self.store.id_dtype)] * len(bounds)

        def task(pieces: np.ndarray, *_: np.ndarray) -> None:
            for k in pieces:
                some = slice(bounds[k], bounds[k + 1])
                out = np.empty(int(degree[some].sum()), self.store.id_dtype)
                found[k] = out[: kernel(entries[some], graph, met, self.store.vertices, counts[some], out)].copy()

        self.in_slices(np.arange(len(bounds) - 1), 1, task)
        return counts, np.concatenate(found)

    def select_shared(
        self,
        instance: np.ndarray,
        vertex: np.ndarray,
        start: np.ndarray,
        entries: np.ndarray,
        depth: int,
        size: int,
        out: np.ndarray,
    ) -> None:
        graph, kernel, seed = self.graph.arrays, self.kernels.select_shared, np.uint64(self.seed)
        self.in_slices(
            entries, SLICE, lambda some, *_: kernel(some, graph, seed, instance, vertex, start, depth, size, out)
        )

    def add_scaled(self, sums: np.ndarray, at: np.ndarray, biases: np.ndarray, shift: int) -> None:
        np.add.at(sums, at.astype(np.int64), scaled(np, biases, shift))

    def race_numbers(self, instance: np.ndarray, slot: np.ndarray, number: np.ndarray, rate: np.ndarray) -> np.ndarray:
        times, seed, race = np.empty(number.size), np.uint64(self.seed), self.kernels.race_numbers
        self.in_slices(
            np.arange(number.size), SLICE, lambda some, *_: race(some, seed, instance, slot, number, rate, times)
        )
        return times
