"""Columns of data of vertices as a user gives them: files or arrays, checked, and brought in the order of dense ids."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api.algorithm import NO_COLUMNS, VertexColumns
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted, shown
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.given_arrays import array_of

if TYPE_CHECKING:
    from csaw.engine.api.recorded import Request

FLAG = "--columns"
IDS = "ids"  # the name of the array that says which vertex each entry of the others belongs to
EXACT = 2**53  # integers up to this are 64-bit floats, too


def read_columns(given: object, store: GraphStore, flag: str = FLAG) -> VertexColumns:
    """The columns that a user gives for the vertices of ``store``.

    given: a file ``NAME.npy`` with the column NAME; a file ``.npz`` or a mapping with an array [V] for each name; or
    None for no columns. Arrays are of integers, float32 or float64. Entry i belongs to the vertex with dense id i, the
    i-th of ``store.vertex_ids``. Where there is an array ``ids`` beside them, entry i belongs to the vertex whose id in
    the input is ids[i]; each vertex is there once.

    OptionError for what is none of these, a wrong length, type or name, and a number that is not finite or no 64-bit
    float; FormatError for a damaged file.
    """
    if given is None:
        return NO_COLUMNS
    arrays = dict(given) if isinstance(given, Mapping) else _from_file(given, flag)
    order = _order(arrays.pop(IDS), store, flag) if IDS in arrays else None
    if not arrays:
        raise OptionError(f"{flag}: expected at least one column, found none")
    if order is None:
        _refuse_indexed(arrays, flag)
    names = tuple(sorted(arrays, key=str))
    table = np.empty((len(names), store.vertices))
    for row, name in zip(table, names, strict=True):
        row[slice(None) if order is None else order] = _checked(name, arrays[name], store, flag)
    return VertexColumns(names, table)


def _refuse_indexed(arrays: Mapping[str, object], flag: str) -> None:
    """OptionError for a Series of pandas whose index says which vertex each number is of, in another way than rows."""
    for name, values in arrays.items():
        index = (
            np.asarray(getattr(values, "index", ())) if type(values).__module__.partition(".")[0] == "pandas" else ()
        )
        if len(index) and not np.array_equal(index, np.arange(len(index))):
            raise OptionError(
                f"{flag}: {shown(str(name))}: expected numbers in the order of the graph's vertices, found a Series "
                "with a custom index; also pass the ids, as in {'ids': series.index, 'name': series}"
            )


def recalled(request: "Request", given: object, store: GraphStore, of: object) -> VertexColumns:
    """The columns of a stored ``request``, given again.

    OptionError, with the names, where some are missing or others than those that the sample ``of`` was drawn with.
    """
    wanted, found = request.get("columns", {}), read_columns(given, store)
    wrong = [name for name, digest in wanted.items() if found.digests.get(name) != digest]
    if wrong:
        state = "not given" if given is None else "missing or other numbers"
        raise OptionError(
            f"{of} was drawn with columns of vertex data, which it does not store: "
            f"{', '.join(map(shown, wrong))}: {state}; give the same columns with --columns"
        )
    return found


def _from_file(given: object, flag: str) -> dict[str, np.ndarray]:
    if not isinstance(given, (str, Path)) or Path(given).suffix not in (".npy", ".npz"):
        raise OptionError(f"{flag}: expected a file .npy or .npz, or a mapping of arrays, found {quoted(given)}")
    path = Path(given)
    if not path.is_file():
        raise OptionError(f"{flag}: {path} is not a file")
    try:
        with path.open("rb") as file:  # np.load leaves a damaged file open that it opened by itself
            held = np.load(file, allow_pickle=False)
            return {path.stem: held} if isinstance(held, np.ndarray) else {name: held[name] for name in held.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise FormatError(
            f"{flag}: {path} cannot be read as NumPy arrays; expected numbers, and for ids numbers or texts, not "
            "objects, saved by numpy.save or numpy.savez"
        ) from error


def _order(ids: object, store: GraphStore, flag: str) -> np.ndarray:
    """int64 [V]: the dense id of each entry's vertex."""
    given = array_of(f"{flag}: {IDS}", ids)
    if given.ndim != 1 or given.size != store.vertices:
        raise OptionError(
            f"{flag}: {IDS}: expected the id of each of the {store.vertices:,} vertices once, found an "
            f"array of the shape {given.shape}"
        )
    is_text = given.dtype.kind in "US"
    if not is_text and given.dtype.kind not in "iu":
        raise OptionError(f"{flag}: {IDS}: expected integers or texts, which ids are, found {given.dtype}")
    order = np.asarray(store.dense_ids(given.tolist() if is_text else given), np.int64)
    twice = np.flatnonzero(np.bincount(order, minlength=store.vertices) > 1)
    if twice.size:
        [first] = given[order == twice[0]][:1].tolist()
        raise OptionError(f"{flag}: {IDS}: expected each vertex once, found {quoted(first)} more than once")
    return order


def _checked(name: object, given: object, store: GraphStore, flag: str) -> np.ndarray:
    if not isinstance(name, str) or not name:
        raise OptionError(f"{flag}: expected a name for each column, found {quoted(name)}")
    what = f"{flag}: {shown(name)}"
    column = array_of(what, given)
    if column.dtype.kind not in "iu" and column.dtype not in (np.float32, np.float64):
        raise OptionError(f"{what}: expected integers, float32 or float64, found {column.dtype}")
    if column.shape != (store.vertices,):
        raise OptionError(
            f"{what}: expected a number for each of the {store.vertices:,} vertices, found an "
            f"array of the shape {column.shape}"
        )
    bad = unreadable(column)
    if bad.size:
        integer = column.dtype.kind in "iu"
        wanted = "integers of at most 2^53, which 64-bit floats hold exactly" if integer else "finite numbers"
        raise OptionError(
            f"{what}: expected {wanted}, found {column[bad[0]]} at entry {bad[0]}; fill in a number for vertices "
            f"without one, {bad.size:,} in all, or leave the column out"
        )
    return column


def unreadable(column: np.ndarray) -> np.ndarray:
    """int64: the entries that are no finite numbers, or integers that a 64-bit float does not hold for certain."""
    integer = column.dtype.kind in "iu"
    return np.flatnonzero((column > EXACT) | (column < -EXACT) if integer else ~np.isfinite(column))
