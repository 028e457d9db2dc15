"""The description of a store that ``csaw info`` shows; groups of a sample are read only if that is asked for."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from csaw.engine.api.registry import Algo
from csaw.engine.samples import files
from csaw.engine.samples.layouts.layout import Sizes
from csaw.engine.samples.look import histogram
from csaw.engine.samples.place import partial_of
from csaw.engine.samples.results import RESULTS
from csaw.engine.samples.samples import Samples, open_samples
from csaw.engine.samples.sizes import total
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays.replace import GRAPH, SAMPLES, standing
from csaw.partition.base.plain_data import Record
from csaw.partition.graph.describe import describe as describe_graph

REQUEST = (
    "algorithm",
    "parameters",
    "code",
    "edge_bias",
    "columns",
    "weighted",
    "induced",
    "target",
    "seed",
    "fingerprint",
    "select",
    "sources",
)
UNDRAWN = "not known: a virtual sample is drawn when it is read; csaw info --full draws all of it"
UNKNOWN = "not known: an early version of csaw did not keep it; csaw info --full reads all groups for it"
LOST = f"not known: {RESULTS}, which says it, is missing; csaw info --full reads all groups for it"
MISSING = f"{RESULTS}, with the counts and timings of its run, which are no part of the sample"


def describe_store(
    path: str | Path, full: bool = False, algo: Algo | None = None, graph: str | Path | None = None
) -> Record:
    """Plain data about the graph store or the sample store at ``path``; ``full`` reads all of it.

    A path that is neither kind of store goes to open_graph, whose error says what is wrong with it.
    """
    if _is_samples(Path(path)):
        return describe(path, full, algo, graph)
    store = open_graph(path)
    degrees = {"degrees": _degrees(store)} if full else {}
    return describe_graph(store) | {
        "report": store.report | _times(store),
        **degrees,
        "partitions": [asdict(one) for one in store.partitions],
    }


def _times(store: GraphStore) -> Record:
    """When the edges of a graph with times are, where its report does not say it."""
    if "times" in store.report or store.time is None:
        return {}
    from csaw.partition.graph.time_facts import time_facts  # brings Numba

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


def describe(path: str | Path, full: bool = False, algo: Algo | None = None, graph: str | Path | None = None) -> Record:
    """Plain data about the store at ``path``; ``full`` counts the edges of all groups anew.

    Without it they are what was counted when they were written; where a store does not say that, they are None, and
    ``unknown`` says why. ``algo``: of a virtual sample, FILE.py:CLASS where csaw does not ship its algorithm;
    ``graph``: the path of its graph store, where that has moved.
    """
    samples = open_samples(path, graph, algo)
    request = samples.manifest.get("request", {})
    sizes = _counted(samples) if full else samples.sizes
    return {
        "path": str(path),
        "layout": samples.layout,
        **({"kept": "a request; it is drawn when it is read"} if samples.is_virtual else {}),
        **{name: request[name] for name in REQUEST if name in request},
        "graph": samples.manifest.get("graph", {}),
        **{name: samples.manifest[name] for name in ("source",) if name in samples.manifest},
        "instances": samples.instances,
        "groups": -(-samples.instances // samples.group_size),
        "ids": samples.ids,
        **_shown(samples, sizes),
        "bytes": samples.nbytes,
        "results": samples.results,
        **({} if samples.results else {"missing": MISSING}),
    }


def identified(path: Path) -> Record:
    """The place of a sample, finished or not, and its request, which programs ask for first."""
    partial = partial_of(path)
    for place in (path, partial, path):  # another process may give it its name at this moment
        if (place / "zarr.json").exists():
            break
    said = files.read_json(place / "zarr.json")["attributes"]
    request, graph = said["manifest"]["request"], said["manifest"]["graph"]
    return {
        "out": str(path),
        "finished": place == path,
        "graph": graph.get("path"),
        **{name: request[name] for name in ("fingerprint", "algorithm", "parameters", "seed")},
        "layout": said["layout"],
    }


def _shown(samples: Samples, sizes: Sizes | None) -> Record:
    """Sampled edges, and how many an instance has; for walks also how many ended early."""
    early = {"ended_early": (sizes or {}).get("ended_early")} if samples.layout.has_limit else {}
    if sizes is None:
        why = UNDRAWN if samples.is_virtual else UNKNOWN if samples.results else LOST
        return {"edges": None, "lengths": None, **early, "unknown": why}
    mean = sizes["edges"] / samples.instances if samples.instances else 0.0
    return {"edges": sizes["edges"], "lengths": {"min": sizes["least"], "mean": mean, "max": sizes["most"]}, **early}


def _counted(samples: Samples) -> Sizes | None:
    return total((samples.layout.sizes(arrays, samples.fill) for _, arrays in samples.iter_groups()), samples.layout)
