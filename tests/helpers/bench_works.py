"""The works that a command of ``csaw bench`` prints, without measuring any: suites run as they are, on a tiny graph,
and each clock is replaced by a constant.

``PYTHONPATH=tests/_src:tests python -m helpers.bench_works docs/contributing/benchmarks/*.json`` brings the JSON
of earlier runs in step with what suites print today.
"""

import json
import shlex
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from types import SimpleNamespace as Fake

import numpy as np
import pytest

from csaw.cli.commands.bench import bench
from csaw.engine.bench import context, earlier_runs, network_peers, run, shares
from csaw.engine.bench.bench_row import MACHINE, figure
from csaw.engine.bench.graphs import Graph, Named
from csaw.engine.bench.machine import COPIES
from csaw.engine.bench.suites import (
    from_disk,
    gunrock,
    ingest,
    journey,
    load,
    measures,
    out_of_memory,
    own,
    papers,
    peers,
    sampling,
    scale_out,
    training,
)
from csaw.engine.bench.suites.scale_out import Turn
from csaw.engine.cuda.device import Device
from csaw.engine.devices import devices
from csaw.partition import open_graph, write_graph

ANY = {
    "seconds": 1.0,
    "edges": 1,
    "instances": 1,
    "transfers": 1,
    "transfer_bytes": 1,
    "in_place": 0,
    "kernel_seconds": 1.0,
    "bytes_written": 1,
    "seps_run": 1.0,
    "run_seconds": 1.0,
    "sampling_seconds": 1.0,
    "process_seconds": 1.0,
    "peak_mib": 1,
    "alone": 1.0,
    "waiting": 0.0,
    "efficiency": 1.0,
    "rate": 1.0,
}
SINCE = "the suite has it since after this run"
LIMITS = [figure([1.0], "gathers/s") | {"work": "gathers"}, figure([1.0], "bytes/s") | {"work": COPIES}]


def printed(command: str, threads: int) -> list[tuple[str, str, str]]:
    """(suite, graph, work) of each row that a command prints, figures and gaps alike."""
    return [(row["suite"], row.get("graph", ""), row["work"]) for row in shown(command, threads)]


def shown(command: str, threads: int) -> list[dict]:
    """Each row of a command, figures and gaps alike, as its suite yields it.

    The figures have ``ran_on``, the kind of the device that the suite told to do the work, and those of sampling
    ``drawn``, the work itself.
    """
    given = bench.make_context("bench", shlex.split(command)[2:]).params
    options = {name: value for name, value in given.items() if name not in ("listing", "json_file", "plot", "baseline")}
    wanted = run.chosen(options.pop("suite"))
    opened = run.open_context(**options | {"threads": threads})
    opened.__dict__["limits"] = LIMITS if opened.on_gpu else LIMITS[:1]
    return [{"suite": name} | row for name in wanted for row in load(name).rows(opened)]


def in_step(rows: list[dict]) -> list[dict]:
    """The rows of a run with one for each work that its command prints today: a gap for what the suite had not yet,
    nothing for what it has no more.
    """
    found = {
        (row["suite"], row.get("graph", ""), row["work"]): row
        for row in rows
        if "work" in row and row["suite"] != MACHINE
    }
    now = printed(rows[0]["command"], rows[0]["threads"])
    kept = [row for row in rows if row["suite"] == MACHINE]
    for suite in dict.fromkeys(suite for suite, *_ in now):
        keys = [key for key in now if key[0] == suite]
        kept += [
            found.get(key) or {**dict(zip(("suite", "graph", "work"), key, strict=True)), "not_measured": SINCE}
            for key in keys
        ]
        kept += [row for row in rows if row["suite"] == suite and "claim" in row]
    return kept


def replace_clocks(monkeypatch, folder) -> None:
    """Have nothing measured, opened on a GPU, or started as a process."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setattr(
        devices, "opened", lambda numbers: tuple(Device(n, "a GPU", "sm_90", 132, 1 << 37) for n in numbers)
    )
    monkeypatch.setattr(run, "first_gpu", tuple)
    monkeypatch.setattr(Named, "open", lambda one, gpu: Graph(one.label, _tiny(str(one.source), folder)))
    for module, names in _constants(folder).items():
        for name, value in names.items():
            monkeypatch.setattr(module, name, value)


def _tiny(source: str, folder):
    """A store of four vertices, directed and weighted as the graph is."""
    directed, weighted = "undirected=0" in source, "weights=" in source
    path = folder / f"tiny-{directed}-{weighted}.zarr"
    if not path.exists():
        indices = np.array([1, 2, 0, 2, 0, 1, 3, 2])
        weights = np.ones(8, np.float32) if weighted else None
        write_graph(path, np.array([0, 2, 4, 7, 8]), indices, weights, directed=directed)
    return open_graph(path)


def _row(work: str, **more) -> dict:
    return ANY | {"work": work} | figure([1.0]) | more


def _in_turns(store, works, *, device, **how) -> list[dict]:
    return [_row(work.name, ran_on=device.partition(":")[0], drawn=work) for work in works]


def _on_gpus(store, work, devices, repeats) -> dict:
    return _row(work.name, ran_on="cuda", drawn=work)


def _of_call(context, network, work, call, *_) -> dict:
    """The row of a work of networks: the one that computes it, or that the suite has given where that is hidden."""
    computes = next((one for one in getattr(call, "args", ()) if isinstance(one, _Network)), network)
    return _row(work, ran_on=computes.device)


def _prepared(store, algo, *, device, **_) -> Fake:
    return Fake(plan=Fake(device=device.partition(":")[0]))


def _always(value) -> Callable:
    return lambda *_, **__: value


def _constants(folder) -> dict[object, dict[str, object]]:
    """What stands in place of measuring, by module and name."""
    networks = {
        measures: _of_networks()
        | {"measured_row": _of_call, "copy_rate": _always(1.0), "_candidates": _always({"limits": {}})},
        gunrock: _of_networks()
        | {
            "measured_row": _of_call,
            "_on": lambda context, network, number: network,
            "_opened": lambda context, spec: Graph(str(spec), _tiny("", folder)),
            "_alone": _always(1.0),
            "spread_over": _of_networks()["network_of"],
            "crossing_share": _always(1.0),
            "by_partitioner": lambda plain, *_: (plain, np.arange(plain.vertices)),
        },
        own: _of_networks() | {"timed": _always([1.0])},
        network_peers: {"measured": _always([])},
    }
    workers = Fake(alone=None, together=None, with_a_death=None, with_a_failure=None)
    job = Fake(plan=Fake(needs=Fake(edge=Fake(stored=1))))
    return networks | {
        context: {"in_turns": _in_turns},
        shares: {
            "share_options": _always({}),
            "job_of": _always(job),
            "beside_expected": _always({}),
            "pass_bytes": _always(None),
            "read_rates": _always([1.0]),
        },
        out_of_memory: {"in_partitions": lambda store, count, folder: store},
        from_disk: {
            "_on_disk": lambda store, folder: from_disk.ColdStore(store),
            "_planned": _always(None),
            "_runs": _always([ANY]),
            "_budgets": _always({}),
            "_row": lambda context, graph, store, work, out: context.on(graph) | _row(work.name),
        },
        sampling: {"prepare": _prepared, "execute": _always(ANY), "plain_write": _always(1.0)},
        papers: {"in_turns": _in_turns, "on_gpus": _on_gpus},
        training: {"_run": _always([ANY, ANY])},
        scale_out: {
            "started": _always(nullcontext(workers)),
            "_expected": _always({}),
            "_tasks": _always(_row(scale_out.TASK)),
            "_turns": lambda context, workers, runs: {name: [Turn(1.0, 1.0, 1)] for name in runs},
        },
        peers: {
            "_pythons": lambda context, _: {
                name: "" for name in peers.NAMES if name == peers.FIRST or name in context.peers
            },
            "_write": _always(None),
            "check_folder": _always(None),
            "_check_law": _always(None),
            "_too_small": _always(""),
            "open_graph": lambda path: _tiny("", folder),
            "Child": _always(Fake(ask=_always(ANY), end=_always(None))),
        },
        journey: {"turn": lambda *_, **__: iter([_Every()]), "_row": lambda context, stage, turns: _row(stage)},
        ingest: {"write_text": _always(1), "_once": lambda tool, python, file: ANY},
    }


def _of_networks() -> dict[str, object]:
    return {
        "network_of": lambda context, graph: _Network(graph.store, context.on_gpu),
        "spread_over": lambda context, graph: _Network(graph.store, True) if len(context.devices) > 1 else None,
        "with_gpus": lambda network, others: copy(network),
    }


class _Every(dict):
    """What all rows of a turn take."""

    def __contains__(self, work: object) -> bool:
        return True


class _Network:
    """A network in memory of which nothing is computed."""

    resident, id_dtype, xp = True, np.dtype(np.uint32), np

    def __init__(self, store, on_gpu: bool) -> None:
        self.threads = None
        self.device, self.undirected = "cuda" if on_gpu else "cpu", self
        self.edges, self.vertices, self.weighted, self.directed = (
            store.edges,
            store.vertices,
            store.weighted,
            store.directed,
        )
        degrees = np.ones(store.vertices, np.int64)
        self.degrees = Fake(get=lambda: degrees) if on_gpu else degrees
        self.shares = [(0, store.vertices)]
        self.among = self.close = _always(None)
        self.blocks = lambda: iter([None])

    def compute(self, *_, **__) -> None:
        """Compute nothing."""


if __name__ == "__main__":
    runs = [Path(name).resolve() for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        replace_clocks(patch, Path(place))
        for file in runs:
            earlier_runs.write_rows(in_step(json.loads(file.read_text())), file)
