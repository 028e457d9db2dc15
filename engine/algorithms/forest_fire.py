"""Forest fire: each burning vertex lights a geometric number of new neighbors (Leskovec et
al., KDD 2005, section 4.2).
"""

from csaw.engine.algorithm import DEPTH_HELP, Traversal, every_hop, option


class ForestFire(Traversal):
    """Each burning vertex sets a random number of its unvisited neighbors on fire: the number is geometric, with mean
    burn_prob / (1 - burn_prob).
    """

    paper = "Leskovec et al., KDD 2005"
    burn_prob: float = option(
        0.7, help="probability that a vertex sets one more neighbor on fire", low=0, high=1, open_high=True
    )
    depth: int | None = option(2, help=DEPTH_HELP, low=0, high=65535, none="no limit")

    def geometric(self):
        return self.burn_prob

    def sizes(self):
        return every_hop(-1, self.depth)
