"""Mini-batches: the nodes and edges of each, numbered within it."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.check_numbers import check_minibatches
from csaw.engine.samples.layouts.declared import BATCH, NUMBERS, SEED_TIME, TIME, VERTEX, fixed, pointer, times, values
from csaw.engine.samples.layouts.layout import Arrays, Instance, Ragged, Shapes, Stored
from csaw.engine.samples.pyg_batches import of_minibatches
from csaw.engine.samples.pyg_parts import Batch
from csaw.partition.graph.about import COUNT


class Batches(Ragged):
    """``n_id`` [nodes]: vertices, seeds first; ``row`` and ``col`` [edges]: numbers of nodes, from the neighbor that
    was drawn to the vertex it was drawn for; ``e_id``: the number of the edge, through the rows of the graph.

    ``input_id`` [seeds]: positions in the list of sources, with ``y`` where seeds have labels, and ``probability``
    where they are drawn. ``batch`` [nodes], of disjoint ones: the number of the seed that met the node. In time,
    ``time`` [edges] and ``seed_time`` [seeds].
    """

    name = "batches"
    arrays = (
        pointer("node_ptr", "node_counts", "the nodes of each mini-batch begin, and the end of the last one's"),
        values("n_id", VERTEX, "node_counts", "node", "vertex of each node, seeds first"),
        values(BATCH, "<i4", "node_counts", "node", "number of the seed that each node belongs to", optional=True),
        pointer("edge_ptr", "edge_counts", "the edges of each mini-batch begin, and the end of the last one's"),
        values("row", "<i4", "edge_counts", "edge", "node of the mini-batch that was drawn: the neighbor"),
        values("col", "<i4", "edge_counts", "edge", "node of the mini-batch that it was drawn for"),
        values("e_id", NUMBERS, "edge_counts", "edge", "place of each edge in the rows of the graph store"),
        pointer("seed_ptr", "seed_counts", "the seeds of each mini-batch begin, and the end of the last one's"),
        values("input_id", NUMBERS, "seed_counts", "seed", "position of each seed in the list of sources"),
        values("y", "<f8", "seed_counts", "seed", "label of each seed", optional=True),
        values("probability", "<f8", "seed_counts", "seed", "chance that a mini-batch has this seed", optional=True),
        *times("edge_counts", "seed_counts"),
        fixed("hop_nodes", NUMBERS, "nodes met at each depth, from the seeds on", COUNT, "depth"),
        fixed("hop_edges", NUMBERS, "edges drawn at each hop", COUNT, "hop"),
    )
    words = "mini-batch", "mini-batches"
    heading = "Mini-batches: a sample is the nodes and edges of a mini-batch, numbered for a graph neural network"
    comes_whole = keeps_seeds = True
    joins_batches = False
    first_ids = "n_id"
    edge_bounds = "edge_ptr", "row"

    def instance(self, arrays: Arrays) -> Instance:
        named = {"num_sampled_nodes": arrays["hop_nodes"][0], "num_sampled_edges": arrays["hop_edges"][0]}
        return {name: array for name, array in arrays.items() if name in self.counted_by} | named

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        if not shapes["row"] == shapes["col"] == shapes["e_id"]:
            files.refuse(path, "as many elements of col and e_id as of row", f"{shapes['col']}, {shapes['e_id']}")
        beside = {BATCH: "n_id", TIME: "row"} | dict.fromkeys(("y", "probability", SEED_TIME), "input_id")
        for name, of in beside.items():
            if shapes.get(name, shapes[of]) != shapes[of]:
                files.refuse(path / name, f"as many elements as {of}, {shapes[of]}", shapes[name])
        nodes, edges = shapes["hop_nodes"], shapes["hop_edges"]
        if nodes[0] and nodes[1] != edges[1] + 1:
            files.refuse(path / "hop_nodes", f"{edges[1] + 1} columns, one more than hop_edges", nodes[1])

    def fits(self, stored: Stored, sizes: Sequence[int]) -> bool:
        return stored["hop_edges"].shape[1] == len(sizes)

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        arrays = super().read(path, stored, start, stop)
        check_minibatches(path, arrays)
        return arrays

    def edge_arrays(self, names: Collection[str]) -> list[str]:
        return ["n_id", "row", "col", *(name for name in (TIME, BATCH) if name in names)]

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        """The edges of a group, from the vertex that selected to the one that was selected, as in other samples; of
        disjoint mini-batches with the seed that both belong to.
        """
        counts, hop_edges = arrays["edge_counts"], arrays["hop_edges"]
        instance = np.repeat(np.arange(len(counts)), counts)
        first = (np.cumsum(arrays["node_counts"]) - arrays["node_counts"])[instance]
        src = first + arrays["col"]
        depth = np.tile(np.arange(hop_edges.shape[1], dtype=np.int32), len(counts))
        return {
            "instance": instance,
            "src": arrays["n_id"][src],
            "dst": arrays["n_id"][first + arrays["row"]],
            "depth": np.repeat(depth, hop_edges.ravel()),
            **({TIME: arrays[TIME]} if TIME in arrays else {}),
            **({BATCH: arrays[BATCH][src]} if BATCH in arrays else {}),
        }

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        nodes, seeds = arrays["node_counts"].astype(np.int64), arrays["seed_counts"].astype(np.int64)
        first = np.repeat(np.cumsum(nodes) - nodes - (np.cumsum(seeds) - seeds), seeds)
        return arrays["n_id"][first + np.arange(first.size)], seeds

    def members(self, arrays: Arrays, fill: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.repeat(np.arange(arrays["node_counts"].size), arrays["node_counts"]), arrays["n_id"])]

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        return arrays["n_id"]

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = np.repeat(np.cumsum(arrays["node_counts"]) - arrays["node_counts"], arrays["edge_counts"])
        ends = np.concatenate([first + arrays["row"], first + arrays["col"]])
        return arrays["edge_counts"], arrays["n_id"][ends], arrays["n_id"]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        return of_minibatches(arrays)
