"""The batches of PyTorch Geometric that groups of samples make, in the words of :mod:`csaw.engine.samples.pyg`."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from csaw.partition.base.plain_data import Record
from csaw.partition.graph.types import RELATION

# Batches of consecutive instances as one batch, the same that all instances together would have given.
#
# Nodes are in the order of their classes, and edges in that of their hops; in each of these, instances follow one
# another. So a part's share of a class is moved as a whole, and a number of a node by how far its class is.

Batch = Record
NODE_TYPE, EDGE_TYPE = "node_type", "edge_type"
OF_EDGES = {"edge_weight": np.float32, "edge_time": np.int64, EDGE_TYPE: np.int64}  # what batches may have of each edge
OF_NODES, OF_SEEDS = ("n_id", "batch", "node_time"), ("input_id", "seed_time")  # and of each node and seed
ORDER = (
    "edge_index",
    "n_id",
    "batch",
    "batch_size",
    "input_id",
    "seed",
    "num_sampled_nodes",
    "num_sampled_edges",
    "node_time",
    "seed_time",
    *OF_EDGES,
    "walk",
)
CLASSES = "classes"  # in a part: how many nodes of each class it has, int64


def joined(parts: list[Batch], firsts: list[int], threads: int) -> Batch:
    """Join ``parts``, which are used up, to one batch.

    ``firsts`` are the numbers of their first instances, counted from that of the first part.
    """
    nodes, edges = _table([part.pop(CLASSES) for part in parts]), _table([part["num_sampled_edges"] for part in parts])
    out = _room(parts, nodes, edges)
    shares = (
        [_Share(nodes, number) for number in range(len(parts))],
        [_Share(edges, number) for number in range(len(parts))],
    )

    def move(part: Batch, first: int, of_nodes: "_Share", of_edges: "_Share") -> Batch:
        part["batch"] += first
        for name in (name for name in OF_NODES if name in part):
            of_nodes.copy(part.pop(name), out[name])
        numbers: Batch = {
            name: of_nodes.moved(part.pop(name)) for name in ("edge_index", "seed", "walk") if name in part
        }
        of_edges.copy(numbers.pop("edge_index"), out["edge_index"])
        for name in OF_EDGES.keys() & part.keys():
            of_edges.copy(part.pop(name), out[name])
        return numbers

    with ThreadPoolExecutor(threads) as pool:
        numbers = list(pool.map(move, parts, firsts, *shares))
    for name in list(numbers[0]):
        out[name] = np.concatenate(_as_wide([some.pop(name) for some in numbers]))
    return in_order_of_names(out)


def in_order_of_names(batch: Batch) -> Batch:
    """The arrays of a batch in the same order, in how many parts it was made."""
    return {name: batch[name] for name in (*ORDER, *batch) if name in batch}


def _as_wide(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Tables with as many columns as the widest of them, filled up with -1: walks without a limit are as wide as the
    longest of a part.
    """
    width = max(part.shape[-1] for part in parts)
    if parts[0].ndim == 1:
        return parts
    return [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in parts]


def _table(rows: list[np.ndarray]) -> np.ndarray:
    """Counts of each part, int64 [parts, most that one of them has]."""
    table = np.zeros((len(rows), max(row.size for row in rows)), np.int64)
    for out, row in zip(table, rows, strict=True):
        out[: row.size] = row
    return table


def _room(parts: list[Batch], nodes: np.ndarray, edges: np.ndarray) -> Batch:
    """A batch of the size of all parts: empty arrays of nodes and edges, and what is summed or joined at once."""
    beside = {name: np.empty(int(edges.sum()), dtype) for name, dtype in OF_EDGES.items() if name in parts[0]}
    beside |= {name: np.empty(int(nodes.sum()), parts[0][name].dtype) for name in OF_NODES if name in parts[0]}
    beside |= {name: np.concatenate([part[name] for part in parts]) for name in OF_SEEDS if name in parts[0]}
    return beside | {
        "edge_index": np.empty((2, int(edges.sum())), np.int64),
        "batch_size": sum(part["batch_size"] for part in parts),
        "num_sampled_nodes": _table([part["num_sampled_nodes"] for part in parts]).sum(axis=0),
        "num_sampled_edges": edges.sum(axis=0),
    }


class _Share:
    """A part's share of each class: where it is in the part, and where in the whole."""

    def __init__(self, counts: np.ndarray, number: int) -> None:
        before = counts.sum(axis=0)
        self.counts = counts[number]
        self.here = np.cumsum(self.counts) - self.counts
        self.there = np.cumsum(before) - before + counts[:number].sum(axis=0)

    def copy(self, values: np.ndarray, out: np.ndarray) -> None:
        for here, there, count in zip(self.here.tolist(), self.there.tolist(), self.counts.tolist(), strict=True):
            out[..., there : there + count] = values[..., here : here + count]

    def moved(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers of nodes in the whole; -1 stays."""
        by = np.append(np.repeat(self.there - self.here, self.counts), 0)
        return np.asarray(numbers + by[numbers])


# Batches of groups of samples.

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
    named = (("edge_weight", "weight"), ("edge_time", "time"), (EDGE_TYPE, RELATION.name))
    of_edges = {name: arrays[held][order].astype(OF_EDGES[name]) for name, held in named if held in arrays}
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
        **({EDGE_TYPE: arrays[RELATION.name][edge_order].astype(np.int64)} if RELATION.name in arrays else {}),
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
