"""Betweenness is that of all shortest paths, counted one by one in fractions, and has the same bits in memory and from
disk.
"""

from fractions import Fraction

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.networks import networks, stores, two_hubs
from helpers.oracles import distances, rows_in

from csaw.engine.analytics.cpu.kernels.bfs import depend
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.betweenness import Betweenness


def dependencies(rows, source):
    """Of one source, in fractions: paths to each vertex by distance, then shares of them backward."""
    far = distances(rows, source)
    order = sorted((v for v in range(len(rows)) if far[v] >= 0), key=lambda v: far[v])
    ways, found = [0] * len(rows), [Fraction(0)] * len(rows)
    ways[source] = 1
    for v in order:
        for u in rows[v]:
            if far[u] == far[v] + 1:
                ways[u] += ways[v]
    for v in reversed(order):
        for u in rows[v]:
            if far[u] == far[v] + 1:
                found[v] += Fraction(ways[v], ways[u]) * (1 + found[u])
    found[source] = Fraction(0)
    return found


@pytest.mark.parametrize("directed", [True, False])
def test_dependencies_are_those_in_fractions(tmp_path, directed):
    for store in stores(tmp_path, directed=directed):
        rows, sources = rows_in(store), np.arange(0, store.vertices, max(1, store.vertices // 3))
        expected = [float(sum(of)) for of in zip(*(dependencies(rows, s) for s in sources.tolist()), strict=True)]
        found = []
        for network in networks(store, tmp_path / "derived"):
            found.append(network.compute("betweenness", sources=sources))
            network.close()
        assert all(np.array_equal(one, found[0]) for one in found)
        assert np.allclose(found[0], expected, rtol=1e-12, atol=0)


def test_pairs_of_a_path_and_a_star_by_hand(tmp_path):
    path = store_of(tmp_path / "p.zarr", [(v, v + 1, 1) for v in range(4)], directed=False)
    assert Betweenness().findings(HostNetwork(path))["betweenness"].values.tolist() == [0, 3, 4, 3, 0]
    star = store_of(tmp_path / "s.zarr", [(0, v, 1) for v in range(1, 11)], directed=False)
    found = Betweenness().findings(HostNetwork(star))
    assert found["largest betweenness"] == type(found["largest betweenness"])(45.0, "exact")
    directed = store_of(tmp_path / "d.zarr", [(v, v + 1, 1) for v in range(4)], directed=True)
    assert Betweenness().findings(HostNetwork(directed))["betweenness"].values.tolist() == [0, 3, 4, 3, 0]


def test_rows_that_are_summed_in_pieces(tmp_path):
    """Of K(2, n): a hub is on one of the two shortest paths between any two leaves, a leaf on one of the n between the
    hubs.
    """
    store, leaves = two_hubs(tmp_path / "g.zarr"), 1300
    sources = np.arange(leaves + 2)
    for network in networks(store, tmp_path / "derived"):
        found = network.compute("betweenness", sources=sources) / 2
        assert np.allclose(found[:2], leaves * (leaves - 1) / 4, rtol=1e-12)
        assert np.allclose(found[2:], 1 / leaves, rtol=1e-12)
        network.close()


def test_random_sources_are_right_on_the_average(tmp_path):
    network = HostNetwork(random_store(tmp_path / "g.zarr", vertices=60, edges=120))
    exact = Betweenness(betweenness_sources=60).findings(network)["betweenness"].values
    runs = [
        Betweenness(betweenness_sources=20, seed=seed).findings(network)["betweenness"].values for seed in range(200)
    ]
    spread = np.std(runs, axis=0) / np.sqrt(len(runs))
    assert np.all(np.abs(np.mean(runs, axis=0) - exact) <= 5 * spread + 1e-9)


def test_a_graph_that_says_wrongly_that_it_is_undirected_ends_well():
    """Then there are vertices that no path from the source reaches backward."""
    passed, ways, total = np.zeros((3, 2))
    rows = np.array([0, 0, 0]), np.array([], np.uint32)
    depend(0, 2, np.arange(2), 0, *rows, passed, ways, total)
    assert not total.any()
