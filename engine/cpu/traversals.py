"""A batch of traversal samples in progress on the CPU: one frontier a depth, entries in order of (instance, slot).

An entry's slot is its number in the instance's order of sampling, sources first; it addresses the entry's random numbers.
"""

import numpy as np

SLICE = 2048


class Traversals:
    """Instances ``first ..`` with ``sources`` vertices [instances, frontier size]."""

    def __init__(self, backend, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.algorithm = backend, first, backend.algorithm
        self.instances, width = sources.shape
        self.sizes = self.algorithm.sizes()
        self.hops = backend.layout == "hops"
        self.dtype = np.dtype(backend.graph.store.id_dtype)
        self.none = np.iinfo(self.dtype).max  # all ones: no vertex
        self.sources = sources
        self.sampled: list[tuple[np.ndarray, ...]] = []  # a depth: instance, src, dst
        self.tables = [sources.astype(self.dtype)]
        self.slots = np.full(self.instances, width, np.int64)  # the next free slot of an instance
        local = np.repeat(np.arange(self.instances), width)
        self.seen = np.sort(sources, axis=1).ravel().astype(np.int64)
        self.seen_ptr = np.arange(self.instances + 1, dtype=np.int64) * width
        self.depth = -1
        self.dead = 0
        slot = np.tile(np.arange(width, dtype=np.int64), self.instances)
        self._enter(local, slot, sources.ravel().astype(np.int64), np.full(local.size, -1, np.int64))

    def _enter(self, local: np.ndarray, slot: np.ndarray, vertex: np.ndarray, previous: np.ndarray) -> None:
        """Begin the next depth with these frontier entries."""
        self.depth += 1
        self.local, self.slot, self.vertex, self.previous = local, slot, vertex, previous
        self.instance = local + self.first
        self.seen_from, self.seen_to = self.seen_ptr[local], self.seen_ptr[local + 1]
        self.source = self.sources[local, 0].astype(np.int64)
        self.pending = np.zeros(0, np.int64)
        if self.depth >= len(self.sizes):
            return
        graph, size = self.backend.graph.arrays, self.sizes[self.depth]
        degree = np.where(vertex >= 0, graph.indptr[vertex + 1] - graph.indptr[vertex], 0)
        wanted = degree if size < 0 else np.full(vertex.size, size, np.int64)
        if self.algorithm.geometric is not None:
            wanted = np.empty(vertex.size, np.int64)
            chance = float(self.algorithm.geometric())
            self.backend.kernels.geometric_sizes(self.instance, slot, np.uint64(self.backend.seed), chance, wanted)
        replace = self.algorithm.replace and size >= 0
        self.capacity = np.where(degree > 0, wanted, 0) if replace else np.minimum(wanted, degree)
        if self.hops:
            self.capacity = np.where(vertex >= 0, self.capacity, 0)
            self.start = np.arange(vertex.size, dtype=np.int64) * size
            total = vertex.size * size
        else:
            self.start = np.concatenate([[0], np.cumsum(self.capacity)[:-1]]).astype(np.int64)
            total = int(self.capacity.sum())
        self.out = np.full(total, self.none, self.dtype)
        self.keys = np.empty(total if self.algorithm.collective else 0, np.float64)
        self.found = np.zeros(vertex.size, np.int64)
        self.dead += int(((vertex >= 0) & (degree == 0)).sum())
        self.pending = np.flatnonzero(self.capacity)

    def wants(self) -> np.ndarray:
        here = self.backend.graph.partition_of(self.vertex[self.pending]).astype(np.int64)
        before = here
        if self.backend.second_order:
            previous = self.previous[self.pending]
            before = np.where(previous < 0, here, self.backend.graph.partition_of(np.maximum(previous, 0)))
        return np.stack([here, before], axis=1)

    def advance(self) -> None:
        """Select for every entry whose row is loaded; at the end of a depth, go on to the next."""
        while True:
            ready = self.pending
            if self.backend.streamed:
                mask = self.backend.graph.loaded[self.wants()].all(axis=1)
                ready, self.pending = ready[mask], ready[~mask]
            else:
                self.pending = ready[:0]
            self.backend.in_slices(ready, SLICE, self._task)
            if self.pending.size or self.depth >= len(self.sizes):
                return
            self._next_depth()
            if self.depth >= len(self.sizes):
                return
            if (
                self.backend.streamed
                and self.pending.size
                and not self.backend.graph.loaded[self.wants()].all(axis=1).any()
            ):
                return

    def _task(self, entries: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        graph, seed, kernels = backend.graph.arrays, np.uint64(backend.seed), backend.kernels
        if backend.by_table:
            kernels.select_by_table(
                entries,
                graph,
                seed,
                self.instance,
                self.slot,
                self.vertex,
                self.start,
                self.capacity,
                self.found,
                self.out,
            )
            return
        kernels.select_neighbors(
            entries, graph, backend.params, seed, self.depth, self.instance, self.slot, self.vertex, self.previous, self.source,
            self.seen_from, self.seen_to, self.seen, self.start, self.capacity, self.found, self.out, self.keys, bad, tally,
        )  # fmt: skip

    def _next_depth(self) -> None:
        """What was found, in order, and the frontier it makes."""
        if self.hops:
            return self._next_hop()
        entry = np.repeat(np.arange(self.vertex.size), self.found)
        order = np.arange(entry.size) - np.repeat(np.cumsum(self.found) - self.found, self.found)
        cell = self.start[entry] + order
        if self.algorithm.collective:
            entry, cell = self._smallest_keys(entry, cell)
        local, src, dst = self.local[entry], self.vertex[entry], self.out[cell].astype(np.int64)
        self.sampled.append((local, src, dst))
        slot = self._new_slots(local)
        keep = self._first_visits(local, dst) if self.algorithm.visited_once else np.arange(dst.size)
        return self._enter(local[keep], slot[keep], dst[keep], src[keep])

    def _next_hop(self) -> None:
        width = self.tables[-1].shape[1] * self.sizes[self.depth]
        self.tables.append(self.out.reshape(self.instances, width))
        vertex = np.where(self.out == self.none, -1, self.out.astype(np.int64))
        first = sum(t.shape[1] for t in self.tables[:-1])
        slot = np.tile(np.arange(first, first + width, dtype=np.int64), self.instances)
        previous = np.repeat(self.vertex, max(self.sizes[self.depth], 0))
        return self._enter(np.repeat(np.arange(self.instances), width), slot, vertex, previous)

    def _smallest_keys(self, entry: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of all pools of an instance together, the neighbors with the smallest keys."""
        order = np.lexsort((cell, self.keys[cell], self.local[entry]))
        entry, cell = entry[order], cell[order]
        local = self.local[entry]
        first = np.searchsorted(local, np.arange(self.instances))
        keep = np.arange(local.size) - first[local] < self.sizes[self.depth]
        return entry[keep], cell[keep]

    def _new_slots(self, local: np.ndarray) -> np.ndarray:
        """The slots of newly sampled vertices, in order; ``local`` is sorted."""
        count = np.bincount(local, minlength=self.instances)
        slot = np.arange(local.size) - np.repeat(np.cumsum(count) - count, count) + self.slots[local]
        self.slots += count
        return slot

    def _first_visits(self, local: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Which sampled vertices are new to their instance, first occurrences only; adds them to ``seen``."""
        order = np.lexsort((np.arange(dst.size), dst, local))
        fresh = np.ones(order.size, bool)
        fresh[1:] = (local[order][1:] != local[order][:-1]) | (dst[order][1:] != dst[order][:-1])
        new = order[fresh]
        owner = np.concatenate([np.repeat(np.arange(self.instances), np.diff(self.seen_ptr)), local[new]])
        seen = np.concatenate([self.seen, dst[new]])
        sort = np.lexsort((seen, owner))
        self.seen = seen[sort]
        self.seen_ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=self.instances))]).astype(np.int64)
        return np.sort(new)

    def arrays(self) -> dict[str, np.ndarray]:
        if self.hops:
            return {f"hop_{i}": table for i, table in enumerate(self.tables)}
        local = np.concatenate([s[0] for s in self.sampled]) if self.sampled else np.zeros(0, np.int64)
        depth = np.repeat(np.arange(len(self.sampled)), [s[0].size for s in self.sampled])
        order = np.lexsort((np.arange(local.size), local))
        src, dst = (np.concatenate([s[i] for s in self.sampled]) if self.sampled else local for i in (1, 2))
        kept = self.sources if self.algorithm.sources_from != "every" else self.sources[:, :0]
        return {
            "counts": np.bincount(local, minlength=self.instances),
            "src": src[order].astype(self.dtype),
            "dst": dst[order].astype(self.dtype),
            "depth": depth[order],
            "source_counts": np.full(self.instances, kept.shape[1], np.int64),
            "sources": kept.ravel().astype(self.dtype),
        }

    def edges(self) -> int:
        if self.hops:
            return int(sum((table != self.none).sum() for table in self.tables[1:]))
        return int(sum(s[0].size for s in self.sampled))

    def dead_ends(self) -> int:
        return self.dead
