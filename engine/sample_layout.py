"""Which arrays a sample store holds, and which vertex ids are in them.

    walks      walks [instances, walk_length + 1]   lengths [instances]: steps taken
    hops       hop_0 [instances, 1], hop_1 [instances, f1], hop_2 [instances, f1 * f2], ...
               child j of parent i is in column i * f2 + j; fill where there is none
    subgraphs  instance_ptr [instances + 1]; src, dst, depth [edges]; sources_ptr [instances + 1]; sources

Chunks are uncompressed, little-endian, whole rows: ``ARRAY/c.GROUP.0`` (``ARRAY/c.N`` in one dimension).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from csaw.partition.compile import njit
from csaw.partition.errors import OptionError

KIND = "samples"
VERSION = 1
EDGES_A_CHUNK = 1 << 22
IDS = "ids"  # the dtype of a vertex, in PARTS and FLAT
PARTS = {"counts": "<i8", "src": IDS, "dst": IDS, "depth": "<i4", "source_counts": "<i8", "sources": IDS}
"""What a group of subgraphs brings; ``counts`` are edges, ``source_counts`` frontier vertices, per instance."""
FLAT = {"instance_ptr": "counts", "src": "src", "dst": "dst", "depth": "depth", "sources_ptr": "source_counts",
        "sources": "sources"}  # fmt: skip
"""Arrays of the finished store, and the part that each is made of."""


def columns(layout: str, shape: Mapping[str, Any]) -> dict[str, int | None]:
    """The arrays with one row an instance, and their width; None is a single number a row."""
    if layout == "walks":
        return {"walks": shape["walk_length"] + 1, "lengths": None}
    if layout == "hops":
        if min(shape["fanout"], default=0) < 0:
            raise OptionError("the hops layout needs fanouts of 0 or more; use subgraphs for 'all neighbors'")
        widths = np.cumprod([1, *shape["fanout"]], dtype=object)
        return {f"hop_{k}": int(width) for k, width in enumerate(widths)}
    if layout == "subgraphs":
        return {}
    raise OptionError(f"layout: expected walks, hops or subgraphs, found {layout!r}")


def chunk_name(index: int, dimensions: int) -> str:
    return f"c.{index}" + ".0" * (dimensions - 1)


@dataclass(frozen=True)
class Identifiers:
    """From the engine's dense ids to those a store holds."""

    kind: str  # dense: as they are; mapped: numbers of the input; names: dense, with the table of names beside
    dtype: np.dtype
    fill: int
    table: np.ndarray | None = None

    @classmethod
    def choose(cls, dense_dtype: Any, vertex_ids: np.ndarray | None, ids: str) -> "Identifiers":
        dense = np.dtype(dense_dtype).newbyteorder("<")
        all_ones = int(np.array(-1).astype(dense)[()])
        if vertex_ids is None or ids == "dense":
            return cls("dense", dense, all_ones)
        if vertex_ids.dtype.kind not in "iu":
            return cls("names", dense, all_ones, vertex_ids)
        wide = np.dtype("<u8" if vertex_ids.dtype == np.uint64 else "<i8")
        table = np.ascontiguousarray(vertex_ids, wide)
        return cls("mapped", wide, _unused(table), table)

    def stored(self, dense: np.ndarray) -> np.ndarray:
        """The ids to write for an array of dense ids."""
        if self.kind != "mapped" or self.table is None:
            return np.ascontiguousarray(dense, self.dtype)
        flat = np.ascontiguousarray(dense).reshape(-1)
        nothing = np.array(-1).astype(flat.dtype)[()]
        out = np.empty(flat.size, self.dtype)
        _relabel(flat, nothing, self.table, self.table.dtype.type(self.fill), out)
        return out.reshape(dense.shape)


def _unused(ids: np.ndarray) -> int:
    """A value that no vertex has: -1 or all ones where possible."""
    limits = np.iinfo(ids.dtype)
    if ids.dtype.kind == "i" and not (ids < 0).any():
        return -1
    ends = (limits.max, limits.max - 1) if ids.dtype.kind == "u" else (limits.min, limits.max)
    free = [end for end in ends if not (ids == end).any()]
    return free[0] if free else int(np.setdiff1d(np.arange(ids.size + 1).astype(ids.dtype), ids)[0])


@njit(nogil=True)
def _relabel(dense, nothing, table, fill, out):
    for k in range(dense.size):
        out[k] = fill if dense[k] == nothing else table[dense[k]]
