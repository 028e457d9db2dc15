"""Checks of samples that end as induced subgraphs: their vertices, all edges among them, and the law of those that are
stored as drawn.
"""

import numpy as np

from csaw.engine.algorithms.multidimensional import Multidimensional
from csaw.engine.api.algorithm import LARGEST, Algorithm, Traversal, Walk
from csaw.engine.api.starts import SourceKind
from csaw.engine.api.termination import length_of, may_end, stays_near
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import MOVED, Group, count, edges_left_out, groups, neighboring_ids, repeats
from csaw.engine.verify.kernels import hops_from
from csaw.engine.verify.layers import matrix_biases, moderate
from csaw.engine.verify.overlap import Overlaps
from csaw.engine.verify.statistics import evenly, normal_sum
from csaw.partition.base.sorting import distinct
from csaw.partition.errors import StoreError

NEXT = "each instance with the next one"

# Checks whether an induced subgraph can have met its vertices, by its sources and its edges.
#
# The draws that met the vertices are not stored, but each of them went along an edge between two vertices that were
# met, and an induced subgraph has all of these. So its vertices are within so many hops of its sources as depths were
# asked for; and where vertices select all of their edges, or some of them for sure, the ends of these are there, too.


class Met:
    """Judges the vertices of groups of instances that end as sets of vertices with edges among them."""

    def __init__(self, subject: Subject) -> None:
        self.subject, a = subject, subject.algorithm
        self.drawn = isinstance(a, Traversal) and (a.induced or a.draws_from == "vertices" and subject.ends_induced)
        """Whether the sources are all vertices."""
        self.as_edges = subject.sources is SourceKind.EVERY and isinstance(a, Traversal) and a.draws_from == "edges"
        anywhere = isinstance(a, Traversal) and (a.draws_from == "vertices" or subject.sources is SourceKind.CLUSTERS)
        self.near = not anywhere and not self.as_edges and stays_near(a)
        self.target = bool(subject.samples.manifest["request"].get("target"))
        """Whether an instance ends in the middle of what it selects, once it has enough vertices."""
        self.hops, self.least = most_hops(a), None if self.target else least_edges(subject)
        self.moves = not self.target and moves(subject)

    def wrong(self, group: Group, keys: np.ndarray) -> int:
        """How many vertices of a group, which are ``keys``, cannot be there; and how many have too few edges within
        their instance, because what they selected is missing.
        """
        if self.drawn:
            return int((~np.isin(keys, group.source_key)).sum())
        src, dst = (np.searchsorted(keys, ends) for ends in (group.src_key, group.dst_key))
        inside = np.bincount(src, minlength=keys.size)
        if self.as_edges:
            touched = inside + np.bincount(dst, minlength=keys.size)
            lonely = np.bincount(keys[touched == 0] // self.subject.view.vertices, minlength=len(group.counts))
            return int(np.maximum(lonely - self.target, 0).sum()) + self._too_few_edges(group)
        if not self.near:
            return 0
        order = np.argsort(src, kind="stable")
        hops, room = np.full(keys.size, -1, np.int64), np.empty(keys.size, np.int64)
        sources = distinct(np.searchsorted(keys, group.source_key))
        room[: sources.size], hops[sources] = sources, 0
        hops_from(np.cumsum(np.append(0, inside)), dst[order], room, sources.size, hops)
        far = int(((hops < 0) | (hops > self.hops)).sum()) + (self._without_edges(group) if self.moves else 0)
        if self.least is None:
            return far
        upto, edges = self.least
        selects = (hops >= 0) & (hops < upto)
        degree = self.subject.degree[keys % self.subject.view.vertices]
        wanted = degree if edges < 0 else np.minimum(degree, edges)
        return far + int((inside[selects] < wanted[selects]).sum())

    def _without_edges(self, group: Group) -> int:
        """How many instances have no edge, although they took one: see moves."""
        can = np.bincount(group.source_instance, self.subject.degree[group.sources], len(group.counts)) > 0
        return int((can & (np.bincount(group.instance, minlength=len(group.counts)) == 0)).sum())

    def _too_few_edges(self, group: Group) -> int:
        """How many instances have fewer edges than were drawn for them."""
        a, subject = self.subject.traversal, self.subject
        size = int(a.sizes()[0])
        if size < 0 or a.replace or self.target or not subject.uniform:
            return 0
        row = np.repeat(np.arange(subject.view.vertices), subject.degree)
        once = a.each_edge_once and not subject.store.directed
        possible = int((row <= subject.view.indices).sum()) if once else row.size
        kept = group.src <= group.dst if once else np.ones(group.src.size, bool)
        found = np.bincount(group.instance[kept], minlength=len(group.counts))
        return int((found < min(size, possible)).sum())


def most_hops(algorithm: Algorithm) -> int:
    """How far from its sources an instance can be, in hops."""
    if isinstance(algorithm, Traversal) and not algorithm.clocks:
        return LARGEST if algorithm.is_unlimited else len(algorithm.sizes())
    length = length_of(algorithm)
    return LARGEST if length is None else length


def least_edges(subject: Subject) -> tuple[int, int] | None:
    """Vertices up to how many hops from the sources, exclusive, select edges for sure, and how many; -1: all of theirs.

    None where none is sure.
    """
    a = subject.algorithm
    if subject.updates or not subject.all_possible:
        return None
    if isinstance(a, Walk):
        return None if a.timed or a.walk_length == 0 or may_end(a) or not stays_near(a) or _stays(a) else (1, 1)
    assert isinstance(a, Traversal)
    sizes = a.sizes()
    if not sizes or a.draws_from != "edges" or a.geometric or a.time_strategy is not None or a.clocks or a.unique:
        return None
    if a.pool_size is not None or a.total is not None:
        return None
    if set(sizes) == {-1}:
        return most_hops(a), -1
    if a.collective or a.shares_draws or sizes[0] == 0:
        return None
    return 1, (1 if a.replace else sizes[0])


def moves(subject: Subject) -> bool:
    """Whether an instance takes an edge for sure where one of its sources has one: a walker with a clock moves, or a
    frontier selects together.
    """
    a = subject.algorithm
    if isinstance(a, Walk) or not subject.all_possible:
        return False
    assert isinstance(a, Traversal)
    if a.clocks:
        return a.walk_length != 0 and type(a).vertex_bias is Multidimensional.vertex_bias
    sizes = a.sizes()
    other = a.geometric or a.shares_draws or a.pool_size is not None or a.time_strategy is not None or subject.updates
    return bool(a.collective and a.draws_from == "edges" and not other and sizes and sizes[0] != 0)


def _stays(walk: Walk) -> bool:
    """Whether hooks decide where a walk goes on."""
    return type(walk).update is not Walk.update


# Checks of induced subgraphs.


def verify_met(subject: Subject, checks: Checks) -> None:
    """Check the vertices and edges of induced subgraphs.

    The draws that met the vertices are not stored, but for the sources.
    """
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes", "met"), 0)
    met = Met(subject)
    clusters = DrawnClusters(subject) if subject.sources is SourceKind.CLUSTERS else None
    drawn = np.zeros(subject.view.vertices, np.int64)
    weights = None if clusters else source_weights(subject)
    overlaps = _overlaps(subject, weights)
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
        if weights is not None and overlaps is not None:
            each = weights[group.sources]
            overlaps.add(group.source_instance, group.sources, each, len(group.counts))
        wrong["sources"] += clusters.add(keys, len(group.counts)) if clusters else 0
    count(checks, wrong)
    if clusters is not None:
        clusters.judge(checks)
        return
    _law_of_sources(subject, checks, drawn, weights)
    if overlaps is not None:
        checks.results("sources, independence", overlaps.results(), NEXT, "too few sources drawn")


def _overlaps(subject: Subject, weights: np.ndarray | None) -> Overlaps | None:
    """What counts the sources that the instance before has, too; None if it is not known how many these should be."""
    sets = subject.sources is SourceKind.DISTINCT
    if weights is None or (sets and subject.samples.manifest["request"].get("target")):
        return None
    return Overlaps(subject.view.vertices, float(weights.sum()), "sources of the instance before", replace=not sets)


def met_keys(subject: Subject, group: Group) -> np.ndarray:
    """instance * vertices + vertex of every stored vertex of a group, in the order of the store."""
    counts, vertices = group.arrays["vertex_counts"], subject.dense(group.arrays["vertices"])
    return np.repeat(np.arange(counts.size), counts) * subject.view.vertices + vertices


def _law_of_sources(subject: Subject, checks: Checks, drawn: np.ndarray, weights: np.ndarray | None) -> None:
    """Test that sources were drawn by their law, and say what cannot be tested."""
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
        return None if biases is None else np.bincount(subject.view.indices, moderate(biases), subject.view.vertices)
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
                f"{found}; make the graph again with the same --num-clusters, --clustering and --clustering-seed"
            )
        self.clusters, self.vertices = store.read_clusters(), store.vertices
        self.count, self.asked = store.clusters.count, int(algorithm.frontier_size)
        self.sizes = np.bincount(self.clusters, minlength=self.count)
        self.drawn = np.zeros(self.count, np.int64)
        self.overlaps = Overlaps(self.count, self.count, "clusters of the instance before", replace=False)
        self.joins = bool(subject.samples.manifest["request"].get("target"))
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
        self.overlaps.add(instance, cluster, np.ones(cluster.size), instances)
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
        if there.all() and not self.joins:
            checks.results("sets, independence", self.overlaps.results(), NEXT, few)
