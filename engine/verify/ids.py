"""Dense ids of the ids that a sample holds, by a table where the graph's ids are close together."""

import numpy as np

from csaw.engine.samples import UNKNOWN, Samples
from csaw.engine.verify.walk_kernels import look_up
from csaw.partition.base.read_only import thawed

SPARSE = 8  # entries of the table for each vertex, at most


class DenseIds:
    """Maps ids of a sample to dense ones; threads may share it.

    ``vertices``: those of the graph at hand. What a sample's manifest says of its graph may be wrong, and no kernel may
    read the row of a vertex that is not there.
    """

    def __init__(self, samples: Samples, ids: np.ndarray | None, vertices: int) -> None:
        self.samples, self.ids, self.vertices = samples, ids, vertices
        self.table: np.ndarray | None = None
        if samples.ids != "original" or ids is None or not ids.size:
            return
        self.low, high = int(ids.min()), int(ids.max())
        self.span = high - self.low + 1
        if self.span <= SPARSE * ids.size and max(-self.low, high) < 2**62:
            self.table = np.full(self.span, UNKNOWN, np.int32 if ids.size < 2**31 else np.int64)
            self.table[ids.astype(np.int64) - self.low] = np.arange(ids.size)
        else:
            samples.dense(ids[:0], ids)  # sorts them once, before threads ask

    def __call__(self, array: np.ndarray) -> np.ndarray:
        """Dense ids of ``array`` [n] or [n, m], int64: NOTHING for an entry without a vertex, UNKNOWN for an id that
        the graph does not have.
        """
        if self.table is None:
            dense = self.samples.dense(array, self.ids)
            dense[dense >= self.vertices] = UNKNOWN
            return dense
        out = np.empty(array.shape, np.int64)
        held = thawed(array)
        rows = (held.reshape(-1, 1), out.reshape(-1, 1)) if array.ndim == 1 else (held, out)
        look_up(rows[0], array.dtype.type(self.samples.fill), self.low, self.table, rows[1])
        return out
