"""Parquet, a row group for every group of instances: (instance, walk) with a list column, or (instance, src, dst, depth)."""

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from csaw.engine.export.npy import named
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import iter_edges
from csaw.partition.errors import MissingDependencyError

SUFFIXES = (".parquet",)


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'csaw[tables]'") from error
    labels = samples.labels()
    first = {"walks": "walks", "hops": "hop_0", "subgraphs": "src"}[samples.layout]
    vertex = pa.from_numpy_dtype(samples[first].dtype) if labels is None else pa.string()
    columns: dict[str, Any] = {"src": vertex, "dst": vertex, "depth": pa.int32()}
    columns = {"walk": pa.list_(vertex)} if samples.layout == "walks" else columns
    schema = pa.schema({"instance": pa.int64(), **columns})
    with pq.ParquetWriter(file, schema) as writer:
        for done, table in _tables(samples, labels):
            arrays = [values if isinstance(values, pa.Array) else pa.array(values, schema.field(column).type)
                      for column, values in table.items()]  # fmt: skip
            writer.write_table(pa.table(arrays, schema=schema))
            update(done)


def _tables(samples: Samples, labels: np.ndarray | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Instances done, and columns in the order of the schema."""
    if samples.layout != "walks":
        for done, edges in iter_edges(samples):
            ids = {column: named(samples, edges[column], labels) for column in ("src", "dst")}
            yield done, {"instance": edges["instance"], **ids, "depth": edges["depth"]}
        return
    for start, arrays in samples.iter_groups():
        stop = start + len(arrays["lengths"])
        yield stop, {"instance": np.arange(start, stop), "walk": _lists(samples, arrays, labels)}


def _lists(samples: Samples, arrays: dict[str, np.ndarray], labels: np.ndarray | None) -> Any:
    import pyarrow as pa

    present = np.arange(arrays["walks"].shape[1]) <= arrays["lengths"][:, None]
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    kind = pa.int32() if offsets[-1] < 2**31 else pa.int64()
    lists = pa.ListArray if offsets[-1] < 2**31 else pa.LargeListArray
    return lists.from_arrays(pa.array(offsets, kind), pa.array(named(samples, arrays["walks"][present], labels)))
