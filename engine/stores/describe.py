"""The description of a store that ``csaw info`` shows."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from csaw.engine.api.registry import Algo
from csaw.engine.samples.describe import describe, histogram
from csaw.engine.stores import open_samples
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays.files import GRAPH, SAMPLES
from csaw.partition.arrays.nodes import require_store
from csaw.partition.arrays.replace import standing
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import OptionError
from csaw.partition.graph.store import describe as describe_graph
from csaw.partition.graph.versions import numbered, versions_of


def describe_store(
    path: str | Path,
    full: bool = False,
    algo: Algo | None = None,
    graph: str | Path | None = None,
    version: int | None = None,
) -> Record:
    """Plain data about the graph store or the sample store at ``path``; ``full`` reads all of it.

    ``algo``: of a virtual sample, FILE.py:CLASS where csaw does not ship its algorithm; ``graph``: the path of its
    graph store, where that has moved; ``version``: of a graph store, the number of the version (default: the newest).

    A damaged store of neither kind goes to open_graph, whose error says what is wrong with it.
    """
    if _is_samples(Path(path)):
        if version is not None:
            raise OptionError(f"--version: {path} is a sample store, which has no versions; leave it out")
        return describe(open_samples(path, graph, algo), path, full)
    require_store(Path(path))
    store = open_graph(path, version=version)
    versions = versions_of(store.base) if len(numbered(store.base)) > 1 else []
    degrees = {"degrees": _degrees(store)} if full else {}
    return describe_graph(store) | {
        "report": store.report | _times(store),
        **degrees,
        **({"version": store.version} if versions or store.version else {}),
        **({"versions": [one.as_dict() for one in versions]} if versions else {}),
        "partitions": [asdict(one) for one in store.partitions],
    }


def _times(store: GraphStore) -> Record:
    """When the edges of a graph with times are, where its report does not say it."""
    if "times" in store.report or store.time is None:
        return {}
    from csaw.partition.graph.time_order import time_facts  # brings Numba

    return {"times": time_facts(store)}


def _is_samples(path: Path) -> bool:
    """Whether ``path`` is a sample store, be it whole, damaged or unfinished."""
    found = standing(path.resolve())
    unfinished = path.name.endswith(".partial") or Path(f"{path}.partial").is_dir()
    return found == SAMPLES or (found != GRAPH and (unfinished or (path / "results").is_dir()))


def _degrees(store: GraphStore) -> list[dict[str, int]]:
    """Numbers of vertices by degree."""
    bins = histogram(np.diff(store.read_indptr()))
    return [{"from": one["from"], "to": one["to"], "vertices": one["count"]} for one in bins]
