"""A command with ``--device auto`` begins to open a GPU before it plans only if the plan then opens it."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from helpers.graphs import random_store
from helpers.rates import pin_rates

from csaw.cli.main import cli
from csaw.engine import prepare
from csaw.engine.cuda import device
from csaw.engine.devices import beforehand, devices
from csaw.engine.devices.beforehand import opens_a_gpu
from csaw.engine.plan.rates import ASSUMED
from csaw.partition.errors import DeviceError

RUNS = [
    ("node2vec", {"p": 0.5, "q": 2.0}),
    ("deepwalk", {"instances": 40, "walk_length": 7}),
    ("deepwalk", {"num_walks": 20, "walk_length": 200}),
    ("deepwalk", {"sources": "random:5"}),
    ("deepwalk", {"target": "10%"}),
    ("ppr", {}),
    ("deepwalk", {"walk_length": 0}),
    ("neighbor", {"fanout": (5, 3)}),
    ("random-edge", {"instances": 3, "neighbor_size": 9}),
    ("random-node", {"instances": 2}),
    ("multidimensional", {"frontier_size": 3, "instances": 20, "walk_length": 40}),
]
RATES = [replace(ASSUMED, gathers=gathers, disk_bytes=disk) for gathers in (4e4, 4e5, 4e7) for disk in (1e5, 1e6, 1e9)]


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr(beforehand, "find_spec", lambda name: name)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return str(random_store(tmp_path_factory.mktemp("graph") / "g.zarr", vertices=3000, edges=20_000).path)


def test_whatever_is_opened_beforehand_the_plan_opens(graph, monkeypatch):
    opened = []

    def open_device(number):
        opened.append(number)
        raise DeviceError("none is here")

    monkeypatch.setattr(device, "open_device", open_device)
    before, after = [], []
    for rates in RATES:
        pin_rates(monkeypatch, rates)
        for algo, given in RUNS:
            opened.clear()
            before.append(opens_a_gpu(graph, algo, given))
            prepare(graph, algo, measure=True, **given)
            after.append(bool(opened))
    assert [one for one, other in zip(before, after, strict=True) if one and not other] == []
    assert sum(before) > sum(after) / 2
    assert sum(before) < len(before)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"attributes": {"csaw_kind": "samples"}}'])
def test_what_is_no_graph_store_opens_none(tmp_path, monkeypatch, text):
    pin_rates(monkeypatch, replace(ASSUMED, disk_bytes=1))
    (tmp_path / "zarr.json").write_text(text)
    for name in (str(tmp_path), "karate", "rmat:scale=30", str(tmp_path / "zarr.json"), "\0", ""):
        assert opens_a_gpu(name, "deepwalk", {}) is False


def test_an_algorithm_that_is_none_opens_none(graph, monkeypatch):
    pin_rates(monkeypatch, replace(ASSUMED, disk_bytes=1))
    assert opens_a_gpu(graph, "deepwalk", {}) is True
    assert opens_a_gpu(graph, "walk of a dog", {}) is False
    assert opens_a_gpu(graph, "deepwalk", {"num_walks": "three"}) is False


def test_none_is_opened_where_cupy_is_not_installed(graph, monkeypatch):
    pin_rates(monkeypatch, replace(ASSUMED, disk_bytes=1))
    monkeypatch.setattr(beforehand, "find_spec", lambda name: None)
    assert opens_a_gpu(graph, "deepwalk", {}) is False


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ([], ["auto"]),
        (["--device", "auto"], ["auto"]),
        (["--device", "cuda:1"], ["cuda:1"]),
        (["--device", "cpu"], ["cpu"]),  # which begins nothing: see test_contexts.py
        (["--cluster", "nowhere:1"], []),
    ],
)
def test_the_command_begins_to_open_what_it_is_told(graph, tmp_path, monkeypatch, line, named):
    begun = []
    monkeypatch.setattr(devices, "begin_to_open", begun.append)
    pin_rates(monkeypatch, replace(ASSUMED, disk_bytes=1))
    CliRunner().invoke(cli, ["sample", graph, str(tmp_path / "w.zarr"), *line, "--walk-length", "0", "--dry-run"])
    assert begun == named
    begun.clear()
    pin_rates(monkeypatch)
    CliRunner().invoke(cli, ["sample", graph, str(tmp_path / "w.zarr"), *line, "--walk-length", "0", "--dry-run"])
    assert begun == [name for name in named if name != "auto"]


def test_to_tell_it_takes_no_numpy():
    code = "import sys, csaw.engine.devices.beforehand; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_large_description_is_not_read_twice(graph, tmp_path, monkeypatch):
    pin_rates(monkeypatch, replace(ASSUMED, disk_bytes=1))
    said = {"attributes": {"csaw_kind": "graph", "vertices": 1, "edges": 1, "long": "x" * (1 << 20)}}
    (tmp_path / "zarr.json").write_text(json.dumps(said))
    assert opens_a_gpu(str(tmp_path), "deepwalk", {}) is False
