"""Reads spans of plain chunks, in pieces that are checked while they are in the cache: few by NumPy, many by compiled
code, so that threads do not wait for the interpreter. From the page cache this is several times as fast.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from csaw.partition.arrays.checksums import BLOCK, DTYPE, first_damaged
from csaw.partition.arrays.chunk_files import THREADS, Limit, check_within, damaged, fill, open_chunk, spread
from csaw.partition.base.first_work import stays_little

FEW = 2  # pieces, for which waking other threads takes longer than reading them
PIECE = 1 << 20  # bytes of a thread's turn
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
        self.pieces = range(start, stop, PIECE)

    def end_of(self, begin: int) -> int:
        """The end of the piece that begins there."""
        return min(begin + PIECE, self.pieces.stop)

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
        if pieces <= FEW or stays_little(sum(span.pieces.stop - span.pieces.start for span in spans), _read_pieces):
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


def _read_pieces() -> Callable[..., int]:
    """The compiled function, imported where it is needed."""
    from csaw.partition.arrays.read_kernels import read_pieces

    found: Callable[..., int] = read_pieces
    return found


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
