"""Samples of any layout as lists of edges: instance, src, dst, depth, of samples in time their times, of layers their
weights, of disjoint mini-batches their seeds.
"""

import numpy as np

from csaw.engine.samples.layouts.declared import BATCH, EDGE_WEIGHT, OF_COPIES, SEED_TIME, TIME
from csaw.engine.samples.layouts.layout import EDGE
from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.graph.edge_columns import NO_TIME

OF_STEPS = "times"  # the array of walks in time
ALONE = -1  # the depth of a row that is no edge but a vertex without one
Edges = dict[str, np.ndarray]


def edges_between(samples: OpenedSamples, start: int, stop: int) -> Edges:
    """The edges of the instances start .. stop - 1, with the ids of the store; ``instance`` counts from 0."""
    return samples.layout.edges(samples.group(start, stop), samples.fill)


def numbered_edges(samples: OpenedSamples, start: int, stop: int) -> Edges:
    """Return the edges with the instances' own numbers.

    Subgraphs also have a row for each vertex without an edge, which is its ``src`` and ``dst``, with a depth of -1.
    """
    arrays, layout = samples.group(start, stop), samples.layout
    edges = layout.edges(arrays, samples.fill)
    if layout.lists_lonely:
        edges = _with_lonely(edges, layout.members(arrays, samples.fill))
    edges["instance"] += samples.first + start
    return edges


def edge_columns(samples: OpenedSamples) -> tuple[str, ...]:
    """The columns of ``numbered_edges``: those of all samples, times in time, weights of layers, and of disjoint
    mini-batches the number of the seed.
    """
    return (*EDGE, *time_columns(samples), *(name for name in (EDGE_WEIGHT, BATCH) if name in samples))


def time_columns(samples: OpenedSamples) -> tuple[str, ...]:
    """The columns of them that are times."""
    timed = SEED_TIME in samples or OF_STEPS in samples
    return (*((TIME,) if timed else ()), *(name for name in OF_COPIES if name in samples))


def edge_arrays(samples: OpenedSamples) -> list[str]:
    """The arrays that edges are read from."""
    return samples.layout.edge_arrays(samples.arrays)


def _with_lonely(edges: Edges, met: list[tuple[np.ndarray, np.ndarray]]) -> Edges:
    """The edges, and after those of each instance the vertices that it has ``met`` and that have none."""
    instance, vertex = _lonely(edges, met)
    if not instance.size:
        return edges
    columns = dict(zip(EDGE, (instance, vertex, vertex, np.full(instance.size, ALONE, np.int32)), strict=True))
    columns |= dict.fromkeys((TIME, *OF_COPIES), np.full(instance.size, NO_TIME))
    columns[EDGE_WEIGHT] = np.full(instance.size, np.nan, np.float32)
    order = np.argsort(np.concatenate([edges["instance"], instance]), kind="stable")
    return {name: np.concatenate([of_edges, columns[name]])[order] for name, of_edges in edges.items()}


def _lonely(edges: Edges, met: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the instance and the id of each vertex that is no end of an edge of its instance.

    ``met`` has the vertices, by instances and ids.
    """
    owner = np.concatenate([instance for instance, _ in met])
    ids, number = np.unique(np.concatenate([some for _, some in met]), return_inverse=True)
    keys = np.unique(owner * ids.size + number)
    for name in ("src", "dst"):
        number, known = _places(ids, edges[name])
        place, known_key = _places(keys, edges["instance"][known] * ids.size + number[known])
        keys = np.delete(keys, place[known_key])
    return keys // max(ids.size, 1), ids[keys % max(ids.size, 1)]


def _places(ascending: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The place of each value among ascending ones, and whether it is one of them."""
    if not ascending.size:
        return np.zeros(values.size, np.int64), np.zeros(values.size, bool)
    place = np.minimum(np.searchsorted(ascending, values), ascending.size - 1)
    return place, ascending[place] == values
