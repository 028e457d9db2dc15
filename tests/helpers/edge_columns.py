"""Graphs whose edges have columns of every type, and what reads them."""

import numpy as np

from csaw.partition import write_graph
from csaw.partition.graph.edge_columns import DTYPES
from csaw.partition.graph.in_memory import InMemory
from helpers.graphs import random_store

READERS = [
    ("deepwalk", {"edge_bias": "e.weight * math.exp(e.of_float32)"}),
    ("deepwalk", {"edge_bias": "e.weight + e.of_uint8", "select": "its"}),
    ("deepwalk", {"edge_bias": "1.0 + (e.of_int64 > 2**40) + (e.of_uint64 > 2**62)", "weighted": False}),
    ("biased", {"edge_bias": "(1.0 if e.prev < 0 else 0.5) * abs(e.of_int16) + e.of_float64"}),
    ("ppr", {"edge_bias": "e.of_uint16", "walk_length": 9}),
    ("neighbor", {"edge_bias": "e.of_uint8 * e.dst_degree", "fanout": (4, 3)}),
    ("neighbor", {"edge_bias": "abs(e.of_int8)", "fanout": (4, 3), "replace": True}),
    ("neighbor", {"edge_bias": "abs(e.of_int8)", "fanout": (40, 3), "select": "keys"}),
    ("layer", {"edge_bias": "abs(e.of_int32)", "depth": 2, "neighbor_size": 4}),
    ("snowball", {"edge_bias": "1.0 + e.of_uint32", "neighbor_size": 3}),
    ("minibatch", {"edge_bias": "e.of_uint16 + e.weight", "fanout": (4, 3), "seeds_per_batch": 16}),
    ("multidimensional", {"edge_bias": "e.of_float64", "frontier_size": 3, "instances": 20, "walk_length": 40}),
    ("fastgcn", {"edge_bias": "e.of_uint8", "frontier_size": 4, "layer_sizes": (6, 5)}),
]
"""Runs that read edge columns, as algorithm and options: every kind of batch and method that can."""
LATER = """
from csaw.engine.algorithm import Walk

class Later(Walk):
    def edge_bias(self, e):
        return e.of_uint8 + (e.of_int16 > 0)

    def update(self, e):
        return e.dst if e.of_int8 > -100 and e.of_float32 >= 0 else e.src
"""
"""A walk whose update reads columns that its bias does not."""


def values_of(dtype, edges, rng):
    """Numbers of a type, its ends among them; of floats from 0 to 1."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.random(edges).astype(dtype)
    low, high = np.iinfo(dtype).min, min(int(np.iinfo(dtype).max), 2**63 - 1)
    found = rng.integers(low, high, edges, dtype, endpoint=True)
    found[:2] = low, high
    return found


def columns_of(edges, seed=3):
    rng = np.random.default_rng(seed)
    return {f"of_{dtype}": values_of(dtype, edges, rng) for dtype in DTYPES}


def with_columns(path, *, partitions=1, columns=None, compression=None, **how):
    """A random graph with a column of every type, or with these."""
    how = {"directed": True, **how}
    graph = random_store(path.with_name("plain.zarr"), **how).load()
    columns = columns_of(graph.indices.size) if columns is None else columns
    return write_graph(
        path,
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=how["directed"],
        partitions=partitions,
        compression=compression,
        clusters=np.arange(graph.indptr.size - 1) % 20,
        edge_columns=columns,
    )


def in_memory(store):
    """The same graph, in memory."""
    graph = store.load(store.further_columns)
    columns = {column.text: graph.columns[column.name] for column in store.further_columns}
    return InMemory("g", graph.indptr, graph.indices, graph.weights, directed=store.directed, edge_columns=columns)
