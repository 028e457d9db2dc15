"""What makes two graphs the same: one hash over degrees, indices, weights and original ids, however they are cut into partitions and chunks."""

import hashlib

import numpy as np


class Fingerprint:
    """Fed in order of the vertices; each of the four streams has a hash of its own, so that the cuts leave no trace."""

    def __init__(self) -> None:
        self.hashes = {name: hashlib.sha256() for name in ("degrees", "indices", "weights", "ids")}

    def add(self, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
        """The next partition."""
        self.hashes["degrees"].update(np.ascontiguousarray(np.diff(indptr)).data)
        self.hashes["indices"].update(np.ascontiguousarray(indices).data)
        if weights is not None:
            self.hashes["weights"].update(np.ascontiguousarray(weights).data)

    def add_ids(self, *arrays: np.ndarray) -> None:
        """Original ids; those of strings as bytes and offsets."""
        for array in arrays:
            self.hashes["ids"].update(np.ascontiguousarray(array).data)

    def hexdigest(self) -> str:
        """32 hexadecimal digits."""
        return hashlib.sha256("".join(h.hexdigest() for h in self.hashes.values()).encode()).hexdigest()[:32]
