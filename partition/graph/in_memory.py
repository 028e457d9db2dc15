"""A graph store whose edges are arrays in memory: what a program has already need not be written to be sampled."""

from pathlib import Path

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.compile import njit
from csaw.partition.graph.attributes import IDENTITY, STRING
from csaw.partition.graph.csr import merge_repeats
from csaw.partition.graph.fingerprint import Fingerprint
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.write import checked_rows, cut_points, partition_count

LARGEST_32 = 2**32 - 1  # vertices whose ids take 32 bits, besides the id that stands for nothing


class InMemory(GraphStore):
    """The graph of CSR arrays, with all abilities of a store but single rows read from files.

    ``indptr`` int64 [V + 1]; ``indices`` [E], neighbors; ``weights`` [E] or None. Arrays are kept, not copied, where rows are sorted and the element types fit.
    ``vertex_ids``: original ids by dense id, rising, int64, uint64 or Words (default: None, 0 .. V - 1). ``name`` stands for the path in messages.
    StoreError for arrays that are no CSR, and for weights that are negative or not finite.
    """

    is_plain = False
    unpack_bytes = 0
    in_memory = True

    def __init__(self, name: str, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None = None, *, directed: bool = True,
                 vertex_ids: np.ndarray | Words | None = None) -> None:  # fmt: skip
        self.id_arrays = _arrays_of(vertex_ids)
        indptr, indices, weights = checked_rows(indptr, indices, weights)
        self.indptr = indptr
        self.indices = np.ascontiguousarray(indices, np.uint32 if indptr.size - 1 < LARGEST_32 else np.uint64)
        self.weights = weights
        super().__init__(Path(name), self._attributes(directed))

    def _attributes(self, directed: bool) -> dict:
        degrees = np.diff(self.indptr)
        return {
            "vertices": degrees.size, "edges": self.indices.size, "directed": directed, "weighted": self.weights is not None,
            "multigraph": bool(has_repeats(self.indptr, self.indices)), "max_degree": int(degrees.max(initial=0)),
            "id_dtype": self.indices.dtype.name, "id_kind": self._kind_of_ids(), "fingerprint": self._digest(), "report": {},
            "partitions": self._partitions(),
        }  # fmt: skip

    def _digest(self) -> str:
        fingerprint = Fingerprint()
        fingerprint.add(self.indptr, self.indices, self.weights)
        fingerprint.add_ids(*self.id_arrays)
        return fingerprint.hexdigest()

    def _kind_of_ids(self) -> str:
        if not self.id_arrays:
            return IDENTITY
        return STRING if len(self.id_arrays) > 1 else self.id_arrays[0].dtype.name

    @property
    def id_bytes(self) -> int:
        """None: the original ids are there already."""
        return 0

    def map_ids(self) -> None:
        """Nothing to map: the original ids are in memory."""

    def _partitions(self) -> list[tuple[int, int, int, int, int]]:
        item = self.indices.itemsize + (4 if self.weights is not None else 0)
        cuts = cut_points(self.indptr, partition_count(self.indices.size, self.indptr.size - 1, item, None, None))
        starts = self.indptr[cuts]
        bounds = zip(cuts[:-1].tolist(), cuts[1:].tolist(), starts[:-1].tolist(), np.diff(starts).tolist(), strict=True)
        return [(first, last, begin, edges, item * edges + 8 * (last - first + 1)) for first, last, begin, edges in bounds]  # fmt: skip

    def read_indptr(self) -> np.ndarray:
        return self.indptr.copy()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        part = self.partitions[number]
        offsets = np.empty(part.last_vertex - part.first_vertex + 1, np.int64) if out is None else out
        np.subtract(self.indptr[part.first_vertex : part.last_vertex + 1], part.first_edge, out=offsets)
        return offsets

    def read_part(
        self, number: int, first: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None
    ) -> None:
        begin = self.partitions[number].first_edge + first
        span = slice(begin, begin + indices_out.size)
        indices_out[:] = self.indices[span]
        if weights_out is not None:
            assert self.weights is not None, "a run reads weights only of a weighted store"
            weights_out[:] = self.weights[span]

    def read_ahead(self, number: int, weights: bool, first: int = 0, count: int | None = None) -> None:
        """Nothing to read: all is in memory."""


def _arrays_of(ids: np.ndarray | Words | None) -> list[np.ndarray]:
    """Original ids as a store keeps them: no array, one of numbers, or the bytes of strings and their offsets."""
    if ids is None:
        return []
    return [ids.text, ids.offsets] if isinstance(ids, Words) else [ids]


@njit(nogil=True)
def has_repeats(indptr, indices):
    """Whether any row, which is sorted, has a neighbor twice."""
    for v in range(indptr.size - 1):
        for i in range(indptr[v] + 1, indptr[v + 1]):
            if indices[i] == indices[i - 1]:
                return True
    return False


@njit(nogil=True)
def order_by(keys, count, order):
    """The order that sorts ``order``'s edges by ``keys``, stable; keys are 0 .. count - 1. Returns where each key begins, too: int64 [count + 1]."""
    begins = np.zeros(count + 1, np.int64)
    for edge in order:
        begins[keys[edge] + 1] += 1
    for key in range(count):
        begins[key + 1] += begins[key]
    at, out = begins[:-1].copy(), np.empty_like(order)
    for edge in order:
        key = keys[edge]
        out[at[key]] = edge
        at[key] += 1
    return begins, out


def rows_of_edges(owners: np.ndarray, neighbors: np.ndarray, vertices: int) -> tuple[np.ndarray, ...]:
    """CSR of edges in any order, and where each entry comes from: ``indptr`` [V + 1], ``indices`` [E] and ``order`` [E], all int64.

    ``owners`` and ``neighbors``, int64 [E]: edge k stands in the row of ``owners[k]``. Entry j of the rows is edge ``order[j]``. Rows are sorted, and repeats in the order of the edges.
    """
    _, order = order_by(neighbors, vertices, np.arange(owners.size))
    indptr, order = order_by(owners, vertices, order)
    return indptr, neighbors[order], order


@njit(nogil=True)
def merged(duplicates, indptr, indices, weights):
    """As :func:`merge_repeats`, which Python cannot call: merge equal entries of sorted rows in place, and return how many are left, were merged, and whether repeats are left."""
    kept, fewer, left, _ = merge_repeats(duplicates, indptr, indices, weights, np.empty(0, np.int64))
    return kept, fewer, left
