"""The objects that reading a graph store returns: a graph in memory, and a partition."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Graph:
    """A graph of V vertices and E edges in memory: ``indptr`` int64 [V + 1], ``indices`` uint32 or uint64 [E],
    ``weights`` float32 [E] or None, ``columns`` [E] each, further edge columns by name.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Partition:
    """A partition: the vertices first_vertex .. last_vertex - 1 and their edges.

    ``nbytes``: size of its arrays together, edge ids apart.
    """

    number: int
    first_vertex: int
    last_vertex: int
    first_edge: int
    edges: int
    nbytes: int


# Where the vertices of a graph are cut into partitions.


def cut_points(indptr: np.ndarray, partitions: int, balance: str = "edges") -> np.ndarray:
    """Find the first vertices of ``partitions`` ranges of about equal edges or vertices, and V at the end."""
    vertices, edges = indptr.size - 1, int(indptr[-1])
    parts = max(1, min(partitions, max(vertices, 1)))
    if balance == "vertices":
        cuts = np.linspace(0, vertices, parts + 1).astype(np.int64)
    else:
        cuts = np.searchsorted(indptr, np.linspace(0, edges, parts + 1))
        cuts = np.minimum(np.maximum(cuts, np.arange(parts + 1)), vertices - parts + np.arange(parts + 1))
    cuts[0], cuts[-1] = 0, vertices
    return np.maximum.accumulate(cuts)


def partition_count(
    edges: int, vertices: int, item_bytes: int, partitions: int | None, partition_bytes: int | None
) -> int:
    """Decide the number of partitions: ``partitions``, or if that is None as many as keep each below
    ``partition_bytes``.
    """
    if partitions is not None:
        return partitions
    return max(1, -(-(edges * item_bytes + 8 * vertices) // (partition_bytes or 256 << 20)))


def cuts_of(offsets: np.ndarray, most: int) -> list[int]:
    """Find the rows at which pieces begin, the first at 0.

    Each has at most ``most`` edges, unless a single row has more. ``offsets`` [rows + 1] rise from 0.
    """
    rows, total, cuts = offsets.size - 1, int(offsets[-1]), [0]
    while cuts[-1] < rows:
        done = int(offsets[cuts[-1]])
        aim = (total - done) // max(1, -(-(total - done) // most))
        end = int(np.searchsorted(offsets, done + aim, side="right")) - 1
        least = int(np.searchsorted(offsets, done, side="right"))  # a row with edges, so that no piece is empty
        cuts.append(min(max(end, least), rows))
    return cuts[:-1]


def offsets_within(indptr: np.ndarray, first: int, last: int, out: np.ndarray | None = None) -> np.ndarray:
    """The offsets of the rows of vertices first .. last - 1, counted from the first of their edges; into ``out``, if it
    is given.
    """
    offsets: np.ndarray = np.subtract(indptr[first : last + 1], indptr[first], out=out)
    return offsets
