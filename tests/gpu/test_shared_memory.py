"""On a GPU, networks that are made of a directed graph share its memory: their rows are beside the graph's, or in turn.

A machine with one GPU pretends to have it twice.
"""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.kept import CASES, ROWS, asked_for, dense_graphs_in, rows_and_kept
from helpers.networks import same
from helpers.own_measures import Beaten, Farthest, Reached

DEVICE = device_or_skip()

import cupy
from helpers.gpu_memory import Peak

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.measure import find
from csaw.engine.analytics.network import on_host
from csaw.engine.analytics.spread import Spread
from csaw.engine.cuda.device import open_device
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import NOTHING

OTHERS = tuple(open_device(number) for number in range(1, cupy.cuda.runtime.getDeviceCount())) or (DEVICE,)
ON_GPU = [(name, way) for name, way in CASES if not DeviceNetwork.lacks(find(name)(**way).computes(True))]
SLACK = 1 << 19  # bytes that CuPy's pool rounds sizes up by, together


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    return dense_graphs_in(folder), folder


def measured(store, one, memory, folder):
    """The findings of a measure within ``memory`` of the GPU, and the most that was in use."""
    with Peak() as peak:
        network = DeviceNetwork(store, DEVICE, threads=2, gpu_memory=memory, derived=folder, kept=NOTHING)
        try:
            one.set_aside(network)
            found = one.findings(network)
        finally:
            network.close()
    return found, peak.most


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("name", "way"), ON_GPU)
def test_rows_of_all_directions_fit_the_memory(graphs, name, way, rows):
    within_the_memory(graphs, find(name)(**way), rows)


@pytest.mark.parametrize("rows", [0.5, *ROWS])
@pytest.mark.parametrize("kind", [Farthest, Beaten, Reached])
def test_rows_of_all_directions_fit_beside_measures_of_ones_own(graphs, kind, rows):
    within_the_memory(graphs, kind(), rows)


def within_the_memory(graphs, one, rows):
    graph, folder = graphs
    store = graph(one.reads_weights)
    memory, (found, peak) = rows_and_kept(store, one, "cuda", rows, lambda memory: measured(store, one, memory, folder))
    assert same(found, measured(store, one, None, folder)[0])
    assert peak <= memory + SLACK


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rows", [None, 0, 0.7, 1.2])
@pytest.mark.parametrize(("name", "way"), ON_GPU)
def test_the_memory_that_a_refusal_asks_for_is_enough(graphs, name, way, rows):
    one, (graph, folder) = find(name)(**way), graphs
    store = graph(one.reads_weights)
    kept = one.keeps("cuda", True).bytes(store.vertices, store.edges, 4)
    memory = 1 if rows is None else int(kept + rows * 4 * store.edges)
    refused = asked_for(memory, lambda memory: measured(store, one, memory, folder))
    assert refused or rows is not None


def test_page_rank_reads_rows_once_where_directions_take_turns(graphs, monkeypatch):
    store, folder = graphs[0](False), graphs[1]
    read, reads = DeviceNetwork._read_whole, []
    monkeypatch.setattr(DeviceNetwork, "_read_whole", lambda one, weights: [reads.append(one), read(one, weights)][1])
    memory = int(1.9 * 4 * store.edges)
    network = DeviceNetwork(store, DEVICE, threads=2, gpu_memory=memory, derived=folder, kept=NOTHING)
    ranks = network.compute("pagerank", damping=0.5, tolerance=0.1, sources=cupy.empty(0, np.int64))
    assert ranks.iterations > 1
    assert network.is_in_turn_with_incoming
    assert network.would_be_in_turn
    assert reads == [network.incoming]
    network.close()


@pytest.mark.parametrize(("rows", "whole"), [(1.2, 1), (1.9, 1), (2.5, 2), (0.6, 0)])
def test_products_of_the_spectrum_read_all_rows_of_one_direction_once(graphs, monkeypatch, rows, whole):
    """Those of the other one, which have no room beside them, pass by in blocks."""
    store, folder = graphs[0](False), graphs[1]
    host = HostNetwork(store, threads=2)
    wanted, read, reads = host.compute("spectrum", count=2), DeviceNetwork._read_whole, []
    monkeypatch.setattr(DeviceNetwork, "_read_whole", lambda one, weights: [reads.append(one), read(one, weights)][1])
    memory = int(rows * 4 * store.edges)
    network = DeviceNetwork(store, DEVICE, threads=2, gpu_memory=memory, derived=folder, kept=NOTHING)
    found = network.compute("spectrum", count=2)
    assert [np.array_equal(one, other) for one, other in zip(found, wanted, strict=True)] == [True, True]
    assert len(reads) == whole
    network.close()
    host.close()


def test_the_spectrum_of_a_graph_that_is_to_be_resident_takes_turns(graphs):
    store, folder = graphs[0](False), graphs[1]
    host = HostNetwork(store, threads=2)
    wanted, memory = host.compute("spectrum", count=2), int(1.2 * 4 * store.edges)
    given = {"gpu_memory": memory, "derived": folder, "kept": NOTHING, "residency": Residency.RESIDENT}
    network = DeviceNetwork(store, DEVICE, threads=2, **given)
    found = network.compute("spectrum", count=2)
    assert [np.array_equal(one, other) for one, other in zip(found, wanted, strict=True)] == [True, True]
    network.close()
    host.close()


@pytest.mark.parametrize("rows", [0.5, 1.2, 2.2, 30])
def test_two_gpus_measure_in_turn_what_one_measures(graphs, rows):
    store, folder = graphs[0](False), graphs[1]
    keeps = [find(name)().keeps("cuda", True) for name in ("betweenness", "hops")]
    kept = max(one.bytes(store.vertices, store.edges, 4) for one in keeps)
    memory, sources = int(kept + rows * 4 * store.edges), np.arange(0, store.vertices, 3000)
    network = DeviceNetwork(store, DEVICE, others=OTHERS, threads=2, gpu_memory=memory, derived=folder, kept=NOTHING)
    host = HostNetwork(store, threads=2)
    for what in ("betweenness", "hops", "betweenness"):
        find(what)().set_aside(network)
        assert np.array_equal(on_host(network.compute(what, sources=sources)), host.compute(what, sources=sources))
        for there in vars(network).get("_elsewhere", ()):  # where the other direction has all of the memory, too
            assert not there.passing
    network.close()
    host.close()


def test_rows_of_a_pooled_graph_go_where_a_made_one_is_read_in_blocks(graphs):
    """The simple undirected graph has nearly twice the entries, and does not fit pooled."""
    store, folder = graphs[0](False), graphs[1]
    spread = Spread.of(HostNetwork(store).offsets, 1 + len(OTHERS))
    memory = spread.bytes_of_rows(store) + 64 * store.vertices
    network = PooledNetwork(
        store, DEVICE, others=OTHERS, threads=2, gpu_memory=memory, derived=folder, residency=Residency.POOLED
    )
    network.load(False)
    simple = network.undirected
    assert not simple.pooled
    for _ in range(2):
        network.load(False)
        assert network.held
        assert not simple.has_rows
        for _ in simple.blocks():
            assert not network.held
    network.close()
