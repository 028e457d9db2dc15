"""Checks of samples that end as induced subgraphs: their vertices, all edges among them, and the law of those that are
stored as drawn.
"""

import numpy as np

from csaw.engine.api.starts import SourceKind
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import MOVED, Group, count, edges_left_out, groups, neighboring_ids, repeats
from csaw.engine.verify.layers import matrix_biases
from csaw.engine.verify.met import Met
from csaw.engine.verify.power import normal_sum
from csaw.engine.verify.statistics import evenly
from csaw.partition.errors import StoreError


def verify_met(subject: Subject, checks: Checks) -> None:
    """Check the vertices and edges of induced subgraphs.

    The draws that met the vertices are not stored, but for the sources.
    """
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes", "met"), 0)
    met = Met(subject)
    clusters = DrawnClusters(subject) if subject.sources is SourceKind.CLUSTERS else None
    drawn = np.zeros(subject.view.vertices, np.int64)
    for group in groups(subject, checks, wrong):
        keys = met_keys(subject, group)
        wrong["sources"] += int((~np.isin(group.source_key, keys)).sum())
        wrong["visits"] += int((~(np.isin(group.src_key, keys) & np.isin(group.dst_key, keys))).sum()) + int(
            (np.diff(keys) <= 0).sum()
        )
        wrong["repeats"] += repeats(subject, group, np.ones(group.src.size, np.int64))
        wrong["sizes"] += edges_left_out(subject, group, keys)
        wrong["met"] += met.wrong(group, keys) if not any(wrong.values()) else 0
        drawn += np.bincount(group.sources, minlength=subject.view.vertices)
        wrong["sources"] += clusters.add(keys, len(group.counts)) if clusters else 0
    count(checks, wrong)
    if clusters is not None:
        clusters.judge(checks)
        return
    _law_of_sources(subject, checks, drawn)


def met_keys(subject: Subject, group: Group) -> np.ndarray:
    """instance * vertices + vertex of every stored vertex of a group, in the order of the store."""
    counts, vertices = group.arrays["vertex_counts"], subject.dense(group.arrays["vertices"])
    return np.repeat(np.arange(counts.size), counts) * subject.view.vertices + vertices


def _law_of_sources(subject: Subject, checks: Checks, drawn: np.ndarray) -> None:
    """Test that sources were drawn by their law, and say what cannot be tested."""
    weights = source_weights(subject)
    few, deviation = "too few sources drawn", MOVED.format("sources drawn", "vertices")
    if weights is None:
        checks.not_tested("sources, law", "sources were given, not drawn")
    else:
        checks.results("sources, law", evenly(drawn, 0, deviation, weights), f"{int(drawn.sum()):,} drawn", few)
    if subject.sources is not SourceKind.EVERY:
        checks.not_tested(
            "vertices",
            "an induced subgraph does not say along which edges its vertices were met; sample without "
            "--induced to test that",
        )


def source_weights(subject: Subject) -> np.ndarray | None:
    """The chance of each vertex to be a source, up to a factor; None where sources were given, or their law takes too
    long.
    """
    if subject.sources is SourceKind.EVERY and subject.traversal.draws_from == "vertices":
        biases = matrix_biases(subject)
        return None if biases is None else np.bincount(subject.view.indices, biases, subject.view.vertices)
    if subject.sources is SourceKind.CONNECTED:
        return (subject.degree > 0).astype(np.float64)
    return np.ones(subject.view.vertices) if subject.sources in (SourceKind.RANDOM, SourceKind.DISTINCT) else None


# Checks of sets of clusters: whole clusters, as many as asked for, each equally likely and beside any other.


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
