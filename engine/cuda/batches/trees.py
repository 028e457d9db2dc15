"""A batch of traversal samples on a GPU with uniform picks: one kernel takes every instance through all depths; see
engine/cuda/kernels/trees.cu.
"""

from dataclasses import dataclass
from itertools import accumulate

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.api.option import LARGEST
from csaw.engine.cuda.declarations import TREE_BLOCK, WARP, struct
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.plan.selection import coin
from csaw.engine.schedule.backend import ALL

ROOM_BYTES = 1 << 30  # memory for the instances drawn at a time
ROOM_GROWTH = 8  # factor by which the room of an instance grows when it was too small
ALIGNMENT = 16
LARGEST_SPAN = 1 << 30  # slots are 32 bits


@dataclass(frozen=True)
class Grown:
    """Result of one launch: the kernel's struct, and the memory that it points to."""

    trees: np.ndarray
    count: int
    memory: tuple[Array, ...]


class Trees:
    """Instances ``first ..``; ``sources``: dense ids [instances, frontier size]."""

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.backend, self.first, self.span = backend, first, backend.plan.tree_edges
        self.instances, self.width = len(sources), 0 if backend.needs.everywhere else sources.shape[1]
        self.dtype = np.dtype(backend.store.id_dtype)
        self.sources = cupy.asarray(sources[:, : self.width], self.dtype)
        self.sizes = cupy.asarray(np.asarray(backend.plan.sizes, np.int64))
        self.kept = self.sources[:, :0] if backend.rule.everywhere else self.sources
        self.source_counts = cupy.full(self.instances, self.kept.shape[1], np.int64)
        self.samples: dict[str, Array] = {}  # filled once all instances are drawn
        self.found = 0
        self.dead = self.instances * backend.isolated if backend.needs.everywhere and any(backend.plan.sizes) else 0

    def advance(self) -> None:
        at_a_time = max(1, ROOM_BYTES // sum(size for _, size in self._room(self.span)))
        parts = [
            self._draw(low, min(low + at_a_time, self.instances)) for low in range(0, max(self.instances, 1), at_a_time)
        ]
        whole = parts[0] if len(parts) == 1 else {n: cupy.concatenate([part[n] for part in parts]) for n in parts[0]}
        self.samples = whole | {"source_counts": self.source_counts, "sources": self.kept.ravel()}

    def _draw(self, low: int, high: int) -> dict[str, Array]:
        """Draw instances low .. high - 1 of the batch; those whose room is too small are drawn again with more.

        MemoryError if one is too large.
        """
        counts, span = cupy.empty(high - low, np.int64), self.span
        grown, missing = [], None
        totals = cupy.zeros(3, np.uint64)  # instances short of room, edges, dead ends
        while True:
            again = cupy.empty(high - low if missing is None else missing.size, np.int64)
            grown.append(self._grow(low, high, missing, span, counts, again, totals))
            upto = cupy.cumsum(counts)
            short, found, dead = (int(number) for number in totals.get())
            if not short:
                break
            missing, span = again[:short], ROOM_GROWTH * span
            if span > LARGEST_SPAN:
                raise MemoryError(f"{short} instances of more than {span // ROOM_GROWTH:,} edges each")
            totals[:1] = 0
        self.found += found
        self.dead += dead
        return {"counts": counts} | self._pack(grown, upto, found)

    def _grow(
        self, low: int, high: int, missing: Array, span: int, counts: Array, again: Array, totals: Array
    ) -> Grown:
        """Launch for instances low .. high - 1, or for the ``missing`` ones of them, each with room for ``span`` edges.

        Fills ``counts`` (edges of each instance), ``again`` (instances that are short of room) and adds to ``totals``.
        """
        kernels, rule = self.backend.kernels, self.backend.rule
        count = high - low if missing is None else missing.size
        ends = list(accumulate(-(-count * size // ALIGNMENT) * ALIGNMENT for _, size in self._room(span)))
        memory = cupy.empty(ends[-1], np.uint8)
        begins = (np.uint64(memory.data.ptr + begin) for begin in (0, *ends))
        room = {name: begin for (name, _), begin in zip(self._room(span), begins, strict=False)}
        limit, rest = (np.uint64(number) for number in (coin(self.backend.traversal) if rule.coins else (0, 0)))
        trees = struct(
            "Trees",
            first=self.first + low,
            count=count,
            numbers=missing,
            width=self.width,
            depths=self.sizes.size,
            span=span,
            buckets=_buckets(self.width + span),
            total=LARGEST if rule.total is None else rule.total,
            sizes=self.sizes,
            limit=limit,
            rest=rest,
            sources=self.sources[low:high],
            **room,
            counts=counts,
            again=again,
            totals=totals,
        )
        kernels.launch("grow_trees", count, TREE_BLOCK, trees, np.uint64(self.backend.seed))
        return Grown(trees, count, (missing, memory))

    def _room(self, span: int) -> list[tuple[str, int]]:
        """The arrays of an instance with room for ``span`` edges, as (name in struct Trees, bytes)."""
        cells, item, by_pool = self.width + span, self.dtype.itemsize, int(self.backend.needs.in_pools)
        buckets, by_row = _buckets(cells), 1 - by_pool
        return [
            ("vertex", item * cells),
            ("src", item * span),
            ("stage", by_row * item * span),
            ("picked", by_row * item * span),
            ("seen", item * buckets),
            ("depth", 2 * span),
            ("frontier", 4 * cells),
            ("start", by_row * 4 * cells),
            ("found", by_row * 4 * cells),
            ("gaps", by_row * TREE_BLOCK // WARP * 4 * cells),
            ("order", 4 * buckets),
            ("sums", by_pool * 8 * cells),
            ("chosen", by_pool * 8 * span),
            ("held", 8),
        ]

    def _pack(self, grown: list[Grown], upto: Array, found: int) -> dict[str, Array]:
        """The ``found`` edges of all launches in order of instance. ``upto``: running sums of the instances' edges."""
        edges = {
            "src": cupy.empty(found, self.dtype),
            "dst": cupy.empty(found, self.dtype),
            "depth": cupy.empty(found, np.int64),
        }
        for one in grown if found else ():
            self.backend.kernels.over("pack_trees", WARP * one.count, one.trees, upto, *edges.values())
        return edges

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        return self.found

    def dead_ends(self) -> int:
        return self.dead


def _buckets(cells: int) -> int:
    """Buckets of a hash table for ``cells`` vertices: a power of two, at most half of them full."""
    return 1 << (2 * cells - 1).bit_length()
