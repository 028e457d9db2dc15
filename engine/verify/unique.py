"""Comparing depths that select different vertices with their law, draw by draw: each is by bias among the edges that
were possible then.

The edges of a depth are stored in the order in which they were drawn. Possible are those to vertices that the depth had
not selected, of frontier vertices that had selected fewer than asked for; of a collective depth all, until it has
selected enough.
"""

import numpy as np

from csaw.engine.api.option import LARGEST
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.entries import Entries
from csaw.engine.verify.frontier_pools import FrontierPools
from csaw.engine.verify.groups import Group


class UniqueEntries(Entries):
    """The draws of as many instances as the budget of biases allows, and over all instances the vertices that a depth
    selected twice.
    """

    def __init__(self, subject: Subject, frontiers: FrontierPools | None = None) -> None:
        super().__init__(subject, frontiers)
        self.twice = self.unfinished = 0

    def add(self, group: Group) -> None:
        levels = int(group.depth.max(initial=0)) + 1
        selected = group.dst_key * levels + group.depth
        self.twice += selected.size - np.unique(selected).size
        super().add(group)

    def _note(self, frontier: list[int], visited: set[int], drawn: list[tuple[int, int]], at: dict[str, int]) -> None:
        """Note each draw of a depth with the edges that were possible then."""
        algorithm = self.algorithm
        others, sizes = tuple(at[name] for name in self.subject.columns[1:]), algorithm.sizes()
        size = sizes[min(at["depth"], len(sizes) - 1)]
        most = LARGEST if size < 0 else size
        number = {v: place for place, v in enumerate(frontier)}
        if algorithm.geometric is not None or any(src not in number for src, _ in drawn):
            return  # how many edges a vertex asked for is not known, or it is there twice
        rows = {v: [(dst, bias) for dst, bias in self._possible(v, *others) if dst not in visited] for v in frontier}
        room = dict.fromkeys(["all"] if algorithm.collective else frontier, most)
        taken: set[int] = set()

        def possible() -> list[tuple[int, float]]:
            return [
                (number[v] * self.subject.view.vertices + dst, bias)
                for v in frontier
                if room["all" if algorithm.collective else v] > 0
                for dst, bias in rows[v]
                if dst not in taken
            ]

        for src, dst in drawn:
            self.note_pool(tuple(frontier), possible(), [number[src] * self.subject.view.vertices + dst])
            taken.add(dst)
            room["all" if algorithm.collective else src] -= 1
        self.unfinished += bool(possible())

    def judge(self, checks: Checks) -> None:
        """Add the checks of vertices that are there twice and of depths that ended early, then
        the tests of the draws.
        """
        checks.count("unique", self.twice, "vertices that a depth selected twice")
        checks.count(
            "top-up",
            self.unfinished,
            "depths that ended with fewer vertices than asked for, although another edge was possible",
        )
        if self.drawn:
            self.one_by_one(checks)
