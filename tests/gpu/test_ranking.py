"""Ranks, cores and assortativity have the same bits on a GPU as on the CPU, resident and streamed."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip, hub_store

gpu = device_or_skip()

from helpers.graphs import random_store
from helpers.networks import GRAPHS, pairs_of, same, sums_of_values

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.analytics.measure import find

LONG = GRAPHS | {
    "hub": lambda path: hub_store(path, False),
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
}
MEASURES = {
    "pagerank": {"tolerance": 1e-9},
    "personalized-pagerank": {"rank_sources": "0"},
    "core": {},
    "assortativity": {},
}


def networks(store, folder):
    """Resident; and streamed in blocks of about a row and of more, a large graph in some 20 blocks."""
    longest = max(len(row) for row in pairs_of(store)[1])
    least = STATE_BYTES * store.vertices + 2 * (store.id_dtype.itemsize + 4 * store.weighted) * max(longest, 1)
    more = (0, 9000) if store.edges < 100_000 else (200_000,)  # each iteration reads all blocks
    for gpu_memory in (None, *(least + bytes for bytes in more)):
        yield DeviceNetwork(store, gpu, gpu_memory=gpu_memory, threads=2, derived=folder)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("graph", LONG)
def test_findings_are_those_of_the_host(graph, measure, tmp_path):
    store = LONG[graph](tmp_path / "g.zarr")
    one = find(measure)(**MEASURES[measure])
    wanted = one.findings(HostNetwork(store))
    for network in networks(store, tmp_path / "derived"):
        assert same(one.findings(network), wanted)
        network.close()


def test_sums_are_pushed_where_nothing_holds_the_other_direction(tmp_path):
    store = LONG["larger directed"](tmp_path / "g.zarr")
    values, wanted = sums_of_values(store, "arriving_sums")
    longest = max(len(row) for row in pairs_of(store)[1])
    for gpu_bytes, host_bytes in ((STATE_BYTES, 48), (4 * STATE_BYTES, 60)):
        sizes = {
            "gpu_memory": gpu_bytes * store.vertices + 8 * longest,
            "memory": host_bytes * store.vertices + 8 * longest,
        }
        network = DeviceNetwork(store, gpu, threads=2, derived=tmp_path / "derived", **sizes)
        assert not network.host.can_have_incoming
        assert np.array_equal(network.compute("arriving_sums", values=network.xp.asarray(values)).get(), wanted)
        assert "incoming" not in vars(network)


def test_sums_of_neighbors_do_not_depend_on_where_rows_are_cut(tmp_path):
    store = hub_store(tmp_path / "g.zarr", False)
    values, wanted = sums_of_values(store, "neighbor_sums")
    for network in networks(store, tmp_path / "derived"):
        found = network.compute("neighbor_sums", values=network.xp.asarray(values))
        assert np.array_equal(found.get(), wanted)
