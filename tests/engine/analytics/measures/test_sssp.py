"""Sums of weights are those of Dijkstra's algorithm with a heap, bit for bit, in memory and from disk."""

import heapq

import numpy as np
import pytest
from helpers.graphs import heavy_store, random_store, rows_of, store_of
from helpers.networks import networks, stores

from csaw.engine.analytics import passes
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.sssp import Sssp
from csaw.partition.errors import OptionError


def dijkstra(rows, source):
    far, heap = [float("inf")] * len(rows), [(0.0, source)]
    far[source] = 0.0
    while heap:
        d, v = heapq.heappop(heap)
        for u, weight in rows[v]:
            if d == far[v] and d + weight < far[u]:
                far[u] = d + weight
                heapq.heappush(heap, (far[u], u))
    return far


@pytest.mark.one_in(2)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("step", [0.001, 0.1, 50.0])
def test_sums_are_those_of_a_heap(tmp_path, monkeypatch, directed, step):
    monkeypatch.setattr(passes, "STEP", step)
    for store in (*stores(tmp_path, directed=directed, weighted=True), heavy_store(tmp_path / "h.zarr")):
        rows = rows_of(store, True)
        for network in networks(store, tmp_path / "derived"):
            for source in {0, store.vertices - 1}:
                assert network.compute("sssp", source=source).tolist() == dijkstra(rows, source)
            network.close()


def test_weights_that_do_not_add_exactly(tmp_path):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 200, (900, 2)).tolist()
    edges = [
        (u, v, float(np.float32(weight)))
        for (u, v), weight in zip(ends, 10.0 ** rng.uniform(-20, 20, 900), strict=True)
    ]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, vertices=200)
    for network in networks(store, tmp_path / "derived"):
        assert network.compute("sssp", source=edges[0][0]).tolist() == dijkstra(rows_of(store, True), edges[0][0])
        network.close()


def test_findings(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=400)
    expected = np.array(dijkstra(rows_of(store, True), 5))
    found = Sssp(sssp_source=5).findings(HostNetwork(store))
    assert np.array_equal(found["sssp"].values, expected)
    assert found["reached by weight"].value == np.isfinite(expected).sum() < 300
    assert found["largest weight from source"].value == expected[np.isfinite(expected)].max()


def test_a_graph_without_weights_is_refused(tmp_path):
    store = random_store(tmp_path / "g.zarr", weighted=False)
    with pytest.raises(
        OptionError, match="^sssp: expected a graph with weights to add, .*; pass --measures bfs, which"
    ):
        Sssp().check(store)
