"""Sketches, ordered sums of floats and the spectrum on a GPU are those of the host, to the bit."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import random_store
from helpers.networks import GRAPHS, pairs_of, same, two_hubs

DEVICE = device_or_skip()

import cupy

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.analytics.measure import find

STORES = GRAPHS | {
    "two hubs": lambda path: two_hubs(path, leaves=70_001, others=3000),
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
    "dense": lambda path: random_store(path, vertices=3000, edges=1_500_000, weighted=False),
}


def networks(store, folder):
    """Resident, and streamed in blocks of about a row and of more."""
    longest = max(len(row) for row in pairs_of(store)[1])
    least = STATE_BYTES * store.vertices + 2 * (store.id_dtype.itemsize + 4 * store.weighted) * max(longest, 1)
    for gpu_memory in (None, least, least + 9000 if store.edges < 100_000 else least + 900_000):
        yield DeviceNetwork(store, DEVICE, gpu_memory=gpu_memory, threads=2, derived=folder)


@pytest.mark.parametrize("name", STORES)
def test_ordered_sums(name, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    values = np.random.default_rng(4).normal(size=store.vertices) * 10.0 ** (np.arange(store.vertices) % 9)
    wanted = HostNetwork(store).compute("ordered_sums", values=values)
    for network in networks(store, tmp_path / "derived"):
        assert same(network.compute("ordered_sums", values=cupy.asarray(values)).get(), wanted)
        network.close()


@pytest.mark.parametrize("name", STORES)
def test_sketches(name, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    for seed, run in ((0, 0), (2**64 - 1, 3)):
        wanted = HostNetwork(store).compute("sketches", seed=seed, run=run)
        for network in networks(store, tmp_path / "derived"):
            assert same(network.compute("sketches", seed=seed, run=run), wanted)
            network.close()


@pytest.mark.parametrize("name", STORES)
def test_findings_of_spectrum_and_hops_by_sketches(name, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    for one in (find("spectrum")(spectrum_size=4), find("hops")(hops="sketches", hop_sketches=2)):
        network = DeviceNetwork(store, DEVICE, threads=2, derived=tmp_path / "derived")
        assert not network.lacks(one.computes(store.directed))
        assert same(one.findings(network), one.findings(HostNetwork(store)))
        network.close()
