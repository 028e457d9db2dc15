"""Metropolis-Hastings walk: visits every vertex equally often (Gjoka et al., INFOCOM 2010; C-SAW, section II)."""

from csaw.engine.algorithm import Walk


class MetropolisHastings(Walk):
    """The walk proposes a uniform neighbor, moves there with probability min(1, degree here / degree there), and
    otherwise stays.
    """

    paper = "Gjoka et al., INFOCOM 2010"
    visits = "uniform"

    def edge_bias(self, e):
        return 1.0

    def update(self, e):
        if e.random() * e.dst_degree < e.src_degree:
            return e.dst
        return e.src

    def law(self, selected, v):
        moved = {u: p * min(1.0, v.degree(v.id) / v.degree(u)) if v.degree(u) else p for u, p in selected.items()}
        moved[v.id] = moved.get(v.id, 0.0) + 1.0 - sum(moved.values()) if selected else 0.0
        return {u: p for u, p in moved.items() if p > 0} if selected else {-1: 1.0}
