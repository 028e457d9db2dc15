"""Biased random walk: the bias of an edge is its weight, or the degree it leads to (C-SAW, SC 2020, section II)."""

from csaw.engine.algorithm import Walk, option


class Biased(Walk):
    """The walk moves to a neighbor chosen by its degree or by the weight of its edge."""

    paper = "Pandey et al., SC 2020"
    bias: str = option(
        "degree",
        help="bias of a neighbor: the weight of its edge, its degree, or none, which makes all equally likely",
        choices=("weight", "degree", "none"),
    )

    def edge_bias(self, e):
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0
