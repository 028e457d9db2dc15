"""Checks that mini-batches are what neighbor sampling may draw: seeds, edges, numbers of nodes, hops, sizes, repeats,
and the law of every choice.
"""

from collections.abc import Iterator

import numpy as np

from csaw.engine.api.algorithm import NONE, MiniBatches
from csaw.engine.api.law import Place, edge_biases, of_largest
from csaw.engine.api.starts import SourceKind
from csaw.engine.samples.layouts.layout import SEED_TIME, TIME
from csaw.engine.sources.digest import digest_of
from csaw.engine.sources.given_sources import CHANCES, LABELS
from csaw.engine.sources.seeds import DrawnSeeds, SeedOrder, norms_of, order_of
from csaw.engine.verify.by_relation import RowsByRelation
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.course import passed
from csaw.engine.verify.layouts_in_time import SeedTimes, Shown
from csaw.engine.verify.neighbors_in_time import InTime
from csaw.engine.verify.selections import UNTIMED, OfRows, Selections, one_of, situations
from csaw.engine.verify.statistics import Choices, Laws, Result, normal_sum
from csaw.engine.verify.walks import one_in
from csaw.partition.graph.types import RELATION

# Checks of seeds that are drawn by the norms of their vertices: their chances, how often each is drawn, how many a
# mini-batch has, and one mini-batch beside the next.

RANGES = 16  # of vertices, in the order of their numbers and in that of their chances
NEAR = 1e-9  # of a chance: sums of norms in another order
HALVINGS = 200
FEW = "too few seeds drawn by chance"
UNKNOWN = "the sample does not keep its list of sources, so that the chances of all of them are not known"


class SeedDraws:
    """The seeds of all mini-batches, counted by position of the list."""

    def __init__(self, subject: Subject) -> None:
        algorithm = subject.algorithm
        assert isinstance(algorithm, MiniBatches)
        self.norms = norms_of(algorithm, subject.view.vertices, None)
        self.chance = least_variance(self.norms, algorithm.seeds_per_batch) if subject.starts_at_all else None
        self.drawn = np.zeros(self.norms.size, np.int64)
        self.wrong = self.batches = self.pairs = 0
        self.spread, self.shared = 0.0, 0.0  # sums over mini-batches, and over pairs of successive ones
        self.last: np.ndarray | None = None
        self.slope: float | None = None  # norm for each unit of a chance below 1, as seeds have shown it

    def add(self, vertices: np.ndarray, counts: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
        """Check the chances of a group's seeds, ``counts`` in each mini-batch, and count them."""
        stored = arrays.get(CHANCES, np.zeros(0))
        if stored.size != vertices.size:
            self.wrong += vertices.size
            return
        self.wrong += self._wrong_chances(vertices, stored)
        if self.chance is None:
            return
        self.drawn += np.bincount(vertices, minlength=self.drawn.size)
        for seeds in np.split(vertices, np.cumsum(counts)[:-1]) if counts.size else ():
            self._count(seeds, self.chance)

    def _wrong_chances(self, vertices: np.ndarray, stored: np.ndarray) -> int:
        if self.chance is not None:
            return int((np.abs(stored - self.chance[vertices]) > NEAR * stored).sum())
        norms, below = self.norms[vertices], stored < 1.0
        if self.slope is None and below.any():
            self.slope = float((norms[below] / stored[below])[0])
        slope = self.slope if self.slope is not None else 0.0
        return int(
            (np.abs(norms - slope * stored) > NEAR * norms)[below].sum() + (norms < slope * (1.0 - NEAR))[~below].sum()
        )

    def _count(self, seeds: np.ndarray, chance: np.ndarray) -> None:
        variance, mean, both = float((chance * (1.0 - chance)).sum()), float(chance.sum()), float((chance**2).sum())
        self.spread += (seeds.size - mean) ** 2 - variance
        self.batches += 1
        if self.last is not None:
            expected = float(chance[seeds].sum() + chance[self.last].sum()) - both
            self.shared += np.intersect1d(seeds, self.last).size - expected
            self.pairs += 1
        self.last = seeds

    def judge(self, checks: Checks) -> None:
        """Add the checks of all seeds."""
        checks.count("probabilities", self.wrong, "seeds whose probability does not match their norm")
        if self.chance is None:
            checks.not_tested("seeds, law", UNKNOWN)
            return
        n, total = self.batches, float(self.drawn.sum())
        each = self.chance * (1.0 - self.chance)
        never = int(((self.chance == 0.0) & (self.drawn > 0)).sum() + ((self.chance == 1.0) & (self.drawn < n)).sum())
        checks.count(
            "seeds, certain",
            never,
            "vertices drawn although their norm is 0, or left out of a mini-batch although their chance is 1",
        )
        details = f"{int(total):,} seeds of {n:,} mini-batches"
        checks.results("seeds, law", self._by_ranges(n, each, total), details, FEW)
        fourth = float((each * (1.0 - 6.0 * each)).sum())
        variance = float(each.sum())
        sizes = normal_sum(
            self.spread, n * (2.0 * variance**2 + fourth), n * variance, "seeds drawn together with others"
        )
        checks.results("seeds, numbers", sizes if n >= 30 else [], f"how many seeds {n:,} mini-batches have", FEW)
        pairs = normal_sum(
            self.shared,
            self.pairs * float((each**2).sum()),
            self.pairs * variance,
            "seeds drawn again in the next mini-batch",
        )
        checks.results("seeds, independence", pairs, "each mini-batch with the next one", FEW)

    def _by_ranges(self, n: int, each: np.ndarray, total: float) -> list[Result]:
        found: list[Result] = []
        assert self.chance is not None
        excess, variance = self.drawn - n * self.chance, n * each
        for order in (np.arange(each.size), np.argsort(self.chance, kind="stable")):
            for part in np.array_split(order, RANGES):
                found += normal_sum(
                    float(excess[part].sum()),
                    float(variance[part].sum()),
                    total,
                    "seeds moved to one of some ranges of vertices",
                )
        return found


def least_variance(norms: np.ndarray, wanted: int) -> np.ndarray:
    """float64: min(1, norm / mu) of the sum ``wanted``, where mu is found by halving; 1 for each norm above 0 if there
    are not more of them.
    """
    positive = norms > 0.0
    if positive.sum() <= wanted:
        return positive.astype(np.float64)
    low, high = 0.0, float(norms.sum()) / wanted * 2.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        enough = middle > 0.0 and np.minimum(1.0, norms / middle).sum() < wanted
        low, high = (low, middle) if enough else (middle, high)
    return np.minimum(1.0, norms / high)


# The nodes of mini-batches, and what they select: as many edges as they may, by the law of the neighbors, and of
# several edges to one neighbor each by its bias.

# Checks of mini-batches.

BESIDE = 64  # nodes that the statistics use together, because they also compare nodes that follow each other


class Nodes:
    """The mini-batches of one group in dense ids, with nodes counted through all of them: node k of a mini-batch is
    number ``first`` + k.
    """

    def __init__(self, subject: Subject, start: int, arrays: dict[str, np.ndarray]) -> None:
        self.start, self.hop_nodes, self.hop_edges = start, arrays["hop_nodes"], arrays["hop_edges"]
        counts, hops = arrays["node_counts"], self.hop_nodes.shape[1]
        self.first = np.cumsum(counts) - counts
        self.instance = np.repeat(np.arange(counts.size), counts)
        self.of_edge = np.repeat(np.arange(counts.size), arrays["edge_counts"])
        self.vertex = subject.dense(arrays["n_id"])
        self.hop = np.repeat(np.tile(np.arange(hops), counts.size), self.hop_nodes.ravel())
        self.edge_hop = np.repeat(np.tile(np.arange(hops - 1), counts.size), self.hop_edges.ravel())
        self.row, self.col = (arrays[name] + self.first[self.of_edge] for name in ("row", "col"))
        self.e_id, self.input_id = arrays["e_id"], arrays["input_id"]
        self.seed = arrays.get("batch", np.zeros(self.vertex.size, np.int32)).astype(np.int64)
        self.seeds = np.flatnonzero(self.hop == 0)
        self.selected = np.bincount(self.col, minlength=self.vertex.size)
        self.numbers = np.arange(self.vertex.size) // BESIDE + (start % (1 << 22) << 40)  # by which some are kept


class BatchChoices:
    """The choices of mini-batches that are not in time."""

    def __init__(self, subject: Subject) -> None:
        self.subject, rows = subject, subject.of_rows
        self.selected = OfRows(rows, numbered=True)
        self.parallel = ParallelEdges(rows) if subject.store.multigraph else None

    def add(self, nodes: Nodes, arrays: dict[str, np.ndarray]) -> None:
        """Check a group: see Neighbors."""
        s, e_id, wrong = _selected(self.subject, nodes, arrays)
        self.selected.wrong["edges"] += wrong
        self.selected.add(s)
        if self.parallel is not None:
            alone = (s.size > 0) if self.selected.replace else (s.size == 1)
            edges = (alone & one_in(s.every, s.number))[s.owner]
            self.parallel.keep(s.vertex[s.owner], s.situation[s.owner], e_id, edges)

    def hand_over(self, wrong: dict[str, int]) -> None:
        """Add to the faults of mini-batches those of the same names."""
        for name in tuple(self.selected.wrong):
            wrong[name] += self.selected.wrong.pop(name)

    def judge(self, checks: Checks) -> None:
        self.selected.judge(checks)
        if self.parallel is not None:
            self.parallel.judge(checks)


def _selected(
    subject: Subject, nodes: Nodes, arrays: dict[str, np.ndarray], now: np.ndarray = UNTIMED
) -> tuple[Selections, np.ndarray, int]:
    """The selections of all nodes of a group, in time with ``now`` of nodes; the numbers of their edges in the rows
    that they are of; and how many edges cannot be any of them.
    """
    if subject.by_relation is not None:
        return _selections_by_relation(subject.of_rows, subject.by_relation, nodes, arrays, now)
    order = np.argsort(nodes.col, kind="stable")
    return _selections(subject, nodes, order, now, arrays.get(TIME)), nodes.e_id[order], 0


def _selections_by_relation(
    subject: Subject, rows: RowsByRelation, nodes: Nodes, arrays: dict[str, np.ndarray], now: np.ndarray = UNTIMED
) -> tuple[Selections, np.ndarray, int]:
    """The same of nodes that select from each relation by itself. Edges that cannot be any are those of another
    relation than they say, or of one that their node does not select from, and those out of order.
    """
    relation, each = arrays[RELATION.name].astype(np.int64), rows.relations
    inside = (nodes.e_id >= 0) & (nodes.e_id < rows.relation.size)
    wrong = int((rows.relation[nodes.e_id[inside]] != relation[inside]).sum())
    node, of = rows.selecting(nodes.vertex, nodes.hop)
    key, wanted = nodes.col * each + relation, node * each + of
    wrong += _falls(key) + int((~np.isin(key, wanted)).sum())
    edges = np.flatnonzero(inside & np.isin(key, wanted))
    owner = np.searchsorted(wanted, key[edges])
    order = np.argsort(owner, kind="stable")
    edges, owner = edges[order], owner[order]
    vertex, hop = nodes.vertex[node] * each + of, nodes.hop[node]
    # The relations of a node stay side by side, so that the statistics compare what they have drawn.
    every, number = one_of(subject, node.size, nodes.first.size), nodes.numbers[node]
    of_nodes = vertex, vertex.reshape(-1, 1), rows.sizes[hop, of], hop, number, every
    times = (now[node], arrays[TIME][edges]) if TIME in arrays else ()
    ends = nodes.vertex[nodes.row[edges]] * each
    return Selections(*of_nodes, owner, ends, *times), rows.place[nodes.e_id[edges]], wrong


class ParallelEdges:
    """Edges that were selected one by one, where there are several to the same neighbor: each by its share of their
    biases.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        indptr, indices = subject.view.indptr, subject.view.indices
        fresh = np.ones(indices.size, np.bool_)
        fresh[1:] = indices[1:] != indices[:-1]
        fresh[indptr[:-1][subject.degree > 0]] = True
        self.run = np.cumsum(fresh) - 1  # of each stored edge: the number of the run of edges to one neighbor
        self.begin = np.append(np.flatnonzero(fresh), indices.size)
        self.kept: list[tuple[np.ndarray, np.ndarray]] = []

    def keep(self, vertex: np.ndarray, situation: np.ndarray, e_id: np.ndarray, edges: np.ndarray) -> None:
        """Keep those of ``edges`` that have others beside them, by the ``vertex`` and the ``situation`` that selected
        each, and its number.
        """
        indptr = self.subject.view.indptr
        here = np.flatnonzero(edges & (e_id >= indptr[vertex]) & (e_id < indptr[vertex + 1]))
        run = self.run[e_id[here]]
        beside = self.begin[run + 1] - self.begin[run] > 1
        here, run = here[beside], run[beside]
        self.kept.append((np.column_stack([situation[here], run]), e_id[here].astype(np.int64)))

    def judge(self, checks: Checks) -> None:
        """Add the tests of all choices, where there are any."""
        if not sum(chosen.size for _, chosen in self.kept):
            return
        rows, chosen = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        known, number = np.unique(rows, axis=0, return_inverse=True)
        begin, end = self.begin[known[:, -1]], self.begin[known[:, -1] + 1]
        subject = self.subject

        def law(one: int) -> dict[int, float]:
            v, *others = known[one, :-1].tolist()
            place = Place(**dict(zip(subject.columns[1:], others, strict=True)))
            row, first, last = (int(at) for at in (subject.view.indptr[v], begin[one], end[one]))
            biases = edge_biases(subject.view, subject.algorithm, v, *place)[first - row : last - row]
            if not any(bias > 0.0 for _, bias in biases):
                return {NONE: 1.0}
            shares = [share for _, share in of_largest(biases)]
            total = sum(shares)
            return {first + k: share / total for k, share in enumerate(shares)}

        laws = Laws(law, lambda rows: subject.degree[known[rows[:, 0], 0]] + 1, subject.budget)
        choices = Choices(number.reshape(-1, 1).astype(np.int64), chosen, ("pool",))
        statistics(checks, choices, laws, end - begin, "parallel edges")


def _selections(
    subject: Subject, nodes: Nodes, order: np.ndarray, now: np.ndarray, time: np.ndarray | None
) -> Selections:
    """The selections of all nodes of a group from whole rows: ``order`` of edges by their nodes, in time ``now`` of
    nodes and the ``time`` of edges.
    """
    previous = np.full(nodes.vertex.size, NONE)
    met, edge = np.unique(nodes.row, return_index=True)
    later = nodes.hop[met] > 0
    previous[met[later]] = nodes.vertex[nodes.col[edge[later]]]
    known = {
        "v": nodes.vertex,
        "prev": previous,
        "source": nodes.vertex[nodes.first[nodes.instance]],
        "depth": nodes.hop,
        "instance": nodes.instance + nodes.start,
    }
    sizes = np.append(subject.traversal.sizes(), 0).astype(np.int64)
    every = one_of(subject, nodes.vertex.size, nodes.first.size)
    of_nodes = (nodes.vertex, situations(subject, known), sizes[nodes.hop], nodes.hop, nodes.numbers, every)
    return Selections(
        *of_nodes, nodes.col[order], nodes.vertex[nodes.row[order]], now, UNTIMED if time is None else time[order]
    )


SAID = {
    "seeds": "seeds that are missing or wrong",
    "edges": "edges that are not where e_id says, between the vertices of their nodes",
    "nodes": "nodes that are not numbered in the order of first meeting, or are there twice",
    "hops": "edges whose col is no node of the hop before, or out of order",
    "sizes": "nodes with another number of edges than the fanout allows",
    "repeats": "edges selected twice without replacement",
}


def verify_batches(subject: Subject, checks: Checks) -> None:
    """Check mini-batches node by node and edge by edge, the order of their seeds, and the law of what each node
    selected.
    """
    wrong = dict.fromkeys(SAID, 0)
    algorithm = subject.traversal
    assert isinstance(algorithm, MiniBatches)
    draws = SeedDraws(subject) if algorithm.draws_seeds else None
    seeds = Seeds(subject, algorithm)
    choices = BatchChoices(subject) if algorithm.time_strategy is None else BatchesInTime(subject)
    for nodes, arrays in known_nodes(subject, seeds, wrong):
        if draws is not None:
            draws.add(nodes.vertex[nodes.seeds], nodes.hop_nodes[:, 0], arrays)
        wrong["edges"] += wrong_edges(subject, nodes)
        wrong["nodes"] += _wrong_nodes(subject, nodes, algorithm.disjoint)
        wrong["hops"] += int((nodes.hop[nodes.col] != nodes.edge_hop).sum()) + _falls(nodes.col)
        if not algorithm.replace:
            wrong["repeats"] += _falls(np.sort(nodes.col * subject.store.edges + nodes.e_id), 1)
        choices.add(nodes, arrays)
    wrong["seeds"] += seeds.judged()
    choices.hand_over(wrong)
    for name, count in wrong.items():
        checks.count(name, count, SAID[name])
    seeds.judge_labels(checks)
    if draws is not None:
        draws.judge(checks)
    choices.judge(checks)


class Seeds:
    """The seeds of mini-batches, and their labels if they have some.

    Attributes:
        source: the vertex at each position of the list of sources, as far as seeds have shown it.
    """

    def __init__(self, subject: Subject, algorithm: MiniBatches) -> None:
        listed = subject.view.vertices if subject.asked.count is None else subject.asked.count
        self.subject, self.order, self.wrong = subject, _order(subject, algorithm, listed), 0
        self.source = np.full(listed, NONE, np.int64)
        has_labels = subject.asked.labels or LABELS in subject.samples
        self.labels = Shown(subject.asked.labels, listed, np.float64) if has_labels else None

    def add(self, nodes: Nodes, arrays: dict[str, np.ndarray]) -> None:
        """Check the seeds of a group."""
        self.wrong += _wrong_seeds(self.subject, nodes, self.order, self.source)
        if self.labels is not None and LABELS in arrays:
            self.labels.add(nodes.input_id, arrays[LABELS])
        elif self.labels is not None:
            self.labels.wrong += nodes.input_id.size

    def judged(self) -> int:
        """How many seeds are wrong, or 1 more if they are of another list."""
        return self.wrong + _other_list(self.subject, self.source)

    def judge_labels(self, checks: Checks) -> None:
        """Add the check of labels, of samples that have some."""
        if self.labels is not None:
            checks.count("labels", self.labels.judged(), "labels of seeds that differ from the given ones")


def known_nodes(subject: Subject, seeds: Seeds, wrong: dict[str, int]) -> Iterator[tuple[Nodes, dict[str, np.ndarray]]]:
    """Yield the nodes of mini-batches, group by group, with the arrays of the group. ``seeds`` get those of every
    group. A group with a node that is no vertex is left out, and counts as wrong edges.
    """
    for start, arrays in passed(subject.samples, watch=subject.watch):
        nodes = Nodes(subject, subject.samples.first + start, arrays)
        seeds.add(nodes, arrays)
        if nodes.vertex.min(initial=0) < 0:
            wrong["edges"] += int((nodes.vertex < 0).sum())
            continue
        yield nodes, arrays


class BatchesInTime:
    """The choices of mini-batches in time, and the times of their seeds."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.seeds, self.selected = subject, SeedTimes(subject), InTime(subject.of_rows)
        self.times = subject.view.columns[TIME]

    def add(self, nodes: Nodes, arrays: dict[str, np.ndarray]) -> None:
        """Check a group, and that its edges have the times of their numbers."""
        seed_time, seeds = arrays[SEED_TIME], nodes.hop_nodes[:, 0]
        self.seeds.add(arrays["input_id"], seed_time)
        now = seed_time[(np.cumsum(seeds) - seeds)[nodes.instance] + nodes.seed]
        s, _, wrong = _selected(self.subject, nodes, arrays, now)
        self.selected.wrong["edges"] += wrong
        self.selected.add(s)
        inside = (nodes.e_id >= 0) & (nodes.e_id < self.times.size)
        self.selected.wrong["edges"] += int((self.times[nodes.e_id[inside]] != arrays[TIME][inside]).sum())

    def hand_over(self, wrong: dict[str, int]) -> None:
        """Add to the faults of mini-batches those of the same names."""
        for name in ("edges", "sizes", "repeats"):
            wrong[name] += self.selected.wrong.pop(name)

    def judge(self, checks: Checks) -> None:
        self.seeds.judge(checks)
        self.selected.judge(checks)


def _order(subject: Subject, algorithm: MiniBatches, listed: int) -> SeedOrder | DrawnSeeds | None:
    """The seeds that are asked for, of a list of so many sources; None where they are drawn from a list that is not
    known.
    """
    if algorithm.draws_seeds and not subject.starts_at_all:
        return None
    return order_of(algorithm, None, listed, int(subject.samples.manifest["request"]["seed"]))


def _falls(values: np.ndarray, least: int = 0) -> int:
    """Number of values that are not at least ``least`` above the one before."""
    return int((np.diff(values) < least).sum())


def _wrong_seeds(subject: Subject, nodes: Nodes, order: SeedOrder | DrawnSeeds | None, source: np.ndarray) -> int:
    """Number of seeds at other positions of the list than their epoch takes, or of other vertices than there; fills
    ``source`` with those that are new.
    """
    vertex = nodes.vertex[nodes.seeds]
    if order is None:
        position = np.clip(nodes.input_id, 0, source.size - 1)
    else:
        asked = order.positions(nodes.start, nodes.start + nodes.first.size)
        there = asked >= 0
        if not np.array_equal(there.sum(axis=1), nodes.hop_nodes[:, 0]):
            return int(np.abs(there.sum(axis=1) - nodes.hop_nodes[:, 0]).sum())
        position = asked[there]
    new = source[position] == NONE
    source[position[new]] = vertex[new]
    wrong = (nodes.input_id != position) | (source[position] != vertex) | (vertex < 0)
    return int((wrong | (vertex != position) if subject.starts_at_all else wrong).sum())


def _other_list(subject: Subject, source: np.ndarray) -> int:
    """1 if all sources are known and are not those that were asked for."""
    if subject.sources is not SourceKind.LIST or (source == NONE).any():
        return 0
    return int(digest_of(source) != subject.asked.digest)


def wrong_edges(subject: Subject, nodes: Nodes) -> int:
    """Number of edges that are not in the row of the vertex that they were drawn for, or lead to another vertex than
    that of ``row``.
    """
    indptr, vertex = subject.view.indptr, nodes.vertex[nodes.col]
    inside = (nodes.e_id >= indptr[vertex]) & (nodes.e_id < indptr[vertex + 1])
    leads = subject.view.indices[np.where(inside, nodes.e_id, 0)] if subject.store.edges else nodes.e_id
    return int((~inside | (leads != nodes.vertex[nodes.row])).sum())


def _wrong_nodes(subject: Subject, nodes: Nodes, disjoint: bool) -> int:
    """Number of nodes that do not follow the one before in the order of first meeting, and of edges that do not lead to
    the first node of their vertex.
    """
    seeds = nodes.hop_nodes[:, 0]
    key = nodes.instance * subject.view.vertices + nodes.vertex
    if disjoint:
        tree = np.cumsum(seeds)[nodes.instance] - seeds[nodes.instance] + nodes.seed
        key = tree * subject.view.vertices + nodes.vertex
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    twice = (first[number] != np.arange(key.size)) & (nodes.hop > 0)
    astray = first[number][nodes.row] != nodes.row
    if disjoint:
        astray |= nodes.seed[nodes.row] != nodes.seed[nodes.col]
        twice |= (nodes.hop == 0) & (nodes.seed != np.arange(key.size) - nodes.first[nodes.instance])
    met, edge = np.unique(nodes.row, return_index=True)
    later = nodes.hop[met] > 0
    met, edge = met[later], edge[later]
    unmet = int((nodes.hop > 0).sum()) - met.size
    early = int((nodes.hop[met] != nodes.edge_hop[edge] + 1).sum())
    return int(twice.sum()) + int(astray.sum()) + unmet + early + _falls(edge)
