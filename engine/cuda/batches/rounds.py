"""A batch of walks without a limit on a GPU, drawn in rounds of steps: the twin of engine/cpu/batches/rounds.py."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cupy
import numpy as np

from csaw.engine.api.algorithm import MOST_STEPS
from csaw.engine.api.termination import planned_steps, refuse_longest
from csaw.engine.cuda.batches.walks import Walks
from csaw.engine.cuda.streams import ALL_PARTITIONS
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import ALL

if TYPE_CHECKING:
    from csaw.engine.cuda.backend import CudaBackend

LINE = 16  # steps: a round of a multiple of these is written in whole lines of memory


@dataclass(frozen=True)
class Round:
    """Steps from ``before + 1`` on of some walkers, ascending; ``vertices`` [walkers * width]."""

    before: int
    width: int
    walkers: Array
    vertices: Array


class UnlimitedWalks(Walks):
    """Walkers of instances ``first .. first + len(sources) - 1``, which end by themselves; ``length`` is the last step of the present round.

    Once all have ended, ``walks`` [steps + walkers] has their vertices, one walk after the other.
    """

    def __init__(self, backend: "CudaBackend", first: int, sources: np.ndarray) -> None:
        self.rounds: list[Round] = []
        self.ends = np.zeros(sources.size + 1, np.int64)  # where walks end, in host memory
        super().__init__(backend, first, sources, -(-planned_steps(backend.algorithm) // LINE) * LINE)
        self.places = cupy.zeros(sources.size, np.int64)
        self._begin_round(cupy.arange(sources.size))

    def _room(self, walkers: int) -> Array:
        """Nothing yet: a round makes its own room."""
        return cupy.empty(0, self.source.dtype)

    def _begin_round(self, walkers: Array) -> None:
        begin = 0 if self.backend.needs.reads_path else self.before + 1
        width = self.length + 1 - begin
        self.walks = cupy.empty(walkers.size * width, self.source.dtype)
        self.places[walkers] = cupy.arange(walkers.size) * width - begin
        if begin == 0:
            self._take_along(walkers, self.walks.reshape(walkers.size, width))
        self.rounds.append(Round(begin - 1, width, walkers, self.walks))

    def _take_along(self, walkers: Array, walks: Array) -> None:
        """Begin ``walks`` with the steps of the last round, or with the sources, because hooks read walks from their sources on."""
        if not self.rounds:
            walks[:, 0] = self.source
            return
        last = self.rounds.pop()
        before = last.vertices.reshape(last.walkers.size, last.width)
        rows, ended = cupy.searchsorted(last.walkers, walkers), cupy.ones(last.walkers.size, bool)
        walks[:, : last.width] = before[rows]
        ended[rows] = False
        self.rounds.append(Round(last.before, last.width, last.walkers[ended], before[ended].ravel()))

    def advance(self) -> None:
        """Take every walker on until it has ended or needs a row that is not in memory, round after round."""
        self._draw()
        while not bool(self.alive.any()):
            if not self._next_round():
                self._gather()
                return
            self._draw()

    def _draw(self) -> None:
        if self.backend.streamed:
            self._serve_loaded()
        else:
            self._launch(ALL_PARTITIONS, 1)

    def _next_round(self) -> bool:
        """Begin another round with the walkers that have not ended; False where all have."""
        going = cupy.flatnonzero(
            self.lengths == self.length
        )  # a walk that ends in a round does not reach its last step
        if going.size == 0:
            return False
        refuse_longest(self.length, self.first + int(going[0]))
        self.before, self.length = self.length, min(2 * self.length, MOST_STEPS)
        self.alive[going] = 1
        self._begin_round(going)
        return True

    def _gather(self) -> None:
        """Copy the steps of all rounds to where the walks follow each other."""
        ends = cupy.cumsum(self.lengths.astype(np.int64) + 1)
        self.ends[1:] = ends.get()
        begins = ends - self.lengths - 1
        out = cupy.empty(int(self.ends[-1]), self.source.dtype)
        out[begins] = self.source
        for one in self.rounds:
            if one.walkers.size == 0:
                continue
            self.backend.kernels.over(
                "gather_round", one.vertices.size, one.walkers.size, one.width, one.before, one.walkers, self.lengths, begins, one.vertices, out
            )  # fmt: skip
        self.rounds.clear()
        self.walks = out

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        first, last, _ = rows.indices(self.source.size)
        last = max(first, last)
        walks = self.walks[int(self.ends[first]) : int(self.ends[last])]
        return self.backend.to_host({"walks": walks, "lengths": self.lengths[first:last]})

    def edges(self) -> int:
        return int(self.ends[-1]) - self.source.size

    def dead_ends(self) -> int:
        """All of them: each has ended by itself."""
        return int(self.source.size)
