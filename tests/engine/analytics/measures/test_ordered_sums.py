"""Sums of floats over neighbors have one order, whatever the blocks and threads: that of 32 lanes, added in halves."""

import numpy as np
import pytest
from helpers.networks import GRAPHS, networks, pairs_of, same, two_hubs

from csaw.engine.analytics.cpu.network import HostNetwork

STORES = {**GRAPHS, "two hubs": lambda path: two_hubs(path, leaves=70_001, others=3000)}


def halved(numbers):
    """The sum of some numbers: number i goes to lane i % 32, and lanes are added in halves."""
    lanes = [0.0] * 32
    for i, number in enumerate(numbers):
        lanes[i % 32] += number
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
    return lanes[0]


def row_sum(numbers):
    pieces = [halved(numbers[i : i + 512]) for i in range(0, len(numbers), 512)]
    return pieces[0] if len(pieces) == 1 else halved(pieces)


@pytest.mark.parametrize("name", STORES)
def test_sums_have_the_order_of_lanes(name, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    values = np.random.default_rng(4).normal(size=store.vertices) * 10.0 ** np.arange(store.vertices).clip(0, 9)
    wanted = np.array([row_sum(values[row].tolist()) for row in pairs_of(store)[0]])
    for network in networks(store, tmp_path / "derived"):
        assert same(network.compute("ordered_sums", values=values), wanted)
        network.close()


def test_the_order_is_not_that_of_rows():
    """Else a test of it would see nothing."""
    numbers = (np.random.default_rng(4).normal(size=700) * 1e9).tolist()
    assert row_sum(numbers) != sum(numbers)
    assert row_sum(numbers) == pytest.approx(sum(numbers))


def test_no_edges_sum_to_nothing(tmp_path):
    network = HostNetwork(GRAPHS["no edges"](tmp_path / "g.zarr"))
    assert network.compute("ordered_sums", values=np.ones(6)).tolist() == [0.0] * 6
