"""What a graph store is read as: a graph in memory, and a partition."""

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
