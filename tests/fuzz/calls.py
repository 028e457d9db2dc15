"""Every public call of Python with hostile values: an answer, or an error of csaw's that names the argument.

Never another exception, never a store that is replaced where ``overwrite`` was not true, never a value that is taken
for another one. A case is a fork that makes some calls in a folder of its own.
"""

import datetime
import io
import json
import os
import shutil
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from fuzz import child, warm
from fuzz.judge import Failure, innermost
from fuzz.odd import odd_values

SECONDS = 40.0
LONGEST = 700  # characters of an error
LONG = "a" * 10_000
EDGES = [(0, 1, 1.0), (1, 2, 2.0), (2, 0, 1.0), (2, 3, 1.0)]
SMALL = {"walk_length": 2, "device": "cpu", "threads": 1}
TRUE = (True, 1)
TOGETHER = 10  # calls of a case, until one fails
LATER = 0.3  # share of cases with two hostile values


class Breaks:
    """An object that fails at whatever it is asked."""

    def _break(self, *_: object) -> Any:
        raise ArithmeticError

    __bool__ = __index__ = __int__ = __float__ = __len__ = __iter__ = __array__ = __str__ = __fspath__ = _break


class Untold:
    """A path that is none."""

    def __fspath__(self) -> Any:
        return b"bytes"


class Call(NamedTuple):
    """A public call: ``run`` with the ``given`` arguments, of which any of ``spoilt`` gets hostile values."""

    run: Callable[..., Any]
    given: Mapping[str, Any]
    spoilt: tuple[str, ...]


def hostile() -> list[Any]:
    """Values that hardly any argument has room for."""
    return [
        *odd_values(),
        LONG,
        "a/" * 2500,
        "no",
        "False",
        "true",
        len,
        sorted,
        lambda: None,
        lambda one, two, three, four: None,
        np.dtype("int64"),
        np.int64,
        np.datetime64("2020-01-01"),
        np.timedelta64(3, "s"),
        datetime.timedelta(days=1),
        datetime.date(2020, 1, 1),
        np.ma.array([0, 1], mask=[0, 1]),
        np.ma.array([0, 1]),
        np.ma.array(1, mask=True),
        b"\x02",
        b"\x02\x01",
        2**63,
        -(2**63) - 1,
        1e308,
        -0.0,
        Decimal("NaN"),
        (n for n in [1, 2]),
        [0] * 5000,
        [[]],
        [None],
        ["a", 1],
        {"a": 1, "b": "x"},
        {"ids": [0], "y": ["x"]},
        {LONG: [1]},
        Path("b" * 300),
        Path("c/" * 2500),
        Breaks(),
        Untold(),
        io.BytesIO(),
        io.StringIO(),
        type("K", (), {}),
        np.zeros((0, 2)),
        np.zeros((2, 0), np.int8),
        np.array([np.nan, 1]),
        np.array([1 + 2j]),
        np.array(["a", "b"]),
        np.array([2**63], np.uint64),
        np.array([-1]),
        np.array([1.5]),
        np.array([True, False]),
        np.array(["2020"], "M8[s]"),
        range(0),
        frozenset({1}),
        "\n\n",
        "../..",
        "~",
        "g.zarr/partitions",
        "random:" + "9" * 400,
        "e.weight +",
    ]


def calls() -> dict[str, Call]:
    """The public calls, by what they are called."""
    import csaw
    from csaw.partition import read_edge_ids, write_graph

    engine = csaw.engine

    def of(opens: Callable[[], Any], method: str) -> Callable[..., Any]:
        return lambda *given, **how: getattr(opens(), method)(*given, **how)

    def evaluation() -> Any:
        return csaw.evaluate("g.zarr", measures="degree", device="cpu", threads=1)

    samples, trees = partial(csaw.open_samples, "s.zarr"), partial(csaw.open_samples, "n.zarr")
    graph = partial(csaw.open_graph, "g.zarr")
    rows = {"indptr": np.array([0, 1, 2]), "indices": np.array([1, 0]), "directed": True}
    run = ("seed", "instances", "sources", "weighted", "target", "edge_bias", "columns", "induced", "memory", "threads")
    run += ("device", "gpu_memory", "in_flight", "residency", "layout", "checksums", "ids", "select", "batching")
    walk = ("walk_length", "num_walks", "p", "q")
    evaluate = ("measures", "memory", "threads", "device", "refresh", "residency", "damping", "as_", "window", "every")
    ingest = (
        "directed",
        "reverse",
        "format",
        "id_type",
        "source_column",
        "target_column",
        "weight_column",
        "edge_columns",
    )
    ingest += ("time_column", "time_format", "time_decimals", "duplicates", "self_loops", "on_error", "partitions")
    ingest += (
        "partition_size",
        "balance",
        "partitioner",
        "compression",
        "memory",
        "num_clusters",
        "clustering",
        "edge_ids",
    )
    ingest += ("threads", "skip_lines", "where", "overwrite", "target_offset", "progress", "inputs", "out")
    found = {
        "sample": Call(
            csaw.sample,
            {"graph": "g.zarr", "out": "s.zarr", "algo": "node2vec", **SMALL},
            ("graph", "out", "algo", "directed", "virtual", "resume", "overwrite", "progress", *run, *walk),
        ),
        "sample in memory": Call(
            csaw.sample,
            {"graph": "g.zarr", "algo": "neighbor", "fanout": "2,1", "device": "cpu", "threads": 1},
            ("graph", "algo", "fanout", "replace", "directed", "progress", *run),
        ),
        "stream": Call(
            lambda **how: next(iter(csaw.stream(**how))),
            {"graph": "g.zarr", **SMALL},
            ("graph", "algo", "directed", "on_device", "rank", "world", *run),
        ),
        "evaluate": Call(
            csaw.evaluate,
            {"graph": "g.zarr", "samples": ["s.zarr"], "measures": "degree", "device": "cpu", "threads": 1},
            ("graph", "samples", "directed", "progress", *evaluate),
        ),
        "table": Call(of(evaluation, "table"), {}, ("format",)),
        "plot": Call(of(evaluation, "plot"), {"folder": "plots"}, ("folder", "size", "title", "overwrite")),
        "export": Call(
            csaw.export,
            {"store": "s.zarr", "out": "kept.txt"},
            ("store", "out", "format", "graph", "part", "threads", "overwrite", "update", "algo", "directed"),
        ),
        "export a graph": Call(
            csaw.export,
            {"store": "g.zarr", "out": "kept.txt"},
            ("store", "out", "format", "graph", "part", "threads", "overwrite", "update", "directed"),
        ),
        "graph": Call(
            csaw.graph,
            {"data": EDGES},
            (
                "data",
                "weights",
                "edge_columns",
                "directed",
                "duplicates",
                "self_loops",
                "reverse",
                "vertex_ids",
                "time",
                "source_column",
                "target_column",
            ),
        ),
        "graph of CSR": Call(
            csaw.graph,
            {name: rows[name] for name in ("indptr", "indices")},
            ("indptr", "indices", "weights", "edge_columns", "directed"),
        ),
        "partition": Call(csaw.partition, {"inputs": "e.txt", "out": "g.zarr"}, ingest),
        "partition an object": Call(
            csaw.partition,
            {"inputs": EDGES, "out": "g.zarr"},
            (
                "inputs",
                "out",
                "weights",
                "vertex_ids",
                "edge_columns",
                "time",
                "directed",
                "overwrite",
                "partitions",
                "balance",
            ),
        ),
        "preview": Call(
            csaw.partition.preview, {"inputs": "e.txt"}, ("inputs", "directed", "id_type", "weight_column")
        ),
        "list_triangles": Call(
            csaw.list_triangles,
            {"graph": "g.zarr", "out": "kept.csv"},
            ("graph", "out", "directed", "overwrite", "progress", "memory", "threads", "device"),
        ),
        "list_support": Call(
            csaw.list_support, {"graph": "g.zarr", "out": "kept.csv"}, ("graph", "out", "directed", "overwrite")
        ),
        "verify": Call(csaw.verify, {"store": "s.zarr"}, ("store", "graph", "columns", "algo", "progress")),
        "info": Call(csaw.info, {"store": "s.zarr"}, ("store", "graph", "full", "algo", "version")),
        "append": Call(
            csaw.append,
            {"graph": "g.zarr", "edges": "e.txt", "remove": True},
            ("graph", "edges", "remove", "duplicates", "self_loops", "again", "directed", "memory", "partition_size"),
        ),
        "append a graph in memory": Call(
            csaw.append,
            {"graph": "g.zarr", "edges": [(0, 1, 2.0)]},
            ("edges", "weights", "vertex_ids", "edge_columns", "time", "source_column"),
        ),
        "compact": Call(csaw.compact, {"graph": "g.zarr"}, ("graph", "version")),
        "seal": Call(csaw.seal, {"out": "s.zarr"}, ("out", "graph")),
        "open_graph": Call(csaw.open_graph, {"path": "g.zarr"}, ("path", "checksums", "version")),
        "open_samples": Call(csaw.open_samples, {"path": "s.zarr"}, ("path", "graph", "algo")),
        "names": Call(of(samples, "names"), {}, ("vertices",)),
        "walk": Call(of(samples, "walk"), {}, ("number",)),
        "walk of trees": Call(of(trees, "walk"), {"number": 0}, ()),
        "group": Call(of(samples, "group"), {"start": 0, "stop": 2}, ("start", "stop")),
        "part": Call(of(samples, "part"), {"first": 0, "last": 2}, ("first", "last")),
        "pyg": Call(of(trees, "pyg"), {}, ("start", "stop", "graph", "threads")),
        "minibatch": Call(of(samples, "minibatch"), {}, ("number",)),
        "parents": Call(of(trees, "parents"), {}, ("hop",)),
        "original_ids": Call(of(graph, "original_ids"), {}, ("dense",)),
        "dense_ids": Call(of(graph, "dense_ids"), {}, ("originals",)),
        "read_edge_ids": Call(
            lambda **how: read_edge_ids(csaw.open_graph("numbered.zarr"), **how), {"e_id": [0]}, ("e_id",)
        ),
        "write_graph": Call(
            write_graph,
            {"path": "g.zarr", **rows},
            (
                "path",
                "indptr",
                "indices",
                "weights",
                "directed",
                "vertex_ids",
                "partitions",
                "partition_bytes",
                "balance",
                "compression",
                "clusters",
                "edge_columns",
                "overwrite",
            ),
        ),
        "prepare": Call(engine.prepare, {"graph": "g.zarr", **SMALL}, ("graph", "algo", "measure", "policy", *run)),
        "engine.sample": Call(
            engine.sample, {"graph": "g.zarr", "out": "s.zarr", **SMALL}, ("out", "resume", "overwrite", "algo")
        ),
        "draw_batches": Call(
            lambda **how: list(engine.draw_batches(engine.prepare("g.zarr", **SMALL), **how)), {}, ("first", "last")
        ),
        "option": Call(
            lambda **how: csaw.engine.algorithm.option(**how),
            {"default": 1.0, "help": "how much", "low": 0.0},
            ("default", "help", "low", "high", "choices", "reason", "none", "open_low", "open_high"),
        ),
        "open_virtual": Call(engine.open_virtual, {"path": "v.zarr"}, ("path", "graph", "algo", "memory", "device")),
    }
    return found | (_loaders() if find_spec("torch_geometric") else {})


def _loaders() -> dict[str, Call]:
    import torch
    from torch_geometric.data import TemporalData

    from csaw.engine import loaders

    common = ("batch_size", "shuffle", "drop_last", "transform", "seed", "rank", "world", "weight_attr", "input_nodes")
    run = ("threads", "memory", "in_flight", "sources", "device")
    pairs = loaders.SkipGrams(window=2)
    ends = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 3]])
    events = TemporalData(src=ends[0], dst=ends[1], t=torch.tensor([1, 2, 3, 5]))
    return {
        "NeighborLoader": Call(
            lambda **how: next(iter(loaders.NeighborLoader(**how))),
            {"data": "g.zarr", "num_neighbors": [2], "device": "cpu", "threads": 1},
            (
                "data",
                "num_neighbors",
                *common,
                "replace",
                "disjoint",
                "subgraph_type",
                "features",
                "edge_features",
                "time_attr",
                "input_time",
                "temporal_strategy",
                "transform_sampler_output",
                "num_workers",
                *run,
            ),
        ),
        "NeighborSampler": Call(
            loaders.NeighborSampler,
            {"data": "g.zarr", "num_neighbors": [2], "device": "cpu", "threads": 1},
            ("data", "num_neighbors", "replace", "disjoint", "subgraph_type", "weight_attr", "seed", *run),
        ),
        "LayerLoader": Call(
            lambda **how: next(iter(loaders.LayerLoader(**how))),
            {"data": "g.zarr", "layer_sizes": [2], "device": "cpu", "threads": 1},
            (
                "data",
                "layer_sizes",
                *common,
                "sampler",
                "normalize",
                "row_normalized",
                "self_loops",
                "features",
                "labels",
                *run,
            ),
        ),
        "WalkStream": Call(
            lambda **how: next(iter(loaders.WalkStream(**how))),
            {"graph": "g.zarr", **SMALL},
            ("graph", "algo", "walks_per_batch", "rank", "world", "on_device", "transform", "num_walks", *run),
        ),
        "WalkDataset": Call(loaders.WalkDataset, {"samples": "s.zarr"}, ("samples", "graph")),
        "EventLoader": Call(
            lambda **how: next(iter(loaders.EventLoader(**{"data": events, **how}))),
            {"num_neighbors": [2], "batch_size": 2, "device": "cpu", "threads": 1},
            (
                "data",
                "num_neighbors",
                "batch_size",
                "events",
                "drop_last",
                "replace",
                "temporal_strategy",
                "transform",
                "seed",
                "rank",
                "world",
                "time_window",
                "time_order",
                "threads",
                "memory",
            ),
        ),
        "SkipGrams": Call(loaders.SkipGrams, {}, ("window", "negatives", "vertices", "noise")),
        "pairs": Call(lambda walks: pairs(walks), {"walks": torch.zeros((1, 3), dtype=torch.int64)}, ()),
        "set_epoch": Call(lambda **how: loaders.WalkStream("g.zarr", **SMALL).set_epoch(**how), {}, ("epoch",)),
    }


MEANT = {
    "start": ("FIRST:LAST",),
    "stop": ("FIRST:LAST",),
    "first": ("FIRST:LAST",),
    "last": ("FIRST:LAST",),
    "data": ("graph: ", "rows", "edges", "array", "columns", "dict of neighbors"),
    "inputs": ("graph: ", "rows", "edges", "array", "columns", "FILE", "dict of neighbors"),
    "edges": ("graph: ", "rows", "array", "columns", "FILE", "dict of neighbors", "vertex ids"),
    "graph": ("array", "edges", "rows", "columns", "dict of neighbors"),
    "indptr": ("offsets", "CSR"),
    "indices": ("CSR",),
    "batch_size": ("in_flight",),
    "number": ("mini-batches",),
    "sources": ("vertex",),
    "input_nodes": ("vertex",),
    "dense": ("vertex",),
    "edge_columns": ("edge column",),
    "originals": ("vertex",),
}
"""Other words by which errors name an argument."""
KEPT = ("g.zarr", "s.zarr", "kept.txt", "kept.csv")
ANY = {("graph", "weights"), ("verify", "columns"), ("NeighborLoader", "num_workers")}
"""Arguments by call that may be anything, because they are not looked at."""
CALLED = ("progress", "update", "transform", "transform_sampler_output", "edge_bias")
"""Arguments that are called: what a function of the caller's raises is his."""


class Calls:
    """``case`` makes one call with one hostile value, or two."""

    def __init__(self, folder: Path) -> None:
        import csaw
        from csaw.partition import write_graph

        self.whole = folder / "whole" / "calls"
        self.whole.mkdir(parents=True)
        graph = csaw.partition(EDGES, self.whole / "g.zarr")
        csaw.partition([(0, 1), (1, 2)], self.whole / "unweighted.zarr")
        csaw.sample(graph, self.whole / "s.zarr", **SMALL)
        csaw.sample(graph, self.whole / "v.zarr", virtual=True, **SMALL)
        csaw.sample(graph, self.whole / "n.zarr", "neighbor", fanout="2,1", device="cpu", threads=1)
        (self.whole / "e.txt").write_text("0 1\n1 2\n2 0\n")
        csaw.partition(self.whole / "e.txt", self.whole / "numbered.zarr", edge_ids=True)
        for name in ("kept.txt", "kept.csv"):
            (self.whole / name).write_text("kept")
        assert write_graph
        self.warm(folder / "warm")
        warm.let_threads_go()

    def warm(self, place: Path) -> None:
        """Let each call compile what it needs, as it is meant to be made."""
        shutil.copytree(self.whole, place)
        before = Path.cwd()
        os.chdir(place)
        try:
            for call in calls().values():
                if "out" in call.given or "path" in call.given or "folder" in call.given:
                    continue
                with suppress(Exception):  # cases tell of it
                    call.run(**call.given)
        finally:
            os.chdir(before)
            shutil.rmtree(place)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """Some calls."""
        out, error = place.with_suffix(".out"), place.with_suffix(".err")

        def several() -> None:
            for _ in range(TOGETHER):
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(self.whole, place)
                if said := told(random, place):
                    print(json.dumps(said))
                    return
            print("{}")

        code = child.forked(several, out, error, SECONDS)
        if code is None or code < 0:
            said = (out.read_text() or error.read_text())[-300:]
            return [Failure("hang" if code is None else "signal", said.split("\n")[0], "", f"{code} {said}")]
        if code:
            trace = error.read_text()
            return [Failure("traceback", innermost(trace), "", trace[-900:])]
        said = json.loads(out.read_text().splitlines()[-1])
        return [Failure(said["kind"], said["where"], said["call"], said["detail"])] if said else []


def told(random: Random, place: Path) -> dict[str, str]:
    """What is wrong with the end of a call; nothing where all is well."""
    from csaw.partition.errors import CsawError

    os.chdir(place)
    warnings.simplefilter("ignore")
    known = calls()
    name = random.choice(sorted(known))
    call, values = known[name], hostile()
    names = random.sample(call.spoilt, min(len(call.spoilt), 2 if random.random() < LATER else 1))
    spoilt = {one: random.choice(values) for one in names}
    given = dict(call.given)
    if "out" in given and not set(names) & {"overwrite", "resume", "virtual", "out"}:
        given["out"] = "new." + given["out"].partition(".")[2]  # or its being there would be what is said
    if name == "write_graph" and not set(names) & {"overwrite", "path"}:
        given["path"] = "new.zarr"
    shown = f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in spoilt.items())})"
    print(shown, flush=True)
    before = contents(place)

    def wrong(kind: str, where: str, detail: str) -> dict[str, str]:
        return {"kind": kind, "where": f"{name}: {where}", "call": shown, "detail": detail[-900:]}

    try:
        call.run(**{**given, **spoilt})
    except CsawError as error:
        said = str(error)
        is_told = "\n" not in said or any(isinstance(one, str) and one == "\n\n" for one in spoilt.values())
        if len(said) > LONGEST or not is_told or len(said) < 12:
            return wrong("long" if len(said) > LONGEST else "not one sentence", " ".join(names), said)
        if len(names) == 1 and not named_in(names[0], said, spoilt[names[0]]):
            return wrong("names nothing", f"{names[0]}: {said[:60]}", said)
    except IndexError as error:
        if name not in ("walk", "minibatch", "parents"):
            return wrong("foreign", f"IndexError {names}", repr(error))
    except Exception:  # noqa: BLE001 - what is looked for
        trace = traceback.format_exc()
        if any(callable(value) for one, value in spoilt.items() if one in CALLED):
            return {}
        return wrong("foreign", f"{' '.join(names)}: {innermost(trace)}", trace)
    else:
        misread = [one for one, value in spoilt.items() if unreadable(value) and (name, one) not in ANY]
        if misread and len(names) == 1:
            return wrong("misread", " ".join(misread), "it was taken")
    replaced = any(spoilt.get("overwrite") is one for one in TRUE) or isinstance(spoilt.get("overwrite"), np.bool_)
    is_true = replaced or _is_true(spoilt.get("overwrite"))
    if not is_true and (lost := [one for one, data in before.items() if contents(place).get(one) != data]):
        return wrong("lost", lost[0], shown)
    return {}


def _is_true(value: object) -> bool:
    """Whether a value of NumPy or PyTorch is true, without dimensions."""
    return getattr(value, "ndim", None) == 0 and str(value) in ("True", "1", "tensor(1)", "tensor(True)")


def named_in(name: str, said: str, value: object) -> bool:
    """Whether an error names the argument, or the file that it was given."""
    text = value if isinstance(value, str) else str(value) if isinstance(value, Path) else ""
    words = {name, name.replace("_", "-"), name.strip("_"), *MEANT.get(name, ())}
    if "exists already; pass " in said or "does not exist; " in said:  # of the path that the value is
        return True
    return any(word in said for word in words) or bool(text and (text[:20] in said or repr(text)[:20] in said))


def unreadable(value: object) -> bool:
    """Whether no argument can mean this value: bytes, and arrays that are masked somewhere."""
    return isinstance(value, bytes | bytearray | memoryview) or (
        isinstance(value, np.ma.MaskedArray) and bool(np.ma.getmaskarray(value).any())
    )


def contents(place: Path) -> dict[str, bytes]:
    """The files of what must stay."""
    files = [one for name in KEPT for one in (place / name, *(place / name).rglob("*"))]
    return {str(one.relative_to(place)): one.read_bytes() for one in files if one.is_file()}


def _shown(value: object) -> str:
    try:
        return f"{type(value).__name__} {value!r}"[:80]
    except Exception:  # noqa: BLE001 - an object of the list above
        return type(value).__name__
