"""The rows that walkers of a batch wait for on a graph in parts, the same on every backend."""

from typing import NamedTuple

import numpy as np

from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import Backend


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
