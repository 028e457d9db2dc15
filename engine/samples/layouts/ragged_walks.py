"""Walks without a limit of steps, one after the other."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from csaw.engine.samples.check_numbers import check_walk_pointer
from csaw.engine.samples.layouts.declared import VERTEX, pointer, values
from csaw.engine.samples.layouts.layout import Arrays, Instance, Ragged, Shapes, Stored, walk_of
from csaw.engine.samples.pyg_batches import of_places
from csaw.engine.samples.pyg_parts import Batch


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
