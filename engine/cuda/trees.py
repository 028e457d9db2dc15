"""A batch of traversal samples on a GPU whose picks are uniform: one kernel takes every instance through all depths; see trees.cu."""

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from csaw.engine.cuda.launch import WARP, struct

TREE_BLOCK = 128  # threads of an instance: TREE_BLOCK of trees.cu
ROOM_BYTES = 1 << 30  # for instances drawn at a time
GROWTH = 8  # how much more room those get that were short of it
LARGEST_SPAN = 1 << 30  # slots are 32 bits


@dataclass(frozen=True)
class Grown:
    """What one launch left behind: the kernel's struct, and the arrays that it points to."""

    trees: np.ndarray
    count: int
    arrays: tuple[Any, ...]


class Trees:
    """Instances ``first ..`` with ``sources`` vertices [instances, frontier size]."""

    def __init__(self, backend: Any, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.span = backend, first, backend.tree_span
        self.instances, self.width = sources.shape
        self.dtype = np.dtype(backend.store.id_dtype)
        self.sources = cupy.asarray(sources, self.dtype)
        self.sizes = cupy.asarray(np.asarray(backend.plan.sizes, np.int64))
        self.source_counts = cupy.full(self.instances, self.width, np.int64)
        self.parts: list[dict[str, Any]] = []  # runs of instances, in order
        self.found = self.dead = 0

    def advance(self) -> None:
        at_a_time = max(1, ROOM_BYTES // self._room_bytes(self.span))
        for low in range(0, self.instances, at_a_time):
            self.parts.append(self._draw(low, min(low + at_a_time, self.instances)))

    def _draw(self, low: int, high: int) -> dict[str, Any]:
        """The instances low .. high - 1 of the batch; those that are short of room again with more, until none is."""
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
            missing, span = again[:short], min(GROWTH * span, LARGEST_SPAN)
            totals[:1] = 0
        self.found += found
        self.dead += dead
        return {"counts": counts} | self._pack(grown, upto, found)

    def _grow(self, low: int, high: int, missing: Any, span: int, counts: Any, again: Any, totals: Any) -> Grown:
        """Launch for all of the instances low .. high - 1, or for the ``missing`` ones of them."""
        kernels, algorithm = self.backend.kernels, self.backend.algorithm
        count = high - low if missing is None else missing.size
        room = {name: cupy.empty(count * size, dtype) for name, size, dtype in self._room(span)}
        chance = 0.0 if algorithm.geometric is None else float(algorithm.geometric())
        trees = struct(
            first=self.first + low, count=count, numbers=missing, width=self.width, depths=self.sizes.size, span=span, buckets=_buckets(self.width + span),
            sizes=self.sizes, limit=np.uint64(chance * 2.0**32), sources=self.sources[low:high], **room, counts=counts, again=again, totals=totals,
        )  # fmt: skip
        kernels.launch("grow_trees", count, TREE_BLOCK, trees, np.uint64(self.backend.seed))
        return Grown(trees, count, (missing, *room.values()))

    def _room(self, span: int) -> list[tuple[str, int, Any]]:
        """The arrays of an instance with ``span`` edges, in the order of the kernel's struct: name, elements, type."""
        cells, buckets = self.width + span, _buckets(self.width + span)
        by_edge = [(name, span, self.dtype) for name in ("src", "stage", "picked")]
        lists = [(name, cells, np.uint32) for name in ("frontier", "start", "found")]
        return [
            ("vertex", cells, self.dtype), *by_edge, ("seen", buckets, self.dtype), ("depth", span, np.uint16), *lists,
            ("gaps", TREE_BLOCK // WARP * cells, np.uint32), ("order", buckets, np.uint32), ("held", 1, np.int64),
        ]  # fmt: skip

    def _room_bytes(self, span: int) -> int:
        return sum(size * np.dtype(dtype).itemsize for _, size, dtype in self._room(span))

    def _pack(self, grown: list[Grown], upto: Any, found: int) -> dict[str, Any]:
        """The edges in order of instance."""
        edges = {"src": cupy.empty(found, self.dtype), "dst": cupy.empty(found, self.dtype), "depth": cupy.empty(found, np.int64)}  # fmt: skip
        for one in grown if found else ():
            self.backend.kernels.over("pack_trees", WARP * one.count, one.trees, upto, *edges.values())
        return edges

    def arrays(self) -> dict[str, np.ndarray]:
        return self.backend.to_host(self._samples())

    def _samples(self) -> dict[str, Any]:
        """The sample store's arrays, in order of instance."""
        whole = self.parts[0] if len(self.parts) == 1 else {
            name: cupy.concatenate([part[name] for part in self.parts]) for name in self.parts[0]
        }  # fmt: skip
        return whole | {"source_counts": self.source_counts, "sources": self.sources.ravel()}

    def edges(self) -> int:
        return self.found

    def dead_ends(self) -> int:
        return self.dead


def _buckets(cells: int) -> int:
    """Of a hash table of ``cells`` vertices: a power of two, at most half full."""
    return 1 << (2 * cells - 1).bit_length()
