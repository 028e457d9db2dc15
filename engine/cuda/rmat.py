"""R-MAT graphs made on the GPU in seconds, for benchmarks: the graphs that ``csaw datasets generate`` writes."""

from itertools import pairwise
from pathlib import Path

import cupy
import numpy as np

from csaw.datasets.spec import Rmat
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.launch import Kernels, struct
from csaw.engine.cuda.units import Unit
from csaw.partition.store import GraphStore

NOTHING = np.uint64(2**64 - 1)  # what self loops become
PARTITION_EDGES = 1 << 26


class DeviceRmat(GraphStore):
    """A store whose arrays are in device memory; only what sampling reads is there."""

    def __init__(self, spec: str, rmat: Rmat, device: Device) -> None:
        kernels = Kernels(Unit(("rmat.cu",), {}, [], ()), device)
        keys = _keys(rmat, kernels)
        self.weights = cupy.empty(keys.size if rmat.weights else 0, np.float32)
        kernels.over("rmat_weights", self.weights.size, self.weights.size, np.uint64(rmat.seed), keys, self.weights)
        bounds = cupy.searchsorted(keys, cupy.arange((1 << rmat.scale) + 1, dtype=np.uint64) << np.uint64(32))
        degree = cupy.diff(bounds)
        seen = cupy.zeros(1 << rmat.scale, bool)
        seen[degree > 0] = True
        self.indices = cupy.empty(keys.size, np.uint32)
        for first in range(0, keys.size, PARTITION_EDGES):  # in pieces, so that little is needed beside the keys
            self.indices[first : first + PARTITION_EDGES] = keys[first : first + PARTITION_EDGES].astype(np.uint32)
        if not rmat.undirected:
            seen[self.indices] = True
        del keys
        rank = cupy.cumsum(seen, dtype=np.int64) - 1
        for first in range(0, self.indices.size, PARTITION_EDGES):
            self.indices[first : first + PARTITION_EDGES] = rank[self.indices[first : first + PARTITION_EDGES]]
        self.originals = cupy.flatnonzero(seen).get()
        self.indptr = np.zeros(self.originals.size + 1, np.int64)
        self.indptr[1:] = cupy.cumsum(degree[seen]).get()
        super().__init__(Path(spec), self._attributes(spec, rmat))
        cupy.get_default_memory_pool().free_all_blocks()

    def _attributes(self, spec: str, rmat: Rmat) -> dict:
        vertices, edges = self.originals.size, self.indices.size
        cuts = np.searchsorted(self.indptr, np.arange(0, edges, PARTITION_EDGES)).tolist()
        cuts = [*dict.fromkeys([0, *cuts]), vertices] if vertices else [0, 0]
        rows = [(a, b, int(self.indptr[a]), int(self.indptr[b] - self.indptr[a]), 0) for a, b in pairwise(cuts)]
        return {
            "vertices": vertices, "edges": edges, "directed": not rmat.undirected, "weighted": bool(rmat.weights),
            "multigraph": not rmat.dedup, "max_degree": int(np.diff(self.indptr).max(initial=0)), "id_dtype": "uint32",
            "id_kind": "integer", "fingerprint": f"on the device: {spec}", "report": {}, "partitions": rows,
        }  # fmt: skip

    def read_indptr(self) -> np.ndarray:
        return self.indptr.copy()

    def read_partition(self, number: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None) -> None:
        part = self.partitions[number]
        span = slice(part.first_edge, part.first_edge + part.edges)
        self.indices[span].get(out=indices_out)
        if weights_out is not None:
            self.weights[span].get(out=weights_out)

    def vertex_ids(self) -> np.ndarray:
        return self.originals

    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        return self.originals[dense]


def _keys(rmat: Rmat, kernels: Kernels) -> cupy.ndarray:
    """Sorted keys source << 32 | target of all edges."""
    draws = rmat.edge_factor << rmat.scale
    limits = [np.uint64(min(x, 1.0) * 2**32) for x in (rmat.a, rmat.a + rmat.b, rmat.a + rmat.b + rmat.c)]
    keys = cupy.empty(draws * (2 if rmat.undirected else 1), np.uint64)
    header = struct(
        scale=np.int32(rmat.scale), scramble=np.int32(rmat.scramble), loops=np.int32(rmat.self_loops), seed=np.uint64(rmat.seed),
        below_a=limits[0], below_b=limits[1], below_c=limits[2],
    )  # fmt: skip
    kernels.over("rmat_keys", draws, header, draws, int(rmat.undirected), keys)
    keys.sort()
    return _compacted(keys, bool(rmat.dedup))


def _compacted(keys: cupy.ndarray, dedup: bool) -> cupy.ndarray:
    """Sorted keys without NOTHING and, where wished, without repeats; in pieces, moved down in place (a mask of CuPy's ends at 2^31)."""
    size = 0
    before = NOTHING
    for first in range(0, keys.size, PARTITION_EDGES):
        piece = keys[first : first + PARTITION_EDGES].copy()
        kept = piece != NOTHING
        if dedup:
            kept[1:] &= piece[1:] != piece[:-1]
            kept[:1] &= piece[:1] != before
            before = piece[-1].copy()
        piece = piece[kept]
        keys[size : size + piece.size] = piece
        size += piece.size
    return keys[:size]
