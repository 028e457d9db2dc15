"""Things that all checks need: the sample with its graph and algorithm, and the checks made so far."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from csaw.engine.api import hooks, recorded
from csaw.engine.api.algorithm import Algorithm, Traversal
from csaw.engine.api.law import GraphView
from csaw.engine.api.starts import SourceKind
from csaw.engine.plan.by_relation import fanouts_of, in_full
from csaw.engine.samples import UNKNOWN, Samples
from csaw.engine.samples.layouts import VERTEX, Arrays, kind_of
from csaw.engine.sources.digest import SourcesDigest
from csaw.engine.sources.turns import Turns
from csaw.engine.verify.by_relation import RowsByRelation
from csaw.engine.verify.choices import Counted, class_tests, counted_here
from csaw.engine.verify.course import passed
from csaw.engine.verify.forms import RowLaws, row_form
from csaw.engine.verify.kernels import DenseIds, edge_weights, multiplicity
from csaw.engine.verify.pooled import Pooled, pooled_test
from csaw.engine.verify.statistics import Choices, Law, Laws, Result, Situation, holm
from csaw.partition import Graph, GraphStore
from csaw.partition.errors import OptionError, StoreError

ALPHA = 1e-6
"""Chance that a right sample fails, over all statistical checks together."""


@dataclass(frozen=True)
class Check:
    """The result of a check.

    ``ok``: it found no fault. Where ``tested`` is False, it looked for none, and ``details`` say why.
    """

    name: str
    ok: bool
    p_value: float | None
    details: str
    tested: bool = True
    testable: bool = True  # whether this sample could have been tested with a larger budget
    finds: dict[str, float] | None = None
    """The smallest deviations that the check finds with a chance of 99 %: in words, and as a share."""

    @property
    def status(self) -> str:
        """ok, FAIL or not tested."""
        return ("ok" if self.tested else "not tested") if self.ok else "FAIL"


@dataclass
class Checks:
    """Checks in the order in which they were made."""

    made: list[Check] = field(default_factory=list)
    _results: dict[str, list[Result]] = field(default_factory=dict)

    def add(self, check: Check) -> None:
        self.made.append(check)

    def count(self, name: str, wrong: int, what: str) -> None:
        self.add(Check(name, bool(wrong == 0), None, f"{wrong:,} {what}"))

    def not_tested(self, name: str, why: str, testable: bool = False) -> None:
        self.add(Check(name, True, None, why, tested=False, testable=testable))

    def results(
        self, name: str, results: list[Result], details: str, without: str = "too few choices", testable: bool = False
    ) -> None:
        """Add a statistical check; :meth:`judge` decides on it together with all others.

        ``without``: the reason if there are no results.
        """
        if results:
            self.add(Check(name, True, holm([result.p_value for result in results]), details))
            self._results[name] = results
        else:
            self.not_tested(name, without, testable)

    def situations(self, name: str, found: Sequence[Situation], what: str) -> None:
        """Add the check of ``what`` in single situations, each by itself."""
        details = f"{len(found):,} situations, {sum(one.times for one in found):,} {what}"
        if worst := min(found, key=lambda one: one.result.p_value, default=None):
            details += f"; worst where {worst.name} (dense ids) with p = {worst.result.p_value:.2g}"
        self.results(name, [one.result for one in found], details, f"too few {what} in the same situation")

    def take(self, other: "Checks", kind: str) -> None:
        """Add checks of something else than the sample itself; ``kind`` says of what, before their names."""
        self.made += [replace(check, name=f"{kind} {check.name}") for check in other.made]
        self._results |= {f"{kind} {name}": results for name, results in other._results.items()}

    def judge(self) -> list[Check]:
        """All checks.

        The statistical ones are decided together (Holm), and each says the deviations that it finds at its level.
        """
        tested = sorted((c for c in self.made if c.p_value is not None), key=lambda c: c.p_value or 0.0)
        failed: set[str] = set()
        for rank, check in enumerate(tested):
            if (check.p_value or 0.0) > ALPHA / (len(tested) - rank):
                break
            failed.add(check.name)
        return [
            c if c.p_value is None else _judged(c, self._results[c.name], ALPHA / len(tested), c.name in failed)
            for c in self.made
        ]


def _judged(check: Check, results: list[Result], level: float, failed: bool) -> Check:
    finds = smallest(results, level / len(results))
    if failed:
        return replace(check, ok=False, finds=finds)
    if min(finds.values()) > 1.0:
        why = f"{check.details}; too few to detect any deviation"
        return Check(check.name, True, None, why, tested=False, testable=False)
    finds = {words: share for words, share in finds.items() if share <= 1.0}
    least: dict[str, float] = {}
    for result in results:  # the result of the whole sample comes first
        known = result.smallest(level / len(results))
        if known <= 1.0:
            least.setdefault(result.deviation, known)
    said = ", ".join(f"{percent(share)} of {words}" for words, share in least.items())
    return replace(check, details=f"{check.details}; would detect {said}", finds=finds)


def smallest(results: list[Result], level: float) -> dict[str, float]:
    """The smallest share of each deviation that would be found at ``level``, by the words for the deviation and the
    part of the sample.
    """
    out: dict[str, float] = {}
    for result in results:
        words = result.deviation + (f", in {result.part}" if result.part else "")
        out[words] = min(out.get(words, float("inf")), result.smallest(level))
    return out


def percent(share: float) -> str:
    return f"{100 * share:.2g} %"


class Subject:
    """A sample together with its graph in memory and its algorithm."""

    def __init__(
        self,
        samples: Samples,
        store: GraphStore,
        graph: Graph,
        algorithm: Algorithm,
        budget: int,
        number: Callable[[int], int] = int,
    ) -> None:
        """``number``: the number by which each instance of ``samples`` was drawn."""
        self.number = number
        request = samples.manifest["request"]
        self.samples, self.store, self.graph, self.algorithm, self.budget = samples, store, graph, algorithm, budget
        self.induced = bool(request.get("induced", False))
        self.ends_induced = self.induced or algorithm.ends_induced
        self.weighted = bool(request.get("weighted", False))
        self.view = GraphView(graph, self.weighted)
        self.degree = np.diff(self.view.indptr)
        bias, others = hooks.edge_bias(algorithm, self.weighted), hooks.others(algorithm, self.weighted)
        self.updates = isinstance(algorithm, Traversal) and others["update"] is not None
        self.pooled = isinstance(algorithm, Traversal) and algorithm.pool_size is not None
        apart = {"update": self.updates, "vertex_bias": self.pooled}  # followed by their text: updates, frontier_pools
        of_law = [hook for name, hook in others.items() if hook and not apart.get(name)]
        reads = bias.reads.union(*(hook.reads for hook in of_law))
        self.reads, self.reads_path = reads, "path" in reads
        if self.reads_path:
            reads |= {"depth", "instance"}  # which name the path
        self.uniform = bias.constant is not None and bias.constant > 0
        # Along a metapath, rows may have the edges of one relation alone: of these, all that there are have no order.
        self.ordered = not self.uniform and "metapath" not in request
        self.columns = ("v", *(name for name in ("prev", "source", "depth", "instance") if name in reads))
        self.revives = others["dead_end"] is not None
        self.asked = SourcesDigest.parse(str(request.get("sources", "")))
        self.sources = self.asked.kind
        self.starts_at_all = self.sources is SourceKind.ALL
        self.turns = Turns.of(self.asked.grown, int(getattr(algorithm, "num_walks", 1)))
        ids = store.stored_ids()
        self.dense = DenseIds(samples, ids if isinstance(ids, np.ndarray) else None, store.vertices)
        self.watches = list[Callable[[int, Arrays], None]]()

    def all_sources(self, numbers: np.ndarray) -> np.ndarray:
        """int64: the sources with these numbers, counted over all instances, where all vertices are sources in turn."""
        return numbers % self.view.vertices if self.turns is None else self.turns.at(numbers)

    def watch(self, start: int, arrays: Arrays) -> None:
        """Tell all ``watches`` of the arrays of a group, whose first instance has the number ``start`` here."""
        for one in self.watches:
            one(start, arrays)

    @cached_property
    def by_relation(self) -> RowsByRelation | None:
        """The rows of a sample that selects by relation."""
        fanouts, types = fanouts_of(self.algorithm), self.store.stored.types
        if fanouts is None or types is None:
            return None
        try:
            return RowsByRelation(self.graph, types, in_full(fanouts, self.store))
        except OptionError as error:
            said = str(error).removeprefix("--")
            raise StoreError(f"{self.samples.path}/zarr.json: {said}; make the sample again") from error

    @cached_property
    def of_rows(self) -> "Subject":
        """The sample with the graph of the rows that its vertices select from: its own, or those by relation."""
        rows = self.by_relation
        if rows is None:
            return self
        found = copy.copy(self)
        found.graph, found.view = rows.graph, GraphView(rows.graph, self.weighted)
        found.degree = np.diff(found.view.indptr)
        return found

    @cached_property
    def all_possible(self) -> bool:
        """Whether every edge has a bias above 0, as far as that is known without a look at each."""
        if self.uniform:
            return True
        shipped = type(self.algorithm).__module__.startswith("csaw.engine.algorithms.")
        if not shipped or self.samples.manifest["request"].get("edge_bias") is not None:
            return False
        if getattr(self.algorithm, "bias", "") == "degree":
            return bool((self.degree > 0).all())
        return self.view.weights is None or bool((self.view.weights > 0).all())

    @cached_property
    def other_weights(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """The weights of edges by their ends, where the graph has some that the law does not read: see edge_weights."""
        if self.graph.weights is None or (self.weighted and "weight" in self.reads):
            return None
        return partial(edge_weights, self.graph)

    @property
    def traversal(self) -> Traversal:
        """The algorithm, of samples that are no walks."""
        assert isinstance(self.algorithm, Traversal)
        return self.algorithm

    def laws(self, law: Callable[..., Law]) -> Laws:
        """The laws of single choices, by a closed form where there is one."""

        def cost(rows: np.ndarray) -> np.ndarray:
            return self.degree[rows[:, 0]] + 1

        form = row_form(self.view, self.algorithm, self.budget)
        if form is None:
            return Laws(law, cost, self.budget)
        return RowLaws(law, cost, self.budget, self.view, form, self.columns)


class SingleChoices(NamedTuple):
    """Statistics of single choices from a part of the sample: by classes of degree, which are the number of situations,
    that of choices and the results; and of all of them together.
    """

    by_class: tuple[int, int, list[Result]]
    pooled: Pooled


def single_choices(choices: Choices, laws: Laws) -> SingleChoices:
    """Judge the ``choices`` one by one; in any thread where ``laws`` have a closed form, which nothing changes."""
    by_class: tuple[int, int, list[Result]] = (0, 0, [])
    if isinstance(laws, RowLaws) and not laws.form.goes:
        by_class = class_tests(choices, laws)
    return SingleChoices(by_class, pooled_test(choices, laws))


def statistics(
    checks: Checks,
    choices: Choices,
    laws: Laws,
    sizes: np.ndarray,
    what: str = "transitions",
    of: int | None = None,
    counted: Counted | None = None,
    single: SingleChoices | None = None,
) -> None:
    """Add all tests of single choices against their law.

    ``sizes``, by the first column of a situation, sorts situations into strata; ``of``: number of choices of the
    sample. ``counted``: counts of the choices of the whole sample, where ``choices`` are a part of it. ``single``: what
    the ``choices`` tell, where that is known.
    """
    counted = counted or counted_here(choices, laws, sizes)
    checks.situations(what, list(counted.results()) if counted else [], "choices")
    by_class, pooled = single or single_choices(choices, laws)
    _by_degree(checks, f"{what}, by degree", choices, sizes, by_class, counted)
    total = max(len(choices.situations), of or 0)
    few = f"too few choices: {pooled.used:,} of {total:,} have several possible outcomes and were tested"
    looked = f"{pooled.looked_at:,} of {total:,} choices, {pooled.used:,} with several possible outcomes"
    checks.results(f"{what}, pooled", pooled.places, looked + _worst(pooled.places), few, pooled.looked_at < total)
    found = [("uniform", pooled.uniform), ("degree", pooled.degree)]
    if choices.weights is not None:
        found.append(("weight", pooled.weight))
    for name, results in found:
        is_law = pooled.used and name in pooled.same
        why = f"this is the law of all {pooled.used:,} choices, so there is no deviation to detect" if is_law else few
        checks.results(f"{what}, {name}", results, f"{pooled.used:,} choices{_worst(results)}", why)
    checks.results(f"{what}, independence", pooled.independence, "each choice with the next one", few)


def _by_degree(
    checks: Checks,
    name: str,
    choices: Choices,
    sizes: np.ndarray,
    by_class: tuple[int, int, list[Result]],
    counted: Counted | None,
) -> None:
    """Add the tests of the deviations with a meaning by classes of degree, over single choices where there is a closed
    form, and over counted situations.
    """
    situations, choice_count, results = by_class
    if counted is not None:
        situations, choice_count = situations + len(counted.rows), choice_count + int(counted.times.sum())
        results = results + counted.shares(sizes, choices.degree)
    details = f"{situations:,} situations, {choice_count:,} choices{_worst(results)}"
    checks.results(name, results, details, "too few choices of a class of degrees")


def _worst(results: list[Result]) -> str:
    worst = min(results, key=lambda r: r.p_value, default=None)
    if worst is None:
        return ""
    return f"; worst{f' in {worst.part}' if worst.part else ''} with p = {worst.p_value:.2g}"


# Checks of samples whose law is not known here, because csaw does not ship their algorithm and nobody has named its
# file: vertices and edges, which need no law.


def verify_without_law(samples: Samples, store: GraphStore, graph: Graph, checks: Checks) -> None:
    """Check that all vertices are vertices of the graph, and that drawn edges are edges of it.

    Steps of walks may lead elsewhere, where their algorithm has them do so.
    """
    ids = store.stored_ids()
    dense = DenseIds(samples, ids if isinstance(ids, np.ndarray) else None, store.vertices)
    strange, missing, drawn = 0, 0, 0
    for _, arrays in passed(samples):
        strange += sum(
            int((dense(array) == UNKNOWN).sum()) for name, array in arrays.items() if kind_of(name) == VERTEX
        )
        edges = samples.layout.edges(arrays, samples.fill)
        src, dst = (np.ascontiguousarray(dense(edges[name])) for name in ("src", "dst"))
        copies = np.empty(src.size, np.int64)
        multiplicity(graph.indptr, graph.indices, src, dst, copies)
        missing, drawn = missing + int((copies == 0).sum()), drawn + copies.size
    checks.count("vertices", strange, "entries that are not vertices of the graph")
    if samples.has_walks and missing:
        checks.not_tested("edges", f"{missing:,} of {drawn:,} steps that follow no edge, which the algorithm may take")
    else:
        checks.count("edges", missing, f"of {drawn:,} sampled edges that are not in the graph")
    try:
        recorded.named(samples.path, samples.manifest["request"], None)
    except StoreError as why:
        checks.not_tested("law", str(why), testable=True)
