"""Subgraphs: the edges of each instance and its sources, and of some its vertices."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.array import check_minibatches
from csaw.engine.samples.layouts.layout import (
    BATCH,
    EDGE_WEIGHT,
    LEAST_VERTICES,
    NUMBERS,
    OF_COPIES,
    SEED_TIME,
    TIME,
    VERTEX,
    Arrays,
    Instance,
    Ragged,
    Shapes,
    Sizes,
    Stored,
    fixed,
    pointer,
    times,
    values,
)
from csaw.engine.samples.pyg_batches import Batch, of_minibatches, of_vertices
from csaw.partition.graph.attributes import COUNT
from csaw.partition.graph.types import RELATION

FURTHER = TIME, *OF_COPIES, EDGE_WEIGHT, RELATION.name  # what edges of some samples have


class Subgraphs(Ragged):
    """``src``, ``dst`` and ``depth`` [edges] of the vertices that were met, and ``sources``.

    Layer samples have ``weight`` [edges]. Induced subgraphs have ``vertices``, all of theirs, ascending; layer samples
    those that were drawn, with ``layer``, 1, 2, ..., and ``probability``, the chance of a draw to give this vertex.
    Samples in time have ``time`` [edges] and ``seed_time`` [sources], and where frontiers select together ``src_time``
    and ``dst_time`` [edges]: with them, both ends are copies of vertices. Samples with fanouts by relation have
    ``relation`` [edges].
    """

    name = "subgraphs"
    arrays = (
        pointer("instance_ptr", "counts", "the edges of each instance begin, and the end of the last one's"),
        values("src", VERTEX, "counts", "edge", "vertex that each edge was drawn from"),
        values("dst", VERTEX, "counts", "edge", "vertex that each edge leads to"),
        values("depth", "<i4", "counts", "edge", "depth at which each edge was drawn, from 0", COUNT),
        pointer("sources_ptr", "source_counts", "the sources of each instance begin, and the end of the last one's"),
        values("sources", VERTEX, "source_counts", "source", "vertices where each instance began"),
        values(EDGE_WEIGHT, "<f4", "counts", "edge", "weight of each edge in an estimate", optional=True),
        pointer(
            "vertices_ptr",
            "vertex_counts",
            "the vertices of each instance begin, and the end of the last one's",
            NUMBERS,
            optional=True,
        ),
        values(
            "vertices",
            VERTEX,
            "vertex_counts",
            "member",
            "vertices of each instance, with edges or without",
            optional=True,
        ),
        values(
            "layer",
            "<i4",
            "vertex_counts",
            "member",
            "layer for which each vertex was drawn, from 1",
            COUNT,
            optional=True,
        ),
        values("probability", "<f8", "vertex_counts", "member", "chance that a draw gives this vertex", optional=True),
        *times("counts", "source_counts"),
        *(
            values(name, NUMBERS, "counts", "edge", f"time that {name[:3]} of each edge knows", optional=True)
            for name in OF_COPIES
        ),
        values(RELATION.name, "|u1", "counts", "edge", "number of the relation of each edge", optional=True),
    )
    words = "subgraph", "subgraphs"
    heading = "Subgraphs: a sample is the edges of each instance"
    comes_whole = lists_lonely = True
    joins_in_order = False
    first_ids = "src"
    edge_bounds = "instance_ptr", "src"

    def wanted(self, found: Collection[str]) -> list[str]:
        of_vertices = {"vertices", "layer", "probability"} & set(found)
        return super().wanted({*found, "vertices_ptr", "vertices"} if of_vertices else found)

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        for counts in ("counts", "vertex_counts", "source_counts"):
            same = {name: shapes[name] for name, by in self.counted_by.items() if by == counts and name in shapes}
            if len(set(same.values())) > 1:
                files.refuse(path, f"as many elements of {', '.join(same)}", ", ".join(map(str, same.values())))

    def edge_arrays(self, names: Collection[str]) -> list[str]:
        return ["src", "dst", "depth", "sources", *(name for name in ("vertices", *FURTHER) if name in names)]

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        instance = np.repeat(np.arange(len(arrays["counts"])), arrays["counts"])
        named = ("src", "dst", "depth", *(name for name in FURTHER if name in arrays))
        relation = {RELATION.name: arrays[RELATION.name].astype(np.int32)} if RELATION.name in arrays else {}
        return {"instance": instance} | {name: arrays[name] for name in named} | relation

    def sizes(self, arrays: Arrays, fill: int) -> Sizes:
        met = {LEAST_VERTICES: int(arrays["vertex_counts"].min())} if "vertex_counts" in arrays else {}
        return super().sizes(arrays, fill) | met

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        return np.ascontiguousarray(arrays["sources"]), arrays["source_counts"].astype(np.int64)

    def members(self, arrays: Arrays, fill: int) -> list[tuple[np.ndarray, np.ndarray]]:
        owned = (("sources", "source_counts"), ("vertices", "vertex_counts"))
        return [
            (np.repeat(np.arange(arrays[counts].size), arrays[counts]), arrays[name])
            for name, counts in owned
            if name in arrays
        ]

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray | None:
        return arrays.get("vertices")

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        met = [arrays[name] for name in ("sources", "vertices") if name in arrays]
        return arrays["counts"], np.concatenate([arrays["src"], arrays["dst"]]), np.concatenate(met)

    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        ends = arrays["dst"]
        if depth is not None:  # an edge of the last depth leads to a vertex that selects nothing
            ends = np.where(arrays["depth"] < depth - 1, ends, arrays["src"])
        met = [(arrays["src"], "counts"), (ends, "counts"), (arrays["sources"], "source_counts")]
        return met + ([(arrays["vertices"], "vertex_counts")] if "vertices" in arrays else [])

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        before = int(stored["sources_ptr"][start]) if start else 0
        return of_vertices(arrays, self.edges(arrays, fill), before)


# Mini-batches: the nodes and edges of each, numbered within it.


class Batches(Ragged):
    """``n_id`` [nodes]: vertices, seeds first; ``row`` and ``col`` [edges]: numbers of nodes, from the neighbor that
    was drawn to the vertex it was drawn for; ``e_id``: the number of the edge, through the rows of the graph.

    ``input_id`` [seeds]: positions in the list of sources, with ``y`` where seeds have labels, and ``probability``
    where they are drawn. ``batch`` [nodes], of disjoint ones: the number of the seed that met the node. In time,
    ``time`` [edges] and ``seed_time`` [seeds]. With fanouts by relation, ``relation`` [edges].
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
        values(RELATION.name, "|u1", "edge_counts", "edge", "number of each edge's relation", optional=True),
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
        of_edges = dict.fromkeys((TIME, RELATION.name), "row")
        beside = {BATCH: "n_id"} | of_edges | dict.fromkeys(("y", "probability", SEED_TIME), "input_id")
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
        return ["n_id", "row", "col", *(name for name in (TIME, BATCH, RELATION.name) if name in names)]

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
            **({RELATION.name: arrays[RELATION.name].astype(np.int32)} if RELATION.name in arrays else {}),
        }

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        nodes, seeds = arrays["node_counts"].astype(np.int64), arrays["seed_counts"].astype(np.int64)
        first = np.repeat(np.cumsum(nodes) - nodes - (np.cumsum(seeds) - seeds), seeds)
        return arrays["n_id"][first + np.arange(first.size)], seeds

    def members(self, arrays: Arrays, fill: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Seeds for which nothing was drawn."""
        nodes, (seeds, counts) = arrays["node_counts"].astype(np.int64), self.sources(arrays)
        first = np.cumsum(nodes) - nodes
        drawn_for = np.zeros(arrays["n_id"].size, bool)
        drawn_for[np.repeat(first, arrays["edge_counts"]) + arrays["col"]] = True
        instance = np.repeat(np.arange(counts.size), counts)
        number = np.arange(seeds.size) - np.repeat(np.cumsum(counts) - counts, counts)
        empty = ~drawn_for[first[instance] + number]
        return [(instance[empty], seeds[empty])]

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        return arrays["n_id"]

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = np.repeat(np.cumsum(arrays["node_counts"]) - arrays["node_counts"], arrays["edge_counts"])
        ends = np.concatenate([first + arrays["row"], first + arrays["col"]])
        return arrays["edge_counts"], arrays["n_id"][ends], arrays["n_id"]

    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        n_id, hops = arrays["n_id"], arrays["hop_nodes"]
        if depth is None:
            return [(n_id, "node_counts")]
        sizes, read = arrays["node_counts"].astype(np.int64), hops[:, :-1].sum(axis=1).astype(np.int64)
        first = np.cumsum(sizes) - sizes
        number = np.arange(n_id.size) - np.repeat(first, sizes)
        seeds = np.repeat(first, sizes)  # stand for nodes that select nothing; an instance without nodes has none
        return [(n_id[np.where(number < np.repeat(read, sizes), np.arange(n_id.size), seeds)], "node_counts")]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        return of_minibatches(arrays)
