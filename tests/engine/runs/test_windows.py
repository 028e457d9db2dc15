"""A window of time is sampled as a graph of its edges alone is, and its samples stay in memory."""

import numpy as np
import pytest
from helpers.temporal import events_store

import csaw
from csaw.engine.cluster.recipe import Recipe
from csaw.partition.errors import OptionError
from csaw.partition.graph.views import Window, Windowed

VERTICES, EDGES = 20_000, 450_000
WALKS = {"algo": "deepwalk", "walk_length": 200, "sources": "random:8", "device": "cpu"}


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    """A window that holds about two thirds of the edges of a graph, and a graph of these edges."""
    rng, folder = np.random.default_rng(5), tmp_path_factory.mktemp("graphs")
    events = np.column_stack([*rng.integers(0, VERTICES, (2, EDGES)), rng.integers(0, 100, EDGES)])
    store = events_store(folder / "g.zarr", events, VERTICES, partitions=8)
    kept = events[events[:, 2] < 66]
    return Windowed(store, Window(0, 65)), events_store(folder / "w.zarr", kept, VERTICES, partitions=8)


@pytest.mark.parametrize("where", [{}, {"memory": 1 << 20}])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"algo": "node2vec", "p": 0.25},
        {"algo": "neighbor", "fanout": "9,9"},
        {"algo": "ladies", "layer_sizes": "9,9"},
        {"algo": "fastgcn", "layer_sizes": "9,9", "memory": 16 << 20},
    ],
)
def test_samples_of_a_window_are_those_of_its_edges(window, where, how):
    view, alone = window
    wish = {**WALKS, **where, **how}
    if wish["algo"] in ("neighbor", "ladies", "fastgcn"):
        del wish["walk_length"]
    found, wanted = csaw.sample(view, **wish), csaw.sample(alone, **wish)
    names = sorted(wanted.arrays)
    assert sorted(found.arrays) == names
    assert all(np.array_equal(found[name][:], wanted[name][:]) for name in names)


@pytest.mark.parametrize("where", [{}, {"memory": 64 << 20, "residency": "disk"}])
@pytest.mark.parametrize(
    "how",
    [
        {"algo": "temporal", "walk_length": 9},
        {"algo": "temporal", "walk_length": 9, "direction": "backward", "time_order": "strict"},
        {"algo": "temporal", "walk_length": 9, "start_time": 20},
        {"algo": "neighbor", "fanout": "9,9", "time_strategy": "last", "start_time": 50},
        {"algo": "minibatch", "fanout": "9,9", "time_strategy": "uniform", "start_time": 50},
        {"algo": "labor", "fanout": "9,9", "time_strategy": "uniform", "start_time": 50},
        {"algo": "links", "negative_time": "until", "sources": "all", "skip_full": True},
    ],
)
def test_samples_in_time_of_a_window_are_those_of_its_edges(window, where, how):
    view, alone = window
    wish = {"sources": "random:8", "device": "cpu"} | where | how
    found, wanted = csaw.sample(view, **wish), csaw.sample(alone, **wish)
    assert sorted(found.arrays) == sorted(wanted.arrays)
    assert all(np.array_equal(found[name][:], wanted[name][:]) for name in wanted.arrays)


def test_what_evaluate_gives_is_sampled_in_time(tmp_path):
    events = [(1, 2, 5), (2, 3, 7), (3, 1, 9), (1, 3, 11), (2, 1, 12), (3, 2, 30)]
    (tmp_path / "e.txt").write_text("".join(f"{a} {b} {t}\n" for a, b, t in events))
    stored = csaw.partition(tmp_path / "e.txt", tmp_path / "g.zarr", time_column=3)
    for graph in (stored, csaw.graph([(a, b) for a, b, _ in events], time=[t for _, _, t in events])):
        found = csaw.evaluate(graph, measures="degree", between=(7, 12)).store
        walks = csaw.sample(found, algo="temporal", walk_length=4, start="edge", instances=50, seed=1)
        times = walks["times"][:]
        assert set(times[times != -(2**63)].tolist()) == {7, 9, 11, 12}


@pytest.mark.parametrize("how", [{}, {"virtual": True}])
def test_a_sample_of_a_window_is_not_stored(tmp_path, window, how):
    with pytest.raises(OptionError, match="expected a whole graph, found a window of it"):
        csaw.sample(window[0], tmp_path / "walks.zarr", **WALKS, **how)
    with pytest.raises(OptionError, match="expected a whole graph, found a window of it"):
        Recipe.of(window[0], tmp_path / "walks.zarr", "deepwalk", {})
    assert list(tmp_path.iterdir()) == []


def test_a_window_is_not_taken_for_the_store_at_its_path(tmp_path, window):
    for look in (csaw.info, csaw.verify):
        with pytest.raises(OptionError, match="store: expected a store on disk, or its path, found <csaw graph"):
            look(window[0])
    csaw.export(window[0], tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz") as found:
        assert max(array.size for array in found.values()) == window[1].edges
