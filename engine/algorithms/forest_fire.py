"""Forest fire: each burning vertex lights a geometric number of new neighbors (Leskovec et al., KDD 2005, section 4.2)."""

from csaw.engine.algorithm import Traversal, option


class ForestFire(Traversal):
    """Each burning vertex lights a geometric number of its unvisited neighbors, burn_prob / (1 - burn_prob) on average."""

    paper = "Leskovec et al., KDD 2005"
    burn_prob: float = option(0.7, help="chance that a vertex lights one more neighbor", low=0, high=1, open_high=True)
    depth: int = option(2, help="number of hops from the source", low=0, high=65535)

    def geometric(self):
        return self.burn_prob

    def sizes(self):
        return (-1,) * self.depth
