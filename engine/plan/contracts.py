"""The contracts between the rooms of the engine: a stored graph, a graph in memory, a batch of instances, a frontier.

The contract of a backend is in schedule/backend.py.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from csaw.partition import GraphStore, Partition
from csaw.partition.arrays.uncompared import Uncompared
from csaw.partition.arrays.words import Words
from csaw.partition.graph.clusters import Clusters
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.original_ids import StoredIds
from csaw.partition.graph.relation_rows import RelationRows
from csaw.partition.graph.stages import Stages

Array: TypeAlias = np.ndarray
"""An array of NumPy, or of CuPy on a GPU, which has no types: rooms that serve both are checked as if it were NumPy's,
and those of GPUs take ``Array`` from CuPy.
"""


class Store(Protocol):
    """A graph as partitions of consecutive vertices, wherever its edges come from: files, merged partitions, a
    generator on a GPU.
    """

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
    clusters: Clusters | None
    """What is known of its clusters of vertices; None: it has none."""
    id_dtype: np.dtype
    """Type of a dense id: uint32, or uint64 in a graph of 2^32 vertices or more. All ones stand for no vertex."""
    fingerprint: str
    """Digest of the content: equal graphs have equal ones, however they are cut into partitions."""
    partitions: list[Partition]
    stages: Stages | None
    """Where its vertices stand for those of another graph: see partition/graph/staged.py."""
    relation_rows: RelationRows | None
    """Where it has a row for each relation of a vertex: see partition/graph/relation_rows.py."""

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

    @property
    def hook_columns(self) -> tuple[EdgeColumn, ...]:
        """The columns of its edges that hooks can read, weights first."""

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Fill arrays with what a partition has of its edges, row after row, by the names of the store's arrays:
        ``indices``, neighbors as dense ids, and those of edge columns.
        """

    def read_uncompared(self, number: int, arrays: Mapping[str, np.ndarray]) -> list[Uncompared]:
        """Fill arrays likewise with all of its edges. Returns the blocks that the caller has to compare; an array that
        has some it has to hold to its limit, too.
        """

    def limit_of(self, name: str) -> float | np.float32 | None:
        """The largest value that an array of a partition may hold, if the least is 0; None: any value."""

    def read_ahead(self, number: int, names: Collection[str]) -> None:
        """Ask the system to read these arrays of a partition into its page cache."""

    @property
    def unpack_bytes(self) -> int:
        """Bytes of memory that reading a part of a partition takes beside it."""

    @property
    def id_bytes(self) -> int:
        """Bytes of memory that the original ids take, unless they are mapped."""

    def read_clusters(self) -> np.ndarray:
        """int32 [vertices]: the cluster of each vertex; StoreError where there are none."""

    @property
    def ids_store(self) -> StoredIds:
        """The store that the original ids are read from."""

    def stored_ids(self) -> np.ndarray | Words | None:
        """The original id of each vertex; None where they are 0, 1, 2, ..."""

    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        """The original ids of some vertices."""

    def dense_ids(self, originals: Iterable[int | str]) -> np.ndarray:
        """The vertices with these original ids; an error names the first that the graph lacks."""


class Graph(Protocol):
    """A graph in memory: all of it, or the partitions that its residency keeps there."""

    transfers: int
    """Partitions loaded so far, counting repeats."""
    transfer_bytes: int

    store: Store
    """The store that its edges are read from."""
    loaded: np.ndarray
    """uint8 [partitions]: whether each can be read now."""

    def degrees(self, vertices: Array) -> Array:
        """Neighbors of each vertex."""

    def ends_of(self, edges: Array) -> tuple[Array, Array]:
        """Two arrays for edges numbered from the graph's first: the vertex whose row has each edge, and its position in
        that row.
        """


class Partitions(Graph):
    """A streamed graph, whose partitions are loaded and evicted, as a scheduler sees it.

    Optional abilities have defaults here.
    """

    reads_in_place = False
    """Whether single rows can be read without loading their partitions."""
    fetches = 0
    """How many partitions can be copied at once while kernels run, without slowing them down."""
    read_bytes = 0
    """Bytes read from the store so far for memory that partitions are copied from, apart from what is copied."""
    round_bytes = 0
    """Cost of a round of the scheduler beside what it loads, as bytes a copy moves in the same time."""

    @abstractmethod
    def partition_of(self, vertices: Array) -> Array:
        """The partition that holds each vertex's row."""

    @abstractmethod
    def can_read(self, vertices: Array) -> Array:
        """Whether each vertex's row is in memory, with its partition or alone."""

    @abstractmethod
    def sizes(self) -> np.ndarray:
        """int64 [partitions]: bytes of memory that each one takes while it is loaded."""

    @abstractmethod
    def load(self, number: int) -> None:
        """Load a partition and wait until kernels can read it."""

    @abstractmethod
    def evict(self, number: int) -> None:
        """Give a partition's memory back."""

    def costs(self) -> np.ndarray:
        """int64 [partitions]: cost of loading each one, as bytes a copy moves in the same time."""
        return self.sizes()

    def fetch(self, number: int) -> None:
        """Begin to load a partition into free memory; ``load`` waits until it is there."""

    def ahead(self, waiting: dict[int, int]) -> None:
        """Prepare to load partitions.

        ``waiting``: for each one that is not loaded, the number of instances that wait for it.
        """

    def room_to_reach(self, batch: "WaitingBatch") -> float:
        """Bytes of memory that ``reach`` would fill for all rows that the batch needs."""
        return 0

    @property
    def in_place_bytes(self) -> int:
        """Bytes of memory that single rows take now."""
        return 0

    def reach(self, batch: "WaitingBatch", room: float) -> bool:
        """Make the rows that the batch needs readable without loading partitions, in at most ``room`` bytes.

        False: the batch cannot advance.
        """
        raise NotImplementedError

    def leave(self) -> None:
        """Forget what ``reach`` made readable: only loaded partitions can be read then."""


class Batch(Protocol):
    """Consecutive instances while they are drawn, and their samples afterwards."""

    def advance(self) -> None:
        """Draw until every instance is done or needs a row that is not in memory."""

    def edges(self) -> int:
        """Number of sampled edges, once all instances are drawn."""

    def dead_ends(self) -> int:
        """Number of walks and frontier entries that ended because no neighbor could be selected.

        Walks that their algorithm ended count, too.
        """

    def arrays(self, rows: slice) -> dict[str, np.ndarray]:
        """Copy the samples to host memory on demand, by name.

        ``rows``: the instances to copy; ignored for subgraphs. Any thread may call this.
        """

    def on_device(self) -> dict[str, Array]:
        """The samples where they were drawn."""


class WaitingBatch(Batch, Protocol):
    """A batch on a graph whose partitions come and go."""

    @property
    def comes_back(self) -> bool:
        """Whether an instance may return to a partition that it has left."""

    def wants(self) -> np.ndarray:
        """int64 [m, 3]: a partition, another one needed with it (or the same one again), and the number of instances
        waiting for both.

        Empty once all instances are drawn.
        """

    def needs(self) -> tuple[Array, ...]:
        """The vertex whose row each waiting instance needs next.

        With second-order biases also the vertex whose row it needs beside that one.
        """

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading single rows instead of loading partitions, as bytes a copy moves in the same time: of one
        step, and of all steps left.
        """


class Frontier(Protocol):
    """The vertices of a batch for which a backend selects neighbors. Arrays have an element for each entry, int64."""

    depth: int
    sizes: Sequence[int]
    """Neighbors to select at each depth."""
    local: Array
    """The instance of an entry, counted from the batch's first."""
    instance: Array
    """The number of its instance."""
    slot: Array
    """Its place in the order in which its instance was sampled: the address of its random numbers."""
    vertex: Array
    """The vertex; -1 for none."""
    previous: Array
    """The vertex that led to it; -1 for a source."""
    source: Array
    """The first source of its instance."""
    degree: Array
    """Neighbors of the vertex."""
    seen_from: Array
    """Where the vertices that its instance has met begin in ``seen``."""
    seen_to: Array
    """Where they end."""
    seen: Array
    """int64 [vertices that were met, of all instances]: ascending for each instance."""
    start: Array
    """Its first cell in ``out``."""
    capacity: Array
    """Most neighbors to select."""
    found: Array
    """Neighbors that were selected: to be filled."""
    out: Array
    """Dense ids [cells]: the neighbors, to be filled."""
    edge: Array
    """int64 [cells]: the number of the edge to each, to be filled; empty where nobody asks."""
    keys: Array
    """float64 [cells]: the key of each, to be filled; empty unless selection is by keys."""
    trying: bool
    """Whether entries only look up the edges at ``offset`` of their rows."""
    offset: Array
    """int64 [cells]: places in the rows of the edges to look up, where ``trying``."""


class OpenLinks(Protocol):
    """The links of a batch for which a backend draws negatives. Arrays have an element or a row for each link."""

    first: int
    """The number of the first one."""
    source: Array
    """int64: the vertex that each link leads from."""
    place: Array
    """int64: the place of its edge in the row of the source; -1 for a link whose destination is known."""
    links: Array
    """Dense ids [links, 2]: source and destination, to be filled where there is a place."""
    negatives: Array
    """Dense ids [links, negatives]: to be filled."""


class TimedLinks(OpenLinks, Protocol):
    """The same with negatives as of the time of each link."""

    time: Array
    """int64: the time of each link, to be filled where there is a place."""


class ByFirstTime(NamedTuple):
    """The vertices of a graph within each type by the time of their first edge; those without an edge are behind the
    others of their type.
    """

    vertex: Array
    """Dense ids [vertices]: the vertices in this order."""
    first: Array
    """int64 [vertices]: the time of the first edge of each of them."""
    known: Array
    """int64 [types]: the vertices of each type that have an edge."""
    place: Array
    """Dense ids [vertices]: the place of each vertex in this order."""
    upto: Array
    """int64 [vertices + 1]: the biases of all vertices before a place; empty if all are the same."""


class TimedFrontier(Frontier, Protocol):
    """The vertices of a batch for which a backend selects neighbors in time."""

    now: Array
    """int64 [entries]: the time with which the edges of each are compared."""
    time: Array
    """int64 [cells]: the time of the edge to each neighbor, to be filled."""


class IncomingBias(NamedTuple):
    """Sums of the biases of all edges to each vertex, as integers of one scale: int64 [vertices]."""

    sums: Array
    upto: Array
    """Running sums, which end below 2^62."""


class Members(NamedTuple):
    """The vertices of a graph by cluster."""

    begins: Array
    """int64 [clusters + 1]: where those of each cluster begin."""
    vertices: Array
    """int64 [vertices]: ascending in each cluster."""
