"""What was opened by a relative path stays what was opened, after the process goes to another folder."""

import gc

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.machine import need_package

import csaw
from csaw.partition.errors import StoreError
from csaw.partition.graph.views import Window, Windowed

EDGES = [(0, 1, 1), (1, 2, 1), (2, 0, 1), (2, 3, 1)]
GIVEN = {"device": "cpu", "walk_length": 3}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with stores, and one with other stores of these names."""
    for name, edges in (("elsewhere", EDGES[:3]), ("here", EDGES)):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        store_of(folder / "g.zarr", edges, directed=False)
        csaw.partition([*edges, (0, 2, 1)], "t.zarr", time=list(range(len(edges) + 1)))
        csaw.sample("g.zarr", "s.zarr", seed=len(edges), **GIVEN)
        csaw.sample("g.zarr", "v.zarr", seed=len(edges), virtual=True, **GIVEN)
    yield tmp_path
    gc.collect()  # streams that were left are closed now, not in another test


def batches(stream):
    with stream as drawn:
        return np.concatenate([batch["walks"] for batch in drawn])


def rows(graph):
    held = graph.load()
    return held.indptr.tolist() + held.indices.tolist()


OPENED = {
    "a graph": (lambda: csaw.open_graph("g.zarr"), rows),
    "a graph by csaw.graph": (lambda: csaw.graph("g.zarr"), rows),
    "a window": (lambda: Windowed(csaw.open_graph("t.zarr"), Window(1, 2)), rows),
    "samples": (lambda: csaw.open_samples("s.zarr"), lambda samples: samples.walks[:].tolist()),
    "samples that were just drawn": (
        lambda: csaw.sample("g.zarr", "new.zarr", **GIVEN),
        lambda samples: samples.walks[:].tolist(),
    ),
    "virtual samples": (lambda: csaw.open_samples("v.zarr"), lambda samples: samples.walks[:].tolist()),
    "a part": (lambda: csaw.open_samples("s.zarr")[1:3], lambda samples: samples.walks[:].tolist()),
    "a stream": (lambda: csaw.stream("g.zarr", **GIVEN), lambda stream: batches(stream).tolist()),
    "a job": (
        lambda: csaw.engine.prepare("g.zarr", **GIVEN),
        lambda job: [batch["walks"].tolist() for batch in csaw.engine.draw_batches(job)],
    ),
    "an evaluation": (
        lambda: csaw.evaluate("g.zarr", measures="degree", device="cpu"),
        lambda found: (found.store.vertices, len(found.store.load().indices)),
    ),
}


@pytest.mark.parametrize("name", OPENED)
def test_it_is_read_from_another_folder(here, monkeypatch, name):
    opens, reads = OPENED[name]
    expected, opened = reads(opens()), opens() if name != "samples that were just drawn" else None
    opened = csaw.open_samples("new.zarr") if opened is None else opened
    monkeypatch.chdir(here / "elsewhere")
    assert reads(opened) == expected


def test_loaders_too(here, monkeypatch):
    need_package("torch_geometric")
    from csaw.engine import loaders

    walks, held = loaders.WalkStream("g.zarr", **GIVEN), loaders.WalkDataset("s.zarr")
    near = loaders.NeighborLoader("g.zarr", [2], device="cpu")
    expected = [[one.tolist() for one in walks], held[0].tolist(), [one.n_id.tolist() for one in near]]
    walks, near.epoch = loaders.WalkStream("g.zarr", **GIVEN), 0
    monkeypatch.chdir(here / "elsewhere")
    assert [[one.tolist() for one in walks], held[0].tolist(), [one.n_id.tolist() for one in near]] == expected


def test_verify_and_others_take_the_store_that_was_opened(here, monkeypatch):
    graph, samples, virtual = csaw.open_graph("g.zarr"), csaw.open_samples("s.zarr"), csaw.open_samples("v.zarr")
    monkeypatch.chdir(here / "elsewhere")
    for one in (graph, samples, virtual):
        report = csaw.verify(one)
        assert report.ok
        assert report.path == str(here / "here" / one.path.name)
    assert csaw.info(samples)["edges"] == samples.sizes.edges if hasattr(samples.sizes, "edges") else True
    assert csaw.export(samples, "s.txt")["instances"] == samples.instances
    assert csaw.evaluate(graph, samples, measures="degree", device="cpu").rows()


def test_another_store_in_its_place_is_not_taken_for_it(here):
    graph, samples = csaw.open_graph("g.zarr"), csaw.open_samples("s.zarr")
    csaw.partition(EDGES[:3], "g.zarr", overwrite=True)
    csaw.sample("g.zarr", "s.zarr", seed=9, overwrite=True, **GIVEN)
    for one in (graph, samples):
        for call in (csaw.verify, csaw.info):
            with pytest.raises(StoreError, match=f"{one.path} has been replaced since it was opened; open it again"):
                call(one)
