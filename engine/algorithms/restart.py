"""Random walk with restart: now and then back to the source (Tong et al., ICDM 2006; C-SAW, section II)."""

from csaw.engine.algorithm import Walk, option


class Restart(Walk):
    """The walk returns to its source with a fixed probability at every step, and always from a dead end."""

    paper = "Tong et al., ICDM 2006"
    restart_prob: float = option(0.15, help="probability that a step returns to the source", low=0, high=1)

    def update(self, e):
        if e.random() < self.restart_prob:
            return e.source
        return e.dst

    def dead_end(self, v):
        if v.id == v.source:
            return -1
        return v.source

    def law(self, selected, v):
        if not selected:
            return {-1: 1.0} if v.id == v.source else {v.source: 1.0}
        stay = 1.0 - self.restart_prob
        after = {u: stay * p for u, p in selected.items()}
        after[v.source] = after.get(v.source, 0.0) + self.restart_prob
        return {u: p for u, p in after.items() if p > 0}
