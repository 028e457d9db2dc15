"""A graph larger than a GPU's budget: its partitions in host memory or on disk, some of them in slots on the device (C-SAW, section V).

Kernels find a row by its place in the whole graph plus the shift of its partition, so a slot holds any partition and nothing is copied
within the device. Offsets of rows are always there.
"""

from typing import Any

import cupy
import cupyx
import numpy as np

from csaw.engine.backend import check_bias
from csaw.engine.cuda.graph import build_alias
from csaw.engine.cuda.launch import Kernels, struct


class StreamedGraph:
    """Loads and evicts partitions; ``capacity`` bytes of device memory are for slots, each as large as the largest partition.

    With ``pinned`` all partitions are read into page-locked host memory once; else each load reads the store.
    """

    def __init__(
        self, store: Any, layout: str, builder: Kernels, capacity: int, *, weights: bool, strength: bool, pinned: bool
    ) -> None:
        self.store, self.layout, self.builder, self.weighted = store, layout, builder, weights
        self.transfers, self.transfer_bytes = 0, 0
        parts = store.partitions
        self.largest = max((p.edges for p in parts), default=0)
        self.slots = min(len(parts), capacity // max(self.largest * self.edge_bytes(), 1))
        room = self.slots * self.largest
        self.indptr = cupy.asarray(store.read_indptr())
        self.indices = cupy.empty(room, store.id_dtype)
        self.weights = cupy.empty(room, np.float32) if weights else None
        self.entries = cupy.empty(3 * room, store.id_dtype) if layout == "table" else None
        self.strength = cupy.zeros(store.vertices, np.float64) if strength else None
        first = np.array([p.first_vertex for p in parts], np.int64)
        part_of = np.repeat(np.arange(len(parts)), np.diff(np.append(first, store.vertices))).astype(np.uint16)
        self.part_of = cupy.asarray(part_of)
        self.loaded, self.shift = np.zeros(len(parts), np.uint8), np.zeros(len(parts), np.int64)
        self.device_loaded, self.device_shift = cupy.asarray(self.loaded), cupy.asarray(self.shift)
        self.free, self.slot_of = list(range(self.slots)), {}  # type: ignore[var-annotated]
        size = store.edges if pinned else self.largest
        self.pinned = pinned
        self.host = cupyx.empty_pinned(size, store.id_dtype)
        self.host_weights = cupyx.empty_pinned(size if weights else 0, np.float32)
        for number in range(len(parts)) if pinned else ():
            self._read(number)
        builder.set_graph(self.address())

    def edge_bytes(self) -> int:
        """Bytes an edge takes in a slot."""
        item = self.store.id_dtype.itemsize
        return item + (4 if self.weighted else 0) + (3 * item if self.layout == "table" else 0)

    def sizes(self) -> np.ndarray:
        """Bytes of device memory that each partition takes: a slot."""
        return np.full(len(self.store.partitions), self.largest * self.edge_bytes(), np.int64)

    def partition_of(self, vertices: Any) -> Any:
        return self.part_of[vertices]

    def _read(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """A partition from the store into host memory."""
        indices, weights = self._host(number)
        self.store.read_partition(number, indices, weights if self.weighted else None)
        return indices, weights

    def _host(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        part = self.store.partitions[number]
        low = part.first_edge if self.pinned else 0
        return self.host[low : low + part.edges], self.host_weights[low : low + part.edges]

    def load(self, number: int) -> None:
        """Copy a partition into a free slot and build what its layout wants."""
        part, slot = self.store.partitions[number], self.free.pop()
        low = slot * self.largest
        indices, weights = self._host(number) if self.pinned else self._read(number)
        self.indices[low : low + part.edges].set(indices)
        if self.weights is not None:
            self.weights[low : low + part.edges].set(weights)
        self.slot_of[number] = slot
        self.loaded[number], self.shift[number] = 1, low - part.first_edge
        self._tell()
        if self.entries is not None:
            build_alias(
                self.builder,
                part.first_vertex,
                part.last_vertex,
                part.edges,
                low,
                self.entries,
                self.strength,
                self.check,
            )
        if not self.pinned:
            cupy.cuda.get_current_stream().synchronize()  # the host memory is used again
        self.transfers += 1
        self.transfer_bytes += indices.nbytes + (weights.nbytes if self.weighted else 0)

    def evict(self, number: int) -> None:
        self.loaded[number] = 0
        self.free.append(self.slot_of.pop(number))
        self._tell()

    def _tell(self) -> None:
        """Bring what kernels know up to date."""
        self.device_loaded.set(self.loaded)
        self.device_shift.set(self.shift)

    def address(self) -> np.ndarray:
        """The struct Graph of graph.cuh."""
        return struct(
            indptr=self.indptr, indices=self.indices, weights=self.weights, entries=self.entries, strength=self.strength, bloom=None,
            members=None, possible=None, part_of=self.part_of, shift=self.device_shift, loaded=self.device_loaded,
            vertices=self.store.vertices,
        )  # fmt: skip

    def check(self, bad: Any) -> None:
        """Raise the bias error that a kernel has noted."""
        check_bias(self.store, bad.tolist())
