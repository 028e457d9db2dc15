"""Arrays of a store that stay on disk: their files side by side in the address space, read by the system when an
element is used.

What is read so can be dropped again whenever memory is short. Nothing checks it, so the reader checks the whole array
before.
"""

import ctypes
import mmap
import os

import numpy as np

from csaw.partition.arrays.chunk_files import AGAIN, open_chunk
from csaw.partition.arrays.loader import StoredArray
from csaw.partition.errors import StoreError

FIXED = 0x10  # MAP_FIXED, which Python's mmap lacks; Linux and macOS have the same


class Mapped(np.ndarray):
    """An array in files: it takes no memory of the process, and cannot be written."""


def map_array(array: StoredArray, dtype: np.dtype) -> Mapped | None:
    """Map a stored array; None if its files cannot lie side by side.

    They cannot where they are compressed or do not fill whole pages.

    StoreError for a lost file.
    """
    stored = array.chunk * dtype.itemsize
    if not array.plain or array.elements == 0 or (array.chunks > 1 and stored % mmap.PAGESIZE):
        return None
    room = mmap.mmap(-1, array.chunks * stored, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    whole = np.frombuffer(room, np.uint8)
    for number in range(array.chunks):
        handle = open_chunk(array.file(number), stored)
        try:
            _place(whole.ctypes.data + number * stored, stored, handle, array)
        finally:
            os.close(handle)
    return whole.view(dtype)[: array.elements].view(Mapped)


def _place(address: int, size: int, handle: int, array: StoredArray) -> None:
    """Map a file at an address that is ours."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    if library.mmap(address, size, mmap.PROT_READ, mmap.MAP_SHARED | FIXED, handle, 0) != address:
        raise StoreError(f"{array.path} cannot be mapped: {os.strerror(ctypes.get_errno())}; {AGAIN}")
