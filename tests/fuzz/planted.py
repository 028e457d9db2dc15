"""Planted faults: a whole sample, of which one array or one number of the request is changed so that law, structure or
request is broken, with checksums made anew. ``csaw verify`` fails, by the check of that fault.

What no fault of a case can be told by is left out here, and listed in docs/exactness.md.
"""

from collections.abc import Callable, Collection
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
from helpers.forged import forged
from helpers.graphs import random_store
from helpers.remade import chosen, remade

import csaw
from csaw.engine.samples import Samples
from csaw.engine.stores import open_samples
from csaw.partition.errors import StoreError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.versions import drawn_from
from csaw.partition.graph.write import write_graph
from fuzz.judge import Failure

DRAWS: dict[str, dict[str, Any]] = {
    "deepwalk": {"walk_length": 12, "num_walks": 4},
    "biased": {"walk_length": 12, "num_walks": 4},
    "node2vec": {"walk_length": 12, "num_walks": 4, "p": 0.5, "q": 2},
    "metropolis-hastings": {"walk_length": 20, "num_walks": 4},
    "restart": {"walk_length": 16, "num_walks": 4},
    "ppr": {"num_walks": 40, "termination_prob": 0.05},
    "neighbor": {"fanout": (3, 2), "instances": 160},
    "minibatch": {"fanout": (3, 2), "seeds_per_batch": 8, "epochs": 4},
    "hgt": {"num_samples": (8, 8), "seeds_per_batch": 8, "epochs": 4},
    "snowball": {"neighbor_size": 3, "depth": 2, "instances": 160},
    "layer": {"neighbor_size": 5, "depth": 3, "instances": 160},
    "labor": {"fanout": (4, 3), "frontier_size": 8, "instances": 30},
    "ladies": {"layer_sizes": (8, 8), "frontier_size": 8, "instances": 30},
    "fastgcn": {"layer_sizes": (8, 8), "frontier_size": 8, "instances": 30},
    "multidimensional": {"walk_length": 30, "instances": 40},
    "random-node": {"frontier_size": 12, "instances": 40},
    "random-edge": {"neighbor_size": 20, "instances": 40},
    "saint-walk": {"frontier_size": 12, "walk_length": 2, "instances": 40},
    "saint-edge": {"frontier_size": 12, "instances": 40},
    "saint-node": {"subgraph_nodes": 20, "instances": 40},
    "links": {"num_negatives": 9, "instances": 60},
    "timed links": {"num_negatives": 9, "instances": 60, "negative_time": "until", "skip_full": True},
    "induced snowball": {"depth": 1, "induced": True},
    "induced deepwalk": {"walk_length": 4, "induced": True},
    "induced neighbor": {"fanout": (2, 2), "induced": True},
}
"""By the name of the algorithm, behind another word or not."""
SIZES = (
    "walk_length",
    "fanout",
    "depth",
    "layer_sizes",
    "num_samples",
    "subgraph_nodes",
    "frontier_size",
    "seeds_per_batch",
    "epochs",
    "num_negatives",
)
UNSEEN = {("saint-walk", "walk_length"), ("induced deepwalk", "walk_length"), ("induced neighbor", "fanout")}
"""More of these may meet no other vertices."""
ENDS = {
    "walks": ("walks",),
    "ragged-walks": ("walks",),
    "hops": ("hop_1", "hop_2"),
    "batches": ("n_id",),
    "links": ("links",),
}
Fault = Callable[[Path, str, Random], tuple[str, set[str]] | None]
"""Plants a fault in the sample of an algorithm: what it was, and the checks of which one fails; None: it cannot."""


def asked_number(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Another size in the request."""
    request = open_samples(path).manifest["request"]
    names = [n for n in SIZES if request["parameters"].get(n) is not None and (algo, n) not in UNSEEN]
    name = random.choice([*names, "instances", "group_size", "seed of sources"])
    more = random.choice([1, 2, 7])
    if name in ("instances", "group_size"):
        forged(path, lambda said: said["manifest"]["request"].update({name: request[name] + more}))
    elif name in names:
        other = _larger(request["parameters"][name], more, random)
        forged(path, lambda said: said["manifest"]["request"]["parameters"].update({name: other}))
    else:
        kind, _, width = request["sources"].rpartition(" ")
        name, text = "sources", f"{kind} {int(width) + more}"
        forged(path, lambda said: said["manifest"]["request"].update(sources=text))
    return f"{name} in the request", {
        "request",
        "sizes",
        "layers",
        "depths",
        "sources",
        "seeds",
        "lengths",
        "selection",
        "thresholds",
        "met",
    }


def copies(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """The first part of a sample in the place of all others."""
    samples = open_samples(path)
    parts = random.choice([2, 4])
    if samples.instances % parts or algo.startswith("induced"):  # of which the law of an instance is not known
        return None
    numbers = np.tile(np.arange(samples.instances // parts), parts)
    remade(path, path, lambda _: chosen(samples, numbers))
    return f"{parts} copies", {"reuse", "sources", "seeds", "labels"}


def fewer(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """The last instances left out."""
    samples = open_samples(path)
    left = random.randrange(1, samples.instances)
    remade(path, path, lambda _: chosen(samples, np.arange(left)))
    return f"{left} of {samples.instances} instances", {"request"}


def other_vertex(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """One vertex that is no neighbor in the place of another."""
    samples = open_samples(path)
    names = ENDS.get(str(samples.layout), ("dst",))
    name, graph = random.choice(names), _graph_of(samples).load()
    lone = set(np.flatnonzero(np.diff(graph.indptr) == 0).tolist()) - set(graph.indices.tolist())
    change = _put(samples, name, max(lone), random)
    if change is None:
        return None
    remade(path, path, change)
    of_edges = {"edges", "visits", "nodes", "sizes", "layers", "depths", "met"}
    every = of_edges | {"sources", "seeds", "lengths", "transitions", "ends"}
    return f"a vertex without edges in {name}", every


def other_depth(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """One edge at another depth."""
    samples = open_samples(path)
    if "depth" not in samples or not samples["depth"].shape[0]:
        return None

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        at = random.randrange(arrays["depth"].size)
        arrays["depth"][at] = 1 << 20 if arrays["depth"][at] == 9 else random.choice([9, 1 << 20])
        return arrays

    remade(path, path, change)
    return "a depth", {"request", "depths"}


def exchanged(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Two instances, each in the place of the other."""
    samples = open_samples(path)
    if not samples.manifest["request"]["sources"].startswith("all"):
        return None  # instances come in any order
    numbers = np.arange(samples.instances)
    one = random.randrange(samples.instances - 1)
    numbers[[one, one + 1]] = numbers[[one + 1, one]]
    if "links" in samples and np.array_equal(*samples["links"][one : one + 2]):  # an edge of two relations
        return None
    remade(path, path, lambda _: chosen(samples, numbers))
    return f"instances {one} and {one + 1} exchanged", {"sources", "seeds"}


def other_time(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """One link at another time."""
    if algo != "timed links":
        return None
    later = random.choice([-50, 1, 50])

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        arrays["time"][random.randrange(arrays["time"].size)] += later
        return arrays

    remade(path, path, change)
    return f"a link {later} later", {"times"}


def other_graph(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Another fact about the graph in the manifest."""
    own = open_samples(path).manifest["graph"]
    facts: dict[str, Any] = {
        "vertices": 59,
        "edges": 7,
        "directed": not own["directed"],
        "id_kind": "int64" if own["id_kind"] == "string" else "string",
        "time_units": "s",
        "fingerprint": "0" * 32,
    }
    name = random.choice(sorted(facts))
    if name == "fingerprint":
        forged(path, lambda said: said["manifest"]["request"].update(fingerprint=facts[name]))
    else:
        forged(path, lambda said: said["manifest"]["graph"].update({name: facts[name]}))
    return f"{name} of the graph", {"graph", "request"}


def other_law(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Another parameter of the law, by a factor that so few choices show."""
    parameters = open_samples(path).manifest["request"]["parameters"]
    names = [name for name in ("p", "q", "termination_prob", "restart_prob") if name in parameters]
    if not names:
        return None
    name = random.choice(names)
    value = parameters[name] * 16 if name in "pq" else 1 - parameters[name] / 8
    forged(path, lambda said: said["manifest"]["request"]["parameters"].update({name: value}))
    return f"{name} of {value}", {"transitions", "lengths", "ends", "share"}


def drawn_once(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Layers that were drawn with replacement, said to be drawn without."""
    if algo != "ladies":
        return None
    forged(path, lambda said: said["manifest"]["request"]["parameters"].update(replace=False))
    return "replace in the request", {"repeats"}


def another_order(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """The neighbors of each vertex in the order of their ids, up or down, and not in that of selection."""
    if algo != "neighbor":
        return None
    down = random.choice([False, True])

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        last = arrays["hop_2"].astype(np.int64).reshape(-1, 2)
        full = last.max(axis=1) < np.iinfo(arrays["hop_2"].dtype).max  # the others have no second neighbor
        last[full] = np.sort(last[full], axis=1)[:, :: -1 if down else 1]
        arrays["hop_2"] = last.astype(arrays["hop_2"].dtype).reshape(arrays["hop_2"].shape)
        return arrays

    remade(path, path, change)
    return "neighbors in another order", {"first of several"}


def _larger(value: Any, more: int, random: Random) -> Any:
    """A number, those of a list, or those of one name in a dict, made larger."""
    if isinstance(value, dict):
        name = random.choice(sorted(value))
        return value | {name: _larger(value[name], more, random)}
    return [one + more for one in value] if isinstance(value, list) else value + more


def _graph_of(samples: Samples) -> GraphStore:
    """The version of its graph that a sample was drawn from."""
    return csaw.open_graph(drawn_from(samples.manifest["graph"]["path"], samples.manifest["request"]["fingerprint"]))


def _put(samples: Samples, name: str, vertex: int, random: Random) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """What puts a vertex at one place of an array that holds one."""
    fill = samples.fill

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        flat = arrays[name].reshape(-1)
        there = np.flatnonzero(flat != np.asarray(fill).astype(flat.dtype))
        flat[random.choice(there.tolist())] = vertex
        return arrays

    return change if samples[name].shape[0] else None


FAULTS: tuple[Fault, ...] = (
    asked_number,
    copies,
    fewer,
    other_vertex,
    other_depth,
    exchanged,
    other_time,
    other_graph,
    other_law,
    drawn_once,
    another_order,
)


class Planted:
    """Whole samples of every algorithm below ``folder``; ``case`` plants a fault in one."""

    faults: ClassVar[tuple[Fault, ...]] = FAULTS

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "whole"
        self.folder.mkdir(parents=True)
        draws = self.draws()
        for name, store, options in draws:
            path = self.folder / f"{name}.zarr"
            csaw.sample(store, path, name.split()[-1], seed=5, **options)
            assert csaw.verify(path).ok, name
        self.names = sorted(name for name, *_ in draws)

    def draws(self) -> Collection[tuple[str, GraphStore, dict[str, Any]]]:
        """A name that ends with an algorithm, the graph, and the options of each sample."""
        graph = random_store(self.folder / "r.zarr", vertices=60, edges=300).load()
        indptr = np.append(graph.indptr, graph.indptr[-1])  # and a vertex without edges
        ends = np.sort([np.repeat(np.arange(61), np.diff(indptr)), graph.indices.astype(np.int64)], axis=0)
        times = {"time": (7 * ends[0] + 3 * ends[1]) % 40}
        parts = self.folder / "g.zarr", indptr, graph.indices, graph.weights
        store = write_graph(*parts, directed=False, edge_columns=times)
        return [(name, store, options) for name, options in DRAWS.items()]

    def case(self, random: Random, place: Path) -> list[Failure]:
        """A fault that verify does not find, if it does not."""
        from fuzz.faults import put

        algo, plant = random.choice(self.names), random.choice(self.faults)
        put(self.folder, place, (f"{algo}.zarr",))
        planted = plant(place / f"{algo}.zarr", algo, random)
        if planted is None:
            return []
        told, names = planted
        try:
            wrong = {check.name for check in csaw.verify(place / f"{algo}.zarr").checks if not check.ok}
        except StoreError:
            return []  # it is not even opened
        if any(name in wrong or any(one.startswith(name) for one in wrong) for name in names):
            return []
        return [Failure("passed", f"{plant.__name__} of {algo}", f"verify {algo}.zarr", f"{told}; failed: {wrong}")]
