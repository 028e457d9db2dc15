"""Mini-batches drawn by budgets on the CPU: threads add up what rows give, and look up edges, by hash tables of an
instance; see engine/cpu/kernels/budgets.py.
"""

import numpy as np

from csaw.engine.batches.budgets import Budgets
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
            table, given, _ = backend.kernels.give_shares(
                self.pending, backend.graph.arrays, self.vertex, *backend.kernels.begin_budgets(self.known)
            )
            self._draw(0, table, given, 0)

    def _give(self, entries: np.ndarray) -> None:
        kernel, graph = self.backend.kernels.give_shares, self.backend.graph.arrays
        ends = begins(np, self.local[entries], self.instances)
        self.tables = self.backend.of_each(
            self.instances, lambda i: kernel(entries[ends[i] : ends[i + 1]], graph, self.vertex, *self.tables[i])
        )
        self.backend.claim(CELL_BYTES * sum(table.size for table, _, _ in self.tables))

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

    def _members(self, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        backend, degree = self.backend, self.degree[entries]
        kernel, graph = backend.kernels.find_members, backend.graph.arrays
        pieces = list(in_pieces(np, degree, MEMBERS_EDGES))
        found: list[np.ndarray] = [np.empty((3, 0), np.int64)] * len(pieces)

        def run(some: np.ndarray, *_: np.ndarray) -> None:
            for k in some.tolist() or [-1]:
                here = pieces[k] if k >= 0 else slice(0, 0)
                out = np.empty((3, int(degree[here].sum())), np.int64)
                kept = kernel(entries[here], graph, self.vertex, self.local, self.known, self.vertices, out)
                if k >= 0:
                    found[k] = out[:, :kept].copy()

        backend.in_slices(np.arange(len(pieces)), 1, run)
        entry, at, place = np.concatenate([np.empty((3, 0), np.int64), *found], axis=1)
        return entry, at, place
