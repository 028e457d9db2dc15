"""A batch of neighbor samples on a GPU whose picks are uniform or from the alias table: table after table, nothing in between."""

from typing import Any

import cupy
import numpy as np

from csaw.engine.cuda.launch import BLOCK, struct
from csaw.engine.cuda.units import HOP_TILES


class Hops:
    """Instances ``first ..`` with ``sources`` vertices [instances, frontier size]."""

    def __init__(self, backend: Any, first: int, sources: np.ndarray) -> None:
        self.backend, self.first = backend, first
        self.tables = [cupy.asarray(sources, backend.store.id_dtype)]
        self.counts = cupy.zeros(2, np.uint64)  # dead ends, edges

    def advance(self) -> None:
        slot = 0
        for size in self.backend.plan.sizes:
            parents = self.tables[-1]
            children = cupy.empty((len(parents), parents.shape[1] * size), parents.dtype)
            self._hop(parents, children, size, slot)
            self.tables.append(children)
            slot += parents.shape[1]

    def _hop(self, parents: Any, children: Any, size: int, slot: int) -> None:
        kernels, seed = self.backend.kernels, np.uint64(self.backend.seed)
        hop = struct(
            first=self.first, parents=parents.size, width=np.uint32(parents.shape[1]), size=np.uint32(size), slot=np.uint32(slot),
            parent=parents, child=children,
        )  # fmt: skip
        if self.backend.by_table:
            kernels.over("hop_with_replacement", parents.size * -(-size // 2), hop, seed)
        elif size:
            lanes = next(tile for tile in HOP_TILES if tile >= size)
            kernels.over(f"hop_distinct_{lanes}", parents.size * lanes, hop, seed)
        blocks = min(-(-max(children.size, parents.size) // BLOCK), 32 * kernels.device.processors)
        kernels.launch("hop_counts", blocks, BLOCK, hop, self.counts[:1], self.counts[1:])

    def arrays(self) -> dict[str, np.ndarray]:
        return self.backend.to_host({f"hop_{i}": table for i, table in enumerate(self.tables)})

    def edges(self) -> int:
        return int(self.counts[1])

    def dead_ends(self) -> int:
        return int(self.counts[0])
