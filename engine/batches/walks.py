"""Batches of walks, as every backend has them: the rows that walkers wait for, and rounds of walks without a limit."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from csaw.engine.api.algorithm import MOST_STEPS
from csaw.engine.api.termination import refuse_longest
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import Backend
from csaw.partition.base.flags import any_set

# The rows that walkers of a batch wait for on a graph in parts, the same on every backend.


class Questions(NamedTuple):
    """The questions with which walkers wait. See engine/cpu/kernels/questions.py; None where no walker asks later."""

    trials: Array
    """uint32 [n]: the trial to make next in the present step."""
    asked: Array
    """uint8 [n]: how many questions a walker waits with; one with none waits for the row of its own vertex."""
    candidates: Array
    """Ids [n, 4]: the vertices that they are about, in the order of trials."""
    coins: Array
    """float64 [n, 4]: the coin of each."""
    sure: Array
    """[n]: the vertex to go to if all answers are no; none: make more trials."""


class WaitingWalks:
    """Walkers, each at a vertex ``at``, and before at ``previous``: arrays [n].

    ``alive``: whether each has not ended. ``still`` walkers have ``rest`` steps left together.
    """

    comes_back = True  # a walker may return to a partition that it has left
    backend: Backend
    at: Array
    previous: Array
    none: int | np.integer
    """The number that stands in ``previous`` for no vertex."""
    alive: Array
    questions: Questions
    still: int
    rest: int

    def needs(self) -> tuple[Array, ...]:
        """Return the vertex whose row each waiting walker needs.

        Second-order walks that cannot ask later need the row of their previous vertex, too.
        """
        xp = self.backend.xp
        waiting = xp.flatnonzero(self.alive)
        if self.backend.asks_later:
            asks = self.asks(waiting)
            return (xp.concatenate([self.at[waiting[~asks]], self._shortest_answers(waiting[asks])]),)
        here = self.at[waiting]
        if not self.backend.needs.second_order:
            return (here,)
        previous = self.previous[waiting]
        return here, xp.where(previous == self.none, here, previous)

    def asks(self, walkers: Array) -> Array:
        """Whether each of some walkers waits with a question."""
        if not self.backend.asks_later:
            return self.backend.xp.zeros(walkers.size, bool)
        return self.questions.asked[walkers] > 0

    def answers(self, asking: Array) -> list[Array]:
        """For each asking walker, the vertices whose rows answer its first question: one array, or two on an undirected
        graph.
        """
        if not self.backend.asks_later:
            return [asking]  # nobody
        previous = self.previous[asking]
        if self.backend.store.directed:
            return [previous]
        return [previous, self.questions.candidates[asking, 0].astype(previous.dtype)]

    def _shortest_answers(self, asking: Array) -> Array:
        """For each asking walker, the vertex with the shortest row that answers its first question."""
        answers = self.answers(asking)
        if len(answers) == 1:
            return answers[0]
        first, second = (self.backend.graph.degrees(vertices) for vertices in answers)
        return self.backend.xp.where(second < first, answers[1], answers[0])

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Return the cost of one step of each waiting walker, and of all their steps, without loading partitions.

        The cost is in bytes that a copy moves in the same time.
        """
        return self.backend.bytes_of_picks(self.still), self.backend.bytes_of_picks(self.rest)


# Walks without a limit, drawn in rounds of steps, of which each is as long as all before it together.
#
# A round takes every walker that has not ended on to the same step, and has memory for the steps of these alone; where
# hooks read the path, for their walks from the source on. Random numbers have addresses, so the walks are those that
# one long round would draw.


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
