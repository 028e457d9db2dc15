"""Samples of any layout as lists of edges: instance, src, dst, depth, of samples in time their times, of layers their
weights, of disjoint mini-batches their seeds.
"""

from collections.abc import Container

import numpy as np

from csaw.engine.samples.layouts import Links
from csaw.engine.samples.layouts.hops import relation_names
from csaw.engine.samples.layouts.layout import BATCH, EDGE, EDGE_WEIGHT, OF_COPIES, SEED_TIME, TIME
from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.base.sorting import distinct
from csaw.partition.errors import RepeatedEdgesError, StoreError
from csaw.partition.graph.edge_columns import NO_TIME
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.types import RELATION

OF_STEPS = "times"  # the array of walks in time
LABEL = "label"  # the column that tells links, 1, from their negatives, 0
ALONE = -1  # the depth of a row that is no edge but a vertex without one
Edges = dict[str, np.ndarray]


def edges_between(samples: OpenedSamples, start: int, stop: int) -> Edges:
    """The edges of the instances start .. stop - 1, with the ids of the store; ``instance`` counts from 0."""
    return samples.layout.edges(samples.group(start, stop), samples.fill)


def numbered_edges(samples: OpenedSamples, start: int, stop: int) -> Edges:
    """Return the edges with the instances' own numbers.

    Subgraphs also have a row for each vertex without an edge, which is its ``src`` and ``dst``, with a depth of -1.
    Links have a row for each of their negatives, too, and a label instead of a depth.
    """
    arrays, layout = samples.group(start, stop), samples.layout
    edges = layout.pairs(arrays, samples.fill) if isinstance(layout, Links) else layout.edges(arrays, samples.fill)
    if layout.lists_lonely:
        edges = _with_lonely(edges, layout.members(arrays, samples.fill))
    edges["instance"] = samples.numbers(edges["instance"] + start)
    return edges


def are_alone(edges: Edges) -> np.ndarray:
    """Which of these rows are vertices without an edge, bool [rows]."""
    return np.asarray(edges["depth"] == ALONE) if "depth" in edges else np.zeros(edges["src"].size, bool)


def unlisted_sources(samples: OpenedSamples, start: int, stop: int) -> int:
    """The number of sources without an edge that ``numbered_edges`` leaves out.

    The trees of a disjoint mini-batch share no vertices: a seed is without an edge if its own tree has none.
    """
    arrays, layout = samples.group(start, stop), samples.layout
    met = [] if layout.lists_lonely else layout.members(arrays, samples.fill)
    if not any(instance.size for instance, _ in met):
        return 0
    edges = layout.edges(arrays, samples.fill)
    instance, _ = met[0] if BATCH in edges else _lonely(edges, met)
    return instance.size


def edge_columns(samples: OpenedSamples) -> tuple[str, ...]:
    """The columns of ``numbered_edges``: those of all samples, times in time, weights of layers, of disjoint
    mini-batches the number of the seed, and with fanouts by relation that of the relation; of links a label.
    """
    if isinstance(samples.layout, Links):
        return (*EDGE[:-1], LABEL, *time_columns(samples))
    further = (name for name in (EDGE_WEIGHT, BATCH) if name in samples)
    return (*EDGE, *time_columns(samples), *further, *((RELATION.name,) if has_relations(samples) else ()))


def has_relations(samples: OpenedSamples | Container[str]) -> bool:
    """Whether samples, or their arrays, have the relation of each edge."""
    return RELATION.name in samples or relation_names(range(2))[0] in samples


def time_columns(samples: OpenedSamples) -> tuple[str, ...]:
    """The columns of them that are times."""
    timed = any(name in samples for name in (SEED_TIME, OF_STEPS, TIME))
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
    columns[RELATION.name] = np.full(instance.size, ALONE, np.int32)
    order = np.argsort(np.concatenate([edges["instance"], instance]), kind="stable")
    return {name: np.concatenate([of_edges, columns[name]])[order] for name, of_edges in edges.items()}


def _lonely(edges: Edges, met: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the instance and the id of each vertex that is no end of an edge of its instance.

    ``met`` has the vertices, by instances and ids.
    """
    owner = np.concatenate([instance for instance, _ in met])
    ids, number = np.unique(np.concatenate([some for _, some in met]), return_inverse=True)
    keys = distinct(owner * ids.size + number)
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


# The places of sampled edges in their graph: the number of each edge, counted through the rows of the store.

TOLD = "and only mini-batches (--algo minibatch) say which of them they drew"


def obstacle(samples: OpenedSamples, store: GraphStore, *, in_time: bool = False) -> str:
    """The reason why sampled edges cannot be found in ``store``; empty if they can.

    ``in_time``: whether their times are known, which tell most repeated edges apart.
    """
    wanted = samples.manifest.get("request", {}).get("fingerprint")
    if wanted is None:
        return f"{samples.path} does not say which fingerprint its graph has"
    if wanted != store.fingerprint:
        return f"{store.path} has the fingerprint {store.fingerprint}, and {samples.path} is of a graph with {wanted}"
    if not store.multigraph or (in_time and store.time is not None):
        return ""
    return f"{store.path} has repeated edges, {TOLD}"


def edge_numbers(
    samples: OpenedSamples, store: GraphStore, src: np.ndarray, dst: np.ndarray, times: np.ndarray | None = None
) -> np.ndarray:
    """The place of each edge, int64 [edges]; -1 for a step of a walk along no edge.

    ``src`` and ``dst`` [edges] have the ids of the samples. ``times`` int64 [edges]: those of the edges, which tell
    repeated ones apart.

    StoreError for another graph than the sampled one, for edges of which the graph has several, and for a vertex or an
    edge that the graph lacks.
    """
    if reason := obstacle(samples, store, in_time=times is not None):
        raise StoreError(f"no e_id: {reason}")
    src, dst = (dense_ids(samples, store, ids) for ids in (src, dst))
    indptr, out = store.read_indptr(), np.empty(src.size, np.int64)
    order = np.argsort(src, kind="stable")
    cuts = np.searchsorted(src, [part.first_vertex for part in store.partitions] + [store.vertices], sorter=order)
    for part in store.partitions:
        some = order[cuts[part.number] : cuts[part.number + 1]]
        if some.size:
            rows = indptr[src[some]] - part.first_edge, indptr[src[some] + 1] - part.first_edge
            if times is None or not store.multigraph:
                indices = np.empty(part.edges, store.id_dtype)
                store.read_partition(part.number, indices)
                places = _search(indices, *rows, dst[some].astype(indices.dtype))
            else:
                places = _places_in_time(store, part, rows, src[some], dst[some], times[some])
            out[some] = np.where(places < 0, -1, part.first_edge + places)
    if not samples.has_walks and (out < 0).any():
        at = int(np.argmax(out < 0))
        ends = store.original_ids(np.array([src[at], dst[at]]))
        raise StoreError(
            f"{store.path} has no edge {ends[0]} -> {ends[1]}, which is in {samples.path}; run csaw verify"
        )
    return out


def _places_in_time(
    store: GraphStore,
    part: Partition,
    rows: tuple[np.ndarray, np.ndarray],
    src: np.ndarray,
    dst: np.ndarray,
    times: np.ndarray,
) -> np.ndarray:
    """The place in a partition of each edge from ``src`` to ``dst`` at its time, in ``rows``; -1 where it is missing.

    RepeatedEdgesError for the first of which there are several.
    """
    column = store.time
    assert column is not None
    indices, held = np.empty(part.edges, store.id_dtype), np.empty(part.edges, column.dtype)
    store.read_edges(part.number, {INDICES: indices, column.array: held})
    begins = np.zeros(part.edges, bool)  # of runs of one row and neighbor
    begins[1:] = indices[1:] != indices[:-1]
    offsets = store.read_offsets(part.number)
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    by_time = np.lexsort((held, np.cumsum(begins)))
    held, wanted = held[by_time], dst.astype(indices.dtype)
    first, last = _lowest(indices, *rows, wanted), _lowest(indices, *rows, wanted, above=True)
    places = _search(held, first, last, times)
    after = places + 1
    twice = (places >= 0) & (after < last)
    twice[twice] = held[after[twice]] == times[twice]
    if twice.any():
        at = int(np.argmax(twice))
        ends = store.original_ids(np.array([src[at], dst[at]]))
        raise RepeatedEdgesError(
            f"{store.path} has several edges {ends[0]} -> {ends[1]} of the time {times[at]}, {TOLD}"
        )
    return np.where(places < 0, -1, by_time[places])


def dense_ids(samples: OpenedSamples, store: GraphStore, ids: np.ndarray) -> np.ndarray:
    """The dense ids of vertices of ``samples``, int64. StoreError, naming the first, for one that the graph lacks."""
    table = store.stored_ids()
    dense = samples.dense(ids, table if isinstance(table, np.ndarray) else None)
    strange = (dense < 0) | (dense >= store.vertices)
    if strange.any():
        raise StoreError(f"{store.path} has no vertex {ids[strange][0]}, which is in {samples.path}; run csaw verify")
    return dense


def _search(values: np.ndarray, starts: np.ndarray, stops: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each wanted value in its ascending row, values[starts[i]:stops[i]]; -1 where it is missing."""
    low = _lowest(values, starts, stops, wanted)
    found = low < stops
    found[found] = values[low[found]] == wanted[found]
    return np.where(found, low, -1)


def _lowest(
    values: np.ndarray, starts: np.ndarray, stops: np.ndarray, wanted: np.ndarray, *, above: bool = False
) -> np.ndarray:
    """The first place in each ascending row of a value that is not below the wanted one, or that is ``above`` it."""
    low, high = starts.copy(), stops.copy()
    while (unsure := np.flatnonzero(low < high)).size:
        middle = (low[unsure] + high[unsure]) // 2
        held = values[middle]
        below = held <= wanted[unsure] if above else held < wanted[unsure]
        low[unsure[below]] = middle[below] + 1
        high[unsure[~below]] = middle[~below]
    return low
