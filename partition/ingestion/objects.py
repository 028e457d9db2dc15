"""Edges of the graphs that other libraries hold in memory.

A library is known by the module of an object's type, and never imported. Tables of other libraries than pandas are
streams of Arrow, see arrow_streams.py.

networkx, igraph                  graphs: all vertices, with edges or without; weights are the attribute ``weight``
                                  where an edge has it, 1 where one has not
scipy.sparse                      matrices [V, V]: entry (i, j) is an edge from i to j; the values are weights, unless
                                  they are truths or all 1; entries of one place are their sum
torch                             an edge_index, integers [2, edges]
torch_geometric                   Data with edge_index, num_nodes, and weights in edge_weight; TemporalData
pandas                            tables with two or three columns, or more whose names say which are the ends
numpy                             an array [edges, 2], or [edges, 3] with weights
list                              edges: (source, target) or (source, target, weight)
tuple                             columns: (sources, targets) or (sources, targets, weights)
dict                              neighbors of each vertex: a list, or a dict with a weight or attributes for each
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import NoEdgesError, OptionError
from csaw.partition.graph.given_arrays import array_of, foreign, integers_of
from csaw.partition.ingestion.columns import KNOWN_NAMES, Wishes, columns_of_table, plain, wish_of

if TYPE_CHECKING:
    import igraph
    import networkx
    import pandas
    from scipy.sparse import coo_matrix, spmatrix
    from torch import Tensor
    from torch_geometric.data import Data


# Matrices of scipy.sparse as entries.
#
# Their arrays are checked before any of SciPy's kernels reads them: these trust offsets and places, and a wrong one
# ends the process.

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
            f"{WHAT}: indptr: expected {major + 1:,} offsets that increase from 0 to at most {indices.size:,}, "
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
        raise OptionError(f"{WHAT}: expected one value for each position in each row, found a different number")


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

# Edges of the graphs of other libraries.

AUTO, NONE = "auto", "none"
KNOWN = (
    "a store's path, a file of edges, a dataset's name, a graph of networkx or igraph, a matrix of "
    "scipy.sparse, an edge_index or Data of PyTorch Geometric, a table of pandas, or of any library with "
    "__arrow_c_stream__ (polars, DuckDB, pyarrow), an array "
    "[edges, 2] or [edges, 3], a list of edges, a tuple of columns, or a dict of neighbors"
)

Foreign = object
"""An object of another library, whose type csaw never imports."""
Wish = str | int | None
"""A column that a user names, or numbers from 1; None lets the names decide."""
Table = tuple[str, list[str], Callable[[int], ArrayLike]]
"""A table: its name in messages, the names of its columns, and a function that gives one by its number."""


class Edges(NamedTuple):
    """Edges of an object, in its order. ``sources`` and ``targets``: original ids [E], or numbers of ``vertices``.

    ``weights`` [E]; None where edges have none. ``vertices``: how many there are where ids are numbers below it, or
    their original ids by number; None where they are the ends of edges. ``duplicates``: what becomes of repeated edges
    where nobody says. ``added``: weights [E] that count then, of which the first of repeated edges has the sum of all.
    """

    name: str
    sources: ArrayLike
    targets: ArrayLike
    weights: ArrayLike | None = None
    vertices: int | Sequence[int | str] | None = None
    directed: bool = True
    duplicates: str = "first"
    added: ArrayLike | None = None


def edges_of(
    data: Foreign, weights: ArrayLike | None = AUTO, source_column: Wish = None, target_column: Wish = None
) -> Edges:
    """The edges of an object. OptionError for an object of another kind, and for one without what it must have.

    weights: ``auto`` as described above; ``none`` or None for none; the name of an attribute, or of a table's column;
    or an array [edges], in the order of the object's edges.
    source_column, target_column: of a table, names or numbers from 1 (default: as the names say, otherwise the first
    two).
    """
    if isinstance(data, Edges):
        return data
    library = library_of(type(data)) or ("dict" if isinstance(data, dict) else None)
    if library is None:
        raise OptionError(f"graph: expected {KNOWN}; found {type(data).__module__}.{type(data).__qualname__}")
    named = NONE if weights is None else weights if isinstance(weights, str) else NONE
    if library in TABLES:
        asked = (("--source-column", source_column), ("--target-column", target_column), ("--weight-column", named))
        source, target, weight = (wish_of(flag, wish) for flag, wish in asked)
        with foreign(f"graph: {type(data).__name__}"):
            found = _of_table(*TABLES[library](data), Wishes(source, target, weight or NONE))
    elif source_column is None and target_column is None:
        with foreign(f"graph: {type(data).__name__}"):
            found = READERS[library](data, named)
    else:
        raise OptionError(f"source_column, target_column: expected a table with them, found {type(data).__name__}")
    return found if weights is None or isinstance(weights, str) else found._replace(weights=weights, added=None)


def edges_of_csr(indptr: ArrayLike, indices: ArrayLike, weights: ArrayLike | None = None) -> Edges:
    """The edges of CSR arrays: ``indptr`` [V + 1] rises from 0 to E; ``indices`` [E], numbers of vertices; ``weights``
    [E] or None.

    OptionError for others.
    """
    offsets, neighbors = integers_of("indptr", indptr), integers_of("indices", indices)
    if not offsets.size or offsets[0] != 0 or offsets[-1] != neighbors.size or (offsets[1:] < offsets[:-1]).any():
        raise OptionError(f"indptr: expected offsets that increase from 0 to {neighbors.size:,}, the number of indices")
    owners = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    return Edges("CSR arrays", owners, neighbors, weights, offsets.size - 1, duplicates="keep")


def library_of(kind: type) -> str | None:
    """The known library, or type of Python itself, that a type or one of its bases is of; None where it is of none."""
    names = [base.__module__.partition(".")[0] for base in kind.__mro__] + [kind.__name__] * (
        kind.__module__ == "builtins"
    )
    return next((name for name in names if name in READERS or name in TABLES), None)


def _of_networkx(graph: "networkx.Graph", weights: str) -> Edges:
    named = "weight" if weights == AUTO else weights
    nodes, rows = list(graph.nodes), list(graph.edges(data=named))
    number = {node: place for place, node in enumerate(nodes)}
    found = [row[2] for row in rows]
    held = None if weights == NONE else _attribute(found, named, "networkx graph", asked=weights != AUTO)
    sources, targets = ([number[row[end]] for row in rows] for end in (0, 1))
    repeats = "keep" if graph.is_multigraph() else "first"
    return Edges("networkx graph", sources, targets, held, nodes, graph.is_directed(), repeats)


def _of_igraph(graph: "igraph.Graph", weights: str) -> Edges:
    named, known = "weight" if weights == AUTO else weights, graph.es.attributes()
    if weights not in (AUTO, NONE) and named not in known:
        raise OptionError(
            f"weights: igraph graph: no edge attribute {quoted(named)}; it has {', '.join(known) or 'none'}"
        )
    held = (
        _attribute(graph.es[named], named, "igraph graph", asked=True) if weights != NONE and named in known else None
    )
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    vertices = graph.vs["name"] if "name" in graph.vs.attributes() else graph.vcount()
    return Edges("igraph graph", ends[:, 0], ends[:, 1], held, vertices, graph.is_directed(), "keep")


def _attribute(found: Iterable[float | None], name: str, where: str, *, asked: bool) -> list[float] | None:
    """Weights by an attribute, 1 where an edge has none; None where no edge has it, an error if it is ``asked`` for."""
    values = list(found)
    if any(value is not None for value in values):
        return [1.0 if value is None else value for value in values]
    if asked and values:
        raise OptionError(f"weights: {where}: no edge has the attribute {quoted(name)}")
    return None


def _of_scipy(matrix: "spmatrix", weights: str) -> Edges:
    entries = entries_of(matrix)
    _only(weights, "sparse matrix", "its values are the weights")
    if weights == NONE or entries.data.dtype == bool:
        return Edges("sparse matrix", entries.row, entries.col, None, matrix.shape[0])
    values = None if _are_ones(entries.data) else entries.data
    return Edges("sparse matrix", entries.row, entries.col, values, matrix.shape[0], added=with_sums(entries))


def _are_ones(values: np.ndarray) -> bool:
    return values.dtype.kind in "iuf" and bool((values == 1).all())


def _of_torch(tensor: "Tensor", weights: str) -> Edges:
    _only(weights, "edge_index", "it has none; give an array of them")
    sources, targets = rows_of(tensor)
    return Edges("edge_index", sources, targets, duplicates="keep")


def _of_pyg(data: "Data", weights: str) -> Edges:
    if type(data).__name__ == "TemporalData":
        return Edges("TemporalData", numpy_of(data.src), numpy_of(data.dst), None, int(data.num_nodes), True, "keep")
    if getattr(data, "edge_index", None) is None:
        raise OptionError(f"{type(data).__name__}: expected a Data object with edge_index, or a HeteroData object")
    held = None if weights == NONE else getattr(data, "edge_weight" if weights == AUTO else weights, None)
    if held is None and weights not in (AUTO, NONE):
        raise OptionError(f"weights: Data: no attribute {quoted(weights)}")
    flat = None if held is None else numpy_of(held).reshape(-1)
    sources, targets = rows_of(data.edge_index)
    vertices = data.num_nodes
    if isinstance(vertices, bool) or not isinstance(vertices, int | np.integer) or vertices < 0:
        raise OptionError(f"Data: num_nodes: expected a number of vertices, found {quoted(vertices)}")
    return Edges("Data", sources, targets, flat, int(vertices), duplicates="keep")


def rows_of(tensor: "Tensor") -> np.ndarray:
    """The two rows of an edge_index."""
    held = numpy_of(tensor)
    if held.ndim != 2 or held.shape[0] != 2 or held.dtype.kind not in "iu":
        raise OptionError(
            f"edge_index: expected a tensor of integers [2, edges], found {tensor.dtype} {list(held.shape)}"
        )
    return held


def numpy_of(tensor: "Tensor") -> np.ndarray:
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        raise OptionError(
            f"graph: expected an edge_index [2, edges], found a sparse tensor ({tensor.layout}); give its indices"
        )
    if not hasattr(tensor, "detach"):
        raise OptionError(f"graph: expected a tensor, found {type(tensor).__name__}")
    return array_of("graph", tensor)


def _of_pandas(table: "pandas.DataFrame") -> Table:
    if not hasattr(table, "columns"):
        raise OptionError(f"graph: expected a pandas.DataFrame, found a {type(table).__name__}")

    def column(number: int) -> np.ndarray:
        held = table.iloc[:, number]
        has_zone = getattr(getattr(held, "dtype", None), "tz", None) is not None  # its values would be objects
        return (held.dt.tz_convert(None) if has_zone else held).to_numpy()

    return "pandas table", [str(name) for name in table.columns], column


def _of_table(where: str, names: list[str], column: Callable[[int], ArrayLike], wishes: Wishes) -> Edges:
    """Return the columns that ``csaw partition`` reads of a file with this header."""
    found = columns_of_table(where, names, wishes)
    held = column(found.weight) if found.weight >= 0 else None
    return Edges(where, column(found.source), column(found.target), held)


def _of_array(given: ArrayLike, weights: str) -> Edges:
    array = array_of("array", given)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        turned = "; give its transpose, array.T" if array.ndim == 2 and array.shape[0] in (2, 3) else ""
        raise OptionError(
            "array: expected edges as rows, [edges, 2] or [edges, 3] with weights, found the shape "
            f"{array.shape}{turned}"
        )
    _only(weights, "array", "its third column has the weights; give an array of them otherwise")
    held = array[:, 2] if array.shape[1] == 3 and weights == AUTO else None
    return Edges("array", array[:, 0], array[:, 1], held)


def _of_list(rows: Sequence[Sequence[object]], weights: str) -> Edges:
    if not rows:
        raise NoEdgesError("list of edges: no edges found; expected at least one")
    widths = {len(row) if isinstance(row, tuple | list) else 0 for row in rows}
    if len(widths) != 1 or not widths <= {2, 3}:
        raise OptionError(
            "list of edges: expected (source, target) for every edge, or (source, target, weight) for every edge"
        )
    return _of_columns(tuple(zip(*rows, strict=True)), weights)._replace(name="list of edges")


def _of_columns(columns: Sequence[ArrayLike], weights: str) -> Edges:
    if len(columns) not in (2, 3):
        raise OptionError(
            "tuple: expected two or three columns, (sources, targets) or (sources, targets, weights), "
            f"found {len(columns)}"
        )
    _only(weights, "columns", "the third one has the weights; give an array of them otherwise")
    held = columns[2] if len(columns) == 3 and weights == AUTO else None
    return Edges("columns", columns[0], columns[1], held)


def _of_dict(neighbors: Mapping[int | str, object], weights: str) -> Edges:
    where, named = "dict of neighbors", "weight" if weights == AUTO else weights
    if neighbors and all(isinstance(key, str) and plain(key) in KNOWN_NAMES for key in neighbors):
        raise OptionError(
            f"graph: expected the neighbors of each vertex, found columns {', '.join(map(str, neighbors))}; "
            "give a table of pandas, or a tuple (sources, targets)"
        )
    number = {vertex: place for place, vertex in enumerate(neighbors)}
    sources, targets, found, repeats = [], [], [], "first"
    for vertex, row in neighbors.items():
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise OptionError(
                f"{where}: {quoted(vertex)}: expected a list of vertices, or a dict with a weight for each, "
                f"found {quoted(row)}"
            )
        for other in row:
            held = row[other] if isinstance(row, Mapping) else None
            parallel = [held]
            if isinstance(held, Mapping) and held and all(isinstance(one, Mapping) for one in held.values()):
                parallel, repeats = list(held.values()), "keep"  # of a multigraph, whose edges have keys
            for one in parallel:
                sources.append(number[vertex])
                targets.append(number.setdefault(other, len(number)))
                found.append(one.get(named) if isinstance(one, Mapping) else one)
    if weights not in (AUTO, NONE) and not any(isinstance(row, Mapping) for row in neighbors.values()):
        _only(weights, where, "its lists have no attributes")
    held = None if weights == NONE else _attribute(found, named, where, asked=weights != AUTO)
    return Edges(where, sources, targets, held, list(number), duplicates=repeats)


def _only(weights: str, where: str, said: str) -> None:
    """OptionError for weights that are named, of an object whose weights have no names."""
    if weights not in (AUTO, NONE):
        raise OptionError(f"weights: {where}: expected auto, none or an array, found {quoted(weights)}: {said}")


READERS: dict[str, Callable[..., Edges]] = {
    "networkx": _of_networkx,
    "igraph": _of_igraph,
    "scipy": _of_scipy,
    "torch": _of_torch,
    "torch_geometric": _of_pyg,
    "numpy": _of_array,
    "list": _of_list,
    "tuple": _of_columns,
    "dict": _of_dict,
}
"""Readers of objects, by the library that its type is from, or by the name of a type of Python itself."""
TABLES: dict[str, Callable[..., Table]] = {"pandas": _of_pandas}
