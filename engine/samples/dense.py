"""Dense ids of the original ids that samples have."""

import numpy as np

NOTHING = -1  # dense id of a fill value
UNKNOWN = -2  # dense id of a value that no vertex has


class DenseNumbers:
    """Finds the dense ids of original ones in ``ids`` [V], the original ids by dense id."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids
        large = ids.dtype == np.uint64 and ids.max(initial=0) > np.iinfo(np.int64).max
        held = np.asarray(ids).astype(np.uint64 if large else np.int64)
        self._order = np.argsort(held, kind="stable")
        self._ordered = held[self._order]

    def of(self, wanted: np.ndarray) -> np.ndarray:
        """The dense ids, int64; UNKNOWN for an id that no vertex has."""
        if not self._ordered.size:
            return np.full(wanted.shape, UNKNOWN, np.int64)
        place = np.minimum(np.searchsorted(self._ordered, wanted), self._ordered.size - 1)
        return np.where(self._ordered[place] == wanted, self._order[place], UNKNOWN)
