"""The door of ``csaw evaluate``: profile a graph, and compare samples with it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from csaw.engine.analytics.evaluation import distances, profiles, sampled, tables
from csaw.engine.analytics.evaluation.in_window import in_window, record_of, words_of
from csaw.engine.analytics.evaluation.measuring import Measures, Measuring, Progress
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import FORMATS, EvaluateOptions, chosen
from csaw.engine.analytics.evaluation.tables import Compared, Row, compared, plain_row, value_of
from csaw.engine.analytics.measure import Findings, Measure
from csaw.engine.api import recorded
from csaw.engine.api.registry import Algo
from csaw.engine.samples import Samples, check
from csaw.engine.stores import open_samples
from csaw.partition import GraphStore, open_graph
from csaw.partition.base import arguments
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import counted, html_rows, line, near
from csaw.partition.base.stages import course, step
from csaw.partition.errors import OptionError

PLOT_INCHES, PLOT_TITLE = (6.4, 4.2), "{finding}"


@dataclass(repr=False)
class Evaluation:
    """The results for a graph and its samples.

    Attributes:
        store: the graph.
        by_measure: for each measure by name, its findings for the graph by name.
        samples: each sample compared with the graph.
        measures: what was measured.
        named: the graph as the caller named it, such as ``karate``; empty if its path is used.
    """

    store: GraphStore
    by_measure: dict[str, Findings]
    samples: list[Compared]
    measures: list[Measure]
    labels: tuple[str, ...] | None = None
    named: str = ""

    @property
    def graph(self) -> str:
        """Path of the graph."""
        return str(self.store.path)

    @property
    def title(self) -> str:
        """The name of the graph with its window of time, if it has one."""
        return f"{self.named or near(self.store.path)}{words_of(self.store)}"

    @cached_property
    def profile(self) -> Findings:
        """All findings of the graph."""
        return {name: one for findings in self.by_measure.values() for name, one in findings.items()}

    def rows(self) -> list[Row]:
        """Return the table: of only the graph, or of each sample compared with it.

        Returns:
            A row for each number.
        """
        if not self.samples:
            return [plain_row(name, one) for name, one in self.profile.items() if value_of(one) is not None]
        return [row for sample in self.samples for row in sample.rows]

    @property
    def names(self) -> list[str]:
        """Names of the samples in tables and plots: the labels that were given, or those of their files."""
        return tables.names_of([sample.path for sample in self.samples], self.labels)

    def mean_d_statistics(self) -> dict[str, float]:
        """Return, for each sample, the mean of the D-statistics that all samples have.

        Returns:
            The means by the names of samples; empty if there is no D-statistic.
        """
        return dict(
            zip(self.names, tables.mean_d_statistics(tables.lines_of(self.profile, self.samples))[1], strict=False)
        )

    @property
    def shown(self) -> tables.Table:
        """The table for people, as heading and cells."""
        return tables.shown(self.title, self.profile, self.samples, self.names)

    @in_python({"format": arguments.one_of(*FORMATS)})
    def table(self, format: str = "text") -> str:
        """Return the table of the graph's findings, or of the distances of its samples, measure by sample.

        Args:
            format: ``text``; ``csv``, with all digits, and values and distances in separate rows; or ``latex``, for the
                package booktabs.

        Returns:
            The table as text of several lines.

        Raises:
            OptionError: another format.
        """
        if format == "csv":
            return tables.as_csv(self.profile, self.samples, self.names)
        return tables.as_latex(self.shown) if format == "latex" else tables.as_text(self.shown)

    @in_python(
        {
            "folder": arguments.path("a folder"),
            "overwrite": arguments.flag,
            "title": arguments.text,
            "size": arguments.size,
        },
        plot_size="size",
        plot="folder",
    )
    def plot(
        self,
        folder: str | Path,
        *,
        size: tuple[float, float] = PLOT_INCHES,
        title: str = PLOT_TITLE,
        overwrite: bool = False,
    ) -> list[Path]:
        """Plot each distribution and curve of the graph and its samples, as ``csaw evaluate --plot`` does.

        Args:
            folder: the folder for the plots, as PDF, PNG and SVG, with their data as CSV.
            size: width and height in inches.
            title: title of each plot; ``{finding}`` is replaced with the name of what is plotted; "" for none.
            overwrite: also replace files that csaw did not write.

        Returns:
            The files.

        Raises:
            MissingDependencyError: Matplotlib is not installed.
            OptionError: the size is out of range.
            StoreError: a file that csaw did not write is there, or a file cannot be written.
        """
        from csaw.engine.analytics.evaluation import plots

        lines = plots.lines_of(self.named or self.graph, self.profile, self.samples, self.names)
        return plots.write(lines, Path(folder), size=size, title=title, overwrite=overwrite)

    def __str__(self) -> str:
        return self.table().rstrip()

    def __repr__(self) -> str:
        beside = counted(len(self.samples), "sample") if self.samples else ""
        return line("csaw evaluation", f"of {self.title}", [counted(len(self.rows()), "finding"), beside])

    def _repr_html_(self) -> str:
        return html_rows("; ".join(self.shown.heading), self.shown.names, self.shown.rows)

    def as_dict(self) -> dict[str, object]:
        """Return all findings as plain data, which ``--json`` prints.

        Returns:
            What JSON can hold.
        """
        from csaw.engine.analytics.evaluation.tables import as_plain

        return {
            "graph": self.graph,
            **record_of(self.store),
            "measures": {one.name(): one.parameters() for one in self.measures},
            "profile": {name: as_plain(finding) for name, finding in self.profile.items()},
            "rows": [row._asdict() for row in self.rows()],
        }


def evaluate(
    graph: str | Path | GraphStore,
    samples: Sequence[str | Path | Samples] = (),
    *,
    progress: Progress = lambda doing: None,
    algo: Algo | None = None,
    measuring: Callable[[GraphStore, EvaluateOptions], AbstractContextManager[Measures]] = Measuring,
    **options: object,
) -> Evaluation:
    """Measure a graph, and compare samples with it.

    Args:
        graph: a graph store or its path.
        samples: sample stores of that graph, stored or virtual, by their paths or open, or samples in memory.
        progress: called with a few words at each step.
        algo: ``FILE.py:CLASS`` of virtual samples whose algorithm csaw does not ship.
        measuring: opens the object that measures; by default in this process.
        **options: those of EvaluateOptions, and those of the measures by name.

    Returns:
        The findings of the graph and of its samples.

    Raises:
        OptionError: an option is unknown or out of its range.
        UnknownNameError: a measure is unknown.
        StoreError: a store is missing or damaged, or a sample is of another graph.
        BudgetError: ``memory`` or ``gpu_memory`` does not hold what a measure needs.
    """
    wish, values = EvaluateOptions.of(options)
    measures = chosen(wish.measures, values)
    store = in_window(graph if isinstance(graph, GraphStore) else open_graph(graph), wish, samples=len(samples))
    _check(measures, store)
    given = [one if isinstance(one, Samples) else _opened(one, store, algo) for one in samples]
    for sample in given:
        sampled.check(sample, store)
    if not given and (wish.estimate or wish.per_instance):
        flag = "--estimate: expected samples to estimate from" if wish.estimate else "--per-instance: expected samples"
        raise OptionError(f"{flag}, found none")
    if wish.estimate:
        from csaw.engine.analytics.evaluation.visits import require_law

        for sample in given:  # before anything is measured
            require_law(sample, store.directed)
    if wish.labels is not None and len(wish.labels) != len(given):
        raise OptionError(
            f"--labels: expected a name for each of {counted(len(given), 'sample')}, found {len(wish.labels)}"
        )
    if wish.labels is not None and ("" in wish.labels or len(set(wish.labels)) < len(wish.labels)):
        raise OptionError(f"--labels: expected different names that are not empty, found {', '.join(wish.labels)}")
    if given and wish.as_ != "visits" and not wish.estimate and all(one.reads_weights for one in measures):
        raise OptionError(
            f"--measures: {', '.join(one.name() for one in measures)} reads weights, which graphs of samples do not "
            "have; add another measure, or measure the graph without samples"
        )
    with course(of=len(measures) + len(given)), measuring(store, wish) as here:
        evaluation = Evaluation(store, here.profile(measures, progress), [], measures, wish.labels)
        for number, sample in enumerate(given, len(measures) + 1):
            step(number)
            evaluation.samples.append(_compared(sample, here, evaluation.profile, measures, wish, progress))
    return evaluation


def _opened(path: str | Path, store: GraphStore, algo: Algo | None) -> Samples:
    """The sample at ``path``. The user names code for those alone that csaw cannot draw without it."""
    request = check.attributes_of(Path(path))["manifest"].get("request", {})
    return open_samples(path, store.path, algo if recorded.is_own(request) else None)


def plan(graph: str | Path | GraphStore, **options: object) -> list[dict[str, object]]:
    """Return how :func:`evaluate` would measure a graph; nothing is measured.

    Args:
        graph: a graph store or its path.
        **options: as for :func:`evaluate`.

    Returns:
        Plain data for each measure.

    Raises:
        CsawError: as for :func:`evaluate`.
    """
    wish, values = EvaluateOptions.of(options)
    measures = chosen(wish.measures, values)
    store = in_window(graph if isinstance(graph, GraphStore) else open_graph(graph), wish, beside="--dry-run")
    _check(measures, store)
    with Networks(store, wish) as networks:
        return [
            {
                "measure": one.name(),
                **networks.plan(one),
                "kept": not wish.refresh and profiles.read(store.identity, one) is not None,
            }
            for one in measures
        ]


def _check(measures: Sequence[Measure], store: GraphStore) -> None:
    """Raise OptionError for a measure that cannot be found of the graph, before others take their time."""
    for one in measures:
        one.check(store)


def _compared(
    samples: Samples,
    here: Measures,
    profile: Findings,
    measures: list[Measure],
    wish: EvaluateOptions,
    progress: Progress,
) -> Compared:
    """Compare a sample with the graph's profile."""
    out = Compared(str(samples.path), samples.instances)
    if wish.estimate or wish.as_ == "visits":
        from csaw.engine.analytics.evaluation.visits import Visits

        progress(f"visits of {samples.path}")
        visits = Visits(samples, here.host, profile, wish)
        out.rows, out.findings = visits.rows(), [(dict(visits.distributions()), np.arange(here.host.vertices))]
        return out
    out.findings = here.of_sample(samples, measures, progress)
    out.rows = compared(out.path, profile, out.findings, distances.distance)
    return out
