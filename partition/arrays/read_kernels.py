"""Reads and checks the bytes of files, compiled: threads that do so do not wait for the interpreter."""

from numba import types
from numba.core.typing import signature

from csaw.partition.arrays.checksum_kernels import all_within, first_damaged
from csaw.partition.arrays.checksums import BLOCK
from csaw.partition.base.compile import inner, njit

PIECE = 1 << 18  # bytes read at a time: they are still in the core's own cache when they are checked

_pread = types.ExternalFunction("pread", signature(types.int64, types.int32, types.int64, types.int64, types.int64))


@inner
def read_bytes(handle, out, begin):
    """Fill ``out`` (uint8) from byte ``begin`` of a file on; returns whether all of it could be read."""
    done = 0
    while done < out.size:
        got = _pread(handle, out.ctypes.data + done, out.size - done, begin + done)
        if got <= 0:
            return False
        done += got
    return True


@njit(nogil=True)
def read_pieces(handle, begin, end, out, sums, limited, limit, values):
    """Read the bytes ``begin`` .. ``end - 1`` of a file into ``out`` and return the place of the first piece that is
    not good; ``end`` where all are.

    A piece is good if it can be read, its blocks have the checksums ``sums`` (those of the file; none are compared if
    it is empty), and, where it is ``limited``, its values lie in 0 .. ``limit``. ``begin`` is at a block's begin.
    ``values``: ``out`` by its dtype.
    """
    item = values.itemsize
    for at in range(begin, end, PIECE):
        low, high = at - begin, min(at + PIECE, end) - begin
        piece = out[low:high]
        if not read_bytes(handle, piece, at):
            return at
        if sums.size > 0:
            first = at // BLOCK
            wanted = sums[first : first + -(-piece.size // BLOCK)]
            if wanted.size * BLOCK < piece.size or first_damaged(piece, BLOCK, wanted) >= 0:
                return at
        if limited and not all_within(values[low // item : high // item], limit):
            return at
    return end
