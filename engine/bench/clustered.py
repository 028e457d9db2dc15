"""A graph with clusters of vertices, for ClusterGCN, where its store was made without."""

import numpy as np

from csaw.partition import GraphStore
from csaw.partition.graph.clusters import Clusters, digest_of, make_clusters
from csaw.partition.graph.views import Recut

METHOD, SEED = "random", 0  # R-MAT graphs have no communities that another method could find
MEMBERS = 160  # mean vertices of a cluster: ogbn-products in 15,000 clusters


class Clustered(Recut):
    """``store`` with random clusters of about MEMBERS vertices, and at least ``fewest`` where it has as many vertices.

    Nothing is copied.
    """

    def __init__(self, store: GraphStore, fewest: int) -> None:
        super().__init__(store, [(part.first_vertex, part.first_edge) for part in store.partitions])
        count = min(max(fewest, store.vertices // MEMBERS), store.vertices)
        self.numbers = make_clusters(store, count, METHOD, SEED)
        self.clusters = Clusters(count, METHOD, SEED, digest_of(self.numbers))

    def read_clusters(self) -> np.ndarray:
        return self.numbers


def in_clusters(store: GraphStore, fewest: int) -> GraphStore:
    """The store itself if it has ``fewest`` clusters, or else a view of it with random ones."""
    if store.clusters is not None and store.clusters.count >= fewest:
        return store
    return Clustered(store, fewest)
