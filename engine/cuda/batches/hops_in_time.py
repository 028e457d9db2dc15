"""A batch of neighbor samples in time on a GPU, drawn hop by hop."""

import cupy
import numpy as np

from csaw.engine.cuda.batches.hops import Hops
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.plan.contracts import Array
from csaw.engine.samples.layouts.hops import time_names
from csaw.engine.schedule.time_rules import time_rules


class HopsInTime(Hops):
    """Instances ``first ..``, whose vertices pick among their edges before a time that they know.

    ``sources`` int64 [instances, frontier size, 2]: the vertices that they start from, and their times. ``times``:
    int64 tables of the shapes of ``tables``, the times of sources, and of the edges to the vertices of each hop.
    """

    ungroups = "ungroup_in_time"

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        super().__init__(backend, first, sources[:, :, 0])
        self.times = [cupy.ascontiguousarray(cupy.asarray(sources[:, :, 1], np.int64))]
        self.window = time_rules(backend.algorithm).window

    def _room(self, parents: Array, size: int) -> tuple[Array, ...]:
        (children,) = super()._room(parents, size)
        return children, cupy.empty(children.shape, np.int64)

    def _keep(self, children: tuple[Array, ...]) -> None:
        super()._keep(children)
        self.times.append(children[1])

    def _kernel(self, parents: Array, children: tuple[Array, ...]) -> tuple[str, tuple, tuple]:
        known = self.times[-1 if self.backend.algorithm.against_previous else 0]
        return "hop_in_time", (known, np.uint32(parents.size // known.size), children[1], self.window), ()

    def on_device(self) -> dict[str, Array]:
        return super().on_device() | dict(zip(time_names(self.times), self.times, strict=True))
