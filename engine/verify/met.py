"""Checks whether an induced subgraph can have met its vertices, by its sources and its edges.

The draws that met the vertices are not stored, but each of them went along an edge between two vertices that were met,
and an induced subgraph has all of these. So its vertices are within so many hops of its sources as depths were asked
for; and where vertices select all of their edges, or some of them for sure, the ends of these are there, too.
"""

from typing import Any

import numpy as np

from csaw.engine.algorithms.multidimensional import Multidimensional
from csaw.engine.api.algorithm import LARGEST, Algorithm, Traversal, Walk
from csaw.engine.api.starts import SourceKind
from csaw.engine.api.termination import may_end, stays_near
from csaw.engine.verify.checks import Subject
from csaw.engine.verify.groups import Group
from csaw.engine.verify.kernels import hops_from


class Met:
    """Judges the vertices of groups of instances that end as sets of vertices with edges among them."""

    def __init__(self, subject: Subject) -> None:
        self.subject, a = subject, subject.algorithm
        self.drawn = isinstance(a, Traversal) and (a.induced or a.draws_from == "vertices" and a.ends_induced)
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
        sources = np.unique(np.searchsorted(keys, group.source_key))
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
    a: Any = algorithm
    if isinstance(algorithm, Walk) or a.clocks:
        return LARGEST if a.walk_length is None else int(a.walk_length)
    return LARGEST if a.is_unlimited else len(a.sizes())


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
    a: Any = subject.algorithm
    if isinstance(a, Walk) or not subject.all_possible:
        return False
    if a.clocks:
        return a.walk_length != 0 and type(a).vertex_bias is Multidimensional.vertex_bias
    sizes = a.sizes()
    other = a.geometric or a.shares_draws or a.pool_size is not None or a.time_strategy is not None or subject.updates
    return bool(a.collective and a.draws_from == "edges" and not other and sizes and sizes[0] != 0)


def _stays(walk: Walk) -> bool:
    """Whether hooks decide where a walk goes on."""
    return type(walk).update is not Walk.update
