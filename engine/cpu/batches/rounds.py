"""A batch of walks without a limit on the CPU, drawn in rounds of steps, of which each is as long as all before it together.

A round takes every walker that has not ended on to the same step, and has memory for the steps of these alone; where hooks read the path, for their walks from
the source on. Random numbers have addresses,
so the walks are those that one long round would draw.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api.algorithm import MOST_STEPS
from csaw.engine.api.termination import planned_steps, refuse_longest
from csaw.engine.cpu.batches.walks import Walks
from csaw.engine.schedule.backend import ALL

if TYPE_CHECKING:
    from csaw.engine.cpu.backend import CpuBackend


@dataclass(frozen=True)
class Round:
    """The steps ``before + 1`` .. ``before + width`` of some walkers, ascending; ``vertices`` [walkers, width]."""

    before: int
    walkers: np.ndarray
    vertices: np.ndarray


class UnlimitedWalks(Walks):
    """Walkers of instances ``first .. first + len(sources) - 1``, which end by themselves; ``length`` is the last step of the present round."""

    def __init__(self, backend: "CpuBackend", first: int, sources: np.ndarray) -> None:
        self.rounds: list[Round] = []
        self.places = np.zeros(sources.size, np.int64)
        super().__init__(backend, first, sources, planned_steps(backend.algorithm))
        self._begin_round(np.arange(sources.size), 0)

    def _begin_round(self, walkers: np.ndarray, before: int) -> None:
        """Make room for the steps of a round; steps that go to disk need none."""
        if self.paths is not None:
            return
        begin = 0 if self.backend.needs.reads_path else before + 1
        width = self.length + 1 - begin
        vertices = np.empty((walkers.size, width), self.backend.graph.store.id_dtype)
        self.places[walkers] = np.arange(walkers.size) * width - begin
        if begin == 0 and self.rounds:
            self._take_along(walkers, vertices)
        self.rounds.append(Round(begin - 1, walkers, vertices))
        self.out = vertices.reshape(-1), self.places

    def _take_along(self, walkers: np.ndarray, vertices: np.ndarray) -> None:
        """Move the walks of those who go on from the last round into ``vertices``, because hooks read walks from their sources on."""
        last = self.rounds.pop()
        rows, ended = np.searchsorted(last.walkers, walkers), np.ones(last.walkers.size, bool)
        vertices[:, : last.vertices.shape[1]] = last.vertices[rows]
        ended[rows] = False
        self.rounds.append(Round(last.before, last.walkers[ended], last.vertices[ended]))

    def _make_room(self, sources: np.ndarray) -> None:
        """Nothing yet: a round makes its own."""

    def advance(self) -> None:
        """Take every walker on until it has ended or needs a row that is not in memory, round after round."""
        super().advance()
        while not self.alive.any() and self._next_round():
            super().advance()

    def _next_round(self) -> bool:
        """Begin another round with the walkers that have not ended; False where all have."""
        before = self.length
        going = np.flatnonzero(self.step == before)  # a walk that ends in a round does not reach its last step
        if going.size == 0:
            return False
        refuse_longest(before, self.first + int(going[0]))
        self.length = min(2 * before, MOST_STEPS)
        self.alive[going] = 1
        self.still, self.rest = going.size, self._steps_left(going)
        self._begin_round(going, before)
        if self.queues is not None:
            self._queue(self.queues, going)
        return True

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        """``walks``: the vertices of all walks, one after the other; ``lengths`` [n]: their steps."""
        first, last, _ = rows.indices(self.step.size)
        last = max(first, last)
        lengths = self.step[first:last]
        ends = np.cumsum(lengths + 1)
        places = ends - lengths - 1
        walks = np.empty(int(ends[-1]) if ends.size else 0, self.backend.graph.store.id_dtype)
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

    def dead_ends(self) -> int:
        """All of them: each has ended by itself."""
        return int(self.step.size)
