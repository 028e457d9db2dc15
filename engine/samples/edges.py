"""Samples of any layout as lists of edges: instance, src, dst, depth."""

from itertools import pairwise

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.layout import RAGGED_WALKS, bits
from csaw.engine.samples.sizes import edges_of

FIRST = {
    "walks": "walks",
    RAGGED_WALKS: "walks",
    "hops": "hop_0",
    "subgraphs": "src",
    "batches": "n_id",
}  # an array of ids, of each layout
EDGE = ("instance", "src", "dst", "depth")
ALONE = -1  # the depth of a row that is no edge but a vertex without one
Edges = dict[str, np.ndarray]


def edges_between(samples: Samples, start: int, stop: int) -> Edges:
    """The edges of the instances start .. stop - 1, with the ids of the store; ``instance`` counts from 0."""
    return edges_in(samples.layout, samples.group(start, stop), samples.fill)


def edges_in(layout: str, arrays: dict[str, np.ndarray], fill: int) -> Edges:
    """The edges in arrays of a layout, by instance, which counts from 0. ``fill``: the id of an entry without a vertex."""
    if layout == "hops":
        return _of_hops(arrays, fill)
    by_layout = {"walks": _of_walks, RAGGED_WALKS: _of_ragged_walks, "subgraphs": _of_subgraphs, "batches": _of_batches}
    return by_layout[layout](arrays)


def numbered_edges(samples: Samples, start: int, stop: int) -> Edges:
    """The same with the instances' own numbers; of subgraphs also a row for each vertex without an edge, which is its ``src`` and ``dst``, with a depth of -1."""
    arrays = samples.group(start, stop)
    edges = edges_in(samples.layout, arrays, samples.fill)
    if samples.layout == "subgraphs":
        edges = _with_lonely(edges, arrays)
    edges["instance"] += samples.first + start
    return edges


def edge_arrays(samples: Samples) -> list[str]:
    """The arrays that edges are read from."""
    named = {
        "walks": ["walks", "lengths"],
        RAGGED_WALKS: ["walk_ptr", "walks"],
        "subgraphs": ["src", "dst", "depth", "sources", *(["vertices"] if "vertices" in samples else [])],
        "batches": ["n_id", "row", "col"],
    }
    return samples.hop_names() if samples.layout == "hops" else named[samples.layout]


def _of_walks(arrays: dict[str, np.ndarray]) -> Edges:
    walks = arrays["walks"]
    row, step = np.nonzero(np.arange(walks.shape[1] - 1) < arrays["lengths"][:, None])
    return {"instance": row, "src": walks[row, step], "dst": walks[row, step + 1], "depth": step.astype(np.int32)}


def _of_ragged_walks(arrays: dict[str, np.ndarray]) -> Edges:
    lengths, walks = arrays["lengths"].astype(np.int64), arrays["walks"]
    begins = np.cumsum(lengths + 1) - lengths - 1
    instance = np.repeat(np.arange(lengths.size), lengths)
    step = np.arange(instance.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = begins[instance] + step
    return {"instance": instance, "src": walks[at], "dst": walks[at + 1], "depth": step.astype(np.int32)}


def _of_hops(arrays: dict[str, np.ndarray], fill: int) -> Edges:
    """The edges of neighbor samples, breadth first within each instance."""
    from csaw.engine.samples.kernels import edges_of_hop

    counts, kind = edges_of(arrays, fill), arrays["hop_0"].dtype
    places, total = np.cumsum(counts) - counts, int(counts.sum())
    edges = {name: np.empty(total, held) for name, held in zip(EDGE, (np.int64, kind, kind, np.int32), strict=True)}
    for depth, (src, dst) in enumerate(pairwise(arrays.values())):
        edges_of_hop(bits(src), bits(dst), bits(fill, kind), depth, places, *map(bits, edges.values()))
    return edges


def _of_subgraphs(arrays: dict[str, np.ndarray]) -> Edges:
    instance = np.repeat(np.arange(len(arrays["counts"])), arrays["counts"])
    return {"instance": instance, "src": arrays["src"], "dst": arrays["dst"], "depth": arrays["depth"]}


def _with_lonely(edges: Edges, arrays: dict[str, np.ndarray]) -> Edges:
    """The edges, and after those of each instance the vertices that it has met and that have none."""
    instance, vertex = _lonely(edges, arrays)
    if not instance.size:
        return edges
    columns = (instance, vertex, vertex, np.full(instance.size, ALONE, np.int32))
    order = np.argsort(np.concatenate([edges["instance"], instance]), kind="stable")
    return {name: np.concatenate([edges[name], more])[order] for name, more in zip(EDGE, columns, strict=True)}


def _lonely(edges: Edges, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The instance and the id of each vertex that is a source or one of the ``vertices``, and no end of an edge of its instance."""
    met = [
        (arrays[n], arrays[c]) for n, c in (("sources", "source_counts"), ("vertices", "vertex_counts")) if n in arrays
    ]
    owner = np.concatenate([np.repeat(np.arange(counts.size), counts) for _, counts in met])
    ids, number = np.unique(np.concatenate([some for some, _ in met]), return_inverse=True)
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


def _of_batches(arrays: dict[str, np.ndarray]) -> Edges:
    """The edges of mini-batches, from the vertex that selected to the one that was selected, as in other samples."""
    counts, hop_edges = arrays["edge_counts"], arrays["hop_edges"]
    instance = np.repeat(np.arange(len(counts)), counts)
    first = (np.cumsum(arrays["node_counts"]) - arrays["node_counts"])[instance]
    depth = np.tile(np.arange(hop_edges.shape[1], dtype=np.int32), len(counts))
    return {
        "instance": instance,
        "src": arrays["n_id"][first + arrays["col"]],
        "dst": arrays["n_id"][first + arrays["row"]],
        "depth": np.repeat(depth, hop_edges.ravel()),
    }
