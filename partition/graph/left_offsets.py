"""Offsets of rows that are read without comparing their blocks, for a reader that has a GPU compare them."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from csaw.partition.arrays.loader import NO_SUMS, THREADS, read_array
from csaw.partition.arrays.uncompared import read_uncompared
from csaw.partition.graph.store import GraphStore, array_name


def read_left_offsets(store: GraphStore, out: np.ndarray) -> list[np.ndarray] | None:
    """Fill ``out`` with the offsets of the rows of all partitions as they are stored, one after the other.

    Args:
        store: the graph; of a view none are left.
        out: int64 [V + partitions].

    Returns:
        The checksums of the blocks of each partition that are left to be compared, uint32: all but its last one, or
        none, as of compressed files. The reader also has to require that offsets rise. None for a view, whose offsets
        :meth:`GraphStore.read_offsets` reads.

    Raises:
        StoreError: a file cannot be read, or a block that is compared here has changed.
    """
    if type(store) is not GraphStore or not store.partitions:
        return None
    begins = [part.first_vertex + part.number for part in store.partitions]
    rooms = [out[begin:end] for begin, end in pairwise([*begins, out.size])]

    def read(number: int) -> np.ndarray:
        array = store.array(array_name(number, "indptr"))
        sums = read_uncompared(array, rooms[number])
        if sums is None:
            read_array(array, rooms[number])
        return NO_SUMS if sums is None else sums

    with ThreadPoolExecutor(min(len(rooms), THREADS)) as threads:
        return list(threads.map(read, range(len(rooms))))
