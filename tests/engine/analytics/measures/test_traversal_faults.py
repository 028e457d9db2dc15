"""Faults planted in components, searches and sums are seen by the oracles of their tests."""

from itertools import islice

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.networks import SHAPES, least
from helpers.oracles import distances, rows_in, weak

from csaw.engine.analytics.cpu import searches
from csaw.engine.analytics.cpu.kernels import bfs, components, reach, sssp
from csaw.engine.analytics.cpu.network import HostNetwork

RIGHT = {
    kernel.py_func.__name__: kernel
    for kernel in (
        components.link_rest,
        bfs.pull,
        bfs.collect,
        reach.settle,
        sssp.relax,
        bfs.depend,
        bfs.hand_over,
    )
}


@pytest.fixture
def directed(tmp_path):
    """Many small components, and edges that lead to a row and not from it."""
    return random_store(tmp_path / "d.zarr", vertices=900, edges=700, directed=True)


@pytest.fixture
def undirected(tmp_path):
    return random_store(tmp_path / "u.zarr", vertices=900, edges=9000)


def test_rows_that_only_lead_into_the_largest_component_may_not_be_left_out(directed, monkeypatch):
    hub = int(np.diff(directed.load().indptr).argmax())
    monkeypatch.setattr(components, "link_rest", lambda *given: RIGHT["link_rest"](*given[:-2], 0, hub))
    monkeypatch.setattr(components, "link_first", lambda *given: None)
    assert HostNetwork(directed).compute("components").tolist() != weak(rows_in(directed))


def test_a_block_that_is_forgotten_is_seen(directed, monkeypatch):
    network = HostNetwork(directed, memory=least(directed) + 1000)
    every = HostNetwork.blocks
    count = sum(1 for _ in every(network))
    monkeypatch.setattr(HostNetwork, "blocks", lambda self, **given: islice(every(self, **given), count - 1))
    assert network.compute("components").tolist() != weak(rows_in(directed))


@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        ("pull", lambda low, high, *given: RIGHT["pull"](low, min(high, 40), *given)),
        ("pull", lambda *given: RIGHT["pull"](*given[:-1], given[-1] + 1)),
        ("collect", lambda low, high, *given: RIGHT["collect"](low, min(high, 40), *given)),
    ],
    ids=["a vertex forgotten", "a level too far", "a frontier forgotten"],
)
def test_a_fault_of_a_search_is_seen(tmp_path, monkeypatch, kernel, fault):
    """In a clique a search pulls, and along its tail it pushes again."""
    edges, vertices = SHAPES["a clique with a tail"]
    store = store_of(tmp_path / "g.zarr", [(u, v, 1) for u, v in edges], directed=False, vertices=vertices)
    rows = rows_in(store)
    monkeypatch.setattr(searches, "EDGES_OF_TASK", 0)
    monkeypatch.setattr(bfs, kernel, fault)
    network = HostNetwork(store, threads=2)
    assert network.compute("bfs", source=3).tolist() != distances(rows, 3)


def test_a_level_that_settles_a_chunk_less_is_seen(undirected, monkeypatch):
    monkeypatch.setattr(reach, "settle", lambda low, high, *given: RIGHT["settle"](low, max(high - 1, low), *given))
    network = HostNetwork(undirected, memory=least(undirected) + 1000)
    far = distances(rows_in(undirected), 3)
    assert network.compute("hops", sources=np.array([3])).tolist() != [
        [far.count(level) for level in range(1 + max(far))]
    ]


def test_weights_that_are_rounded_are_seen(undirected, monkeypatch):
    network = HostNetwork(undirected)
    right = network.compute("sssp", source=5)
    monkeypatch.setattr(
        sssp, "relax", lambda *given: RIGHT["relax"](*given[:5], given[5] * np.float32(1.0000001), *given[6:])
    )
    assert not np.array_equal(network.compute("sssp", source=5), right)


def test_a_level_that_is_seen_while_it_is_summed_is_seen(undirected, monkeypatch):
    monkeypatch.setattr(searches, "EDGES_OF_TASK", 100)  # so that a level is summed in parts
    network, sources = HostNetwork(undirected, threads=1), np.array([1, 4])
    right = network.compute("betweenness", sources=sources)

    def hands_over_too_early(low, high, order, *given):
        RIGHT["depend"](low, high, order, *given)
        passed, ways, _ = given[-3:]
        passed[order[low:high]] = ways[order[low:high]]

    monkeypatch.setattr(bfs, "depend", hands_over_too_early)
    assert not np.array_equal(network.compute("betweenness", sources=sources), right)


def test_dependencies_that_are_not_handed_over_are_seen(undirected, monkeypatch):
    network, sources = HostNetwork(undirected), np.array([1, 4])
    right = network.compute("betweenness", sources=sources)
    monkeypatch.setattr(bfs, "hand_over", lambda low, high, *given: RIGHT["hand_over"](low, high - 1, *given))
    assert not np.array_equal(network.compute("betweenness", sources=sources), right)
