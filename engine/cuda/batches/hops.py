"""A batch of neighbor samples on a GPU, drawn hop by hop.

Picks are uniform or from alias tables or running sums made beforehand.
"""

import cupy
import numpy as np

from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.cuda.structs import struct
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.grouping import worth_grouping
from csaw.engine.schedule.backend import ALL

UNGROUP = 4 * BLOCK  # (vertex, cell) pairs that a block of `ungroup` moves


class Hops:
    """Instances ``first ..``; ``sources``: dense ids [instances, frontier size]."""

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.backend, self.first = backend, first
        self.tables = [cupy.asarray(sources, backend.store.id_dtype)]
        self.counts = cupy.zeros(2, np.uint64)  # dead ends, edges

    def advance(self) -> None:
        slot = 0
        for size in self.backend.plan.sizes:
            parents = self.tables[-1]
            children = cupy.empty((len(parents), parents.shape[1] * size), parents.dtype)
            if children.size > 0:
                grouped = worth_grouping(self.backend.plan, self.backend.store.edges, parents.size, size)
                (self._hop_grouped if grouped else self._hop)(parents, children, size, slot)
            self.tables.append(children)
            slot += parents.shape[1]

    def _hop_grouped(self, parents: Array, children: Array, size: int, slot: int) -> None:
        """Draw a hop with parents in the order of their rows, then move the children back into the order of cells."""
        grouped, number, count = self.backend.transits.group(parents)
        drawn = cupy.empty_like(children)
        self._hop(parents, drawn, size, slot, grouped, count)
        blocks = -(-parents.size * -(-size // 2) // UNGROUP)
        self.backend.kernels.launch("ungroup", blocks, BLOCK, parents.size, np.uint32(size), number, drawn, children)

    def _hop(
        self, parents: Array, children: Array, size: int, slot: int, grouped: Array = None, count: Array = None
    ) -> None:
        kernels, by_sums = self.backend.kernels, self.backend.plan.graph_layout.has_sums
        staged = kernels.staged(parents.size, size)
        hop = struct(
            "Hop",
            first=self.first,
            parents=parents.size,
            width=np.uint32(parents.shape[1]),
            size=np.uint32(size),
            slot=np.uint32(slot),
            parent=parents,
            child=children,
            grouped=grouped,
            grouped_parents=count,
            staged=np.uint32(staged),
        )
        replace = self.backend.algorithm.replace
        name = "with_replacement" if replace else "distinct_by_sums" if by_sums else "distinct"
        tally = (self.backend.counts,) if name == "distinct_by_sums" else ()
        counts = self.counts[:1], self.counts[1:]
        kernels.launch(
            f"hop_{name}", -(-parents.size // staged), BLOCK, hop, np.uint64(self.backend.seed), *counts, *tally
        )

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host({f"hop_{i}": table[rows] for i, table in enumerate(self.tables)})

    def on_device(self) -> dict[str, Array]:
        return {f"hop_{i}": table for i, table in enumerate(self.tables)}

    def edges(self) -> int:
        return int(self.counts[1])

    def dead_ends(self) -> int:
        return int(self.counts[0])
