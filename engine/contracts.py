"""The contracts between the rooms of the engine: a stored graph, a graph in memory, a batch of instances. That of a backend is in backend.py."""

from abc import abstractmethod
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from csaw.partition import GraphStore, Partition
from csaw.partition.words import Words

Array: TypeAlias = Any
"""An array of NumPy, or of CuPy on a GPU, which has no types."""


class Store(Protocol):
    """A graph as partitions of consecutive vertices, wherever its edges come from: files, merged partitions, a generator on a GPU."""

    path: Path
    vertices: int
    edges: int
    directed: bool
    multigraph: bool
    """Whether an edge may be there more than once."""
    weighted: bool
    max_degree: int
    id_kind: str
    """Kind of the original ids: int or string."""
    id_dtype: np.dtype
    """Type of a dense id: uint32, or uint64 in a graph of 2^32 vertices or more. All ones stand for no vertex."""
    fingerprint: str
    """Digest of the content: equal graphs have equal ones, however they are cut into partitions."""
    partitions: list[Partition]

    @property
    def largest_partition(self) -> int:
        """Edges of the largest partition."""

    @property
    def stored(self) -> GraphStore:
        """The store whose files hold the edges."""

    @property
    def is_plain(self) -> bool:
        """Whether single rows can be read from its files."""

    def read_indptr(self) -> np.ndarray:
        """int64 [vertices + 1]: where the row of each vertex begins among all edges."""

    def read_partition(self, number: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None) -> None:
        """Fill arrays with a partition's neighbors (dense ids) and weights (float32), row after row."""

    def read_ahead(self, number: int, weights: bool) -> None:
        """Ask the system to read a partition's files into its page cache."""

    def stored_ids(self) -> np.ndarray | Words | None:
        """The original id of each vertex; None where they are 0, 1, 2, ..."""

    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        """The original ids of some vertices."""

    def dense_ids(self, originals: Any) -> np.ndarray:
        """The vertices with these original ids; an error names the first that the graph lacks."""


class Graph(Protocol):
    """A graph in memory, as far as its residency says."""

    transfers: int
    """Partitions that were brought so far."""
    transfer_bytes: int

    store: Store
    """Where its edges come from."""
    loaded: np.ndarray
    """uint8 [partitions]: whether each can be read now."""

    def degrees(self, vertices: Array) -> Array:
        """Neighbors of each vertex."""

    def ends_of(self, edges: Array) -> tuple[Array, Array]:
        """The vertex in whose row each of these edges is, and its place there; ``edges`` count from the graph's first."""


class Partitions(Graph):
    """A graph whose partitions come and go, as a scheduler sees it; what few graphs can do besides has a default here."""

    reads_in_place = False
    """Whether single rows can be read without loading their partitions."""
    fetches = False
    """Whether a partition can be loaded beside kernels without slowing them down."""

    @abstractmethod
    def partition_of(self, vertices: Array) -> Array:
        """The partition that holds each vertex's row."""

    @abstractmethod
    def can_read(self, vertices: Array) -> Array:
        """Whether each vertex's row is in memory, with its partition or alone."""

    @abstractmethod
    def sizes(self) -> np.ndarray:
        """int64 [partitions]: bytes of memory that each takes while it is loaded."""

    @abstractmethod
    def load(self, number: int) -> None:
        """Bring a partition into memory; waits until kernels can read it."""

    @abstractmethod
    def evict(self, number: int) -> None:
        """Give a partition's memory back."""

    def costs(self) -> np.ndarray:
        """Cost of bringing each partition, as bytes that are copied in the same time."""
        return self.sizes()

    def fetch(self, number: int) -> None:
        """Begin to load a partition into free room; ``load`` waits for its end."""

    def ahead(self, waiting: dict[int, int]) -> None:
        """Prepare for partitions that are not loaded: the number of instances that wait for each."""

    def room_to_reach(self, batch: "WaitingBatch") -> float:
        """Bytes of memory that ``reach`` would fill for all rows that the batch needs."""
        return 0

    @property
    def in_place_bytes(self) -> int:
        """Bytes of memory that single rows take now."""
        return 0

    def reach(self, batch: "WaitingBatch", room: float) -> bool:
        """Make the rows that the batch needs readable without loading partitions, in at most ``room`` bytes. False: the batch cannot advance."""
        raise NotImplementedError

    def leave(self) -> None:
        """Forget what ``reach`` made readable: only loaded partitions can be read then."""


class Batch(Protocol):
    """Some consecutive instances while they are drawn, and then their samples."""

    def advance(self) -> None:
        """Draw everything that the partitions in memory allow."""

    def edges(self) -> int:
        """Sampled edges, once all is drawn."""

    def dead_ends(self) -> int:
        """Walks and frontier entries that ended because there was no neighbor to go to."""

    def arrays(self, rows: slice) -> dict[str, np.ndarray]:
        """The samples in host memory, of walks and hops only these instances; may be called in any thread."""

    def on_device(self) -> dict[str, Array]:
        """The samples where they were drawn."""


class WaitingBatch(Batch, Protocol):
    """A batch on a graph whose partitions come and go."""

    @property
    def comes_back(self) -> bool:
        """Whether an instance may need a partition again that it has left."""

    def wants(self) -> np.ndarray:
        """int64 [m, 3]: a partition, another one that is needed with it (or the same), and how many instances wait for both; empty at the end."""

    def needs(self) -> tuple[Array, ...]:
        """The vertex whose row each waiting instance needs; with second-order biases also the one whose row it needs beside that."""

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading single rows instead of loading partitions, as bytes that are copied in the same time: for one step, and for all that is left."""
