"""Comparing the selections of the frontier entries of traversals, at every depth, with the law of their pools.

An entry is a frontier vertex of an instance, or the whole frontier where the pool is collective. Its pool holds the
possible edges to vertices that the instance had not visited by then. Entries that selected the same number of edges
from equal pools are in the same situation.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from csaw.engine.api.law import edge_biases
from csaw.engine.api.option import LARGEST
from csaw.engine.api.starts import sources_each
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.frontier_pools import FrontierPools
from csaw.engine.verify.pooled import pooled_test
from csaw.engine.verify.situations import Biases, Situations
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import Laws
from csaw.engine.verify.trees import weights_or_degrees
from csaw.partition.base.interruptible import go_on

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
        self._possible = lru_cache(100_000)(self._row)
        self.never = self.algorithm.geometric is not None and float(self.algorithm.geometric()) == 0.0

    def add(self, group: Any) -> None:
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
                self._note(
                    frontier, visited, selected, {"depth": depth, "instance": group.start + i, "source": begun[0]}
                )
            if share < 0:
                break

    def _depths(
        self, sources: list[int], edges: Any
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
            if not (once and self.algorithm.collective and len(frontier) < len(held)):
                yield depth, frontier, visited if only_new else set(), found[depth]
            held = Counter(then for then in entering[depth] if then >= 0 and then not in visited)
            met += len(held)
            if not held or met >= most:
                break
            visited = visited | held.keys() if once else visited

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

    def _row(self, v: int, *others: int) -> Biases:
        named: dict[str, Any] = dict(zip(self.subject.columns[1:], others, strict=True))
        return [one for one in edge_biases(self.subject.view, self.algorithm, v, **named) if one[1] > 0.0]

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
