"""Subgraphs: the edges of each instance and its sources, and of some its vertices."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.layouts.declared import EDGE_WEIGHT, NUMBERS, OF_COPIES, TIME, VERTEX, pointer, times, values
from csaw.engine.samples.layouts.layout import LEAST_VERTICES, Arrays, Ragged, Shapes, Sizes, Stored
from csaw.engine.samples.pyg_batches import of_vertices
from csaw.engine.samples.pyg_parts import Batch
from csaw.partition.graph.about import COUNT

FURTHER = TIME, *OF_COPIES, EDGE_WEIGHT  # what edges of some samples have


class Subgraphs(Ragged):
    """``src``, ``dst`` and ``depth`` [edges] of the vertices that were met, and ``sources``.

    Layer samples have ``weight`` [edges]. Induced subgraphs have ``vertices``, all of theirs, ascending; layer samples
    those that were drawn, with ``layer``, 1, 2, ..., and ``probability``, the chance of a draw to give this vertex.
    Samples in time have ``time`` [edges] and ``seed_time`` [sources], and where frontiers select together ``src_time``
    and ``dst_time`` [edges]: with them, both ends are copies of vertices.
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
        return {"instance": instance} | {name: arrays[name] for name in named}

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

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        before = int(stored["sources_ptr"][start]) if start else 0
        return of_vertices(arrays, self.edges(arrays, fill), before)
