"""The CUDA backend: the selection of neighbors for frontiers of traversals, then a class of batches for each kind."""

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.batches.backend import ANYWHERE
from csaw.engine.cuda.batches.hops import DeviceMiniBatches, Hops, HopsByRelation, HopsInTime
from csaw.engine.cuda.batches.layers import DeviceLayers
from csaw.engine.cuda.batches.trees import Trees
from csaw.engine.cuda.batches.walks import ClockWalks, UnlimitedWalks, Walks
from csaw.engine.cuda.compile import sparse_pools
from csaw.engine.cuda.declarations import HUB_BLOCK, TRIAL_BLOCK, WARP, struct
from csaw.engine.cuda.graphs.streamed import StreamedGraph
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.choices import Method
from csaw.engine.plan.contracts import Batch, Frontier, OpenLinks, TimedFrontier
from csaw.engine.plan.selection import coin
from csaw.engine.schedule.specialization import time_rules

# Selection of neighbors on a GPU, for the frontiers of traversals.

HUB = 2048  # rows of at least this many neighbors get a large block
SPARE_KEYS = 64
ROW_BLOCK = 128  # threads that list a row


class CudaSelector(CudaRunner):
    """Selects in one launch for all entries of a frontier, or in a few where scratch memory is short."""

    @cached_property
    def sparse_pools(self) -> bool:
        """Whether kernels store the complement of each pool."""
        return sparse_pools(self)

    def candidates(self, size: int) -> int:
        """Most neighbors of one row that can take part in a collective selection of ``size``, with some to spare."""
        return 2 * size + SPARE_KEYS if size > 0 else 0

    def geometric_sizes(self, instance: Array, slot: Array, most: Array) -> Array:
        sizes, flip = cupy.empty(slot.size, np.int64), tuple(np.uint64(number) for number in coin(self.traversal))
        self.kernels.over(
            "geometric_sizes", slot.size, slot.size, instance, slot, np.uint64(self.seed), *flip, most, sizes
        )
        return sizes

    def update_frontier(self, depth: int, *edges: Array) -> Array:
        then, seed = cupy.empty(edges[0].size, np.int64), np.uint64(self.seed)
        self.kernels.over(
            "update_frontier", then.size, then.size, self.kernels.params, seed, depth, *edges, then, self.bad
        )
        self.check()
        return then

    def race_pool(self, depth: int, *entries: Array) -> Array:
        times, seed = cupy.empty(entries[0].size, np.float64), np.uint64(self.seed)
        self.kernels.over(
            "race_pool", times.size, times.size, self.kernels.params, seed, depth, *entries, times, self.bad
        )
        self.check()
        return times

    def draw_pool(self, depth: int, size: int, begins: Array, *entries: Array) -> Array:
        picks, seed = cupy.empty((begins.size - 1, size), np.int64), np.uint64(self.seed)
        room = cupy.empty(entries[0].size, np.float64), cupy.empty(entries[0].size, np.int64)
        given = (self.kernels.params, seed, depth, size, begins, *entries, *room, picks, self.bad)
        self.kernels.launch("draw_pool", min(len(picks), 1 << 20), WARP, len(picks), *given)
        self.check()
        return picks

    def draw_numbers(self, instance: Array, slot: Array, bound: Array, tries: int) -> Array:
        out = cupy.empty((instance.size, tries), np.int64)
        self.kernels.over("draw_numbers", out.size, len(out), tries, np.uint64(self.seed), instance, slot, bound, out)
        return out

    def draw_subsets(self, instance: Array, slot: Array, bound: Array, size: int, first: int) -> Array:
        """Draw subsets on the host, because they are few."""
        return cupy.asarray(super().draw_subsets(instance.get(), slot.get(), bound.get(), size, first))

    def weigh_rows(self, vertex: Array, start: Array, entries: Array, out: Array, biases: Array) -> None:
        self._over_rows("weigh_rows", entries, vertex, start, out, biases, self.kernels.params, self.bad)
        self.check()

    def list_rows(self, vertex: Array, start: Array, entries: Array, out: Array) -> None:
        self._over_rows("list_rows", entries, vertex, start, out)

    def select_shared(
        self, instance: Array, vertex: Array, start: Array, entries: Array, depth: int, size: int, out: Array
    ) -> None:
        self._over_rows("select_shared", entries, np.uint64(self.seed), instance, vertex, start, depth, size, out)

    def _over_rows(self, name: str, entries: Array, *arguments: object) -> None:
        self.kernels.launch(name, min(entries.size, 1 << 20), ROW_BLOCK, entries.size, entries, *arguments)

    def race_numbers(self, instance: Array, slot: Array, number: Array, rate: Array) -> Array:
        times, seed = cupy.empty(number.size, np.float64), np.uint64(self.seed)
        self.kernels.over(
            "race_numbers", number.size, number.size, seed, instance, slot, number, rate.astype(np.float64), times
        )
        return times

    def draw_negatives(self, f: OpenLinks, entries: Array, bounds: np.ndarray, upto: Array) -> None:
        each = f.negatives.shape[1]
        given = np.uint64(self.seed), f.first, f.source, f.place, cupy.asarray(bounds), upto if upto.size else None
        self_too = bool(getattr(self.algorithm, "allow_self", False))
        self.kernels.over(
            "draw_negatives", entries.size * each, entries.size, entries, *given, self_too, each, f.links, f.negatives
        )

    def add_scaled(self, sums: Array, at: Array, biases: Array, shift: int) -> None:
        self.kernels.over("add_scaled", at.size, at.size, at, biases, shift, sums)

    def select_neighbors(self, f: Frontier, entries: Array) -> None:
        """Select neighbors of the frontier entries numbered ``entries``.

        This is one launch unless the plan's policy splits it.
        """
        self._over_queues(f, entries, self._select)

    def select_in_time(self, f: TimedFrontier, entries: Array) -> None:
        window, seed = time_rules(self.algorithm).window, np.uint64(self.seed)

        def select(f: Frontier, some: Array) -> None:
            given = (some.size, some, _struct_of(f), f.now, f.time, window, seed)  # type: ignore[attr-defined]
            self.kernels.over("select_in_time", -(-some.size // WARP) * WARP, *given)

        self._over_queues(f, entries, select)

    def list_in_time(self, f: TimedFrontier, entries: Array, size: int) -> None:
        window, seed = time_rules(self.algorithm).window, np.uint64(self.seed)
        self._over_rows("list_in_time", entries, _struct_of(f), f.now, f.time, window, seed, f.depth, size)

    def _over_queues(self, f: Frontier, entries: Array, select: Callable[[Frontier, Array], None]) -> None:
        """Have ``select`` serve the entries, together unless the plan's policy splits them."""
        if not isinstance(self.graph, StreamedGraph):
            return select(f, entries)
        here = self.graph.partition_of(f.vertex[entries])
        loaded = np.flatnonzero(self.graph.loaded).tolist()
        return self.streams.run(
            loaded, lambda part, _: self._select_queue(f, entries if part < 0 else entries[here == part], select)
        )

    def _select_queue(self, f: Frontier, entries: Array, select: Callable[[Frontier, Array], None]) -> None:
        """Serve a partition's entries in one launch; without batching, in one launch for each instance."""
        if self.plan.policy.batching:
            return select(f, entries)
        local = f.local[entries]
        for instance in cupy.unique(local).tolist():
            select(f, entries[local == instance])
        return None

    def _select(self, f: Frontier, entries: Array) -> None:
        if entries.size == 0:
            return
        frontier = _struct_of(f)
        if f.trying:
            self.kernels.over("look_up", WARP * entries.size, entries.size, entries, frontier, f.offset)
            return
        if self.needs.independent_picks:
            size = f.sizes[f.depth]
            self.kernels.over(
                "select_by_table", entries.size * size, entries.size, entries, frontier, size, np.uint64(self.seed)
            )
            return
        if self.plan.graph_layout.has_sums:
            lanes, given = f.sizes[f.depth], (np.uint64(self.seed), self.counts)
            warps = -(-entries.size // (WARP // lanes))
            self.kernels.over("select_by_sums", WARP * warps, entries.size, entries, frontier, np.uint32(lanes), *given)
            return
        if self.select is Method.REJECTION:
            entries = self._left_by_trials(frontier, f, entries)
        room = f.degree[entries]
        if self.picks_numbers:
            room = cupy.minimum(room, f.capacity[entries])
        elif self.sparse_pools:
            room = cupy.minimum(room, 2 * (f.seen_to[entries] - f.seen_from[entries]) + f.capacity[entries])
        if self.store.max_degree < HUB:
            self._select_rows(frontier, f, entries, room, WARP)
        else:
            for of_size, block in ((room < HUB, WARP), (room >= HUB, HUB_BLOCK)):
                self._select_rows(frontier, f, entries[of_size], room[of_size], block)
        self.check()

    def _left_by_trials(self, frontier: np.ndarray, f: Frontier, entries: Array) -> Array:
        """Select by trials; the entries that do not have all picks then."""
        bounds = struct("TrialBounds", **self.bounds_of_trials(f.depth)._asdict())
        given = self.kernels.params, np.uint64(self.seed), f.depth, bounds, self.counts
        self.kernels.over("try_edges", WARP * entries.size, entries.size, entries, frontier, *given, block=TRIAL_BLOCK)
        return entries[f.found[entries] < f.capacity[entries]]

    def _select_rows(self, frontier: np.ndarray, f: Frontier, entries: Array, room: Array, block: int) -> None:
        """Select with ``block`` threads an entry, for as many entries at a time as scratch memory has room for.

        ``room`` [n]: candidates of each.
        """
        if entries.size == 0:
            return
        upto = cupy.cumsum(room)
        total = int(upto[-1])
        cuts, most = [0, entries.size], self.plan.scratch_edges
        if total > most:
            marks = cupy.searchsorted(upto, cupy.arange(most, total, most)).tolist()
            cuts = sorted({0, *marks, entries.size})
        for low, high in pairwise(cuts):
            before = int(upto[low - 1]) if low else 0
            size = int(upto[high - 1]) - before
            offset = upto[low:high] - room[low:high] - before
            scratch = struct(
                "Scratch",
                offset=offset,
                biases=cupy.empty(size, np.float64),
                ctps=cupy.empty(size, np.int64),
                pool=cupy.empty(size, np.int64),
                picked=cupy.empty(size, np.int64),
                taken=cupy.empty(2 * ((size >> 6) + high - low + 1), np.uint32),
            )
            self.kernels.launch(
                "select_neighbors",
                min(high - low, 1 << 20),
                block,
                high - low,
                entries[low:high],
                frontier,
                scratch,
                self.kernels.params,
                np.uint64(self.seed),
                f.depth,
                f.sizes[f.depth],
                self.bad,
                self.counts,
            )


def _struct_of(f: Frontier) -> np.ndarray:
    """The arrays of a frontier as kernels take them."""
    return struct(
        "Frontier",
        instance=f.instance,
        slot=f.slot,
        vertex=f.vertex,
        previous=f.previous,
        source=f.source,
        seen_from=f.seen_from,
        seen_to=f.seen_to,
        seen=f.seen,
        start=f.start,
        capacity=f.capacity,
        found=f.found,
        out=f.out,
        edge=f.edge,
        key=f.keys,
    )


# The CUDA backend.

Begin = Callable[[CudaRunner, int, np.ndarray], Batch]


class CudaBackend(CudaSelector):
    """Draws a plan's batches on one GPU."""

    batches: ClassVar[Mapping[BatchKind, Begin]] = {
        **ANYWHERE,
        BatchKind.WALKS: Walks,
        BatchKind.UNLIMITED_WALKS: UnlimitedWalks,
        BatchKind.CLOCK_WALKS: ClockWalks,
        BatchKind.WHOLE_MINIBATCHES: DeviceMiniBatches,
        BatchKind.LAYERS: DeviceLayers,
        BatchKind.TREES: Trees,
        BatchKind.HOP_TABLES: Hops,
        BatchKind.HOP_TABLES_BY_RELATION: HopsByRelation,
        BatchKind.HOP_TABLES_IN_TIME: HopsInTime,
    }
