"""Opened samples and graphs go to other processes: a store by its place, where it is opened again, others whole."""

import multiprocessing
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers import cases, pickled
from helpers.graphs import random_store

import csaw
from csaw.engine.api import registry
from csaw.engine.stores import open_samples
from csaw.partition import open_graph
from csaw.partition.errors import StoreError
from csaw.partition.graph.views import Coalesced, Split, Window, Windowed


@pytest.fixture(scope="module")
def pool():
    with multiprocessing.get_context("spawn").Pool(1) as made:
        yield made


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Relative paths of a folder in which no other process works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def there(pool, answer, what):
    """``answer`` of what another process is sent, which works elsewhere."""
    return pool.apply(pickled.elsewhere, (str(Path("elsewhere").absolute()), answer, pickle.dumps(what)))


LAYOUTS = {
    "walks": ("node2vec", {"walk_length": 5}),
    "ragged walks": ("ppr", {}),
    "hops": ("neighbor", {"fanout": (3, 2)}),
    "subgraphs": ("layer", cases.OPTIONS["layer"]),
    "batches": ("minibatch", cases.OPTIONS["minibatch"]),
    "joined": ("forest-fire", {"target": 20, "instances": 3}),
}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_samples_are_the_same_in_another_process(here, pool, kind):
    algo, options = LAYOUTS[kind]
    graph = random_store("g.zarr", vertices=80, edges=400)
    stored = csaw.sample(graph, "s.zarr", algo, device="cpu", **options)
    held = csaw.sample(graph, algo=algo, device="cpu", **options)
    virtual = csaw.sample("g.zarr", "v.zarr", algo, virtual=True, device="cpu", **options)
    for samples in (stored, held, virtual, stored[2:9], held.part(1, 2), virtual.part(1, 3).part(0, 1)):
        assert there(pool, pickled.read, samples) == pickled.read(samples)
    assert len(pickle.dumps(stored)) < 2000, "its place"


def test_arrays_of_samples_go_alone(here):
    graph = random_store("g.zarr", vertices=80, edges=400)
    for samples in (csaw.sample(graph, "s.zarr", walk_length=4), csaw.sample(graph, walk_length=4)):
        again = pickle.loads(pickle.dumps(samples.walks))
        assert np.array_equal(again[:], samples.walks[:])


def graphs():
    yield "a store", open_graph("g.zarr")
    yield "a store, unchecked", open_graph("g.zarr", checksums=False)
    yield "in memory", csaw.graph([(0, 1), (1, 2), (2, 0)])
    yield "words", csaw.graph([("a", "b", 2.0), ("b", "c", 0.5)])
    yield "times", csaw.graph([(0, 1), (1, 2)], time=[3, 5])
    yield "split", Split(open_graph("g.zarr"), 50)
    yield "coalesced", Coalesced(open_graph("g.zarr"), 2)
    yield "a window", Windowed(csaw.graph([(0, 1), (1, 2), (2, 0)], time=[3, 5, 9]), Window(3, 5))
    yield "karate", csaw.graph("karate")


def test_graphs_are_the_same_in_another_process(here, pool):
    random_store("g.zarr", vertices=80, edges=400, partitions=5)
    for name, graph in graphs():
        assert there(pool, pickled.rows, graph) == pickled.rows(graph), name
        again = pickle.loads(pickle.dumps(graph))
        assert (type(again), again.identity, again.checksums, again.partitions) == (
            type(graph),
            graph.identity,
            graph.checksums,
            graph.partitions,
        ), name


def replaced(what, seed):
    """Another store in the place of one."""
    graph = random_store("g.zarr" if what == "g" else "h.zarr", seed=seed, vertices=80, edges=400)
    if what != "g":
        csaw.sample(graph, f"{what}.zarr", walk_length=4, seed=seed, virtual=what == "v", overwrite=True)


OPEN = {"g": lambda: open_graph("g.zarr"), "s": lambda: open_samples("s.zarr"), "v": lambda: open_samples("v.zarr")}
TROUBLES = {
    "gone": lambda what: shutil.rmtree(f"{what}.zarr"),
    "a file": lambda what: (shutil.rmtree(f"{what}.zarr"), Path(f"{what}.zarr").touch()),
    "empty": lambda what: [one.unlink() for one in Path(f"{what}.zarr").rglob("*") if one.is_file()],
    "replaced": lambda what: replaced(what, 7),
    "of the other kind": lambda what: (shutil.rmtree(f"{what}.zarr"), shutil.copytree("other", f"{what}.zarr")),
}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("what", OPEN)
def test_a_store_that_is_gone_or_another_one_is_said(here, pool, what, trouble):
    for name in OPEN:
        replaced(name, 1)
    shutil.copytree("s.zarr" if what == "g" else "g.zarr", "other")
    opened = OPEN[what]()
    expected = there(pool, pickled.rows if what == "g" else pickled.read, opened)
    assert not isinstance(expected, str), expected
    data = pickle.dumps(opened)
    TROUBLES[trouble](what)
    with pytest.raises(StoreError, match=f"{here}/{what}.zarr.*pickled"):
        pickle.loads(data)
    said = pool.apply(pickled.elsewhere, (str(here / "elsewhere"), len, data))
    assert said.startswith(f"StoreError: {here}/{what}.zarr")


def test_a_virtual_sample_says_that_its_graph_is_gone_or_another_one(here, pool):
    for change in (lambda: shutil.rmtree("h.zarr"), lambda: random_store("h.zarr", seed=9, vertices=80)):
        replaced("v", 1)
        data = pickle.dumps(OPEN["v"]())
        change()
        with pytest.raises(StoreError, match="pickled"):
            pickle.loads(data)
        assert "h.zarr" in pool.apply(pickled.elsewhere, (str(here / "elsewhere"), len, data))


def test_every_layout_is_among_them():
    assert {registry.find(algo).layout for algo, _ in LAYOUTS.values()} >= {"walks", "hops", "subgraphs", "batches"}
