"""Situations in which something was selected from a pool, with what was selected, and the tests of that."""

from collections import defaultdict
from functools import partial

import numpy as np

from csaw.engine.api.law import of_largest
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.selections import add_sets
from csaw.engine.verify.sets import Pool, set_tests
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import Laws

Biases = list[tuple[int, float]]


class Situations:
    """Selections from pools of vertices or edges; those of as many from equal pools are in the same situation.

    ``what``: the word of checks for what is selected.
    """

    def __init__(self, subject: Subject, what: str) -> None:
        self.subject, self.algorithm, self.what = subject, subject.traversal, what
        self.known: dict[tuple, int] = {}
        self.pools: list[tuple[tuple[int, ...], Biases]] = []  # vertices and possible outcomes of each situation
        self.drawn: list[int] = []  # the situation of each selection
        self.picks: list[list[int]] = []

    def note_pool(self, vertices: tuple[int, ...], possible: Biases, picks: list[int]) -> None:
        """Note that of ``possible`` outcomes, with their biases, ``picks`` were selected.

        ``vertices``: those that select, or are selected.
        """
        key = (*vertices, -1, *possible, len(picks))
        if key not in self.known:
            self.known[key] = len(self.pools)
            self.pools.append((vertices, possible))
        self.drawn.append(self.known[key])
        self.picks.append(picks)

    def beside(self, vertices: tuple[int, ...], possible: Biases) -> np.ndarray:
        """Other numbers of possible outcomes, float64: see Pool.beside."""
        return -np.array([label for label, _ in possible], np.float64)

    def sets(self, checks: Checks) -> None:
        """Test picks without replacement."""
        drawn = np.array(self.drawn)
        sets = Choices(drawn[:, None], drawn)
        _, counts, start, order = sets.grouped

        def pool(number: int) -> Pool:
            here = order[start[number] : start[number] + counts[number]]
            vertices, possible = self.pools[number]
            picks = np.array([self.picks[i] for i in here], np.int64).reshape(here.size, -1)
            name = f"v = {', '.join(map(str, vertices))}"
            return Pool(name, of_largest(possible), picks, here, partial(self.beside, vertices, possible))

        sizes = np.array([len(possible) for _, possible in self.pools])
        add_sets(checks, set_tests(sets, sizes, pool, self.subject.budget // 2), self.what)

    def one_by_one(self, checks: Checks) -> None:
        """Test picks with replacement, in the order in which they were drawn."""
        situations = np.repeat(self.drawn, [len(picks) for picks in self.picks])[:, None]

        def law(number: int) -> dict[int, float]:
            chances: dict[int, float] = defaultdict(float)
            for label, bias in of_largest(self.pools[number][1]):
                chances[label] += bias
            total = sum(chances.values())
            return {label: chance / total for label, chance in chances.items()}

        sizes = np.array([len(possible) for _, possible in self.pools])
        laws = Laws(law, lambda rows: sizes[rows[:, 0]], self.subject.budget)
        chosen = np.array([v for picks in self.picks for v in picks], np.int64)
        statistics(checks, Choices(situations, chosen, ("pool",)), laws, sizes, self.what)
