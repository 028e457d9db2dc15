"""A network on a GPU: all of it, or two blocks of it at a time, of which one is copied while kernels read the other.

Blocks come from page-locked host memory: from a copy of the graph there where it fits, else through two buffers from the store. Of several GPUs, the first
has the network; the others get one like it, of the same rows, when there is work for them.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda.copies import Copies
from csaw.engine.analytics.cuda.row_classes import LongRows, RowClasses
from csaw.engine.analytics.cuda.single_thread_gpus import ranges_of
from csaw.engine.analytics.cuda.threaded_gpus import ranges
from csaw.engine.analytics.network import Block, Network, Wanted
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.node import copied, reach
from csaw.engine.cuda.graphs.resident import Staging
from csaw.engine.cuda.kernel_source import Unit
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, page_locked
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.residency import Residency
from csaw.partition.errors import BudgetError, DeviceError

KERNELS = Path(__file__).with_name("kernels")
STATE_BYTES = 64  # for each vertex: offsets, degrees, and what a measure keeps
FREE_SHARE = 0.9  # of the free memory that is used if the user does not say
DERIVED_BYTES = 40  # for each edge while other directions are made by sorting
WARPS = 1 << 16  # of a launch over rows
READ_OF_ROW = 4  # entries that a search reads of most rows at most, where it pulls
OF_ROWS: tuple[str, ...] = ("undirected", "incoming", "indptr", "degrees", "host", "host_copy", "cut", "shares")
OF_ROWS += ("level_ranges", "long_rows", "spool", "stream", "_elsewhere")
"""What a network knows of its own rows alone."""


class DeviceNetwork(Network):
    """The graph of ``store`` on a GPU, in at most ``gpu_memory`` bytes of it (default: nine tenths of what is free). The GPU is the thread's current one from then on.

    ``others``: more GPUs, which take shares of what can be divided, each in as much memory.
    ``memory``, ``threads``, ``derived``: as of HostNetwork, for what is done on the host. ``residency``: resident, streamed from host memory, or disk
    (default: the first that fits). BudgetError where two rows and what is kept of all vertices do not fit, or all rows where they must; DeviceError for a graph of 2^32 vertices or more.
    """

    device, flag, state_bytes, xp = "cuda", "--gpu-memory", STATE_BYTES, cupy
    spool: np.ndarray | None = None  # page-locked memory for what a measure keeps on the host

    def __init__(
        self,
        store: Any,
        gpu: Device,
        *,
        others: tuple[Device, ...] = (),
        gpu_memory: int | None = None,
        memory: int | None = None,
        threads: int | None = None,
        derived: Path | None = None,
        residency: Residency | None = None,
    ) -> None:
        if np.dtype(store.id_dtype) != np.uint32:
            raise DeviceError(
                f"{store.path}: a graph of 2^32 vertices or more is evaluated on the CPU; pass --device cpu"
            )
        cupy.cuda.Device(gpu.number).use()
        self.store, self.gpu, self.others, self.residency = store, gpu, others, residency
        free = min(one.free_bytes for one in (gpu, *others))
        self.gpu_memory = int(free * FREE_SHARE) if gpu_memory is None else gpu_memory
        self.host_options: dict[str, Any] = {"memory": memory, "threads": threads, "derived": derived}
        self.vertices, self.edges = store.vertices, store.edges
        self.directed, self.weighted = store.directed, store.weighted
        self.id_dtype = np.dtype(np.uint32)
        self.held = {}
        self.classed: dict[tuple[int, int], RowClasses] = {}
        self.loaded: dict[int, dict[str, Kernels]] = {}  # by the number of the GPU
        if residency is Residency.RESIDENT:
            self.require_least()

    @cached_property
    def host(self) -> HostNetwork:
        """The same graph on the host."""
        return HostNetwork(self.store, **self.host_options)

    @cached_property
    def indptr(self) -> Array:
        """int64 [V + 1]: where each row begins among all entries."""
        return next(iter(self.held.values())).indptr if self.held else on_device(self.store.read_indptr())

    @cached_property
    def degrees(self) -> Array:
        return cupy.diff(self.indptr)

    @property
    def budget(self) -> int:
        return self.gpu_memory

    @property
    def offsets(self) -> np.ndarray:
        return self.host.indptr

    def kernels(self, file: str, **constants: int) -> Kernels:
        """The kernels of a file of the folder kernels here, compiled with these constants; of ``core.cu`` with the name ``core``."""
        name = " ".join([file, *(f"{key}={value}" for key, value in sorted(constants.items()))])
        loaded = self.loaded.setdefault(self.gpu.number, {})
        if name not in loaded:
            loaded[name] = Kernels(Unit((str(KERNELS / f"{file}.cu"),), constants, [], ()), self.gpu)
        return loaded[name]

    def classes(self, block: Block) -> RowClasses:
        """The rows of a block by their lengths; those of rows in memory are kept."""
        if not self.resident:
            return RowClasses(block.indptr)
        if (block.first, block.last) not in self.classed:
            self.classed[block.first, block.last] = RowClasses(block.indptr)
        return self.classed[block.first, block.last]

    @cached_property
    def long_rows(self) -> LongRows:
        return LongRows(self.degrees)

    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        if self.resident:
            yield self._whole(weights)
            return
        yield from Copies(self, self.numbers(wanted), weights)

    def _whole(self, weights: bool) -> Block:
        if True in self.held:  # with weights, which do no harm
            return self.held[True]
        if weights not in self.held:
            self.held.clear()
            indices, heavy = cupy.empty(self.edges, np.uint32), cupy.empty(self.edges, np.float32) if weights else None
            staging = Staging(self.store, weights)
            for part in self.store.partitions:
                span = slice(part.first_edge, part.first_edge + part.edges)
                staging.upload(part, indices[span], None if heavy is None else heavy[span])
            self.held[weights] = Block(0, self.vertices, self.indptr, indices, heavy)
        return self.held[weights]

    @cached_property
    def host_copy(self) -> tuple[np.ndarray, np.ndarray | None] | None:
        """All rows in page-locked host memory, with their weights; None where they do not fit there. BudgetError where they must."""
        bytes_needed = self.edges * self.edge_bytes
        if self.residency is Residency.DISK or (bytes_needed > self.host.room and self.residency is None):
            return None
        if bytes_needed > self.host.room:
            raise BudgetError(
                f"{self.store.path}: {bytes_needed:,} bytes of host memory are needed for all rows, and there is room for {max(self.host.room, 0):,}; "
                f"raise --memory, or pass --residency disk"
            )
        indices, weights = (
            page_locked(self.edges, np.uint32),
            page_locked(self.edges, np.float32) if self.weighted else None,
        )
        for part in self.store.partitions:
            span = slice(part.first_edge, part.first_edge + part.edges)
            self.store.read_partition(part.number, indices[span], None if weights is None else weights[span])
        return indices, weights

    # Other GPUs

    def among(self, parts: int, *, backward: bool = False, weights: bool = False) -> tuple["DeviceNetwork", ...]:
        """This network, and where a work has several ``parts`` also those on other GPUs. ``backward``: with the rows of the other direction. ``weights``: with theirs in memory."""
        if parts < 2:
            return (self,)
        if weights and not all(True in one.held for one in (self, *self._elsewhere)):
            self._whole(True)
            del self._elsewhere  # they are copied again from here
        if backward and self.directed:
            for there, back in zip(self._elsewhere, self.incoming._elsewhere, strict=True):
                there.incoming = back
        return (self, *self._elsewhere)

    @cached_property
    def shares(self) -> list[tuple[int, int]]:
        """The ranges of vertices that this and each of the other GPUs take of a work by rows."""
        return ranges(self, 1 + len(self.others))

    @cached_property
    def level_ranges(self) -> list[tuple[int, int]]:
        """The same of a work that seldom reads a row to its end."""
        return ranges_of(self, 1 + len(self.others), READ_OF_ROW)

    @cached_property
    def stream(self) -> Any:
        """The stream of this GPU for works in short steps that several share, which do not wait for the default one."""
        with cupy.cuda.Device(self.gpu.number):
            return cupy.cuda.Stream(non_blocking=True)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the other GPUs have the rows in memory already."""
        return self.resident and "_elsewhere" in vars(self)

    @cached_property
    def _elsewhere(self) -> tuple["DeviceNetwork", ...]:
        """The same network on each of the other GPUs. Rows in memory are copied from here, others are read from the same host memory."""
        if self.others and self.resident:
            self._whole(False)
        for one in (self.gpu, *self.others):
            with cupy.cuda.Device(one.number):
                for other in {gpu.number for gpu in (self.gpu, *self.others)} & {*one.peers}:
                    reach(other)
        cupy.cuda.get_current_stream().synchronize()  # the rows are copied from here
        return tuple(map(self._on, self.others))

    def _on(self, gpu: Device) -> "DeviceNetwork":
        made = self._like()
        made.gpu, made.others = gpu, ()
        if not self.resident:
            made.host, made.host_copy, made.cut = self.host, self.host_copy, self.cut
        indptr = self.indptr  # made here, if it was not there
        with cupy.cuda.Device(gpu.number):
            made.indptr = copied(indptr)
            for weights, (first, last, _, indices, heavy) in self.held.items():
                made.held[weights] = Block(first, last, made.indptr, copied(indices), copied(heavy))
            cupy.cuda.get_current_stream().synchronize()
        return made

    def _like(self) -> "DeviceNetwork":
        """A network with the limits and the kernels of this one, without rows."""
        made = object.__new__(DeviceNetwork)
        made.__dict__ |= {name: value for name, value in self.__dict__.items() if name not in OF_ROWS}
        made.held, made.classed = {}, {}
        return made

    def let_go(self) -> None:
        """Give back the memory of the rows, on all GPUs; they are read again when they are needed."""
        self.__dict__.pop("_elsewhere", None)
        self.held.clear()

    # Other directions

    @cached_property
    def undirected(self) -> "DeviceNetwork":
        if not self.directed and self._is_simple():
            return self
        if not self._can_derive:
            return self._of(self.host.undirected)
        source, target = self._ends()
        keys = [source << 32 | target, target << 32 | source] if self.directed else [source << 32 | target]
        both = cupy.concatenate(keys)
        return self._of_keys(cupy.unique(both[both >> 32 != both & 0xFFFFFFFF]), directed=False)

    def _is_simple(self) -> bool:
        faults = cupy.zeros(1, np.uint64)
        for block in self.blocks():
            rows = (block.first, block.last, block.indptr, block.indices)
            self.kernels("adjacency").over("count_faults", 32 * min(block.last - block.first, WARPS), *rows, faults)
        return int(faults[0]) == 0

    @cached_property
    def incoming(self) -> "DeviceNetwork":
        if not self.directed:
            return self
        if not self._can_derive:
            return self._of(self.host.incoming)
        source, target = self._ends()
        return self._of_keys(cupy.sort(target << 32 | source), directed=True)

    @property
    def _can_derive(self) -> bool:
        return self.resident and DERIVED_BYTES * self.edges <= self.room

    def _ends(self) -> tuple[Array, Array]:
        """int64 [E] twice: the vertex of each entry's row, and the entry."""
        block = self._whole(False)
        row = cupy.searchsorted(self.indptr, cupy.arange(self.edges), side="right") - 1
        return row, block.indices.astype(np.int64)

    def _of_keys(self, keys: Array, *, directed: bool) -> "DeviceNetwork":
        """The network whose entries are the sorted ``keys``: row << 32 | neighbor."""
        indptr = cupy.searchsorted(keys, cupy.arange(self.vertices + 1) << 32)
        return self._derived(Block(0, self.vertices, indptr, (keys & 0xFFFFFFFF).astype(np.uint32), None), directed)

    def _derived(self, block: Block, directed: bool) -> "DeviceNetwork":
        made = self._like()
        made.held, made.edges, made.directed, made.weighted = {False: block}, int(block.indices.size), directed, False
        return made

    def _of(self, host: HostNetwork) -> "DeviceNetwork":
        """The network of another graph on the host, with the limits of this one."""
        limits: dict[str, Any] = {"gpu_memory": self.gpu_memory, "residency": self.residency, **self.host_options}
        return DeviceNetwork(host.store, self.gpu, others=self.others, **limits)

    def close(self) -> None:
        for name in ("undirected", "incoming"):
            if (other := self.__dict__.pop(name, self)) is not self:
                other.close()
        if (host := self.__dict__.pop("host", None)) is not None:
            host.close()
        self.let_go()
        vars(self).pop("host_copy", None)
        for number, kernels in self.loaded.items():
            with cupy.cuda.Device(number):
                kernels.clear()
