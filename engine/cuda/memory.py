"""Page-locked host memory, made quickly, and copies from ordinary host memory.

GPUs copy page-locked memory at full rate and can read it over the bus.
"""

import math
import mmap
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import cupy
import numpy as np
from cupy import ndarray as Array
from numpy.typing import DTypeLike

HUGE, PAGE = 2 << 20, 4096  # bytes
TOUCHERS = 8


def page_locked(count: int, dtype: DTypeLike) -> np.ndarray:
    """A page-locked array of ``count`` elements that every GPU can read, as long as it or a view of it lives.

    Threads touch huge pages before they are locked: 4 GiB take 0.2 s, while CUDA's own allocation takes 1.5 s
    (docs/contributing/tuning.md). CuPy's pool
    is not used: it keeps memory that was freed, and takes up to twice the size. MemoryError if the system has no memory
    left.
    """
    room = huge_pages(count * np.dtype(dtype).itemsize)
    touch(room)
    lock(room)
    return room.view(dtype)


def huge_pages(size: int) -> np.ndarray:
    """Memory of ``size`` bytes, uint8, in huge pages where the system has them; it takes none before it is written.

    MemoryError if the system has no memory left.
    """
    if size == 0:
        return np.empty(0, np.uint8)
    try:
        memory = mmap.mmap(
            -1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        )  # shared memory would have small pages
    except OSError as error:
        raise MemoryError(f"{size:,} bytes of host memory: {error.strerror}") from error
    if hasattr(mmap, "MADV_HUGEPAGE") and size >= HUGE:
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.uint8)
    begin = -whole.ctypes.data % HUGE
    return whole[begin : begin + size]


def touch(room: np.ndarray) -> None:
    """Have the system give the pages of an array, by threads: locking them one after the other takes longer.

    What is there is lost.
    """
    if room.size:
        with ThreadPoolExecutor(TOUCHERS) as threads:
            list(threads.map(_touch, np.array_split(room, TOUCHERS)))


def lock(room: np.ndarray) -> None:
    """Page-lock memory of ``huge_pages``, as long as it or a view of it lives."""
    if not room.size:
        return
    runtime, address = cupy.cuda.runtime, room.ctypes.data
    runtime.hostRegister(
        address, room.size, runtime.hostAllocPortable | runtime.hostAllocMapped
    )  # CUDA's flags for both have the same values
    weakref.finalize(room.base, _unlock, address).atexit = False  # at exit the system unlocks it


def _touch(part: np.ndarray) -> None:
    part[::PAGE] = 0


def _unlock(address: int) -> None:
    with suppress(cupy.cuda.runtime.CUDARuntimeError):  # a device that has failed raises here, too
        cupy.cuda.runtime.hostUnregister(address)


def on_device(host: np.ndarray) -> Array:
    """Copy an array to the current GPU.

    CuPy's own copy allocates page-locked memory of the same size first and takes five times as long.
    """
    there = cupy.empty(host.shape, host.dtype)
    there.set(host)
    return there


def pinned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A page-locked array from CuPy's pool, which reuses memory.

    The same as cupyx has, whose import takes an eighth of a second.
    """
    count = math.prod(shape)
    memory = cupy.cuda.alloc_pinned_memory(count * dtype.itemsize)
    return np.frombuffer(memory, dtype, count).reshape(shape)
