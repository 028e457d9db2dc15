"""The fingerprint of a graph: one hash of degrees, indices, edge columns and original ids, which does not depend on
partitions and chunks.
"""

import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from csaw.partition.base.parallel import Backlog, go_on
from csaw.partition.graph.edge_columns import EdgeColumn

SMALL = 1 << 20  # bytes that are hashed while a thread is started
HASHED = 1 << 26  # at a time
STREAMS = ("degrees", "indices", "weights", "ids")


class Fingerprint:
    """Fed in order of the vertices; each stream has a hash of its own, so that the cuts leave no trace.

    Args:
        aside: bytes of a stream that may wait for the thread that hashes it (default: 0, no threads); arrays must then
            stay as they are.
        columns: edge columns of the graph beside its weights, each a stream more, named as its array.
    """

    def __init__(self, aside: int = 0, columns: Iterable[EdgeColumn] = ()) -> None:
        self.columns = {column.array: column for column in sorted(columns, key=lambda column: column.name)}
        self.hashes = {name: hashlib.sha256() for name in (*STREAMS, *self.columns)}
        self.threads = {name: ThreadPoolExecutor(1) for name in self.hashes} if aside else {}
        self.lanes = {name: Backlog(self.threads.get(name), aside) for name in self.hashes}

    def add(self, indptr: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
        """Add the next partition: its offsets, and its other arrays by name, of which those without a stream do not
        count.
        """
        self.lanes["degrees"].add(indptr.nbytes, _update_degrees, self.hashes["degrees"], indptr)
        for name in arrays.keys() & self.hashes.keys():
            self.feed(name, arrays[name])

    def add_ids(self, *arrays: np.ndarray) -> None:
        """Add the original ids, as they are stored: numbers, or bytes and offsets of strings."""
        for array in arrays:
            self.feed("ids", array)

    def feed(self, name: str, array: np.ndarray) -> None:
        """Add the next part of a stream: ``indices``, ``weights`` and other columns as stored."""
        self.lanes[name].add(array.nbytes, _update, self.hashes[name], array)

    def hexdigest(self, types: str = "") -> str:
        """32 hexadecimal digits. ``types``: the text of the types and relations of a graph that has several."""
        for lane in self.lanes.values():
            lane.finish()
        of_streams = [self.hashes[name].hexdigest() for name in STREAMS]
        named = [f" {c.name} {c.dtype.name} {self.hashes[c.array].hexdigest()}" for c in self.columns.values()]
        return hashlib.sha256("".join([*of_streams, *named, types]).encode()).hexdigest()[:32]

    def close(self) -> None:
        """Let the threads go."""
        for thread in self.threads.values():
            thread.shutdown(cancel_futures=True)


def fingerprint_of_arrays(
    indptr: np.ndarray,
    arrays: Mapping[str, np.ndarray],
    ids: Iterable[np.ndarray],
    columns: Iterable[EdgeColumn],
    types: str = "",
) -> str:
    """The fingerprint of a graph in memory, whose arrays are those of ``Fingerprint``; large streams are hashed side by
    side.
    """
    fingerprint = Fingerprint(int(sum(array.nbytes for array in arrays.values()) > SMALL), columns)
    try:
        fingerprint.add(indptr, arrays)
        fingerprint.add_ids(*ids)
        return fingerprint.hexdigest(types)
    finally:
        fingerprint.close()


def _update_degrees(stream: "hashlib._Hash", indptr: np.ndarray) -> None:
    _update(stream, np.diff(indptr))


def _update(stream: "hashlib._Hash", array: np.ndarray) -> None:
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for first in range(0, flat.size, HASHED):
        stream.update(flat[first : first + HASHED].data)
        go_on()
