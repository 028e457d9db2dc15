"""Parquet files of samples and of graphs alike: vertices as Arrow arrays, and metadata of the schema and
of its fields.

The metadata of a schema say what made the rows: ``csaw_version``, ``fingerprint`` of the graph, and of samples
``algorithm``, ``parameters`` (JSON) and ``seed``. Those of a field are its ``description`` and ``units``.

Integers are packed by their differences (DELTA_BINARY_PACKED), in as many bits as these need, and not compressed
again: of ids, dictionaries and Snappy took three times as long and made files half as large again. Vertices whose ids
need many more bits than their number, as hashes do, are smaller as numbers of a dictionary.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, filterfalse, islice
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

import numpy as np

from csaw.engine.export.tables import is_utf8, refused
from csaw.engine.samples.array import check_names
from csaw.partition.arrays.words import Words
from csaw.partition.base.version import VERSION
from csaw.partition.errors import MissingDependencyError

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray, DataType, Field, Schema, Table
    from pyarrow.parquet import ParquetWriter

VERTICES = ("walk", "src", "dst", "source", "target", "u", "v", "w")  # columns of them
DICTIONARY = 1 << 17  # ids that a dictionary has room for; pyarrow writes the others plainly
SPARE, PLAIN = 4, 40  # bits that ids may need more than the number of vertices does, or in all where these are more


def pyarrow() -> ModuleType:
    """The module; MissingDependencyError where it is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("Tables of Parquet and Arrow need pyarrow: pip install pyarrow") from error
    return pyarrow


def schema_of(fields: Mapping[str, tuple["DataType", str, str]], facts: Mapping[str, object]) -> "Schema":
    """Make a schema whose ``fields`` have a type, a description and units each."""
    pa = pyarrow()
    said = {"csaw_version": VERSION, **facts}
    texts = {key: value if isinstance(value, str) else json.dumps(value, sort_keys=True) for key, value in said.items()}
    return pa.schema(
        [
            pa.field(name, kind, metadata={"description": what, "units": units})
            for name, (kind, what, units) in fields.items()
        ],
        metadata=texts,
    )


def write_tables(
    file: IO[bytes],
    schema: "Schema",
    tables: Iterable[tuple[int, "Table"]],
    vertices: int,
    update: Callable[[int], None],
) -> None:
    """Write ``tables`` of a graph of so many ``vertices``, each a row group.

    ``update`` is called with the number beside a table once that is written. How columns are packed depends on the
    first table.
    """
    rest = iter(tables)
    first = list(islice(rest, 1))
    held = [name for name in VERTICES if name in schema.names]
    sparse = [name for _, table in first for name in held if _is_sparse(table[name], vertices)]
    with _writer(file, schema, sparse) as out:
        for done, table in chain(first, rest):
            first.clear()  # its memory, too, is free once it is written
            out.write_table(table)
            update(done)


def _is_sparse(ids: "ChunkedArray", vertices: int) -> bool:
    """Whether ids, or lists of them, need many more bits than their number."""
    from pyarrow import compute, types

    ids = compute.list_flatten(ids) if types.is_nested(ids.type) else ids
    if not types.is_integer(ids.type):
        return False
    ends, most = compute.min_max(ids).as_py(), vertices.bit_length() + SPARE if vertices <= DICTIONARY else PLAIN
    return ends["min"] is not None and (ends["max"] - ends["min"]).bit_length() > most


def _writer(file: IO[bytes], schema: "Schema", sparse: list[str]) -> "ParquetWriter":
    """Open a ParquetWriter; ``sparse`` columns are not packed by their differences.

    Readers find plain strings where a field of the schema is a dictionary: that each word comes once is how the file is
    made, not what it says.
    """
    import pyarrow.parquet as pq

    pa = pyarrow()
    columns = dict(map(_column, schema))
    apart = {_column(schema.field(name))[0] for name in sparse}
    numbers = [name for name, kind in columns.items() if pa.types.is_integer(kind) and name not in apart]
    packed = {
        "use_dictionary": [name for name in columns if name not in numbers],
        "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
        "compression": dict.fromkeys(columns, "SNAPPY") | dict.fromkeys(numbers, "NONE"),
    }
    shown = plain_schema(schema)
    if shown.equals(schema):
        return pq.ParquetWriter(file, schema, **packed)
    made = pq.ParquetWriter(file, schema, store_schema=False, **packed)
    made.add_key_value_metadata({**schema.metadata, "ARROW:schema": base64.b64encode(shown.serialize().to_pybytes())})
    return made


def plain_schema(schema: "Schema") -> "Schema":
    """The schema without dictionaries."""
    return pyarrow().schema([field.with_type(_plain(field.type)) for field in schema], metadata=schema.metadata)


def _column(field: "Field") -> tuple[str, "DataType"]:
    """The path of a field's values in a file, and their type."""
    is_list = pyarrow().types.is_list(field.type)
    return (f"{field.name}.list.element", field.type.value_type) if is_list else (field.name, field.type)


def _plain(kind: "DataType") -> "DataType":
    """Return a type, or that of the elements of a list, without the dictionary."""
    pa = pyarrow()
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def vertex_type(ids: np.dtype, words: Words | None) -> "DataType":
    """The type of a column of vertices, which does not depend on how large the graph is: int64, or uint64 where ids
    are, which may be beyond int64; a dictionary of strings where they are words.
    """
    pa = pyarrow()
    if words is not None:
        return pa.dictionary(pa.int64(), pa.string())
    return pa.uint64() if ids == np.uint64 else pa.int64()


def vertices(ids: np.ndarray, words: Words | None, where: Path, nulls: np.ndarray | None = None) -> "Array":
    """Make an Arrow array of ids of ``vertex_type``: numbers, or the strings behind them; null where ``nulls`` says.

    ``where`` names the store in errors.
    """
    pa = pyarrow()
    if words is None:
        return pa.array(ids, vertex_type(ids.dtype, None), mask=nulls)
    used, number = np.unique(ids, return_inverse=True)
    check_names(where, used, len(words))
    texts = [bytes(word) for word in words.encoded(used)]
    try:
        held = pa.array(texts, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        raise refused(next(filterfalse(is_utf8, texts)), "Parquet or Arrow", "their strings are UTF-8") from None
    return pa.DictionaryArray.from_arrays(pa.array(number, pa.int64(), mask=nulls), held)
