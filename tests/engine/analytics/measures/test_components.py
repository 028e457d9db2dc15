"""Components are those that a search from every vertex finds, in memory and from disk."""

import numpy as np
import pytest
from helpers.machine import need_data
from helpers.networks import networks, stores
from helpers.oracles import rows_in, strong, weak

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.components import Components
from csaw.partition import IngestOptions, ingest

PUBLISHED = {  # vertices of the largest component, and of the largest strong one
    "snap/wiki-Vote.txt.gz": (7066, 1300),
    "snap/p2p-Gnutella31.txt.gz": (62561, 14149),
    "converted/web-Stanford_relabelled.txt.gz": (255265, 150532),
    "converted/cnr-2000.txt.gz": (325557, 112023),
}


@pytest.mark.parametrize("directed", [True, False])
def test_components_are_those_of_a_search_from_every_vertex(tmp_path, directed):
    for store in stores(tmp_path, directed=directed):
        rows = rows_in(store)
        for network in networks(store, tmp_path / "derived"):
            assert network.compute("components").tolist() == weak(rows)
            assert network.compute("strong_components").tolist() == strong(rows)
            network.close()


def test_findings_count_components_and_their_vertices(tmp_path):
    for store in stores(tmp_path, directed=True):
        network = HostNetwork(store)
        found = Components().findings(network)
        for name, smallest in (("component", weak(rows_in(store))), ("strong component", strong(rows_in(store)))):
            sizes = [smallest.count(v) for v in set(smallest)]
            assert found[f"{name}s"].value == len(sizes)
            assert found[f"largest {name}"].value == max(sizes)
            assert found[f"share in largest {name}"].value == max(sizes) / store.vertices
            assert np.repeat(found[f"{name} size"].values, found[f"{name} size"].counts).tolist() == sorted(sizes)
            assert found[name].values.tolist() == smallest
        network.close()


def test_strong_components_of_an_undirected_graph_are_not_reported(tmp_path):
    store = next(stores(tmp_path, directed=False))
    assert not any("strong" in name for name in Components().findings(HostNetwork(store)))


@pytest.mark.parametrize("name", PUBLISHED)
def test_largest_components_are_the_published_ones(tmp_path, name):
    store = ingest(need_data(name), tmp_path / "g.zarr", IngestOptions(directed=True))
    found = Components().findings(HostNetwork(store))
    assert (found["largest component"].value, found["largest strong component"].value) == PUBLISHED[name]
