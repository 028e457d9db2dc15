"""Parquet, a row group for every group of instances: (instance, walk) with a list column, or (instance, src, dst, depth), of which dst and depth are null for a vertex without an edge."""

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from csaw.engine.export.arrow import pyarrow, schema_of, vertices, writer
from csaw.engine.export.samples.parquet.joined import Joined
from csaw.engine.plan.machine import available_bytes
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import group_bytes, groups, in_order
from csaw.engine.samples.edges import ALONE, FIRST, edge_arrays, numbered_edges
from csaw.partition.graph.about import COUNT, NUMBER

SUFFIXES = (".parquet",)
SAID = ("algorithm", "parameters", "seed", "fingerprint")  # of the request
WORKING = 8  # bytes that a thread takes for each byte of a group: its ids, those present, its pages and packed pages


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    pa, schema = pyarrow(), _schema(samples)

    def made(start: int, stop: int) -> Any:
        table = _columns(samples, start, stop)
        arrays = [values if isinstance(values, pa.Array) else pa.array(values, schema.field(column).type)
                  for column, values in table.items()]  # fmt: skip
        return _file(schema, pa.table(arrays, schema=schema))

    joined = Joined(file, _file(schema))
    crew = max(1, min(threads, available_bytes() // 2 // (WORKING * group_bytes(samples))))
    for done, piece in in_order(samples, edge_arrays(samples), groups(samples), made, crew):
        joined.add(piece)
        update(done)
    joined.finish()


def _schema(samples: Samples) -> Any:
    """Columns and their types, and what the samples say of themselves."""
    pa = pyarrow()
    words = samples.words is not None
    vertex = (
        pa.dictionary(pa.int64(), pa.string()) if words else pa.from_numpy_dtype(samples[FIRST[samples.layout]].dtype)
    )
    walk = {"walk": (pa.list_(vertex), "vertices of the walk, from its source on", NUMBER)}
    edge = {
        "src": (vertex, "vertex that the edge was drawn from", NUMBER),
        "dst": (vertex, "vertex that the edge leads to; null for a vertex without an edge", NUMBER),
        "depth": (pa.int32(), "depth at which the edge was drawn, from 0", COUNT),
    }
    number = {"instance": (pa.int64(), "number of the instance, from 0", NUMBER)}
    request = samples.manifest.get("request", {})
    facts = {name: request[name] for name in SAID if name in request} | {"layout": samples.layout, "ids": samples.ids}
    return schema_of(number | (walk if samples.has_walks else edge), facts)


def _file(schema: Any, *tables: Any) -> Any:
    """A whole file in memory."""
    out = pyarrow().BufferOutputStream()
    with writer(out, schema) as made:
        for table in tables:
            made.write_table(table)
    return out.getvalue()


def _columns(samples: Samples, start: int, stop: int) -> dict[str, Any]:
    """Columns in the order of the schema."""
    pa = pyarrow()
    if samples.has_walks:
        return {"instance": samples.first + np.arange(start, stop), "walk": _lists(samples, samples.group(start, stop))}
    edges = numbered_edges(samples, start, stop)
    alone = edges["depth"] == ALONE
    src, dst = _vertices(samples, edges["src"]), _vertices(samples, edges["dst"], alone)
    return {"instance": edges["instance"], "src": src, "dst": dst, "depth": pa.array(edges["depth"], mask=alone)}


def _lists(samples: Samples, arrays: dict[str, np.ndarray]) -> Any:
    pa = pyarrow()
    walks, steps = arrays["walks"], arrays["lengths"].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(steps + 1)])
    whole = walks.ndim == 1 or bool((steps == walks.shape[1] - 1).all())
    present = walks.ravel() if whole else walks[np.arange(walks.shape[1]) <= steps[:, None]]
    kind = pa.int32() if offsets[-1] < 2**31 else pa.int64()
    lists = pa.ListArray if offsets[-1] < 2**31 else pa.LargeListArray
    return lists.from_arrays(pa.array(offsets, kind), _vertices(samples, present))


def _vertices(samples: Samples, ids: np.ndarray, nulls: np.ndarray | None = None) -> Any:
    return vertices(ids, samples.words, nulls, samples.path)
