"""Edge columns of the graphs that other libraries hold in memory, by their names there."""

from collections.abc import Callable, Mapping, Sequence

from numpy.typing import ArrayLike

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.given_arrays import foreign
from csaw.partition.ingestion.columns import EDGE_COLUMN, place_of
from csaw.partition.ingestion.ingest_options import texts
from csaw.partition.ingestion.objects import TABLES, Edges, Foreign, library_of


def edge_columns_of(
    data: Foreign, wanted: Mapping[str, ArrayLike] | Sequence[str], argument: str = "edge_columns"
) -> Mapping[str, ArrayLike]:
    """Find the edge columns of an object.

    Args:
        data: the object.
        wanted: ``NAME``, ``NAME:DTYPE`` or ``NAME:DTYPE:UNITS``, each with ``=COLUMN`` behind it or without: the name
            of a table's column, or of an attribute of the edges (default: NAME). Arrays by name are returned as they
            are.
        argument: what errors name.

    Returns:
        Values by texts without ``=COLUMN``, in the order of the object's edges.

    Raises:
        OptionError: the object has no such column, or none with names.
    """
    if isinstance(wanted, Mapping):
        return wanted
    library = library_of(type(data)) or ""
    with foreign(f"graph: {type(data).__name__}"):
        return {name: _values(data, library, column, argument) for name, column in map(_named, texts(wanted))}


def _named(text: str) -> tuple[str, str]:
    """The column as the graph has it, and its name in the object."""
    name, is_said, column = text.partition("=")
    return name, column if is_said else name.partition(":")[0]


def _values(data: Foreign, library: str, name: str, argument: str) -> ArrayLike:
    if library in TABLES:
        where, names, column = TABLES[library](data)
        return column(place_of(where, names, len(names), name, EDGE_COLUMN))
    if library not in ATTRIBUTES:
        what = data.name if isinstance(data, Edges) else type(data).__name__
        way = "the array itself" if argument == "time" else f"arrays by name, as {argument}={{{quoted(name)}: ...}}"
        raise OptionError(f"{argument}: {what}: its columns have no names; give {way}")
    found = ATTRIBUTES[library](data, name)
    if found is None or (isinstance(found, list) and any(value is None for value in found)):
        raise OptionError(
            f"{library}: expected an attribute {quoted(name)} of every edge, found edges without; give it to all, or "
            "leave them out"
        )
    return found


def _of_networkx(graph: Foreign, name: str) -> ArrayLike:
    return [row[2] for row in graph.edges(data=name)]


def _of_igraph(graph: Foreign, name: str) -> ArrayLike | None:
    return list(graph.es[name]) if name in graph.es.attributes() else None


def _of_pyg(data: Foreign, name: str) -> ArrayLike | None:
    return getattr(data, name, None)


ATTRIBUTES: dict[str, Callable[[Foreign, str], ArrayLike | None]] = {
    "networkx": _of_networkx,
    "igraph": _of_igraph,
    "torch_geometric": _of_pyg,
}
"""Readers of an attribute of the edges, by the library of the object; None, or a None among the values, where an edge
lacks it.
"""
