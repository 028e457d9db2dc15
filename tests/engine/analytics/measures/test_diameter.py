"""Diameter and radius are those of networkx, in memory and from disk."""

import json
import math

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store, store_of
from helpers.networks import GRAPHS, SHAPES, networks, pairs_of, stores

from csaw.cli.main import cli
from csaw.engine.analytics.cpu import searches
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.diameter import Diameter


def expected(store):
    """The findings by networkx, of the first of the largest components."""
    rows, both = pairs_of(store)
    undirected = nx.Graph((v, u) for v, row in enumerate(both) for u in row)
    undirected.add_nodes_from(range(store.vertices))
    found = _of(undirected, nx.connected_components(undirected), "")
    if store.directed:
        directed = nx.DiGraph((v, u) for v, row in enumerate(rows) for u in row)
        directed.add_nodes_from(range(store.vertices))
        found |= _of(directed, nx.strongly_connected_components(directed), "directed ")
    return found


def _of(graph, components, word):
    largest = min(components, key=lambda one: (-len(one), min(one)))
    found = nx.eccentricity(graph.subgraph(largest)).values()
    return {f"{word}diameter": max(found), f"{word}radius": min(found)}


def values(found):
    return {name: one.value for name, one in found.items()}


@pytest.mark.parametrize("directed", [True, False])
def test_any_graph_has_the_diameter_and_radius_of_networkx(tmp_path, directed):
    for store in stores(tmp_path, directed=directed):
        network = HostNetwork(store, threads=1 + store.vertices % 3)
        assert values(Diameter().findings(network)) == expected(store), store.path
        network.close()


@pytest.mark.parametrize("what", ["troubled", "star inwards", "repeated undirected"])
def test_from_disk_they_are_the_same(tmp_path, what):
    store = GRAPHS[what](tmp_path / "g.zarr")
    for network in networks(store, tmp_path / "derived"):
        assert values(Diameter().findings(network)) == expected(store)
        network.close()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("edges", [60, 110, 400])  # in many components, in some, in one
def test_random_graphs_have_those_of_networkx_whatever_rules_out_few(tmp_path, monkeypatch, directed, edges):
    """Where every search counts as one that rules out few, searches that share rows find the eccentricities."""
    for seed in range(6):
        store = random_store(
            tmp_path / f"{seed}.zarr", seed=seed, vertices=100, edges=edges, directed=directed, weighted=False
        )
        network, wanted = HostNetwork(store, threads=1), expected(store)
        for few, at_once in ((searches.FEW, searches.AT_ONCE), (0, 1), (2**40, 3)):
            monkeypatch.setattr(searches, "FEW", few)
            monkeypatch.setattr(searches, "AT_ONCE", at_once)
            assert values(Diameter().findings(network)) == wanted, (seed, few)


def test_a_torus_whose_vertices_are_all_alike(tmp_path):
    edges = [
        (a * 12 + b, c, 1) for a in range(12) for b in range(12) for c in (a * 12 + (b + 1) % 12, (a + 1) % 12 * 12 + b)
    ]
    store = store_of(tmp_path / "g.zarr", edges, directed=False)
    assert values(Diameter().findings(HostNetwork(store))) == {"diameter": 12, "radius": 12}
    store = store_of(tmp_path / "d.zarr", edges, directed=True)
    assert values(Diameter().findings(HostNetwork(store))) == {
        "diameter": 12,
        "radius": 12,
        "directed diameter": 22,
        "directed radius": 22,
    }


def test_small_graphs_by_hand(tmp_path):
    for name, wanted in {"one vertex": [0, 0], "no edges": [0, 0], "a path": [70, 35], "a star": [2, 1]}.items():
        edges, vertices = SHAPES[name]
        store = store_of(tmp_path / f"{name}.zarr", [(*one, 1) for one in edges], directed=False, vertices=vertices)
        assert [one.value for one in Diameter().findings(HostNetwork(store)).values()] == wanted, name


def test_a_graph_without_vertices_has_no_diameter():
    network = HostNetwork.of_arrays(np.zeros(1, np.int64), np.zeros(0, np.int32), directed=True)
    assert all(math.isnan(one.value) for one in Diameter().findings(network).values())


def test_the_command_says_of_which_component_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("csaw.engine.analytics.evaluation.profiles.cache_dir", lambda: tmp_path / "cache")
    edges = [(v, v + 1, 1) for v in range(4)] + [(4, 0, 1), (7, 8, 1)]
    store_of(tmp_path / "g.zarr", edges, directed=True, vertices=9)
    found = CliRunner().invoke(
        cli, ["evaluate", str(tmp_path / "g.zarr"), "--measures", "diameter", "--device", "cpu", "--json"]
    )
    profile = json.loads(found.stdout)["profile"]
    assert {name: (one["value"], one["method"]) for name, one in profile.items()} == {
        "diameter": (2, "exact, of the largest component"),
        "radius": (2, "exact, of the largest component"),
        "directed diameter": (4, "exact, of the largest strongly connected component"),
        "directed radius": (4, "exact, of the largest strongly connected component"),
    }
