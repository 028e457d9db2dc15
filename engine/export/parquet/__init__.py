"""Parquet, a row group for every group of instances: (instance, walk) with a list column, or (instance, src, dst, depth), of which dst and depth are null for a vertex without an edge."""

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from csaw.engine.export.parquet.joined import Joined
from csaw.engine.plan.machine import available_bytes
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import group_bytes, groups, in_order
from csaw.engine.samples.check import check_names
from csaw.engine.samples.edges import ALONE, FIRST, edge_arrays, numbered_edges
from csaw.partition.errors import MissingDependencyError, OptionError

SUFFIXES = (".parquet",)
WORKING = 8  # bytes that a thread takes for each byte of a group: its ids, those present, its pages and packed pages


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'csaw[tables]'") from error
    words = samples.words is not None
    vertex = (
        pa.dictionary(pa.int64(), pa.string()) if words else pa.from_numpy_dtype(samples[FIRST[samples.layout]].dtype)
    )
    columns: dict[str, Any] = {"src": vertex, "dst": vertex, "depth": pa.int32()}
    columns = {"walk": pa.list_(vertex)} if samples.has_walks else columns
    schema = pa.schema({"instance": pa.int64(), **columns})

    def made(start: int, stop: int) -> Any:
        table = _columns(samples, start, stop)
        arrays = [values if isinstance(values, pa.Array) else pa.array(values, schema.field(column).type)
                  for column, values in table.items()]  # fmt: skip
        return _file(schema, words, pa.table(arrays, schema=schema))

    joined = Joined(file, _file(schema, words))
    crew = max(1, min(threads, available_bytes() // 2 // (WORKING * group_bytes(samples))))
    for done, piece in in_order(samples, edge_arrays(samples), groups(samples), made, crew):
        joined.add(piece)
        update(done)
    joined.finish()


def _file(schema: Any, words: bool, *tables: Any) -> Any:
    """A whole file in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    # a reader finds plain strings: that they come from a dictionary, each once, is how the file is made
    with pq.ParquetWriter(out, schema, store_schema=not words) as writer:
        for table in tables:
            writer.write_table(table)
    return out.getvalue()


def _columns(samples: Samples, start: int, stop: int) -> dict[str, Any]:
    """Columns in the order of the schema."""
    import pyarrow as pa

    if samples.has_walks:
        return {"instance": samples.first + np.arange(start, stop), "walk": _lists(samples, samples.group(start, stop))}
    edges = numbered_edges(samples, start, stop)
    alone = edges["depth"] == ALONE
    src, dst = _vertices(samples, edges["src"]), _vertices(samples, edges["dst"], alone)
    return {"instance": edges["instance"], "src": src, "dst": dst, "depth": pa.array(edges["depth"], mask=alone)}


def _lists(samples: Samples, arrays: dict[str, np.ndarray]) -> Any:
    import pyarrow as pa

    walks, steps = arrays["walks"], arrays["lengths"].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(steps + 1)])
    whole = walks.ndim == 1 or bool((steps == walks.shape[1] - 1).all())
    present = walks.ravel() if whole else walks[np.arange(walks.shape[1]) <= steps[:, None]]
    kind = pa.int32() if offsets[-1] < 2**31 else pa.int64()
    lists = pa.ListArray if offsets[-1] < 2**31 else pa.LargeListArray
    return lists.from_arrays(pa.array(offsets, kind), _vertices(samples, present))


def _vertices(samples: Samples, ids: np.ndarray, nulls: np.ndarray | None = None) -> Any:
    """Stored ids as an Arrow array: numbers, or numbers of the strings behind them; null where ``nulls`` says."""
    import pyarrow as pa

    if samples.words is None:
        return pa.array(ids, mask=nulls)
    used, number = np.unique(ids, return_inverse=True)
    check_names(samples.path, used, len(samples.words))
    words = pa.array([bytes(word) for word in samples.words.encoded(used)], pa.binary())
    try:
        words = words.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise OptionError(
            "a vertex id is not valid UTF-8, and Parquet's strings must be; export to text instead"
        ) from error
    return pa.DictionaryArray.from_arrays(pa.array(number, pa.int64(), mask=nulls), words)
