"""A sample as one batch of PyTorch Geometric, in its names and its direction, as ``NeighborLoader(disjoint=True)`` gives it; no torch needed.

edge_index          int64 [2, edges]: a message goes from ``[0]``, the neighbor that was drawn, to ``[1]``, the vertex it was drawn for
n_id                int64 [nodes]: the vertex of the node, as the sample store has it: the id of the input, or the dense id where ids are strings
original_id         :class:`Words`, only where ids are strings: all strings of the graph; ``original_id[n_id]`` are those of the nodes
batch               int64 [nodes]: the node's instance, counted from the first one asked for; of disjoint mini-batches its seed, counted through all of them
batch_size          number of seeds; they are the first nodes, so ``model(x, edge_index)[:batch_size]`` are their answers
input_id            int64 [batch_size]: which of the sample's sources each seed is, counted through all its instances; of mini-batches its position in the list of sources
y                   float64 [batch_size], only of mini-batches whose seeds have labels: the label of each seed
seed                int64 [sources]: the node of each source
num_sampled_nodes   int64 [hops + 1] and num_sampled_edges, int64 [hops]: of each hop; nodes and edges are in the order of hops
num_nodes           number of nodes
edge_weight         float32 [edges], only of samples that have weights of edges: those of layers
walk                int64 [instances, walk_length + 1], or [instances, longest walk + 1] without a limit, walks only: the nodes of each walk, -1 after its end
e_id                int64 [edges], only with the graph, and always of mini-batches: the number of the edge, counted through the rows of the store (its weight is
                    ``store.load().weights[e_id]``); -1 for a step of a walk that is no edge, a jump

Instances share no node. A walk or a tree of hops has a node for each of its places, because each place has drawn its own neighbors. A
model with as many layers as hops therefore gives each seed the same result as on the seed's own tree. A subgraph has a node for each vertex,
at the hop at which it is first met; of random edges, to which no source leads, one end is at hop 0. Mini-batches keep the nodes that they have.
Vertices without edges are nodes too, where the sample has its vertices: of induced subgraphs, and of layers, where the hop is the layer.

Messages go against the direction in which edges were followed: in a directed graph, a vertex gets messages from the vertices to which its edges point.
"""

from functools import partial

import numpy as np

from csaw.engine.samples import NOTHING, Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.check_numbers import check_names
from csaw.engine.samples.edges import edge_arrays, edges_between
from csaw.engine.samples.layout import RAGGED_WALKS, padded
from csaw.engine.samples.numbers import edge_numbers
from csaw.engine.samples.pyg_parts import CLASSES, Batch, joined
from csaw.partition.errors import OptionError
from csaw.partition.graph.store import GraphStore

MET = (0, 1, 2, 3)  # at a hop: sources first, then ends of edges, then starts, then what has no edge
MOST = 2**63 - 1  # what int64 holds


def batch_of(
    samples: Samples, start: int, stop: int | None, graph: GraphStore | None = None, threads: int = 1
) -> Batch:
    """The batch of the instances start .. stop - 1, by the names above; with ``graph``, the store that was sampled, it has ``e_id`` too. ``threads`` share the work where all instances are asked for.

    ``start`` and ``stop`` work as in a slice. OptionError for ids beyond int64, StoreError for another graph or one that lacks an edge.
    """
    start, stop, _ = slice(start, stop).indices(samples.instances)
    stop = max(start, stop)
    made = _made(samples, start, stop, threads)
    ids = made["n_id"]
    made["n_id"] = _signed(samples, ids)
    made["num_nodes"] = ids.size
    if samples.words is not None:
        check_names(samples.path, ids, len(samples.words))
        made["original_id"] = samples.words
    if graph is not None and "e_id" not in made:
        made["e_id"] = edge_numbers(samples, graph, *ids[made["edge_index"][::-1]])
    return made


def _made(samples: Samples, start: int, stop: int, threads: int) -> Batch:
    """What the arrays of the sample give, but for names."""
    if samples.layout == "batches":
        return _of_batches(samples, start, stop)
    of = partial(_of_vertices if samples.layout == "subgraphs" else _of_places, samples)
    spans = list(pieces(samples)) if threads > 1 and (start, stop) == (0, samples.instances) else []
    if len(spans) > 1:
        parts = [part for _, part in in_order(samples, edge_arrays(samples), spans, of, threads)]
        return joined(parts, [first for first, _ in spans], threads)
    made = of(start, stop)
    del made[CLASSES]
    return made


def _signed(samples: Samples, ids: np.ndarray) -> np.ndarray:
    largest = int(ids.max(initial=0))
    if largest > MOST:
        raise OptionError(
            f"{samples.path}: vertex {largest} does not fit n_id, whose int64 ends at {MOST}; sample with --ids dense, or export to .parquet"
        )
    return ids.astype(np.int64)


def _of_places(samples: Samples, start: int, stop: int) -> Batch:
    """The batch of walks or trees: a node for each place that has a vertex, hop by hop."""
    hops = _hops(samples, start, stop)
    nodes: list[np.ndarray] = []  # of each hop, [instances, places]: numbers of the nodes, -1 where there is none
    ids, rows, edges, total = [], [], [], 0
    for depth, held in enumerate(hops):
        row, column = np.nonzero(held != held.dtype.type(samples.fill))
        numbers = np.full(held.shape, NOTHING, np.int64)
        numbers[row, column] = np.arange(total, total + row.size)
        ids.append(held[row, column])
        rows.append(row)
        if depth:
            fanout = max(held.shape[1] // max(hops[depth - 1].shape[1], 1), 1)
            edges.append(np.stack([numbers[row, column], nodes[-1][row, column // fanout]]))
        nodes.append(numbers)
        total += row.size
    width = hops[0].shape[1]
    made = {
        "edge_index": np.concatenate([np.zeros((2, 0), np.int64), *edges], axis=1),
        "n_id": np.concatenate(ids),
        "batch": np.concatenate(rows),
        "batch_size": ids[0].size,
        "input_id": start * width + np.flatnonzero(nodes[0] >= 0),
        "seed": nodes[0].ravel(),
        "num_sampled_nodes": np.array([part.size for part in ids]),
        "num_sampled_edges": np.array([part.shape[1] for part in edges], np.int64),
        CLASSES: np.array([part.size for part in ids]),
    }
    return made | ({"walk": np.concatenate(nodes, axis=1)} if samples.has_walks else {})


def _hops(samples: Samples, start: int, stop: int) -> list[np.ndarray]:
    """The vertices of each hop [instances, places], with the fill value where there is none; the hops of a walk are its steps."""
    arrays = samples.group(start, stop)
    if samples.layout == "hops":
        return list(arrays.values())
    walks = padded(arrays, samples.fill) if samples.layout == RAGGED_WALKS else arrays["walks"]
    return [walks[:, step : step + 1] for step in range(walks.shape[1])]


def _of_vertices(samples: Samples, start: int, stop: int) -> Batch:
    """The batch of subgraphs: a node for each vertex of an instance, at the hop at which it is first met."""
    pointer = samples.sources_ptr[start : stop + 1]
    sources = samples.sources[int(pointer[0]) : int(pointer[-1])]
    edges = edges_between(samples, start, stop)
    order = np.argsort(edges["depth"], kind="stable")
    instance, src, dst, depth = (edges[name][order] for name in ("instance", "src", "dst", "depth"))
    more = samples.group(start, stop) if "vertices" in samples else {}
    others, counts = more.get("vertices", sources[:0]), more.get("vertex_counts", np.zeros(stop - start, np.int64))
    numbers = np.arange(stop - start)
    owner = np.concatenate([np.repeat(numbers, np.diff(pointer)), instance, instance, np.repeat(numbers, counts)])
    vertices = np.concatenate([sources, dst, src, others])
    hop = np.concatenate(
        [np.zeros(sources.size, np.int64), depth + 1, depth, more.get("layer", np.zeros(others.size, np.int64))]
    )
    kind = np.repeat(MET, [sources.size, dst.size, src.size, others.size])
    met = np.argsort(hop, kind="stable")
    first, number = _first_met(owner[met], vertices[met])
    number[met] = number.copy()
    of_sources, of_dst, of_src, _ = np.split(number, np.cumsum([sources.size, dst.size, src.size]))
    seeds = int(of_sources.max(initial=-1)) + 1
    hops = int(depth.max(initial=-1)) + 1
    weight = {"edge_weight": more["weight"][order]} if "weight" in more else {}
    return weight | {
        "edge_index": np.stack([of_dst, of_src]),
        "n_id": vertices[met][first],
        "batch": owner[met][first],
        "batch_size": seeds,
        "input_id": int(pointer[0]) + met[first][:seeds],
        "seed": of_sources,
        "num_sampled_nodes": np.bincount(hop[met][first], minlength=hops + 1),
        "num_sampled_edges": np.bincount(depth, minlength=hops),
        CLASSES: np.bincount((len(MET) * hop + kind)[met][first]),
    }


def _of_batches(samples: Samples, start: int, stop: int) -> Batch:
    """The batch of mini-batches: their nodes and edges, hop by hop; in each of these, mini-batches follow one another."""
    arrays = samples.group(start, stop)
    counts, hops = arrays["node_counts"], np.arange(arrays["hop_nodes"].shape[1])
    before = np.cumsum(counts) - counts
    node_order = np.argsort(np.repeat(np.tile(hops, counts.size), arrays["hop_nodes"].ravel()), kind="stable")
    edge_order = np.argsort(np.repeat(np.tile(hops[:-1], counts.size), arrays["hop_edges"].ravel()), kind="stable")
    number = np.empty(node_order.size, np.int64)
    number[node_order] = np.arange(node_order.size)
    moved = np.repeat(before, arrays["edge_counts"])
    seeds = arrays["seed_counts"]
    owner = np.repeat(np.arange(counts.size), counts)
    if "batch" in arrays:
        owner = (np.cumsum(seeds) - seeds)[owner] + arrays["batch"]
    return {
        "edge_index": np.stack([number[arrays[name] + moved][edge_order] for name in ("row", "col")]),
        "n_id": arrays["n_id"][node_order],
        "batch": owner[node_order],
        "batch_size": int(seeds.sum()),
        "input_id": arrays["input_id"],
        "seed": np.arange(int(seeds.sum())),
        "num_sampled_nodes": arrays["hop_nodes"].sum(axis=0),
        "num_sampled_edges": arrays["hop_edges"].sum(axis=0),
        "e_id": arrays["e_id"][edge_order],
        **{name: arrays[name] for name in ("y", "probability") if name in arrays},
    }


def _first_met(owner: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places at which pairs of instance and vertex are first met, ascending, and the number of each pair in that order."""
    known, vertex = np.unique(vertices, return_inverse=True)
    _, first, number = np.unique(owner * np.int64(known.size) + vertex, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return first[order], rank[number]
