"""The places of sampled edges in their graph: the number of each edge, counted through the rows of the store."""

import numpy as np

from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.errors import StoreError
from csaw.partition.graph.store import GraphStore


def obstacle(samples: OpenedSamples, store: GraphStore) -> str:
    """The reason why sampled edges cannot be found in ``store``; empty if they can."""
    wanted = samples.manifest.get("request", {}).get("fingerprint")
    if wanted is None:
        return f"{samples.path} does not say which fingerprint its graph has"
    if wanted != store.fingerprint:
        return f"{store.path} has the fingerprint {store.fingerprint}, and {samples.path} is of a graph with {wanted}"
    if not store.multigraph:
        return ""
    return f"{store.path} has repeated edges, and only mini-batches (--algo minibatch) say which of them they drew"


def edge_numbers(samples: OpenedSamples, store: GraphStore, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """The place of each edge, int64 [edges]; -1 for a step of a walk along no edge.

    ``src`` and ``dst`` [edges] have the ids of the samples.

    StoreError for another graph than the sampled one, for a graph with repeated edges, and for a vertex or an edge that
    the graph lacks.
    """
    if reason := obstacle(samples, store):
        raise StoreError(f"no e_id: {reason}")
    src, dst = (dense_ids(samples, store, ids) for ids in (src, dst))
    indptr, out = store.read_indptr(), np.empty(src.size, np.int64)
    order = np.argsort(src, kind="stable")
    cuts = np.searchsorted(src, [part.first_vertex for part in store.partitions] + [store.vertices], sorter=order)
    for part in store.partitions:
        some = order[cuts[part.number] : cuts[part.number + 1]]
        if some.size:
            indices = np.empty(part.edges, store.id_dtype)
            store.read_partition(part.number, indices)
            rows = indptr[src[some]] - part.first_edge, indptr[src[some] + 1] - part.first_edge
            places = _search(indices, *rows, dst[some].astype(indices.dtype))
            out[some] = np.where(places < 0, -1, part.first_edge + places)
    if not samples.has_walks and (out < 0).any():
        at = int(np.argmax(out < 0))
        ends = store.original_ids(np.array([src[at], dst[at]]))
        raise StoreError(
            f"{store.path} has no edge {ends[0]} -> {ends[1]}, which {samples.path} holds; see csaw verify"
        )
    return out


def dense_ids(samples: OpenedSamples, store: GraphStore, ids: np.ndarray) -> np.ndarray:
    """The dense ids of vertices of ``samples``, int64. StoreError, naming the first, for one that the graph lacks."""
    table = store.stored_ids()
    dense = samples.dense(ids, table if isinstance(table, np.ndarray) else None)
    strange = (dense < 0) | (dense >= store.vertices)
    if strange.any():
        raise StoreError(f"{store.path} has no vertex {ids[strange][0]}, which {samples.path} holds; see csaw verify")
    return dense


def _search(values: np.ndarray, starts: np.ndarray, stops: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each wanted value in its ascending row, values[starts[i]:stops[i]]; -1 where it is missing."""
    low, high = starts.copy(), stops.copy()
    while (unsure := np.flatnonzero(low < high)).size:
        middle = (low[unsure] + high[unsure]) // 2
        below = values[middle] < wanted[unsure]
        low[unsure[below]] = middle[below] + 1
        high[unsure[~below]] = middle[~below]
    found = low < stops
    found[found] = values[low[found]] == wanted[found]
    return np.where(found, low, -1)
