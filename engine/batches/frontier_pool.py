"""The vertices of a batch that wait, and the selection of those that expand at a depth (C-SAW, figure 2).

An entry is a vertex that has entered the pool of its instance: (instance, slot, vertex, previous vertex). Entries are
kept in order of (instance, slot), which no schedule changes. An entry that is selected twice, with replacement, expands
twice: the second time at a slot of its own, counted from the last slot down, so that it draws other neighbors.
"""

import numpy as np

from csaw.engine.batches.ordered import begins, fresh
from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import Backend
from csaw.partition.errors import BudgetError

LAST_SLOT = int(SOURCE_SLOT) - 1
MOST_DEPTHS = 1 << 28  # in which entries have keys of their own
Entries = tuple[Array, ...]


class FrontierPool:
    """The pools of the instances from number ``first`` on, with these ``sources`` [instances, pool size]."""

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        self.backend, self.xp, self.first, self.sources = backend, backend.xp, first, sources
        self.instances = len(sources)
        self.waiting: Entries = (self.xp.zeros(0, np.int64),) * 4
        self.repeated = self.xp.zeros(self.instances, np.int64)  # expansions of each instance beyond one of an entry

    @property
    def size(self) -> int:
        """Number of entries that wait."""
        return int(self.waiting[0].size)

    def select(self, depth: int, *arriving: Array) -> Entries:
        """Let entries in, and take out those that expand at this depth: local instance, slot, vertex, previous vertex.

        Pools of which none can be selected are emptied: their instances have ended.
        """
        xp = self.xp
        pool = [xp.concatenate(both) for both in zip(self.waiting, arriving, strict=True)]
        order = xp.argsort(pool[0], kind="stable")
        local, slot, vertex, previous = pool = [array[order] for array in pool]
        size, replace = self.backend.algorithm.frontier_size, self.backend.algorithm.frontier_replace
        chosen = self._drawn(depth, size, pool) if replace else self._earliest(depth, size, pool)
        going = xp.zeros(self.instances, bool)
        going[local[chosen]] = True
        left = going[local]
        left[chosen] = False
        rest = xp.flatnonzero(left)
        self.waiting = tuple(array[rest] for array in pool)
        slots = self._slots(local[chosen], slot[chosen], chosen) if replace else slot[chosen]
        return local[chosen], slots, vertex[chosen], previous[chosen]

    def _earliest(self, depth: int, size: int, pool: list[Array]) -> Array:
        """Numbers of the ``size`` entries of each pool that arrive first, in order."""
        xp, (local, slot, vertex, previous) = self.xp, pool
        if depth >= MOST_DEPTHS:
            raise BudgetError(f"{self.backend.algorithm.name()} has {depth:,} depths, and a pool serves no more")
        source = self.sources[local, 0]
        times = self.backend.race_pool(depth, local + self.first, slot, source, previous, vertex)
        able = xp.flatnonzero(times >= 0)
        able = able[xp.lexsort((able, times[able], local[able]))]
        owner = local[able]
        return xp.sort(able[xp.arange(able.size) - begins(xp, owner, self.instances)[owner] < size])

    def _drawn(self, depth: int, size: int, pool: list[Array]) -> Array:
        """Numbers of ``size`` entries drawn from each pool with replacement, in order, each as often as it is drawn."""
        xp, (local, _, vertex, previous) = self.xp, pool
        bounds, source = begins(xp, local, self.instances), self.sources[local, 0]
        picks = self.backend.draw_pool(depth, size, bounds, local + self.first, source, previous, vertex).ravel()
        return xp.sort(picks[xp.flatnonzero(picks >= 0)])

    def _slots(self, local: Array, slot: Array, chosen: Array) -> Array:
        """The slot at which each chosen entry expands: its own the first time."""
        xp = self.xp
        again = xp.flatnonzero(~fresh(xp, chosen))
        owner = local[again]
        number = xp.arange(again.size) - begins(xp, owner, self.instances)[owner]
        slot[again] = LAST_SLOT - self.repeated[owner] - number
        self.repeated += xp.bincount(owner, minlength=self.instances)
        return slot
