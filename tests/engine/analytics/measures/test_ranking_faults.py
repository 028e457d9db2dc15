"""Faults planted in kernels are seen: by the equations of ranks, the definition of cores, and the count of units."""

import numpy as np
import pytest
from helpers.networks import GRAPHS, neighbors_of

from csaw.engine.analytics.cpu import components as analytics
from csaw.engine.analytics.cpu.kernels import components, sums
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.iterations import UNITS
from csaw.engine.analytics.measure import find

RIGHT = {"settle": sums.settle, "sum_rows": sums.sum_rows, "lower": components.lower}


def ignores_damping(low, high, base, sources, damping, *rest):
    return RIGHT["settle"](low, high, base, sources, 0.5, *rest)


def loses_what_has_nowhere_to_go(low, high, base, sources, damping, *rest):
    return RIGHT["settle"](low, high, min(base, int((1 - damping) * UNITS) // 7), sources, damping, *rest)


def forgets_the_last_vertex(low, high, *rest):
    RIGHT["sum_rows"](low, high - 1, *rest)


@pytest.mark.parametrize(
    ("graph", "kernel", "fault"),
    [
        ("troubled", "settle", ignores_damping),
        ("troubled", "settle", loses_what_has_nowhere_to_go),
        ("star", "sum_rows", forgets_the_last_vertex),
    ],
)
def test_a_fault_of_ranks_is_seen(graph, kernel, fault, tmp_path, monkeypatch):
    network = HostNetwork(GRAPHS[graph](tmp_path / "g.zarr"))
    wanted = find("pagerank")(tolerance=1e-12).findings(network)["pagerank"].values
    monkeypatch.setattr(sums, kernel, fault)
    found = find("pagerank")(tolerance=1e-12).findings(network)["pagerank"].values
    assert not np.allclose(found, wanted, rtol=1e-9)


def test_cores_of_which_neighbors_do_not_hear_are_seen(tmp_path, monkeypatch):
    network = HostNetwork(GRAPHS["random"](tmp_path / "g.zarr")).undirected
    wanted = analytics.core(network)

    def is_silent(*arguments):
        RIGHT["lower"](*arguments[:-1], np.zeros_like(arguments[-1]))

    monkeypatch.setattr(components, "lower", is_silent)
    found = network.degrees.copy()
    analytics.lowered(network, found)
    assert not np.array_equal(found, wanted)


def test_a_repeated_neighbor_would_change_cores(tmp_path):
    store = GRAPHS["repeated undirected"](tmp_path / "g.zarr")
    network = HostNetwork(store)
    right = network.undirected.compute("core")
    assert right.max() < max(map(len, neighbors_of(store))) + 1
    assert not np.array_equal(network.compute("core"), right)
