"""Columns of data of vertices: one number for each vertex, which hooks read as ``e.column("name", vertex)``;
given_columns.py reads them.

Numbers are 64-bit floats everywhere, so that a bias has the same bits on every device. They lie in memory whole,
whatever the residency of the graph.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np  # for types alone: a command's help does without the time of importing it


@dataclass(frozen=True)
class VertexColumns:
    """``table`` float64 [columns, V]: row k is the column ``names[k]``, and entry v of it the number of the vertex with
    dense id v.
    """

    names: tuple[str, ...]
    table: "np.ndarray | None"

    @property
    def nbytes(self) -> int:
        return 0 if self.table is None else int(self.table.nbytes)

    @cached_property
    def digests(self) -> dict[str, str]:
        """By name, the SHA-256 of a column's numbers in the order of dense ids, as a request has it."""
        rows = () if self.table is None else self.table
        return {
            name: hashlib.sha256(row.astype("<f8").tobytes()).hexdigest()
            for name, row in zip(self.names, rows, strict=True)
        }

    def value(self, name: str, vertex: int) -> float:
        """The number of a vertex; NaN for what is no vertex. For the law in Python; kernels read ``table``."""
        assert self.table is not None
        row = self.table[self.names.index(name)]
        return float(row[vertex]) if 0 <= vertex < row.size else math.nan


NO_COLUMNS = VertexColumns((), None)
