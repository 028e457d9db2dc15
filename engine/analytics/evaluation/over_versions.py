"""Measures of several versions of a graph store: a table with a column for each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from csaw.engine.analytics.evaluation import profiles, tables
from csaw.engine.analytics.evaluation.evaluate import PLOT_INCHES, PLOT_TITLE, Evaluation, evaluate
from csaw.engine.analytics.evaluation.in_window import record_of, with_times
from csaw.engine.analytics.evaluation.measuring import Progress
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.evaluation.over_time import evaluate_windows, say_of
from csaw.engine.analytics.evaluation.tables import Compared, Row, as_plain
from csaw.engine.analytics.measure import Findings
from csaw.engine.api.registry import Algo
from csaw.engine.samples import Samples
from csaw.partition import GraphStore, open_graph
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.quoting import counted, near
from csaw.partition.base.stages import course, step
from csaw.partition.errors import OptionError


@dataclass(repr=False)
class OverVersions(Evaluation):
    """The results for several versions of a graph.

    Attributes:
        versions: the evaluation of each version by its number, in the order in which they were asked for. Columns keep
            only their ends, not their values; ``profile`` and ``by_measure`` are empty.
    """

    versions: dict[int, Evaluation] = field(default_factory=dict)

    @property
    def graph(self) -> str:
        return str(self.store.base)

    @property
    def title(self) -> str:
        return f"{self.named or near(self.store.base)}, {counted(len(self.versions), 'version')}"

    @property
    def profiles(self) -> dict[str, Findings]:
        """The findings of each version, by its name in tables."""
        return {f"version {number}": one.profile for number, one in self.versions.items()}

    def rows(self) -> list[Row]:
        """Return the findings of all versions.

        Returns:
            A row for each number, with the version that it belongs to.
        """
        each = zip(self.profiles, self.versions.values(), strict=True)
        return [row._replace(of=name) for name, one in each for row in one.rows()]

    @property
    def shown(self) -> tables.Table:
        return tables.side_by_side(self.title, self.profiles)

    def table(self, format: str = "text") -> str:
        return tables.side_by_side_csv(self.profiles) if format == "csv" else super().table(format)

    def plot(
        self,
        folder: str | Path,
        *,
        size: tuple[float, float] = PLOT_INCHES,
        title: str = PLOT_TITLE,
        overwrite: bool = False,
    ) -> list[Path]:
        from csaw.engine.analytics.evaluation import plots

        (first, profile), *later = self.profiles.items()
        compared = [Compared(name, 1, [(one, np.empty(0, np.int64))]) for name, one in later]
        lines = plots.lines_of(first, profile, compared, [name for name, _ in later])
        return plots.write(lines, Path(folder), size=size, title=title, overwrite=overwrite)

    def as_dict(self) -> dict[str, object]:
        each = [
            {
                "version": number,
                "fingerprint": one.store.fingerprint,
                **record_of(one.store),
                "profile": {name: as_plain(found) for name, found in one.profile.items()},
            }
            for number, one in self.versions.items()
        ]
        measures = {one.name(): one.parameters() for one in self.measures}
        return {"graph": self.graph, "measures": measures, "versions": each}


def evaluate_several(
    graph: str | Path | GraphStore,
    samples: Sequence[str | Path | Samples] = (),
    *,
    progress: Progress = lambda doing: None,
    algo: Algo | None = None,
    **options: OptionValue,
) -> Evaluation:
    """Do what :func:`evaluate` does, and measure a graph in several windows of time, or several of its versions, where
    ``options`` ask for them.

    Args:
        graph: a graph store or its path.
        samples: samples of the graph, as for :func:`evaluate`; none with several windows or versions.
        progress: called with a few words at each step.
        algo: as for :func:`evaluate`.
        **options: as for :func:`evaluate`, with ``versions``, or with ``windows``, ``every`` and ``cumulative``, for
            which ``until`` and ``between`` set where the windows begin and end.

    Returns:
        The findings of the graph and of its samples; of several windows OverTime, of several versions OverVersions.

    Raises:
        OptionError: there are samples, the windows are not possible, or versions are asked of a graph in memory; and as
            for :func:`evaluate`.
        CsawError: as for :func:`evaluate`.
    """
    wish, _ = EvaluateOptions.of(options)
    if not wish.several:
        return evaluate(graph, samples, progress=progress, algo=algo, **options)
    store = graph if isinstance(graph, GraphStore) else open_graph(graph)
    if wish.several != "--versions":
        with_times(store, wish.several, len(samples))
        return evaluate_windows(store, wish, progress, options)
    if samples:
        raise OptionError(
            f"{wish.several}: expected only the graph, found {counted(len(samples), 'sample')}; leave out one of them"
        )
    if store.in_memory:
        raise OptionError(f"{wish.several}: {store.path}: a graph in memory has no versions; leave it out")
    each = {number: open_graph(store.base, version=number) for number in wish.versions or ()}
    done = dict[int, Evaluation]()
    with course(of=len(each)):
        for place, number in enumerate(sorted(each), 1):  # each is brought up to date from those before
            step(place)
            say = partial(say_of, progress, f"version {number}")
            here = done[number] = evaluate(each[number], progress=say, **(options | {"versions": None}))
            here.by_measure = {name: profiles.shortened(found) for name, found in here.by_measure.items()}
            here.store.release()
    found = {number: done[number] for number in each}
    return OverVersions(store, {}, [], next(iter(found.values())).measures, versions=found)
