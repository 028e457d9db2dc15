"""Parquet: a row group for each piece of the list, in order."""

from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from csaw.engine.export.arrow import pyarrow, schema_of, vertex_type, vertices, write_tables
from csaw.engine.export.graph_rows import Listed
from csaw.partition.graph.attributes import COUNT, NUMBER

if TYPE_CHECKING:
    import numpy as np
    from pyarrow import Schema, Table

SUFFIXES = (".parquet",)
IS_BINARY = True


def write(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    pa, schema, words = pyarrow(), _schema(listed), listed.words

    def made(arrays: "list[np.ndarray]") -> "Table":
        columns = [
            vertices(values, words, listed.store.path) if column.is_vertex else pa.array(values)
            for column, values in zip(listed.columns, listed.originals(arrays), strict=True)
        ]
        return pa.table([one.cast(field.type) for one, field in zip(columns, schema, strict=True)], schema=schema)

    write_tables(file, schema, listed.map(made), listed.store.vertices, update)


def _schema(listed: Listed) -> "Schema":
    vertex = vertex_type(listed.id_dtype, listed.words)
    fields = {
        column.name: (vertex, column.what, NUMBER) if column.is_vertex else (pyarrow().int64(), column.what, COUNT)
        for column in listed.columns
    }
    return schema_of(fields, {"fingerprint": listed.store.fingerprint, "vertices": listed.store.vertices})
