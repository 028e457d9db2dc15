"""Matrices of scipy.sparse as entries.

Their arrays are checked before any of SciPy's kernels reads them: these trust offsets and places, and a wrong one ends
the process.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from csaw.partition.errors import OptionError
from csaw.partition.graph.given_arrays import array_of, integers_of

if TYPE_CHECKING:
    from scipy.sparse import coo_matrix, spmatrix

WHAT = "sparse matrix"


def entries_of(matrix: "spmatrix") -> "coo_matrix":
    """The entries of a matrix [V, V], as a matrix of SciPy in the form coo.

    OptionError for one that is not square, or whose arrays contradict each other.
    """
    shape: tuple[int, ...] = getattr(matrix, "shape", ())
    if not hasattr(matrix, "tocoo") or len(shape) != 2 or shape[0] != shape[1]:
        raise OptionError(
            f"{WHAT}: expected as many rows as columns, one for each vertex, found {type(matrix).__name__} "
            f"of the shape {tuple(shape)}"
        )
    if check := CHECKS.get(matrix.format):
        check(matrix)
    if matrix.format in ("csr", "csc", "bsr") and matrix.indices.shape[0] > matrix.indptr[-1]:
        matrix = matrix.copy()
        matrix.prune()  # room for entries that are not there
    found = matrix.tocoo()
    _check_coo(found)
    # knows of no order that its arrays may have lost
    entries = type(found)((found.data, (found.row, found.col)), shape=shape)
    if entries.dtype == bool:  # an entry that says False is no edge
        entries.eliminate_zeros()
    return entries


def with_sums(entries: "coo_matrix") -> np.ndarray | None:
    """The values of entries, of which the first of each place has the sum of all there, which is how SciPy reads them.

    None where no place has two.
    """
    if entries.dtype.kind in "iu":  # sums of small integers would not fit
        values = entries.data.astype(np.float64)  # ``astype`` of the matrix would add in its own type
        entries = type(entries)((values, (entries.row, entries.col)), shape=entries.shape)
    once = entries.tocsr()
    if once.nnz == entries.nnz:
        return None
    once.sum_duplicates()
    places = entries.row.astype(np.int64) * entries.shape[1] + entries.col
    values = entries.data.astype(once.dtype)
    values[np.unique(places, return_index=True)[1]] = once.data
    return values


def _check_compressed(matrix: "spmatrix") -> None:
    """The arrays of csr, csc and bsr."""
    indptr, indices = integers_of(f"{WHAT}: indptr", matrix.indptr), integers_of(f"{WHAT}: indices", matrix.indices)
    data = array_of(f"{WHAT}: data", matrix.data)
    block = data.shape[1:] if matrix.format == "bsr" else (1, 1)
    if data.ndim != (3 if matrix.format == "bsr" else 1) or len(data) != indices.size or 0 in block:
        raise OptionError(
            f"{WHAT}: data: expected an entry for each of {indices.size:,} indices, found the shape {data.shape}"
        )
    rows, columns = (side // each for side, each in zip(matrix.shape, block, strict=True))
    major, minor = (columns, rows) if matrix.format == "csc" else (rows, columns)
    if indptr.size != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any() or indptr[-1] > indices.size:
        raise OptionError(
            f"{WHAT}: indptr: expected {major + 1:,} offsets that rise from 0 to at most {indices.size:,}, "
            "the number of indices"
        )
    _check_below("indices", indices[: indptr[-1]], minor)


def _check_coo(matrix: "spmatrix") -> None:
    row, column = (integers_of(f"{WHAT}: {name}", getattr(matrix, name)) for name in ("row", "col"))
    data = array_of(f"{WHAT}: data", matrix.data)
    if not row.shape == column.shape == data.shape:
        raise OptionError(
            f"{WHAT}: expected a row, a column and a value for each entry, found {row.size:,}, "
            f"{column.size:,} and {data.size:,}"
        )
    _check_below("row", row, matrix.shape[0])
    _check_below("col", column, matrix.shape[1])


def _check_dia(matrix: "spmatrix") -> None:
    offsets, data = integers_of(f"{WHAT}: offsets", matrix.offsets), array_of(f"{WHAT}: data", matrix.data)
    if data.ndim != 2 or len(data) != offsets.size:
        raise OptionError(
            f"{WHAT}: data: expected a row for each of {offsets.size:,} diagonals, found the shape {data.shape}"
        )


def _check_lil(matrix: "spmatrix") -> None:
    if len(matrix.rows) != matrix.shape[0] or list(map(len, matrix.rows)) != list(map(len, matrix.data)):
        raise OptionError(f"{WHAT}: expected a value for each place of each row, found other numbers of them")


def _check_below(name: str, places: np.ndarray, limit: int) -> None:
    if places.size and not 0 <= int(places.min()) <= int(places.max()) < limit:
        raise OptionError(
            f"{WHAT}: {name}: expected places from 0 to {limit - 1:,}, found {places.min():,} to {places.max():,}"
        )


CHECKS: dict[str, Callable[["spmatrix"], None]] = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_compressed,
    "coo": _check_coo,
    "dia": _check_dia,
    "lil": _check_lil,
}
