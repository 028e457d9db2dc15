"""node2vec: a walk that remembers one step back (Grover and Leskovec, KDD 2016, section 3.2)."""

from csaw.engine.algorithm import Walk, option

LIMITS = {"low": 1e-250, "high": 1e250, "reason": "beyond it, a weight times 1/p or 1/q may not fit in float64"}


class Node2vec(Walk):
    """The walk returns with weight 1/p, moves to a neighbor of the previous vertex with weight 1, and moves away with
    weight 1/q.
    """

    paper = "Grover and Leskovec, KDD 2016"
    p: float = option(1.0, help="return parameter: a walk with a higher p returns less often", **LIMITS)
    q: float = option(
        1.0, help="in-out parameter: a walk with a higher q stays nearer to the previous vertex", **LIMITS
    )

    def edge_bias(self, e):
        if e.dst == e.prev:
            return e.weight / self.p
        if e.prev < 0 or e.is_neighbor(e.prev, e.dst):
            return e.weight
        return e.weight / self.q

    def bias_range(self):
        return min(1.0, 1.0 / self.q), max(1.0, 1.0 / self.q), 1.0 / self.p
