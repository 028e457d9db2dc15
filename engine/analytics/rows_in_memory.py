"""The memory of a network: the part reserved for a measure, and the rows that fit in the rest.

Networks that are made of a graph's network share its memory: their rows are in memory beside each other, or in turn.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType
from typing import ClassVar, NamedTuple, Self

import numpy as np

from csaw.engine.analytics.computations import Enough
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore
from csaw.partition.errors import BudgetError
from csaw.partition.graph.views import Recut

Wanted = Callable[[int, int], bool]
"""Says of a range of vertices, (first, end), whether their rows are wanted."""


class Block(NamedTuple):
    """The rows of the vertices ``first`` .. ``last`` - 1.

    ``indptr`` int64 [last - first + 1]: row v is ``indices[indptr[v - first] : indptr[v - first + 1]]``, sorted;
    ``weights`` float32 beside ``indices``, or None.
    """

    first: int
    last: int
    indptr: Array
    indices: Array
    weights: Array | None


class Slot(NamedTuple):
    """Memory of a device for a block of any size up to that of the largest: as Block has them."""

    indptr: Array
    indices: Array
    weights: Array | None

    @classmethod
    def empty(cls, xp: ModuleType, rows: int, entries: int, id_dtype: np.dtype, weights: bool) -> Self:
        """Make a slot for so many rows and entries of them, with weights if they are wanted."""
        heavy = xp.empty(entries, "float32") if weights else None
        return cls(xp.empty(rows + 1, "int64"), xp.empty(entries, id_dtype), heavy)

    def holds(self, rows: int, entries: int, weights: bool) -> bool:
        """Whether a slot is one of weights, if they are wanted, and of none else, and has room for so much."""
        return self.indptr.size > rows and self.indices.size >= entries and (self.weights is not None) == weights


class Extent(NamedTuple):
    """The most that rows take: ``entries`` of all, and ``longest``, those of one."""

    entries: int
    longest: int


class RowsInMemory(ABC):
    """The rows of a graph in bounded memory: all of them, or two blocks at a time.

    ``xp``: NumPy, or CuPy on a GPU; all arrays are of it. ``store``: the graph's store. ``residency``: where the rows
    must be; None: in the memory of the device if they fit, else block by block.

    vertices, edges: numbers of vertices and of entries of rows. directed: whether rows hold the ends of edges that
    leave a vertex, and no others. held: the block of all rows of a resident network, once it was read, without weights
    (False) or with them (True). passing: memory of the blocks of the pass before. relatives: this network and those of
    other stores that were made of it, which have their rows in memory in turn; empty as long as there are none.
    """

    xp: ModuleType
    kept: Footprint
    """The memory set aside for the measure at work; at first, what most computations keep."""
    memory: int
    """Bytes of the device's memory that may be used; with several GPUs, of each."""
    flag: ClassVar[str]
    """The option that sets it."""
    suffices: Enough | None = None
    """Says in how many bytes of memory the measure at work is found for certain, where that is known."""
    reuses: bool = True
    """Whether a pass leaves the memory of its blocks to the next one."""
    beside: int = 0
    """Bytes of the rows of the network that this one was made of, which stay in memory; 0 where the two take turns."""

    def __init__(self, store: GraphStore, residency: Residency | None) -> None:
        self.store, self.residency = store, residency
        self.vertices, self.edges = store.vertices, store.edges
        self.directed, self.weighted = store.directed, store.weighted
        self.id_dtype = np.dtype(store.id_dtype)
        self.held: dict[bool, Block] = {}
        self.relatives: list[RowsInMemory] = []
        self.passing: list[Slot] = []

    @abstractmethod
    def made_networks(self) -> Mapping[str, "RowsInMemory"]:
        """The networks that were made of this one, by the names of the attributes that have them."""

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
    def budget(self) -> int:
        """Bytes for rows, beside what the measure at work keeps."""
        return self.memory - self.kept_bytes

    @property
    def spare(self) -> int:
        """Bytes beside what the measure at work keeps and the rows in memory; 0 where blocks take what there is."""
        return self.budget - self.rows_bytes if self.resident else 0

    def keep(self, kept: Footprint, suffices: Enough | None = None) -> None:
        """Set memory aside for a measure. Rows in memory that do not fit beside it are given back.

        ``suffices``: says in how many bytes the measure is found for certain. Raises BudgetError as ``require_least``
        does.
        """
        for one in (self, *self.made_networks().values()):
            one.suffices = suffices
        self.set_aside(kept)
        if not self.resident or self.residency is Residency.RESIDENT:
            self.require_least()

    def set_aside(self, kept: Footprint) -> None:
        """Set memory aside as ``keep`` does, here and in the networks that were made of this one.

        Of these, rows that are in memory alone are made again when they are needed, if they do not fit.
        """
        if kept == self.kept:
            return
        self.kept = kept
        vars(self).pop("cut", None)
        self.forget_blocks()
        if self.held and not self._fits:
            self.let_go()
        for name, other in self.made_networks().items():
            other.set_aside(kept)
            if other.beside and not other._fits:
                del vars(self)[name]
            elif name == "incoming" and other in self.relatives:  # there may be room for both now
                self.relatives.remove(other)
                self.admit(other, beside=True)

    def forget_blocks(self) -> None:
        """Give back the memory of blocks that the pass before has left to the next one."""
        self.passing = []

    def let_go(self) -> None:
        """Give back the memory of the rows, which are read again when they are needed."""
        self.held.clear()
        self.forget_blocks()

    @property
    def has_rows(self) -> bool:
        """Whether rows are in memory now, of this network or of one that has its rows beside these."""
        return bool(self.held or self.passing) or any(
            other.beside and other.held for other in self.made_networks().values()
        )

    def withdraw(self) -> None:
        """Give back the memory of the rows, and the networks that have rows beside these: they are made again."""
        for name, other in self.made_networks().items():
            if other.beside:
                del vars(self)[name]
        self.let_go()

    def take_turn(self) -> None:
        """Let all memory be for the rows of this network: its relatives give back theirs.

        The network that this one has its rows beside keeps them.
        """
        owner = self.relatives[0] if self.beside and self.relatives else self
        for other in self.relatives:
            if other is not owner and other.has_rows:
                other.withdraw()

    def admit(self, other: "RowsInMemory", *, beside: bool) -> None:
        """Let ``other``, a network of a store that was made of this one, share the memory.

        ``beside``: it has its rows beside these if all of them fit. Otherwise the two take turns.
        """
        if beside and self.resident and self.rows_bytes + other.rows_bytes <= self.budget:
            other.beside, other.relatives = self.rows_bytes, self.relatives
        else:
            self.share_in_turn(other)

    def share_in_turn(self, other: "RowsInMemory") -> None:
        """Let this network and ``other`` have their rows in memory in turn."""
        if not self.relatives:
            self.relatives.append(self)
        self.relatives.append(other)
        other.relatives = self.relatives

    @property
    def resident(self) -> bool:
        """Whether all rows are one block that stays in memory."""
        return bool(self.held) or (self._fits and not self.must_stream)

    @property
    def must_stream(self) -> bool:
        """Whether rows must be read block by block, even where they fit."""
        return self.residency is not None and self.residency.streams

    @property
    def rows_bytes(self) -> int:
        """Bytes of all rows, with those of the networks that were made of this one and are in memory beside it."""
        made = sum(other.rows_bytes for other in self.made_networks().values() if other.beside)
        return self.edges * self.edge_bytes + made

    @property
    def _fits(self) -> bool:
        return self.edges * self.edge_bytes <= self.budget

    @property
    def least_bytes(self) -> int:
        """Bytes of what is kept and of two rows of the longest length."""
        return self.kept_bytes + 2 * self.edge_bytes * max(self.store.max_degree, 1)

    def advice(self, needed: int) -> str:
        """The advice if memory does not hold ``needed`` bytes, nor what the measure needs after that."""
        return f"raise {self.flag} to {max(needed, self.suffices() if self.suffices else 0):,}"

    def refusal(self, needed: int, what: str, otherwise: str = "") -> BudgetError:
        """The error where memory does not hold ``needed`` bytes.

        ``what``: words that name them. ``otherwise``: other ways out than more memory.
        """
        allowed = f"{self.memory:,} are allowed; {self.advice(needed)}"
        return BudgetError(f"{self.store.path}: {what}, and {allowed}{otherwise}")

    def require_least(self) -> None:
        """Raise BudgetError unless two rows fit beside what is kept, or all rows where they must."""
        kept = f"what is kept of {self.vertices:,} vertices"
        if self.residency is Residency.RESIDENT and not self._fits:
            whole = self.edges * self.edge_bytes + self.kept_bytes
            needs = f"{whole:,} bytes are needed for all rows and for {kept}"
            raise self.refusal(whole, needs, ", or leave out --residency")
        if self.memory < self.least_bytes:
            rows = f"two rows of {max(self.store.max_degree, 1):,} neighbors"
            raise self.refusal(self.least_bytes, f"{self.least_bytes:,} bytes are needed for {kept} and for {rows}")

    @cached_property
    def cut(self) -> Recut:
        """The store in blocks of which two fit the memory. Raises BudgetError as ``require_least`` does."""
        self.require_least()
        most = self.budget // (2 * self.edge_bytes)
        begins, vertex = [], 0
        while vertex < self.vertices:
            edge = int(self.offsets[vertex])
            begins.append((vertex, edge))
            vertex = int(np.searchsorted(self.offsets, edge + most, side="right")) - 1
        return Recut(self.store, begins)

    @contextmanager
    def slots(self, weights: bool) -> Iterator[list[Slot]]:
        """Two slots for blocks of ``cut``, with weights if they are wanted.

        They are those of the pass before, whose last block is in memory as long as its reader does not forget it.
        """
        entries = max((part.edges for part in self.cut.partitions), default=0)
        rows = max((part.last_vertex - part.first_vertex for part in self.cut.partitions), default=0)
        slots, self.passing = self.passing, []
        if not (slots and slots[0].holds(rows, entries, weights)):
            slots = []  # before there is memory for others
            slots = [Slot.empty(self.xp, rows, entries, self.id_dtype, weights) for _ in range(2)]
        try:
            yield slots
        finally:
            self.passing = slots if self.reuses else []

    def numbers(self, wanted: Wanted | None) -> list[int]:
        """The numbers of the blocks of ``cut`` that are wanted."""
        return [
            part.number for part in self.cut.partitions if wanted is None or wanted(part.first_vertex, part.last_vertex)
        ]
