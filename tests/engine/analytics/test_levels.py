"""Searches that several GPUs share find the distances of one, whoever is told of what: the host's part, with GPUs that
are played by NumPy.
"""

from itertools import pairwise

import numpy as np
import pytest
from helpers.networks import SHAPES

from csaw.engine.analytics.cuda.levels import WORD, Course, Found, Search
from csaw.engine.analytics.exchange import Exchange

RANDOM = {
    f"random {seed}": (np.random.default_rng(seed).integers(0, vertices, (edges, 2)).tolist(), vertices)
    for seed, vertices, edges in ((0, 300, 900), (1, 900, 9000), (2, 500, 500))
}
GRAPHS = SHAPES | RANDOM
PULLED, PUSH_SHARE = 8, 32
FEW = 20  # vertices and entries that the first GPU pushes along alone


class Played:
    """A GPU, by sets: its bitmaps are sets of vertices, of which it may know those that it has fetched alone."""

    def __init__(self, rows, back, own, ranges):
        self.rows, self.back, (self.first, self.last), self.ranges = rows, back, own, ranges
        self.distance, self.visited, self.front, self.queue, self.waits = {}, set(), set(), [], {}
        self.lists, self.counts, self.known = [[] for _ in ranges], None, None

    def own(self, whole):
        return set(range(len(self.rows)) if whole else range(self.first, self.last))

    def start(self, source):
        self.queue, self.visited, self.distance = [source], {source}, {source: 0}

    def absorb(self, level):
        assert self.first == 0
        for v in self.front - self.own(False):
            self.visited.add(v)
            self.distance[v] = level

    def prepare(self):
        self.distance = {}

    def wait_for(self, other):
        self.waits[other] = other.steps

    def __setattr__(self, name, value):
        """What others read of it, they have to wait for anew."""
        object.__setattr__(self, name, value)
        if name in ("front", "following", "visited"):
            object.__setattr__(self, "steps", vars(self).get("steps", 0) + 1)

    def fetch(self, other, what, *, whole):
        assert other.steps in (self.waits.get(other), other.known)
        span = other.own(whole)
        vars(self)[what] = (getattr(self, what) - span) | (getattr(other, what) & span)
        self.steps += whole  # else its own words, which others read, are the same

    def to_bits(self, size, *, whole):
        assert size == len(self.queue)
        self.front = set(self.queue)

    def to_queue(self, *, whole):
        self.queue = sorted(self.front & self.own(whole))
        self.counts = [len(self.queue), self.entries(self.queue)]

    def entries(self, found):
        return sum(len(self.rows[v]) for v in found)

    def pull(self, level, *, whole):
        fresh = {v for v in self.own(whole) - self.visited if self.front & set(self.back[v])}
        self.visited |= fresh
        self.distance |= dict.fromkeys(fresh, level)
        self.front, self.counts = fresh, [len(fresh), self.entries(fresh)]

    def push(self, now, level):
        assert now == Found(len(self.queue), self.entries(self.queue))
        self.queue = self.reached()
        self.distance |= dict.fromkeys(self.queue, level)
        self.counts = [len(self.queue), self.entries(self.queue)]

    def reached(self):
        fresh = {u for v in self.queue for u in self.rows[v]} - self.visited
        self.visited |= fresh
        return sorted(fresh)

    def push_share(self, part, level):
        assert part == Found(len(self.queue), self.entries(self.queue))
        assert set(self.queue) <= self.own(False)
        fresh = self.reached()
        self.lists = [[v for v in fresh if first <= v < last] for first, last in self.ranges]
        self.queue, self.counts = [], [0, 0]
        self.keep(sorted(set(fresh) & self.own(False)), level)
        self.steps += 1

    def push_few(self, now, level):
        found = []
        while not found or 0 < max(found[-1]) <= FEW:
            self.push(now if not found else found[-1], level + len(found))
            found.append(Found(*self.counts))
        return found

    def keep(self, fresh, level):
        self.distance |= dict.fromkeys(fresh, level)
        self.queue += fresh
        self.counts = [len(self.queue), self.counts[1] + self.entries(fresh)]

    def take(self, sender, level, *, whole):
        assert self.waits[sender] == sender.steps
        for (first, _), listed in zip(self.ranges, sender.lists, strict=True):
            if whole or first == self.first:
                fresh = set(listed) - self.visited
                vars(self)["visited"] = self.visited | fresh  # which nobody reads of it now
                self.keep(sorted(fresh & self.own(False)), level)

    def found(self):
        self.known = self.steps  # the host has waited
        return self.counts


def distances(rows, source):
    found, front, level = {source: 0}, [source], 0
    while front:
        level += 1
        front = sorted({u for v in front for u in rows[v]} - found.keys())
        found |= dict.fromkeys(front, level)
    return found


def rows_of(edges, vertices, directed):
    rows, back = [[] for _ in range(vertices)], [[] for _ in range(vertices)]
    for u, v in edges:
        rows[u].append(v)
        back[v].append(u)
    return (rows, back) if directed else ([a + b for a, b in zip(rows, back, strict=True)],) * 2


@pytest.mark.parametrize("few", [0, FEW])
@pytest.mark.parametrize("least", [0, 300, 10**9])
@pytest.mark.parametrize("exchange", [None, *Exchange])
@pytest.mark.parametrize("gpus", [2, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_of_several_are_those_of_one(name, gpus, exchange, least, few):
    edges, vertices = GRAPHS[name]
    for directed, can_pull in ((False, True), (True, True), (True, False)):
        rows, back = rows_of(edges, vertices, directed)
        cuts = [vertices * n // gpus // WORD * WORD for n in range(gpus)]
        ranges = list(pairwise([*cuts, vertices]))
        for source in {0, vertices // 2, vertices - 1}:
            shares = [Played(rows, back, own, ranges) for own in ranges]
            course = Course(
                vertices,
                sum(map(len, rows)),
                len(rows[source]),
                can_pull=can_pull,
                pulled=PULLED,
                push_share=PUSH_SHARE,
            )
            Search(shares, course, exchange, least=least, few=few).run(source)
            assert found_by(shares, everywhere=exchange is not None) == distances(rows, source)
            assert course.open + len(distances(rows, source)) == vertices


def found_by(shares, everywhere):
    """The distances of the first GPU, or, where each has those of its own vertices, of all."""
    if not everywhere:
        return shares[0].distance
    found = shares[0].distance
    for share in shares[1:]:
        assert share.distance.keys() <= share.own(False)
        found |= share.distance
    return found


def test_only_large_levels_that_are_pulled_are_divided_by_themselves():
    rows, back = rows_of(*GRAPHS["random 1"], False)
    ranges = [(0, 448), (448, 900)]
    for least, pulls in ((0, True), (10**9, True), (0, False)):
        shares = [Played(rows, back, own, ranges) for own in ranges]
        course = Course(900, 18_000, len(rows[3]), can_pull=pulls, pulled=PULLED, push_share=PUSH_SHARE)
        Search(shares, course, None, least=least, few=0).run(3)
        assert bool(shares[1].distance) == (pulls and least == 0)
