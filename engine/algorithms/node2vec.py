"""node2vec: a walk that remembers one step back (Grover and Leskovec, KDD 2016, section 3.2)."""

from csaw.engine.algorithm import Walk, option

LIMITS = {"low": 1e-250, "high": 1e250, "reason": "beyond it a weight times 1/p or 1/q may leave the range of float64"}


class Node2vec(Walk):
    """Second-order walk: back with weight 1/p, near with 1, away with 1/q."""

    paper = "Grover and Leskovec, KDD 2016"
    p: float = option(1.0, help="return parameter: higher avoids going back", **LIMITS)
    q: float = option(1.0, help="in-out parameter: higher stays near the source", **LIMITS)

    def edge_bias(self, e):
        if e.dst == e.prev:
            return e.weight / self.p
        if e.prev < 0 or e.is_neighbor(e.prev, e.dst):
            return e.weight
        return e.weight / self.q

    def bias_range(self):
        return min(1.0, 1.0 / self.q), max(1.0, 1.0 / self.q), 1.0 / self.p
