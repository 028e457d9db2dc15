"""Mini-batches drawn by budgets on the CPU: threads add up what rows give, and look up edges, by hash tables of an
instance; see engine/cpu/kernels/budgets.py.
"""

import numpy as np

from csaw.engine.batches.budgets import Budgets, BudgetsInTime
from csaw.engine.batches.traversals import begins, in_pieces
from csaw.engine.cpu.runner import MEMBERS_EDGES, CpuRunner

CELL_BYTES = 24  # of a table of budgets


class HostBudgets(Budgets):
    """The batch of Budgets on the CPU, with the same sample."""

    backend: CpuRunner

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        super().__init__(backend, first, sources)
        self.away = np.zeros(1, np.int64) if self.rows is None else self.rows.firsts[:-1] - self.rows.bases
        members = np.split(self.known % self.vertices, begins(np, self.known // self.vertices, self.instances)[1:-1])
        self.tables: list[tuple[np.ndarray, np.ndarray, int]] = []
        self.tables += backend.of_each(self.instances, lambda i: backend.kernels.begin_budgets(members[i]))
        if not self.instances:  # an empty batch compiles the kernels
            table, given, _ = self._given(self.pending, 0, *backend.kernels.begin_budgets(self.known))
            self._draw(0, table, given, 0)

    def _give(self, entries: np.ndarray) -> None:
        ends = begins(np, self.local[entries], self.instances)
        self.tables = self.backend.of_each(
            self.instances, lambda i: self._given(entries[ends[i] : ends[i + 1]], self._now(i), *self.tables[i])
        )
        self.backend.claim(CELL_BYTES * sum(table.size for table, _, _ in self.tables))

    def _given(
        self, entries: np.ndarray, now: int, table: np.ndarray, given: np.ndarray, filled: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The budgets of an instance after what these entries give."""
        backend, rules = self.backend, (np.int64(now), self.backend.time_rules, self._lengths())
        found: tuple[np.ndarray, np.ndarray, int] = backend.kernels.give_shares(
            entries, backend.graph.arrays, self.vertex, *rules, table, given, filled
        )
        return found

    def _now(self, instance: int) -> int:
        """The time before which edges of an instance count; any where times do not."""
        return 0

    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        found = self.backend.of_each(self.instances, lambda i: self._draw(i, *self.tables[i][:2], self.depth))
        local = np.repeat(np.arange(self.instances), [one.size for one in found])
        return local, np.concatenate([np.zeros(0, np.int64), *found])

    def _draw(self, instance: int, table: np.ndarray, given: np.ndarray, depth: int) -> np.ndarray:
        """int64 [n]: the vertices that a layer of an instance draws."""
        draw, seed = self.backend.kernels.draw_budgets, np.uint64(self.backend.seed)
        types = self.bases, self.away, self.numbers[depth]
        found: np.ndarray = draw(table, given, seed, self.first + instance, depth, *types)
        return found

    def _members(self, entries: np.ndarray) -> tuple[np.ndarray, ...]:
        backend, degree, columns = self.backend, self.degree[entries], 3 + self.backend.needs.timed
        kernel, graph = backend.kernels.find_members, backend.graph.arrays
        pieces = list(in_pieces(np, degree, MEMBERS_EDGES))
        found: list[np.ndarray] = [np.empty((columns, 0), np.int64)] * len(pieces)
        known = self.vertex, self.local, self.known, self.vertices, self._nows(), backend.time_rules

        def run(some: np.ndarray, *_: np.ndarray) -> None:
            for k in some.tolist() or [-1]:
                here = pieces[k] if k >= 0 else slice(0, 0)
                out = np.empty((columns, int(degree[here].sum())), np.int64)
                kept = kernel(entries[here], graph, *known, out)
                if k >= 0:
                    found[k] = out[:, :kept].copy()

        backend.in_slices(np.arange(len(pieces)), 1, run)
        return tuple(np.concatenate([np.empty((columns, 0), np.int64), *found], axis=1))

    def _nows(self) -> np.ndarray:
        """int64 [entries]: the time before which edges of each row count; none where times do not."""
        return self.vertex[:0]


class HostBudgetsInTime(HostBudgets, BudgetsInTime):
    """The batch of BudgetsInTime on the CPU, with the same sample."""

    def _now(self, instance: int) -> int:
        return int(self.seed_time[instance * self.width])

    def _nows(self) -> np.ndarray:
        return self.now
