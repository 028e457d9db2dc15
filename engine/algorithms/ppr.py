"""Personalized PageRank walk: ends with a fixed chance at every step (Fogaras et al., Internet Math. 2005)."""

from csaw.engine.algorithm import LENGTH_HELP, MOST_STEPS, Walk, option


class Ppr(Walk):
    """The walk ends with a fixed probability before every step; its last vertex is a draw from personalized
    PageRank."""

    paper = "Fogaras et al., Internet Mathematics 2005"
    walk_length: int | None = option(None, kind=int, help=LENGTH_HELP, low=0, high=MOST_STEPS, none="no limit")
    termination_prob: float = option(0.15, help="probability that the walk ends before a step", low=0, high=1)

    def expected_steps(self):
        return 1 / self.termination_prob - 1 if self.termination_prob > 0 else float("inf")

    def update(self, e):
        if e.random() < self.termination_prob:
            return -1
        return e.dst

    def law(self, selected, v):
        if not selected:
            return {-1: 1.0}
        after = {u: (1.0 - self.termination_prob) * p for u, p in selected.items()}
        after[-1] = self.termination_prob
        return {u: p for u, p in after.items() if p > 0}
