"""Parquet: rows (source, target), with ``weight``, ``edge_id`` and further columns where the store
has them.

An undirected edge is one row.
"""

from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from csaw.engine.export.arrow import pyarrow, schema_of, vertex_type, vertices, write_tables
from csaw.engine.export.graph_rows import Edges, Piece
from csaw.engine.export.tables import columns_of, names_of_ends
from csaw.partition.graph.attributes import NUMBER

if TYPE_CHECKING:
    from pyarrow import Schema, Table

SUFFIXES = (".parquet",)
IS_BINARY = True
HOLDS = ("ids", "names", "edge_ids", "edge_columns")


def write(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    pa, store, words = pyarrow(), edges.store, edges.words
    schema = _schema(edges)

    def made(piece: Piece) -> "Table":
        ends = [vertices(edges.original(dense), words, store.path) for dense in (piece.src, piece.dst)]
        numbers = (one for one in (piece.weights, piece.edge_ids, *piece.further) if one is not None)
        columns = [*ends, *map(pa.array, numbers)]
        return pa.table([column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)

    write_tables(file, schema, edges.map(made, once="upper"), store.vertices, update)


def _schema(edges: Edges) -> "Schema":
    pa, store = pyarrow(), edges.store
    vertex = vertex_type(edges.id_dtype, edges.words)
    source, target = names_of_ends(None, ("source", "target"), columns_of(edges))
    fields = {
        source: (vertex, "vertex that the edge begins at", NUMBER),
        target: (vertex, "vertex that the edge leads to", NUMBER),
    }
    if store.weighted:
        fields["weight"] = (pa.float32(), "weight of the edge", NUMBER)
    if edges.has_edge_ids:
        fields["edge_id"] = (pa.int64(), "number of the edge in the input, from 0", NUMBER)
    for column in edges.further:
        said = "time of the edge" if column == store.time else "number that the edge has"
        fields[column.name] = (pa.from_numpy_dtype(column.dtype), said, column.units)
    return schema_of(fields, {"fingerprint": store.fingerprint, "directed": store.directed, "vertices": store.vertices})
