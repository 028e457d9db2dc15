"""The CUDA backend: kernels specialised for one plan, a graph in the memory of one GPU."""

import math
from functools import cached_property, partial
from itertools import pairwise
from types import ModuleType
from typing import Any

import cupy
import numpy as np

from csaw.engine.batches.induced import Induced
from csaw.engine.batches.traversals import Traversals
from csaw.engine.cpu.typed_hooks import check_own_hooks
from csaw.engine.cuda import arrays
from csaw.engine.cuda.batches.begin import begun
from csaw.engine.cuda.batches.transits import Transits
from csaw.engine.cuda.compile_cupy import time_compiler
from csaw.engine.cuda.constants import HUB_BLOCK, WARP
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.host_partitions import HostPartitions
from csaw.engine.cuda.graphs.node import Node
from csaw.engine.cuda.graphs.pooled import PooledGraph
from csaw.engine.cuda.graphs.resident import DeviceGraph
from csaw.engine.cuda.graphs.streamed import StreamedGraph
from csaw.engine.cuda.graphs.streamed_tables import StreamedTables
from csaw.engine.cuda.kernel_source import builder_of, kernels_of, sparse_pools, tree_span, whole_minibatches
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, pinned
from csaw.engine.cuda.streams import Streams
from csaw.engine.cuda.structs import struct
from csaw.engine.plan.contracts import Array, Batch, Store
from csaw.engine.plan.hop_tables import in_tables
from csaw.engine.plan.methods import Method
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.residency import Residency
from csaw.engine.plan.selection import coin
from csaw.engine.schedule.backend import TALLY, Backend
from csaw.partition.base.kernel_time import Stopwatch
from csaw.partition.base.stages import LOADING, stage

HUB = 2048  # rows of at least this many neighbors get a large block
SPARE_KEYS = 64
ROW_BLOCK = 128  # threads that list a row
PASSES = 3  # times that a row is read to compute its biases: see weigh.cuh


class CudaBackend(Backend):
    """Runs a plan's batches on one GPU; only the thread that made it may use it, except for ``arrays`` of a batch."""

    xp: ModuleType = arrays
    graph: DeviceGraph | PooledGraph | StreamedGraph
    failures = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)

    def __init__(
        self, plan: Plan, store: Store, algorithm: Any, device: Device, node: Node, devices: tuple[Device, ...]
    ) -> None:
        super().__init__(plan, store, algorithm)
        check_own_hooks(self)
        self.device = cupy.cuda.Device(device.number)
        self.device.use()
        self.streams = Streams(plan.policy.balancing)
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.bad = cupy.zeros(3, np.int64)
        self.counts = cupy.zeros(len(TALLY), np.uint64)
        self.selects_in_groups = not self.constants()["UNIFORM"] and not plan.graph_layout.has_sums
        self.in_tables, self.sparse_pools, self.tree_span = (
            in_tables(plan, algorithm),
            sparse_pools(self),
            tree_span(self),
        )
        self.whole_minibatches = whole_minibatches(self)
        self.ends_early = bool(self.others["update"] or self.others["dead_end"] or store.directed)
        time_compiler()
        watch = Stopwatch()
        self.kernels, builder = Kernels(kernels_of(self), device), Kernels(builder_of(self), device)
        found = watch.read()
        with stage(LOADING):
            self.graph = self._load_graph(builder, node, devices)
            self.wait()
        loaded = watch.read() - found
        self.kernels_seconds, self.loading_seconds = found.whole + loaded.anywhere, loaded.rest
        self.kernels.set_graph(self.graph.address())

    def begin(self, first: int, sources: np.ndarray) -> Batch:
        batch = begun(self, first, sources)
        return self.induce(batch, len(sources)) if self.plan.induced and not self.plan.request.target else batch

    def induce(self, batch: Batch, instances: int) -> Batch:
        return Induced(self, batch, instances)

    @cached_property
    def transits(self) -> Transits:
        """The ranges of edges by which parents of hops are grouped."""
        return Transits(self.graph, self.kernels)

    @property
    def tally(self) -> np.ndarray:
        return self.counts.get()

    def bytes_in_place(self, entries: float, picks: float, edges: float) -> float:
        """Cost of serving ``entries`` without loading their partitions, over the bus or from the disk, as bytes a copy moves in the same time.

        ``picks``: neighbors to select for all of them. ``edges``: total length of their rows.
        """
        if self.plan.residency.from_store:
            each = 2 if self.needs.second_order else 1  # rows that an entry needs
            rates = self.plan.rates
            return rates.disk_cost * each * (entries * rates.row_bytes + edges * self.needs.edge.stored)
        if self.select.exact_number:
            return picks * self.plan.rates.pick_bytes
        if self.select is Method.REJECTION:
            return (
                picks * self.plan.rates.pick_bytes * (2 + math.log2(self.store.max_degree + 2))
            )  # a trial also searches the previous vertex's row
        return entries * self.plan.rates.pick_bytes + PASSES * edges * (self.store.id_dtype.itemsize + 4)

    def bytes_of_picks(self, picks: int) -> float:
        """Cost of one pick each of ``picks`` walkers, as ``bytes_in_place``."""
        whole = self.plan.residency.from_store or not self.select.by_edge
        return self.bytes_in_place(picks, picks, picks * self.graph.mean_row if whole else 0)  # type: ignore[union-attr]

    def candidates(self, size: int) -> int:
        """Most neighbors of one row that can take part in a collective selection of ``size``, with some to spare."""
        return 2 * size + SPARE_KEYS if size > 0 else 0

    def geometric_sizes(self, instance: Array, slot: Array, most: Array) -> Array:
        """int64 [n]: the number of neighbors that coins say each frontier entry asks for, at most ``most``."""
        sizes, flip = cupy.empty(slot.size, np.int64), tuple(np.uint64(number) for number in coin(self.algorithm))
        self.kernels.over(
            "geometric_sizes", slot.size, slot.size, instance, slot, np.uint64(self.seed), *flip, most, sizes
        )
        return sizes

    def draw_numbers(self, instance: Array, slot: Array, bound: Array, tries: int) -> Array:
        """int64 [n, tries]: random numbers below ``bound`` [n], which may repeat."""
        out = cupy.empty((instance.size, tries), np.int64)
        self.kernels.over("draw_numbers", out.size, len(out), tries, np.uint64(self.seed), instance, slot, bound, out)
        return out

    def draw_subsets(self, instance: Array, slot: Array, bound: Array, size: int, first: int) -> Array:
        """As in Backend. The host draws them, because they are few."""
        return cupy.asarray(super().draw_subsets(instance.get(), slot.get(), bound.get(), size, first))

    def weigh_rows(self, vertex: Array, start: Array, entries: Array, out: Array, biases: Array) -> None:
        self._over_rows("weigh_rows", entries, vertex, start, out, biases, self.kernels.params, self.bad)
        self.check()

    def list_rows(self, vertex: Array, start: Array, entries: Array, out: Array) -> None:
        self._over_rows("list_rows", entries, vertex, start, out)

    def select_shared(self, instance: Array, vertex: Array, start: Array, entries: Array, depth: int, size: int, out: Array) -> None:  # fmt: skip
        self._over_rows("select_shared", entries, np.uint64(self.seed), instance, vertex, start, depth, size, out)

    def _over_rows(self, name: str, entries: Array, *arguments: Any) -> None:
        self.kernels.launch(name, min(entries.size, 1 << 20), ROW_BLOCK, entries.size, entries, *arguments)

    def race_numbers(self, instance: Array, slot: Array, number: Array, rate: Array) -> Array:
        times, seed = cupy.empty(number.size, np.float64), np.uint64(self.seed)
        self.kernels.over("race_numbers", number.size, number.size, seed, instance, slot, number, rate, times)
        return times

    def select_neighbors(self, f: Traversals, entries: Array) -> None:
        """Select neighbors of the frontier entries numbered ``entries``, all in one launch unless the plan's policy splits it."""
        if not isinstance(self.graph, StreamedGraph):
            return self._select(f, entries)
        here = self.graph.partition_of(f.vertex[entries])
        loaded = np.flatnonzero(self.graph.loaded).tolist()
        return self.streams.run(
            loaded, lambda part, _: self._select_queue(f, entries if part < 0 else entries[here == part])
        )

    def _select_queue(self, f: Traversals, entries: Array) -> None:
        """Serve a partition's entries in one launch; without batching, in one launch for each instance."""
        if self.plan.policy.batching:
            return self._select(f, entries)
        local = f.local[entries]
        for instance in cupy.unique(local).tolist():
            self._select(f, entries[local == instance])
        return None

    def _select(self, f: Traversals, entries: Array) -> None:
        if entries.size == 0:
            return
        frontier = struct(
            "Frontier", instance=f.instance, slot=f.slot, vertex=f.vertex, previous=f.previous, source=f.source, seen_from=f.seen_from,
            seen_to=f.seen_to, seen=f.seen, start=f.start, capacity=f.capacity, found=f.found, out=f.out, edge=f.edge, key=f.keys,
        )  # fmt: skip
        if f.trying:
            self.kernels.over("look_up", WARP * entries.size, entries.size, entries, frontier, f.offset)
            return
        if self.needs.independent_picks:
            size = f.sizes[f.depth]
            self.kernels.over(
                "select_by_table", entries.size * size, entries.size, entries, frontier, size, np.uint64(self.seed)
            )
            return
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

    def _select_rows(self, frontier: np.ndarray, f: Traversals, entries: Array, room: Array, block: int) -> None:
        """Select with ``block`` threads an entry, for as many entries at a time as scratch memory has room for. ``room`` [n]: candidates of each."""
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
                "Scratch", offset=offset, biases=cupy.empty(size, np.float64), ctps=cupy.empty(size, np.int64), pool=cupy.empty(size, np.int64),
                picked=cupy.empty(size, np.int64), taken=cupy.empty(2 * ((size >> 6) + high - low + 1), np.uint32),
            )  # fmt: skip
            self.kernels.launch(
                "select_neighbors", min(high - low, 1 << 20), block, high - low, entries[low:high], frontier, scratch,
                self.kernels.params, np.uint64(self.seed), f.depth, f.sizes[f.depth], self.bad, self.counts,
            )  # fmt: skip

    def check(self) -> None:
        """Wait for the kernels and raise the error that one has noted."""
        self.graph.check(self.bad)

    def to_host(self, arrays: dict[str, Array]) -> dict[str, np.ndarray]:
        """Copy arrays to page-locked memory while kernels draw the next batch."""
        with cupy.cuda.Device(self.device.id), self.copies:  # the device also matters for allocating page-locked memory
            hosts = {name: pinned(array.shape, array.dtype) for name, array in arrays.items()}
            for name, array in arrays.items():
                array.get(out=hosts[name], blocking=False)
            self.copies.synchronize()
        return hosts

    def kernel_seconds(self) -> tuple[float, float]:
        """Seconds in the kernels of a streamed run, and their deviation between parallel streams as a share of the mean."""
        return self.streams.seconds()

    def wait(self) -> None:
        cupy.cuda.get_current_stream().synchronize()

    def release(self) -> None:
        """Give unused memory of CuPy's pools back."""
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()

    def close(self) -> None:
        self.stop.set()
        if isinstance(self.graph, StreamedGraph):
            self.graph.close()
        self.graph = self.kernels = None  # type: ignore[assignment]
        self.release()

    def _load_graph(
        self, builder: Kernels, node: Node, devices: tuple[Device, ...]
    ) -> DeviceGraph | PooledGraph | StreamedGraph:
        store, layout, residency = self.store, self.plan.graph_layout, self.plan.residency
        if residency is Residency.RESIDENT:
            return node.resident(partial(self._load_whole, builder))
        if residency is Residency.POOLED:
            return PooledGraph(store, layout, builder, node, devices, self.needs, self._columns())
        room = self.plan.host_bytes if residency.from_store else None
        host = node.host_copy(partial(HostPartitions, store, self.needs, room=room, gpus=len(devices)))
        kind = StreamedTables if self.needs.alias_tables else StreamedGraph
        few = self.plan.policy.in_place and self.plan.policy.balancing  # single rows are in no partition's queue
        given = {"few": few, "disk_cost": self.plan.rates.disk_cost, "columns": self._columns()}
        return kind(store, layout, builder, host, self.plan.capacity, self.needs, **given)

    def _columns(self) -> Array:
        """The columns of data of vertices in the GPU's memory; None without."""
        columns = self.algorithm.vertex_columns
        return on_device(columns.table) if columns.names else None

    def _load_whole(self, builder: Kernels) -> DeviceGraph:
        layout, membership = self.plan.graph_layout, self.plan.membership
        needs, searched = self.needs, membership == "filter"
        # Rows stay if the return edge's weight is searched in them, or if a step may read a whole row.
        weighed = (needs.return_apart and not self.weighs_members) or needs.may_be_hopeless
        return DeviceGraph(
            self.store, layout, builder, needs, membership=membership, weighs_members=self.weighs_members,
            keeps_indices=layout.keeps_rows or searched or weighed or self.plan.lists_members, keeps_weights=layout.keeps_weights or weighed,
            columns=self._columns(),
        )  # fmt: skip
