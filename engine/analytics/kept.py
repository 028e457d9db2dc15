"""The memory of a measure beside the rows of the graph, as the measure states it."""

from collections.abc import Callable
from typing import NamedTuple

FIXED = 1 << 16


class Kept(NamedTuple):
    """The most that a measure keeps at a time, beside the rows of the graph or the two blocks of them in use.

    vertex: bytes of each vertex: offsets and degrees, the state of the computation, temporary arrays, and findings.
    ids: vertex ids of each vertex, of 4 bytes, or 8 of a graph of 2^32 vertices and more.
    entries: vertex ids of each entry of a row.
    fixed: bytes of all else.
    """

    vertex: int
    ids: int = 0
    entries: int = 0
    fixed: int = FIXED

    def bytes(self, vertices: int, entries: int, id_bytes: int) -> int:
        """Bytes for a graph of so many vertices and entries of rows, with ids of ``id_bytes`` bytes."""
        return vertices * (self.vertex + self.ids * id_bytes) + entries * self.entries * id_bytes + self.fixed

    def more(self, vertex: int) -> "Kept":
        """The same with so many bytes more of each vertex."""
        return self._replace(vertex=self.vertex + vertex)


class Enough(NamedTuple):
    """Memory in which a measure is found for certain: ``bytes()``.

    ``has_rows``: whether all rows that the measure reads are in these bytes.
    """

    bytes: Callable[[], int]
    has_rows: bool = False

    def __call__(self) -> int:
        return self.bytes()


NOTHING = Kept(0, fixed=0)
