"""A graph store whose edges are arrays in memory: what a program has already need not be written to be sampled."""

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.words import Words
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copied, empty, zeros
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BudgetError, StoreError
from csaw.partition.graph.attributes import (
    EDGE_COLUMNS,
    IDENTITY,
    ORDERED,
    STRING,
    TYPED,
    WEIGHT_RANGE,
    Attributes,
    weight_range,
    with_range,
)
from csaw.partition.graph.csr import merge_repeats
from csaw.partition.graph.edge_columns import TIME_ORDER, WEIGHT, EdgeColumn, given_columns, time_of
from csaw.partition.graph.fingerprint import fingerprint_of_arrays
from csaw.partition.graph.given_arrays import array_of, integers_of, weights_of
from csaw.partition.graph.given_room import require_columns
from csaw.partition.graph.partition_writer import weights_between
from csaw.partition.graph.parts import Graph, cut_points, offsets_within, partition_count
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.time_order import time_order
from csaw.partition.graph.types import Types, text_of

MOST_VERTICES = 2**46  # whose rows no memory holds

# CSR arrays that a program gives, checked, with sorted rows.


class GivenRows(NamedTuple):
    """CSR of a graph of V vertices and E edges.

    Attributes:
        indptr: int64 [V + 1].
        indices: neighbors, integers [E], rising within each row.
        weights: float32 [E], or None.
        columns: the values of each further edge column, [E].
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    columns: dict[EdgeColumn, np.ndarray]

    @property
    def edge_bytes(self) -> int:
        """Bytes of an edge in all arrays together."""
        weight = 0 if self.weights is None else WEIGHT.dtype.itemsize
        return self.indices.dtype.itemsize + weight + sum(column.dtype.itemsize for column in self.columns)

    def ordered(self, order: np.ndarray | slice) -> "GivenRows":
        """The same offsets with the edges ``order`` of the other arrays."""
        columns = {column: values[order] for column, values in self.columns.items()}
        weights = None if self.weights is None else self.weights[order]
        return GivenRows(self.indptr, self.indices[order], weights, columns)

    def part(self, first: int, last: int) -> "GivenRows":
        """The rows of the vertices first .. last - 1, with offsets from 0; neighbors keep their numbers."""
        begin, end = self.indptr[first], self.indptr[last]
        return self.ordered(slice(begin, end))._replace(indptr=self.indptr[first : last + 1] - begin)


def checked_rows(
    indptr: ArrayLike,
    indices: ArrayLike,
    weights: ArrayLike | None,
    columns: Mapping[str, ArrayLike] | None = None,
) -> GivenRows:
    """Check CSR arrays and sort their rows; arrays are copied only where rows were not sorted.

    Args:
        indptr: integers [V + 1].
        indices: integers [E].
        weights: numbers [E], or None.
        columns: further edge columns, as ``given_columns`` takes them.

    Raises:
        StoreError: the arrays are no CSR, or numbers are no weights.
        OptionError: something is no array of numbers.
    """
    indptr, indices = integers_of("indptr", indptr), integers_of("indices", indices)
    if indptr.size == 0 or indptr[0] != 0 or indptr[-1] != indices.size or (indptr[1:] < indptr[:-1]).any():
        raise StoreError(f"indptr: expected offsets that increase from 0 to {indices.size}, the number of indices")
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < indptr.size - 1:
        raise StoreError(f"expected indices from 0 to {indptr.size - 2}, found {indices.min()} to {indices.max()}")
    if weights is not None:
        weights = array_of("weights", weights)
        if weights.shape != indices.shape:
            raise StoreError(
                f"weights: expected a weight for each of {indices.size:,} indices, found the shape {weights.shape}"
            )
        weights = weights_of("weights", weights, indices.size)
    rows = GivenRows(indptr.astype(np.int64, copy=False), indices, weights, given_columns(columns or {}, indices.size))
    rises = np.empty(indices.size, np.bool_)
    np.greater_equal(indices[1:], indices[:-1], out=rises[1:])
    rises[indptr[:-1][np.diff(indptr) > 0]] = True  # where a row begins
    if rises.all():
        return rows
    owners = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    return rows.ordered(np.lexsort((indices, owners)))


def require_both(rows: GivenRows) -> None:
    """Raise StoreError unless each edge is in the rows of both of its ends, with the same numbers."""
    from csaw.partition.graph.check import numbers_of, one_sided  # brings Numba

    if (found := one_sided(rows.indptr, rows.indices)) is not None:
        u, v = found
        raise StoreError(
            f"directed=False: expected each edge in the rows of both of its ends, found {u} -> {v} more often than "
            f"{v} -> {u}; add the other direction, or pass directed=True"
        )
    held = [*([] if rows.weights is None else [rows.weights]), *rows.columns.values()]
    if held and (found := one_sided(rows.indptr, rows.indices, numbers_of(held, rows.indices.size))) is not None:
        u, v = found
        raise StoreError(
            "directed=False: expected the same weights and edge columns in both rows of an edge, found different "
            f"ones for {u} -> {v} than for {v} -> {u}; give both the same, or pass directed=True"
        )


def require_distinct(ids: ArrayLike | Words, vertices: int) -> None:
    """Raise StoreError unless there is an id for each vertex: numbers that rise, or words of which none is another."""
    given = ids if isinstance(ids, Words) else np.asarray(ids)
    if len(given) != vertices:
        raise StoreError(f"vertex_ids: expected one for each of {vertices:,} vertices, found {len(given):,}")
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
        falls = np.flatnonzero(given[1:] <= given[:-1])
        if falls.size:
            before, found = given[falls[0] : falls[0] + 2].tolist()
            raise StoreError(
                f"vertex_ids: expected increasing numbers, found {found} after {before}; sort the vertices by their ids"
            )
        return
    words = Counter(map(bytes, (given if isinstance(given, Words) else Words.of(given)).encoded()))
    twice = [word for word, times in words.items() if times > 1]
    if twice:
        said = quoted(twice[0].decode(errors="replace"))
        raise StoreError(f"vertex_ids: expected a different word for each vertex, found {said} twice")


# A graph store whose edges are arrays in memory.

LARGEST_32 = 2**32 - 1  # vertices whose ids take 32 bits, besides the id that stands for nothing


class InMemory(GraphStore):
    """The graph of CSR arrays, with all abilities of a store but single rows read from files.

    Arrays are kept, not copied, where rows are sorted and the element types fit.

    Args:
        name: stands for the path in messages.
        indptr: int64 [V + 1].
        indices: neighbors [E].
        weights: numbers [E], or None.
        directed: whether edges have one direction.
        vertex_ids: original ids by dense id, rising, int64, uint64 or Words (default: None, 0 .. V - 1).
        edge_columns: further numbers of the edges [E], by name or ``NAME:DTYPE:UNITS``, which hooks read as ``e.NAME``.
        types: of its vertices and edges, which then have the edge column ``relation`` (default: None, one of each).
        read_as: a line that says how an object was read (default: None, there was none).

    Raises:
        StoreError: the arrays are no CSR, or weights are negative or not finite.
        OptionError: an edge column is none.
    """

    is_plain = False
    unpack_bytes = 0
    in_memory = True

    def __init__(
        self,
        name: str,
        indptr: ArrayLike,
        indices: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        directed: bool = True,
        vertex_ids: np.ndarray | Words | None = None,
        edge_columns: Mapping[str, ArrayLike] | None = None,
        types: Types | None = None,
        read_as: str | None = None,
    ) -> None:
        self.id_arrays = _arrays_of(vertex_ids)
        rows = checked_rows(indptr, indices, weights, edge_columns)
        self.indptr = rows.indptr
        self.indices = np.ascontiguousarray(rows.indices, np.uint32 if rows.indptr.size - 1 < LARGEST_32 else np.uint64)
        self.weights = rows.weights
        further = {column.array: values for column, values in rows.columns.items()}
        self.arrays = {INDICES: self.indices} | further
        if rows.weights is not None:
            self.arrays[WEIGHT.array] = rows.weights
        fingerprint = fingerprint_of_arrays(self.indptr, self.arrays, self.id_arrays, rows.columns, text_of(types))
        said = with_range(self._attributes(directed, fingerprint))
        if rows.columns:
            said[EDGE_COLUMNS] = [column.attributes for column in rows.columns]
        if (time := time_of(rows.columns)) is not None:
            self.arrays[TIME_ORDER.array] = time_order(self.indptr, rows.columns[time])
            said[ORDERED] = True
        if types is not None:
            said[TYPED] = types.attributes
        if read_as is not None:
            said["report"] = {"read_as": [read_as]}
        super().__init__(Path(name), said)

    def _attributes(self, directed: bool, fingerprint: str) -> Attributes:
        degrees = np.diff(self.indptr)
        return {
            "vertices": degrees.size,
            "edges": self.indices.size,
            "directed": directed,
            "weighted": self.weights is not None,
            "multigraph": bool(has_repeats(self.indptr, self.indices)),
            "max_degree": int(degrees.max(initial=0)),
            WEIGHT_RANGE: weight_range(*weights_between(self.weights)[1:]),
            "id_dtype": self.indices.dtype.name,
            "id_kind": self._kind_of_ids(),
            "fingerprint": fingerprint,
            "report": {},
            "partitions": self._partitions(),
        }

    def _kind_of_ids(self) -> str:
        if not self.id_arrays:
            return IDENTITY
        return STRING if len(self.id_arrays) > 1 else self.id_arrays[0].dtype.name

    @property
    def id_bytes(self) -> int:
        """0, because the original ids are there already."""
        return 0

    def map_ids(self) -> None:
        """Nothing to map: the original ids are in memory."""

    def _partitions(self) -> list[tuple[int, int, int, int, int]]:
        item = sum(array.itemsize for array in self.arrays.values())
        cuts = cut_points(self.indptr, partition_count(self.indices.size, self.indptr.size - 1, item, None, None))
        starts = self.indptr[cuts]
        bounds = zip(cuts[:-1].tolist(), cuts[1:].tolist(), starts[:-1].tolist(), np.diff(starts).tolist(), strict=True)
        return [
            (first, last, begin, edges, item * edges + 8 * (last - first + 1)) for first, last, begin, edges in bounds
        ]

    def whole(self, columns: Collection[EdgeColumn]) -> Graph:
        require_columns(self, columns)
        further = {column.name: self.arrays[column.array] for column in columns}
        return Graph(self.indptr, self.indices, self.weights, further)

    def read_indptr(self) -> np.ndarray:
        return self.indptr.copy()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        part = self.partitions[number]
        return offsets_within(self.indptr, part.first_vertex, part.last_vertex, out)

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        begin = self.partitions[number].first_edge + first
        for name, out in arrays.items():
            out[:] = self.arrays[name][begin : begin + out.size]

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        """Nothing to read: all is in memory."""


def _arrays_of(ids: np.ndarray | Words | None) -> list[np.ndarray]:
    """Original ids as a store keeps them: no array, one of numbers, or the bytes of strings and their offsets."""
    if ids is None:
        return []
    return [ids.text, ids.offsets] if isinstance(ids, Words) else [ids]


@njit(nogil=True)
def has_repeats(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Whether any row, which is sorted, has a neighbor twice."""
    for v in range(indptr.size - 1):
        for i in range(indptr[v] + 1, indptr[v + 1]):
            if indices[i] == indices[i - 1]:
                return True
    return False


@njit(nogil=True)
def order_by(keys: np.ndarray, count: int, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order that sorts ``order``'s edges by ``keys``, stable; keys are 0 .. count - 1.

    Returns where each key begins, too: int64 [count + 1].
    """
    begins = zeros(count + 1, np.int64)
    for edge in order:
        begins[keys[edge] + 1] += 1
    for key in range(count):
        begins[key + 1] += begins[key]
    at, out = copied(begins[:-1]), empty(order.size, order.dtype)
    for edge in order:
        key = keys[edge]
        out[at[key]] = edge
        at[key] += 1
    return begins, out


def too_many(where: str, vertices: int) -> BudgetError:
    """The error for a graph of so many vertices that memory does not hold its rows."""
    return BudgetError(
        f"{where}: rows of {vertices:,} vertices take at least {8 * vertices:,} bytes, more than the free "
        "memory; number only the vertices that have edges"
    )


def rows_of_edges(owners: np.ndarray, neighbors: np.ndarray, vertices: int) -> tuple[np.ndarray, ...]:
    """CSR of edges in any order, and where each entry comes from: ``indptr`` [V + 1], ``indices`` [E] and ``order``
    [E], all int64.

    ``owners`` and ``neighbors``, int64 [E]: edge k stands in the row of ``owners[k]``. Entry j of the rows is edge
    ``order[j]``. Rows are sorted, and repeats in the order of the edges.
    """
    _, order = order_by(neighbors, vertices, np.arange(owners.size))
    indptr, order = order_by(owners, vertices, order)
    return indptr, neighbors[order], order


@njit(nogil=True)
def merged(
    duplicates: int, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, numbers: np.ndarray
) -> tuple[int, int, bool]:
    """Merge equal entries of sorted rows in place, as :func:`merge_repeats`, which Python cannot call.

    Returns how many entries are left, how many were merged, and whether repeats are left.
    """
    kept, fewer, left, _ = merge_repeats(duplicates, indptr, indices, weights, numbers)
    return kept, fewer, left
