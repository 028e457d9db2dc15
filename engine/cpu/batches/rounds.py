"""A batch of walks without a limit on the CPU: see engine/batches/rounds.py."""

import numpy as np

from csaw.engine.api.termination import planned_steps
from csaw.engine.batches.rounds import Rounds
from csaw.engine.cpu.batches.walks import Walks
from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.schedule.backend import ALL


class UnlimitedWalks(Rounds, Walks):
    """Walkers of instances ``first .. first + len(sources) - 1``, which end by themselves."""

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.rounds, self.before = [], 0
        self.places = backend.recycled.filled(sources.shape, 0, np.int64)
        super().__init__(backend, first, sources, planned_steps(backend.algorithm))
        self._place_steps(np.arange(sources.size))

    def _make_room(self, sources: np.ndarray) -> None:
        """Nothing yet: a round makes its own."""

    def _draw(self) -> None:
        Walks.advance(self)

    def _taken(self) -> np.ndarray:
        return self.step

    def _begin_round(self, walkers: np.ndarray) -> None:
        self.still, self.rest = walkers.size, walkers.size * (self.length - self.before)
        self._place_steps(walkers)
        if self.queues is not None:
            self._queue(self.queues, walkers)

    def _empty(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.backend.recycled.empty(shape, self.backend.store.id_dtype)

    def _place_steps(self, walkers: np.ndarray) -> None:
        """Make room for the steps of a round; steps that go to disk need none."""
        if self.paths is None:
            self.out = self._room_of_round(walkers).reshape(-1), self.places

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        """``walks``: the vertices of all walks, one after the other; ``lengths`` [n]: their steps."""
        first, last, _ = rows.indices(self.step.size)
        last = max(first, last)
        lengths = self.step[first:last]
        ends = np.cumsum(lengths + 1)
        places = ends - lengths - 1
        walks = np.empty(int(ends[-1]) if ends.size else 0, self.backend.store.id_dtype)
        if self.paths is not None:
            self.paths.fill(first, last, places, walks)
            return {"walks": walks, "lengths": lengths}
        walks[places] = self.source[first:last]
        for one in self.rounds:
            low, high = np.searchsorted(one.walkers, (first, last)).tolist()
            self.backend.kernels.gather_round(
                low, high, first, one.walkers, one.before, self.step, places, one.vertices, walks
            )
        return {"walks": walks, "lengths": lengths}

    on_device = arrays
