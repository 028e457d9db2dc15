"""Parquet: rows (source, target), with ``weight`` and ``edge_id`` where the store has them.

An undirected edge is one row.
"""

from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from csaw.engine.export.arrow import pyarrow, schema_of, vertex_type, vertices, write_tables
from csaw.engine.export.edges import Edges, Piece
from csaw.partition.graph.about import NUMBER

if TYPE_CHECKING:
    from pyarrow import Schema, Table

SUFFIXES = (".parquet",)
IS_BINARY = True
HOLDS = ("ids", "names", "edge_ids")


def write(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    pa, store, words = pyarrow(), edges.store, edges.words
    schema = _schema(edges)

    def made(piece: Piece) -> "Table":
        ends = [vertices(edges.original(dense), words, store.path) for dense in (piece.src, piece.dst)]
        columns = [*ends, *(pa.array(one) for one in (piece.weights, piece.edge_ids) if one is not None)]
        return pa.table([column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)

    write_tables(file, schema, edges.map(made, once="upper"), store.vertices, update)


def _schema(edges: Edges) -> "Schema":
    pa, store = pyarrow(), edges.store
    vertex = vertex_type(edges.id_dtype, edges.words)
    fields = {
        "source": (vertex, "vertex that the edge begins at", NUMBER),
        "target": (vertex, "vertex that the edge leads to", NUMBER),
    }
    if store.weighted:
        fields["weight"] = (pa.float32(), "weight of the edge", NUMBER)
    if edges.has_edge_ids:
        fields["edge_id"] = (pa.int64(), "number of the edge in the input, from 0", NUMBER)
    return schema_of(fields, {"fingerprint": store.fingerprint, "directed": store.directed, "vertices": store.vertices})
