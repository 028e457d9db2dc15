"""The ids that vertices of a graph had where it was made, for files that others read."""

import numpy as np

from csaw.partition import GraphStore
from csaw.partition.arrays.words import Words


class OriginalIds:
    """The original ids of the vertices of ``store``."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store

    @property
    def words(self) -> Words | None:
        """The string ids by dense id; None where ids are numbers."""
        ids = self.store.stored_ids()
        return ids if isinstance(ids, Words) else None

    def original(self, dense: np.ndarray) -> np.ndarray:
        """The original ids of vertices that are numbers; of strings the dense ids."""
        ids = self.store.stored_ids()
        return dense if ids is None or isinstance(ids, Words) else np.asarray(ids)[dense]

    @property
    def id_dtype(self) -> np.dtype:
        """The type of what ``original`` gives."""
        ids = self.store.stored_ids()
        return np.dtype(np.int64) if not isinstance(ids, np.ndarray) else ids.dtype
