"""A batch of walks in progress on the CPU."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.backend import ALL
from csaw.engine.plan.methods import Method
from csaw.engine.plan.selection import bounds
from csaw.engine.schedule.crowds import crowds

if TYPE_CHECKING:
    from csaw.engine.cpu.backend import CpuBackend

SLICE = 8192  # walkers of a task: enough to keep 64 lanes full, few enough to share among threads


class Walks:
    """Walkers of instances ``first .. first + len(sources) - 1``; see kernels/walk.py for the state arrays."""

    comes_back = True  # an instance may return to a partition that it has left

    def __init__(self, backend: "CpuBackend", first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.length = backend, first, backend.algorithm.walk_length
        self.source = sources.astype(np.int64)
        self.at = self.source.copy()
        self.prev = np.full(sources.size, -1, np.int64)
        self.step = np.zeros(sources.size, np.int64)
        self.alive = np.full(sources.size, self.length > 0, np.uint8)
        self.waiting = np.flatnonzero(self.alive)  # walkers that have not ended
        self.out = backend.recycled.empty((sources.size, self.length + 1), backend.graph.store.id_dtype)
        if (
            self.length == 0
        ):  # otherwise kernels write the sources, so that threads share the first touch of this memory
            self.out[:, 0] = sources

    def wants(self) -> np.ndarray:
        """The partitions that walkers wait for: see schedule/crowds.py."""
        return crowds(np, self.backend.graph, self.needs())

    def needs(self) -> tuple[np.ndarray, ...]:
        """The vertex whose row each waiting walker needs; for second-order walks also its previous vertex, whose row it needs too."""
        here = self.at[self.waiting]
        if not self.backend.needs.second_order:
            return (here,)
        previous = self.prev[self.waiting]
        return here, np.where(previous < 0, here, previous)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading rows one by one, for one step of each waiting walker and for all their steps, as bytes read in order in the same time."""
        rest = int((self.length - self.step[self.waiting]).sum())
        return self.backend.bytes_of_picks(self.waiting.size), self.backend.bytes_of_picks(rest)

    def advance(self) -> None:
        """Take every walker on until it is done or needs a row that is not in memory."""
        todo = self.waiting
        if self.backend.streamed:
            readable = [self.backend.graph.can_read(vertices) for vertices in self.needs()]
            todo = todo[readable[0] & readable[-1]]
        self.backend.in_slices(todo, SLICE, self._task)
        self.waiting = self.waiting[self.alive[self.waiting].view(bool)]

    def _task(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        kernels, graph = backend.kernels, backend.graph.arrays
        seed, length = np.uint64(backend.seed), self.length
        state = (self.source, self.at, self.prev, self.step, self.alive, self.out)
        if backend.select is Method.REJECTION:
            within = bounds(backend.algorithm)
            kernels.walk_by_rejection(todo, self.first, graph, backend.params, within, seed, length, *state, bad, tally)
        elif backend.select.exact_number:
            kernels.walk_by_edge(todo, self.first, graph, backend.params, seed, length, *state, bad)
        else:
            kernels.walk_by_row(todo, self.first, graph, backend.params, seed, length, *state, bad)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return {"walks": self.out[rows], "lengths": self.step[rows]}

    on_device = arrays

    def edges(self) -> int:
        return int(self.step.sum())

    def dead_ends(self) -> int:
        return int((self.step < self.length).sum())
