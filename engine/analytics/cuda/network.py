"""A network on a GPU: all of it, or two blocks at a time, one of which is copied while kernels read the other.

Blocks come from page-locked host memory: a copy of the graph where it fits, else two buffers filled from the store.
Of several GPUs, the first has the network; the others get one of the same rows when there is work for them.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Self

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cpu.network import HostNetwork, HostOptions
from csaw.engine.analytics.cuda import directions
from csaw.engine.analytics.cuda.copies import Copies, HostRows, copy_rows
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rows_in_memory import Block, Wanted
from csaw.engine.analytics.spread import GRAIN, STATE_BYTES, Range, memory_of
from csaw.engine.cuda.compile import TRANSFER, Unit
from csaw.engine.cuda.declarations import HUB_BLOCK
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.edge_arrays import made
from csaw.engine.cuda.graphs.node import reach_each_other
from csaw.engine.cuda.graphs.resident import Staging
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device
from csaw.engine.cuda.transfer import Checks
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import NOTHING, Footprint
from csaw.partition import GraphStore, Partition
from csaw.partition.base.first_work import LITTLE
from csaw.partition.graph.edge_columns import WEIGHT

# Kernels that networks on GPUs have loaded.

FOLDER = Path(__file__).with_name("kernels")


class LoadedKernels:
    """Kernels by GPU and by name, each compiled and loaded once."""

    def __init__(self) -> None:
        self.by_gpu: dict[int, dict[str, Kernels]] = {}

    def of(self, name: str, gpu: Device, make: Callable[[], Kernels]) -> Kernels:
        """The kernels of this name on a GPU: those that ``make`` made there first."""
        loaded = self.by_gpu.setdefault(gpu.number, {})
        if name not in loaded:
            loaded[name] = make()
        return loaded[name]

    def of_file(self, file: str, constants: dict[str, int], gpu: Device) -> Kernels:
        """The kernels of ``kernels/FILE.cu`` with these constants."""
        name = " ".join([file, *(f"{key}={value}" for key, value in sorted(constants.items()))])
        return self.of(name, gpu, lambda: Kernels(Unit((str(FOLDER / f"{file}.cu"),), constants, [], ()), gpu))

    def clear(self) -> None:
        """Unload all kernels."""
        for number, kernels in self.by_gpu.items():
            with cupy.cuda.Device(number):
                kernels.clear()


# Rows of a block by their lengths, so that as many threads serve a row as it has work for.

# A network on a GPU.

# Threads of a warp that serve a row, and the entries from which on more do; from the last on, a block serves one.
ENDS = {2: 8, 8: 64, 32: 2048}
FEW_ROWS = 1 << 15  # that the host orders sooner than it hears from a GPU
LONG = 2048  # entries of a long row, as in engine/analytics/cuda/kernels/warp_rows.cuh,
LONG_BLOCK = 256  # threads of a block that serves one, as there,
SHARES = 8  # blocks of threads that share one,
SIDE_BY_SIDE = 4  # and long rows of a multiprocessor at a time


class RowClasses:
    """Numbers of rows, as ids of vertices, in the order of the block, by the number of threads that serve one.

    ``indptr``: where rows begin, on the GPU, or on the host where there are few: a GPU says four times how many rows it
    has found, for which the host waits longer than it takes to order thousands.
    """

    def __init__(self, indptr: Array, id_dtype: np.dtype) -> None:
        begins = [0, *ENDS.values()]
        if isinstance(indptr, np.ndarray):
            kinds = np.searchsorted(begins[1:], np.diff(indptr), side="right").astype(np.uint8)
            ends = np.bincount(kinds, minlength=len(begins)).cumsum().tolist()
            rows = on_device(np.argsort(kinds, kind="stable").astype(id_dtype))
            found = [rows[low:high] for low, high in pairwise([0, *ends])]
        else:
            lengths = cupy.diff(indptr)
            found = [
                cupy.flatnonzero((low <= lengths) & (lengths < high)).astype(id_dtype)
                for low, high in pairwise([*begins, np.iinfo(np.int64).max])
            ]
        self.rows, self.hubs = dict(zip(ENDS, found, strict=False)), found[-1]

    @classmethod
    def of_block(cls, block: Block, offsets: np.ndarray, id_dtype: np.dtype) -> Self:
        """The rows of a block; ``offsets`` [V + 1], on the host: where each of all rows begins."""
        few = block.last - block.first <= FEW_ROWS
        return cls(offsets[block.first : block.last + 1] if few else block.indptr, id_dtype)

    def launch(self, kernels: Kernels, name: str, *arguments: object) -> None:
        """Launch ``name_2``, ``name_8``, ``name_32`` and ``name_hub`` with (number of rows, rows, ``*arguments``)."""
        for lanes, rows in self.rows.items():
            kernels.over(f"{name}_{lanes}", lanes * rows.size, rows.size, rows, *arguments)
        kernels.launch(f"{name}_hub", self.hubs.size, HUB_BLOCK, self.hubs.size, self.hubs, *arguments)


class LongRows:
    """The vertices of long rows among all of a network, ascending, on the host and on the GPU.

    A warp of its own would keep all others waiting.
    """

    def __init__(self, degrees: Array, id_dtype: np.dtype) -> None:
        self.rows = cupy.flatnonzero(degrees >= LONG).astype(id_dtype)
        self.on_host = self.rows.get()

    def launch(self, kernels: Kernels, name: str, block: Block, *arguments: object) -> None:
        """Launch a kernel over the long rows of a block.

        Its arguments are the number of rows, their vertices, the block's first vertex, and ``*arguments``.
        """
        ends = np.array((block.first, block.last), self.on_host.dtype)  # of another type, all rows would be copied
        low, high = np.searchsorted(self.on_host, ends).tolist()
        blocks = min(high - low, SIDE_BY_SIDE * kernels.device.processors)
        kernels.launch(name, (blocks, SHARES), LONG_BLOCK, high - low, self.rows[low:high], block.first, *arguments)


# The vertices of a graph in ranges, one for each GPU that shares a work.


def by_entries(indptr: Array, count: int) -> list[Range]:
    """Cut the vertices into ``count`` ranges of about as many entries of rows each. ``indptr``: int64 [V + 1]."""
    wanted = int(indptr[-1]) * np.arange(1, count) // count
    cuts = cupy.searchsorted(indptr, cupy.asarray(wanted)).get()
    return list(pairwise([0, *cuts.tolist(), indptr.size - 1]))


def by_blocks(blocks: Sequence[Partition], edges: int, vertices: int, count: int) -> list[Range]:
    """Cut the vertices into ``count`` ranges of whole blocks with about as many of the ``edges`` entries each."""
    begins = np.array([(part.first_edge, part.first_vertex) for part in blocks] + [(edges, vertices)])
    cuts = begins[np.searchsorted(begins[:, 0], edges * np.arange(1, count) // count), 1]
    return list(pairwise([0, *cuts.tolist(), vertices]))


def by_work(degrees: Array, most: int, count: int) -> list[Range]:
    """Cut the vertices into ``count`` ranges of about as much work each, where ``most`` entries of a row are read.

    ``degrees``: int64 [V].
    """
    if not degrees.size:
        return [(0, 0)] * count
    work = cupy.cumsum(cupy.minimum(degrees, most) + 1)
    cuts = cupy.searchsorted(work, work[-1] * cupy.arange(1, count) // count).get() // GRAIN * GRAIN
    return list(pairwise([0, *cuts.tolist(), degrees.size]))


MOST_KEPT = Footprint(STATE_BYTES)  # set aside before a measure says what it keeps
DERIVED_BYTES = 80  # for each edge while other directions are made by sorting
READ_OF_ROW = 4  # entries that a search reads of most rows at most, where it pulls
OF_ROWS: tuple[str, ...] = ("undirected", "incoming", "indptr", "degrees", "host", "host_copy", "cut", "shares")
OF_ROWS += ("level_ranges", "long_rows", "spool", "stream", "_elsewhere")
"""The attributes that a network derives of its own rows."""


class DeviceNetwork(Network):
    """The graph of ``store`` on a GPU, which is the thread's current one from then on.

    Args:
        store: A graph store.
        gpu: The GPU.
        others: More GPUs, which take shares of the works that can be divided.
        gpu_memory: Bytes that may be used of each GPU (default: nine tenths of what is free).
        memory, threads, derived: Options of HostNetwork, for the work that is done on the host.
        residency: resident, streamed from host memory, or disk (default: the first that fits).
        exchange: How GPUs that share the vertices tell each other what changed (default: as is quickest).
        kept: The memory set aside until a measure says what it keeps.

    Raises:
        BudgetError: The memory does not hold two rows and what is kept of all vertices, or all rows where it must.
    """

    device, flag, xp = "cuda", "--gpu-memory", cupy
    pooled: ClassVar[bool] = False
    """Whether each GPU has the rows of its own vertices, and no others."""
    spool: np.ndarray | None = None  # page-locked memory for what a measure keeps on the host

    def __init__(
        self,
        store: GraphStore,
        gpu: Device,
        *,
        others: tuple[Device, ...] = (),
        gpu_memory: int | None = None,
        memory: int | None = None,
        threads: int | None = None,
        derived: Path | None = None,
        residency: Residency | None = None,
        exchange: Exchange | None = None,
        kept: Footprint = MOST_KEPT,
    ) -> None:
        super().__init__(store, residency)
        self.kept = kept
        cupy.cuda.Device(gpu.number).use()
        self.gpu, self.others, self.exchange = gpu, others, exchange
        self.memory = memory_of((gpu, *others), gpu_memory)
        self.host_options = HostOptions(memory=memory, threads=threads, derived=derived)
        self.classed: dict[tuple[int, int], RowClasses] = {}
        self.loaded = LoadedKernels()
        if residency is Residency.POOLED or (residency is Residency.RESIDENT and kept != NOTHING):
            self.require_least()

    @cached_property
    def host(self) -> HostNetwork:
        """The network of the graph on the host."""
        return HostNetwork(self.store, **self.host_options)

    @cached_property
    def indptr(self) -> Array:
        return next(iter(self.held.values())).indptr if self.held else on_device(self.store.read_indptr())

    @property
    def offsets(self) -> np.ndarray:
        return self.host.indptr

    def kernels(self, file: str, **constants: int) -> Kernels:
        """The kernels of ``kernels/FILE.cu`` for this GPU and the graph's ids, compiled with these constants once."""
        constants["WIDE"] = int(self.id_dtype.itemsize == 8)
        return self.loaded.of_file(file, constants, self.gpu)

    def classes(self, block: Block) -> RowClasses:
        """The rows of a block by their lengths; those of rows that stay in memory are kept."""
        if not self._stays(block):
            return RowClasses.of_block(block, self.offsets, self.id_dtype)
        if (block.first, block.last) not in self.classed:
            self.classed[block.first, block.last] = RowClasses(block.indptr, self.id_dtype)
        return self.classed[block.first, block.last]

    def _stays(self, block: Block) -> bool:
        """Whether the rows of a block stay in the memory of this GPU."""
        return self.resident

    @cached_property
    def long_rows(self) -> LongRows:
        """The rows that blocks of threads share."""
        return LongRows(self.degrees, self.id_dtype)

    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        if self.resident:
            yield self.whole(weights)
            return
        self.take_turn()
        with self.slots(weights) as slots:
            yield from Copies(self.cut, self.offsets, self.host_copy, self.gpu.number, self.numbers(wanted), slots)

    def _read_whole(self, weights: bool) -> Block:
        columns = (WEIGHT,) if weights else ()
        arrays = made(cupy.empty, self.edges, self.store, columns)
        staging = Staging(self.store, columns, self._checks(sum(array.nbytes for array in arrays.values())))
        for part in self.store.partitions:
            span = slice(part.first_edge, part.first_edge + part.edges)
            staging.upload(part, {name: array[span] for name, array in arrays.items()})
        return Block(0, self.vertices, self.indptr, arrays["indices"], arrays.get(WEIGHT.array))

    def _checks(self, size: int) -> Checks | None:
        """Checks on the GPU for rows of this many bytes; None if the host checks so few sooner."""
        if size <= LITTLE:
            return None
        unit = Unit(("transfer.cu",), {}, [], (), launched=TRANSFER)
        return Checks(self.store, self.loaded.of("transfer", self.gpu, lambda: Kernels(unit, self.gpu)))

    @cached_property
    def host_copy(self) -> HostRows | None:
        """All rows in page-locked host memory, as ``HostRows.within`` has them."""
        return HostRows.within(self.store, self.host.budget, self.residency)

    # Other GPUs

    def among(self, parts: int, *, backward: bool = False, weights: bool = False) -> tuple["DeviceNetwork", ...]:
        """Return this network, and with several ``parts`` of a work also those like it on the other GPUs.

        ``backward``: with the rows of the other direction. ``weights``: with weights in memory. Where the rows of both
        directions take turns in memory, this network is alone.
        """
        if parts < 2 or (backward and self.is_in_turn_with_incoming):
            return (self,)
        if weights and not all(True in one.held for one in (self, *self._elsewhere)):
            self.whole(True)
            del self._elsewhere  # they are copied again from here
        if backward and self.directed:
            for there, back in zip(self._elsewhere, self.incoming._elsewhere, strict=True):
                there.incoming = back
        return (self, *self._elsewhere)

    @cached_property
    def shares(self) -> list[Range]:
        """The range of vertices that each GPU takes of a work that reads all rows."""
        gpus = 1 + len(self.others)
        if self.resident:
            return by_entries(self.indptr, gpus)
        return by_blocks(self.cut.partitions, self.edges, self.vertices, gpus)

    @cached_property
    def level_ranges(self) -> list[Range]:
        """The range of vertices that each GPU takes of a search, which seldom reads a row to its end."""
        return by_work(self.degrees, READ_OF_ROW, 1 + len(self.others))

    @cached_property
    def stream(self) -> cupy.cuda.Stream:
        """A stream of this GPU for works in short steps, which do not wait for the default stream."""
        with cupy.cuda.Device(self.gpu.number):
            return cupy.cuda.Stream(non_blocking=True)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the other GPUs have the rows in memory already."""
        return self.resident and "_elsewhere" in vars(self)

    @cached_property
    def _elsewhere(self) -> tuple["DeviceNetwork", ...]:
        """Networks of the same rows on the other GPUs.

        Rows in memory are copied from here, others are read from the same host memory.
        """
        if self.others and self.resident:
            self.whole(False)
        reach_each_other((self.gpu, *self.others))
        cupy.cuda.get_current_stream().synchronize()  # the rows are copied from here
        return tuple(map(self._on, self.others))

    def _on(self, gpu: Device) -> "DeviceNetwork":
        made = self.without_rows()
        made.gpu, made.others, made.reuses = gpu, (), False  # it has no relatives that would give back their memory
        if not self.resident:
            made.host, made.host_copy, made.cut = self.host, self.host_copy, self.cut
        copy_rows(self, made, gpu)
        return made

    def without_rows(self) -> "DeviceNetwork":
        """A network with the limits of this one that shares its kernels, and has no rows yet."""
        made = copy(self)
        for name in OF_ROWS:
            vars(made).pop(name, None)
        made.held, made.classed, made.relatives, made.passing = {}, {}, [], []
        return made

    def let_go(self) -> None:
        """Give back the memory of the rows, on all GPUs; they are read again when they are needed."""
        vars(self).pop("_elsewhere", None)
        super().let_go()
        self.classed.clear()

    def set_aside(self, kept: Footprint) -> None:
        if kept == self.kept:
            return
        super().set_aside(kept)
        vars(self).pop("shares", None)
        if not self.resident:  # the others follow the blocks
            vars(self).pop("_elsewhere", None)
        for one in vars(self).get("_elsewhere", ()):
            one.set_aside(kept)

    # Other directions

    @cached_property
    def undirected(self) -> "DeviceNetwork":
        if not self.directed and directions.is_simple(self.blocks(), self.kernels("adjacency")):
            return self
        if not (self._can_derive and self.leaves_enough("undirected")):
            return self._of_kind("undirected", beside=False)
        return self.of_rows(directions.undirected(self.whole(False), self.directed), directed=False)

    @cached_property
    def incoming(self) -> "DeviceNetwork":
        if not self.directed:
            return self
        if not self._can_derive:
            return self._of_kind("incoming", beside=True)
        return self.of_rows(directions.incoming(self.whole(False)), directed=True)

    @property
    def _can_derive(self) -> bool:
        return self.resident and DERIVED_BYTES * self.edges <= self.spare + self.edges * self.edge_bytes

    def _of_kind(self, kind: str, *, beside: bool) -> "DeviceNetwork":
        """The network of this ``kind``, which the host makes. ``beside``: as of ``admit``."""
        other = self.of_store(getattr(self.host, kind).store, self.memory)
        other.suffices = self.suffices
        if other not in self.relatives:  # as in a pooled network's
            self.admit(other, beside=beside)
        return other

    def of_rows(self, block: Block, *, directed: bool) -> "DeviceNetwork":
        """The network of other rows with the limits of this one."""
        made, heavy = self.without_rows(), block.weights is not None
        made.beside = self.rows_bytes
        made.held, made.edges, made.directed, made.weighted = {heavy: block}, int(block.indices.size), directed, heavy
        return made

    def of_store(self, store: GraphStore, gpu_memory: int) -> "DeviceNetwork":
        """A network of another store on the same GPUs, in ``gpu_memory`` bytes of each, with this one's options."""
        return self._of_store(DeviceNetwork, store, gpu_memory, self.residency)

    def _of_store(
        self, kind: type["DeviceNetwork"], store: GraphStore, gpu_memory: int, residency: Residency | None
    ) -> "DeviceNetwork":
        return kind(
            store,
            self.gpu,
            others=self.others,
            gpu_memory=gpu_memory,
            residency=residency,
            exchange=self.exchange,
            kept=self.kept,
            **self.host_options,
        )

    def close(self) -> None:
        super().close()
        if (host := vars(self).pop("host", None)) is not None:
            host.close()
        self.let_go()
        vars(self).pop("host_copy", None)
        self.loaded.clear()
