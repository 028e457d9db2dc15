"""Checks of sets of clusters: whole clusters, as many as asked for, each equally likely and beside any other."""

import numpy as np

from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import MOVED, neighboring_ids
from csaw.engine.verify.power import normal_sum
from csaw.engine.verify.statistics import evenly
from csaw.partition.errors import StoreError


class DrawnClusters:
    """Counts the clusters that instances hold, and pairs of a cluster and the next one.

    StoreError where the graph has other clusters than were sampled.
    """

    def __init__(self, subject: Subject) -> None:
        algorithm = subject.traversal
        store, asked = subject.store, subject.asked.digest
        if store.clusters is None or store.clusters.digest != asked:
            found = "none" if store.clusters is None else store.clusters.digest
            raise StoreError(
                f"{store.path}: expected the clusters that were sampled, with the digest {asked}, found "
                f"{found}; make the graph again with the same --clusters, --method and --cluster-seed"
            )
        self.clusters, self.vertices = store.read_clusters(), store.vertices
        self.count, self.asked = store.clusters.count, int(algorithm.frontier_size)
        self.sizes = np.bincount(self.clusters, minlength=self.count)
        self.drawn = np.zeros(self.count, np.int64)
        self.beside = self.variance = 0.0

    def add(self, keys: np.ndarray, instances: int) -> int:
        """Add the vertices of some instances, as instance * vertices + vertex, each once.

        Returns how many instances are no such set of clusters.

        A cluster without vertices leaves no trace: instances may seem to have so many fewer.
        """
        cells = keys // self.vertices * self.count + self.clusters[keys % self.vertices]
        cell, found = np.unique(cells, return_counts=True)
        instance, cluster = cell // self.count, cell % self.count
        wrong = np.bincount(instance, found != self.sizes[cluster], instances) > 0
        held, empty = np.bincount(instance, minlength=instances), int((self.sizes == 0).sum())
        wrong |= (held > self.asked) | (held < self.asked - empty)
        self.drawn += np.bincount(cluster, minlength=self.count)
        beside, variance = neighboring_ids(self.count, cell, held)
        self.beside, self.variance = self.beside + beside, self.variance + variance
        return int(wrong.sum())

    def judge(self, checks: Checks) -> None:
        """Test that clusters, and pairs of a cluster and the next one, are drawn as often as they should."""
        there = (self.sizes > 0).astype(np.float64)
        few = "every instance holds all clusters" if self.asked >= self.count else "too few clusters drawn"
        total = int(self.drawn.sum())
        single = evenly(self.drawn, self.asked, MOVED.format("clusters drawn", "clusters"), there)
        checks.results("clusters", single, f"{total:,} drawn, every one equally likely", few)
        if there.all():
            pairs = normal_sum(self.beside, self.variance, float(total), "clusters drawn together with the one before")
            checks.results("sets", pairs, "how often a set holds a cluster and the next one", few)
        else:
            checks.not_tested("sets", "some clusters have no vertex, and leave no trace")
