"""Host memory that GPUs copy at full rate and can read in place, made quickly; and copies of what is in any other."""

import math
import mmap
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import cupy
import numpy as np

HUGE, PAGE = 2 << 20, 4096  # bytes
TOUCHERS = 8


def page_locked(count: int, dtype: Any) -> np.ndarray:
    """An array that every GPU can read, as long as it or a view of it lives.

    Huge pages that threads touch before they are locked: 4 GiB take 0.2 s, and 1.5 s as CUDA itself allocates them (docs/tuning.md). Not of CuPy's
    pool, which keeps what is given back and takes up to twice what is asked for.
    """
    size = count * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(0, dtype)
    try:
        memory = mmap.mmap(-1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # shared ones have small pages
    except OSError as error:
        raise MemoryError(f"{size:,} bytes of host memory: {error.strerror}") from error
    if hasattr(mmap, "MADV_HUGEPAGE") and size >= HUGE:
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.uint8)
    begin = -whole.ctypes.data % HUGE
    room = whole[begin : begin + size]
    with ThreadPoolExecutor(TOUCHERS) as threads:
        list(threads.map(_touch, np.array_split(room, TOUCHERS)))
    runtime, address = cupy.cuda.runtime, room.ctypes.data
    runtime.hostRegister(
        address, size, runtime.hostAllocPortable | runtime.hostAllocMapped
    )  # whose flags have the same values
    weakref.finalize(whole, _unlock, address).atexit = False  # the system does it then
    return room.view(dtype)


def _touch(part: np.ndarray) -> None:
    part[::PAGE] = 0


def _unlock(address: int) -> None:
    with suppress(cupy.cuda.runtime.CUDARuntimeError):  # of a device that has failed
        cupy.cuda.runtime.hostUnregister(address)


def on_device(host: np.ndarray) -> Any:
    """A copy on the current GPU. CuPy's own first makes page-locked memory of the same size, which takes five times as long."""
    there = cupy.empty(host.shape, host.dtype)
    there.set(host)
    return there


def pinned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of CuPy's pool of page-locked memory, which is used again. As in cupyx, whose import takes an eighth of a second."""
    count = math.prod(shape)
    memory = cupy.cuda.alloc_pinned_memory(count * dtype.itemsize)
    return np.frombuffer(memory, dtype, count).reshape(shape)
