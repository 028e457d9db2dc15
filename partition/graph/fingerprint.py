"""The fingerprint of a graph: one hash of degrees, indices, weights and original ids, which does not depend on partitions and chunks."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from csaw.partition.base.parallel import Backlog

STREAMS = ("degrees", "indices", "weights", "ids")


class Fingerprint:
    """Fed in order of the vertices; each of the four streams has a hash of its own, so that the cuts leave no trace.

    With ``aside`` bytes, a thread for each stream hashes while up to so many bytes of it wait; arrays must then stay as they are.
    """

    def __init__(self, aside: int = 0) -> None:
        self.hashes = {name: hashlib.sha256() for name in STREAMS}
        self.threads = {name: ThreadPoolExecutor(1) for name in STREAMS} if aside else {}
        self.lanes = {name: Backlog(self.threads.get(name), aside) for name in STREAMS}

    def add(self, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
        """The next partition."""
        self.feed("degrees", np.diff(indptr))
        self.feed("indices", indices)
        if weights is not None:
            self.feed("weights", weights)

    def add_ids(self, *arrays: np.ndarray) -> None:
        """Add the original ids, as they are stored: numbers, or bytes and offsets of strings."""
        for array in arrays:
            self.feed("ids", array)

    def feed(self, name: str, array: np.ndarray) -> None:
        """The next part of one stream: ``degrees`` int64, ``indices`` as they are stored, ``weights`` float32."""
        self.lanes[name].add(array.nbytes, _update, self.hashes[name], array)

    def hexdigest(self) -> str:
        """32 hexadecimal digits."""
        for lane in self.lanes.values():
            lane.finish()
        return hashlib.sha256("".join(h.hexdigest() for h in self.hashes.values()).encode()).hexdigest()[:32]

    def close(self) -> None:
        """Let the threads go."""
        for thread in self.threads.values():
            thread.shutdown(cancel_futures=True)


def _update(stream: Any, array: np.ndarray) -> None:
    stream.update(np.ascontiguousarray(array).data)
