"""Comparing the selections of the frontier entries of traversals, at every depth, with the law of their pools.

An entry is a frontier vertex of an instance, or the whole frontier where the pool is collective. Its pool holds the
possible edges to vertices that the instance had not visited by then. Entries that selected the same number of edges
from equal pools are in the same situation.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, count
from math import frexp
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import NONE
from csaw.engine.api.law import Place, edge_biases, plain_hook
from csaw.engine.api.option import LARGEST
from csaw.engine.api.starts import sources_each
from csaw.engine.draws.addresses import FRONTIER_DRAWS
from csaw.engine.draws.random import frontier_word
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import Group, update_of
from csaw.engine.verify.kernels import arrivals, edge_weights
from csaw.engine.verify.pooled import pooled_test
from csaw.engine.verify.sets import Biases, Situations, weights_or_degrees
from csaw.engine.verify.statistics import MARGIN, Choices, Laws, Result
from csaw.partition.base.parallel import go_on
from csaw.partition.base.sorting import distinct

# The frontiers of a traversal with a pool: selected once more, in plain Python, at the same addresses, and compared
# with the law.
#
# What a pool holds follows from the sources and the sampled edges, and what is selected of it from random numbers at
# known addresses. So every sampled edge must begin at a vertex that is selected here; and what is selected here must
# fit successive selection by `vertex_bias`, or with replacement independent draws.

BITS, REST = 62, 32  # of the sum of a pool's biases as integers, and of their fractions
UNREAD = {"prev": -1, "source": -1, "depth": 0, "instance": 0}  # what a bias gets that does not read it


class Entry(NamedTuple):
    """A vertex that waits, at the slot of the edge that led to it from the vertex ``previous``; -1: a source."""

    slot: int
    vertex: int
    previous: int


class Depth(NamedTuple):
    """The entries of a pool that are selected at a depth."""

    number: int
    pool: list[Entry]
    biases: list[float]
    chosen: list[int]
    """Numbers in the pool, in the order in which they were drawn."""
    edges: list[tuple[int, int]]
    """The sampled edges, src and dst."""
    entered: dict[int, int]
    """The depth from which on each vertex of the instance has been in the pool; all of them, once it is followed."""


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
        self.kept: list[list[Depth]] = []
        """The selections in the first instances of the group that was followed last."""

    def follow(self, group: Group) -> None:
        """Set what follows the edges of a group, and its frontiers."""
        share = self.subject.budget * len(group.counts) / max(1, self.subject.samples.instances)
        group.then, self.kept = np.full(group.src.size, -1), []
        keys, depths = list[int](), list[int]()
        columns = tuple(column.tolist() for column in (group.depth, group.src, group.dst))
        for i in range(len(group.counts)):
            here = list[Depth]()
            for depth in self._depths(group, columns, i):
                keys += [i * self.subject.view.vertices + depth.pool[n].vertex for n in depth.chosen]
                depths += [depth.number] * len(depth.chosen)
                share -= len(depth.pool)
                if share >= 0:
                    self._note(depth)
                    here.append(depth)
            if share >= 0:
                self.kept.append(here)
        rows, times = np.unique(np.array([keys, depths], np.int64), axis=1, return_counts=True)
        group.frontier = rows[0], rows[1], times

    def entries(self, i: int) -> Iterator[tuple[int, list[int], set[int], list[tuple[int, int]]]]:
        """Yield (depth, frontier, vertices visited by then, selected edges) of a kept instance, as Entries has them.

        Without the vertices that select twice, whose selections cannot be told apart.
        """
        for depth in self.kept[i] if i < len(self.kept) else []:
            times = Counter(depth.pool[n].vertex for n in depth.chosen)
            alone = sorted(v for v, often in times.items() if often == 1)
            if (self.algorithm.collective or self.algorithm.unique) and len(alone) < len(times):
                continue
            by_now = {v for v, since in depth.entered.items() if since <= depth.number}
            yield depth.number, alone, by_now if self.algorithm.only_new else set(), depth.edges

    def _depths(self, group: Group, columns: tuple[list[int], ...], i: int) -> Iterator[Depth]:
        """Follow the pool of instance ``i`` of a group; what its edges lead to is noted there.

        ``columns``: depth, src and dst of the edges of the group.
        """
        algorithm, instance = self.algorithm, self.subject.number(group.start + i)
        (edge, end), (depth_of, src_of, dst_of) = group.first_edge[i : i + 2], columns
        sources = group.sources[slice(*group.first_source[i : i + 2])].tolist()
        pool, entered = [Entry(slot, v, -1) for slot, v in enumerate(sources)], dict.fromkeys(sources, 0)
        slot, met, most = len(sources), len(sources), algorithm.total or LARGEST
        biases: list[float] = []
        for number in count() if algorithm.is_unlimited else range(len(algorithm.sizes())):
            known = 0 if "depth" in self.reads else len(biases)
            biases = biases[:known] + [self._of_entry(instance, number, sources[0], e) for e in pool[known:]]
            chosen = self._chosen(instance, number, pool, biases)
            if not chosen or (number and met >= most):
                return
            first = edge
            while edge < end and depth_of[edge] == number:
                edge += 1
            edges, leaving = list(zip(src_of[first:edge], dst_of[first:edge], strict=True)), set(chosen)
            yield Depth(number, pool, biases, chosen, edges, entered)
            owners = _owners([pool[n] for n in sorted(chosen)], edges) if self.subject.updates else [-1] * len(edges)
            stay = [n for n in range(len(pool)) if n not in leaving]
            pool, biases = [pool[n] for n in stay], [biases[n] for n in stay]
            for at, (src, dst) in enumerate(edges, first):
                then = self.update(instance, slot, number, sources[0], owners[at - first], src, dst)
                group.then[at] = then
                if then >= 0 and not (algorithm.visited_once and then in entered):
                    pool.append(Entry(slot, then, src))
                    entered.setdefault(then, number + 1)
                    met += 1
                slot += 1

    def _of_entry(self, instance: int, depth: int, source: int, entry: Entry) -> float:
        """The bias of an entry, kept by what it reads of vertex, prev, source, depth and instance."""
        known = {"prev": entry.previous, "source": source, "depth": depth, "instance": instance}
        return self._known(entry.vertex, *(known[n] if n in self.reads else unread for n, unread in UNREAD.items()))

    def _bias(self, v: int, prev: int, source: int, depth: int, instance: int) -> float:
        view = self.subject.view
        at = SimpleNamespace(
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
        units = (int(Fraction(bias) * Fraction(2) ** (shift + REST)) for bias in biases)
        upto = [total >> REST for total in accumulate(units)]
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


def _owners(frontier: list[Entry], edges: list[tuple[int, int]]) -> list[int]:
    """The vertex before the src of each edge, on the path of the entry that selected it; -1: none is known.

    Entries of the same vertex have selected equally many edges, one entry after the other.
    """
    entries, edges_of = defaultdict[int, list[Entry]](list), Counter(src for src, _ in edges)
    for entry in frontier:
        entries[entry.vertex].append(entry)
    seen, out = Counter[int](), []
    for src, _ in edges:
        several = entries.get(src)
        out.append(several[seen[src] * len(several) // edges_of[src]].previous if several else -1)
        seen[src] += 1
    return out


# The selections of frontier entries, compared with their law.

NEVER = 1e-18  # chance of what no sample shows


class Entries(Situations):
    """The entries of as many instances as the budget of biases allows, with an equal share for every group.

    ``frontiers``: what says the frontier of each depth, where it is selected from a pool.
    """

    def __init__(self, subject: Subject, frontiers: FrontierPools | None = None) -> None:
        super().__init__(subject, "neighbors")
        self.frontiers = frontiers
        single = sources_each(subject.algorithm) == 1
        self.judged = "prev" not in subject.columns and (single or "source" not in subject.columns)
        if subject.other_weights is not None:
            self.weights = self._weights_of
        self._possible, self.meetings = lru_cache(100_000)(self._row), Meetings(subject.view.vertices)
        self.never = self.algorithm.geometric is not None and float(self.algorithm.geometric()) == 0.0

    def add(self, group: Group) -> None:
        """Add the first instances of a group, until its share of the budget is spent."""
        share = self.subject.budget * len(group.counts) / max(1, self.subject.samples.instances)
        edges, sources, sizes = group.first_edge, group.first_source, self.algorithm.sizes()
        for i in range(len(group.counts) if self.judged else 0):
            go_on()
            span = slice(edges[i], edges[i + 1])
            taken = zip(*(of[span].tolist() for of in (group.depth, group.src, group.dst, group.then)), strict=True)
            begun = group.sources[sources[i] : sources[i + 1]].tolist()
            depths = self._depths(begun, taken) if self.frontiers is None else self.frontiers.entries(i)
            for depth, frontier, visited, selected in depths:
                if sizes[min(depth, len(sizes) - 1)] == 0 or (self.never and not selected):
                    continue  # nothing is drawn, and no bias is asked for
                looks = 1 + len(selected) if self.algorithm.unique else 1
                share -= looks * sum(1 + self.subject.view.degree(v) for v in frontier)
                source = begun[0] if begun else NONE
                self._note(frontier, visited, selected, {"depth": depth, "instance": group.start + i, "source": source})
            if share < 0:
                break

    def _depths(
        self, sources: list[int], edges: Iterable[tuple[int, int, int, int]]
    ) -> Iterator[tuple[int, list[int], set[int], list[tuple[int, int]]]]:
        """Yield (depth, frontier, vertices visited by then, selected edges in the order of the
        store) of one instance.
        """
        once, only_new = self.algorithm.visited_once, self.algorithm.only_new
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        entering: dict[int, list[int]] = defaultdict(list)
        for depth, src, dst, then in edges:
            found[depth].append((src, dst))
            entering[depth].append(then)
        held, visited, met = Counter(sources), set(sources) if once else set(), len(sources)
        most = self.algorithm.total or LARGEST
        for depth in count() if self.algorithm.is_unlimited else range(len(self.algorithm.sizes())):
            # The selections of a vertex that is in the frontier twice cannot be told apart. Where each enters once,
            # sources may be there twice all the same, if edges may lead back.
            alone = once and (depth > 0 or only_new)
            frontier = sorted(v for v, times in held.items() if alone or times == 1)
            several = len(frontier) < len(held)  # their selections exclude those of others beside them
            if not (several and (self.algorithm.unique or (once and self.algorithm.collective))):
                yield depth, self._rows(frontier, depth), visited if only_new else set(), found[depth]
            held = Counter(then for then in entering[depth] if then >= 0 and then not in visited)
            met += len(held)
            if not held or met >= most:
                break
            visited = visited | held.keys() if once else visited

    def _rows(self, frontier: list[int], depth: int) -> list[int]:
        """What the vertices of a frontier select from: their rows, or those of the relations that leave them."""
        rows = self.subject.rows
        if rows is None:
            return frontier
        first = np.array(frontier, np.int64)
        node, relation = rows.selecting(first // rows.relations, np.full(first.size, depth))
        found: list[int] = (first[node] + relation).tolist()
        return found

    def _note(self, frontier: list[int], visited: set[int], drawn: list[tuple[int, int]], at: dict[str, int]) -> None:
        others, selected = tuple(at[name] for name in self.subject.columns[1:]), defaultdict(list)
        for src, dst in drawn:
            selected[src].append(dst)
        together = [frontier] if self.algorithm.collective else [[v] for v in frontier]
        for vertices in together:
            possible, picks = [], []
            for number, v in enumerate(vertices):
                base = number * self.subject.view.vertices
                possible += [(base + dst, bias) for dst, bias in self._possible(v, *others) if dst not in visited]
                picks += [base + dst for dst in selected.get(v, ())]
            self.note_pool(tuple(vertices), possible, picks)
            if not (self.algorithm.replace or self.algorithm.unique):
                self.meetings.add(possible, picks)

    def _row(self, v: int, *others: int) -> Biases:
        place = Place(**dict(zip(self.subject.columns[1:], others, strict=True)))
        return [one for one in edge_biases(self.subject.view, self.algorithm, v, *place) if one[1] > 0.0]

    def _weights_of(self, pools: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The weights of the edges that labels of these pools stand for."""
        widths = [len(vertices) for vertices, _ in self.pools]
        flat = np.array([v for vertices, _ in self.pools for v in vertices], np.int64)
        number, dst = np.divmod(labels, self.subject.view.vertices)
        return edge_weights(self.subject.graph, flat[(np.cumsum(widths) - widths)[pools] + number], dst)

    def beside(self, vertices: tuple[int, ...], possible: Biases) -> np.ndarray:
        """The weights of possible edges, or the degrees of their ends."""
        number, dst = np.divmod(np.array([label for label, _ in possible]), self.subject.view.vertices)
        return weights_or_degrees(self.subject, np.array(vertices)[number], dst)

    def judge(self, checks: Checks) -> None:
        algorithm = self.algorithm
        if algorithm.geometric is not None:
            self._numbers(checks, float(algorithm.geometric()))
        if algorithm.replace:
            self.one_by_one(checks)
        elif self.drawn:
            self.sets(checks)
        self.meetings.judge(checks)

    def _numbers(self, checks: Checks, chance: float) -> None:
        """Check the number that each entry selected: successes before the first failure, at most the number of edges
        that may be selected.
        """

        def law(pool: int) -> dict[int, float]:
            exact = {n: chance**n * (1.0 - chance) for n in range(pool)} | {pool: chance**pool}
            return {n: p for n, p in exact.items() if p > 0.0}

        pools = np.array([len(self.pools[number][1]) for number in self.drawn], np.int64)
        if self.algorithm.replace:  # as many as the coins give, and so many never
            pools = np.where(pools > 0, math.ceil(math.log(NEVER) / math.log(chance)) if chance > 0.0 else 1, 0)
        selected = np.array([len(picks) for picks in self.picks], np.int64)
        laws = Laws(law, lambda rows: rows[:, 0] + 1, self.subject.budget)
        found = pooled_test(Choices(pools[:, None], selected, ("pool",)), laws)
        few = f"too few choices: {found.used:,} numbers of lit neighbors"
        checks.results("burning", found.places + found.independence, f"{found.used:,} numbers of lit neighbors", few)


class Meetings:
    """Selections without replacement in which two edges lead to one vertex: how many there are, and the least that are
    expected.

    The first two of the edges that are drawn do so with a chance that is a sum over the pool. No order of the edges is
    needed: whatever else is drawn, two edges meet at least as often.
    """

    def __init__(self, vertices: int) -> None:
        self.vertices, self.selections, self.met, self.least = vertices, 0, 0, 0.0

    def add(self, possible: Biases, picks: list[int]) -> None:
        """Add the picks from a pool of ``possible`` edges, labeled by the place of their src and their dst."""
        ends = defaultdict[int, float](float)
        for label, bias in possible if len(picks) > 1 else ():
            ends[label % self.vertices] += bias
        if len(ends) == len(possible):
            return  # no two edges lead to one vertex, or fewer than two are drawn
        total = sum(ends.values())
        chances = ((bias, ends[label % self.vertices] - bias) for label, bias in possible)
        again = sum(bias / total * max(beside, 0.0) / (total - bias) for bias, beside in chances if bias < total)
        self.least += min(1.0, again)
        self.selections += 1
        self.met += len({label % self.vertices for label in picks}) < len(picks)

    def judge(self, checks: Checks) -> None:
        """Add the test, by Chernoff's bound of a sum of chances that are at least so large."""
        least, met = self.least, self.met
        if not self.selections:
            return

        def p_of(count: float) -> float:
            return math.exp(min(0.0, count - least + (count * math.log(least / count) if count else 0.0)))

        def smallest(level: float) -> float:
            shares = np.linspace(0.0, 1.0, 101)  # left out, of all that are expected
            left = least * (1.0 - shares)
            found = [
                share
                for share, mean in zip(shares, left + MARGIN * np.sqrt(left), strict=True)
                if mean < least and p_of(mean) <= level
            ]
            return found[0] if found else 2.0

        result = Result(p_of(met) if met < least else 1.0, "second edges to a vertex left out", smallest)
        details = f"{met:,} of {self.selections:,} selections meet a vertex twice, at least {least:.1f} expected"
        checks.results("neighbors, met twice", [result], details)


# Comparing depths that select different vertices with their law, draw by draw: each is by bias among the edges that
# were possible then.
#
# The edges of a depth are stored in the order in which they were drawn. Possible are those to vertices that the depth
# had not selected, of frontier vertices that had selected fewer than asked for; of a collective depth all, until it has
# selected enough.


class UniqueEntries(Entries):
    """The draws of as many instances as the budget of biases allows, and over all instances the vertices that a depth
    selected twice.
    """

    def __init__(self, subject: Subject, frontiers: FrontierPools | None = None) -> None:
        super().__init__(subject, frontiers)
        self.twice = self.unfinished = 0

    def add(self, group: Group) -> None:
        levels = int(group.depth.max(initial=0)) + 1
        selected = group.dst_key * levels + group.depth
        self.twice += selected.size - distinct(selected).size
        super().add(group)

    def _note(self, frontier: list[int], visited: set[int], drawn: list[tuple[int, int]], at: dict[str, int]) -> None:
        """Note each draw of a depth with the edges that were possible then."""
        algorithm = self.algorithm
        others, sizes = tuple(at[name] for name in self.subject.columns[1:]), algorithm.sizes()
        size, rows_of = sizes[min(at["depth"], len(sizes) - 1)], self.subject.rows
        asked = dict.fromkeys(frontier, size)
        if rows_of is not None:
            asked = {v: int(rows_of.sizes[at["depth"], v % rows_of.relations]) for v in frontier}
        number = {v: place for place, v in enumerate(frontier)}
        if algorithm.geometric is not None or any(src not in number for src, _ in drawn):
            return  # how many edges a vertex asked for is not known, or it is there twice
        rows = {v: [(dst, bias) for dst, bias in self._possible(v, *others) if dst not in visited] for v in frontier}
        room: dict[int | str, int] = {v: LARGEST if most < 0 else most for v, most in asked.items()}
        room["all"] = LARGEST if size < 0 else size
        taken: set[int] = set()

        def possible() -> list[tuple[int, float]]:
            return [
                (number[v] * self.subject.view.vertices + dst, bias)
                for v in frontier
                if room["all" if algorithm.collective else v] > 0
                for dst, bias in rows[v]
                if dst not in taken
            ]

        for src, dst in drawn:
            self.note_pool(tuple(frontier), possible(), [number[src] * self.subject.view.vertices + dst])
            taken.add(dst)
            room["all" if algorithm.collective else src] -= 1
        self.unfinished += bool(possible())

    def judge(self, checks: Checks) -> None:
        """Add the checks of vertices that are there twice and of depths that ended early, then
        the tests of the draws.
        """
        checks.count("unique", self.twice, "vertices that a depth selected twice")
        checks.count(
            "top-up",
            self.unfinished,
            "depths with fewer vertices than requested, although another edge was possible",
        )
        if self.drawn:
            self.one_by_one(checks)
        else:
            checks.not_tested("neighbors", "nothing was drawn, or of frontiers that have a vertex twice")
