"""Biased random walk: the bias of an edge is its weight, or the degree it leads to (C-SAW, SC 2020, section II)."""

from csaw.engine.algorithm import Walk, option


class Biased(Walk):
    """Static biased walk: next vertex by edge weight or by its degree."""

    paper = "Pandey et al., SC 2020"
    bias: str = option("degree", help="what an edge is chosen by", choices=("weight", "degree", "none"))

    def edge_bias(self, e):
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0
