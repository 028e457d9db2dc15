"""Samples, graphs and lists as tables of Arrow, in pieces: what files of Parquet and of Arrow have, and what other
libraries read from an open sample or graph.

Of samples a table for every group of instances: (instance, walk) with a list column, of walks in time another one,
times; or (instance, src, dst, depth), in time also time, of layers also weight, of disjoint mini-batches also batch, of
which all but the first two are null for a vertex without an edge. Vertices are int64, however many there are.

Of graphs rows (source, target), with ``weight``, ``edge_id`` and further columns where the store has them; an
undirected edge is one row. Of lists a table for each piece, in order.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.export.arrow import plain_schema, pyarrow, schema_of, vertex_type, vertices
from csaw.engine.export.graph_rows import Edges, Listed, Piece
from csaw.engine.export.tables import columns_of, names_of_ends
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import LABEL, are_alone, edge_columns, has_relations, numbered_edges
from csaw.engine.samples.layouts.layout import BATCH, EDGE_WEIGHT, OF_COPIES, TIME
from csaw.partition import GraphStore
from csaw.partition.base.parallel import processors
from csaw.partition.graph.attributes import COUNT, NUMBER
from csaw.partition.graph.types import RELATION

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatchReader, Schema, Table

    Tables = tuple[Schema, Iterator[tuple[int, Table]]]

HOLDS = ("ids", "names", "edge_ids", "edge_columns")
"""The facts about a graph that a table has, as formats of exports have them."""
SAID = ("algorithm", "parameters", "seed", "fingerprint")  # of the request


def stream_of(data: Samples | GraphStore) -> "RecordBatchReader":
    """Return a reader of the rows of samples or of a graph in batches, which are made while they are read; ids are
    strings where they are words.
    """
    if isinstance(data, Samples):
        schema, tables = of_samples(data, 0, data.instances)
    else:
        schema, tables = of_graph(Edges(data, processors(), HOLDS))
    shown = plain_schema(schema)
    batches = (batch for _, table in tables for batch in table.cast(shown).to_batches())
    return pyarrow().RecordBatchReader.from_batches(shown, batches)


def of_samples(samples: Samples, start: int, stop: int) -> "Tables":
    """The schema, and tables of the instances ``start`` to before ``stop``, each behind the number after its last."""
    pa, schema = pyarrow(), _schema(samples)

    def tables() -> "Iterator[tuple[int, Table]]":
        for first in range(start, stop, samples.group_size):
            last = min(first + samples.group_size, stop)
            arrays = [
                values if isinstance(values, pa.Array) else pa.array(values, schema.field(column).type)
                for column, values in _columns(samples, first, last).items()
            ]
            yield last, pa.table(arrays, schema=schema)

    return schema, tables()


def _schema(samples: Samples) -> "Schema":
    """Make the schema: columns and their types, and what the samples say of themselves."""
    pa = pyarrow()
    vertex = vertex_type(samples.vertex_dtype, samples.words)
    walk = {"walk": (pa.list_(vertex), "vertices of the walk, from its source on", NUMBER)}
    if "times" in samples:
        walk["times"] = (pa.list_(pa.int64()), "time of the edge of each step", samples.time_units)
    edge = {
        "src": (vertex, "vertex that the edge was drawn from", NUMBER),
        "dst": (vertex, "vertex that the edge leads to; null for a vertex without an edge", NUMBER),
        "depth": (pa.int32(), "depth at which the edge was drawn, from 0", COUNT),
    }
    if LABEL in edge_columns(samples):
        edge = {
            "src": (vertex, "source of the link", NUMBER),
            "dst": (vertex, "its destination, or a negative", NUMBER),
            LABEL: (pa.int32(), "1 for the link, 0 for a pair with a negative", NUMBER),
        }
    if TIME in edge_columns(samples):
        edge[TIME] = (pa.int64(), "time of the edge", samples.time_units)
    for name in (name for name in OF_COPIES if name in samples):
        said = f"time that {name[:3]} knows, with which those of its edges are compared"
        edge[name] = (pa.int64(), said, samples.time_units)
    if EDGE_WEIGHT in samples:
        edge[EDGE_WEIGHT] = (pa.float32(), samples.layout.declared(EDGE_WEIGHT).said, NUMBER)
    if BATCH in samples:
        edge[BATCH] = (pa.int32(), "number of the seed in its mini-batch, for which the edge was drawn", COUNT)
    if has_relations(samples):
        edge[RELATION.name] = (pa.int32(), "number of the edge's relation", NUMBER)
    number = {"instance": (pa.int64(), "number of the instance, from 0", NUMBER)}
    request = samples.manifest.get("request", {})
    facts = {name: request.get(name) for name in SAID if name in request}
    facts |= {"layout": samples.layout, "ids": samples.ids}
    return schema_of(number | (walk if samples.has_walks else edge), facts)


def _columns(samples: Samples, start: int, stop: int) -> "dict[str, np.ndarray | Array]":
    """Return columns in the order of the schema."""
    pa = pyarrow()
    if samples.has_walks:
        arrays = samples.group(start, stop)
        times = {"times": _times(arrays)} if "times" in arrays else {}
        return {"instance": samples.numbers(np.arange(start, stop)), "walk": _lists(samples, arrays)} | times
    edges = numbered_edges(samples, start, stop)
    alone = are_alone(edges)
    src, dst = _vertices(samples, edges["src"]), _vertices(samples, edges["dst"], alone)
    ends = {"instance": edges["instance"], "src": src, "dst": dst}
    return ends | {name: pa.array(edges[name], mask=alone) for name in edge_columns(samples)[len(ends) :]}


def _lists(samples: Samples, arrays: dict[str, np.ndarray]) -> "Array":
    pa = pyarrow()
    walks, steps = arrays["walks"], arrays["lengths"].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(steps + 1)])
    whole = walks.ndim == 1 or bool((steps == walks.shape[1] - 1).all())
    present = walks.ravel() if whole else walks[np.arange(walks.shape[1]) <= steps[:, None]]
    kind = pa.int32() if offsets[-1] < 2**31 else pa.int64()
    lists = pa.ListArray if offsets[-1] < 2**31 else pa.LargeListArray
    return lists.from_arrays(pa.array(offsets, kind), _vertices(samples, present))


def _times(arrays: dict[str, np.ndarray]) -> "Array":
    """The times of the steps of each walk, as lists."""
    pa = pyarrow()
    times, steps = arrays["times"], arrays["lengths"].astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(steps)])
    lists, kind = (pa.ListArray, pa.int32()) if ends[-1] < 2**31 else (pa.LargeListArray, pa.int64())
    return lists.from_arrays(pa.array(ends, kind), pa.array(times[np.arange(times.shape[1]) < steps[:, None]]))


def _vertices(samples: Samples, ids: np.ndarray, nulls: np.ndarray | None = None) -> "Array":
    return vertices(ids, samples.words, samples.path, nulls)


def of_graph(edges: Edges) -> "Tables":
    """The schema, and tables of the edges of a graph, each behind the number of edges up to its last."""
    pa, store, words = pyarrow(), edges.store, edges.words
    schema = _schema_of_graph(edges)

    def made(piece: Piece) -> "Table":
        ends = [vertices(edges.original(dense), words, store.path) for dense in (piece.src, piece.dst)]
        numbers = (one for one in (piece.weights, piece.edge_ids, *piece.further) if one is not None)
        columns = [*ends, *map(pa.array, numbers)]
        return pa.table([column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)

    return schema, edges.map(made, once="upper")


def _schema_of_graph(edges: Edges) -> "Schema":
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


def of_list(listed: Listed) -> "Tables":
    """The schema, and tables of a list."""
    pa, schema, words = pyarrow(), _schema_of_list(listed), listed.words

    def made(arrays: "list[np.ndarray]") -> "Table":
        columns = [
            vertices(values, words, listed.store.path) if column.is_vertex else pa.array(values)
            for column, values in zip(listed.columns, listed.originals(arrays), strict=True)
        ]
        return pa.table([one.cast(field.type) for one, field in zip(columns, schema, strict=True)], schema=schema)

    return schema, listed.map(made)


def _schema_of_list(listed: Listed) -> "Schema":
    vertex = vertex_type(listed.id_dtype, listed.words)
    fields = {
        column.name: (vertex, column.what, NUMBER) if column.is_vertex else (pyarrow().int64(), column.what, COUNT)
        for column in listed.columns
    }
    return schema_of(fields, {"fingerprint": listed.store.fingerprint, "vertices": listed.store.vertices})
