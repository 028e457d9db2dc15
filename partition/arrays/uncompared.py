"""Whole arrays that are read without comparing their blocks with their checksums, which is left to a GPU."""

import os
from concurrent.futures import wait
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.checksums import BLOCK, first_damaged_of_end
from csaw.partition.arrays.loader import StoredArray, damaged, fill, open_chunk, read_array, readers
from csaw.partition.base.parallel import heeding


class Uncompared(NamedTuple):
    """Blocks that were read, and are still to be compared: from element ``first`` of the array ``name`` on; ``sums``:
    uint32, their checksums.
    """

    name: str
    first: int
    sums: np.ndarray


def read_uncompared(array: StoredArray, out: np.ndarray) -> np.ndarray | None:
    """Fill ``out`` with the whole of an array, and compare only the block that its end is in, and those that fill up
    its file.

    Returns the checksums of the blocks before, uint32: a GPU compares them in a fraction of the time in which the
    compiled code is loaded that does so here. None, and nothing is read, if the blocks of the array do not follow each
    other in ``out``, or it has no checksums. StoreError as of ``read_array``.
    """
    item, blocks = out.itemsize, (out.nbytes - 1) // BLOCK
    aligned = array.chunks == 1 or array.chunk * item % BLOCK == 0
    if not array.plain or array.sums is None or array.elements != out.size or not aligned or blocks < 1:
        return None
    sums, first = array.sums[:blocks], blocks * BLOCK // item
    if sums.size < blocks:
        return None
    end = readers(os.getpid()).submit(heeding(_read_end), array, first, out[first:])
    try:
        read_array(replace(array, sums=None), out[:first], elements=out.size)
    finally:
        wait((end,))
    end.result()
    return sums


def _read_end(array: StoredArray, first: int, out: np.ndarray) -> None:
    """Fill ``out`` with the last elements of a plain array, which begin with a block, and check all blocks from there
    to the end of the file.
    """
    number, begin, size = first // array.chunk, first % array.chunk * out.itemsize, array.chunk * out.itemsize
    file, rest = array.file(number), np.empty(size - begin, np.uint8)
    handle = open_chunk(file, size)
    try:
        fill(file, handle, rest, begin)
    finally:
        os.close(handle)
    sums = array.sums_of(number, out.itemsize)
    assert sums is not None
    wanted = sums[begin // BLOCK :]
    bad = first_damaged_of_end(rest[: wanted.size * BLOCK], wanted)
    if bad >= 0 or wanted.size * BLOCK < rest.size:
        raise damaged(file, begin + max(bad, 0) * BLOCK)
    out.view(np.uint8)[:] = rest[: out.nbytes]
