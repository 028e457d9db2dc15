"""The suite triangle-ways measures all three ways on the device that is measured, over every graph."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine.analytics.computations import lacking
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.bench.bench_row import measured
from csaw.engine.bench.run import open_context
from csaw.engine.bench.suites import gunrock


class Elsewhere:
    """A network that says it is on a GPU, and counts on the host what it is asked for there."""

    device = "cuda"

    def __init__(self, host):
        self.host, self.asked = host, []
        self.undirected, self.edges, self.degrees = self, host.undirected.edges, host.undirected.degrees

    def compute(self, what, **options):
        self.asked.append(what)
        return self.host.undirected.compute(what, **options)

    def close(self):
        self.host.close()


@pytest.fixture
def stores(tmp_path):
    return [
        random_store(tmp_path / f"{size}.zarr", vertices=size, edges=10 * size, weighted=False) for size in (60, 200)
    ]


def measured_on(network_of, stores, monkeypatch):
    monkeypatch.setattr(gunrock, "network_of", network_of)
    context = open_context(graphs=tuple(str(store.path) for store in stores), threads=2, repeats=1)
    return list(gunrock.ways_rows(context))


def test_all_ways_run_on_the_gpu_and_one_thread_alone_on_the_host(stores, monkeypatch):
    made, on_host = [], []

    def network_of(context, graph):
        made.append(Elsewhere(HostNetwork(graph.store)))
        return made[-1]

    def on_the_host(network):
        on_host.append(network)
        return network.host.undirected

    monkeypatch.setattr(gunrock, "on_the_host", on_the_host)
    rows = measured_on(network_of, stores, monkeypatch)
    assert [row["series"] for row in rows] == 2 * list(gunrock.WAYS)
    assert {row["ran_on"] for row in rows} == {"cuda"}
    for network in made:
        assert set(network.asked) == set(gunrock.WAYS.values())
    assert on_host == made  # for the baseline
    assert all("x one thread of the CPU" in row["note"] for row in rows)


def test_ways_count_the_same_over_several_graphs(stores, monkeypatch):
    rows = measured_on(gunrock.network_of, stores, monkeypatch)
    assert {row["ran_on"] for row in rows} == {"cpu"}
    for store, graph in zip(stores, dict.fromkeys(row["graph"] for row in rows), strict=True):
        some = measured(rows, graph=graph)
        degrees = np.asarray(HostNetwork(store).undirected.degrees)
        assert len({row["triangles"] for row in some}) == 1
        assert {row["degree_squares"] for row in some} == {int(degrees @ degrees)}
    assert gunrock.ways_verdict(rows).holds is not None


def test_gpus_have_a_module_for_every_way():
    assert not lacking("cuda", tuple(gunrock.WAYS.values()))
