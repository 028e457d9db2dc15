"""Facts that every pass of an ingest knows: the options, the input, the memory. They are plain data, which tasks of
other processes take along.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from csaw.partition.arrays.spool import Budget
from csaw.partition.base.parallel import Crew, processors
from csaw.partition.graph.clusters import Made
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT, EdgeColumn
from csaw.partition.graph.store import GraphStore
from csaw.partition.ingestion.ids import Numbering, Unchanged
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.pieces import InputRows
from csaw.partition.ingestion.word_numbers import StringNumbering

KEPT_SHARE = 0.7  # of the memory, for spools; threads have the rest in work


MakeClusters = Callable[[GraphStore], tuple[np.ndarray, Made]]
"""Gives the cluster of each vertex of a store, and how they were made."""


class AnyNumbering(Protocol):
    """Dense ids of the ids that rows have: ``vertices`` of them, as numbers of type ``dtype``."""

    @property
    def vertices(self) -> int: ...

    @property
    def dtype(self) -> np.dtype: ...

    def dense(self, ids: np.ndarray) -> np.ndarray: ...


class Numbered(NamedTuple):
    """All rows, once they are read: how many there are, the numbering of their ids, and dense ids of some of the ends
    that own entries.
    """

    rows: int
    numbering: Numbering | StringNumbering | Unchanged
    sample: np.ndarray


class Tally(NamedTuple):
    """Of all edges, once they are dealt: ``degrees`` int64 [V] with repeats; ``reached`` [V], whether a vertex is a
    target; and how many ``loops`` there are.
    """

    degrees: np.ndarray
    reached: np.ndarray
    loops: int


@dataclass(frozen=True)
class IngestJob:
    """An ingest. ``name``: of the input, for errors; ``folder``: for temporary files; ``weighted``: whether the store
    has weights; ``counts_repeats``: whether these are numbers of rows, which have none themselves.
    """

    options: IngestOptions
    name: str
    folder: str
    strings: bool
    undirected: bool
    weighted: bool
    counts_repeats: bool = False

    @classmethod
    def of(cls, name: str, rows: InputRows, options: IngestOptions, folder: Path) -> "IngestJob":
        """The ingest of ``rows``, whose direction the options or the input say."""
        undirected = rows.shape.undirected if options.directed is None else not options.directed
        counts = options.policy == "sum" and not rows.weighted
        return cls(options, name, str(folder), rows.shape.strings, undirected, rows.weighted or counts, counts)

    @property
    def directions(self) -> int:
        """How many entries an edge has."""
        return 2 if self.undirected else 1

    @property
    def drops_loops(self) -> bool:
        """Whether edges from a vertex to itself are left out."""
        return self.options.self_loops == "drop"

    @property
    def partition_bytes(self) -> int:
        """Most bytes of a partition, where the options do not give the number of partitions."""
        return self.options.partition_bytes or min(256 << 20, max(memory_of(self.options) // 8, 1 << 20))

    @property
    def edge_columns(self) -> tuple[EdgeColumn, ...]:
        """The further columns of edges, which the options name."""
        return self.options.further

    @property
    def columns(self) -> tuple[EdgeColumn, ...]:
        """The columns of a row beside its ends, once it is read."""
        return (*[WEIGHT] * self.weighted, *self.edge_columns)

    @property
    def kept(self) -> tuple[EdgeColumn, ...]:
        """The columns that the store keeps of an edge beside its ends."""
        return (*[WEIGHT] * self.weighted, *[EDGE_ID] * self.options.edge_ids, *self.edge_columns)

    def entry(self, ids: np.dtype) -> list[np.dtype]:
        """Types of what an entry has while it is sorted: both ends, then what is kept."""
        return [ids, ids, *(column.dtype for column in self.kept)]


@dataclass(frozen=True)
class BucketPlan:
    """A graph as its buckets of rows: ``cuts`` int64 [buckets + 1], their first vertices and V at the end; ``ids``, the
    type of dense ids; ``rows`` of the input.
    """

    cuts: np.ndarray
    ids: np.dtype
    rows: int

    @property
    def vertices(self) -> int:
        """Number of all vertices."""
        return int(self.cuts[-1])


def memory_of(options: IngestOptions) -> int:
    """The memory of an ingest in bytes: by default, a quarter of the machine's."""
    return options.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def crew_of(options: IngestOptions) -> Crew:
    """The threads of an ingest."""
    return Crew(options.threads or processors(), memory_of(options))


def budget_of(options: IngestOptions, folder: Path) -> Budget:
    """The memory that spools may keep; they write the rest to ``folder``."""
    return Budget(int(memory_of(options) * KEPT_SHARE), folder)
