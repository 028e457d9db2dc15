"""The fingerprint of a graph: one hash of degrees, indices, weights and original ids, which does not depend on partitions and chunks."""

import hashlib

import numpy as np


class Fingerprint:
    """Computes a fingerprint from partitions in order of the vertices.

    Each of the four streams has a hash of its own, so that the cuts between partitions do not matter.
    """

    def __init__(self) -> None:
        self.hashes = {name: hashlib.sha256() for name in ("degrees", "indices", "weights", "ids")}

    def add(self, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
        """Add the next partition."""
        self.hashes["degrees"].update(np.ascontiguousarray(np.diff(indptr)).data)
        self.hashes["indices"].update(np.ascontiguousarray(indices).data)
        if weights is not None:
            self.hashes["weights"].update(np.ascontiguousarray(weights).data)

    def add_ids(self, *arrays: np.ndarray) -> None:
        """Add the original ids, as they are stored: numbers, or bytes and offsets of strings."""
        for array in arrays:
            self.hashes["ids"].update(np.ascontiguousarray(array).data)

    def hexdigest(self) -> str:
        """The fingerprint, 32 hexadecimal digits."""
        return hashlib.sha256("".join(h.hexdigest() for h in self.hashes.values()).encode()).hexdigest()[:32]
