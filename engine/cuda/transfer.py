"""The work of a GPU on arrays on their way from the store and to a sample (cuda/kernels/transfer.cu). The host needs no
compiled code for them: to load Numba takes longer than to read and write some gigabytes.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda import arrays
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import PAGE, huge_pages, lock, on_device, pinned
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.plan import Plan
from csaw.engine.samples.identifiers import Coming, GroupArray, GroupArrays, Identifiers
from csaw.partition import Partition
from csaw.partition.arrays.checksums import all_within
from csaw.partition.arrays.uncompared import Uncompared
from csaw.partition.errors import StoreError

RIGHT = np.uint64(2**64 - 1)  # in place of the number of a block or a value of an array that is wrong
LIMITED = np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(np.float32)  # types that kernels hold to a limit
PIECE = 8 << 20  # bytes of a sample that leave a GPU at a time

# Checks of what was read.


class Checks:
    """Compares blocks of partitions that a store has read without comparing them, once they are on the current GPU."""

    def __init__(self, store: Store, kernels: Kernels) -> None:
        self.store, self.kernels = store, kernels

    def require(
        self, part: Partition, held: dict[str, np.ndarray], there: Mapping[str, Array], blocks: list[Uncompared]
    ) -> None:
        """StoreError, as the store raises it, if a block of a partition has changed or a value is beyond its limit.

        ``held``: the arrays of the partition on the host, ``there``: on the GPU.
        """
        names = list(dict.fromkeys(one.name for one in blocks))
        wrong = arrays.full(len(names), RIGHT, np.uint64)
        for number, name in enumerate(names):
            own = [one for one in blocks if one.name == name]
            self._compare(part, held[name], there[name], own, wrong[number:])
            self._limit(name, held[name], there[name], wrong[number:])
        for name, place in zip(names, wrong.get(), strict=True):
            if place != RIGHT:
                raise self._error(partial(self.store.read_edges, part.number, {name: held[name]}), name, part)

    def offsets(self, held: np.ndarray, sums: list[np.ndarray]) -> Array:
        """Where rows begin among all edges, int64 [V + 1], by the offsets ``held`` of all partitions, one after the
        other, whose blocks have these checksums. StoreError, as the store raises it, if they are not right.
        """
        stored, there = self.store.stored, on_device(held)
        out, wrong = cupy.empty(stored.vertices + 1, np.int64), arrays.full((len(sums), 2), RIGHT, np.uint64)
        for part, own, found in zip(stored.partitions, sums, wrong, strict=True):
            begin, end = part.first_vertex + part.number, part.last_vertex + part.number + 1
            self._compare_blocks(there[begin:end], own, found)
            given = there[begin:end], part.first_edge, part.edges, stored.max_degree, out[part.first_vertex :]
            self.kernels.over("place_offsets", end - begin, end - begin, *given, found[1:])
        for part, places in zip(stored.partitions, wrong.get(), strict=True):
            if (places != RIGHT).any():
                raise self._error(partial(stored.read_offsets, part.number), "indptr", part)
        return out

    def require_ids(self) -> None:
        """StoreError if original ids have changed whose blocks the store has left to be compared."""
        ids = self.store.ids_store
        if ids.ids_left is None:
            return
        wrong = arrays.full(1, RIGHT, np.uint64)
        self._compare_blocks(on_device(ids.id_arrays[0]), ids.ids_left, wrong)
        if wrong.get()[0] != RIGHT:
            raise self._error(ids.compare_ids, "vertex_ids")
        ids.ids_left = None

    def _compare_blocks(self, there: Array, sums: np.ndarray, wrong: Array) -> None:
        self.kernels.over("compare_blocks", 4 * sums.size, sums.size, there, on_device(sums), wrong)

    def _compare(self, part: Partition, held: np.ndarray, there: Array, blocks: list[Uncompared], wrong: Array) -> None:
        """Compare the blocks of an array, and note in ``wrong`` if one differs."""
        if any((there.data.ptr + one.first * held.itemsize) % 4 for one in blocks):  # kernels read words
            self.store.read_edges(part.number, {blocks[0].name: held})
            there.set(held)
            return
        for one in blocks:
            self._compare_blocks(there[one.first :], one.sums, wrong)

    def _limit(self, name: str, held: np.ndarray, there: Array, wrong: Array) -> None:
        limit = self.store.limit_of(name)
        if limit is None:
            return
        least = held.dtype.type(limit)
        if held.dtype in LIMITED:
            bits = np.uint64(np.array(least).view(f"u{held.itemsize}"))
            real = held.dtype.kind == "f"
            self.kernels.over("find_unlimited", there.size, there.size, there, held.itemsize, real, bits, wrong)
        elif not all_within(held, least):
            wrong[:1].fill(0)

    def _error(self, read: Callable[[], object], name: str, part: Partition | None = None) -> StoreError:
        """The error that the store raises when it reads an array again and compares it itself."""
        try:
            read()
        except StoreError as error:
            return error
        of_part = "" if part is None else f" of partition {part.number}"
        return StoreError(
            f"{self.store.path}: {name}{of_part} is right on disk, but its copy in the memory of the "
            "GPU differs; run the command again, and check the GPU with nvidia-smi -q -d ECC if this happens again"
        )


# Ids of samples.


class Passage:
    """A way from a GPU to the host: a stream, and memory of the host that the GPU writes."""

    def __init__(self) -> None:
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.here = huge_pages(PIECE)
        self.here[::PAGE] = 0  # by the thread that will use it: many take their pages side by side
        lock(self.here)


class Originals:
    """The original ids of all vertices in the memory of a GPU, if samples have those.

    Arrays leave the GPU with these ids, a piece after the other, each thread through a passage that is used again.
    """

    def __init__(self, table: np.ndarray | None, identifiers: Identifiers, kernels: Kernels) -> None:
        self.identifiers, self.kernels, self.device = identifiers, kernels, cupy.cuda.Device().id
        self.table = None if table is None else on_device(table)
        cupy.cuda.get_current_stream().synchronize()  # other streams read the table
        self.fill = np.uint64(identifiers.fill % 2**64)
        self.idle: list[Passage] = []

    @classmethod
    def fitting(cls, identifiers: Identifiers, plan: Plan, kernels: Kernels) -> "Originals | None":
        """The table of a store's original numbers, if it has one that fits beside what the plan counts, and is not left
        on disk; or none, if samples have dense ids in as many bytes as on the GPU. Otherwise None.
        """
        table = identifiers.table if isinstance(identifiers.table, np.ndarray) else None
        is_same = (
            plan.needs.edge.id == identifiers.dtype.itemsize if table is None else table.dtype == identifiers.dtype
        )
        if kernels.empty or not is_same or plan.residency.streams:
            return None
        if table is not None and table.nbytes > plan.capacity - plan.graph_bytes:
            return None
        try:
            return cls(table, identifiers, kernels)
        except MemoryError:
            return None

    def to_host(self, drawn: dict[str, Array], now: Collection[str] | None) -> GroupArrays:
        """Copy the arrays ``now`` to host memory, all of them by default, with original ids. The others come when they
        are written.
        """
        return {name: self._to_host(name, array, now is None or name in now) for name, array in drawn.items()}

    def _to_host(self, name: str, array: Array, now: bool) -> GroupArray:
        dtype, convert = self.identifiers.type_of(name)[0], self.identifiers.table_of(name) is not None
        if not convert and array.itemsize != dtype.itemsize:
            dtype, now = array.dtype, True  # the host converts it
        if not now:
            return Coming(array.shape, dtype, (partial(self._pieces, array, dtype.itemsize, convert),))
        host = (np.empty if array.nbytes <= PIECE and not convert else pinned)(array.shape, dtype)
        for _ in self._pieces(array, dtype.itemsize, convert, host.reshape(-1).view(np.uint8)):
            pass
        return host

    def _pieces(self, array: Array, item: int, convert: bool, host: np.ndarray | None = None) -> Iterator[np.ndarray]:
        """Bring the elements of an array, of ``item`` bytes each, to ``host``, or one piece after the other to the same
        memory. With ``convert``, the GPU writes original ids there.
        """
        dense, each = array.ravel(), PIECE // item
        with self._passage() as passage:
            for first in range(0, dense.size, each):
                some = dense[first : first + each]
                begin = 0 if host is None else first * item
                here = (passage.here if host is None else host)[begin : begin + some.size * item]
                self._bring(passage, some, item, convert, here)
                yield here

    def _bring(self, passage: Passage, some: Array, item: int, convert: bool, here: np.ndarray) -> None:
        with cupy.cuda.Device(self.device), passage.stream:
            if convert:
                given = (some.size, some.itemsize, some, item, self.table, self.fill, np.uint64(here.ctypes.data))
                self.kernels.over("relabel", some.size, *given)
            else:
                some.get(out=here.view(some.dtype), blocking=False)
            passage.stream.synchronize()

    @contextmanager
    def _passage(self) -> Iterator[Passage]:
        """A passage that no other thread uses meanwhile."""
        try:
            passage = self.idle.pop()
        except IndexError:
            with cupy.cuda.Device(self.device):
                passage = Passage()
        try:
            yield passage
        finally:
            self.idle.append(passage)
