"""Core numbers are those of the definition, by peeling and by estimates, with any threads and blocks."""

import numpy as np
import pytest
from helpers.networks import GRAPHS, neighbors_of, networks, same

from csaw.engine.analytics.cpu.components import core, lowered
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measure import find


def core_numbers(neighbors):
    """The largest k for which a vertex is left when those with fewer than k neighbors are taken away until there are
    none.
    """
    numbers = [0] * len(neighbors)
    for k in range(1, 1 + max(map(len, neighbors), default=0)):
        left = {v for v, row in enumerate(neighbors) if row}
        while few := {v for v in left if len(neighbors[v] & left) < k}:
            left -= few
        for v in left:
            numbers[v] = k
    return numbers


@pytest.mark.parametrize("graph", GRAPHS)
def test_core_numbers_are_those_of_the_definition_everywhere(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    expected, first = core_numbers(neighbors_of(store)), None
    for network in networks(store, tmp_path / "derived"):
        found = find("core")().findings(network)
        first = found if first is None else first
        assert same(found, first)
        assert found["core"].values.tolist() == expected
        network.close()
    assert first["largest core"].value == max(expected)
    assert first["vertices of the largest core"].value == expected.count(max(expected))
    pairs = zip(first["distribution of core"].values, first["distribution of core"].counts, strict=True)
    assert {int(k): int(n) for k, n in pairs} == {k: expected.count(k) for k in expected}


@pytest.mark.parametrize("threads", [1, 4])
def test_estimates_reach_what_peeling_finds(threads, tmp_path):
    network = HostNetwork(GRAPHS["random"](tmp_path / "g.zarr"), threads=threads).undirected
    cores = network.degrees.copy()
    passes = lowered(network, cores)
    assert np.array_equal(cores, core(network))
    assert 1 < passes < network.vertices
