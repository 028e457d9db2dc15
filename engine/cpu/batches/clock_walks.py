"""A batch of multidimensional walks in progress on the CPU."""

import numpy as np

from csaw.engine.api.termination import limit_of
from csaw.engine.cpu.kernels.clocks import AT, PREV, TURN
from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.schedule import crowds


class ClockWalks:
    """Instances ``first ..``, each of [frontier size] walkers that share ``walk_length`` steps; see
    cpu/kernels/clocks.py.
    """

    comes_back = True  # an instance may return to a partition that it has left

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.length = backend, first, limit_of(backend.algorithm)
        self.dtype = np.dtype(backend.graph.store.id_dtype)
        shape = sources.shape
        self.sources = sources
        self.walkers = np.zeros((*shape, 4), np.int64)
        self.walkers[:, :, AT], self.walkers[:, :, PREV] = sources, -1
        self.keys, self.heap = np.empty(shape, np.float64), np.empty(shape, np.int64)
        self.step, self.alive = np.zeros(shape[0], np.int64), np.full(shape[0], self.length > 0, np.uint8)
        self.src = np.empty((shape[0], self.length), self.dtype)
        self.dst = np.empty((shape[0], self.length), self.dtype)
        backend.in_slices(np.arange(shape[0]), 1, self._start)

    def _start(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        b = self.backend
        b.kernels.start_clocks(
            todo, self.first, b.graph.arrays, b.params, np.uint64(b.seed), self.walkers, self.keys, self.heap, bad
        )

    def wants(self) -> np.ndarray:
        return crowds(np, self.backend.graph, self.needs())

    def needs(self) -> tuple[np.ndarray]:
        """The vertex whose row each waiting instance needs: the place of the walker that moves next."""
        waiting = np.flatnonzero(self.alive)
        return (self.walkers[waiting, self.heap[waiting, 0], AT],)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Return the cost of reading rows one by one, for one step of each waiting instance and for all steps.

        The cost is in bytes read in order in the same time.
        """
        waiting, rest = int(wants[:, 2].sum()), int(((self.length - self.step) * self.alive).sum())
        return self.backend.bytes_of_picks(waiting), self.backend.bytes_of_picks(rest)

    def advance(self) -> None:
        todo = np.flatnonzero(self.alive)
        share = todo.size // (2 * self.backend.plan.threads)
        self.backend.in_slices(todo, min(max(share, 1), TURN), self._task)

    def _task(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        b = self.backend
        b.kernels.run_clocks(
            todo,
            self.first,
            b.graph.arrays,
            b.params,
            np.uint64(b.seed),
            self.length,
            self.walkers,
            self.keys,
            self.heap,
            self.step,
            self.alive,
            self.src,
            self.dst,
            bad,
        )

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        taken = np.arange(self.length) < self.step[:, None]
        return {
            "counts": self.step,
            "src": self.src[taken],
            "dst": self.dst[taken],
            "depth": np.broadcast_to(np.arange(self.length), taken.shape)[taken],
            "source_counts": np.full(len(self.step), self.sources.shape[1], np.int64),
            "sources": self.sources.ravel().astype(self.dtype),
        }

    on_device = arrays

    def edges(self) -> int:
        return int(self.step.sum())

    def dead_ends(self) -> int:
        return int((self.step < self.length).sum())
