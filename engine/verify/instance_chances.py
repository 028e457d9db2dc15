"""How likely an instance comes out as it did, given its sources where these were given: the product of the chances of
its choices, by their laws.

What is left out makes a chance too large, never too small: which walker moves, how many neighbors a fire lights, the
order in which a set was drawn, and all that is behind a bound, below which no chance tells more.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp, lgamma, log
from threading import Lock

import numpy as np

from csaw.engine.api.algorithm import NONE, MiniBatches, Walk
from csaw.engine.api.law import edge_biases, edge_law, next_law, of_largest
from csaw.engine.api.rules import BudgetLayers, NonNeighbors
from csaw.engine.api.starts import SourceKind, sources_each
from csaw.engine.samples.layouts import Arrays, Ragged, SampleLayout
from csaw.engine.samples.layouts.hops import hop_names
from csaw.engine.samples.layouts.layout import SEED_TIME
from csaw.engine.sources.link_ends import edges_of
from csaw.engine.sources.sources import are_sets
from csaw.engine.verify.budgets import Budgets
from csaw.engine.verify.by_relation import RowsByRelation
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.entries import Entries, UniqueEntries
from csaw.engine.verify.groups import Group
from csaw.engine.verify.induced import source_weights
from csaw.engine.verify.kernels import mix_rows, mix_runs
from csaw.engine.verify.links import chances_of_links
from csaw.engine.verify.shared_draws import chances
from csaw.engine.verify.statistics import Result
from csaw.engine.verify.walks_in_time import of_timed_walks
from csaw.partition.base.parallel import go_on
from csaw.partition.base.read_only import thawed
from csaw.partition.base.sorting import distinct
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import RELATION

# Whether instances repeat others more often than their law lets them, as they do where the random numbers of one
# instance are used for another.
#
# Let p(u) be the chance that an instance comes out as u. Of instances in a fixed order, the next one repeats an
# earlier u with chance p(u). So the repeats of outcomes with p(u) <= t have a mean of at most t times the number of
# pairs, and Chernoff's bound holds for their number, however instances and their sources are chosen (a sum of events
# given all earlier ones: Freedman, Ann. Probab. 1975). One repeated walk of 80 steps is enough. Where outcomes are
# likely, as in rows of one neighbor, repeats tell nothing and count for nothing.
#
# Instances are compared by a hash of their arrays, 16 bytes each; of those that seem to repeat, the arrays are
# compared.

NAME = "reuse"
DEVIATION = "instances that repeat another one"
MOST = 1 << 24  # instances whose hashes are kept; of more, those with some hashes
JUDGED = 128  # outcomes that are there more than once whose chances are computed
LOOKED_AT = 5  # instances that tell how likely outcomes are
THRESHOLDS = 128  # powers of two
SURE = 1e-30  # of a p-value: chances are followed no further
Chance = Callable[[Arrays, float], float | None]
"""The chance of the outcome that the arrays of one instance have, given its sources if these were given, or more than
that; it may stop below a bound. None where it is not known."""


class Repeats:
    """Notes a hash of each instance."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.instances = subject, subject.samples.instances
        self.every = max(1, -(-self.instances // MOST))
        self.lock, self.noted = Lock(), list[tuple[np.ndarray, ...]]()
        self.drawn = subject.sources not in (SourceKind.ALL, SourceKind.LIST)
        """Whether sources are drawn, too, so that any two instances may be equal."""

    def add(self, start: int, arrays: Arrays) -> None:
        """Note the instances of a group, from number ``start`` on; in any thread."""
        layout = self.subject.samples.layout
        own, sources = _hashes(layout, arrays), np.zeros(0, np.uint64)
        if not self.drawn:
            ids, counts = layout.sources(arrays)
            sources = np.zeros(own.size, np.uint64)
            mix_runs(_words(ids), counts, sources)
        kept = np.flatnonzero(own % np.uint64(self.every) == 0) if self.every > 1 else np.arange(own.size)
        one = kept + start, own[kept], sources[kept] if sources.size else np.zeros(kept.size, np.uint64)
        with self.lock:
            self.noted += [one] if kept.size else []

    def judge(self, checks: Checks, chance: Chance | None) -> None:
        """Add the check; ``chance`` None: no law of whole instances is known."""
        if chance is None:
            checks.not_tested(NAME, "no law of whole instances is known here")
            return
        if self.instances < 2 or not self.noted:
            checks.not_tested(NAME, "there is one instance, or none")
            return
        self.noted.sort(key=lambda one: one[0][0])  # instances of a group have successive numbers
        number, own, group = (np.concatenate(column) for column in zip(*self.noted, strict=True))
        with ThreadPoolExecutor(1) as aside:
            held = aside.submit(np.sort, group)
            order = again(own)
        same = own[order][1:] == own[order][:-1]
        first = np.flatnonzero(np.append(True, ~same) & np.append(same, False)) if order.size else order
        ends = np.append(np.flatnonzero(~same) + 1, order.size)
        times = ends[np.searchsorted(ends, first, "right")] - first
        thin = max(1, -(-first.size // JUDGED))
        chosen = (own[order][first] // np.uint64(self.every)) % np.uint64(thin) == 0
        within = (own // np.uint64(self.every)) % np.uint64(thin) == 0
        pairs = float(self._pairs(number, group, held.result(), within))
        found = self._chances(chance, number[order], first[chosen], times[chosen], pairs)
        repeats = int((times - 1).sum())
        if found is None:
            checks.not_tested(NAME, "no law of whole instances is known here")
            return
        typical = self._typical(chance, number, pairs)
        p = min(1.0, bound(found, pairs))
        details = f"{repeats:,} of {number.size:,} instances repeat an earlier one"
        if found:
            likely = min(chance for chance, _ in found)
            details += f"; the least likely of {len(found):,} looked at has a chance of {likely:.2g}"
        looked_at = int(within.sum())

        def smallest(level: float) -> float:
            copies = (1 << k for k in range(looked_at.bit_length()))
            enough = (many for many in copies if typical is not None and bound([(typical, many)], pairs) <= level)
            return next(enough, 2 * looked_at) / looked_at

        checks.results(NAME, [Result(p, DEVIATION, smallest)], details)

    def _pairs(self, number: np.ndarray, group: np.ndarray, held: np.ndarray, within: np.ndarray) -> int:
        """How many pairs there are of an instance that is ``within`` and a later one with the same sources; more where
        not all were noted. ``held`` is ``group``, sorted.
        """
        if self.drawn or self.every > 1:
            return int((self.instances - 1 - number[within]).sum())
        if within.all():
            sizes = sizes_of(held)
            return int((sizes * (sizes - 1) // 2).sum())
        order = np.argsort(group, kind="stable")
        sizes = sizes_of(group[order])
        later = np.repeat(np.cumsum(sizes), sizes) - 1 - np.arange(order.size)
        return int(later[within[order]].sum())

    def _chances(
        self, chance: Chance, number: np.ndarray, first: np.ndarray, times: np.ndarray, pairs: float
    ) -> list[tuple[float, int]] | None:
        """The chance of each of these outcomes, and how often it repeats."""
        found: list[tuple[float, int]] = []
        samples = self.subject.samples
        for at, many in zip(first.tolist(), times.tolist(), strict=True):
            go_on()
            one, other = (samples.group(int(k), int(k) + 1) for k in number[at : at + 2])
            if any(not np.array_equal(one[name], other[name]) for name in one):
                continue  # hashes alone are equal
            known = chance(one, SURE / pairs)
            if known is None:
                return None
            found.append((known, many - 1))
        return found

    def _typical(self, chance: Chance, number: np.ndarray, pairs: float) -> float | None:
        """The largest chance of some instances from all over the sample."""
        some = np.linspace(0, number.size - 1, LOOKED_AT).astype(np.int64)
        if not pairs:
            return None
        chances = [chance(self.subject.samples.group(k, k + 1), SURE / pairs) for k in number[some].tolist()]
        return None if None in chances else max(one for one in chances if one is not None)


def again(own: np.ndarray) -> np.ndarray:
    """Places of the hashes that are there more than once, equal ones together and in their order.

    Most samples have few of them, so values are sorted without their places.
    """
    held = np.sort(own)
    met = distinct(held[1:][held[1:] == held[:-1]])
    if not met.size:
        return np.zeros(0, np.int64)
    places = np.flatnonzero(met[np.minimum(np.searchsorted(met, own), met.size - 1)] == own)
    return places[np.argsort(own[places], kind="stable")]


def sizes_of(held: np.ndarray) -> np.ndarray:
    """How many there are of each of these values, which are sorted."""
    ends = np.append(np.flatnonzero(held[1:] != held[:-1]) + 1, held.size)
    return np.diff(ends, prepend=0)


def bound(found: list[tuple[float, int]], pairs: float) -> float:
    """A p-value of repeats of outcomes with these chances, among so many pairs of an instance and a later one."""
    least = 1.0
    for power in range(THRESHOLDS):
        threshold = 2.0**-power
        many, mean = sum(times for chance, times in found if chance <= threshold), threshold * pairs
        if many > mean:
            least = min(least, exp(max(-700.0, many - mean + many * log(mean / many))) if mean else 0.0)
    return least * THRESHOLDS


def _hashes(layout: SampleLayout, arrays: Arrays) -> np.ndarray:
    """uint64 [instances]: a hash of the arrays of each."""
    counted = layout.counted_by if isinstance(layout, Ragged) else {}
    sizes = {
        by: layout.elements(arrays[by]) for by in set(counted.values()) if by in arrays and isinstance(layout, Ragged)
    }
    instances = len(next(iter(sizes.values()))) if sizes else len(next(iter(arrays.values())))
    out = np.zeros(instances, np.uint64)
    for name in sorted(arrays):
        if name in counted:
            mix_runs(_words(arrays[name]), sizes[counted[name]], out)
        else:
            mix_rows(_words(arrays[name]).reshape(instances, -1), out)
    return out


def _words(array: np.ndarray) -> np.ndarray:
    """The same bits as integers."""
    held = thawed(np.ascontiguousarray(array))
    return held.view(f"i{held.dtype.itemsize}")


Biases = Sequence[tuple[int, float]]


def chance_of(subject: Subject) -> Chance | None:
    """The chance of an outcome by the law of the sample; None where that is not known here."""
    if "instance" in subject.reads or subject.samples.manifest["request"].get("columns"):
        return None
    parts = _parts(subject)
    if parts is None:
        return None
    drawn = _sources(subject)

    def chance(arrays: Arrays, least: float) -> float | None:
        whole = drawn(arrays)
        for part in parts(arrays):
            whole *= part
            if whole < least:
                break
        return whole

    return chance


def _parts(subject: Subject) -> Callable[[Arrays], Iterator[float]] | None:
    """A function that yields the chances of the choices of an instance, one after the other."""
    a, request = subject.algorithm, subject.samples.manifest["request"]
    if request.get("target"):
        return None
    if subject.ends_induced:
        return lambda arrays: iter(())  # of which the sources alone tell
    if isinstance(a, Walk):
        lawful = type(a).law is not Walk.law or (type(a).update is Walk.update and type(a).dead_end is Walk.dead_end)
        if a.timed:
            return of_timed_walks(subject) if lawful else None
        return (lambda arrays: _of_walk(subject, arrays)) if lawful else None
    algorithm = subject.traversal
    if isinstance(a.rule, BudgetLayers):
        return lambda arrays: _of_budgets(subject, arrays)
    if algorithm.time_strategy is not None or subject.updates or subject.pooled:
        return None
    if subject.samples.layout == "hops":
        return lambda arrays: _of_hops(subject, arrays)
    if isinstance(a.rule, NonNeighbors):
        return chances_of_links(subject)
    if isinstance(a, MiniBatches):
        return lambda arrays: _of_batch(subject, arrays)
    if algorithm.draws_from != "edges":
        return lambda arrays: _of_layers(subject, arrays)
    if algorithm.sources_from == SourceKind.EVERY:
        return lambda arrays: iter((_of_edges(subject, arrays),))
    if algorithm.induced:
        return lambda arrays: iter(())
    if algorithm.clocks:
        return lambda arrays: _of_steps(subject, arrays)
    if algorithm.shares_draws:
        return lambda arrays: chances(subject, group_of(subject, arrays))
    return lambda arrays: _of_depths(subject, arrays)


def _sources(subject: Subject) -> Callable[[Arrays], float]:
    """The chance of the sources of an instance, 1 where they were given."""
    a, vertices = subject.algorithm, subject.view.vertices
    width = sources_each(a)
    kind = subject.sources
    if kind in (SourceKind.RANDOM, SourceKind.CONNECTED) and are_sets(a):
        return lambda arrays: 1.0
    if kind is SourceKind.RANDOM:
        return lambda arrays: float(vertices) ** -min(_count(subject, arrays), 1000)
    if kind is SourceKind.CONNECTED:
        return lambda arrays: float((subject.degree > 0).sum()) ** -min(_count(subject, arrays), 1000)
    if kind is SourceKind.LINKS:
        return lambda arrays: 1.0 / max(edges_of(subject.store, a), 1)
    if kind is SourceKind.DISTINCT:
        return lambda arrays: one_of(vertices, width)
    if kind is SourceKind.CLUSTERS:
        count = subject.asked.count or 1
        empty = count > 1 and (np.bincount(subject.store.read_clusters(), minlength=count) == 0).any()
        return lambda arrays: 1.0 if empty else one_of(count, width)  # empty ones leave no trace
    if kind is SourceKind.EVERY and subject.ends_induced and subject.traversal.draws_from == "vertices":
        weights = source_weights(subject)
        if weights is not None and weights.sum() > 0.0:
            shares = np.maximum(weights / weights.sum(), 1e-300)
            return lambda arrays: float(np.exp(max(-700.0, np.log(shares[subject.dense(arrays["sources"])]).sum())))
    return lambda arrays: 1.0


def _count(subject: Subject, arrays: Arrays) -> int:
    return int(subject.samples.layout.sources(arrays)[1].sum())


def one_of(things: int, picks: int) -> float:
    """The chance of a set of so many of some things, each set equally likely."""
    if not 0 < picks < things:
        return 1.0
    return float(np.exp(max(-700.0, lgamma(picks + 1) + lgamma(things - picks + 1) - lgamma(things + 1))))


def set_chance(biases: Biases, picked: list[int]) -> float:
    """The most that the chance of a set can be that is drawn one by one without replacement: of all orders, the one
    that takes the largest first is likeliest.
    """
    biases = of_largest(list(biases))
    total, largest = sum(bias for _, bias in biases), dict[int, float]()
    for label, bias in biases:
        largest[label] = max(bias, largest.get(label, 0.0))
    copies = Counter(label for label, _ in biases)
    chance = 1.0
    for place, label in enumerate(sorted(picked, key=lambda one: -largest.get(one, 0.0)), 1):
        bias = largest.get(label, 0.0)
        chance *= min(1.0, place * copies[label] * bias / total) if total > 0.0 else 1.0
        total -= bias
    return min(chance, 1.0)


def _of_walk(subject: Subject, arrays: Arrays) -> Iterator[float]:
    walk = subject.algorithm
    assert isinstance(walk, Walk)
    length = int(arrays["lengths"][0])
    vertices = subject.dense(arrays["walks"].reshape(-1)[: length + 1]).tolist()
    limit = subject.samples.walk_length
    ended = length < limit if limit is not None else True
    for step in range(length + ended):
        law = next_law(
            subject.view,
            walk,
            vertices[step],
            prev=vertices[step - 1] if step else NONE,
            source=vertices[0],
            depth=step,
            path=vertices[: step + 1],
        )
        yield law.get(vertices[step + 1] if step < length else NONE, 0.0)


def _of_hops(subject: Subject, arrays: Arrays) -> Iterator[float]:
    hops = [subject.dense(arrays[name])[0].tolist() for name in hop_names(arrays)]
    if subject.by_relation is not None:
        yield from _of_hops_by_relation(subject, subject.by_relation, hops)
        return
    source = hops[0][0]
    before = [NONE] * len(hops[0])
    for depth, size in enumerate(subject.traversal.sizes()):
        for entry, v in enumerate(hops[depth]):
            if v < 0:
                continue
            picked = [u for u in hops[depth + 1][entry * size : (entry + 1) * size] if u >= 0]
            yield _of_selection(subject, v, before[entry], source, depth, picked)
        before = [v for v in hops[depth] for _ in range(size)]


def _of_hops_by_relation(subject: Subject, rows: RowsByRelation, hops: list[list[int]]) -> Iterator[float]:
    for depth, width in enumerate(subject.traversal.sizes()):
        offsets, vertices = rows.offsets(depth), np.array(hops[depth], np.int64)
        for entry, of in zip(
            *(one.tolist() for one in rows.selecting(vertices, np.full(vertices.size, depth))), strict=True
        ):
            begin = entry * width + offsets[of]
            ends = hops[depth + 1][begin : begin + rows.sizes[depth, of]]
            picked = [u * rows.relations for u in ends if u >= 0]
            yield _of_selection(subject.of_rows, hops[depth][entry] * rows.relations + of, NONE, NONE, depth, picked)


def _of_selection(subject: Subject, v: int, prev: int, source: int, depth: int, picked: list[int]) -> float:
    """The chance of what one vertex selected."""
    if not picked:
        return 1.0
    biases = edge_biases(subject.view, subject.algorithm, v, prev, source, depth)
    positive = [one for one in biases if one[1] > 0.0]
    if not subject.traversal.replace:
        return 1.0 if len(picked) >= len(positive) else set_chance(positive, picked)
    law = edge_law(subject.view, subject.algorithm, v, prev, source, depth)
    return float(np.prod([law.get(u, 0.0) for u in picked]))


def _of_batch(subject: Subject, arrays: Arrays) -> Iterator[float]:
    if set(subject.columns) - {"v", "depth"}:
        return
    nodes = subject.dense(arrays["n_id"]).tolist()
    hop = np.repeat(np.arange(arrays["hop_nodes"].shape[1]), arrays["hop_nodes"][0]).tolist()
    each = 1 if subject.by_relation is None else subject.by_relation.relations
    relation = arrays.get(RELATION.name, np.zeros(arrays["row"].size, np.uint8)).tolist()
    picked: dict[tuple[int, int], list[int]] = {}
    for row, col, of in zip(arrays["row"].tolist(), arrays["col"].tolist(), relation, strict=True):
        picked.setdefault((col, of), []).append(nodes[row] * each)
    for (node, of), ends in picked.items():
        yield _of_selection(subject.of_rows, nodes[node] * each + of, NONE, NONE, hop[node], ends)


def _of_budgets(subject: Subject, arrays: Arrays) -> Iterator[float]:
    vertices = subject.dense(arrays["n_id"])
    layer = np.repeat(np.arange(arrays["hop_nodes"].shape[1]), arrays["hop_nodes"][0])
    now = int(arrays[SEED_TIME][0]) if SEED_TIME in arrays else 0
    for _, _, draws in Budgets(subject).follow(vertices, layer, now):
        if draws.picks.size and (draws.picks >= 0).all():
            yield float(np.exp(max(-700.0, np.log(draws.chosen / draws.left).sum())))


def _of_layers(subject: Subject, arrays: Arrays) -> Iterator[float]:
    for depth in range(len(subject.traversal.sizes())):
        chances = np.sort(arrays["probability"][arrays["layer"] == depth + 1])[::-1]
        left = np.ones(chances.size) if subject.traversal.replace else 1.0 - np.cumsum(chances) + chances
        places = np.arange(1, chances.size + 1)
        yield float(np.exp(max(-700.0, np.log(np.minimum(1.0, places * chances / np.maximum(left, 1e-300))).sum())))


def _of_edges(subject: Subject, arrays: Arrays) -> float:
    a = subject.traversal
    store: GraphStore = subject.store
    edges = store.edges if store.directed or not a.each_edge_once else -(-store.edges // 2)
    return one_of(edges, int(arrays["counts"][0])) if subject.uniform and not store.multigraph else 1.0


def _of_steps(subject: Subject, arrays: Arrays) -> Iterator[float]:
    if set(subject.columns) != {"v"}:
        return
    ends = (subject.dense(arrays[name]).tolist() for name in ("src", "dst"))
    for src, dst in zip(*ends, strict=True):
        yield edge_law(subject.view, subject.algorithm, src).get(dst, 0.0)


def group_of(subject: Subject, arrays: Arrays) -> Group:
    """The arrays of one instance as a group."""
    counts = {name: array.astype(np.int64) for name, array in arrays.items() if name.endswith("counts")}
    return Group(subject, 0, arrays | counts)


def _of_depths(subject: Subject, arrays: Arrays) -> Iterator[float]:
    """The chances of entries by their pools, as entries.py has them."""
    subject = subject.of_rows
    entries = (UniqueEntries if subject.traversal.unique else Entries)(subject)
    if not entries.judged:
        return
    entries.add(group_of(subject, arrays))
    for number, picks in zip(entries.drawn, entries.picks, strict=True):
        biases = entries.pools[number][1]
        if not picks or (len(picks) >= len(biases) and not subject.traversal.replace):
            continue
        if subject.traversal.replace:
            each = dict.fromkeys((label for label, _ in biases), 0.0)
            for label, bias in of_largest(biases):
                each[label] += bias
            total, largest = sum(each.values()), max(each.get(label, 0.0) for label in picks)
            yield min(1.0, (largest / total) ** len(picks)) if total else 1.0
        else:
            yield set_chance(biases, picks)
