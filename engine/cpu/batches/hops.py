"""A batch of neighbor samples on the CPU with uniform picks, drawn hop by hop; see engine/cpu/kernels/hops.py."""

from collections.abc import Callable

import numpy as np

from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.samples.layouts.hops import time_names
from csaw.engine.schedule.backend import ALL

SLICE = 16384  # parents of a task


class HopTables:
    """Instances ``first ..``; ``sources``: dense ids [instances, frontier size]."""

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.backend, self.first = backend, first
        self.tables = [sources.astype(backend.store.id_dtype)]
        self.counts = np.zeros(2, np.int64)  # number of children, and of parents without a neighbor

    def advance(self) -> None:
        slot = 0
        for size in self.backend.plan.sizes:
            parents = self.tables[-1]
            children = np.empty((len(parents), parents.shape[1] * size), parents.dtype)
            self._hop(parents, children, size, slot)
            self.tables.append(children)
            slot += parents.shape[1]

    def _hop(self, parents: np.ndarray, children: np.ndarray, size: int, slot: int) -> None:
        if not size:
            return
        backend, begins = self.backend, np.arange(0, parents.size, SLICE)
        kernel, beside, behind = self._kernel(parents, children)
        width = max(parents.shape[1], 1)
        found = np.zeros((len(begins) + 1, 2), np.int64)

        def task(piece: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            begin = int(piece[0]) if piece.size else parents.size  # an empty slice compiles the kernel
            kernel(
                begin,
                min(begin + SLICE, parents.size),
                backend.graph.arrays,
                np.uint64(backend.seed),
                self.first,
                width,
                slot,
                size,
                parents.reshape(-1),
                *beside,
                children.reshape(-1),
                *behind,
                found[begin // SLICE],
            )

        backend.in_slices(begins, 1, task)
        self.counts += found.sum(axis=0)

    def _kernel(
        self, parents: np.ndarray, children: np.ndarray
    ) -> tuple[Callable[..., object], tuple[object, ...], tuple[object, ...]]:
        """The kernel that draws a hop, and what it takes beside the parents and behind their children."""
        return self.backend.kernels.hop, (), ()

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return {f"hop_{i}": table[rows] for i, table in enumerate(self.tables)}

    on_device = arrays

    def edges(self) -> int:
        return int(self.counts[0])

    def dead_ends(self) -> int:
        return int(self.counts[1])


# A batch of neighbor samples in time on the CPU, drawn hop by hop; see engine/cpu/kernels/hops.py.


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

    def _kernel(
        self, parents: np.ndarray, children: np.ndarray
    ) -> tuple[Callable[..., object], tuple[object, ...], tuple[object, ...]]:
        *before, time = self.times
        known = before[-1 if self.backend.against_previous else 0]
        beside = known.reshape(-1), parents.size // max(known.size, 1)
        return self.backend.kernels.hop_in_time, beside, (time.reshape(-1), self.backend.time_rules)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        names = time_names(self.times)
        return super().arrays(rows) | {name: table[rows] for name, table in zip(names, self.times, strict=True)}

    on_device = arrays
