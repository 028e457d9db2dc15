"""ClusterGCN: mini-batches of clusters of vertices that have few edges between them (Chiang et al., KDD 2019, algorithm
1).
"""

from csaw.engine.algorithm import Traversal, option


class ClusterGcn(Traversal):
    """An instance is CLUSTERS_PER_BATCH different clusters, every such set equally likely, with all edges among their
    vertices.
    """

    paper = "Chiang et al., KDD 2019"
    sources_from = "clusters"
    ends_induced = True
    clusters_per_batch: int = option(20, help="number of clusters in an instance", low=1, high=2**31 - 1)

    @property
    def frontier_size(self):
        return self.clusters_per_batch

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return ()
