"""A batch of traversals that select different vertices at a depth (NextDoor, EuroSys 2021, section 6.3).

The edges that an instance selects at a depth lead to different vertices.

Edges are drawn one after the other, by bias. One that leads to a vertex which this depth has selected already is drawn
again, until as many are there as were asked for or no other is left. So each draw is by bias among the edges that are
possible then: those to vertices that are not selected yet, of frontier vertices that have not selected enough; a
collective depth counts for its frontier as a whole.

Each edge arrives at an exponential time of rate bias, and the edges are taken in the order of time if they are possible
then: what arrives next among the possible ones is drawn by bias, whatever came before. Two edges of an instance depend
on each other only if they share a vertex, so many of them are taken at once.
"""

import numpy as np

from csaw.engine.api.option import LARGEST
from csaw.engine.batches.ordered import rank
from csaw.engine.batches.traversals import Traversals
from csaw.engine.plan.contracts import Array


class Unique(Traversals):
    """A batch of the instances from number ``first`` on.

    ``sources``: the vertices that they start from [instances, frontier size].
    """

    edge_bytes = 200

    def _capacities(self, size: int) -> Array:
        """Return the number of neighbors of each entry that may be needed in place of others.

        It is all of them, unless a row that has no edge twice is in a collective selection.
        """
        wanted = super()._capacities(size)
        if self.algorithm.collective:
            self.room = self.xp.full(self.instances, LARGEST if size < 0 else size, np.int64)
            return self.xp.where(wanted > 0, self.degree, 0) if self.backend.store.multigraph else wanted
        self.room = wanted
        return self.xp.where(wanted > 0, self.degree, 0)

    def _next_depth(self) -> None:
        """Take the possible edges in the order of their times, and go on to the next depth."""
        xp = self.xp
        entry, cell = self._found_cells()
        order = xp.lexsort((self.out[cell], entry, self.keys[cell], self.local[entry]))
        entry, dst = entry[order], self.out[cell[order]].astype(np.int64)
        local = self.local[entry]
        taken = self._possible(local, local if self.algorithm.collective else entry, dst)
        self._settle(local[taken], self.previous[entry[taken]], self.vertex[entry[taken]], dst[taken])

    def _possible(self, local: Array, owner: Array, dst: Array) -> Array:
        """Numbers of the edges that are possible when they arrive.

        ``owner``: whose ``room`` an edge takes; edges are in the order of time in each instance.
        """
        xp, room = self.xp, self.room
        key, waiting, taken = local * self.backend.store.vertices + dst, xp.arange(dst.size), xp.zeros(dst.size, bool)
        while waiting.size:
            whose = owner[waiting]
            # Nothing that arrives before these can take their vertices or the room of their owners.
            sure = waiting[(rank(xp, key[waiting]) == 0) & (rank(xp, whose) < room[whose])]
            taken[sure] = True
            room = room - xp.bincount(owner[sure], minlength=room.size)
            waiting = waiting[~xp.isin(key[waiting], key[sure]) & (room[whose] > 0)]
        return xp.flatnonzero(taken)
