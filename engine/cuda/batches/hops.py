"""A batch of neighbor samples on a GPU, drawn hop by hop.

Picks are uniform or from alias tables or running sums made beforehand.
"""

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.kernel_source import hop_kernel
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.cuda.structs import struct
from csaw.engine.plan.planning import worth_grouping
from csaw.engine.samples.layouts.hops import time_names
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.specialization import time_rules

UNGROUP = 4 * BLOCK  # (vertex, cell) pairs that a block of `ungroup` moves


class Hops:
    """Instances ``first ..``; ``sources``: dense ids [instances, frontier size]."""

    ungroups = "ungroup"  # the kernel that moves children back

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.backend, self.first = backend, first
        self.tables = [cupy.asarray(sources, backend.store.id_dtype)]
        self.counts = cupy.zeros(2, np.uint64)  # dead ends, edges

    def advance(self) -> None:
        slot = 0
        for size in self.backend.plan.sizes:
            parents = self.tables[-1]
            children = self._room(parents, size)
            if children[0].size > 0:
                grouped = worth_grouping(self.backend.plan, self.backend.store.edges, parents.size, size)
                (self._hop_grouped if grouped else self._hop)(parents, children, size, slot)
            self._keep(children)
            slot += parents.shape[1]

    def _room(self, parents: Array, size: int) -> tuple[Array, ...]:
        """Tables for what is noted of the children of a hop: which vertices they are."""
        return (cupy.empty((len(parents), parents.shape[1] * size), parents.dtype),)

    def _keep(self, children: tuple[Array, ...]) -> None:
        """Keep what was drawn at a hop."""
        self.tables.append(children[0])

    def _hop_grouped(self, parents: Array, children: tuple[Array, ...], size: int, slot: int) -> None:
        """Draw a hop with parents in the order of their rows, then move the children back into the order of cells."""
        grouped, number, count = self.backend.transits.group(parents)
        drawn = tuple(cupy.empty_like(table) for table in children)
        self._hop(parents, drawn, size, slot, grouped, count)
        blocks = -(-parents.size * -(-size // 2) // UNGROUP)
        self.backend.kernels.launch(
            self.ungroups, blocks, BLOCK, parents.size, np.uint32(size), number, *drawn, *children
        )

    def _hop(
        self,
        parents: Array,
        children: tuple[Array, ...],
        size: int,
        slot: int,
        grouped: Array = None,
        count: Array = None,
    ) -> None:
        kernels = self.backend.kernels
        staged = kernels.staged(parents.size, size)
        hop = struct(
            "Hop",
            first=self.first,
            parents=parents.size,
            width=np.uint32(parents.shape[1]),
            size=np.uint32(size),
            slot=np.uint32(slot),
            parent=parents,
            child=children[0],
            grouped=grouped,
            grouped_parents=count,
            staged=np.uint32(staged),
        )
        name, before, behind = self._kernel(parents, children)
        counts = self.counts[:1], self.counts[1:]
        kernels.launch(
            name, -(-parents.size // staged), BLOCK, hop, *before, np.uint64(self.backend.seed), *counts, *behind
        )

    def _kernel(
        self, parents: Array, children: tuple[Array, ...]
    ) -> tuple[str, tuple[object, ...], tuple[object, ...]]:
        """The kernel that draws a hop, and what it takes before the seed and behind the counts."""
        name = hop_kernel(self.backend)
        return name, (), (self.backend.counts,) if name == "hop_distinct_by_sums" else ()

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host({name: table[rows] for name, table in self.on_device().items()})

    def on_device(self) -> dict[str, Array]:
        return {f"hop_{i}": table for i, table in enumerate(self.tables)}

    def edges(self) -> int:
        return int(self.counts[1])

    def dead_ends(self) -> int:
        return int(self.counts[0])


# A batch of neighbor samples in time on a GPU, drawn hop by hop.


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

    def _kernel(
        self, parents: Array, children: tuple[Array, ...]
    ) -> tuple[str, tuple[object, ...], tuple[object, ...]]:
        known = self.times[-1 if self.backend.against_previous else 0]
        return "hop_in_time", (known, np.uint32(parents.size // known.size), children[1], self.window), ()

    def on_device(self) -> dict[str, Array]:
        return super().on_device() | dict(zip(time_names(self.times), self.times, strict=True))
