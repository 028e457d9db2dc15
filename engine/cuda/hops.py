"""A batch of neighbor samples on a GPU whose picks are uniform or from tables made beforehand: hop after hop, nothing in between."""

from typing import Any

import cupy
import numpy as np

from csaw.engine.backend import ALL
from csaw.engine.cuda.launch import BLOCK, WARP, struct

BUCKETS, TILE, NEAR = 2048, 32, 8  # GROUP_BUCKETS, GROUP_TILE and NEAR of hops.cu


class Transits:
    """Which range of edges a vertex belongs to: what parents are grouped by. Made once a graph."""

    def __init__(self, graph: Any) -> None:
        self.shift = max(graph.store.edges // BUCKETS, 1).bit_length()
        first = graph.indptr[:: 1 << NEAR]
        held = cupy.diff(cupy.concatenate([first, graph.indptr[-1:]]))
        narrow = held <= 1 << self.shift
        self.coarse = cupy.where(narrow, first >> self.shift, 2**32 - 1).astype(np.uint32)


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

    def _grouped(self, parents: Any) -> Any:
        """Parents by where their rows are, {vertex, cell} of each; None where they keep their order."""
        kernels, transits = self.backend.kernels, self.backend.transits
        if transits is None or parents.size == 0:
            return None
        counts = cupy.zeros(BUCKETS, np.uint32)
        given = (parents.size, parents, transits.coarse, transits.shift)
        kernels.launch("group_count", 4 * kernels.device.processors, BLOCK, *given, counts)
        upto = cupy.cumsum(counts, dtype=np.uint32)
        grouped = cupy.empty(2 * parents.size, np.uint32)
        kernels.launch("group_scatter", -(-parents.size // (BLOCK * TILE)), BLOCK, *given, upto - counts, grouped)
        return grouped

    def _hop(self, parents: Any, children: Any, size: int, slot: int) -> None:
        kernels, seed = self.backend.kernels, np.uint64(self.backend.seed)
        grouped = self._grouped(parents)
        hop = struct(
            first=self.first, parents=parents.size, width=np.uint32(parents.shape[1]), size=np.uint32(size), slot=np.uint32(slot),
            parent=parents, child=children, grouped=grouped,
        )  # fmt: skip
        given = (hop, seed, self.counts[:1], self.counts[1:])
        if size == 0:
            return
        if self.backend.plan.graph_layout == "ctps":
            kernels.over("hop_by_ctps", parents.size, *given, self.backend.counts)
        elif self.backend.by_table:
            kernels.launch("hop_with_replacement", self._blocks(parents.size * -(-size // 2)), BLOCK, *given)
        else:
            kernels.launch("hop_distinct", self._blocks(parents.size * WARP // (WARP // size)), BLOCK, *given)

    def _blocks(self, threads: int) -> int:
        """Enough for the device to choose from, few enough that what each adds to the counts is little."""
        return min(-(-threads // BLOCK), 64 * self.backend.kernels.device.processors)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host({f"hop_{i}": table[rows] for i, table in enumerate(self.tables)})

    def edges(self) -> int:
        return int(self.counts[1])

    def dead_ends(self) -> int:
        return int(self.counts[0])
