"""Kernels specialized for one plan, and a graph in a GPU's memory or in its reach, with which batches are drawn."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial, wraps
from types import ModuleType
from typing import TypeVar

import cupy
import numpy as np
from cupy.cuda import nvrtc

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.user_code import is_own
from csaw.engine.batches.backend import BatchBackend
from csaw.engine.cuda import arrays
from csaw.engine.cuda.busy import Busy
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.host_partitions import HostPartitions
from csaw.engine.cuda.graphs.node import Node
from csaw.engine.cuda.graphs.pooled import PooledGraph
from csaw.engine.cuda.graphs.resident import DeviceGraph
from csaw.engine.cuda.graphs.streamed import StreamedGraph
from csaw.engine.cuda.graphs.streamed_tables import StreamedTables
from csaw.engine.cuda.hook_code import HookRefused
from csaw.engine.cuda.kernel_source import Unit, builder_of, compile_all, counts_busy, kernels_of
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, pinned
from csaw.engine.cuda.streams import Streams
from csaw.engine.cuda.transits import Transits
from csaw.engine.plan.contracts import Array, Store
from csaw.engine.plan.methods import Method
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.residency import Residency
from csaw.engine.schedule.backend import TALLY
from csaw.engine.schedule.time_rules import time_rules
from csaw.partition.base.kernel_time import Stopwatch, compiles
from csaw.partition.base.stages import LOADING, stage

PASSES = 3  # times that a row is read to compute its biases: see weigh.cuh


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
        units = kernels_of(self), builder_of(self)
        self._compile(units, device.architecture)
        self.kernels, builder = (Kernels(unit, device) for unit in units)
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
        if self.plan.residency.from_store:
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
        whole = self.plan.residency.from_store or not self.select.by_edge
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
        lands = self.plan.fixed.get("landing", 0) > 0
        given = {"few": few, "lands": lands, "rates": self.plan.rates, "columns": self._columns()}
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
