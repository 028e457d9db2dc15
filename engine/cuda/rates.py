"""The rates of a GPU that plans count on: copies over the bus, reads over the bus, reads of its own memory."""

from collections.abc import Callable

import cupy
import numpy as np

from csaw.engine.cuda.device import Device
from csaw.engine.cuda.memory import page_locked
from csaw.engine.plan.rates import ASSUMED, BUS_REACH, available_bytes

HOST_BYTES, FAR_BYTES, DEVICE_BYTES = 64 << 20, 2 << 30, 512 << 20
HOST_READS, DEVICE_READS = 1 << 18, 1 << 22
TURNS = 4  # of which the first, which compiles and allocates, does not count


def device_rates(device: Device) -> dict[str, float]:
    """Measure a GPU, in half a second after CuPy has compiled the two kernels of it for the first time."""
    with cupy.cuda.Device(device.number):
        found = {**_bus(device.number), "device_gathers": _memory(min(DEVICE_BYTES, device.free_bytes // 8))}
        cupy.get_default_memory_pool().free_all_blocks()
    return found


def _bus(number: int) -> dict[str, float]:
    host = page_locked(HOST_BYTES // 4, np.uint32)
    host[:] = 1
    there = cupy.empty(host.size, host.dtype)
    copies = HOST_BYTES / _seconds(lambda: there.set(host))
    near = _reads(_seen_from_device(host, number), HOST_READS)
    return {"bus_bytes": copies, "bus_reads": near, "far_reads": _far(number, near)}


def _far(number: int, near: float) -> float:
    """Reads a second from host memory that is beyond the reach of what is translated; assumed where memory is short."""
    if available_bytes() < 4 * FAR_BYTES:
        return ASSUMED.far_reads
    found = _reads(_seen_from_device(page_locked(FAR_BYTES // 4, np.uint32), number), HOST_READS)
    within = BUS_REACH / FAR_BYTES
    return (1 - within) / max(1 / found - within / near, (1 - within) / near)


def _memory(size: int) -> float:
    return _reads(cupy.ones(size // 4, np.uint32), DEVICE_READS)


def _seen_from_device(host: np.ndarray, number: int) -> cupy.ndarray:
    """Page-locked memory as an array that kernels read over the bus."""
    memory = cupy.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host, number)
    return cupy.ndarray(host.shape, host.dtype, cupy.cuda.MemoryPointer(memory, 0))


def _reads(table: cupy.ndarray, count: int) -> float:
    """Reads a second from random places of a table."""
    places = cupy.asarray(np.random.default_rng(0).integers(0, table.size, count))
    out = cupy.empty(count, table.dtype)
    return count / _seconds(lambda: cupy.take(table, places, out=out))


def _seconds(run: Callable[[], object]) -> float:
    """The least seconds of a few turns, by the GPU's own clock."""
    found = []
    for _ in range(TURNS):
        began, ended = cupy.cuda.Event(), cupy.cuda.Event()
        began.record()
        run()
        ended.record()
        ended.synchronize()
        found.append(cupy.cuda.get_elapsed_time(began, ended) / 1e3)
    return min(found[1:])
