"""Damaged stores: whatever a command then makes of one is what it makes of the whole one, or it is refused.

A damaged copy lies at the place of the whole store, so that everything but timings must be the same. Where a command
may pass over a fault, because its result does not depend on it, zarr-python says whether the content is still the same.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz import child, warm
from fuzz.child import Ended
from fuzz.damage import damage
from fuzz.judge import REFUSALS, Failure, refusal_or_failure, wrong_result

GRAPHS = {  # name: ids and weights of the text, options of csaw partition
    "numbers": ("sparse", True, ("--partitions", "3")),
    "packed": ("words", True, ("--partitions", "2", "--compression", "lz4")),
    "plain": ("dense", False, ("--undirected",)),
    "wide": ("wide", True, ("--partitions", "2", "--undirected")),
    "timed": ("sparse", True, ("--partitions", "2", "--time-column", "3", "--time-decimals", "3")),
}
DRAWS = {  # name: what is sampled, as options of csaw sample
    "walks": ("--algo", "deepwalk", "--walk-length", "6", "--num-walks", "2"),
    "second": ("--algo", "node2vec", "--p", ".5", "--q", "2", "--walk-length", "5"),
    "hops": ("--algo", "neighbor", "--fanout", "3,2"),
    "fire": ("--algo", "forest-fire", "--burn-prob", ".4", "--depth", "2"),
    "dense": ("--algo", "deepwalk", "--walk-length", "3", "--ids", "dense"),
}
BEFORE = ("--bias", "none", "--start-time", "9000000000000")
IN_TIME = {
    "times": ("--algo", "temporal", "--walk-length", "5", "--time-bias", "linear"),
    "apart": ("--algo", "temporal", "--walk-length", "4", "--time-bias", "exponential", "--start", "edge"),
    "earlier": ("--algo", "neighbor", "--fanout", "3,2", *BEFORE, "--time-strategy", "uniform"),
    "latest": ("--algo", "minibatch", "--fanout", "3,2", *BEFORE, "--time-strategy", "last", "--seeds-per-batch", "9"),
    "shared": ("--algo", "labor", "--fanout", "3,2", *BEFORE[2:], "--time-strategy", "uniform", "--frontier-size", "9"),
    "pools": ("--algo", "layer", *BEFORE, "--time-strategy", "uniform", "--time-against", "previous"),
    "all": ("--algo", "neighbor", "--fanout", "2,-1", *BEFORE, "--time-strategy", "last", "--time-against", "previous"),
}
"""The same, of a graph whose edges have times."""
STREAMED = ("walks", "hops")  # also with a memory that does not hold the graph
FEW = ("--algo", "deepwalk", "--walk-length", "3", "--sources", "random:2", "--instances", "2")
EXPORTS = ("out.txt", "out.csv", "out.npy", "out.npz", "out.parquet", "out.arrow", "out.graphml")
GRAPH_EXPORTS = ("out.csv", "out.mtx", "out.npz", "out.graphml")
BESIDE = ("report", "results", "missing", "bytes")  # what ``csaw info`` tells that is not of the content
UNREAD = ("time_order",)  # arrays of a graph that no check of a sample reads: its law follows from the times
COMMANDS = 2  # on each damaged store


class Faults:
    """Whole stores below ``folder``, made when the fuzzer starts; ``case`` damages a copy of one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "whole"
        warm.small_chunks()
        for name, (ids, weighted, options) in GRAPHS.items():
            place = self.folder / name
            place.mkdir(parents=True)
            (place / "graph.txt").write_text(text_of(ids, weighted))
            warm.must("partition", "graph.txt", "graph.zarr", *options, folder=place)
            for draw, wanted in draws_of(name).items():
                warm.must("sample", "graph.zarr", f"{draw}.zarr", *wanted, folder=place)
            for command in ("info", "verify"):
                for draw in draws_of(name):
                    warm.csaw(command, f"{draw}.zarr", folder=place)
            (place / "budget").write_text(str(streaming_memory(place)))
            for file in EXPORTS:
                warm.csaw("export", "walks.zarr", f"../{file}", "--overwrite", folder=place)
            for file in GRAPH_EXPORTS:
                warm.csaw("export", "graph.zarr", f"../{file}", "--overwrite", folder=place)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One or two faults in a copy of a store, and two commands on it."""
        whole = self.folder / random.choice(sorted(GRAPHS))
        draw = random.choice(sorted(draws_of(whole.name)))
        damaged = random.choice(["graph.zarr", f"{draw}.zarr"])
        put(whole, place, ("graph.zarr", f"{draw}.zarr"))
        told = "; ".join(damage(place / damaged, random) for _ in range(random.choice([1, 1, 2])))
        every = commands_on(damaged, draw, (whole / "budget").read_text(), draws_of(whole.name))
        possible = (one for one in random.sample(every, len(every)) if reference(whole, place, one) is not None)
        found = [failure_of(command, whole, place, damaged) for command in islice(possible, COMMANDS)]
        return [replace(one, detail=f"{whole.name}: {told}. {one.detail}") for one in found if one]


def draws_of(graph: str) -> dict[str, tuple[str, ...]]:
    """What is sampled of a graph, as options of csaw sample by name."""
    return DRAWS | IN_TIME if graph == "timed" else DRAWS


def commands_on(damaged: str, draw: str, budget: str, known: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """What a user may do with a store."""
    check = ("verify", f"{draw}.zarr", "--graph", "graph.zarr")
    if damaged != "graph.zarr":
        return [("info", damaged, "--full", "--json"), check, *(("export", damaged, file) for file in EXPORTS)]
    draws = [("sample", damaged, "out.zarr", *options) for options in (*known.values(), FEW)]
    streamed = [
        ("sample", damaged, "out.zarr", *options, "--memory", budget) for options in (*map(DRAWS.get, STREAMED), FEW)
    ]
    exports = [("export", damaged, file) for file in GRAPH_EXPORTS]
    return [("info", damaged, "--full", "--json"), check, check, ("verify", damaged), *draws, *streamed, *exports]


def put(whole: Path, place: Path, stores: Iterable[str]) -> None:
    """Whole stores at a place, and nothing else."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for store in stores:
        shutil.copytree(whole / store, place / store)


def failure_of(command: tuple[str, ...], whole: Path, place: Path, damaged: str) -> Failure | None:
    """Run a command on what is at the place now, and compare with what it makes of the whole store."""
    ended = run(command, place)
    allowed = (*REFUSALS, 3) if command[0] == "verify" else REFUSALS
    failure = refusal_or_failure(ended, (damaged,), allowed)
    if failure or ended.code != 0:
        return failure
    kind = "graph" if damaged == "graph.zarr" else "samples"
    wanted, found = reference(whole, place, command), result_of(command, ended, place)
    if found != wanted:
        return wrong_result(
            ended, f"{command[0]} of a damaged {kind} store", f"result {found}, of the whole store {wanted}"
        )
    unread = UNREAD if command[0] == "verify" and command[1] != damaged else ()
    if command[0] == "verify" and content_of(place / damaged, whole / damaged, unread) != content_of(
        whole / damaged, whole / damaged, unread
    ):
        return wrong_result(ended, f"verify passed a damaged {kind} store", ended.out)
    return None


@cache
def reference(whole: Path, place: Path, command: tuple[str, ...]) -> str | None:
    """The result of a command on whole stores at ``place``; None where it does not end with 0."""
    aside = place.with_name(place.name + ".aside")
    place.rename(aside)
    try:
        put(whole, place, sorted({word for word in command if (whole / word / "zarr.json").is_file()} - {"out.zarr"}))
        ended = run(command, place)
        return result_of(command, ended, place) if ended.code == 0 else None
    finally:
        shutil.rmtree(place)
        aside.rename(place)


def run(command: tuple[str, ...], place: Path) -> Ended:
    out = place / command[2] if command[0] in ("sample", "export") else place / "nothing"
    shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
    shutil.rmtree(place / f"{out.name}.partial", ignore_errors=True)
    return child.csaw(*command, folder=place)


def result_of(command: tuple[str, ...], ended: Ended, place: Path) -> str:
    """A word for everything that a command made but timings."""
    if command[0] == "sample":
        return tree(place / command[2], without=("results",))
    if command[0] == "export":
        return hashlib.sha256((place / command[2]).read_bytes()).hexdigest()[:16]
    if command[0] == "evaluate":
        return ended.out
    if command[0] == "info":
        shown = json.loads(ended.out)
        return json.dumps({key: value for key, value in shown.items() if key not in BESIDE}, sort_keys=True)
    return re.sub(r", [\d.,]+ s\.$", "", ended.out, flags=re.MULTILINE)


def tree(folder: Path, without: tuple[str, ...] = ()) -> str:
    """A word for all names and bytes below a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if name.parts[0] not in without:
            digest.update(f"{name}\0{file.is_dir()}\0".encode() + (b"" if file.is_dir() else file.read_bytes()))
    return digest.hexdigest()[:16]


def content_of(store: Path, whole: Path, without: tuple[str, ...] = ()) -> Any:
    """A word for what a store holds, read by zarr-python: attributes but the report, and the arrays of the whole store
    ``without`` those of some names; None where it cannot be read.
    """
    arrays = sorted(
        node.parent.relative_to(whole)
        for node in whole.rglob("zarr.json")
        if b'"array"' in node.read_bytes() and node.parent.name not in without
    )
    return child.answer(lambda: _content(store, arrays), store.parent)


def _content(store: Path, arrays: list[Path]) -> str:
    import zarr

    attributes = zarr.open_group(str(store), mode="r").attrs.asdict()
    digest = hashlib.sha256()
    digest.update(json.dumps({k: _number(v) for k, v in attributes.items() if k != "report"}, sort_keys=True).encode())
    for name in arrays:
        array = zarr.open_array(str(store / name), mode="r")
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.asarray(array[...]).tobytes())
    return digest.hexdigest()


def _number(value: Any) -> Any:
    """JSON with whole numbers in one notation: 3.0 and true are 3 and 1 for Python."""
    if isinstance(value, dict):
        return {key: _number(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_number(one) for one in value]
    return int(value) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else value


def text_of(ids: str, weighted: bool) -> str:
    """A graph of 60 vertices with hubs, as text."""
    random = Random(11)
    name = {
        "dense": str,
        "sparse": lambda v: str(10 + 3 * v),
        "words": lambda v: f"w\u00f6rd{v:02d}{'x' * (v % 7)}",
        "wide": lambda v: str((1 << 63) + 5 * v),
    }[ids]
    ends = [(int(60 * random.random() ** 2), random.randrange(60)) for _ in range(400)]
    rows = [[name(a), name(b), *([str(random.randrange(1, 40) / 8)] if weighted else [])] for a, b in ends]
    return "".join(
        "\t".join(row) + "\n"
        for row in [[name(v), name((v + 1) % 60), *(["1"] if weighted else [])] for v in range(60)] + rows
    )


def streaming_memory(place: Path) -> int:
    """A budget with which the graph is streamed: twice the smallest, within an eighth."""
    budget = 2048
    while warm.csaw(
        "sample", "graph.zarr", "out.zarr", *DRAWS["walks"], "--memory", str(budget), "--dry-run", folder=place
    ):
        budget += budget // 8
    for name in STREAMED:
        warm.must(
            "sample", "graph.zarr", "out.zarr", *DRAWS[name], "--memory", str(2 * budget), "--overwrite", folder=place
        )
    return 2 * budget
