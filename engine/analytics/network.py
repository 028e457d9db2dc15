"""The contract of a network: a graph as measures read it, in blocks of consecutive rows.

A network that fits the memory it may use is one block, which stays there. A larger one is read from its store block by
block, each time that a measure goes through it. So a measure is written once: it keeps what it knows of the vertices in
arrays [V], and goes through the rows as often as it must.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.residency import Residency
from csaw.partition import GraphStore
from csaw.partition.errors import BudgetError
from csaw.partition.graph.views import Recut

Wanted = Callable[[int, int], bool]
"""Says of a range of vertices, (first, end), whether their rows are wanted."""
DIRECTIONS = ("undirected", "incoming")
"""The networks that a network makes of itself, by the names of its attributes."""


class Block(NamedTuple):
    """The rows of the vertices ``first`` .. ``last`` - 1.

    ``indptr`` int64 [last - first + 1]: row v is ``indices[indptr[v - first] : indptr[v - first + 1]]``, sorted;
    ``weights`` float32 beside ``indices``, or None.
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
    """A graph on one device.

    ``device``: cpu or cuda. ``xp``: NumPy, or CuPy on a GPU; all arrays of a network are of it. ``store``: its graph
    store. ``residency``: where the rows must be; None: in the memory of the device if they fit, else block by block.

    vertices, edges: numbers of vertices and of entries of rows. directed: whether rows hold the ends of edges that
    leave a vertex, and no others. held: the block of all rows of a resident network, once it was read, without weights
    (False) or with them (True).
    """

    device: ClassVar[str]
    xp: ModuleType
    kept: Kept
    """The memory set aside for the measure at work; at first, what most computations keep."""
    flag: ClassVar[str]
    """The option that sets the budget."""
    beside: int = 0
    """Bytes of the rows of the network that this one was made of, which stay in memory."""
    unfinished: Unfinished = Unfinished()
    """Files in which computations keep their state, to go on after an interruption; by default none."""

    def __init__(self, store: GraphStore, residency: Residency | None) -> None:
        self.store, self.residency = store, residency
        self.vertices, self.edges = store.vertices, store.edges
        self.directed, self.weighted = store.directed, store.weighted
        self.id_dtype = np.dtype(store.id_dtype)
        self.held: dict[bool, Block] = {}

    @cached_property
    @abstractmethod
    def indptr(self) -> Array:
        """int64 [V + 1]: where each row begins among all entries."""

    @cached_property
    def degrees(self) -> Array:
        """int64 [V]: entries of each row."""
        return self.xp.diff(self.indptr)

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
    def kept_bytes(self) -> int:
        """Bytes of what the measure at work keeps, and of rows that other networks hold."""
        return self.kept.bytes(self.vertices, self.edges, self.id_dtype.itemsize) + self.beside

    @property
    def room(self) -> int:
        """Bytes for rows, beside what the measure at work keeps."""
        return self.budget - self.kept_bytes

    @property
    def spare(self) -> int:
        """Bytes beside what the measure at work keeps and the rows in memory; 0 where blocks take what there is."""
        return self.room - self.rows_bytes if self.resident else 0

    def keep(self, kept: Kept) -> None:
        """Set memory aside for a measure. Rows in memory that do not fit beside it are given back.

        Raises BudgetError as ``require_least`` does.
        """
        self.set_aside(kept)
        if not self.resident or self.residency is Residency.RESIDENT:
            self.require_least()

    def set_aside(self, kept: Kept) -> None:
        """Set memory aside as ``keep`` does, here and in the networks that were made of this one.

        Of these, rows that are in memory alone are made again when they are needed, if they do not fit.
        """
        if kept == self.kept:
            return
        self.kept = kept
        vars(self).pop("cut", None)
        if self.held and not self._fits:
            self.let_go()
        for name, other in self.made_networks().items():
            other.set_aside(kept)
            if other.beside and not other.held:
                del vars(self)[name]

    def let_go(self) -> None:
        """Give back the memory of the rows, which are read again when they are needed."""
        self.held.clear()

    @property
    def resident(self) -> bool:
        """Whether all rows are one block that stays in memory."""
        streams = self.residency is not None and self.residency.streams
        return bool(self.held) or (self._fits and not streams)

    @property
    def rows_bytes(self) -> int:
        """Bytes of all rows, with those of the networks that were made of this one and are in memory beside it."""
        made = sum(other.rows_bytes for other in self.made_networks().values() if other.beside)
        return self.edges * self.edge_bytes + made

    @property
    def _fits(self) -> bool:
        return self.edges * self.edge_bytes <= self.room

    def require_least(self) -> None:
        """Raise BudgetError unless two rows fit beside what is kept, or all rows where they must."""
        if self.residency is Residency.RESIDENT and not self._fits:
            whole = self.edges * self.edge_bytes + self.kept_bytes
            raise BudgetError(
                f"{self.store.path}: {whole:,} bytes are needed for all rows and for what is kept of "
                f"{self.vertices:,} vertices, and {self.budget:,} are "
                f"allowed; raise {self.flag}, or run without --residency"
            )
        longest = max(self.store.max_degree, 1)
        least = self.kept_bytes + 2 * self.edge_bytes * longest
        if self.budget < least:
            raise BudgetError(
                f"{self.store.path}: {least:,} bytes are needed for what is kept of {self.vertices:,} "
                f"vertices and for two rows of {longest:,} neighbors, "
                f"and {self.budget:,} are allowed; raise {self.flag} to {least:,}"
            )

    @cached_property
    def cut(self) -> Recut:
        """The store in blocks of which two fit the memory. Raises BudgetError as ``require_least`` does."""
        self.require_least()
        most = self.room // (2 * self.edge_bytes)
        begins, vertex = [], 0
        while vertex < self.vertices:
            edge = int(self.offsets[vertex])
            begins.append((vertex, edge))
            vertex = int(np.searchsorted(self.offsets, edge + most, side="right")) - 1
        return Recut(self.store, begins)

    def numbers(self, wanted: Wanted | None) -> list[int]:
        """The numbers of the blocks of ``cut`` that are wanted."""
        return [
            part.number for part in self.cut.partitions if wanted is None or wanted(part.first_vertex, part.last_vertex)
        ]

    @abstractmethod
    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        """Go through all rows in order, or only through the blocks that are ``wanted``.

        A block is good until the next is asked for.
        """

    def whole(self, weights: bool) -> Block:
        """All rows of a resident network as one block, read once; with weights if they are wanted or there already."""
        if True in self.held:
            return self.held[True]
        if weights not in self.held:
            self.held.clear()
            self.held[weights] = self._read_whole(weights)
        return self.held[weights]

    @abstractmethod
    def _read_whole(self, weights: bool) -> Block:
        """Read all rows into the memory of the device."""

    @cached_property
    @abstractmethod
    def undirected(self) -> "Network":
        """The simple undirected graph: each edge in both directions, without self loops, repeats and weights."""

    @cached_property
    @abstractmethod
    def incoming(self) -> "Network":
        """The graph with its edges reversed: rows hold the vertices that edges come from; an undirected one itself."""

    def keep_unfinished(self, place: Unfinished) -> None:
        """Let computations keep their state in ``place`` from now on, those of other directions too."""
        self.unfinished = place
        for other in self.made_networks().values():
            other.keep_unfinished(place)

    def made_networks(self) -> dict[str, "Network"]:
        """The networks that were made of this one, by the names in DIRECTIONS."""
        return {name: vars(self)[name] for name in DIRECTIONS if vars(self).get(name, self) is not self}

    @property
    @abstractmethod
    def _can_derive(self) -> bool:
        """Whether there is memory for the rows of another direction beside these."""

    @property
    def has_incoming(self) -> bool:
        """Whether the rows of the other direction are in memory already."""
        return self.resident and (not self.directed or ("incoming" in vars(self) and self.incoming.resident))

    @property
    def can_have_incoming(self) -> bool:
        """Whether the rows of the other direction are in memory, or there is room for them."""
        return self.has_incoming or self._can_derive

    @classmethod
    def lacks(cls, wanted: tuple[str, ...]) -> list[str]:
        """The modules among ``wanted`` that this kind of device does not have."""
        return [name for name in wanted if find_spec(f"csaw.engine.analytics.{cls.device}.{name}") is None]

    def compute(self, what: str, **options: Any) -> Any:
        """Call ``compute(network, **options)`` of the module ``what`` of this device, engine/analytics/cpu or cuda."""
        return import_module(f"csaw.engine.analytics.{self.device}.{what}").compute(self, **options)

    def close(self) -> None:
        """Give back memory and threads, with those of the networks that were made of this one."""
        for name, other in self.made_networks().items():
            other.close()
            del vars(self)[name]
        self.held.clear()
