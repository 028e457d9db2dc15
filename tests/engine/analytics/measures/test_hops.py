"""Hop counts are those of a queue from each source; estimates are right on the average, and their errors are."""

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.networks import networks, stores
from helpers.oracles import distances, rows_in

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.hops import Hops, effective_diameter, mean_distance


def table(rows, sources):
    far = [distances(rows, source) for source in sources]
    levels = 1 + max(max(one) for one in far)
    return [[one.count(level) for level in range(levels)] for one in far]


@pytest.mark.parametrize("directed", [True, False])
def test_counts_are_those_of_a_queue_from_each_source(tmp_path, directed):
    for store in stores(tmp_path, directed=directed):
        rows = rows_in(store)
        sources = np.arange(min(store.vertices, 130)) * 7 % store.vertices  # three words, some sources twice
        expected = table(rows, sources.tolist())
        for network in networks(store, tmp_path / "derived"):
            assert network.compute("hops", sources=sources).tolist() == expected
            network.close()


def test_a_search_without_rows_backward_gives_the_same(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=900, edges=9000, directed=True)
    memory = HostNetwork(store).memory
    sources = np.arange(70)
    tight = HostNetwork(store, memory=48 * store.vertices + 2 * 4 * store.edges, threads=1)
    assert tight.resident
    assert not tight.can_have_incoming
    expected = HostNetwork(store, memory=memory).compute("hops", sources=sources)
    assert np.array_equal(tight.compute("hops", sources=sources), expected)


def test_numbers_of_small_graphs_by_hand(tmp_path):
    path = store_of(tmp_path / "g.zarr", [(v, v + 1, 1) for v in range(4)], directed=False)
    found = Hops().findings(HostNetwork(path))
    assert found["distance"].counts.tolist() == [5, 8, 6, 4, 2]
    assert found["connected pairs"].value == 25
    assert found["mean distance"].value == 2
    assert found["effective diameter"].value == 2 + (22.5 - 19) / 4
    assert found["longest distance"].value == 4
    assert found["hop plot"].y.tolist() == [5 / 25, 13 / 25, 19 / 25, 23 / 25, 1]
    assert found["mean distance"].error is None
    assert (effective_diameter(np.array([99.0, 1])), effective_diameter(np.zeros(1))) == (
        0,
        pytest.approx(np.nan, nan_ok=True),
    )
    assert np.isnan(mean_distance(np.array([3.0])))


def test_directions_are_followed_unless_told_otherwise(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(v, v + 1, 1) for v in range(4)], directed=True)
    network = HostNetwork(store)
    assert Hops().findings(network)["distance"].counts.tolist() == [5, 4, 3, 2, 1]
    assert Hops(undirected_hops=True).findings(network)["distance"].counts.tolist() == [5, 8, 6, 4, 2]


@pytest.mark.parametrize("directed", [True, False])
def test_estimates_are_right_on_the_average_and_their_errors_are(tmp_path, directed):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=700, directed=directed)
    network = HostNetwork(store)
    exact = Hops(hops="exact").findings(network)
    names = ("connected pairs", "effective diameter", "mean distance")
    runs = [Hops(hops="sources", hop_sources=60, seed=seed).findings(network) for seed in range(200)]
    for name in names[:1] if directed else names[1:]:  # pairs of undirected graphs are exact
        values, errors = (np.array([getattr(run[name], what) for run in runs]) for what in ("value", "error"))
        assert abs(values.mean() - exact[name].value) < 5 * values.std() / np.sqrt(len(runs))
        most = np.inf if directed else 1.25  # vertices that were not drawn may reach all
        assert 0.8 < np.sqrt((errors**2).mean()) / values.std() < most
    again = Hops(hops="sources", hop_sources=60, seed=7).findings(network)
    assert all(again[name] == runs[7][name] for name in names)
    assert Hops(hops="sources", hop_sources=400).findings(network)["mean distance"] == exact["mean distance"]


def test_sketches_are_near_and_say_how_near(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=900, edges=2500, directed=True)
    network = HostNetwork(store)
    exact = Hops(hops="exact").findings(network)
    found = Hops(hops="sketches", hop_sketches=40).findings(network)
    for name in ("connected pairs", "effective diameter", "mean distance"):
        assert 0 < found[name].error < 0.08 * exact[name].value
        assert abs(found[name].value - exact[name].value) < 4 * found[name].error + 0.03 * exact[name].value
    assert found["longest distance"].value == exact["longest distance"].value


@pytest.mark.parametrize("directed", [True, False])
def test_sketches_are_the_same_from_any_blocks(tmp_path, directed):
    for store in stores(tmp_path, directed=directed):
        found = []
        for network in networks(store, tmp_path / "derived"):
            found.append(network.compute("sketches", seed=3, run=1).tolist())
            network.close()
        assert all(one == found[0] for one in found)
        assert found[0][0] == store.vertices


CLIQUE = [(u, v, 1) for u in range(90) for v in range(90) if u != v]
ODD = {  # graphs in which few vertices are other than all others: edges, and whether they are directed
    "a tail": ([*CLIQUE, (0, 90, 1), (90, 91, 1)], False),
    "two components": ([*CLIQUE, (90, 91, 1)], False),
    "vertices that reach nothing": ([*CLIQUE, (0, 90, 1), (1, 91, 1)], True),
    "a vertex that reaches all": ([(v, v + 1, 1) for v in range(90)] + [(91, v, 1) for v in range(91)], True),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("sources", [8, 30])
def test_twice_the_error_holds_the_truth_where_random_sources_miss_the_odd_ones(tmp_path, what, sources):
    """The truth is that of a queue from every vertex; with a jackknife alone, an interval of width 0 misses it in most
    runs.
    """
    edges, directed = ODD[what]
    store = store_of(tmp_path / "g.zarr", edges, directed=directed)
    rows = rows_in(store)
    far = [one for source in range(store.vertices) for one in distances(rows, source) if one >= 0]
    truth = {"connected pairs": len(far), "mean distance": sum(far) / sum(one > 0 for one in far)}
    network, runs = HostNetwork(store, threads=1), 200
    found = [Hops(hops="sources", hop_sources=sources, seed=seed).findings(network) for seed in range(runs)]
    for name, right in truth.items():
        held = sum(abs(one[name].value - right) <= 2 * (one[name].error or 0) + 1e-9 * right for one in found)
        assert held >= 0.9 * runs, (name, held)


def test_the_connected_pairs_of_an_undirected_graph_are_exact(tmp_path):
    edges = [*CLIQUE, *((v, v + 1, 1) for v in range(100, 120))]
    store = store_of(tmp_path / "g.zarr", edges, directed=False, vertices=130)
    for how in ("sources", "sketches", "exact"):
        pairs = Hops(hops=how, hop_sources=4).findings(HostNetwork(store))["connected pairs"]
        assert (pairs.value, pairs.error) == (90 * 90 + 21 * 21 + 19, None)


def test_sketches_that_say_the_same_state_the_error_of_sketches(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=True)
    found = [Hops(hops="sketches", hop_sketches=2, seed=seed).findings(HostNetwork(store)) for seed in range(60)]
    pairs = [one["connected pairs"] for one in found]
    assert all(one.error > 0 for one in pairs)
    assert sum(abs(one.value - 3) <= 2 * one.error for one in pairs) >= 54
