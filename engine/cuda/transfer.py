"""The work of a GPU on arrays on their way from the store and to a sample (cuda/kernels/transfer.cu). The host needs no
compiled code for them: to load Numba takes longer than to read and write some gigabytes.
"""

import threading
from collections.abc import Mapping

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda import arrays
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, pinned
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.plan import Plan
from csaw.engine.samples.identifiers import Identifiers
from csaw.partition import Partition
from csaw.partition.arrays.checksums import all_within
from csaw.partition.arrays.loader import Uncompared
from csaw.partition.errors import StoreError

RIGHT = np.uint64(2**64 - 1)  # in place of the number of a block or a value of an array that is wrong
LIMITED = np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(np.float32)  # types that kernels hold to a limit
ROOM = 32 << 20  # bytes of ids that are converted at a time

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
                raise self._error(part, name, held[name])

    def _compare(self, part: Partition, held: np.ndarray, there: Array, blocks: list[Uncompared], wrong: Array) -> None:
        """Compare the blocks of an array, and note in ``wrong`` if one differs."""
        if any((there.data.ptr + one.first * held.itemsize) % 4 for one in blocks):  # kernels read words
            self.store.read_edges(part.number, {blocks[0].name: held})
            there.set(held)
            return
        for one in blocks:
            sums = on_device(one.sums)
            self.kernels.over("compare_blocks", 4 * sums.size, sums.size, there[one.first :], sums, wrong)

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

    def _error(self, part: Partition, name: str, held: np.ndarray) -> StoreError:
        """The error that the store raises when it reads the array again and compares it itself."""
        try:
            self.store.read_edges(part.number, {name: held})
        except StoreError as error:
            return error
        return StoreError(
            f"{self.store.path}: {name} of partition {part.number} is right on disk, but its copy in the memory of the "
            "GPU differs; run the command again, and check the GPU with nvidia-smi -q -d ECC if this happens again"
        )


# Ids of samples.


class Originals:
    """The original ids of all vertices in the memory of a GPU.

    Samples become theirs a piece after the other, in memory that is used again, on the stream that copies them.
    """

    def __init__(self, table: np.ndarray, identifiers: Identifiers, kernels: Kernels) -> None:
        self.identifiers, self.kernels, self.queueing = identifiers, kernels, threading.Lock()
        self.table, self.room = on_device(table), cupy.empty(ROOM, np.uint8)
        self.fill = np.uint64(identifiers.fill % 2**64)

    @classmethod
    def fitting(cls, identifiers: Identifiers, plan: Plan, kernels: Kernels) -> "Originals | None":
        """The table of a store's original numbers, if it is one, and fits beside what the plan counts.

        One that is mapped stays on disk.
        """
        table = identifiers.table
        if kernels.empty or not isinstance(table, np.ndarray) or table.dtype != identifiers.dtype:
            return None
        if plan.residency.streams or table.nbytes + ROOM > plan.capacity - plan.graph_bytes:
            return None
        try:
            return cls(table, identifiers, kernels)
        except MemoryError:
            return None

    def to_host(self, drawn: dict[str, Array]) -> dict[str, np.ndarray]:
        """Queue the copies of arrays to page-locked memory on the current stream, with original ids."""
        return {name: self._to_host(name, array) for name, array in drawn.items()}

    def _to_host(self, name: str, array: Array) -> np.ndarray:
        if self.identifiers.table_of(name) is None:
            host = pinned(array.shape, array.dtype)
            array.get(out=host, blocking=False)
            return host
        host, dense, item = pinned(array.shape, self.table.dtype), array.ravel(), self.table.itemsize
        out, room = host.reshape(-1), self.room.view(self.table.dtype)
        with self.queueing:  # a piece is copied before the next one is made, on one stream
            for first in range(0, dense.size, room.size):
                some = dense[first : first + room.size]
                given = (some.size, some.itemsize, some, item, self.table, self.fill, room)
                self.kernels.over("relabel", some.size, *given)
                room[: some.size].get(out=out[first : first + some.size], blocking=False)
        return host
