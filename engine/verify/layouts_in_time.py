"""Checks of neighbors in time by layout: which vertices have selected, what they knew, and the edges of each."""

import numpy as np

from csaw.engine.samples.layouts.layout import SEED_TIME
from csaw.engine.sources.digest import digest_of
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.course import passed
from csaw.engine.verify.neighbors_in_time import InTime, Pools, SharedDraws, Together, in_time
from csaw.engine.verify.selections import Selections, hops_of, one_of
from csaw.partition.graph.types import RELATION

Arrays = dict[str, np.ndarray]


class Shown:
    """A number of each place of the list of sources, its vertex, time or label, as far as a sample shows it.

    ``wrong``: how many are others than shown before. ``asked``: the digest of all of them.
    """

    def __init__(self, asked: str, listed: int, dtype: type = np.int64) -> None:
        self.asked, self.wrong = asked, 0
        self.value: np.ndarray = np.zeros(listed, dtype)
        self.known = np.zeros(listed, bool)

    def add(self, places: np.ndarray, values: np.ndarray) -> None:
        inside = (places >= 0) & (places < self.value.size)
        place, value = places[inside], values[inside]
        new = ~self.known[place]
        self.value[place[new]], self.known[place[new]] = value[new], True
        self.wrong += int((~inside).sum() + (self.value[place] != value).sum())

    def judged(self) -> int:
        """The number of wrong ones, with 1 more if all are known and are not those that were asked for."""
        return self.wrong + int(self.known.all() and digest_of(self.value) != self.asked)


class SeedTimes:
    """The times of sources: one for all of them, or one at each place of their list."""

    def __init__(self, subject: Subject) -> None:
        self.same: int | None = getattr(subject.algorithm, "start_time", None)
        self.wrong, self.shown = 0, Shown(subject.asked.times, subject.asked.count or 0)

    def add(self, places: np.ndarray, times: np.ndarray) -> None:
        if self.same is None:
            self.shown.add(places, times)
        else:
            self.wrong += int((times != self.same).sum())

    def judge(self, checks: Checks) -> None:
        known, wrong = self.shown.known, self.wrong + self.shown.judged() * (self.same is None)
        if self.same is None and not wrong and not known.all():
            checks.not_tested(
                "times",
                f"{known.sum():,} of {known.size:,} sources are in the sample, each with one time, and a request has "
                "a digest of the times of all",
            )
        else:
            checks.count("times", wrong, "times of sources that differ from the given ones")


def verify_in_time(subject: Subject, checks: Checks) -> None:
    """Check neighbors in time, of samples that are hops or subgraphs."""
    judged, seeds, strange = _judge_of(subject), SeedTimes(subject), 0
    listed = subject.asked.count or 0  # 0: not known, where a list has no times
    shown = Shown(subject.asked.digest, listed)
    for start, arrays in passed(subject.samples, watch=subject.watch):
        sources, counts = subject.samples.layout.sources(arrays)
        numbers = subject.samples.first + start
        positions = numbers * int(counts.max(initial=0)) + np.arange(sources.size)
        dense = subject.dense(sources)
        strange += int((dense < 0).sum())
        if subject.starts_at_all:
            strange += int((dense != subject.all_sources(positions)).sum())
        seeds.add(positions % max(listed, 1), arrays[SEED_TIME].ravel())
        if listed:
            shown.add(positions % listed, dense.ravel())
        strange += _of_group(subject, judged, arrays, numbers)
    strange += shown.judged() if listed else 0
    checks.count("sources", strange, "sources or edges that are missing, wrong, without times or out of order")
    seeds.judge(checks)
    judged.judge(checks)


def _judge_of(subject: Subject) -> InTime | Together:
    """The checks of what frontiers select together, or each vertex by itself."""
    if subject.traversal.shares_draws:
        return SharedDraws(subject)
    return Pools(subject) if subject.traversal.collective else InTime(subject.of_rows)


def _of_group(subject: Subject, judged: InTime | Together, arrays: Arrays, first: int) -> int:
    """Check a group, from instance ``first`` on; returns the number of cells, edges and instances out of order."""
    if isinstance(judged, Together):
        return judged.add(arrays, first)
    if subject.samples.layout == "subgraphs":
        return _subgraphs(subject, judged, arrays, first)
    strange = 0
    for s, faults in hops_of(subject, arrays, first):
        judged.add(s)
        strange += faults
    return strange


def _subgraphs(subject: Subject, judged: InTime, arrays: Arrays, first: int) -> int:
    """Check the subgraphs of a group, from instance ``first`` on, whose edges are in the order of the vertices that
    have selected them; returns the number of instances that have another number of edges at a depth, and of edges out
    of order.
    """
    algorithm = subject.traversal
    instances, sizes = arrays["counts"].size, algorithm.sizes()
    local, rows = np.repeat(np.arange(instances), arrays["counts"]), subject.by_relation
    src, dst = (subject.dense(arrays[name]) for name in ("src", "dst"))
    each, relation = 1, np.zeros(src.size, np.int64)
    if rows is not None:
        each, relation = rows.relations, arrays[RELATION.name].astype(np.int64)
    owner = np.repeat(np.arange(instances), arrays["source_counts"])
    vertex, now, depth = subject.dense(arrays["sources"]), arrays[SEED_TIME], arrays["depth"].astype(np.int64)
    strange = int(
        ((depth < 0) | (depth >= len(sizes))).sum() + ((depth[1:] < depth[:-1]) & (local[1:] == local[:-1])).sum()
    )
    fine, every = np.ones(instances, bool), one_of(subject, owner.size + src.size, instances)
    for level, width in enumerate(sizes):
        kept = fine[owner] & (vertex >= 0)
        owner, vertex, now, size = owner[kept], vertex[kept], now[kept], np.full(int(kept.sum()), width)
        if rows is not None:
            node, of = rows.selecting(vertex, np.full(vertex.size, level))
            owner, vertex, now, size = owner[node], vertex[node] * each + of, now[node], rows.sizes[level, of]
        asked = judged.expected(vertex, now, size)
        here = np.flatnonzero((depth == level) & fine[local])
        wanted = np.bincount(owner, asked, instances).astype(np.int64)
        fine &= wanted == np.bincount(local[here], minlength=instances)
        kept, here = fine[owner], here[fine[local[here]]]
        owner, vertex, now, size, asked = owner[kept], vertex[kept], now[kept], size[kept], asked[kept]
        of_edge = np.repeat(np.arange(vertex.size), asked)
        strange += int(((src[here] * each + relation[here] != vertex[of_edge]) | (relation[here] >= each)).sum())
        of_vertices = (vertex, vertex[:, None], size, np.full(vertex.size, level), owner + first, every)
        judged.add(Selections(*of_vertices, of_edge, dst[here] * each, now, arrays["time"][here]))
        now = arrays["time"][here] if in_time(subject).against_previous else now[of_edge]
        owner, vertex = owner[of_edge], dst[here]
    return strange + int((~fine).sum())
