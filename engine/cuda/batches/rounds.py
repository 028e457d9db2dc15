"""A batch of walks without a limit on a GPU: see engine/batches/rounds.py."""

from functools import cached_property

import cupy
import numpy as np

from csaw.engine.api.termination import planned_steps
from csaw.engine.batches.rounds import Rounds
from csaw.engine.cuda.batches.walks import Walks
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.cuda.streams import ALL_PARTITIONS
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import ALL

LINE = 16  # steps: a round of a multiple of these is written in whole lines of memory


class UnlimitedWalks(Rounds, Walks):
    """Walkers of instances ``first .. first + len(sources) - 1``, which end by themselves.

    Once all have ended, ``walks`` [steps + walkers] has their vertices, one walk after the other.
    """

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.rounds = []
        self.upto: Array = cupy.zeros(0, np.int64)  # where walks end, once all have
        self.total = 0  # vertices of all walks
        super().__init__(backend, first, sources, -(-planned_steps(backend.algorithm) // LINE) * LINE)
        self.places = cupy.zeros(sources.size, np.int64)
        self._begin_round(cupy.arange(sources.size))

    def _room(self, walkers: int) -> Array:
        """Nothing yet: a round makes its own room."""
        return cupy.empty(0, self.source.dtype)

    def _begin_round(self, walkers: Array) -> None:
        self.walks = self._room_of_round(walkers)

    def _draw(self) -> None:
        if self.backend.streamed:
            self._serve_loaded()
        else:
            self._launch(ALL_PARTITIONS, 1)

    def _taken(self) -> Array:
        return self.lengths

    def _end(self) -> None:
        """Copy the steps of all rounds to where the walks follow each other."""
        vertices = self.lengths.astype(np.int64) + 1
        self.upto = cupy.cumsum(vertices)
        self.total = int(self.upto[-1])
        begins = self.upto - vertices
        out = cupy.empty(self.total, self.source.dtype)
        out[begins] = self.source
        for one in self.rounds:
            if one.walkers.size == 0:
                continue
            self.backend.kernels.over(
                "gather_round",
                one.vertices.size,
                one.walkers.size,
                one.vertices.shape[1],
                one.before,
                one.walkers,
                self.lengths,
                begins,
                one.vertices,
                out,
            )
        self.rounds.clear()
        self.walks = out

    @cached_property
    def ends(self) -> np.ndarray:
        """int64 [n + 1]: where walks begin, and where the last one ends, in host memory."""
        return np.append(0, self.backend.to_host({"ends": self.upto})["ends"])

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        first, last, _ = rows.indices(self.source.size)
        last = max(first, last)
        walks = self.walks[int(self.ends[first]) : int(self.ends[last])]
        return self.backend.to_host({"walks": walks, "lengths": self.lengths[first:last]})

    def edges(self) -> int:
        return self.total - self.source.size
