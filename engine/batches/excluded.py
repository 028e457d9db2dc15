"""Mini-batches whose nodes select none of some edges: those between the ends of the links that they are drawn for.

A node with m such edges selects m more than it is asked for. What is left without them are at least as many as asked
for, in an order or by chance as if the edges were not there: a random set of a row stays one without some edges, and
so does a random part of it.
"""

from typing import TypeAlias

import numpy as np

from csaw.engine.batches.in_time import MiniBatchesInTime
from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.draws.addresses import EXCLUDE_DRAWS
from csaw.engine.draws.vectors import words64
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import Backend
from csaw.engine.sources.seeds import Excluded
from csaw.partition.base.sorting import distinct

Host: TypeAlias = np.ndarray


class Excluding(MiniBatches):
    """The mini-batches from number ``first`` on, without the edges of ``pairs``; ``sources`` as in MiniBatches."""

    latest = False  # whether vertices select their last edges, and not any

    def __init__(self, backend: Backend, first: int, sources: np.ndarray, pairs: Excluded) -> None:
        xp, vertices = backend.xp, backend.store.vertices
        self.owners, place = np.unique(pairs.local * vertices + pairs.source, return_inverse=True)
        self.pairs = distinct(place * vertices + pairs.target)
        self.known_owners = xp.asarray(self.owners)
        self.many = xp.asarray(np.bincount(place, pairs.edges, self.owners.size).astype(np.int64))
        super().__init__(backend, first, sources)

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        super()._hold(local, slot, vertex, previous)
        xp, key = self.xp, local * self.vertices + vertex
        if not self.owners.size:
            self.spare = xp.zeros(local.size, np.int64)
            return
        place = xp.minimum(xp.searchsorted(self.known_owners, key), self.owners.size - 1)
        self.spare = xp.where((vertex >= 0) & (self.known_owners[place] == key), self.many[place], 0)

    def _capacities(self, size: int) -> Array:
        return self.degree if size < 0 else self.xp.minimum(self.spare + size, self.degree)

    def _next_depth(self) -> None:
        self._leave_out()
        super()._next_depth()

    def _leave_out(self) -> None:
        """Take out the edges of the pairs, and what was selected beyond the number of edges that is asked for."""
        xp, size = self.xp, self.sizes[self.depth]
        entries = xp.flatnonzero((self.spare > 0) & (self.found > 0))
        names = (self.start, self.found, self.local, self.slot, self.vertex)
        start, found, local, slot, vertex = (_on_host(array[entries]) for array in names)
        entry = np.repeat(np.arange(found.size), found)
        number = np.arange(entry.size) - np.repeat(np.cumsum(found) - found, found)
        cells = start[entry] + number
        place = np.searchsorted(self.owners, local * self.vertices + vertex)[entry]
        target = _on_host(self.out[xp.asarray(cells)]).astype(np.int64)
        left = ~np.isin(place * self.vertices + target, self.pairs)
        if size >= 0:
            rank = (
                number
                if self.latest
                else words64(
                    int(self.backend.seed),
                    local[entry] + self.first,
                    slot[entry],
                    EXCLUDE_DRAWS + number.astype(np.uint64),
                )
            )
            left &= self._among(entry, rank, left, size)
        self._keep(xp.asarray(cells[left]), entry[left], start, entries)

    def _among(self, entry: Host, rank: Host, left: Host, size: int) -> Host:
        """Whether each cell is among those of its entry with the least rank of all that are ``left``; if the latest are
        selected, with the largest.
        """
        here = np.flatnonzero(left)
        order = here[np.lexsort((rank[here], entry[here]))]
        if self.latest:
            order = order[::-1]
        owner = entry[order]
        begins = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])) if owner.size else np.zeros(0, np.int64)
        counts = np.diff(np.append(begins, owner.size))
        chosen = np.zeros(entry.size, bool)
        chosen[order[np.arange(owner.size) - np.repeat(begins, counts) < size]] = True
        return chosen

    def _keep(self, cells: Array, entry: Host, start: Host, entries: Array) -> None:
        """Keep these cells of ``entries``, which begin at ``start``: ``entry`` is the number of each cell's."""
        xp = self.xp
        counts = np.bincount(entry, minlength=start.size)
        to = xp.asarray(start[entry] + np.arange(entry.size) - np.repeat(np.cumsum(counts) - counts, counts))
        for array in self._of_cells():
            if array.size:
                array[to] = array[cells]
        self.found[entries] = xp.asarray(counts)

    def _of_cells(self) -> tuple[Array, ...]:
        """The arrays that note each neighbor that was found."""
        return self.out, self.edge


class ExcludingInTime(Excluding, MiniBatchesInTime):
    """The same in time; ``sources`` as in MiniBatchesInTime."""

    def __init__(self, backend: Backend, first: int, sources: np.ndarray, pairs: Excluded) -> None:
        self.latest = getattr(backend.algorithm, "time_strategy", None) == "last"
        super().__init__(backend, first, sources, pairs)

    def _of_cells(self) -> tuple[Array, ...]:
        return *super()._of_cells(), self.time


def _on_host(array: Array) -> Host:
    found: Host = array if isinstance(array, np.ndarray) else array.get()
    return found
