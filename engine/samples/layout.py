"""The arrays of a sample store, and the vertex ids in them.

    walks      walks [instances, walk_length + 1]   lengths [instances]: steps taken
    ragged-walks  walk_ptr [instances + 1]; walks [steps + instances]: the vertices of walks without a limit, one walk after the other
    hops       hop_0 [instances, m], hop_1 [instances, m f1], hop_2 [instances, m f1 f2], ...
               child j of column i is in column i f + j; fill where there is none
    subgraphs  instance_ptr [instances + 1]; src, dst, depth [edges]; sources_ptr [instances + 1]; sources
               weight [edges], float32: only of layer samples
               vertices_ptr [instances + 1]; vertices: only of induced subgraphs (all their vertices, ascending) and of layer samples (the vertices
               that were drawn, with layer int32: 1, 2, ..., and probability float64: the chance of a draw to give this vertex)
    batches    node_ptr [instances + 1]; n_id [nodes]: vertices, seeds first; batch [nodes], only if disjoint: the number of the seed that met the node
               edge_ptr [instances + 1]; row, col [edges]: numbers of nodes within the mini-batch, from the neighbor that was drawn to the vertex it was drawn for;
               e_id [edges]: the number of the edge, counted through the rows of the graph store
               seed_ptr [instances + 1]; input_id [seeds]: the position of the seed in the list of sources; y [seeds], float64, only of seeds with labels: the label;
               probability [seeds], float64, only of seeds that are drawn: the chance that a mini-batch has this one
               hop_nodes [instances, hops + 1], hop_edges [instances, hops]: how many nodes are met and edges drawn at each hop

Chunks are uncompressed, little-endian, whole rows: ``ARRAY/c.GROUP.0`` (``ARRAY/c.N`` in one dimension).
Dense ids are uint32 or uint64. Numbers of the input are the smallest of int32, int64 and uint64 that holds all of them and a fill value that none of them is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from csaw.engine.samples.files import PIECE, in_pieces
from csaw.partition.arrays.mapped import Mapped
from csaw.partition.arrays.words import Words

KIND = "samples"
FORMAT_VERSION = 3
"""The latest; a store has the earliest that it can. In version 1, numbers of the input take 64 bits, however small they are. Version 3 adds ragged walks."""
RAGGED_WALKS = "ragged-walks"
FIRST_WITH = {RAGGED_WALKS: 3}
"""The earliest version that has a layout, where that is not the first."""
LAYOUTS = ("walks", RAGGED_WALKS, "hops", "subgraphs", "batches")
EDGES_A_CHUNK = 1 << 22
VERTEX = "vertex"  # in KINDS: an id, of the store's id dtype
KINDS = {"lengths": "<i4", "counts": "<i8", "src": VERTEX, "dst": VERTEX, "depth": "<i4", "source_counts": "<i8",
         "sources": VERTEX, "node_counts": "<i8", "n_id": VERTEX, "batch": "<i4", "edge_counts": "<i8", "row": "<i4", "col": "<i4",
         "e_id": "<i8", "seed_counts": "<i8", "input_id": "<i8", "y": "<f8", "hop_nodes": "<i8", "hop_edges": "<i8", "weight": "<f4",
         "vertex_counts": "<i8", "vertices": VERTEX, "layer": "<i4", "probability": "<f8"}  # fmt: skip
"""Element types of what a group brings; ``counts`` are edges, ``source_counts`` sources, ``vertex_counts`` vertices, of each instance."""
WHOLE = {
    "subgraphs": {"instance_ptr": "counts", "src": "src", "dst": "dst", "depth": "depth", "sources_ptr": "source_counts",
                  "sources": "sources", "weight": "weight", "vertices_ptr": "vertex_counts", "vertices": "vertices", "layer": "layer",
                  "probability": "probability"},
    "batches": {"node_ptr": "node_counts", "n_id": "n_id", "batch": "batch", "edge_ptr": "edge_counts", "row": "row", "col": "col",
                "e_id": "e_id", "seed_ptr": "seed_counts", "input_id": "input_id", "y": "y", "probability": "probability", "hop_nodes": "hop_nodes", "hop_edges": "hop_edges"},
    RAGGED_WALKS: {"walk_ptr": "lengths", "walks": "walks"},
}  # fmt: skip
"""Arrays of a finished store whose instances differ in size, and what each is made of, by layout."""
OPTIONAL = ("weight", "vertices_ptr", "vertices", "layer", "probability", "batch", "y")
"""Arrays among them that only some stores of the layout have."""
PARTS = {name: part for arrays in WHOLE.values() for name, part in arrays.items()}
RAGGED = {
    "subgraphs": {"src": "counts", "dst": "counts", "depth": "counts", "sources": "source_counts", "weight": "counts",
                  "vertices": "vertex_counts", "layer": "vertex_counts", "probability": "vertex_counts"},
    "batches": {"n_id": "node_counts", "batch": "node_counts", "row": "edge_counts", "col": "edge_counts", "e_id": "edge_counts",
                "input_id": "seed_counts", "y": "seed_counts", "probability": "seed_counts"},
    RAGGED_WALKS: {"walks": "lengths"},
}  # fmt: skip
"""The arrays of such a group that have a number of elements for each instance, and the counts that say how many, by layout. Others have a row each."""
BY_HOP = ("hop_nodes", "hop_edges")
"""Arrays of two dimensions among them."""


def elements_of(counts: str, numbers: np.ndarray) -> np.ndarray:
    """Elements, int64, of instances whose ``counts`` are ``numbers``: a walk has a vertex more than it has steps."""
    return numbers.astype(np.int64) + (counts == "lengths")


def comes_whole(layout: str) -> bool:
    """Whether a batch's arrays must be copied all at once: where an instance's elements begin is known of walks alone."""
    return layout in RAGGED and layout != RAGGED_WALKS


def kind_of(name: str) -> str:
    """The element type of an array, of a group or of a store; VERTEX for ids."""
    return "<i8" if name.endswith("_ptr") else KINDS.get(PARTS.get(name, name), VERTEX)


def chunk_name(index: int, dimensions: int) -> str:
    return f"c.{index}" + ".0" * (dimensions - 1)


def all_ones(dense: np.dtype) -> int:
    """The dense id that stands for nothing."""
    return int(np.array(-1).astype(dense)[()])


@dataclass(frozen=True)
class Identifiers:
    """The conversion of the engine's dense ids to the ids of a store."""

    kind: str  # dense: as they are; original: numbers of the input; names: dense, with the table of words beside
    dtype: np.dtype
    fill: int
    table: np.ndarray | Words | None = None
    version: int = 1  # of the format: the earliest in which they are so

    @classmethod
    def choose(
        cls, dense_dtype: Any, vertex_ids: np.ndarray | Words | None, ids: str, version: int = FORMAT_VERSION
    ) -> "Identifiers":
        """Those of a store of the graph with these ``vertex_ids``, in a format of at most this version."""
        dense = np.dtype(dense_dtype).newbyteorder("<")
        nothing = all_ones(dense)
        if ids == "dense":
            return cls("dense", dense, nothing)
        if vertex_ids is None:
            return cls("original", dense, nothing)
        if isinstance(vertex_ids, Words):
            return cls("names", dense, nothing, vertex_ids)
        if vertex_ids.dtype.kind not in "iu":
            return cls("names", dense, nothing, Words.of(vertex_ids))
        dtype = _holding(vertex_ids, version)
        mapped = isinstance(vertex_ids, Mapped)  # a copy would take the memory that mapping saves
        table = vertex_ids.view(np.ndarray) if mapped else np.ascontiguousarray(vertex_ids, dtype)
        return cls("original", dtype, _unused(table, dtype), table, 1 if dtype == _holding(vertex_ids, 1) else 2)

    @property
    def words(self) -> Words | None:
        """The string ids by dense id; None where the ids are numbers."""
        return self.table if isinstance(self.table, Words) else None

    def converted(self, name: str, array: np.ndarray) -> np.ndarray:
        """The array ``name`` of a group with the ids and element type of the store; the array itself where these are the same."""
        table = self.table_of(name)
        if table is None:
            return np.ascontiguousarray(array, self.type_of(name)[0])
        out = np.empty(array.size, self.dtype)
        self._relabel(np.ascontiguousarray(array).reshape(-1), table, out)
        return out.reshape(array.shape)

    def stored(self, name: str, array: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the bytes to write for the array ``name`` of a group, in pieces; the next piece may use the memory of the last one."""
        table = self.table_of(name)
        if table is None:
            return in_pieces(np.ascontiguousarray(array, self.type_of(name)[0]))
        return self._originals(np.ascontiguousarray(array).reshape(-1), table)

    def table_of(self, name: str) -> np.ndarray | None:
        """The numbers of the input by dense id, if the array ``name`` holds them instead of dense ids."""
        of_vertices = kind_of(name) == VERTEX
        return self.table if of_vertices and isinstance(self.table, np.ndarray) else None

    def _originals(self, dense: np.ndarray, table: np.ndarray) -> Iterator[np.ndarray]:
        """Convert dense ids to those of the input, in a piece of memory that stays in the cache; all bits set becomes the fill value."""
        room = np.empty(PIECE // self.dtype.itemsize, self.dtype)
        for start in range(0, dense.size, room.size):
            some = dense[start : start + room.size]
            out = room[: some.size]
            self._relabel(some, table, out)
            yield out.view(np.uint8)

    def _relabel(self, dense: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
        from csaw.engine.samples.kernels import relabel

        relabel(dense, dense.dtype.type(all_ones(dense.dtype)), table, self.dtype.type(self.fill), out)

    def type_of(self, name: str) -> tuple[np.dtype, int]:
        """Element type and fill value of the array ``name``."""
        kind = kind_of(name)
        return (self.dtype, self.fill) if kind == VERTEX else (np.dtype(kind), 0)


def bits(ids: Any, dtype: np.dtype | None = None) -> Any:
    """Ids, or one id, as unsigned numbers of the same bits: kernels are compiled for two element types then, not for four."""
    held = np.asarray(ids, dtype)
    return held.view(f"u{held.dtype.itemsize}")[()]


def _holding(ids: np.ndarray, version: int) -> np.dtype:
    """The smallest element type that a format of this version has for some ids and a value that is none of them."""
    if version == 1:
        return np.dtype("<u8" if ids.dtype == np.uint64 else "<i8")
    low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, 0)
    for name in ("<i4", "<i8"):
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max and ids.size <= limits.max:
            return np.dtype(name)
    return np.dtype("<u8")


def _unused(ids: np.ndarray, dtype: np.dtype) -> int:
    """A fill value of the type that no vertex has: -1, otherwise an end of the range of the type, otherwise the lowest number that is free."""
    limits = np.iinfo(dtype)
    if dtype.kind == "i" and (ids.size == 0 or ids.min() >= 0):
        return -1
    ends = (limits.max, limits.max - 1) if dtype.kind == "u" else (limits.min, limits.max)
    free = [end for end in ends if not (ids == end).any()]
    return free[0] if free else int(np.setdiff1d(np.arange(ids.size + 1).astype(dtype), ids)[0])


def cut_ragged(layout: str, arrays: dict[str, np.ndarray], bounds: Iterable[int]) -> Iterator[dict[str, np.ndarray]]:
    """Cut the arrays of instances that differ in size into those of the instances between each two of ``bounds``; they are views, not copies."""
    ragged = RAGGED[layout]
    ends = {
        name: np.concatenate([[0], np.cumsum(elements_of(name, arrays[name]))])
        for name in set(ragged.values())
        if name in arrays
    }
    for start, stop in pairwise(bounds):
        yield {
            name: array[ends[ragged[name]][start] : ends[ragged[name]][stop]] if name in ragged else array[start:stop]
            for name, array in arrays.items()
        }


def joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays of consecutive instances, by name, from those of at least one part; the arrays of a single part are not copied."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def cut_rows(arrays: dict[str, Any], rows: slice) -> dict[str, Any]:
    """The arrays of some consecutive instances of walks or hops, as views."""
    if "walks" not in arrays or arrays["walks"].ndim == 2:
        return {name: array[rows] for name, array in arrays.items()}
    start, stop, _ = rows.indices(arrays["lengths"].size)
    stop, lengths = max(start, stop), arrays["lengths"]
    sizes = lengths.astype(np.int64) + 1
    first = int(sizes[:start].sum())
    return {"walks": arrays["walks"][first : first + int(sizes[start:stop].sum())], "lengths": lengths[start:stop]}


def padded(arrays: dict[str, np.ndarray], fill: int, width: int = 0) -> np.ndarray:
    """Ragged walks as a table [walks, longest + 1], or of ``width`` columns where that is more, with ``fill`` after the end of each."""
    sizes = arrays["lengths"].astype(np.int64) + 1
    table = np.full((sizes.size, max(width, int(sizes.max(initial=1)))), fill, arrays["walks"].dtype)
    table[np.arange(table.shape[1]) < sizes[:, None]] = arrays["walks"]
    return table
