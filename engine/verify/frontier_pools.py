"""The frontiers of a traversal with a pool: selected once more, in plain Python, at the same addresses, and compared
with the law.

What a pool holds follows from the sources and the sampled edges, and what is selected of it from random numbers at
known addresses. So every sampled edge must begin at a vertex that is selected here; and what is selected here must fit
successive selection by ``vertex_bias``, or with replacement independent draws.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, count
from math import frexp, ldexp
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.option import LARGEST
from csaw.engine.api.plain_hooks import plain_hook
from csaw.engine.draws.random import FRONTIER_DRAWS, frontier_word
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import Group
from csaw.engine.verify.kernels import arrivals
from csaw.engine.verify.situations import Situations
from csaw.engine.verify.updates import update_of

BITS = 62  # of the sum of a pool's biases as integers
UNREAD = {"prev": -1, "source": -1, "depth": 0, "instance": 0}  # what a bias gets that does not read it


class Entry(NamedTuple):
    """A vertex that waits, at the slot of the edge that led to it from the vertex ``previous``; -1: a source."""

    slot: int
    vertex: int
    previous: int


class Depth(NamedTuple):
    """What is selected of a pool at a depth."""

    number: int
    pool: list[Entry]
    biases: list[float]
    chosen: list[int]
    """Numbers in the pool, in the order in which they were drawn."""
    visited: set[int]
    """The vertices that have entered the pool by now."""
    edges: range
    """Numbers of the sampled edges in their group."""


class FrontierPools:
    """Follows the pools of all instances, and notes selections of as many as the budget of biases allows."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.algorithm = subject, subject.traversal
        self.seed = np.uint64(subject.samples.manifest["request"]["seed"])
        self.update, self.selections = update_of(subject), Situations(subject, "frontiers")
        hook = hooks.others(subject.algorithm, subject.weighted)["vertex_bias"]
        assert hook is not None
        asks = "is_neighbor" in hook.reads
        self.reads = hook.reads | ({"prev", "source"} if asks else set())
        self._plain, self._known = plain_hook(subject.algorithm, "vertex_bias"), lru_cache(1 << 18)(self._bias)

    def follow(self, group: Group) -> None:
        """Set what follows the edges of a group, and its frontiers."""
        share = self.subject.budget * len(group.counts) / max(1, self.subject.samples.instances)
        group.then, keys, depths = np.full(group.src.size, -1), list[int](), list[int]()
        for i in range(len(group.counts)):
            for depth in self.depths(group, i):
                keys += [i * self.subject.view.vertices + depth.pool[n].vertex for n in depth.chosen]
                depths += [depth.number] * len(depth.chosen)
                share -= len(depth.pool)
                if share >= 0:
                    self._note(depth)
        rows, times = np.unique(np.array([keys, depths], np.int64), axis=1, return_counts=True)
        group.frontier = rows[0], rows[1], times

    def depths(self, group: Group, i: int) -> Iterator[Depth]:
        """Follow the pool of instance ``i`` of a group; what its edges lead to is noted there."""
        algorithm, instance = self.algorithm, group.start + i
        edge, end = group.first_edge[i : i + 2]
        sources = group.sources[slice(*group.first_source[i : i + 2])].tolist()
        pool, visited = [Entry(slot, v, -1) for slot, v in enumerate(sources)], set(sources)
        slot, met, most = len(sources), len(sources), algorithm.total or LARGEST
        for number in count() if algorithm.is_unlimited else range(len(algorithm.sizes())):
            biases = [self._known(*self._read(instance, number, sources[0], entry)) for entry in pool]
            chosen = self._chosen(instance, number, pool, biases)
            if not chosen or met >= most:
                return
            first = edge
            while edge < end and group.depth[edge] == number:
                edge += 1
            yield Depth(number, pool, biases, chosen, visited, range(first, edge))
            owners = _owners(group, [pool[n] for n in sorted(chosen)], range(first, edge))
            leaving = set(chosen)
            pool = [entry for n, entry in enumerate(pool) if n not in leaving]
            for at, previous in zip(range(first, edge), owners, strict=True):
                src, dst = int(group.src[at]), int(group.dst[at])
                then = self.update(instance, slot, number, sources[0], previous, src, dst)
                group.then[at] = then
                if then >= 0 and not (algorithm.visited_once and then in visited):
                    pool.append(Entry(slot, then, src))
                    visited.add(then)
                    met += 1
                slot += 1

    def entries(self, group: Group, i: int) -> Iterator[tuple[int, list[int], set[int], list[tuple[int, int]]]]:
        """Yield (depth, frontier, vertices visited by then, selected edges) of an instance, as Entries has them.

        Without the vertices that select twice, whose selections cannot be told apart.
        """
        for depth in self.depths(group, i):
            times = Counter(depth.pool[n].vertex for n in depth.chosen)
            alone = sorted(v for v, often in times.items() if often == 1)
            if self.algorithm.collective and len(alone) < len(times):
                continue
            edges = [(int(group.src[at]), int(group.dst[at])) for at in depth.edges]
            yield depth.number, alone, depth.visited if self.algorithm.only_new else set(), edges

    def _read(self, instance: int, depth: int, source: int, entry: Entry) -> tuple[int, ...]:
        """What a bias reads of an entry: its vertex, prev, source, depth and instance."""
        known = {"prev": entry.previous, "source": source, "depth": depth, "instance": instance}
        return (entry.vertex, *(known[name] if name in self.reads else unread for name, unread in UNREAD.items()))

    def _bias(self, v: int, prev: int, source: int, depth: int, instance: int) -> float:
        view = self.subject.view
        at: Any = SimpleNamespace(
            id=v, src=v, prev=prev, source=source, depth=depth, instance=instance, vertices=view.vertices
        )
        at.degree = at.src_degree = view.degree(v)
        at.is_neighbor, at.column = view.is_neighbor, self.subject.algorithm.vertex_columns.value
        return float(self._plain(at))

    def _chosen(self, instance: int, depth: int, pool: list[Entry], biases: list[float]) -> list[int]:
        """Numbers of the entries that are selected, in the order in which they are drawn."""
        able = [n for n, bias in enumerate(biases) if bias > 0.0]
        if not able or not self.algorithm.frontier_replace:
            slots, rates = np.array([pool[n].slot for n in able], np.uint64), np.array([biases[n] for n in able])
            times = arrivals(self.seed, np.uint64(instance), slots, FRONTIER_DRAWS + np.uint64(depth), rates)
            return [able[n] for n in np.argsort(times, kind="stable")[: self.algorithm.frontier_size]]
        shift = BITS - 1 - frexp(max(biases))[1] - len(pool).bit_length()
        upto = list(accumulate(max(int(ldexp(bias, shift)), int(bias > 0.0)) for bias in biases))
        words = (
            frontier_word(self.seed, np.uint64(instance), np.uint64(depth), np.uint64(pick))
            for pick in range(self.algorithm.frontier_size)
        )
        return [bisect_right(upto, int(word) * upto[-1] >> 64) for word in words]

    def _note(self, depth: Depth) -> None:
        """Note a selection, of a pool in an order that depends on vertices and biases alone."""
        able = [n for n, bias in enumerate(depth.biases) if bias > 0.0]
        able.sort(key=lambda n: (depth.pool[n].vertex, depth.biases[n]))
        label = {n: number for number, n in enumerate(able)}
        vertices = tuple(depth.pool[n].vertex for n in able)
        possible = [(number, depth.biases[n]) for n, number in label.items()]
        self.selections.note_pool(vertices, possible, [label[n] for n in depth.chosen])

    def judge(self, checks: Checks) -> None:
        """Add the tests of what was selected."""
        if not self.selections.drawn:
            checks.not_tested("frontiers", "no vertex was selected")
        elif self.algorithm.frontier_replace:
            self.selections.one_by_one(checks)
        else:
            self.selections.sets(checks)


def _owners(group: Group, frontier: list[Entry], edges: range) -> list[int]:
    """The vertex before the src of each edge, on the path of the entry that selected it; -1: none is known.

    Entries of the same vertex have selected equally many edges, one entry after the other.
    """
    entries, edges_of = defaultdict[int, list[Entry]](list), Counter(int(group.src[at]) for at in edges)
    for entry in frontier:
        entries[entry.vertex].append(entry)
    seen, out = Counter[int](), []
    for at in edges:
        src = int(group.src[at])
        several = entries.get(src)
        out.append(several[seen[src] * len(several) // edges_of[src]].previous if several else -1)
        seen[src] += 1
    return out
