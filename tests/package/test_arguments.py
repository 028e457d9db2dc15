"""Claims of the boundary: every flag is read by one reader, so that no text, number or array counts as true."""

import io

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.machine import need_package

import csaw
from csaw.partition import write_graph
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.errors import OptionError, StoreError

EDGES = [(0, 1, 1), (1, 2, 1), (2, 0, 1)]
UNTRUE = ("no", "False", "0", "true", "", b"", float("nan"), 2, 1.0, None, [], [False], np.array([0, 1]), np.ma.masked)
GIVEN = {"device": "cpu", "walk_length": 2}
FLAGS = {
    "sample": ("overwrite", "resume", "virtual"),
    "export": ("overwrite",),
    "list_triangles": ("overwrite",),
    "list_support": ("overwrite",),
    "partition": ("overwrite", "reverse", "edge_ids"),
    "stream": ("on_device",),
    "info": ("full",),
    "execute": ("overwrite", "resume"),
    "engine sample": ("overwrite", "resume"),
    "commit_virtual": ("overwrite",),
    "write_graph": ("overwrite", "directed"),
    "open_graph": ("checksums",),
    "graph": ("reverse",),
    "plot": ("overwrite",),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A store of each kind, which nothing may replace."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 0\n")
    graph = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    csaw.sample(graph, "s.zarr", **GIVEN)
    for name in ("a.txt", "t.csv"):
        (tmp_path / name).write_text("kept")
    return tmp_path


def calls():
    """By its name each function that takes flags, as a call with one of them."""
    graph = csaw.open_graph("g.zarr")
    job = csaw.engine.prepare("g.zarr", **GIVEN)
    rows = np.array([0, 1, 2]), np.array([1, 0])
    return {
        "sample": lambda how: csaw.sample("g.zarr", "s.zarr", **GIVEN, **how),
        "export": lambda how: csaw.export("s.zarr", "a.txt", **how),
        "list_triangles": lambda how: csaw.list_triangles("g.zarr", "t.csv", **how),
        "list_support": lambda how: csaw.list_support("g.zarr", "t.csv", **how),
        "partition": lambda how: csaw.partition("edges.txt", "g.zarr", **how),
        "stream": lambda how: csaw.stream("g.zarr", **how),
        "info": lambda how: csaw.info("g.zarr", **how),
        "execute": lambda how: csaw.engine.execute(job, "s.zarr", **how),
        "engine sample": lambda how: csaw.engine.sample("g.zarr", "s.zarr", **GIVEN, **how),
        "commit_virtual": lambda how: csaw.engine.commit_virtual(job, "s.zarr", **how),
        "write_graph": lambda how: write_graph("g.zarr", *rows, **({"directed": True} | how)),
        "open_graph": lambda how: csaw.open_graph("g.zarr", **how),
        "graph": lambda how: csaw.graph(EDGES, **how),
        "plot": lambda how: csaw.evaluate(graph, measures="degree", device="cpu").plot(".", **how),
    }


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", FLAGS)
def test_what_is_no_truth_is_refused_and_replaces_nothing(here, name):
    call, before = calls()[name], contents(here)
    for option in FLAGS[name]:
        for value in UNTRUE:
            with pytest.raises(OptionError, match=f"^{option}: expected True or False, found ") as refused:
                call({option: value})
            assert len(str(refused.value)) < 160
    assert contents(here) == before


def test_truths_of_numpy_and_pytorch_are_truths(here):
    for value in (True, np.True_, 1, np.int8(1), np.array(True)):
        csaw.sample("g.zarr", "s.zarr", overwrite=value, **GIVEN)
    for value in (False, np.False_, 0):
        with pytest.raises(StoreError, match="pass overwrite=True"):
            csaw.sample("g.zarr", "s.zarr", overwrite=value, **GIVEN)
    torch = need_package("torch")
    assert flag("x", torch.tensor(True)) is True
    assert maybe(flag)("x", None) is None


@pytest.mark.parametrize("option", ["directed"])
def test_directions_may_be_none(here, option):
    for call in (csaw.sample, csaw.graph, csaw.stream, csaw.evaluate):
        assert call("edges.txt", directed=None) is not None
        for value in ("no", np.array([1, 2]), 2):
            with pytest.raises(OptionError, match="^directed: expected True or False, or None, found "):
                call("edges.txt", directed=value)
    with pytest.raises(OptionError, match="^directed: expected True or False, or None"):
        csaw.export("edges.txt", io.BytesIO(), directed="no")


def test_flags_of_loaders(here):
    need_package("torch_geometric")
    from csaw.engine import loaders

    made = {
        ("shuffle", "drop_last", "replace", "disjoint"): lambda how: loaders.NeighborLoader("g.zarr", [2], **how),
        ("replace",): lambda how: loaders.NeighborSampler("g.zarr", [2], **how),
        ("shuffle", "drop_last"): lambda how: loaders.LayerLoader("g.zarr", [2], **how),
        ("on_device",): lambda how: loaders.WalkStream("g.zarr", **how),
    }
    for options, make in made.items():
        for option in options:
            for value in UNTRUE:
                with pytest.raises(OptionError, match=f"^{option}: expected True or False, found "):
                    make({option: value})
    for option in ("self_loops", "row_normalized"):
        with pytest.raises(OptionError, match=f"^{option}: expected True or False, or None, found 'no'"):
            loaders.LayerLoader("g.zarr", [2], **{option: "no"})


def test_places_of_samples_are_integers(here):
    samples = csaw.open_samples("s.zarr")
    for value in (1.5, "1", None, b"\x01", np.array([1]), np.timedelta64(1, "s"), True):
        with pytest.raises(OptionError, match="^stop: expected an integer, found "):
            samples.group(0, value)
        with pytest.raises(OptionError, match="^number: expected an integer, found "):
            samples.walk(value)
    assert samples.group(0, np.int64(1))["walks"].shape[0] == 1
