"""Verifies a store by its path."""

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from csaw.engine.api.registry import Algo
from csaw.engine.samples import Samples
from csaw.engine.stores import open_samples
from csaw.engine.verify import BUDGET, Report, judge
from csaw.engine.verify.checks import Check
from csaw.engine.verify.targets import BaseInstances, Redrawing
from csaw.partition.base.parallel import interruptible
from csaw.partition.errors import ChangedError
from csaw.partition.graph.store import GraphStore


def verify(
    samples_path: str | Path,
    graph: str | Path | GraphStore | None = None,
    *,
    budget: int = BUDGET,
    columns: object = None,
    algo: Algo | None = None,
) -> Report:
    """Check a sample store against its graph and the law of its algorithm.

    Args:
        samples_path: the sample store.
        graph: its graph store, by path or in memory; by default the place where it was when it was sampled.
        budget: largest number of biases to evaluate in Python.
        columns: the columns of data of vertices that it was drawn with, as for ``sample``.
        algo: ``FILE.py:CLASS`` where it was drawn by an algorithm that csaw does not ship; without it nothing that
            needs that is tested.

    Returns:
        A Report; a file that has changed is a failed check.

    Raises:
        StoreError: a store cannot be opened.
        OptionError: the sample was drawn with other columns, or by another algorithm.
    """
    place = graph.path if isinstance(graph, GraphStore) else graph

    def checked() -> Report:
        try:
            samples = open_samples(samples_path, place, algo)
        except ChangedError as error:
            return Report(str(samples_path), str(place or ""), (Check("checksums", False, None, str(error)),))
        found = judge(samples, graph, Redrawing(_why_not, _bases), budget=budget, columns=columns, algo=algo)
        return replace(found, path=str(samples_path))

    return interruptible(checked)


def _why_not(samples: Samples) -> str:
    from csaw.engine.runs.base_instances import why_not  # brings what draws

    return why_not(samples)


def _bases(samples: Samples, store: GraphStore, algo: Algo | None) -> AbstractContextManager[BaseInstances]:
    from csaw.engine.runs.base_instances import Bases

    return Bases(samples, store, algo)
