"""The state that the GPUs of one run share: a copy of the graph in host memory, pieces in each other's memory, or the
first GPU's layout.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar, cast

import cupy
from cupy import ndarray as Array

from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays
from csaw.engine.cuda.graphs.host_partitions import HostPartitions
from csaw.partition.errors import DeviceError

ALREADY_ENABLED = 704  # cudaErrorPeerAccessAlreadyEnabled


class Whole(Protocol):
    """A graph that is whole on a GPU, and can be copied to the current one."""

    def copy(self) -> Self:
        """Copy it to the memory of the current GPU."""


Held = TypeVar("Held", bound=Whole)


class Node:
    """Shared by ``count`` backends, each in a thread of its own; closed when all of them are."""

    def __init__(self, count: int) -> None:
        self.lock, self.waiting = threading.Lock(), count
        self.all_here = threading.Barrier(count)
        self.first: Whole | None = None
        self.host: HostPartitions | None = None
        self.pieces: dict[int, EdgeArrays] = {}  # of each partition of a pooled graph
        self.strengths: dict[int, Array] = {}  # row sums of a GPU's vertices, by the GPU's number

    def resident(self, load: Callable[[], Held]) -> Held:
        """The graph on the current GPU. The first GPU that asks loads it; the others copy it from there."""
        with self.lock:
            if self.first is None:
                self.first = graph = load()
                cupy.cuda.get_current_stream().synchronize()
            else:
                graph = cast(Held, self.first).copy()
            self.waiting -= 1
            if self.waiting == 0:
                self.first = None
        return graph

    def host_copy(self, make: Callable[[], HostPartitions]) -> HostPartitions:
        """Return the one copy of the graph in host memory, made by the first GPU that asks."""
        with self.lock:
            if self.host is None:
                self.host = make()
        return self.host

    def meet(self) -> None:
        """Wait until every GPU has called this. DeviceError if one failed before."""
        try:
            self.all_here.wait()
        except threading.BrokenBarrierError as error:
            raise DeviceError("a GPU that holds a part of the graph has failed") from error

    def abort(self) -> None:
        """Tell the other GPUs that this one will not come: their ``meet`` raises DeviceError."""
        self.all_here.abort()

    def close(self) -> None:
        if self.host is not None:
            self.host.close()
        self.host = self.first = None
        pieces = [(*piece.stored.values(), piece.entries) for piece in self.pieces.values()]
        holders = {array.device.id for arrays in pieces for array in arrays if array is not None}
        self.pieces.clear()
        self.strengths.clear()
        for number in holders:
            with cupy.cuda.Device(number):
                cupy.get_default_memory_pool().free_all_blocks()


def copied(array: Array) -> Array:
    """Copy another GPU's array to the current one."""
    if not isinstance(array, cupy.ndarray):
        return array
    copy = cupy.empty(array.shape, array.dtype)
    fetch(array, copy)
    return copy


def fetch(there: Array, here: Array) -> None:
    """Copy another GPU's array into one of the current GPU, of the same size."""
    here.data.copy_from_device_async(there.data, there.nbytes, cupy.cuda.get_current_stream())


def reach_each_other(devices: Sequence[Device]) -> None:
    """Let GPUs read each other's memory, as far as they can."""
    numbers = {one.number for one in devices}
    for one in devices:
        with cupy.cuda.Device(one.number):
            for other in numbers & {*one.peers}:
                reach(other)


def reach(device: int) -> None:
    """Let the current GPU read another one's memory."""
    try:
        cupy.cuda.runtime.deviceEnablePeerAccess(device)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status != ALREADY_ENABLED:
            raise
