"""Reading a graph store: a Zarr v3 group of CSR partitions, each a contiguous vertex range with all its neighbor lists.

attributes              counts, directed, weighted, fingerprint, partitions, ingest report, and digests of the arrays and of these attributes
clusters                int32, the cluster of each vertex; only where the store was made with clusters
vertex_ids              original ids by dense id; absent when they are 0 .. V - 1; rising, unless a partitioner numbered the vertices
partitions/00000/       indptr int64 (local, from zero), indices (dense ids, sorted in a row), weights float32 (weighted only), edge_ids (see edge_ids.py)

Every byte is checked when it is read. An array's files have a checksum for each block of 4 KiB in the file ``checksums`` beside its zarr.json; the
attributes keep a digest of both, and one of themselves. A store of format version 1 has no checksums: offsets, ids and weights are still held to their ranges.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.arrays.loader import AGAIN, UNPACKERS, StoredArray, open_array, read_ahead, read_array, rise
from csaw.partition.arrays.mapped import map_array
from csaw.partition.arrays.nodes import read_group
from csaw.partition.arrays.replace import require_not_aside
from csaw.partition.arrays.words import Words
from csaw.partition.base.stages import LOADING, stage
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.attributes import IDENTITY, STRING, checked
from csaw.partition.graph.clusters import Clusters, stored_clusters
from csaw.partition.graph.notebook import ShownGraph
from csaw.partition.graph.original_ids import places

WEIGHT_BYTES = 4
IDS_AT_A_TIME = 1 << 21
LARGEST_WEIGHT = np.finfo(np.float32).max


@dataclass(frozen=True)
class Graph:
    """A graph of V vertices and E edges in memory: ``indptr`` int64 [V + 1], ``indices`` uint32 or uint64 [E], ``weights`` float32 [E] or None."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None


@dataclass(frozen=True)
class Partition:
    """A partition: the vertices first_vertex .. last_vertex - 1 and their edges. ``nbytes``: size of its three arrays together."""

    number: int
    first_vertex: int
    last_vertex: int
    first_edge: int
    edges: int
    nbytes: int


class GraphStore(ShownGraph):
    """An open graph store, as :func:`open_graph` returns it. Arrays are read when they are asked for; StoreError where a file has changed.

    vertices, edges: numbers of vertices and of stored edges (an undirected edge is stored in both directions, a self loop once).
    directed, weighted, multigraph: whether edges have one direction, have weights, and may repeat. max_degree: most edges of a vertex.
    id_dtype: uint32 or uint64, the type of dense ids, 0 .. V - 1. id_kind: type of the ids of the input.
    partitions: vertex ranges, see Partition; partitioner: what chose them, partitioners.py. fingerprint: digest of the graph. report: counts of the reading that made the store.
    clusters: what is known of the clusters of its vertices, which ``read_clusters`` reads; None where it has none.
    """

    in_memory = False  # whether there is nothing at its path

    def __init__(self, path: Path, attributes: dict[str, Any], checksums: bool = True) -> None:
        self.path, self.attributes = path, attributes
        self.vertices: int = attributes["vertices"]
        self.edges: int = attributes["edges"]
        self.directed: bool = attributes["directed"]
        self.weighted: bool = attributes["weighted"]
        self.multigraph: bool = attributes["multigraph"]
        self.max_degree: int = attributes["max_degree"]
        self.id_dtype = np.dtype(attributes["id_dtype"])
        self.id_kind: str = attributes["id_kind"]
        self.fingerprint: str = attributes["fingerprint"]
        self.report: dict[str, Any] = attributes["report"]
        self.partitioner: str = attributes.get("partitioner", {"method": "range"})["method"]
        self.clusters = Clusters.of(attributes["clusters"]) if "clusters" in attributes else None
        self.partitions = [Partition(number, *row) for number, row in enumerate(attributes["partitions"])]
        self._digests: dict[str, str] = attributes.get("checksums", {}).get("arrays", {}) if checksums else {}
        self.checksums = bool(self._digests)  # whether bytes are compared with them
        self._maps_ids = False
        self._opened: dict[tuple[int, str], StoredArray] = {}  # arrays that were read in part

    @property
    def largest_partition(self) -> int:
        """Number of edges of the largest partition."""
        return max((part.edges for part in self.partitions), default=0)

    def read_indptr(self) -> np.ndarray:
        """Offsets of all rows, int64 [V + 1]."""
        out = np.zeros(self.vertices + 1, np.int64)
        for part in self.partitions:
            offsets = out[part.first_vertex : part.last_vertex + 1]
            self.read_offsets(part.number, offsets)
            offsets += part.first_edge
        return out

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        """Offsets of the rows of partition ``number``, int64 [its vertices + 1], from 0, in ``out`` if given.

        StoreError when they do not rise to the number of its edges.
        """
        part = self.partitions[number]
        array = self._array(number, "indptr")
        offsets = np.empty(part.last_vertex - part.first_vertex + 1, np.int64) if out is None else out
        read_array(array, offsets)
        if not rise(offsets, part.edges, self.max_degree):
            raise StoreError(
                f"{array.path}: expected offsets that rise from 0 to {part.edges:,} by {self.max_degree:,} at most, found others; {AGAIN}"
            )
        return offsets

    def read_partition(self, number: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None) -> None:
        """Fill arrays [edges of the partition] with its neighbors (dense ids) and, unless None, its weights (float32); StoreError where a file has changed."""
        self.read_part(number, 0, indices_out, weights_out)

    def read_part(
        self, number: int, first: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None
    ) -> None:
        """As :meth:`read_partition`, for as many edges as the arrays hold, from number ``first`` of the partition on."""
        edges = self.partitions[number].edges
        whole = indices_out.size == edges
        for name, out in (("indices", indices_out), ("weights", weights_out)):
            if out is not None:
                known = not whole or (number, name) in self._opened
                array = self.opened(number, name) if known else self._array(number, name)
                read_array(array, out, self.limit_of(name), first, edges)

    def limit_of(self, name: str) -> Any:
        """The largest value that the array ``name`` of a partition may hold; the least is 0."""
        return LARGEST_WEIGHT if name == "weights" else max(self.vertices - 1, 0)

    def read_clusters(self) -> np.ndarray:
        """The cluster of each vertex, int32 [V]; StoreError where there are none, or others than the attributes say."""
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
        return all(self.opened(0, name).plain for name in ("indices", "weights")[: 1 + self.weighted])

    @property
    def unpack_bytes(self) -> int:
        """Bytes of memory that reading a part of a partition takes beside it: compressed chunks, and what they hold; 0 where chunks are not compressed."""
        largest = max(self.partitions, key=lambda part: part.edges).number
        items = (("indices", self.id_dtype.itemsize), ("weights", WEIGHT_BYTES))[: 1 + self.weighted]
        chunks = [(self.opened(largest, name), item) for name, item in items]
        return max(0 if array.plain else 2 * UNPACKERS * array.chunk * item for array, item in chunks)

    def opened(self, number: int, name: str) -> StoredArray:
        """The array ``name`` of partition ``number``; it stays open, for reading in parts."""
        if (number, name) not in self._opened:
            self._opened[number, name] = self._array(number, name)
        return self._opened[number, name]

    def read_ahead(self, number: int, weights: bool, first: int = 0, count: int | None = None) -> None:
        """Ask the system to read partition ``number`` into its page cache: ``count`` edges from number ``first`` on, or all. Nothing waits for it."""
        count = self.partitions[number].edges if count is None else count
        for name, item in (("indices", self.id_dtype.itemsize), ("weights", WEIGHT_BYTES))[: 1 + weights]:
            with suppress(StoreError):  # left to the reader
                read_ahead(self.opened(number, name), item, first, count)

    def release(self) -> None:
        """Free memory that holds edges, which can be made again; a store on disk holds none."""

    def load(self) -> Graph:
        """The whole graph in memory."""
        indices = np.empty(self.edges, self.id_dtype)
        weights = np.empty(self.edges, np.float32) if self.weighted else None
        with stage(LOADING):
            for part in self.partitions:
                span = slice(part.first_edge, part.first_edge + part.edges)
                self.read_partition(part.number, indices[span], None if weights is None else weights[span])
        return Graph(self.read_indptr(), indices, weights)

    @property
    def id_bytes(self) -> int:
        """Bytes of memory that the original ids take at most, unless they are mapped: numbers as they are stored, and in four bytes as they are written."""
        if self.id_kind == IDENTITY:
            return 0
        if self.id_kind != STRING:
            return self.vertices * (np.dtype(self.id_kind).itemsize + 4 + 8 * (self.partitioner != "range"))
        return self.array("vertex_ids").elements + 8 * (self.vertices + 1)

    def map_ids(self) -> None:
        """From now on, leave the original ids on disk and let the system read those that are used, where their files allow it."""
        self._maps_ids = True
        for name in ("id_arrays", "_ids"):
            vars(self).pop(name, None)

    @cached_property
    def id_arrays(self) -> list[np.ndarray]:
        """Original ids as they are stored: no array, one array of numbers, or the bytes of the strings and their offsets."""
        if self.id_kind == IDENTITY:
            return []
        if self.id_kind != STRING:
            array = self.array("vertex_ids")
            return [self._read_ids(array, np.dtype(self.id_kind), self.vertices, self.partitioner == "range")]
        text = self.array("vertex_ids")
        offsets = self._read_ids(self.array("vertex_id_offsets"), np.dtype(np.int64), self.vertices + 1)
        return [self._read_ids(text, np.dtype(np.uint8), text.elements), offsets]

    def _read_ids(self, array: StoredArray, dtype: np.dtype, count: int, rising: bool = False) -> np.ndarray:
        """An array of ids, read and checked; StoreError where ids do not rise. Arrays that are mapped are checked a piece at a time before."""
        mapped = map_array(array, dtype) if self._maps_ids else None
        out = np.empty(count if mapped is None else min(count, IDS_AT_A_TIME), dtype)
        last = out[:0]
        for first in range(0, max(count, 1), max(out.size, 1)):
            piece = out[: min(out.size, count - first)]
            read_array(array, piece, first=first, elements=count)
            if rising and ((piece[1:] <= piece[:-1]).any() or (piece[:1] <= last).any()):
                raise StoreError(f"{array.path}: expected ids that rise, found others; {AGAIN}")
            last = piece[-1:].copy()
        return out if mapped is None else mapped

    @cached_property
    def _ids(self) -> np.ndarray | Words | None:
        arrays = self.id_arrays
        if self.id_kind == STRING:
            return Words(arrays[1], arrays[0]).checked(self.path)
        return arrays[0] if arrays else None

    def stored_ids(self) -> np.ndarray | Words | None:
        """Original ids by dense id as they are stored: like :meth:`vertex_ids`, but strings as :class:`Words`."""
        return self._ids

    def vertex_ids(self) -> np.ndarray | None:
        """Original ids by dense id, ascending unless a partitioner numbered the vertices: int64, uint64, or ``str`` in an array of dtype object; None when they are 0 .. V - 1."""
        ids = self.stored_ids()
        return np.asarray(ids) if isinstance(ids, Words) else ids

    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        """Ids of the input for ``dense`` ones: int64, uint64, or ``str`` in an array of dtype object."""
        ids = self.stored_ids()
        return np.asarray(dense, np.int64) if ids is None else ids[np.asarray(dense, np.int64)]

    def dense_ids(self, originals: Any) -> np.ndarray:
        """Dense ids, of id_dtype, for ids of the input; OptionError names the first that the graph does not have."""
        ids = self._ids
        if ids is None and isinstance(originals, np.ndarray) and originals.dtype.kind in "iu":
            wrong = (originals < 0) | (originals >= self.vertices)
            if not wrong.any():
                return originals.astype(self.id_dtype)
            originals, found = originals[wrong][:1].tolist(), [-1]
        else:
            originals = originals.tolist() if isinstance(originals, np.ndarray) else list(originals)
            found = places(ids, self._order, self.vertices, originals)
        for original, dense in zip(originals, found, strict=True):
            if dense < 0:
                raise OptionError(
                    f"vertex {original} is not in {self.path}; it has {self.vertices} vertices (see csaw info)"
                )
        return np.array(found, self.id_dtype)

    @cached_property
    def _order(self) -> np.ndarray | None:
        """Dense ids in the order of rising original ids; None where those rise already, or are words."""
        rise = self.partitioner == "range" or self.id_kind == STRING
        return None if rise else np.argsort(self.id_arrays[0], kind="stable")

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


def open_graph(path: str | Path, checksums: bool = True) -> GraphStore:
    """Open the graph store at ``path``; StoreError when it is missing, is something else, is damaged, or has a later format.

    ``checksums``: compare all data with their checksums when they are read (default: True). Offsets, ids and weights are held to their ranges in any case.
    """
    path = Path(path)
    require_not_aside(path)
    return GraphStore(path, checked(path, read_group(path)), checksums)
