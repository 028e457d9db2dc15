"""Neighbor sampling: a fixed number of neighbors at each hop (Hamilton et al., NeurIPS 2017, algorithm 2; C-SAW, section II)."""

from csaw.engine.algorithm import Traversal, option


class Neighbor(Traversal):
    """GraphSAGE: for each vertex of a hop, FANOUT neighbors for the next."""

    paper = "Hamilton et al., NeurIPS 2017"
    layout = "hops"
    visited_once = False
    fanout: tuple = option((25, 10), help="neighbors at each hop, comma-separated; -1 is all", low=-1)
    replace: bool = option(False, help="draw neighbors with replacement")
    bias: str = option("weight", help="what a neighbor is chosen by", choices=("weight", "degree", "none"))

    def edge_bias(self, e):
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0

    def sizes(self):
        return self.fanout
