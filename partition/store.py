"""Reading a graph store: a Zarr v3 group of CSR partitions, each a contiguous vertex range with all its neighbor lists.

attributes              counts, directed, weighted, fingerprint, partitions, ingest report
vertex_ids              original ids by dense id; absent when they are 0 .. V - 1
partitions/00000/       indptr int64 (local, from zero), indices (dense ids, sorted in a row), weights float32 (weighted only)
"""

import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.errors import OptionError, StoreError
from csaw.partition.fingerprint import Fingerprint
from csaw.partition.loader import Layout, layout, read_ahead, read_array
from csaw.partition.replace import mend

FORMAT_VERSION = 1
IDENTITY, STRING = "identity", "string"


@dataclass(frozen=True)
class Graph:
    """A graph in memory: indptr int64 [V + 1], indices uint32 or uint64 [E], weights float32 [E] or None."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None


@dataclass(frozen=True)
class Partition:
    """The vertices first_vertex .. last_vertex - 1 and their edges; nbytes of indptr, indices and weights."""

    number: int
    first_vertex: int
    last_vertex: int
    first_edge: int
    edges: int
    nbytes: int


class GraphStore:
    """An open store. Attributes are those of the group; arrays are read when asked for."""

    def __init__(self, path: Path, attributes: dict[str, Any]) -> None:
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
        self.partitions = [Partition(number, *row) for number, row in enumerate(attributes["partitions"])]
        self._layouts: dict[tuple[int, str], Layout] = {}  # of arrays that were read in part

    @property
    def largest_partition(self) -> int:
        """Edges of the partition that has most."""
        return max((part.edges for part in self.partitions), default=0)

    def read_indptr(self) -> np.ndarray:
        """Offsets of all rows, int64 [V + 1]."""
        out = np.zeros(self.vertices + 1, np.int64)
        for part in self.partitions:
            local = np.empty(part.last_vertex - part.first_vertex + 1, np.int64)
            read_array(self._array(part.number, "indptr"), local)
            out[part.first_vertex : part.last_vertex + 1] = local + part.first_edge
        return out

    def read_partition(self, number: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None) -> None:
        """Fill preallocated 1-d arrays with a partition's neighbors and weights."""
        read_array(self._array(number, "indices"), indices_out)
        if weights_out is not None:
            read_array(self._array(number, "weights"), weights_out)

    @property
    def stored(self) -> "GraphStore":
        """The store whose partitions are those on disk."""
        return self

    @cached_property
    def is_plain(self) -> bool:
        """Whether files of partitions are the bytes of their arrays, so that parts of them can be read."""
        return all(self._layout(0, name).plain for name in ("indices", "weights")[: 1 + self.weighted])

    def chunk_of(self, number: int, name: str) -> int:
        """Elements of a chunk of a partition's array."""
        return self._layout(number, name).chunk

    def chunk_path(self, number: int, name: str, chunk: int) -> Path:
        """The file of a chunk of a partition's array."""
        return self._array(number, name) / "c" / str(chunk)

    def read_ahead(self, number: int, weights: bool) -> None:
        """Let the system begin to bring a partition's files into its page cache, where it can."""
        for name in ("indices", "weights") if weights else ("indices",):
            read_ahead(self._array(number, name))

    def release(self) -> None:
        """Give back memory of edges, which come again when they are read; a store on disk has none."""

    def load(self) -> Graph:
        """The whole graph in memory."""
        indices = np.empty(self.edges, self.id_dtype)
        weights = np.empty(self.edges, np.float32) if self.weighted else None
        for part in self.partitions:
            span = slice(part.first_edge, part.first_edge + part.edges)
            self.read_partition(part.number, indices[span], None if weights is None else weights[span])
        return Graph(self.read_indptr(), indices, weights)

    def verify_chunks(self) -> None:
        """Read everything and compare with the fingerprint; StoreError when a byte has changed."""
        found = Fingerprint()
        for part in self.partitions:
            indptr = np.empty(part.last_vertex - part.first_vertex + 1, np.int64)
            read_array(self._array(part.number, "indptr"), indptr)
            indices = np.empty(part.edges, self.id_dtype)
            weights = np.empty(part.edges, np.float32) if self.weighted else None
            self.read_partition(part.number, indices, weights)
            found.add(indptr, indices, weights)
        found.add_ids(*self._id_arrays())
        if found.hexdigest() != self.fingerprint:
            raise StoreError(
                f"{self.path}: expected the fingerprint {self.fingerprint}, found {found.hexdigest()}; its bytes have changed, make it again"
            )

    def _id_arrays(self) -> list[np.ndarray]:
        """Original ids as they are stored: none, one array of numbers, or the bytes of strings and their offsets."""
        if self.id_kind == IDENTITY:
            return []
        if self.id_kind != STRING:
            ids = np.empty(self.vertices, np.dtype(self.id_kind))
            read_array(self.path / "vertex_ids", ids)
            return [ids]
        offsets = np.empty(self.vertices + 1, np.int64)
        read_array(self.path / "vertex_id_offsets", offsets)
        text = np.empty(int(offsets[-1]), np.uint8)
        read_array(self.path / "vertex_ids", text)
        return [text, offsets]

    @cached_property
    def _ids(self) -> np.ndarray | None:
        arrays = self._id_arrays()
        if self.id_kind == STRING:
            raw = arrays[0].tobytes()
            words = [raw[a:b].decode("utf-8", "surrogateescape") for a, b in itertools.pairwise(arrays[1])]
            return np.array(words, dtype=np.str_)
        return arrays[0] if arrays else None

    def vertex_ids(self) -> np.ndarray | None:
        """Original ids by dense id, ascending; None when they are 0 .. V - 1."""
        return self._ids

    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        """The ids of the input file: int64, uint64 or str."""
        return np.asarray(dense, np.int64) if self._ids is None else self._ids[np.asarray(dense, np.int64)]

    def dense_ids(self, originals: Any) -> np.ndarray:
        """Dense ids of original ones; OptionError names the first that the graph does not have."""
        ids = self._ids
        if ids is None and isinstance(originals, np.ndarray) and originals.dtype.kind in "iu":
            wrong = (originals < 0) | (originals >= self.vertices)
            if not wrong.any():
                return originals.astype(self.id_dtype)
            originals, found = originals[wrong][:1].tolist(), [-1]
        else:
            originals = originals.tolist() if isinstance(originals, np.ndarray) else list(originals)
            found = self._found(ids, originals)
        for original, dense in zip(originals, found, strict=True):
            if dense < 0:
                raise OptionError(
                    f"vertex {original} is not in {self.path}; it has {self.vertices} vertices (see csaw info)"
                )
        return np.array(found, self.id_dtype)

    def _found(self, ids: np.ndarray | None, originals: list) -> list[int]:
        """Dense ids, -1 for what the graph does not have."""
        if ids is not None and self.id_kind == STRING:
            known = {word: i for i, word in enumerate(ids.tolist())}
            return [known.get(str(word), -1) for word in originals]
        if ids is not None:
            return [self._rank(ids, int(v)) for v in originals]
        return [int(v) if 0 <= int(v) < self.vertices else -1 for v in originals]

    def _rank(self, ids: np.ndarray, original: int) -> int:
        limits = np.iinfo(ids.dtype)
        if not limits.min <= original <= limits.max:
            return -1
        place = int(np.searchsorted(ids, ids.dtype.type(original)))
        return place if place < ids.size and int(ids[place]) == original else -1

    def _layout(self, number: int, name: str) -> Layout:
        if (number, name) not in self._layouts:
            self._layouts[number, name] = layout(self._array(number, name))
        return self._layouts[number, name]

    def _array(self, number: int, name: str) -> Path:
        return self.path / "partitions" / f"{number:05d}" / name


def open_graph(path: str | Path) -> GraphStore:
    """The store at ``path``; StoreError when it is missing, something else, torn, or of a later format."""
    path = Path(path)
    mend(path)
    try:
        group = json.loads((path / "zarr.json").read_text())
        attributes = group["attributes"]
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "is not a graph store: it has no zarr.json" if path.exists() else "does not exist"
        raise StoreError(f"{path} {what}; make one with csaw partition") from error
    except (ValueError, KeyError, OSError) as error:
        raise StoreError(
            f"{path}/zarr.json cannot be read: {error}; make the store again with csaw partition"
        ) from error
    if attributes.get("csaw_kind") != "graph":
        raise StoreError(f"{path} is a Zarr group but not a graph store of csaw; make one with csaw partition")
    if attributes["format_version"] > FORMAT_VERSION:
        raise StoreError(
            f"{path} has format version {attributes['format_version']}, this csaw reads up to {FORMAT_VERSION}; upgrade csaw"
        )
    return GraphStore(path, attributes)
