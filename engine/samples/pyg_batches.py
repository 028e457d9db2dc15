"""The batches of PyTorch Geometric that groups of samples make, in the words of :mod:`csaw.engine.samples.pyg`."""

import numpy as np

from csaw.engine.samples.pyg_parts import CLASSES, Batch

MET = (0, 1, 2, 3)  # at a hop: sources first, then ends of edges, then starts, then what has no edge
NO_NODE = -1
Arrays = dict[str, np.ndarray]


def of_places(hops: list[np.ndarray], fill: int, start: int, *, as_walks: bool) -> Batch:
    """The batch of walks or trees: a node for each place that has a vertex, hop by hop.

    hops: the vertices of each hop [instances, places], with ``fill`` where there is none; the hops of a walk are its
    steps. start: the number of the first instance. as_walks: add ``walk``.
    """
    nodes: list[np.ndarray] = []  # of each hop, [instances, places]: numbers of the nodes, -1 where there is none
    ids, rows, edges, total = [], [], [], 0
    for depth, held in enumerate(hops):
        row, column = np.nonzero(held != held.dtype.type(fill))
        numbers = np.full(held.shape, NO_NODE, np.int64)
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
    return made | ({"walk": np.concatenate(nodes, axis=1)} if as_walks else {})


def of_vertices(arrays: Arrays, edges: Arrays, before: int) -> Batch:
    """The batch of subgraphs: a node for each vertex of an instance, or each copy of one, at the hop at which it is
    first met.

    edges: those of the ``arrays``, by instance. before: the number of sources of all instances before.
    """
    order = np.argsort(edges["depth"], kind="stable")
    instance, src, dst, depth = (edges[name][order] for name in ("instance", "src", "dst", "depth"))
    sources = arrays["sources"]
    numbers = np.arange(arrays["counts"].size)
    others, counts = arrays.get("vertices", sources[:0]), arrays.get("vertex_counts", np.zeros(numbers.size, np.int64))
    started = np.repeat(numbers, arrays["source_counts"])
    owner = np.concatenate([started, instance, instance, np.repeat(numbers, counts)])
    vertices = np.concatenate([sources, dst, src, others])
    hop = np.concatenate(
        [np.zeros(sources.size, np.int64), depth + 1, depth, arrays.get("layer", np.zeros(others.size, np.int64))]
    )
    kind = np.repeat(MET, [sources.size, dst.size, src.size, others.size])
    met = np.argsort(hop, kind="stable")
    known = _times_of(arrays, order)
    first, number = _first_met(owner[met], vertices[met], *(times[met] for times in known.values()))
    number[met] = number.copy()
    of_sources, of_dst, of_src, _ = np.split(number, np.cumsum([sources.size, dst.size, src.size]))
    seeds = int(of_sources.max(initial=-1)) + 1
    hops = int(depth.max(initial=-1)) + 1
    named = (("edge_weight", "weight"), ("edge_time", "time"))
    of_edges = {name: arrays[held][order] for name, held in named if held in arrays}
    of_seeds = {"seed_time": arrays["seed_time"][met[first][:seeds]]} if "seed_time" in arrays else {}
    return (
        of_edges
        | of_seeds
        | {name: times[met][first] for name, times in known.items()}
        | {
            "edge_index": np.stack([of_dst, of_src]),
            "n_id": vertices[met][first],
            "batch": owner[met][first],
            "batch_size": seeds,
            "input_id": before + met[first][:seeds],
            "seed": of_sources,
            "num_sampled_nodes": np.bincount(hop[met][first], minlength=hops + 1),
            "num_sampled_edges": np.bincount(depth, minlength=hops),
            CLASSES: np.bincount((len(MET) * hop + kind)[met][first]),
        }
    )


def _times_of(arrays: Arrays, order: np.ndarray) -> Arrays:
    """The times that sources and both ends of edges, in this ``order``, know; none where vertices have no copies."""
    if "src_time" not in arrays:
        return {}
    of_ends = (arrays[name][order] for name in ("dst_time", "src_time"))
    return {"node_time": np.concatenate([arrays["seed_time"], *of_ends])}


def of_minibatches(arrays: Arrays) -> Batch:
    """The batch of mini-batches: their nodes and edges, hop by hop; in each of these,
    mini-batches follow one another.
    """
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
        "input_id": arrays["input_id"].copy(),
        "seed": np.arange(int(seeds.sum())),
        "num_sampled_nodes": arrays["hop_nodes"].sum(axis=0),
        "num_sampled_edges": arrays["hop_edges"].sum(axis=0),
        "e_id": arrays["e_id"][edge_order],
        **{name: arrays[name].copy() for name in ("y", "probability", "seed_time") if name in arrays},
        **({"edge_time": arrays["time"][edge_order]} if "time" in arrays else {}),
    }


def _first_met(owner: np.ndarray, *met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places at which pairs of instance and vertex, or triples with a time, are first met, ascending.

    Returns also the number of each in that order.
    """
    first, number = np.zeros(0, np.int64), owner
    for values in met:
        known, value = np.unique(values, return_inverse=True)
        _, first, number = np.unique(number * np.int64(known.size) + value, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return first[order], rank[number]
