"""Walks with a limit of steps: a table of vertices, with fill after the end of each walk, and their lengths."""

from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.check_numbers import check_lengths
from csaw.engine.samples.layouts.declared import VERTEX, Declared, fixed
from csaw.engine.samples.layouts.layout import Arrays, Instance, Shapes, Sizes, Stored, Table, walk_of
from csaw.engine.samples.pyg_batches import of_places
from csaw.engine.samples.pyg_parts import Batch
from csaw.partition.graph.about import COUNT, NUMBER

TIMES = Declared(
    "times",
    "<i8",
    ("instance", "step"),
    NUMBER,
    "time of the edge of each step, in the units of the graph; -2^63 after the end of a walk",
    optional=True,
)


class Walks(Table):
    """``walks`` [instances, walk_length + 1] and ``lengths`` [instances], the steps that each took; of walks in time
    also ``times`` [instances, walk_length].
    """

    name = "walks"
    arrays = (
        fixed("walks", VERTEX, "vertices of each walk, from its source on", NUMBER, "position"),
        fixed("lengths", "<i4", "steps that each walk took", COUNT),
        TIMES,
    )
    words = "walk", "walks"
    heading = "Walks: a sample is the vertices of each walk in order"
    has_walks = has_limit = counts_visits = True
    first_ids = "walks"
    summed = ("edges", "instances", "ended_early")

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        if shapes["walks"][1] < 1:
            files.refuse(path / "walks", "at least one column", f"a shape of {shapes['walks']}")

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        lengths = stored["lengths"][start:stop]
        check_lengths(path / "lengths", lengths, stored["walks"].shape[1] - 1)
        times = {"times": stored["times"][start:stop]} if "times" in stored else {}
        return {"walks": stored["walks"][start:stop], "lengths": lengths} | times

    def instance(self, arrays: Arrays) -> Instance:
        return walk_of(arrays)

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        walks = arrays["walks"]
        row, step = np.nonzero(np.arange(walks.shape[1] - 1) < arrays["lengths"][:, None])
        times = {"time": arrays["times"][row, step]} if "times" in arrays else {}
        depth = step.astype(np.int32)
        return {"instance": row, "src": walks[row, step], "dst": walks[row, step + 1], "depth": depth} | times

    def edges_of_each(self, arrays: Arrays, fill: int) -> np.ndarray:
        return arrays["lengths"].astype(np.int64)

    def sizes(self, arrays: Arrays, fill: int) -> Sizes:
        early = int((arrays["lengths"] < arrays["walks"].shape[1] - 1).sum())
        return super().sizes(arrays, fill) | {"ended_early": early}

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        first = arrays["walks"][:, 0]
        return np.ascontiguousarray(first), np.ones(first.size, np.int64)

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        walks = arrays["walks"]
        step = np.arange(walks.shape[1])
        return np.asarray(walks[(step <= arrays["lengths"][:, None]) & (step >= skipped)])

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        walks = arrays["walks"].reshape(-1)
        return arrays["lengths"], walks[walks != walks.dtype.type(fill)], walks[:0]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        made = of_places(np.hsplit(arrays["walks"], arrays["walks"].shape[1]), fill, start, as_walks=True)
        if "times" in arrays:  # edges are in the order of steps
            step, row = np.nonzero((np.arange(arrays["times"].shape[1]) < arrays["lengths"][:, None]).T)
            made["edge_time"] = arrays["times"][row, step]
        return made
