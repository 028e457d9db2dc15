"""The contract of a network: a graph as measures read it, in blocks of consecutive rows that fit the memory they may use.

A network that fits is one block, which stays where it is. A larger one is read from its store block by block, each time that a measure goes through it, so a
measure is written once: it keeps what it knows of the vertices in arrays [V], and goes through the rows as often as it must.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np

from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.residency import Residency
from csaw.partition import GraphStore
from csaw.partition.errors import BudgetError
from csaw.partition.graph.recut import Recut

Wanted = Callable[[int, int], bool]
"""Whether the rows of the vertices from the first to before the second are wanted."""


class Block(NamedTuple):
    """The rows of the vertices ``first`` .. ``last`` - 1.

    ``indptr`` int64 [last - first + 1]: row v is ``indices[indptr[v - first] : indptr[v - first + 1]]``, sorted; ``weights`` float32 beside ``indices``, or None.
    """

    first: int
    last: int
    indptr: Array
    indices: Array
    weights: Array


def on_host(array: Array) -> np.ndarray:
    """An array of a network in host memory."""
    return array if isinstance(array, np.ndarray) else array.get()


class Network(ABC):
    """A graph on one device. ``device``: cpu or cuda. ``xp``: NumPy, or CuPy on a GPU; all arrays of a network are of it. ``store``: its graph store.

    vertices, edges: numbers of vertices and of entries of rows. directed: whether rows hold the ends of edges that leave a vertex, and no others.
    """

    device: ClassVar[str]
    store: GraphStore
    xp: Any
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    id_dtype: np.dtype
    held: dict[bool, Block]
    """The block of all rows of a resident network, once it was read, without weights (False) or with them."""
    state_bytes: ClassVar[int]
    """Bytes that may be kept of each vertex: offsets, degrees, and what a measure keeps."""
    flag: ClassVar[str]
    """The option of the budget."""
    residency: Residency | None
    """Where the rows must be; None: in the memory of the device if they fit, else block by block."""
    unfinished: Unfinished = Unfinished()
    """Where computations keep what they have done, so that they go on where they were interrupted; by default nowhere."""

    @cached_property
    @abstractmethod
    def degrees(self) -> Array:
        """int64 [V]: entries of each row."""

    @property
    @abstractmethod
    def budget(self) -> int:
        """Bytes of the device's memory that may be used."""

    @property
    @abstractmethod
    def offsets(self) -> np.ndarray:
        """int64 [V + 1], in host memory: where each row begins among all entries."""

    @property
    def edge_bytes(self) -> int:
        """Bytes of an entry of a row with its weight, if the graph has weights."""
        return self.id_dtype.itemsize + 4 * self.weighted

    @property
    def room(self) -> int:
        """Bytes for rows, beside what is kept of all vertices."""
        return self.budget - self.state_bytes * self.vertices

    @property
    def resident(self) -> bool:
        """Whether all rows are one block that stays in memory."""
        streams = self.residency is not None and self.residency.streams
        return bool(self.held) or (self._fits and not streams)

    @property
    def _fits(self) -> bool:
        return self.edges * self.edge_bytes <= self.room

    def require_least(self) -> None:
        """BudgetError unless the memory holds two rows and what is kept of all vertices, or all rows where they must be resident."""
        if self.residency is Residency.RESIDENT and not self._fits:
            whole = self.edges * self.edge_bytes + self.state_bytes * self.vertices
            raise BudgetError(
                f"{self.store.path}: {whole:,} bytes are needed for all rows and for what is kept of {self.vertices:,} vertices, and {self.budget:,} are "
                f"allowed; raise {self.flag}, or run without --residency"
            )
        longest = max(self.store.max_degree, 1)
        least = self.state_bytes * self.vertices + 2 * self.edge_bytes * longest
        if self.budget < least:
            raise BudgetError(
                f"{self.store.path}: {least:,} bytes are needed for what is kept of {self.vertices:,} vertices and for two rows of {longest:,} neighbors, "
                f"and {self.budget:,} are allowed; raise {self.flag} to {least:,}"
            )

    @cached_property
    def cut(self) -> Recut:
        """The store in blocks of which two fit. Errors as of ``require_least``."""
        self.require_least()
        most = self.room // (2 * self.edge_bytes)
        begins, vertex = [], 0
        while vertex < self.vertices:
            edge = int(self.offsets[vertex])
            begins.append((vertex, edge))
            vertex = int(np.searchsorted(self.offsets, edge + most, side="right")) - 1
        return Recut(self.store, begins)

    def numbers(self, wanted: Wanted | None) -> list[int]:
        """The blocks of ``cut`` that are wanted."""
        return [
            part.number for part in self.cut.partitions if wanted is None or wanted(part.first_vertex, part.last_vertex)
        ]

    @abstractmethod
    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        """Go through all rows in order, or through the blocks alone that are ``wanted``. A block is good until the next is asked for."""

    @cached_property
    @abstractmethod
    def undirected(self) -> "Network":
        """The simple undirected graph: each edge in both directions, without self loops and repeats; without weights."""

    @cached_property
    @abstractmethod
    def incoming(self) -> "Network":
        """The rows of those that edges come from; of an undirected graph, itself."""

    @property
    @abstractmethod
    def _can_derive(self) -> bool:
        """Whether there is memory for the rows of another direction beside these."""

    @property
    def has_incoming(self) -> bool:
        """Whether the rows of the other direction are in memory already."""
        return self.resident and (not self.directed or ("incoming" in self.__dict__ and self.incoming.resident))

    @property
    def can_have_incoming(self) -> bool:
        """Whether they are, or there is memory for them."""
        return self.has_incoming or self._can_derive

    @classmethod
    def lacks(cls, wanted: tuple[str, ...]) -> list[str]:
        """Those of the modules ``wanted`` that this kind of device does not have."""
        return [name for name in wanted if find_spec(f"csaw.engine.analytics.{cls.device}.{name}") is None]

    def compute(self, what: str, **options: Any) -> Any:
        """``compute(network, **options)`` of the module ``what`` of this device: csaw.engine.analytics.cpu or csaw.engine.analytics.cuda."""
        return import_module(f"csaw.engine.analytics.{self.device}.{what}").compute(self, **options)

    @abstractmethod
    def close(self) -> None:
        """Give back memory and threads."""
