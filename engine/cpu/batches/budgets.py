"""Mini-batches drawn by budgets on the CPU: threads add up what rows give, and look up edges, by hash tables of an
instance; see engine/cpu/kernels/budgets.py.
"""

import numpy as np

from csaw.engine.batches.budgets import Budget, Budgets, added_up
from csaw.engine.batches.traversals import begins, in_pieces
from csaw.engine.cpu.runner import MEMBERS_EDGES, CpuRunner


class HostBudgets(Budgets):
    """The batch of Budgets on the CPU, with the same sample."""

    backend: CpuRunner

    def _given(self, entries: np.ndarray) -> Budget:
        backend, ends = self.backend, begins(np, self.local[entries], self.instances)
        kernel, graph = backend.kernels.give_shares, backend.graph.arrays
        found: list[np.ndarray] = [np.empty((3, 0), np.int64)] * self.instances

        def run(some: np.ndarray, *_: np.ndarray) -> None:
            for i in some.tolist() or [-1]:  # an empty slice compiles the kernel
                here = entries[ends[i] : ends[i + 1]] if i >= 0 else entries
                shares = kernel(here, graph, self.vertex, self.vertices)
                shares[0] += i * self.vertices
                if i >= 0:
                    found[i] = shares

        backend.in_slices(np.flatnonzero(np.diff(ends)), 1, run)
        return added_up(np, Budget(*np.concatenate([np.empty((3, 0), np.int64), *found], axis=1)))

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
