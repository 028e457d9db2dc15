"""R-MAT graphs made on the GPU in seconds, for benchmarks: the same graphs as ``csaw datasets generate`` writes.

Not those with times: edges are sorted as their ends alone here, and the time of one is drawn by its number.
"""

import threading
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.datasets.generate import from_one_to_five
from csaw.datasets.spec import Integers, Rmat
from csaw.engine.bench import KERNELS
from csaw.engine.cuda.compile import Unit
from csaw.engine.cuda.declarations import BLOCK, struct
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.launch import Kernels
from csaw.partition.graph.attributes import WEIGHT_RANGE, Attributes, weight_range, with_range
from csaw.partition.graph.store import GraphStore

PARTITION_EDGES = 1 << 26
KEY_BYTES = 64  # of GPU memory for each edge: to make it (its key, sorting, the edge itself) and to sample from it
RUNS = 16  # leading bits of a source by which keys are counted


class DeviceRmat(GraphStore):
    """A store whose edges are in GPU memory, with only the parts that sampling reads.

    A graph of more than ``most_keys`` edges (default: as many as fit) is made in ranges of sources, one of which is in
    memory at a time: reading a partition of another range makes that range again, so read partitions in order.
    """

    is_plain = False
    unpack_bytes = 0

    def __init__(self, spec: str, rmat: Rmat, device: Device, most_keys: int | None = None) -> None:
        self.rmat, self.device, self.lock = rmat, cupy.cuda.Device(device.number), threading.Lock()
        with self.device:
            self._make(spec, device, most_keys)

    def _make(self, spec: str, device: Device, most_keys: int | None) -> None:
        rmat = self.rmat
        self.kernels = Kernels(Unit((str(KERNELS / "rmat.cu"),), {}, [], ()), device)
        self.ranges = self._ranges(most_keys or device.free_bytes // KEY_BYTES)
        degree, seen = cupy.zeros(1 << rmat.scale, np.int64), cupy.zeros(1 << rmat.scale, bool)
        for number, (low, high, _) in enumerate(self.ranges):
            keys = None  # free the memory of the last range's keys
            keys = self._keys(number)
            degree[low:high] = cupy.diff(
                cupy.searchsorted(keys, cupy.arange(low, high + 1, dtype=np.uint64) << np.uint64(32))
            )
            if not rmat.undirected:
                for piece in _pieces(keys.size):
                    seen[keys[piece].astype(np.uint32)] = True
        seen |= degree > 0
        self.rank = (cupy.cumsum(seen, dtype=np.int64) - 1).astype(np.uint32)
        self.originals = cupy.flatnonzero(seen).get()
        self.indptr = np.zeros(self.originals.size + 1, np.int64)
        self.indptr[1:] = cupy.cumsum(degree[seen]).get()
        cuts = np.searchsorted(self.originals, [0, *(high for _, high, _ in self.ranges)])
        rows, self.range_of = self._partitions(cuts.tolist())
        super().__init__(Path(spec), self._attributes(spec, rows))
        self.indices: Array = None
        self.weights: Array = None
        self.held = -1  # the range whose edges are in memory
        if len(self.ranges) == 1:
            self._hold(0, keys)
        del keys
        cupy.get_default_memory_pool().free_all_blocks()

    def _ranges(self, most: int) -> list[tuple[int, int, int]]:
        """Ranges of sources with at most about ``most`` keys, each (first source, end, room for keys)."""
        rmat = self.rmat
        vertices, expected = 1 << rmat.scale, rmat.draws * (1 + rmat.undirected)
        if expected <= most:
            return [(0, vertices, expected)]
        shift = max(rmat.scale - RUNS, 0)
        runs = cupy.zeros(vertices >> shift, np.uint64)
        self.kernels.launch("rmat_runs", self.kernels.resident("rmat_runs", BLOCK), BLOCK, self._header(), shift, runs)
        upto = runs.get().cumsum(dtype=np.int64)
        ends = np.searchsorted(upto, np.arange(most, int(upto[-1]), most))
        cuts = [*dict.fromkeys([0, *ends.tolist(), upto.size])]
        upto = np.append(0, upto)
        return [(a << shift, b << shift, int(upto[b] - upto[a])) for a, b in pairwise(cuts)]

    def _header(self) -> np.ndarray:
        """The struct Rmat of engine/bench/kernels/rmat.cu, filled for this graph."""
        rmat = self.rmat
        below = [np.uint64(min(x, 1.0) * 2**32) for x in (rmat.a, rmat.a + rmat.b, rmat.a + rmat.b + rmat.c)]
        return struct(
            "Rmat",
            draws=rmat.draws,
            scale=np.int32(rmat.scale),
            scramble=np.int32(rmat.scramble),
            loops=np.int32(rmat.self_loops),
            undirected=np.int32(rmat.undirected),
            seed=np.uint64(rmat.seed),
            below_a=below[0],
            below_b=below[1],
            below_c=below[2],
            **{name: np.float64(getattr(rmat, name)) for name in ("a", "b", "c", "d", "noise")},
        )

    def _keys(self, number: int) -> Array:
        """The sorted keys source << 32 | target of the edges in range ``number``."""
        low, high, room = self.ranges[number]
        keys, held = cupy.empty(room, np.uint64), cupy.zeros(1, np.uint64)
        blocks = self.kernels.resident("rmat_keys", BLOCK)
        self.kernels.launch("rmat_keys", blocks, BLOCK, self._header(), np.uint64(low), np.uint64(high), held, keys)
        keys = keys[: int(held[0])]
        keys.sort()
        return _distinct(keys) if self.rmat.dedup else keys

    def _partitions(self, vertices: list[int]) -> tuple[list[tuple[int, int, int, int, int]], list[int]]:
        """Rows of the store's partition table, and the range of each.

        ``vertices``: the vertices at which ranges begin.
        """
        rows, range_of = [], []
        for number, (begin, end) in enumerate(pairwise(vertices)):
            starts = np.searchsorted(self.indptr, np.arange(self.indptr[begin], self.indptr[end], PARTITION_EDGES))
            cuts = [*dict.fromkeys([begin, *np.clip(starts, begin, end).tolist(), end])]
            for a, b in pairwise(cuts):
                rows.append((a, b, int(self.indptr[a]), int(self.indptr[b] - self.indptr[a]), 0))
                range_of.append(number)
        return rows or [(0, 0, 0, 0, 0)], range_of or [0]

    def _attributes(self, spec: str, rows: list[tuple[int, int, int, int, int]]) -> Attributes:
        said: Attributes = {
            "vertices": self.originals.size,
            "edges": int(self.indptr[-1]),
            "directed": not self.rmat.undirected,
            "weighted": bool(self.rmat.weights),
            "multigraph": not self.rmat.dedup,
            "max_degree": int(np.diff(self.indptr).max(initial=0)),
            "id_dtype": "uint32",
            "id_kind": "integer",
            "fingerprint": f"on the device: {spec}",
            "report": {},
            "partitions": rows,
            WEIGHT_RANGE: self._weight_range(),
        }
        return with_range(said)

    def _weight_range(self) -> list[float]:
        """The least and the largest weight that an edge may have."""
        kind = self.rmat.weights
        if not kind:
            return []
        if isinstance(kind, Integers):
            return weight_range(max(kind.low, 1), kind.high)
        ends = np.array([1 / 256, 1], np.float32)
        return weight_range(*map(float, from_one_to_five(ends) if kind == 5 else ends))

    def _hold(self, number: int, keys: Array = None) -> None:
        """Bring the edges of a range into GPU memory, in place of those of another."""
        self.held, self.indices, self.weights = -1, None, None
        keys = self._keys(number) if keys is None else keys
        weights = cupy.empty(keys.size if self.weighted else 0, np.float32)
        kind = self.rmat.weights
        low, high = kind if isinstance(kind, Integers) else (0, -1)
        given = (np.uint64(self.rmat.seed), np.uint64(low), np.uint64(high - low + 1), keys, weights)
        self.kernels.over("rmat_weights", weights.size, weights.size, *given)
        if kind == 5:
            from_one_to_five(weights)
        indices = cupy.empty(keys.size, np.uint32)
        for piece in _pieces(keys.size):  # in pieces, which need little memory beside the keys
            indices[piece] = self.rank[keys[piece].astype(np.uint32)]
        self.held, self.indices, self.weights = number, indices, weights

    def read_indptr(self) -> np.ndarray:
        return self.indptr.copy()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        part = self.partitions[number]
        offsets = self.indptr[part.first_vertex : part.last_vertex + 1] - part.first_edge
        if out is not None:
            out[:] = offsets
        return offsets

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        with self.lock, self.device:
            if self.held != self.range_of[number]:
                self._hold(self.range_of[number])
            begins = self.partitions[self.range_of.index(self.range_of[number])].first_edge
            begin = self.partitions[number].first_edge - begins + first
            for name, out in arrays.items():
                {"indices": self.indices, "weights": self.weights}[name][begin : begin + out.size].get(out=out)

    def release(self) -> None:
        with self.lock, self.device:
            self.held, self.indices, self.weights = -1, None, None
            cupy.get_default_memory_pool().free_all_blocks()

    @property
    def id_bytes(self) -> int:
        return self.originals.nbytes

    def map_ids(self) -> None:
        """Ids that are in memory stay there."""

    def stored_ids(self) -> np.ndarray:
        return self.originals


def _pieces(size: int) -> list[slice]:
    return [slice(first, first + PARTITION_EDGES) for first in range(0, size, PARTITION_EDGES)]


def _distinct(keys: Array) -> Array:
    """Remove repeats from sorted keys, in place and in pieces, because CuPy's masks end at 2^31 elements."""
    size, before = 0, None
    for span in _pieces(keys.size):
        piece = keys[span].copy()
        new = cupy.ones(piece.size, bool)
        new[1:] = piece[1:] != piece[:-1]
        if before is not None:
            new[:1] = piece[:1] != before
        before = piece[-1].copy()
        piece = piece[new]
        keys[size : size + piece.size] = piece
        size += piece.size
    return keys[:size]
