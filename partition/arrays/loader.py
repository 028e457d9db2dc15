"""Reads one-dimensional Zarr arrays straight into a buffer: chunk files by pread, a few at a time, each piece checked
while it is in the cache.

For uncompressed chunks this reads at the disk's or the page cache's rate, twice as fast as zarr-python.
"""

import ctypes
import hashlib
import json
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from csaw.partition.arrays.checksums import BLOCK, DTYPE, all_within, file_sum, first_damaged
from csaw.partition.arrays.files import open_regular, read_regular, way_out
from csaw.partition.base.first_work import stays_little
from csaw.partition.base.parallel import heeding
from csaw.partition.errors import StoreError

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

# Files of chunks: opened, read and checked, by threads that share the work.

THREADS = max(
    4, min(16, os.cpu_count() or 1)
)  # that read and check chunks: from the page cache each is as fast as its core
AGAIN = "make the store again with csaw partition"

Item = TypeVar("Item")
Limit = float | np.float32
"""The largest value that an array may hold, if the least is 0."""


def open_chunk(file: Path, stored: int | None = None, most: int | None = None) -> int:
    """Open the file of a chunk and return its descriptor.

    StoreError when it cannot be opened, or does not have ``stored`` bytes, or has more than ``most``.
    """
    try:
        return open_regular(file, size=stored, most=most)
    except OSError as error:
        raise StoreError(f"{file} cannot be opened: {error.strerror}; {way_out(error, AGAIN)}") from error


def fill(file: Path, handle: int, out: np.ndarray, begin: int) -> None:
    """Fill ``out`` (uint8) from byte ``begin`` of a file on.

    StoreError, with its name, when it cannot be read or ends before.
    """
    done = 0
    while done < out.size:
        try:
            got = os.preadv(handle, [out[done:].data], begin + done)
        except OSError as error:
            raise StoreError(f"{file} cannot be read: {error.strerror}; {AGAIN}") from error
        if got <= 0:
            raise StoreError(f"{file}: expected {out.size:,} bytes, could read {done:,}; {AGAIN}")
        done += got


def check_within(file: Path, values: np.ndarray, limit: Limit) -> None:
    """StoreError unless all ``values``, which came from ``file``, lie in 0 .. ``limit``."""
    if not all_within(values, values.dtype.type(limit)):
        raise StoreError(f"{file}: expected values from 0 to {limit}, found {values.min()} to {values.max()}; {AGAIN}")


def damaged(file: Path, begin: int) -> StoreError:
    """The error for a block that has changed since it was written."""
    return StoreError(f"{file}: bytes from {begin:,} on have changed since they were written; {AGAIN}")


def spread(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Run ``work`` on each item in threads. When this returns or raises, none of them works any more."""
    heard = heeding(work)
    futures = [readers(os.getpid()).submit(heard, item) for item in items]
    try:
        wait(futures, return_when=FIRST_EXCEPTION)
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
    for future in futures:
        if not future.cancelled():
            future.result()


@cache
def readers(process: int) -> ThreadPoolExecutor:
    """The threads that read, of this ``process``: those of a process that was forked are not in the new one."""
    return ThreadPoolExecutor(THREADS)


# Reads spans of plain chunks, in pieces that are checked while they are in the cache: few by NumPy, many by compiled
# code, so that threads do not wait for the interpreter. From the page cache this is several times as fast.

# Arrays, read into a buffer.

FEW = 2  # pieces, for which waking other threads takes longer than reading them
PIECE = 1 << 20  # bytes of a thread's turn,
UNCHECKED_PIECE = 1 << 24  # and where they are read and nothing else, which needs no cache and holds up no other thread
NO_SUMS = np.empty(0, DTYPE)


@dataclass
class PlainSpan:
    """Bytes of a chunk's file, and where they go.

    Attributes:
        file: of ``size`` bytes.
        sums: of its blocks; None where nothing is checked. Whole blocks are read and compared.
        low: first byte that is wanted.
        end: of what is to be checked: that of ``out``, or beyond it the end of the file.
        out: what is filled.
        limit: of the values; None for any value.
    """

    file: Path
    size: int
    sums: np.ndarray | None
    low: int
    end: int
    out: np.ndarray
    limit: Limit | None

    def __post_init__(self) -> None:
        self.want = self.out.view(np.uint8)
        self.high = self.low + self.want.size
        start, stop = self.low, self.high
        if self.sums is not None:
            start, stop = self.low // BLOCK * BLOCK, min(-(-self.end // BLOCK) * BLOCK, self.size)
        self.pieces = range(start, stop, PIECE if self.is_checked else UNCHECKED_PIECE)

    @property
    def is_checked(self) -> bool:
        """Whether anything is compared with what is read."""
        return self.sums is not None or self.limit is not None

    def end_of(self, begin: int) -> int:
        """The end of the piece that begins there."""
        return min(begin + self.pieces.step, self.pieces.stop)

    def is_wanted_whole(self, begin: int) -> bool:
        """Whether all of a piece goes to ``out``."""
        return begin >= self.low and self.end_of(begin) <= self.high

    def read(self, handle: int, begin: int) -> None:
        """Read the piece that begins there; StoreError if it cannot be read or is not right."""
        end = self.end_of(begin)
        a, b = max(self.low, begin), min(self.high, end)  # of what is wanted
        here, whole = self.want[a - self.low : max(b, a) - self.low], self.is_wanted_whole(begin)
        piece = here if whole else np.empty(end - begin, np.uint8)
        fill(self.file, handle, piece, begin)
        if self.sums is not None:
            _check_blocks(self.file, piece, begin, self.sums)
        if not whole and here.size:
            here[:] = piece[a - begin : b - begin]
        if self.limit is not None and here.size:
            check_within(self.file, here.view(self.out.dtype), self.limit)

    def read_many(self, handle: int, begin: int, end: int) -> None:
        """Read pieces that are wanted whole, as ``read`` does; from ``begin`` to ``end``."""
        read_pieces = _read_pieces()
        sums, limited = NO_SUMS if self.sums is None else self.sums, self.limit is not None
        limit = self.out.dtype.type(self.limit or 0)
        while begin < end:
            here = self.want[begin - self.low : end - self.low]
            begin = read_pieces(handle, begin, end, here, sums, limited, limit, here.view(self.out.dtype))
            if begin < end:
                self.read(handle, begin)  # says what is wrong with it
                begin = self.end_of(begin)


def read_plain(spans: Sequence[PlainSpan], *, spread_out: bool) -> None:
    """Fill ``out`` of each span; StoreError names the file that cannot be read, or the bytes that have changed.

    ``spread_out``: whether threads share the pieces. The files of all spans are open at the same time.
    """
    with ExitStack() as stack:
        opened = [(span, stack.enter_context(_open(span))) for span in spans]
        pieces = sum(len(span.pieces) for span in spans)
        checked = sum(span.pieces.stop - span.pieces.start for span in spans if span.is_checked)
        if pieces <= FEW or not checked or stays_little(checked, _read_pieces):
            tasks: list[Callable[[], None]] = [
                partial(span.read, handle, begin) for span, handle in opened for begin in span.pieces
            ]
        else:
            each = -(-pieces // THREADS) if spread_out else pieces
            tasks = [task for span, handle in opened for task in _compiled(span, handle, each)]
        if spread_out and pieces > FEW:
            spread(lambda task: task(), tasks)
        else:
            for task in tasks:
                task()


def _read_pieces() -> "Dispatcher":
    """The compiled function, imported where it is needed."""
    from csaw.partition.arrays.read_kernels import read_pieces

    return read_pieces


@contextmanager
def _open(span: PlainSpan) -> Iterator[int]:
    handle = open_chunk(span.file, span.size)
    try:
        yield handle
    finally:
        os.close(handle)


def _compiled(span: PlainSpan, handle: int, each: int) -> Iterator[Callable[[], None]]:
    """The tasks of reading a span: ``each`` pieces that are wanted whole by compiled code, and every other piece."""
    whole = [begin for begin in span.pieces if span.is_wanted_whole(begin)]
    for run in (whole[first : first + each] for first in range(0, len(whole), each)):
        yield partial(span.read_many, handle, run[0], span.end_of(run[-1]))
    for begin in span.pieces:
        if not span.is_wanted_whole(begin):
            yield partial(span.read, handle, begin)


def _check_blocks(file: Path, piece: np.ndarray, begin: int, sums: np.ndarray) -> None:
    first = begin // BLOCK
    wanted = sums[first : first + -(-piece.size // BLOCK)]
    bad = first_damaged(piece, wanted)
    if bad >= 0 or wanted.size * BLOCK < piece.size:
        raise damaged(file, (first + max(bad, 0)) * BLOCK)


# threads that unpack parts of arrays: each holds a whole chunk, packed and unpacked, of which little may be needed
UNPACKERS = 2
SUMS, SUM_BYTES = "checksums", 4  # the file beside an array's zarr.json, and the bytes of each of its numbers
BLOSC_HEADER = 16  # bytes
AT_ONCE = 1 << 20  # offsets that are compared at a time


@dataclass(frozen=True)
class StoredArray:
    """An array on disk.

    elements: number of elements. chunk: number of elements of a file. plain: whether files are uncompressed.
    sums: uint32, a checksum for each block of each plain file, or for each compressed file; None where nothing is
    checked.
    """

    path: Path
    elements: int
    chunk: int
    plain: bool
    sums: np.ndarray | None

    @property
    def chunks(self) -> int:
        """Number of chunk files."""
        return -(-self.elements // self.chunk)

    def file(self, number: int) -> Path:
        """The file of a chunk."""
        return self.path / "c" / str(number)

    def sums_of(self, number: int, item: int) -> np.ndarray | None:
        """Checksums of the blocks of a plain chunk, whose elements have ``item`` bytes."""
        if self.sums is None:
            return None
        blocks = -(-self.chunk * item // BLOCK)
        return self.sums[number * blocks : (number + 1) * blocks]


def open_array(path: Path, digest: str | None = None) -> StoredArray:
    """Open the array at ``path``; StoreError when its zarr.json is missing or damaged, or does not have the ``digest``.

    With a digest, the checksums of the array are read too, and every block is compared with them when it is read.
    """
    try:
        text = read_regular(path / "zarr.json")
        meta = json.loads(text)
        (count,), (chunk,) = meta["shape"], meta["chunk_grid"]["configuration"]["chunk_shape"]
        plain = [codec["name"] for codec in meta["codecs"]] == ["bytes"]
        files, nbytes = -(-count // chunk), chunk * np.dtype(meta["data_type"]).itemsize
        sums = read_regular(path / SUMS, most=files * (nbytes + SUM_BYTES)) if digest else b""
        if digest and array_digest(text, sums) != digest:
            raise StoreError(f"{path}: its zarr.json or its checksums have changed; {AGAIN}")
        numbers = np.frombuffer(sums, "<u4") if digest else None
    except StoreError:
        raise
    except (OSError, ValueError, KeyError, IndexError, TypeError, ZeroDivisionError, RecursionError) as error:
        raise StoreError(f"{path}/zarr.json or {SUMS} is missing or damaged ({error}); {AGAIN}") from error
    if not (type(count) is type(chunk) is int and 0 <= count < 2**63 and 0 < chunk < 2**63):
        raise StoreError(
            f"{path}/zarr.json: expected numbers of elements, found shape {count} and chunks of {chunk}; {AGAIN}"
        )
    return StoredArray(path, count, chunk, plain, numbers)


def array_digest(description: bytes, sums: bytes) -> str:
    """The digest of an array: a hash of its zarr.json and its checksums. The attributes of the store keep it."""
    return hashlib.sha256(description + sums).hexdigest()[:32]


def read_array(
    array: StoredArray, out: np.ndarray, limit: Limit | None = None, first: int = 0, elements: int | None = None
) -> None:
    """Fill ``out`` with the elements of the array from number ``first`` on.

    ``elements``: the number that the array must have (default: those of ``out``, its whole). Of a plain chunk, the
    blocks that the elements touch are read and checked; a compressed one is read as a whole. StoreError when a chunk is
    missing, of the wrong size or damaged, or a value is not in 0 .. ``limit``.
    """
    expected = out.size if elements is None else elements
    if array.elements != expected:
        raise StoreError(f"{array.path}: expected {expected:,} elements, found {array.elements:,}; {AGAIN}")
    if out.size == 0:
        return
    last = first + out.size

    def part(number: int) -> tuple[int, np.ndarray]:
        """The first element that is wanted of a chunk, and where it and those that follow go."""
        begin = number * array.chunk
        low, high = max(first, begin), min(last, begin + array.chunk)
        return low - begin, out[low - first : high - first]

    def unpack(number: int) -> None:
        begin, there = part(number)
        _unpack(array, number, begin, there)
        if limit is not None:
            check_within(array.file(number), there, limit)

    chunks = range(first // array.chunk, -(-last // array.chunk))
    if array.plain and len(chunks) < THREADS:
        read_plain([_span(array, number, *part(number), limit) for number in chunks], spread_out=True)
    elif array.plain:
        spread(lambda number: read_plain([_span(array, number, *part(number), limit)], spread_out=False), chunks)
    elif out.size == array.elements:
        spread(unpack, chunks)
    else:
        with ThreadPoolExecutor(min(UNPACKERS, len(chunks))) as threads:
            list(threads.map(unpack, chunks))


def _span(array: StoredArray, number: int, first: int, out: np.ndarray, limit: Limit | None) -> PlainSpan:
    """The span that fills ``out`` from element ``first`` of a plain chunk on.

    If these elements are all that the last chunk holds, the bytes that fill its file are checked, too.
    """
    begin, size, sums = first * out.itemsize, array.chunk * out.itemsize, array.sums_of(number, out.itemsize)
    whole = first == 0 and number * array.chunk + out.size == array.elements
    return PlainSpan(array.file(number), size, sums, begin, size if whole else begin + out.nbytes, out, limit)


def rise(offsets: np.ndarray, last: int, most: int) -> bool:
    """Whether offsets of rows rise from 0 to ``last``, by ``most`` at a time: what reads rows in parts makes room for
    one of so many edges.
    """
    if offsets[0] != 0 or offsets[-1] != last:
        return False
    pieces = (offsets[first : first + AT_ONCE + 1] for first in range(0, offsets.size - 1, AT_ONCE))
    return all((piece[1:] >= piece[:-1]).all() and (piece[1:] - piece[:-1]).max() <= most for piece in pieces)


def read_ahead(array: StoredArray, item: int, first: int, count: int) -> None:
    """Ask the system to read ``count`` elements of ``item`` bytes, from number ``first`` on, into its page cache.

    Errors are left to the reader.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    last = first + count
    with suppress(OSError):
        for number in range(first // array.chunk, -(-last // array.chunk)):
            begin = number * array.chunk
            low, high = (max(first, begin) - begin, min(last, begin + array.chunk) - begin) if array.plain else (0, 0)
            handle = open_regular(array.file(number))
            try:  # a length of 0: to the end of the file
                os.posix_fadvise(handle, low * item, (high - low) * item, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(handle)


def _unpack(array: StoredArray, number: int, first: int, out: np.ndarray) -> None:
    """Fill ``out`` from element ``first`` of a compressed chunk on; zeros that fill the last chunk are left out."""
    from numcodecs import blosc

    size = array.chunk * out.itemsize
    file, handle = array.file(number), open_chunk(array.file(number), most=size + BLOSC_HEADER)
    try:
        packed = np.empty(os.fstat(handle).st_size, np.uint8)
        fill(file, handle, packed, 0)
    finally:
        os.close(handle)
    if array.sums is not None and (number >= array.sums.size or file_sum(packed) != array.sums[number]):
        raise damaged(file, 0)
    if packed.size < BLOSC_HEADER or packed[4:8].view("<u4")[0] != size or packed[12:16].view("<u4")[0] != packed.size:
        raise StoreError(f"{file}: expected {size:,} bytes packed by Blosc, found something else; {AGAIN}")
    try:
        whole = np.frombuffer(blosc.decompress(packed), out.dtype)
    except (RuntimeError, ValueError) as error:
        raise StoreError(f"{file} cannot be unpacked: {error}; {AGAIN}") from error
    out[:] = whole[first : first + out.size]


# Arrays of a store that stay on disk: their files side by side in the address space, read by the system when an
# element is used.
#
# What is read so can be dropped again whenever memory is short. Nothing checks it, so the reader checks the whole array
# before.

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
