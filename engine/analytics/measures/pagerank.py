"""PageRank: how often a walk that follows edges at random, and jumps now and then, is at each vertex."""

from csaw.engine.analytics.iterations import RankMeasure, found
from csaw.engine.analytics.measure import Findings
from csaw.engine.analytics.network import Network


class Pagerank(RankMeasure):
    """PageRank: jumps, and steps from a vertex without edges, go to any vertex.

    The sum of ranks is 1. Entries of rows count as they are stored, self loops and repeats included, without weights.
    The distribution is of ranks in multiples of their mean, and has a value for each eighth of a doubling.
    """

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("pagerank", "arriving_sums", "neighbor_sums")

    def findings(self, network: Network) -> Findings:
        nowhere = network.xp.zeros(0, "int64")
        ranks = network.compute("pagerank", damping=self.damping, tolerance=self.tolerance, sources=nowhere)
        return found("pagerank", ranks)
