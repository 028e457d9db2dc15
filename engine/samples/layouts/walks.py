"""Walks with a limit of steps: a table of vertices, with fill after the end of each walk, and their lengths."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.array import check_lengths, check_walk_pointer
from csaw.engine.samples.layouts.layout import (
    VERTEX,
    Arrays,
    Declared,
    Instance,
    Ragged,
    Shapes,
    Sizes,
    Stored,
    Table,
    fixed,
    pointer,
    values,
    walk_of,
)
from csaw.engine.samples.pyg_batches import Batch, of_places
from csaw.partition.graph.attributes import COUNT, NUMBER

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
    counted_from = ("lengths",)
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

    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        return [(arrays["walks"][:, :depth], "")]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        made = of_places(np.hsplit(arrays["walks"], arrays["walks"].shape[1]), fill, start, as_walks=True)
        if "times" in arrays:  # edges are in the order of steps
            step, row = np.nonzero((np.arange(arrays["times"].shape[1]) < arrays["lengths"][:, None]).T)
            made["edge_time"] = arrays["times"][row, step]
        return made


# Walks without a limit of steps, one after the other.


class RaggedWalks(Ragged):
    """``walk_ptr`` [instances + 1] and ``walks`` [steps + instances]; a group has ``lengths`` in place of bounds."""

    name = "ragged-walks"
    arrays = (
        pointer("walk_ptr", "lengths", "each walk begins in walks, and the end of the last one", "<i4"),
        values("walks", VERTEX, "lengths", "entry", "vertices of all walks, one walk after the other"),
    )
    first_version = 3
    words = "walk", "walks"
    has_walks = counts_visits = True
    counted_from = ("lengths",)
    first_ids = "walks"
    edge_bounds = "walk_ptr", "walks"

    def elements(self, counts: np.ndarray) -> np.ndarray:
        """The vertices of walks of so many steps."""
        return counts.astype(np.int64) + 1

    def instance(self, arrays: Arrays) -> Instance:
        return walk_of(arrays)

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        """Every number of vertices fits every number of walks."""

    def bounds(self, path: Path, stored: Stored, name: str, start: int, stop: int) -> np.ndarray:
        found = super().bounds(path, stored, name, start, stop)
        check_walk_pointer(path / name, found)
        return found

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        pointer = self.bounds(path, stored, "walk_ptr", start, stop)
        walks = stored["walks"][int(pointer[0]) : int(pointer[-1])]
        return {"walks": walks, "lengths": (np.diff(pointer) - 1).astype(np.int32)}

    def table(self, arrays: Arrays, fill: int, width: int = 0) -> np.ndarray:
        """Return walks as a table [walks, longest + 1], with ``fill`` after the end of each.

        The table has ``width`` columns where that is more.
        """
        sizes = self.elements(arrays["lengths"])
        table = np.full((sizes.size, max(width, int(sizes.max(initial=1)))), fill, arrays["walks"].dtype)
        table[np.arange(table.shape[1]) < sizes[:, None]] = arrays["walks"]
        return table

    def edge_arrays(self, names: Collection[str]) -> list[str]:
        return ["walk_ptr", "walks"]

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        lengths, walks = arrays["lengths"].astype(np.int64), arrays["walks"]
        instance, step = np.repeat(np.arange(lengths.size), lengths), _numbers(lengths)
        at = self._begins(arrays)[instance] + step
        return {"instance": instance, "src": walks[at], "dst": walks[at + 1], "depth": step.astype(np.int32)}

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        return arrays["walks"][self._begins(arrays)], np.ones(arrays["lengths"].size, np.int64)

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        return np.asarray(arrays["walks"][_numbers(self.elements(arrays["lengths"])) >= skipped])

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return arrays["lengths"], arrays["walks"], arrays["walks"][:0]

    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        return [(arrays["walks"], "lengths")]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        table = self.table(arrays, fill)
        return of_places(np.hsplit(table, table.shape[1]), fill, start, as_walks=True)

    def _begins(self, arrays: Arrays) -> np.ndarray:
        """The place of the first vertex of each walk, int64."""
        sizes = self.elements(arrays["lengths"])
        return np.asarray(np.cumsum(sizes) - sizes)


def _numbers(sizes: np.ndarray) -> np.ndarray:
    """0, 1, ... for the elements of each of several runs, which have ``sizes``, int64."""
    return np.asarray(np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes))
