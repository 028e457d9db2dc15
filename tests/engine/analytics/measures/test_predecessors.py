"""Trees of shortest paths are those of a slow reference, and their distances those of networkx."""

import networkx as nx
import numpy as np
import pytest
from helpers.graphs import heavy_store, random_store, rows_of, store_of
from helpers.networks import GRAPHS, networks, stores

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.bfs import Bfs
from csaw.engine.analytics.measures.sssp import Sssp


def tree_of(rows, source, distance):
    """By the definition: the smallest predecessor that is nearer, or else one that is as far and has one already."""
    fits = [(v, u) for v, row in enumerate(rows) for u, w in row if distance[v] + w == distance[u] < float("inf")]
    found = {source: source}
    for nearer in (True, *[False] * len(rows)):
        level = {}
        for v, u in fits:
            if u not in found and (distance[v] < distance[u]) == nearer and (nearer or v in found):
                level[u] = min(v, level.get(u, v))
        found |= level
    return [found.get(v, -1) for v in range(len(rows))]


def check_tree(parents, source, distance):
    """Every vertex with a distance leads to the source."""
    for v, far in enumerate(distance):
        if not 0 <= far < float("inf"):
            assert parents[v] == -1
            continue
        steps = 0
        while v != source:
            v, steps = parents[v], steps + 1
            assert steps <= len(parents)


@pytest.mark.parametrize("name", GRAPHS)
def test_trees_of_edges(tmp_path, name):
    store = GRAPHS[name](tmp_path / "g.zarr")
    rows = [[(u, 1) for u, *_ in row] for row in rows_of(store, True)]
    graph = nx.DiGraph([(v, u) for v, row in enumerate(rows) for u, _ in row])
    graph.add_nodes_from(range(store.vertices))
    for source in {0, store.vertices - 1}:
        lengths = nx.single_source_shortest_path_length(graph, source)
        expected = tree_of(rows, source, [lengths.get(v, float("inf")) for v in range(store.vertices)])
        for network in networks(store, tmp_path / "derived"):
            distance = network.compute("bfs", source=source)
            assert distance.tolist() == [lengths.get(v, -1) for v in range(store.vertices)]
            assert network.compute("predecessors", source=source, distance=distance).tolist() == expected
            network.close()
        check_tree(expected, source, distance)


@pytest.mark.parametrize("directed", [True, False])
def test_trees_by_weight(tmp_path, directed):
    for store in (*stores(tmp_path, directed=directed, weighted=True), heavy_store(tmp_path / "h.zarr")):
        rows, graph = rows_of(store, True), nx.MultiDiGraph()
        graph.add_nodes_from(range(store.vertices))
        graph.add_weighted_edges_from((v, u, w) for v, row in enumerate(rows) for u, w in row)
        for source in {0, store.vertices - 1}:
            lengths = nx.single_source_dijkstra_path_length(graph, source)
            expected = tree_of(rows, source, [lengths.get(v, float("inf")) for v in range(store.vertices)])
            for network in networks(store, tmp_path / "derived"):
                distance = network.compute("sssp", source=source)
                assert distance.tolist() == [lengths.get(v, float("inf")) for v in range(store.vertices)]
                assert network.compute("predecessors", source=source, distance=distance).tolist() == expected
                network.close()
            check_tree(expected, source, distance)


@pytest.mark.parametrize("weights", [(0.0,), (0.0, 1.0), (0.0, 1e-20, 1.0, 3e9)])
@pytest.mark.parametrize("directed", [True, False])
def test_edges_that_add_nothing_close_no_circle(tmp_path, weights, directed):
    rng = np.random.default_rng(len(weights))
    ends = rng.integers(0, 300, (500, 2)).tolist() + [(v, v + 1) for v in range(200)]
    edges = [(u, v, float(w)) for (u, v), w in zip(ends, rng.choice(weights, len(ends)), strict=True)]
    store = store_of(tmp_path / "g.zarr", edges, directed=directed, vertices=300)
    rows = rows_of(store, True)
    found = set()
    for network in networks(store, tmp_path / "derived"):
        distance = network.compute("sssp", source=0)
        parents = network.compute("predecessors", source=0, distance=distance).tolist()
        assert parents == tree_of(rows, 0, distance.tolist())
        found.add(tuple(parents))
        network.close()
    check_tree(parents, 0, distance)
    assert len(found) == 1


def test_measures_find_a_tree_if_it_is_wanted(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=400)
    for kind, name in ((Bfs, "bfs"), (Sssp, "sssp")):
        plain, found = (kind(predecessors=wanted).findings(HostNetwork(store)) for wanted in (False, True))
        assert found.keys() - plain.keys() == {f"{name} predecessor"}
        distance, column = found[name].values, found[f"{name} predecessor"]
        rows = [[(u, w if name == "sssp" else 1) for u, w in row] for row in rows_of(store, True)]
        far = [float(d) if d >= 0 else float("inf") for d in distance]
        assert column.values.tolist() == tree_of(rows, int(np.flatnonzero(distance == 0)[0]), far)
        assert column.kind == "label"
        assert column.known.sum() == np.isfinite(far).sum()
