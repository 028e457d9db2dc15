"""CSR arrays that a program gives, checked, with sorted rows."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.words import Words
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import StoreError
from csaw.partition.graph.edge_columns import WEIGHT, EdgeColumn, given_columns
from csaw.partition.graph.given_arrays import array_of, integers_of, weights_of


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
        raise StoreError(f"indptr: expected offsets that rise from 0 to {indices.size}, the number of indices")
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
    from csaw.partition.graph.symmetry import numbers_of, one_sided  # brings Numba

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
            f"directed=False: expected the same weights and edge columns in both rows of an edge, found others for "
            f"{u} -> {v} than for {v} -> {u}; give both the same, or pass directed=True"
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
                f"vertex_ids: expected numbers that rise, found {found} behind {before}; sort the vertices by their ids"
            )
        return
    words = Counter(map(bytes, (given if isinstance(given, Words) else Words.of(given)).encoded()))
    twice = [word for word, times in words.items() if times > 1]
    if twice:
        said = quoted(twice[0].decode(errors="replace"))
        raise StoreError(f"vertex_ids: expected a word of its own for each vertex, found {said} twice")
