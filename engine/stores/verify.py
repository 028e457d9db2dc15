"""Verifies a store by its path."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from csaw.engine.api.registry import Algo
from csaw.engine.samples import Samples, files
from csaw.engine.samples.check import most_bytes
from csaw.engine.stores import open_samples
from csaw.partition.base.parallel import heeding, interruptible, processors
from csaw.partition.errors import ChangedError
from csaw.partition.graph.store import GraphStore

if TYPE_CHECKING:
    from csaw.engine.verify import Report
    from csaw.engine.verify.targets import BaseInstances

BUDGET = 1_000_000


def verify(
    samples_path: str | Path,
    graph: str | Path | GraphStore | None = None,
    *,
    budget: int = BUDGET,
    columns: object = None,
    algo: Algo | None = None,
) -> "Report":
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
    return interruptible(partial(_checked, samples_path, graph, budget, columns, algo))


def of_graph(path: str | Path) -> "Report":
    """Check a graph store."""
    from csaw.engine.verify import verify_graph  # brings Numba, which is imported later for a sample

    return verify_graph(path)


def _checked(
    path: str | Path, graph: str | Path | GraphStore | None, budget: int, columns: object, algo: Algo | None
) -> "Report":
    """The report; the files of the sample are hashed while what judges them is imported, which takes as long."""
    place = graph.path if isinstance(graph, GraphStore) else graph
    with ThreadPoolExecutor(1) as aside:
        try:
            samples = open_samples(path, place, algo)
            differing = aside.submit(heeding(_differing), samples)
        except ChangedError as error:
            from csaw.engine.verify import Report
            from csaw.engine.verify.checks import Check

            return Report(str(path), str(place or ""), (Check("checksums", False, None, str(error)),))
        from csaw.engine.verify import judge
        from csaw.engine.verify.targets import Redrawing

        redrawing = Redrawing(_why_not, _bases)
        found = judge(samples, graph, redrawing, differing.result, budget=budget, columns=columns, algo=algo)
        return replace(found, path=str(path))


def _differing(samples: Samples) -> list[str]:
    wanted = samples.checksums
    return files.differing(samples.path, wanted, most_bytes(samples.path, wanted), processors())


def _why_not(samples: Samples) -> str:
    from csaw.engine.runs.base_instances import why_not  # brings what draws

    return why_not(samples)


def _bases(samples: Samples, store: GraphStore, algo: Algo | None) -> "AbstractContextManager[BaseInstances]":
    from csaw.engine.runs.base_instances import Bases

    return Bases(samples, store, algo)
