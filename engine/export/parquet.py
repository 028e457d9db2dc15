"""Parquet, a row group for every group of instances: (instance, walk) with a list column, or (instance, src, dst, depth)."""

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.check import check_names
from csaw.engine.samples.edges import iter_edges
from csaw.partition.errors import MissingDependencyError, OptionError

SUFFIXES = (".parquet",)


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'csaw[tables]'") from error
    first = {"walks": "walks", "hops": "hop_0", "subgraphs": "src"}[samples.layout]
    words = samples.words is not None
    vertex = pa.dictionary(pa.int64(), pa.string()) if words else pa.from_numpy_dtype(samples[first].dtype)
    columns: dict[str, Any] = {"src": vertex, "dst": vertex, "depth": pa.int32()}
    columns = {"walk": pa.list_(vertex)} if samples.layout == "walks" else columns
    schema = pa.schema({"instance": pa.int64(), **columns})
    # a reader finds plain strings: that they come from a dictionary, each once, is how the file is made
    with pq.ParquetWriter(file, schema, store_schema=not words) as writer:
        for done, table in _tables(samples):
            arrays = [values if isinstance(values, pa.Array) else pa.array(values, schema.field(column).type)
                      for column, values in table.items()]  # fmt: skip
            writer.write_table(pa.table(arrays, schema=schema))
            update(done)


def _tables(samples: Samples) -> Iterator[tuple[int, dict[str, Any]]]:
    """Instances done, and columns in the order of the schema."""
    if samples.layout != "walks":
        for done, edges in iter_edges(samples):
            ids = {column: _vertices(samples, edges[column]) for column in ("src", "dst")}
            yield done, {"instance": edges["instance"], **ids, "depth": edges["depth"]}
        return
    for start, arrays in samples.iter_groups():
        stop = start + len(arrays["lengths"])
        yield stop, {"instance": np.arange(start, stop), "walk": _lists(samples, arrays)}


def _lists(samples: Samples, arrays: dict[str, np.ndarray]) -> Any:
    import pyarrow as pa

    present = np.arange(arrays["walks"].shape[1]) <= arrays["lengths"][:, None]
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    kind = pa.int32() if offsets[-1] < 2**31 else pa.int64()
    lists = pa.ListArray if offsets[-1] < 2**31 else pa.LargeListArray
    return lists.from_arrays(pa.array(offsets, kind), _vertices(samples, arrays["walks"][present]))


def _vertices(samples: Samples, ids: np.ndarray) -> Any:
    """Stored ids as an Arrow array: numbers, or numbers of the strings behind them."""
    import pyarrow as pa

    if samples.words is None:
        return pa.array(ids)
    used, number = np.unique(ids, return_inverse=True)
    check_names(samples.path, used, len(samples.words))
    words = pa.array([bytes(word) for word in samples.words.encoded(used)], pa.binary())
    try:
        words = words.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise OptionError("a vertex id is not valid UTF-8, as Parquet requires; export to text instead") from error
    return pa.DictionaryArray.from_arrays(pa.array(number, pa.int64()), words)
