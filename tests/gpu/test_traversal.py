"""Components, distances and hop counts on a GPU are those of the host, from graphs in its memory and from blocks."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import WideStore, store_of
from helpers.networks import stores, two_hubs

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.network import on_host

DEVICE = device_or_skip()

from csaw.engine.analytics.cuda import bfs  # they import CuPy
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork


def device_networks(store):
    """The graph in the GPU's memory, and in blocks of about a row and of more.

    A small graph with wide ids, which the store of its other direction would not have, is in memory if it has both.
    """
    least = STATE_BYTES * store.vertices + 2 * (store.id_dtype.itemsize + 4 * store.weighted) * max(store.max_degree, 1)
    in_memory_alone = isinstance(store, WideStore) and store.directed
    for gpu_memory in (None,) if in_memory_alone else (None, least, least + 9000):
        yield DeviceNetwork(store, DEVICE, gpu_memory=gpu_memory, threads=2)


def each(folder, directed, weighted=False):
    """The host's network of every graph, and one on the GPU."""
    for store in stores(folder, directed=directed, weighted=weighted):
        host = HostNetwork(store)
        for device in device_networks(store):
            yield host, device
            device.close()
        host.close()


@pytest.mark.parametrize("directed", [True, False])
def test_components(tmp_path, directed):
    for host, device in each(tmp_path, directed):
        for what in ("components", "strong_components"):
            assert np.array_equal(on_host(device.compute(what)), host.compute(what))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("few", [0, 9, 4096])
def test_distances(tmp_path, directed, few, monkeypatch):
    """With levels of a launch each, and with small ones that share launches."""
    monkeypatch.setattr(bfs, "FEW", few)
    monkeypatch.setattr(bfs, "LEVELS", 3)
    for host, device in each(tmp_path, directed):
        for source in {0, host.vertices // 2, host.vertices - 1}:
            found, wanted = on_host(device.compute("bfs", source=source)), host.compute("bfs", source=source)
            assert np.array_equal(found, wanted)
            tree = host.compute("predecessors", source=source, distance=wanted)
            assert np.array_equal(device.compute("predecessors", source=source, distance=found), tree)
        if directed and device.resident:
            assert device.incoming.vertices == host.vertices  # from now on, a search pulls
            assert np.array_equal(on_host(device.compute("bfs", source=0)), host.compute("bfs", source=0))


@pytest.mark.parametrize("directed", [True, False])
def test_hops(tmp_path, directed):
    for host, device in each(tmp_path, directed):
        sources = np.arange(min(host.vertices, 130)) * 7 % host.vertices  # three words, some sources twice
        assert np.array_equal(on_host(device.compute("hops", sources=sources)), host.compute("hops", sources=sources))


@pytest.mark.parametrize("directed", [True, False])
def test_sums_of_weights_have_the_same_bits(tmp_path, directed):
    for host, device in each(tmp_path, directed, weighted=True):
        for source in {0, host.vertices - 1}:
            assert np.array_equal(on_host(device.compute("sssp", source=source)), host.compute("sssp", source=source))


@pytest.mark.parametrize("directed", [True, False])
def test_betweenness_has_the_same_bits(tmp_path, directed):
    for host, device in each(tmp_path, directed):
        sources = np.arange(0, host.vertices, max(1, host.vertices // 3))
        assert np.array_equal(
            on_host(device.compute("betweenness", sources=sources)), host.compute("betweenness", sources=sources)
        )


def test_betweenness_of_long_rows_has_the_same_bits(tmp_path):
    store = two_hubs(tmp_path / "g.zarr", leaves=1301, others=900)
    host, sources = HostNetwork(store), np.array([0, 2, 700, 1301])
    for device in device_networks(store):
        found = on_host(device.compute("betweenness", sources=sources))
        assert np.array_equal(found, host.compute("betweenness", sources=sources))
        device.close()


def test_a_long_path_shares_launches(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(v, v + 1, 1) for v in range(2000)], directed=False)
    host, device = HostNetwork(store), DeviceNetwork(store, DEVICE, threads=2)
    for source in (0, 777):
        assert np.array_equal(on_host(device.compute("bfs", source=source)), host.compute("bfs", source=source))
    device.close()
