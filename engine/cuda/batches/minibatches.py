"""Mini-batches on a GPU with uniform picks, some at a time through all hops, with the hash tables of their vertices in the cache; see minibatches.cu."""

from typing import TYPE_CHECKING

import cupy
import numpy as np

from csaw.engine.backend import ALL
from csaw.engine.batches.minibatches import check_nodes, frontiers
from csaw.engine.contracts import Array
from csaw.engine.cuda.constants import BLOCK, CHUNK_CELLS
from csaw.engine.cuda.structs import struct

if TYPE_CHECKING:
    from csaw.engine.cuda.backend import CudaBackend

MOST_ROWS = 65535  # blocks of the second dimension of a launch
TABLE_BYTES = (
    128 << 20
)  # of the hash tables of the mini-batches that are drawn at a time: smaller ones stay in the cache, but launches take longer then


class DeviceMiniBatches:
    """The mini-batches from number ``first`` on. ``sources`` int64 [instances, seeds, 2]: each seed's vertex and its position in the list of sources; -1 for none."""

    def __init__(self, backend: "CudaBackend", first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.disjoint = backend, first, bool(backend.algorithm.disjoint)
        self.sizes, self.dtype = backend.plan.sizes, np.dtype(backend.store.id_dtype)
        self.instances, self.seeds = len(sources), sources.shape[1]
        self.widths = frontiers(
            self.sizes, self.seeds, most := backend.store.vertices * (self.seeds if self.disjoint else 1)
        )
        self.edge_room = sum(width * size for width, size in zip(self.widths, self.sizes, strict=True))
        self.room = min(self.seeds + self.edge_room, self.seeds + most)
        check_nodes(self.room)
        self.buckets = 1 << (4 * self.room // 3 + 64).bit_length()
        self.sources, positions = cupy.asarray(np.ascontiguousarray(sources, np.int64)), sources[:, :, 1]
        self.input_id = positions[positions >= 0]
        self.packed = self.dtype.itemsize == 4 and not self.disjoint  # PACKED in minibatches.cu
        hops = len(self.sizes)
        self.n_id = cupy.empty((self.instances, self.room), self.dtype)
        self.owner = cupy.empty((self.instances, self.room), np.uint32) if self.disjoint else None
        self.node_ends = cupy.zeros((self.instances, hops + 2), np.int64)
        self.edge_ends = cupy.zeros((self.instances, hops + 1), np.int64)
        self.bucket = cupy.empty((self.instances, self.edge_room), np.uint32)
        self.col = cupy.empty((self.instances, self.edge_room), np.uint32)
        self.e_id = cupy.empty((self.instances, self.edge_room), np.int64)
        self.dead = cupy.zeros(1, np.uint64)
        self.samples: dict[str, Array] = {}
        self.found = 0

    def advance(self) -> None:
        at_a_time = max(1, min(self.instances, MOST_ROWS, TABLE_BYTES // ((8 if self.packed else 12) * self.buckets)))
        keys = cupy.empty((at_a_time, self.buckets), np.uint64)
        values = None if self.packed else cupy.empty((at_a_time, self.buckets), np.uint32)
        cells = max((width * size for width, size in zip(self.widths, self.sizes, strict=True)), default=0)
        bucket, e_id = cupy.empty((at_a_time, cells), np.uint32), cupy.empty((at_a_time, cells), np.int64)
        for low in range(0, self.instances, at_a_time):
            for table in filter(lambda table: table is not None, (keys, values)):
                table.data.memset_async(0xFF, table.nbytes)
            self._draw(low, min(low + at_a_time, self.instances), keys, values, bucket, e_id)
        self.samples = self._packed()

    def _draw(self, low: int, high: int, keys: Array, values: Array, bucket: Array, e_id: Array) -> None:
        kernels, count, seed = self.backend.kernels, high - low, np.uint64(self.backend.seed)
        given = self._struct(low, high, keys, values)
        kernels.over("plant_seeds", count * self.seeds, given)
        for hop, (width, size) in enumerate(zip(self.widths, self.sizes, strict=True)):
            chunks = -(-width * size // CHUNK_CELLS)
            counts = cupy.empty((count, max(chunks, 1)), np.int64)
            staged = kernels.staged(count * width, size)
            picks = struct(
                "MiniHop", hop=np.uint32(hop), width=np.uint32(width), size=np.uint32(size), staged=np.uint32(staged),
                bucket=bucket, e_id=e_id, counts=counts, chunks=np.uint32(chunks),
            )  # fmt: skip
            if width * size:
                kernels.launch("draw_picks", -(-count * width // staged), BLOCK, given, picks, seed)
                kernels.launch("count_new", (chunks, count), BLOCK, given, picks)
            kernels.launch("settle_hop", count, BLOCK, given, picks)
            kernels.launch("number_new", (chunks, count), BLOCK, given, picks)
        if self.edge_room:
            kernels.launch("number_edges", (self._blocks(self.edge_room), count), BLOCK, given)

    def _struct(self, low: int, high: int, keys: Array = None, values: Array = None) -> np.ndarray:
        """The struct of mini-batches low .. high - 1 of the batch."""
        at = slice(low, high)
        return struct(
            "MiniBatches", first=self.first + low, count=np.uint32(high - low), seeds=np.uint32(self.seeds), hops=np.uint32(len(self.sizes)),
            room=np.uint32(self.room), edge_room=np.uint32(self.edge_room), buckets=np.uint32(self.buckets),
            sources=self.sources[at], keys=keys, values=values, n_id=self.n_id[at], owner=None if self.owner is None else self.owner[at],
            node_ends=self.node_ends[at], edge_ends=self.edge_ends[at], bucket=self.bucket[at], col=self.col[at], e_id=self.e_id[at], dead=self.dead,
        )  # fmt: skip

    def _blocks(self, items: int) -> int:
        return max(1, min(-(-items // BLOCK), 64))

    def _packed(self) -> dict[str, Array]:
        """The arrays of a sample store, in order of instance."""
        kernels, whole, n, hops = self.backend.kernels, self._struct(0, self.instances), self.instances, len(self.sizes)
        counts = cupy.empty((5, n), np.int64)
        nodes, edges, seeds, nodes_upto, edges_upto = counts
        hop_nodes, hop_edges = cupy.empty((n, hops + 1), np.int64), cupy.empty((n, hops), np.int64)
        numbers = struct("Numbers", nodes=nodes, edges=edges, seeds=seeds, nodes_upto=nodes_upto, edges_upto=edges_upto,
                         hop_nodes=hop_nodes, hop_edges=hop_edges)  # fmt: skip
        kernels.launch("sum_up", 1, BLOCK, whole, numbers)
        all_nodes, all_edges = counts[3:, -1].get().tolist() if n else (0, 0)
        self.found = all_edges
        n_id = cupy.empty(all_nodes, self.dtype)
        batch = cupy.empty(all_nodes if self.disjoint else 0, np.int32)
        row, col, e_id = (cupy.empty(all_edges, kind) for kind in (np.int32, np.int32, np.int64))
        for low in range(0, n, MOST_ROWS):
            some = slice(low, min(low + MOST_ROWS, n))
            given = (self._struct(some.start, some.stop), nodes_upto[some], edges_upto[some])
            grid = (self._blocks(max(self.room, self.edge_room)), some.stop - low)
            kernels.launch("pack_minibatches", grid, BLOCK, *given, n_id, batch, row, col, e_id)
        return {
            "node_counts": nodes,
            "n_id": n_id,
            "edge_counts": edges,
            "row": row,
            "col": col,
            "e_id": e_id,
            "hop_nodes": hop_nodes,
            "hop_edges": hop_edges,
            "seed_counts": seeds,
            "input_id": cupy.asarray(self.input_id),
            **({"batch": batch} if self.disjoint else {}),
        }

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        return self.found

    def dead_ends(self) -> int:
        return int(self.dead[0])
