"""Kernels specialized for one plan, and a graph in a GPU's memory or in its reach, with which batches are drawn."""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial, wraps
from types import ModuleType
from typing import TypeVar

import cupy
import numpy as np
from cupy import ndarray as Array
from cupy.cuda import nvrtc

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.hook_language import is_own
from csaw.engine.batches.backend import BatchBackend
from csaw.engine.cuda import arrays
from csaw.engine.cuda.busy import Busy
from csaw.engine.cuda.compile import Unit, builder_of, compile_all, counts_busy, kernels_of, transfer_of
from csaw.engine.cuda.declarations import GROUP_BLOCK, GROUP_BUCKETS, GROUP_TILE, NEAR_BITS
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.host_partitions import HostPartitions
from csaw.engine.cuda.graphs.node import Node
from csaw.engine.cuda.graphs.pieces import PooledGraph
from csaw.engine.cuda.graphs.resident import DeviceGraph
from csaw.engine.cuda.graphs.streamed import StreamedGraph, StreamedTables
from csaw.engine.cuda.hook_code import HookRefused
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, pinned
from csaw.engine.cuda.transfer import Checks, Originals
from csaw.engine.plan.choices import Method, Residency
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.plan import Plan
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.schedule.backend import TALLY
from csaw.engine.schedule.specialization import time_rules
from csaw.partition.base.kernel_time import Stopwatch, compiles
from csaw.partition.base.stages import LOADING, stage

# Grouping of a hop's parents by the place of their rows in the graph: see engine/cuda/kernels/transits.cu.

TILE = GROUP_TILE * GROUP_BLOCK


class Transits:
    """The range of edges that each vertex's row is in, computed once for a graph."""

    def __init__(self, graph: Array, kernels: Array) -> None:
        self.kernels = kernels
        self.shift = max(graph.store.edges // GROUP_BUCKETS, 1).bit_length()
        first = graph.indptr[:: 1 << NEAR_BITS]
        held = cupy.diff(cupy.concatenate([first, graph.indptr[-1:]]))
        narrow = held <= 1 << self.shift
        self.coarse = cupy.where(narrow, first >> self.shift, 2**32 - 1).astype(np.uint32)

    def group(self, parents: Array) -> tuple[Array, Array, Array]:
        """Order the parents by range. ``parents`` uint32: the vertex of each cell, all ones for none.

        Returns uint32 arrays: {vertex, cell} of each parent, range after range; each cell's place in that order, all
        ones for none; and the number of parents [1].
        """
        tiles, given = -(-parents.size // TILE), (parents.size, parents, self.coarse, self.shift)
        counts = cupy.zeros(GROUP_BUCKETS, np.uint32)
        self.kernels.launch("group_count", tiles, GROUP_BLOCK, *given, counts)
        upto = cupy.cumsum(counts, dtype=np.uint32)
        grouped, number = cupy.empty(2 * parents.size, np.uint32), cupy.empty(parents.size, np.uint32)
        self.kernels.launch("group_scatter", tiles, GROUP_BLOCK, *given, upto - counts, grouped, number)
        return grouped, number, upto[-1:]


# Launches on a streamed graph: one over all loaded partitions, or one for each partition in parallel (C-SAW, section
# V-C).

ALL_PARTITIONS = -1


class Streams:
    """Makes launches and times them.

    One launch serves the queues of all loaded partitions, and its blocks go where instances wait: no partition has more
    of the GPU than its queue needs. Without ``balancing``, each partition has a stream and the same number of blocks,
    as in C-SAW's baseline.
    """

    def __init__(self, balancing: bool) -> None:
        self.balancing = balancing
        self.busy: Busy | None = None  # until the kernels are there
        self.streams: dict[int, cupy.cuda.Stream] = {}
        self.events: list[
            list[tuple[cupy.cuda.Event, cupy.cuda.Event]]
        ] = []  # for each pass, the first and last event of each stream

    def run(self, partitions: Iterable[int], launch: Callable[[int, int], None]) -> None:
        """Call ``launch(partition, share)`` for each partition in parallel, or ``launch(ALL_PARTITIONS, 1)``.

        ``share``: launches that share the GPU.
        """
        if self.balancing:
            self.events.append([self._timed(cupy.cuda.get_current_stream(), launch, ALL_PARTITIONS, 1)])
        else:
            self._run_beside(list(partitions), launch)
        if self.busy is not None:
            self.busy.end_pass()

    def _run_beside(self, partitions: list[int], launch: Callable[[int, int], None]) -> None:
        """A launch for each partition, in a stream of its own."""
        before = cupy.cuda.get_current_stream().record()
        timed = []
        for part in partitions:
            if part not in self.streams:
                self.streams[part] = cupy.cuda.Stream(non_blocking=True)
            stream = self.streams[part]
            stream.wait_event(before)
            with stream:
                timed.append(self._timed(stream, launch, part, len(partitions)))
        for _, end in timed:
            cupy.cuda.get_current_stream().wait_event(end)
        self.events.append(timed)

    @staticmethod
    def _timed(
        stream: cupy.cuda.Stream, launch: Callable[[int, int], None], part: int, share: int
    ) -> tuple[cupy.cuda.Event, cupy.cuda.Event]:
        begin = stream.record()
        launch(part, share)
        return begin, stream.record()

    def seconds(self) -> tuple[float, float]:
        """Return the seconds in kernels, and the mean deviation between multiprocessors, as a share of their mean.

        The seconds add up the slowest stream of each pass.
        """
        passes = [[_elapsed(pair) for pair in timed] for timed in self.events if timed]
        return sum(map(max, passes)), self.busy.deviation() if self.busy is not None else 0.0


def _elapsed(pair: tuple[cupy.cuda.Event, cupy.cuda.Event]) -> float:
    pair[1].synchronize()
    return cupy.cuda.get_elapsed_time(*pair) / 1e3


# Kernels for one plan, with their graph.

PASSES = 3  # times that a row is read to compute its biases: see engine/cuda/kernels/weigh.cuh


class CudaRunner(BatchBackend):
    """Runs kernels on one GPU; only the thread that made it may use it, except for ``arrays`` of a batch."""

    xp: ModuleType = arrays
    graph: DeviceGraph | PooledGraph | StreamedGraph
    failures = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)

    def __init__(
        self, plan: Plan, store: Store, algorithm: Algorithm, device: Device, node: Node, devices: tuple[Device, ...]
    ) -> None:
        super().__init__(plan, store, algorithm)
        if is_own(type(algorithm)):
            from csaw.engine.cpu.typed_hooks import check_own_hooks

            check_own_hooks(self)
        self.device = cupy.cuda.Device(device.number)
        self.device.use()
        self.streams = Streams(plan.policy.balancing)
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.bad = cupy.zeros(3, np.int64)
        self.counts = cupy.zeros(len(TALLY), np.uint64)
        self.selects_in_groups = not self.constants()["UNIFORM"] and not plan.graph_layout.has_sums
        self.ends_early = bool(self.needs.timed or self.others["update"] or self.others["dead_end"] or store.directed)
        time_compiler()
        watch = Stopwatch()
        units = kernels_of(self), builder_of(self), transfer_of(self)
        self._compile(units, device.architecture)
        self.kernels, builder, self.transfer = (Kernels(unit, device) for unit in units)
        self.originals: tuple[Identifiers, Originals | None] | None = None  # once samples are converted
        self.opening = threading.Lock()
        found = watch.read()
        with stage(LOADING):
            self.graph = self._load_graph(builder, node, devices)
            self.wait()
        loaded = watch.read() - found
        self.kernels_seconds, self.loading_seconds = found.whole + loaded.anywhere, loaded.rest
        self.kernels.set_graph(self.graph.address())
        if counts_busy(self):
            self.streams.busy = Busy(self.kernels)

    def _compile(self, units: Sequence[Unit], architecture: str) -> None:
        """Compile kernels. OptionError, with the line of the user's file, about a hook that a GPU cannot run."""
        try:
            compile_all(units, architecture)
        except HookRefused as error:
            from csaw.engine.cpu.typed_hooks import refused_for_gpus

            raise refused_for_gpus(self.algorithm, error.name, error.reason) from error

    @cached_property
    def transits(self) -> Transits:
        """The ranges of edges by which parents of hops are grouped."""
        return Transits(self.graph, self.kernels)

    @property
    def tally(self) -> np.ndarray:
        return self.counts.get()

    def bytes_in_place(self, entries: int, picks: int, edges: float) -> float:
        """Return the cost of reading rows over the bus or from the disk, as in Backend."""
        if not self.plan.residency.reads_over_bus:
            each = 2 if self.needs.second_order else 1  # rows that an entry needs
            rates = self.plan.rates
            return rates.disk_cost * each * (entries * rates.row_bytes + edges * self.needs.edge.stored)
        pick = self.plan.rates.pick_bytes(self.store.edges * self.needs.edge.kept)
        if self.select.exact_number:
            return picks * pick
        if self.select in (Method.REJECTION, Method.TIME):
            searched = math.log2(self.store.max_degree + 2)  # of a row, the previous vertex's in a trial, or by time
            return picks * pick * (2 + searched)
        return entries * pick + PASSES * edges * (self.store.id_dtype.itemsize + 4)

    def bytes_of_picks(self, picks: int) -> float:
        whole = not (self.plan.residency.reads_over_bus and self.select.by_edge)
        return self.bytes_in_place(picks, picks, picks * self.graph.mean_row if whole else 0)  # type: ignore[union-attr]

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

    def as_stored(self, arrays: dict[str, Array], identifiers: Identifiers) -> GroupArrays | None:
        with cupy.cuda.Device(self.device.id):
            with self.opening:
                if self.originals is None or self.originals[0] is not identifiers:
                    self.originals = identifiers, Originals.fitting(identifiers, self.plan, self.transfer)
                originals = self.originals[1]
            return None if originals is None else originals.to_host(arrays, self.plan.sample_layout.counted_from)

    def kernel_seconds(self) -> tuple[float, float]:
        """Return the seconds in the kernels of a streamed run, and how far the work of multiprocessors differs.

        Their deviation is a share of the mean.
        """
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
        self.graph = self.kernels = self.transfer = self.originals = None  # type: ignore[assignment]
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
        lands = self.plan.fixed.get("landing", 0) > 0
        rates, capacity, columns = self.plan.rates, self.plan.capacity, self._columns()
        return kind(
            store, layout, builder, host, capacity, self.needs, few=few, lands=lands, rates=rates, columns=columns
        )

    def _columns(self) -> Array | None:
        """The columns of data of vertices in the GPU's memory; None without."""
        columns = self.algorithm.vertex_columns
        return None if columns.table is None else on_device(columns.table)

    def _load_whole(self, builder: Kernels) -> DeviceGraph:
        layout, membership = self.plan.graph_layout, self.plan.membership
        checks = None if self.transfer.empty else Checks(self.store, self.transfer)
        if checks is not None:
            checks.require_ids()
        needs, searched = self.needs, membership == "filter"
        # Rows stay if the return edge's weight is searched in them, or if a step may read a whole row.
        weighed = (needs.return_apart and not self.weighs_members) or needs.may_be_hopeless
        return DeviceGraph(
            self.store,
            layout,
            builder,
            needs,
            membership=membership,
            weighs_members=self.weighs_members,
            keeps_indices=layout.keeps_rows or searched or weighed or self.plan.lists_members,
            keeps_weights=layout.keeps_weights or weighed,
            columns=self._columns(),
            rules=time_rules(self.algorithm),
            checks=checks,
        )


# The time that CuPy's own kernels take to compile: each when it is first used, which is in the middle of sampling.

NAME = "kernels of CuPy"


def time_compiler() -> None:
    """Count the time of NVRTC, CUDA's run-time compiler, as CuPy calls it in this process, as that of compiling.

    CuPy has no listeners as Numba has, but it calls this one function of its public binding for every kernel that it
    has not compiled before. The compiler's library is loaded here, too, before sampling is timed.
    """
    if not hasattr(nvrtc.compileProgram, "__wrapped__"):
        nvrtc.getVersion()
        nvrtc.compileProgram = timed(nvrtc.compileProgram, lambda: cupy.cuda.Device().synchronize())


T = TypeVar("T")


def timed(function: Callable[..., T], wait: Callable[[], None]) -> Callable[..., T]:
    """``function``, whose calls count as compiling.

    ``wait`` is called before: a device that still works then would do so in time that does not count.
    """

    @wraps(function)
    def call(*arguments: object) -> T:
        wait()
        with compiles(NAME):
            return function(*arguments)

    return call
