"""A batch of neighbor samples in time on the CPU, drawn hop by hop; see kernels/hops_in_time.py."""

from collections.abc import Callable

import numpy as np

from csaw.engine.cpu.batches.hops import HopTables
from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.samples.layouts.hops import time_names
from csaw.engine.schedule.backend import ALL


class HopTablesInTime(HopTables):
    """Instances ``first ..``, whose vertices pick among their edges before a time that they know.

    ``sources`` int64 [instances, frontier size, 2]: the vertices that they start from, and their times. ``times``:
    int64 tables of the shapes of ``tables``, the times of sources, and of the edges to the vertices of each hop.
    """

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        super().__init__(backend, first, sources[:, :, 0])
        self.times = [np.ascontiguousarray(sources[:, :, 1], np.int64)]

    def _hop(self, parents: np.ndarray, children: np.ndarray, size: int, slot: int) -> None:
        self.times.append(np.empty(children.shape, np.int64))
        super()._hop(parents, children, size, slot)

    def _kernel(self, parents: np.ndarray, children: np.ndarray) -> tuple[Callable, tuple, tuple]:
        *before, time = self.times
        known = before[-1 if self.backend.algorithm.against_previous else 0]
        beside = known.reshape(-1), parents.size // max(known.size, 1)
        return self.backend.kernels.hop_in_time, beside, (time.reshape(-1), self.backend.time_rules)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        names = time_names(self.times)
        return super().arrays(rows) | {name: table[rows] for name, table in zip(names, self.times, strict=True)}

    on_device = arrays
