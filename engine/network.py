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

from csaw.engine.contracts import Array
from csaw.partition import GraphStore
from csaw.partition.recut import Recut

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

    @cached_property
    @abstractmethod
    def degrees(self) -> Array:
        """int64 [V]: entries of each row."""

    @property
    @abstractmethod
    def resident(self) -> bool:
        """Whether all rows are one block that stays in memory."""

    @property
    @abstractmethod
    def budget(self) -> int:
        """Bytes of the device's memory that may be used."""

    @property
    @abstractmethod
    def edge_bytes(self) -> int:
        """Bytes of an entry of a row with its weight, if the graph has weights."""

    @cached_property
    @abstractmethod
    def cut(self) -> Recut:
        """The store in blocks of which two fit the budget."""

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

    @classmethod
    def lacks(cls, wanted: tuple[str, ...]) -> list[str]:
        """Those of the modules ``wanted`` that this kind of device does not have."""
        return [name for name in wanted if find_spec(f"csaw.engine.{cls.device}.analytics.{name}") is None]

    def compute(self, what: str, **options: Any) -> Any:
        """``compute(network, **options)`` of the module ``what`` of this device: csaw.engine.cpu.analytics or csaw.engine.cuda.analytics."""
        return import_module(f"csaw.engine.{self.device}.analytics.{what}").compute(self, **options)

    @abstractmethod
    def close(self) -> None:
        """Give back memory and threads."""
