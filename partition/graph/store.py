"""Reading a graph store: a Zarr v3 group of CSR partitions, each a contiguous vertex range with all its neighbor lists.

    attributes           counts, directed, weighted, fingerprint, partitions, edge columns, ingest report, and digests
                         of the arrays and of these attributes
    clusters             int32, the cluster of each vertex; only where the store was made with clusters
    vertex_ids           original ids by dense id; absent when they are 0 .. V - 1; see original_ids.py
    partitions/00000/    indptr int64 (local, from zero), indices (dense ids, sorted in a row), and an array for each
                         edge column, see edge_columns.py

Every byte is checked when it is read: an array has a checksum for each block of 4 KiB in the file ``checksums`` beside
its zarr.json; the attributes keep a digest of both, and one of themselves. A store of format version 1 has none of
these: offsets, ids and weights are still held to their ranges.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from csaw.partition.arrays.files import opened_again
from csaw.partition.arrays.loader import (
    AGAIN,
    UNPACKERS,
    StoredArray,
    open_array,
    read_ahead,
    read_array,
    rise,
)
from csaw.partition.arrays.nodes import open_group, read_group
from csaw.partition.arrays.replace import require_not_aside
from csaw.partition.arrays.uncompared import Uncompared, read_uncompared
from csaw.partition.base import arguments
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import kept, reading
from csaw.partition.base.quoting import counted, html_facts, line, near
from csaw.partition.base.stages import EDGES, LOADING, stage
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph import given_room
from csaw.partition.graph.arrow_csr import ArrowGraph
from csaw.partition.graph.attributes import EDGE_IDS, TYPED, WEIGHT_RANGE, Attributes, checked, columns_of, identity
from csaw.partition.graph.clusters import Clusters, stored_clusters
from csaw.partition.graph.edge_columns import EDGE_ID, TIME_ORDER, WEIGHT, EdgeColumn, time_of
from csaw.partition.graph.original_ids import StoredIds
from csaw.partition.graph.parts import Graph, Partition
from csaw.partition.graph.types import RELATION, Types
from csaw.partition.graph.versions import Versioned, at_version, base_of, folder_of

if TYPE_CHECKING:
    from zarr import Group

    from csaw.partition.graph.relation_rows import RelationRows
    from csaw.partition.graph.stages import Stages


# A graph store as Python and notebooks show it.

IDS = {"identity": "numbers from 0", "string": "strings", "int64": "integers", "uint64": "integers"}


class ShownGraph:
    """Gives a graph store its ``repr`` and its table in notebooks; see GraphStore for the attributes."""

    path: Path
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    multigraph: bool
    max_degree: int
    id_kind: str
    fingerprint: str
    partitions: list[Partition]
    types: Types | None

    @property
    def further_columns(self) -> tuple[EdgeColumn, ...]:
        """The edge columns beside weights and edge ids."""
        raise NotImplementedError

    def __repr__(self) -> str:
        kinds = ("undirected", "directed")[self.directed], ("unweighted", "weighted")[self.weighted]
        columns = " and ".join(column.name for column in self.further_columns if column != RELATION)
        typed = (
            []
            if self.types is None
            else [counted(len(self.types.names), "type"), counted(len(self.types.relations), "relation")]
        )
        more = *typed, "repeated edges" if self.multigraph else "", f"edges with {columns}" if columns else ""
        return line(
            "csaw graph",
            near(self.path),
            [counted(self.vertices, "vertex", "vertices"), counted(self.edges, "stored edge"), *kinds, *more],
        )

    def _repr_html_(self) -> str:
        facts = [
            ("vertices", f"{self.vertices:,}"),
            ("stored edges", f"{self.edges:,}"),
            ("directed", ("no", "yes")[self.directed]),
            ("weighted", ("no", "yes")[self.weighted]),
            *[("edge column", column.text) for column in self.further_columns if column != RELATION],
            *(
                []
                if self.types is None
                else [("types", ", ".join(self.types.names)), ("relations", ", ".join(map(str, self.types.relations)))]
            ),
            ("repeated edges", ("no", "yes")[self.multigraph]),
            ("largest degree", f"{self.max_degree:,}"),
            ("vertex ids", IDS[self.id_kind]),
            ("partitions", f"{len(self.partitions):,}"),
            ("fingerprint", self.fingerprint),
        ]
        return html_facts(f"csaw graph {near(self.path)}", facts)


# Reading a graph store.

LARGEST_PLACE = 2**32 - 1  # of an edge in the order of its row by time
INDICES = "indices"  # the array of neighbors, beside those of the edge columns


class GraphStore(StoredIds, ShownGraph, Versioned, ArrowGraph):
    """An open graph store, as :func:`open_graph` returns it.

    Arrays are read on demand; a changed file is a StoreError.

    Attributes:
        vertices: number of vertices, V.
        edges: number of stored edges, E: an undirected edge is stored in both directions, a self loop once.
        edge_columns: the columns of edges; hooks can read those in ``hook_columns``.
        directed: whether edges have one direction.
        weighted: whether edges have weights.
        multigraph: whether edges may repeat.
        max_degree: most edges of a vertex.
        weight_range: the smallest weight above 0 and the largest; None if none is known or above 0.
        id_dtype: uint32 or uint64, the type of dense ids, 0 .. V - 1.
        id_kind: type of the ids of the input.
        partitions: vertex ranges, each a Partition.
        partitioner: the method that chose them.
        fingerprint: digest of the graph.
        report: counts from reading the input.
        clusters: description of its clusters, which :meth:`read_clusters` reads; None if it has none.
        types: the types of its vertices and the relations of its edges; None if it has only one of each.
    """

    one_sided_weights = False  # whether those of an undirected edge may differ: never those of a store
    in_memory = False  # whether there is nothing at its path
    stages: "Stages | None" = None  # of a view of the stages of a metapath: see staged.py
    relation_rows: "RelationRows | None" = None  # of a view of the rows of each relation: see staged.py

    def __init__(self, path: Path, attributes: Attributes, checksums: bool = True) -> None:
        self.path, self.attributes = path, attributes
        self.vertices: int = attributes["vertices"]
        self.edges: int = attributes["edges"]
        self.directed: bool = attributes["directed"]
        self.weighted: bool = attributes["weighted"]
        self.multigraph: bool = attributes["multigraph"]
        self.max_degree: int = attributes["max_degree"]
        self.weight_range: tuple[float, float] | None = (
            (attributes[WEIGHT_RANGE][0], attributes[WEIGHT_RANGE][1]) if WEIGHT_RANGE in attributes else None
        )
        self.id_dtype = np.dtype(attributes["id_dtype"])
        self.id_kind: str = attributes["id_kind"]
        self.fingerprint: str = attributes["fingerprint"]
        self.report: Record = attributes["report"]
        self.partitioner: str = attributes.get("partitioner", {"method": "range"})["method"]
        self.clusters = Clusters.of(attributes["clusters"]) if "clusters" in attributes else None
        self.edge_columns: tuple[EdgeColumn, ...] = columns_of(attributes)
        self.types: Types | None = Types.described(attributes[TYPED]) if TYPED in attributes else None
        rows = enumerate(attributes["partitions"])
        self.partitions: list[Partition] = [Partition(number, *row) for number, row in rows]
        self._digests: dict[str, str] = attributes.get("checksums", {}).get("arrays", {}) if checksums else {}
        self.checksums = bool(self._digests)  # whether bytes are compared with them
        self._opened: dict[tuple[int, str], StoredArray] = {}  # arrays that were read in part

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the place of a store, where it is opened again; of a graph in memory and of a view all that it has."""
        if type(self) is GraphStore:
            opens = partial(open_graph, checksums=self.checksums, version=self.version)
            return opened_again, (str(self.base.absolute()), self.identity, opens, attrgetter("identity"))
        place = {} if self.in_memory else {"path": self.path.absolute()}
        return object.__new__, (type(self),), vars(self) | place | {"_opened": {}}

    @property
    def zarr(self) -> "Group":
        """The store as a read-only group of zarr-python, which does not compare csaw's checksums.

        Raises:
            OptionError: the graph is in memory.
        """
        if self.in_memory:
            raise OptionError(
                f"{self.path}: a graph in memory is not a Zarr group; csaw.partition(..., out) writes one"
            )
        return open_group(self.path)

    @property
    def largest_partition(self) -> int:
        """Number of edges of the largest partition."""
        return max((part.edges for part in self.partitions), default=0)

    def read_indptr(self) -> np.ndarray:
        """Read the offsets of all rows.

        Returns:
            int64 [V + 1].

        Raises:
            StoreError: a file has changed, or the offsets do not increase to the number of edges.
        """
        out = np.zeros(self.vertices + 1, np.int64)
        for part in self.partitions:
            offsets = out[part.first_vertex : part.last_vertex + 1]
            self.read_offsets(part.number, offsets)
            offsets += part.first_edge
        return out

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        """Read the offsets of the rows of a partition.

        Args:
            number: of the partition.
            out: the array to fill, int64 [its vertices + 1]; None, a new one.

        Returns:
            int64 [its vertices + 1], from 0.

        Raises:
            StoreError: they do not rise to the number of its edges.
        """
        part = self.partitions[number]
        array = self._array(number, "indptr")
        offsets = np.empty(part.last_vertex - part.first_vertex + 1, np.int64) if out is None else out
        read_array(array, offsets)
        if not rise(offsets, part.edges, self.max_degree):
            wanted = f"offsets that increase from 0 to {part.edges:,} by at most {self.max_degree:,}"
            raise StoreError(f"{array.path}: expected {wanted}, found others; {AGAIN}")
        return offsets

    @reading(given_room.PART)
    def read_partition(self, number: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None) -> None:
        """Fill arrays with the edges of a partition.

        Args:
            number: of the partition.
            indices_out: array for the neighbors, dense ids [edges of the partition].
            weights_out: array for the weights, float32 [edges of the partition]; None, they are not read.

        Raises:
            OptionError: there is no such partition, or an array has the wrong size or type.
            StoreError: a file has changed.
        """
        given_room.require_part(self, number, indices_out, weights_out)
        self.read_part(number, 0, indices_out, weights_out)

    def read_part(
        self, number: int, first: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None
    ) -> None:
        """Fill them as :meth:`read_partition`, for as many edges as they hold, from number ``first`` on."""
        arrays = {INDICES: indices_out} if weights_out is None else {INDICES: indices_out, WEIGHT.array: weights_out}
        self.read_edges(number, arrays, first)

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        """Fill arrays with what partition ``number`` has of its edges, from number ``first`` on.

        Args:
            number: of the partition.
            arrays: by the name of an array of the partition, ``indices`` or that of an edge column, room for as many
                edges as are wanted, of its dtype.
            first: number of the first edge, from the first of the partition on.

        Raises:
            StoreError: a file has changed, or the store lacks an array.
        """
        edges = self.partitions[number].edges
        for name, out in arrays.items():
            known = out.size != edges or (number, name) in self._opened
            array = self.opened(number, name) if known else self._array(number, name)
            read_array(array, out, self.limit_of(name), first, edges)

    def read_uncompared(self, number: int, arrays: Mapping[str, np.ndarray]) -> list[Uncompared]:
        """Fill arrays as :meth:`read_edges`, with all edges of a partition, for a reader who compares them itself.

        Returns the blocks that it has to compare; an array that has some it has to hold to its limit, too. All else is
        checked here.
        """
        found = []
        for name, out in arrays.items():
            own = type(self) is GraphStore and out.size == self.partitions[number].edges  # a view may read others
            sums = read_uncompared(self._array(number, name), out) if own else None
            if sums is None:
                self.read_edges(number, {name: out})
            else:
                found.append(Uncompared(name, 0, sums))
        return found

    def limit_of(self, name: str) -> float | np.float32 | None:
        """The largest value that the array ``name`` of a partition may hold, if the least is 0; None: any value."""
        return self._limits[name]

    @cached_property
    def _limits(self) -> dict[str, float | np.float32 | None]:
        numbers = {INDICES: max(self.vertices - 1, 0), EDGE_IDS: max(self.attributes.get(EDGE_IDS, 0) - 1, 0)}
        places = {TIME_ORDER.array: min(max(self.max_degree - 1, 0), LARGEST_PLACE)}
        return {column.array: column.limit for column in self.edge_columns} | numbers | places

    @property
    def hook_columns(self) -> tuple[EdgeColumn, ...]:
        """The edge columns that hooks can read, on which the fingerprint depends, too."""
        return tuple(column for column in self.edge_columns if column not in (EDGE_ID, TIME_ORDER))

    @property
    def time(self) -> EdgeColumn | None:
        """The column of the edges' times, whose order in each row is there, too; None where there is none."""
        return time_of(self.edge_columns) if TIME_ORDER in self.edge_columns else None

    @property
    def further_columns(self) -> tuple[EdgeColumn, ...]:
        """The edge columns beside weights and edge ids."""
        return tuple(column for column in self.hook_columns if column != WEIGHT)

    @property
    def edge_items(self) -> dict[str, int]:
        """Bytes of an edge in each array that runs may read, by the name of the array."""
        read = (column for column in self.edge_columns if column != EDGE_ID)
        return {INDICES: self.id_dtype.itemsize} | {column.array: column.dtype.itemsize for column in read}

    @cached_property
    def identity(self) -> str:
        """A digest of what the store says of itself and of its files, for names in the cache: a store that claims
        another graph's fingerprint has an identity of its own.
        """
        return identity(self.attributes)

    def read_clusters(self) -> np.ndarray:
        """Read the cluster of each vertex.

        Returns:
            int32 [V].

        Raises:
            StoreError: the store has no clusters, or they do not match its attributes.
        """
        clusters = stored_clusters(self.path, self.clusters)
        out = np.empty(self.vertices, np.int32)
        read_array(self.array("clusters"), out, clusters.count - 1)
        return clusters.checked(self.path, out)

    @property
    def stored(self) -> "GraphStore":
        """The store whose partitions are those on disk."""
        return self

    @cached_property
    def is_plain(self) -> bool:
        """Whether the files of partitions are uncompressed, so that parts of them can be read."""
        names = [INDICES, *([WEIGHT.array] if self.weighted else [])]  # further columns are stored as these are
        return all(self.opened(0, name).plain for name in names)

    @property
    def unpack_bytes(self) -> int:
        """Bytes of memory that reading a part of a partition takes beside it: compressed chunks, and what they hold; 0
        where chunks are not compressed.
        """
        if self.is_plain:
            return 0
        largest = max(self.partitions, key=lambda part: part.edges).number
        chunks = [(self.opened(largest, name), item) for name, item in self.edge_items.items()]
        return max(0 if array.plain else 2 * UNPACKERS * array.chunk * item for array, item in chunks)

    def opened(self, number: int, name: str) -> StoredArray:
        """The array ``name`` of partition ``number``; it stays open, for reading in parts."""
        if (number, name) not in self._opened:
            self._opened[number, name] = self._array(number, name)
        return self._opened[number, name]

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        """Ask the system to read arrays of partition ``number`` into its page cache, without waiting for it.

        Args:
            number: of the partition.
            names: of its arrays, as :meth:`read_edges` has them.
            first: number of the first edge wanted.
            count: edges wanted (default: None, all).
        """
        count = self.partitions[number].edges if count is None else count
        for name in names:
            with suppress(StoreError):  # left to the reader
                read_ahead(self.opened(number, name), self.edge_items[name], first, count)

    def release(self) -> None:
        """Free memory that holds edges, which can be made again; a store on disk holds none."""

    @reading({"columns": given_room.columns})
    def load(self, columns: Collection[EdgeColumn] = ()) -> Graph:
        """Load the whole graph into memory, with its weights.

        Args:
            columns: further edge columns to load, from ``edge_columns``.

        Returns:
            A Graph with the arrays ``indptr``, ``indices``, ``weights`` and ``columns``.

        Raises:
            OptionError: the graph has no such column.
            StoreError: a file has changed.
        """
        given_room.require_columns(self, columns)
        arrays = {INDICES: np.empty(self.edges, self.id_dtype)}
        for column in (*((WEIGHT,) if self.weighted else ()), *columns):
            arrays[column.array] = np.empty(self.edges, column.dtype)
        with stage(LOADING, self.edges, EDGES) as loaded:
            for part in self.partitions:
                span = slice(part.first_edge, part.first_edge + part.edges)
                self.read_edges(part.number, {name: array[span] for name, array in arrays.items()})
                loaded(part.first_edge + part.edges)
        further = {column.name: arrays[column.array] for column in columns}
        return Graph(self.read_indptr(), arrays[INDICES], arrays.get(WEIGHT.array), further)

    def _array(self, number: int, name: str) -> StoredArray:
        return self.array(array_name(number, name))

    def array(self, name: str) -> StoredArray:
        """An array of the store by its path in it, to be read."""
        if not self.checksums:
            return open_array(self.path / name)
        if name not in self._digests:
            raise StoreError(f"{self.path}/zarr.json has no digest of {name}; {AGAIN}")
        return open_array(self.path / name, self._digests[name])


def array_name(number: int, name: str) -> str:
    """The path of an array of partition ``number`` inside a store."""
    return f"partitions/{number:05d}/{name}"


@reading(
    {
        "path": arguments.path("a graph store"),
        "checksums": arguments.flag,
        "version": arguments.maybe(arguments.whole()),
    }
)
def open_graph(path: str | Path, checksums: bool = True, version: int | None = None) -> GraphStore:
    """Open the graph store at ``path``.

    Args:
        path: the graph store.
        checksums: compare all data with their checksums when they are read; ranges are checked in any case.
        version: of a store that ``csaw append`` has added to, the number of the version to open; None: the newest.

    Returns:
        The open store; its arrays are read on demand.

    Raises:
        OptionError: it is no path.
        StoreError: the store or the version is missing, is something else, is damaged, or has a later format.
    """
    place = at_version(kept(path), version)
    require_not_aside(base_of(place))
    folder = folder_of(place)
    try:
        return GraphStore(folder, checked(folder, read_group(folder)), checksums)
    except StoreError:
        if folder.exists() or (again := folder_of(place)) == folder:
            raise
    return GraphStore(again, checked(again, read_group(again)), checksums)  # csaw compact has just moved it


# The description of a graph store, as plain data.

NAMES = (
    "vertices",
    "edges",
    "directed",
    "weighted",
    "multigraph",
    "max_degree",
    "id_kind",
    "partitioner",
    "fingerprint",
)


def describe(store: "GraphStore") -> Record:
    """Describe a graph store, without its partitions and the report of its making."""
    named = {name: getattr(store, name) for name in NAMES}
    columns = [column.text for column in store.further_columns if column != RELATION]
    return {
        "path": str(store.path),
        **named,
        **({"edge_columns": columns} if columns else {}),
        **({} if store.types is None else {"types": store.types.attributes}),
        "partition_count": len(store.partitions),
    }
