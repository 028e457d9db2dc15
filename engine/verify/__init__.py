"""Checks that a sample is intact, belongs to its graph, follows the rules of its algorithm, and was drawn from its
exact law.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from csaw.engine.api import recorded
from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.registry import Algo
from csaw.engine.api.rules import BudgetLayers
from csaw.engine.samples import Samples
from csaw.engine.samples.check import graph_facts
from csaw.engine.samples.results import results_of
from csaw.engine.sources.given_columns import recalled
from csaw.engine.verify.asked import Asked
from csaw.engine.verify.checks import ALPHA, Check, Checks, Subject
from csaw.engine.verify.course import FILES, FINGERPRINT, GRAPH, POWER, checks_of
from csaw.engine.verify.instance_chances import Repeats, chance_of
from csaw.engine.verify.targets import Redrawing
from csaw.partition import Graph, open_graph
from csaw.partition.base.parallel import heeding, interruptible
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import html_rows, text_rows
from csaw.partition.base.stages import course, stage, unseen
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.check import fingerprint_of
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.versions import drawn_from

DRAWN = 20_000_000  # numbers of a virtual sample that are drawn and checked, about
LOOKED_AT = 64  # instances of a virtual sample that tell about how many numbers one has
COLUMNS = ("result", "check", "p-value", "details")
STATUSES = {"passed": "ok", "failed": "FAIL", "not_tested": "not tested"}


@dataclass(frozen=True)
class Report:
    """All checks of a store.

    Attributes:
        path: the sample or graph store.
        graph: its graph store.
        checks: the checks, in the order in which they were made.
        alpha: the probability that a correct sample fails a statistical check.
    """

    path: str
    graph: str
    checks: tuple[Check, ...]
    alpha: float = ALPHA

    @property
    def ok(self) -> bool:
        """Whether no check found a fault, and something of the law was tested if any of it could be."""
        return all(check.ok for check in self.checks) and not self.untested

    @property
    def untested(self) -> bool:
        """Whether nothing of the law was tested although some of it could have been, with a larger budget."""
        law = [check for check in self.checks if check.p_value is not None or not check.tested]
        return not any(check.tested for check in law) and any(check.testable for check in law)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of checks by status: passed, failed, not_tested."""
        statuses = [check.status for check in self.checks]
        return {name: statuses.count(status) for name, status in STATUSES.items()}

    def __str__(self) -> str:
        return "\n".join([self._heading, *text_rows(COLUMNS, self._rows())])

    def _repr_html_(self) -> str:
        return html_rows(self._heading, COLUMNS, self._rows())

    @property
    def _heading(self) -> str:
        found = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in self.counts.items() if count)
        return f"{self.path}: {'no fault found' if self.ok else 'not verified'} ({found})"

    def _rows(self) -> list[tuple[str, ...]]:
        p = ["" if check.p_value is None else f"{check.p_value:.3g}" for check in self.checks]
        return [(one.status, one.name, value, one.details) for one, value in zip(self.checks, p, strict=True)]

    def as_dict(self) -> Record:
        """Return all checks as plain data, which ``--json`` prints."""
        checks = [asdict(check) | {"status": check.status} for check in self.checks]
        return asdict(self) | {"checks": checks, "counts": self.counts, "ok": self.ok}


def judge(
    samples: Samples,
    graph: str | Path | GraphStore | None,
    redrawing: Redrawing,
    differing: Callable[[], list[str]],
    *,
    budget: int,
    columns: object = None,
    algo: Algo | None = None,
) -> Report:
    """Check the samples of a store against their graph and the law of their algorithm.

    Args:
        samples: those of a store, open.
        graph: their graph store, by path or open; None: the place where it was when it was sampled.
        redrawing: what draws the base instances of a target again.
        differing: returns the names of the files of the samples that are not as they were written.
        budget: largest number of biases to evaluate in Python.
        columns: the columns of data of vertices that it was drawn with, as for ``sample``.
        algo: ``FILE.py:CLASS`` where it was drawn by an algorithm that csaw does not ship; without it nothing that
            needs that is tested.

    Returns:
        A Report.

    Raises:
        StoreError: the graph cannot be opened.
        OptionError: the sample was drawn with other columns, or by another algorithm.
    """
    samples_path = samples.path
    if "request" not in samples.manifest:
        raise StoreError(f"{samples_path}/zarr.json: expected a manifest with its request, found none; sample again")
    where = _said(graph) if graph is not None else str(samples.manifest.get("graph", {}).get("path", ""))
    checks = Checks()
    # the graph is read while the sample's files are compared
    with course(*checks_of(samples), word="check"), ThreadPoolExecutor(1) as aside:
        coming = aside.submit(heeding(unseen(_graph_of)), graph, samples, where) if where else None
        _checksums(samples, differing, checks)
        if not all(check.ok for check in checks.made):
            return Report(str(samples_path), where, tuple(checks.judge()))
        samples.trust()
        samples = _drawn_part(samples, checks)
        if coming is None:
            raise StoreError(f"{samples_path} does not contain the path of its graph; give it with --graph")
        with stage(GRAPH):
            store, held = coming.result()
        judged = partial(_contents, samples, store, held, redrawing, budget=budget, columns=columns, algo=algo)
        _of_graph(samples, store, aside.submit(heeding(fingerprint_of), store, held), checks, judged)
        with stage(POWER):
            return Report(str(samples_path), where, tuple(checks.judge()))


def verify_graph(path: str | Path) -> Report:
    """Read a whole graph store and check its bytes, the ranges of its numbers, and whether its attributes agree.

    Args:
        path: the graph store.

    Returns:
        A Report; a file that has changed is a failed check.

    Raises:
        StoreError: the store cannot be opened.
    """
    from csaw.partition.graph.check import check_store

    checked = interruptible(lambda: check_store(open_graph(path)))
    checks = tuple(Check(found.name, found.ok, None, found.details) for found in checked)
    return Report(str(path), str(path), checks)


def _said(graph: str | Path | GraphStore | None) -> str:
    return str(graph.path) if isinstance(graph, GraphStore) else str(graph or "")


def _graph_of(given: str | Path | GraphStore | None, samples: Samples, said: str) -> tuple[GraphStore, Graph]:
    """A store or the one at a path, or where a sample has ``said`` that its graph is, in the version that was sampled;
    and its graph in memory.
    """
    wanted = samples.manifest["request"].get("fingerprint")
    try:
        store = given if isinstance(given, GraphStore) else open_graph(drawn_from(said, wanted))
    except (StoreError, OptionError) as error:  # of a path that no store can have
        if given is not None:
            raise
        raise StoreError(
            f"{samples.path} was drawn from a graph at another path: {error}, or name it with --graph"
        ) from error
    return store, store.load(store.further_columns)


def _of_graph(
    samples: Samples, store: GraphStore, fingerprint: Future[str], checks: Checks, contents: Callable[[Checks], None]
) -> None:
    """Add the check that ``store`` is the graph of the samples, and those of their ``contents`` where it is.

    These are made while one thread makes the ``fingerprint`` of what was read, and count for nothing where that is
    another one than the store says.
    """
    wanted, place = samples.manifest["request"].get("fingerprint", store.fingerprint), len(checks.made)
    try:
        if wanted == store.fingerprint:
            contents(checks)
    except Exception:
        if wanted == fingerprint.result():
            raise  # otherwise the graph is not what it says, and any work may fail of that
    with stage(FINGERPRINT):
        found = fingerprint.result()
    same = wanted == found == store.fingerprint
    if not same:
        del checks.made[place:]
    details = f"fingerprint {found}" + ("" if same else f", the sample's is {wanted}")
    said, facts = samples.manifest.get("graph", {}), graph_facts(store)
    if others := [name for name in said if same and name != "path" and facts.get(name) != said.get(name)]:
        details += "".join(f"; {name} is {facts.get(name)}, the sample says {said.get(name)}" for name in others)
    checks.made.insert(place, Check("graph", same and not others, None, details))


@stage(FILES)
def _checksums(samples: Samples, differing: Callable[[], list[str]], checks: Checks) -> None:
    wanted, wrong = samples.checksums, differing()
    try:
        results_of(samples.path)
    except StoreError:
        wrong.append("results/zarr.json")
    details = f"{len(wanted):,} files" + (f"; {len(wrong)} differ: {', '.join(wrong[:3])}" if wrong else "")
    checks.add(Check("checksums", not wrong, None, details))


def _drawn_part(samples: Samples, checks: Checks) -> Samples:
    """The samples to check: of a virtual one the first instances, as many as are drawn in moderate time; any others are
    drawn in the same way.
    """
    if not samples.is_virtual:
        return samples
    some = min(samples.instances, LOOKED_AT)
    each = max(1, sum(array.size for array in samples.group(0, some).values()) // max(some, 1))
    count = min(samples.instances, max(1, DRAWN // each))
    checks.add(
        Check(
            "drawn", True, None, f"a virtual sample: {count:,} of {samples.instances:,} instances are drawn and checked"
        )
    )
    return samples.part(0, count)


def _contents(
    samples: Samples,
    store: GraphStore,
    graph: Graph,
    redrawing: Redrawing,
    checks: Checks,
    *,
    budget: int,
    columns: object,
    algo: Algo | None,
) -> None:
    from csaw.engine.verify.checks import verify_without_law
    from csaw.engine.verify.targets import verify_targets

    request = samples.manifest["request"]
    if algo is None and recorded.is_own(request):
        verify_without_law(samples, store, graph, checks)
        return
    held = recalled(request, columns, store, samples.path)
    algorithm = recorded.built(samples.path, request, algo, held)
    by_layout = _by_layout(algorithm)
    asked = Asked(samples, store, algorithm)
    if not asked.fits:
        asked.judge(checks)
        return
    subject = Subject(samples, store, graph, algorithm, budget)
    repeats = Repeats(subject)
    subject.watches += [lambda start, arrays: asked.add(arrays), repeats.add]
    if request.get("target"):
        bases = partial(redrawing.bases, samples, store, algo)
        verify_targets(subject, checks, by_layout, redrawing.why_not(samples), bases)
    else:
        by_layout[samples.layout](subject, checks)
    asked.judge(checks)
    if all(check.ok for check in checks.made):  # no law tells of what is none of its outcomes
        repeats.judge(checks, chance_of(subject))


def _by_layout(algorithm: Algorithm) -> dict[str, Callable[[Subject, Checks], None]]:
    """The functions that check the samples of an algorithm, by their layout."""
    from csaw.engine.verify.batches import verify_batches
    from csaw.engine.verify.budgets import verify_budgets
    from csaw.engine.verify.layouts_in_time import verify_in_time
    from csaw.engine.verify.links import verify_links
    from csaw.engine.verify.selections import verify_hops
    from csaw.engine.verify.subgraphs import verify_subgraphs
    from csaw.engine.verify.walks import verify_walks
    from csaw.engine.verify.walks_in_time import verify_walks_in_time

    in_time = isinstance(algorithm, Traversal) and algorithm.time_strategy is not None
    return {
        "walks": verify_walks_in_time if isinstance(algorithm, Walk) and algorithm.timed else verify_walks,
        "ragged-walks": verify_walks,
        "hops": verify_in_time if in_time else verify_hops,
        "subgraphs": verify_in_time if in_time else verify_subgraphs,
        "batches": verify_budgets if isinstance(algorithm.rule, BudgetLayers) else verify_batches,
        "links": verify_links,
    }
