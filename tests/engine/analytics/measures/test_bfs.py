"""Distances are those of a queue, from any source, in memory and from disk."""

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.networks import networks, stores
from helpers.oracles import distances, rows_in

from csaw.engine.analytics.cpu import searches
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.bfs import Bfs
from csaw.partition.errors import OptionError


@pytest.mark.one_in(2)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("alone", [0, None])  # entries of a frontier that one thread searches by itself
def test_distances_are_those_of_a_queue(tmp_path, monkeypatch, directed, alone):
    if alone is not None:
        monkeypatch.setattr(searches, "EDGES_OF_TASK", alone)
    for store in stores(tmp_path, directed=directed):
        rows = rows_in(store)
        for network in networks(store, tmp_path / "derived"):
            network.incoming  # noqa: B018 - so that a directed graph is searched in both directions, too
            for source in {0, store.vertices // 2, store.vertices - 1}:
                for top_down in (False, True):
                    found = network.compute("bfs", source=source, top_down=top_down)
                    assert found.tolist() == distances(rows, source)
            network.close()


def test_push_alone_gives_the_same(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=900, edges=9000, directed=True)
    network = HostNetwork(store)
    assert not network.has_incoming
    assert network.compute("bfs", source=3).tolist() == distances(rows_in(store), 3)


def test_findings(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=900, edges=900)
    hub = int(np.diff(store.load().indptr).argmax())
    expected = np.array(distances(rows_in(store), hub))
    found = Bfs().findings(HostNetwork(store))
    assert found["bfs"].values.tolist() == expected.tolist()
    assert found["eccentricity"].value == expected.max()
    assert found["reached"].value == (expected >= 0).sum()
    assert found["distance from source"].counts.tolist() == np.bincount(expected[expected >= 0]).tolist()
    other = Bfs(bfs_source="5").findings(HostNetwork(store))
    assert other["bfs"].values.tolist() == distances(rows_in(store), 5)


def test_a_source_that_the_graph_lacks_is_refused(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=True)
    with pytest.raises(OptionError, match="vertex 2 is not in"):
        Bfs(bfs_source=2).findings(HostNetwork(store))
    with pytest.raises(OptionError, match="--bfs-source: expected an integer, the id of a vertex, found 'x'"):
        Bfs(bfs_source="x").findings(HostNetwork(store))
