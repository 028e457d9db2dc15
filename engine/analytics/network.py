"""The contract of a network: a graph as measures read it, in blocks of consecutive rows.

A network that fits the memory it may use is one block, which stays there. A larger one is read from its store block by
block, each time that a measure goes through it. So a measure is written once: it keeps what it knows of the vertices in
arrays [V], and goes through the rows as often as it must.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from csaw.engine.analytics import computations
from csaw.engine.analytics.computations import Work
from csaw.engine.analytics.rows_in_memory import Block, Extent, RowsInMemory, Wanted
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import Footprint

DIRECTIONS = ("undirected", "incoming")
"""The networks that a network makes of itself, by the names of its attributes."""


def on_host(array: Array) -> np.ndarray:
    """An array of a network in host memory."""
    return array if isinstance(array, np.ndarray) else array.get()


class Network(RowsInMemory):
    """A graph on one device, cpu or cuda, with the ``kept`` memory and the rows that RowsInMemory says."""

    device: ClassVar[str]
    unfinished: Unfinished = Unfinished()
    """Files in which computations keep their state, to go on after an interruption; by default none."""

    @cached_property
    @abstractmethod
    def indptr(self) -> Array:
        """int64 [V + 1]: where each row begins among all entries."""

    @cached_property
    def degrees(self) -> Array:
        """int64 [V]: entries of each row."""
        return self.xp.diff(self.indptr)

    @abstractmethod
    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        """Go through all rows in order, or only through the blocks that are ``wanted``.

        A block is good until the next is asked for.
        """

    def whole(self, weights: bool) -> Block:
        """All rows of a resident network as one block, read once; with weights if they are wanted or there already."""
        self.take_turn()
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

    def extent(self, direction: str) -> Extent:
        """The extent of these rows (``direction`` ""), or of those of a direction, whether they are made or not."""
        made = self if not direction else vars(self).get(direction)
        if made is not None and (made is self or made.store is not self.store):
            return Extent(made.edges, made.store.max_degree)
        if direction == "undirected" and self.directed:
            return Extent(2 * self.edges, min(2 * self.edges, max(self.vertices - 1, 0)))
        if direction == "incoming" and self.directed:
            return Extent(self.edges, self.edges if self.store.multigraph else min(self.edges, self.vertices))
        return Extent(self.edges, self.store.max_degree)

    def least_of(self, kept: Footprint, direction: str) -> int:
        """Bytes of memory that hold two rows of a direction beside what is kept, or all rows where they must."""
        rows = self.extent(direction)
        if self.residency is Residency.RESIDENT:
            return self.bytes_of(kept, direction)
        return self.with_rows(kept, direction, 2 * max(rows.longest, 1))

    def bytes_of(self, kept: Footprint, direction: str) -> int:
        """Bytes of memory that hold all rows of a direction beside what is kept."""
        return self.with_rows(kept, direction, self.extent(direction).entries)

    def with_rows(self, kept: Footprint, direction: str, entries: int) -> int:
        """Bytes of memory that hold so many entries of the rows of a direction beside what is kept."""
        item = self.id_dtype.itemsize
        rows = entries * (item if direction else self.edge_bytes)
        return kept.bytes(self.vertices, self.extent(direction).entries, item) + rows

    def leaves_enough(self, direction: str) -> bool:
        """Whether the measure at work is found for certain beside these rows and those of a direction in memory."""
        if self.suffices is None:
            return True
        made = 0 if self.suffices.has_rows else self.extent(direction).entries * self.id_dtype.itemsize
        return self.suffices() + self.rows_bytes + made <= self.memory

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
        """Whether the rows of the other direction are in memory beside these already."""
        if not self.directed:
            return self.resident
        back = vars(self).get("incoming")
        return back is not None and back not in self.relatives and self.resident and back.resident

    @property
    def is_in_turn_with_incoming(self) -> bool:
        """Whether all rows of either direction are in memory, but not at a time."""
        back = self.incoming
        return self.directed and not self.has_incoming and (self.resident or back.resident)

    @property
    def would_be_in_turn(self) -> bool:
        """Whether rows of both directions would take turns, by their sizes; none are made to know it."""
        own, back = self.edges * self.edge_bytes, self.edges * self.id_dtype.itemsize
        return self.directed and not self.must_stream and back <= self.budget < own + back

    @property
    def can_have_incoming(self) -> bool:
        """Whether the rows of the other direction are in memory, or there is room for them."""
        return self.has_incoming or ("incoming" not in vars(self) and self._can_derive)

    @classmethod
    def lacks(cls, wanted: tuple[str, ...]) -> list[str]:
        """The computations among ``wanted`` that this kind of device does not have."""
        return computations.lacking(cls.device, wanted)

    @classmethod
    def function(cls, what: str) -> Callable[..., Any]:
        """The function that computes ``what`` on this kind of device, of a network and its options."""
        return computations.function(cls.device, what)

    @classmethod
    def works(cls) -> dict[str, Work]:
        """The computations on this kind of device that need more than two rows beside what is kept."""
        return computations.works(cls.device)

    def compute(self, what: str, **options: Any) -> Any:
        """Compute ``what`` of this network with these options, by the ``function`` of this kind of device."""
        self.take_turn()
        self.forget_blocks()
        try:
            return self.function(what)(self, **options)
        finally:
            self.forget_blocks()

    def close(self) -> None:
        """Give back memory and threads, with those of the networks that were made of this one."""
        for name, other in self.made_networks().items():
            other.close()
            del vars(self)[name]
        self.held.clear()
        self.relatives, self.passing = [], []
