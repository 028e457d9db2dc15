"""Planted faults in graphs that grew, in samples of their versions, and in samples of graphs of several types."""

import itertools
import shutil
from collections.abc import Collection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from helpers.forged import forged
from helpers.forged_graphs import edited, replaced
from helpers.relations import partitioned
from helpers.remade import remade

import csaw
from csaw.engine.samples.check import graph_facts
from csaw.engine.stores import open_samples
from csaw.partition.errors import StoreError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.versions import base_of
from fuzz.judge import Failure
from fuzz.planted import FAULTS, Planted, asked_number, copies, exchanged, other_law, other_vertex

# A graph that grew.

OF_VERSIONS: dict[str, dict[str, Any]] = {
    "deepwalk": {"walk_length": 12, "num_walks": 4},
    "node2vec": {"walk_length": 12, "num_walks": 4, "p": 0.5, "q": 2},
    "temporal": {"walk_length": 6, "num_walks": 4},
    "neighbor": {"fanout": (3, 2), "instances": 160},
    "minibatch": {"fanout": (3, 2), "seeds_per_batch": 8, "epochs": 4},
    "links": {"num_negatives": 9, "instances": 60},
}
VERSIONS = 3
FACTS = [  # in the attributes of a version
    ("vertices",),
    ("edges",),
    ("max_degree",),
    ("fingerprint",),
    ("weight_range", 0),
    ("weight_range", 1),
    *[("partitions", 0, place) for place in range(5)],
    *[("report", name) for name in ("vertices", "stored_edges")],
]
OF_APPENDS = [  # the same, of versions but the first
    *[("report", name) for name in ("edges", "duplicates", "duplicates_policy", "weights", "self_loops_dropped")],
    *[("report", "append", name) for name in ("version", "of", "rows", "vertices_added", "edges_repeated")],
    *[("report", "append", name) for name in ("partitions_written", "partitions_kept")],
]
ARRAYS = ("indptr", "indices", "weights", "edge_time", "edge_kind", "time_order", "edge_ids")


def another_version(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """A sample that says it was drawn from another version of its graph."""
    own, number = open_samples(path).manifest, int(algo.split()[0])
    other = random.choice([one for one in range(VERSIONS) if one != number])
    store = csaw.open_graph(base_of(Path(own["graph"]["path"])), version=other)

    def change(said: dict[str, Any]) -> None:
        said["manifest"]["request"].update(fingerprint=store.fingerprint)
        said["manifest"]["graph"].update(graph_facts(store))

    forged(path, change)
    return f"version {other} instead of {number}", {""}


class Grown(Planted):
    """A graph of three versions and samples of each: faults in either."""

    faults = (*FAULTS, another_version)

    def draws(self) -> Collection[tuple[str, GraphStore, dict[str, Any]]]:
        """Samples of all versions."""
        random, base = Random(3), self.folder / "g.zarr"
        how = {"time_column": "time", "edge_columns": ["kind:uint8"]}
        for number, many in enumerate((300, 60, 60)):
            high = 60 + 5 * number
            ends = [(random.randrange(5 * number, high), random.randrange(high)) for _ in range(many)]
            rows = [(a, b, random.randrange(1, 9) / 2, random.randrange(40), random.randrange(9)) for a, b in ends]
            rows.append((900 + number, 900 + number, 1, 1, 1))  # a vertex without edges
            file = self.folder / f"{number}.csv"
            text = "".join(
                f"{','.join(map(str, row))}\n" for row in [("source", "target", "weight", "time", "kind"), *rows]
            )
            file.write_text(text)
            if number:
                csaw.append(base, file, partition_size=900, **how)
            else:
                drops = {"self_loops": "drop", "duplicates": "first", "edge_ids": True, "directed": False}
                csaw.partition(file, base, partition_size=900, **drops, **how)
        stores = [csaw.open_graph(base, version=number) for number in range(VERSIONS)]
        assert all(csaw.verify(store).ok for store in stores)
        names = itertools.product(stores, OF_VERSIONS.items())
        return [(f"{store.version} {algo}", store, options) for store, (algo, options) in names]

    def case(self, random: Random, place: Path) -> list[Failure]:
        """A fault in a sample or in a version that verify does not find, if it does not."""
        if random.random() < 0.5:
            return super().case(random, place)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / "g.zarr", place / "g.zarr")
        number = random.randrange(VERSIONS)
        address = place / "g.zarr" / "versions" / str(number)
        told = _in_version(address if number else place / "g.zarr", number, random)
        try:
            found = csaw.verify(address).ok
        except StoreError:
            return []  # it is not even opened
        return [Failure("passed", "a version", f"verify g.zarr --version {number}", told)] if found else []


def _in_version(folder: Path, number: int, random: Random) -> str:
    """Plant a fault in the files of one version."""
    if random.random() < 0.5:
        place = random.choice([*FACTS, *OF_APPENDS * (number > 0)])
        edited(folder, lambda said: _other(said, place, random))
        return f"another {'.'.join(map(str, place))}"
    name, part = random.choice(ARRAYS), random.choice(sorted((folder / "partitions").glob("0*")))

    def change(held: np.ndarray) -> np.ndarray:
        at = random.randrange(held.size)
        held[at] = held[at] - 1 if held[at] > 0 else 1
        return held

    if (part / name / "c").exists():
        replaced(folder, f"partitions/{part.name}/{name}", change)
        return f"another number in {name} of partition {part.name}"
    edited(folder, lambda said: said.update(fingerprint="0" * 32))
    return "another fingerprint"


def _other(said: dict[str, Any], place: tuple[Any, ...], random: Random) -> None:
    for name in place[:-1]:
        said = said[name]
    value = said[place[-1]]
    said[place[-1]] = {bool: lambda: not value, str: lambda: value[::-1], float: lambda: value * 2}.get(
        type(value), lambda: max(0, value + random.choice([-1, 1])) or value + 1
    )()


# A graph of several types.

FANOUT = {"a-to_b-b": (3, 2), "b-to_c-c": (1, 1), "b-rev_to_b-a": (2, 2), "c-rev_to_c-b": (2, 3), "b-in-b": (2, 1)}
TYPED: dict[str, dict[str, Any]] = {
    "minibatch": {"fanout": FANOUT, "sources": "type:b", "seeds_per_batch": 4, "epochs": 6},
    "neighbor": {"fanout": FANOUT, "sources": "type:b", "instances": 240},
    "hgt": {"num_samples": {"a": (4, 4), "b": (3, 3)}, "sources": "type:b", "seeds_per_batch": 4, "epochs": 6},
    "links": {"relation": "a-to_b-b", "num_negatives": 9, "instances": 60},
    "of all links": {"num_negatives": 9, "sources": "all", "skip_full": True},
    "metapath deepwalk": {"metapath": "a,to_b,b,rev_to_b,a", "walk_length": 8, "num_walks": 8},
    "metapath ppr": {"metapath": "b,in,b", "num_walks": 20, "termination_prob": 0.1},
    "metapath neighbor": {"metapath": "b,to_c,c,b", "fanout": (2, 2), "instances": 240},
    "without deepwalk": {"walk_length": 8, "num_walks": 4},
}


DRAWN = {"walks", "hop_0", "hop_1", "hop_2", "links", "negatives"}
"""Arrays in which another number may be another draw, or another source of a list."""


def another_relation(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """One edge of another relation."""
    samples = open_samples(path)
    names = [name for name in ("relation", "relation_1", "relation_2") if name in samples]
    if not names:
        return None
    name = random.choice(names)

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        flat = arrays[name].reshape(-1)
        at = random.choice(np.flatnonzero((flat >= 0) & (flat < 255)).tolist())
        flat[at] = (int(flat[at]) + random.randrange(1, 6)) % 6
        return arrays

    remade(path, path, change)
    return f"a number of {name}", {"edges", "relations", "sizes", "nodes", "selection", "met", "depths"}


def another_number(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Another number in an array of which no other draw has it."""
    samples = open_samples(path)
    names = sorted(samples.group(0, samples.instances).keys() - DRAWN)
    if not names:
        return None
    name = random.choice(names)

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        flat = arrays[name].reshape(-1)
        at = random.choice(np.flatnonzero(flat >= 0).tolist())
        flat[at] = int(flat[at]) + (random.choice([-1, 1]) if flat[at] else 1)
        return arrays

    try:
        remade(path, path, change)
    except (ValueError, IndexError):  # counts that are not those of the arrays cannot be cut
        return None
    return f"a number of {name}", {""}


def other_places(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """The neighbors of two relations, each in the places of the other."""
    samples = open_samples(path)
    if "relation_1" not in samples:
        return None

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        kinds = arrays["relation_1"].reshape(len(arrays["hop_1"]), -1)
        row = random.choice(np.flatnonzero((kinds[:, :1] != kinds).any(axis=1)).tolist())
        one, other = 0, int(np.flatnonzero(kinds[row] != kinds[row, 0])[0])
        for name in ("hop_1", "relation_1", "hop_2", "relation_2"):
            places = arrays[name].reshape(len(kinds), kinds.shape[1], -1)[row]
            places[[one, other]] = places[[other, one]]
        return arrays

    remade(path, path, change)
    return "places of two relations", {""}


def another_metapath(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Another metapath, or another bias than that of the metapath."""
    request = open_samples(path).manifest["request"]
    if "metapath" not in request:
        return None
    others = [
        one["metapath"] for one in TYPED.values() if one.get("metapath", request["metapath"]) != request["metapath"]
    ]
    change = random.choice(
        [{"metapath": random.choice(others)}, {"edge_bias": request["edge_bias"].replace("0.0", "1.0")}]
    )
    forged(path, lambda said: said["manifest"]["request"].update(change))
    return f"{change}", {""}


def asked_relation(path: Path, algo: str, random: Random) -> tuple[str, set[str]] | None:
    """Links of another relation, another metapath, or the numbers of one relation or type for another."""
    parameters = open_samples(path).manifest["request"]["parameters"]
    if parameters.get("relation"):
        name, value = "relation", random.choice(["b-in-b", "b-to_c-c", None])
    elif isinstance(held := parameters.get(name := "fanout"), dict) or (
        isinstance(held := parameters.get(name := "num_samples"), dict)
    ):
        one, other = random.sample(sorted(held), 2)
        if held[one] == held[other]:
            return None
        value = held | {one: held[other], other: held[one]}
    else:
        return None
    forged(path, lambda said: said["manifest"]["request"]["parameters"].update({name: value}))
    return f"{name} of {value}", {""}


class Typed(Planted):
    """A graph of three types, and samples by relation, by type and along metapaths."""

    faults = (
        asked_number,
        copies,
        other_vertex,
        exchanged,
        other_law,
        another_relation,
        another_number,
        another_number,
        other_places,
        another_metapath,
        asked_relation,
    )

    def draws(self) -> Collection[tuple[str, GraphStore, dict[str, Any]]]:
        """Samples of one graph."""
        random, sizes = Random(4), {"a": 15, "b": 40, "c": 6}
        files = {}
        for name in ("a-to_b-b", "b-to_c-c", "b-in-b"):
            ends = {(random.randrange(sizes[name[0]]), random.randrange(sizes[name[-1]])) for _ in range(150)}
            files[name] = "".join(f"{a} {b} {random.randrange(1, 5) / 4}\n" for a, b in sorted(ends))
        files["b-in-b"] += "99 99 1\n"  # a vertex without edges
        store = partitioned(self.folder, files, reverse_relations=True, self_loops="drop")
        return [(name, store, options) for name, options in TYPED.items()]
