"""Batches of consecutive instances as one batch, the same that all instances together would have given.

Nodes are in the order of their classes, and edges in that of their hops; in each of these, instances follow one
another. So a part's share of a class is moved as a whole, and a number of a node by how far its class is.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from csaw.partition.base.plain_data import Record

Batch = Record
OF_EDGES = {"edge_weight": np.float32, "edge_time": np.int64}  # what batches may have of each edge
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
