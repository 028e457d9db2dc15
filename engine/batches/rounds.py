"""Walks without a limit, drawn in rounds of steps, of which each is as long as all before it together.

A round takes every walker that has not ended on to the same step, and has memory for the steps of these alone; where
hooks read the path, for their walks from the source on. Random numbers have addresses, so the walks are those that one
long round would draw.
"""

from dataclasses import dataclass

from csaw.engine.api.algorithm import MOST_STEPS
from csaw.engine.api.termination import refuse_longest
from csaw.engine.batches.waiting_walks import WaitingWalks
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.flags import any_set


@dataclass(frozen=True)
class Round:
    """The steps ``before + 1`` .. ``before + width`` of some walkers, ascending; ``vertices`` [walkers, width]."""

    before: int
    walkers: Array
    vertices: Array


class Rounds(WaitingWalks):
    """Walkers that end by themselves: the base of a backend's class, which draws a round, and says where its steps go.

    ``length``: the last step of the present round, which begins after step ``before``. ``places`` [n]: for each walker
    the place in the round's vertices of its step 0. ``first``: the number of the first instance.
    """

    rounds: list[Round]
    first: int
    source: Array
    places: Array
    before: int
    length: int

    def advance(self) -> None:
        """Take every walker on until it has ended or needs a row that is not in memory, round after round."""
        self._draw()
        while not any_set(self.alive):
            if not self._next_round():
                self._end()
                return
            self._draw()

    def _draw(self) -> None:
        """Take the walkers that can go on to the end of the round."""
        raise NotImplementedError

    def _taken(self) -> Array:
        """[n]: the steps that each walker has taken."""
        raise NotImplementedError

    def _begin_round(self, walkers: Array) -> None:
        """Begin a round of some walkers, which are alive."""
        raise NotImplementedError

    def _end(self) -> None:
        """Do what is left once all walks have ended."""

    def _next_round(self) -> bool:
        """Begin another round with the walkers that have not ended; False if all have."""
        going = self.backend.xp.flatnonzero(self._taken() == self.length)  # who ends in a round misses its last step
        if going.size == 0:
            return False
        refuse_longest(self.length, self.first + int(going[0]))
        self.before, self.length = self.length, min(2 * self.length, MOST_STEPS)
        self.alive[going] = 1
        self._begin_round(going)
        return True

    def _room_of_round(self, walkers: Array) -> Array:
        """Ids [walkers, width]: room for the steps of a round, which is kept among the ``rounds``."""
        xp = self.backend.xp
        begin = 0 if self.backend.needs.reads_path else self.before + 1
        width = self.length + 1 - begin
        vertices = self._empty((walkers.size, width))
        self.places[walkers] = xp.arange(-begin, walkers.size * width - begin, width)
        if begin == 0:
            self._take_along(walkers, vertices)
        self.rounds.append(Round(begin - 1, walkers, vertices))
        return vertices

    def _empty(self, shape: tuple[int, ...]) -> Array:
        """Ids of this shape, with any values."""
        return self.backend.xp.empty(shape, self.backend.store.id_dtype)

    def _take_along(self, walkers: Array, vertices: Array) -> None:
        """Begin ``vertices`` with the steps of the last round, or with the sources.

        Hooks read walks from their sources on.
        """
        if not self.rounds:
            vertices[:, 0] = self.source
            return
        xp, last = self.backend.xp, self.rounds.pop()
        rows, ended = xp.searchsorted(last.walkers, walkers), xp.ones(last.walkers.size, bool)
        vertices[:, : last.vertices.shape[1]] = last.vertices[rows]
        ended[rows] = False
        self.rounds.append(Round(last.before, last.walkers[ended], last.vertices[ended]))

    def dead_ends(self) -> int:
        """All of them: each has ended by itself."""
        return int(self.source.size)
