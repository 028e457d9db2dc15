"""Reads spans of plain chunks, in pieces that are checked while they are in the cache: few by NumPy, many by compiled
code, so that threads do not wait for the interpreter. From the page cache this is several times as fast.
"""

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from csaw.partition.arrays.checksums import BLOCK, DTYPE, first_damaged
from csaw.partition.arrays.chunk_files import THREADS, Limit, check_within, damaged, fill, open_chunk, spread
from csaw.partition.base.first_work import is_little

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
        from csaw.partition.arrays.read_kernels import read_pieces

        sums, limited = NO_SUMS if self.sums is None else self.sums, self.limit is not None
        limit = self.out.dtype.type(self.limit or 0)
        while begin < end:
            here = self.want[begin - self.low : end - self.low]
            begin = read_pieces(handle, begin, end, here, sums, limited, limit, here.view(self.out.dtype))
            if begin < end:
                self.read(handle, begin)  # says what is wrong with it
                begin = self.end_of(begin)


def read_plain(span: PlainSpan, *, spread_out: bool) -> None:
    """Fill ``span.out``; StoreError names the file that cannot be read, or the bytes that have changed.

    ``spread_out``: whether threads share the pieces.
    """
    handle, pieces = open_chunk(span.file, span.size), span.pieces
    several = len(pieces) > FEW
    try:
        if several and not is_little(0):
            _read_compiled(span, handle, THREADS if spread_out else 1)
        elif several and spread_out:
            spread(lambda begin: span.read(handle, begin), pieces)
        else:
            for begin in pieces:
                span.read(handle, begin)
    finally:
        os.close(handle)


def _read_compiled(span: PlainSpan, handle: int, threads: int) -> None:
    """Read the pieces that are wanted whole by compiled code, in a call for each thread, and the others one by one."""
    whole = [begin for begin in span.pieces if span.is_wanted_whole(begin)]
    for begin in span.pieces:
        if not span.is_wanted_whole(begin):
            span.read(handle, begin)
    if not whole:
        return
    cuts = [*whole[:: -(-len(whole) // threads)], span.end_of(whole[-1])]
    if threads == 1:
        span.read_many(handle, cuts[0], cuts[-1])
    else:
        spread(lambda ends: span.read_many(handle, *ends), pairwise(cuts))


def _check_blocks(file: Path, piece: np.ndarray, begin: int, sums: np.ndarray) -> None:
    first = begin // BLOCK
    wanted = sums[first : first + -(-piece.size // BLOCK)]
    bad = first_damaged(piece, wanted)
    if bad >= 0 or wanted.size * BLOCK < piece.size:
        raise damaged(file, (first + max(bad, 0)) * BLOCK)
