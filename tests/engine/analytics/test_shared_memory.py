"""Networks that are made of a directed graph share its memory: their rows are beside the graph's, or in turn."""

import gc
import tracemalloc
from threading import Event

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.kept import CASES, READING, ROWS, dense_graphs_in, rows_and_kept
from helpers.networks import same
from helpers.own_measures import Beaten, Farthest, Near, Reached

from csaw.engine.analytics.cpu import searches
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import sampled
from csaw.engine.analytics.measure import find
from csaw.engine.plan.footprint import NOTHING, Footprint
from csaw.partition.errors import BudgetError

ON_CPU = [*ROWS, 4.5, 5.5]  # with which rows are made in memory, too
MEASURES = [(name, way) for name, way in CASES if "approximate" not in way]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    return dense_graphs_in(folder), folder


def measured(store, one, memory, folder):
    """The findings of a measure within ``memory``, and the most that was allocated at a time, if that is traced."""
    network = HostNetwork(store, threads=2, memory=memory, derived=folder, kept=NOTHING)
    try:
        one.set_aside(network)
        return one.findings(network), tracemalloc.get_traced_memory()[1]
    finally:
        network.close()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rows", ON_CPU)
@pytest.mark.parametrize(("name", "way"), MEASURES)
def test_rows_of_all_directions_fit_the_memory(graphs, name, way, rows):
    one = find(name)(**way)
    within_the_memory(graphs, one, rows)


@pytest.mark.parametrize("rows", ON_CPU)
@pytest.mark.parametrize("kind", [Farthest, Beaten, Reached])
def test_rows_of_all_directions_fit_beside_measures_of_ones_own(graphs, kind, rows):
    within_the_memory(graphs, kind(), rows)


def within_the_memory(graphs, one, rows):
    graph, folder = graphs
    store = graph(one.reads_weights)
    memory, _ = rows_and_kept(  # compiles, and makes stores
        store, one, "cpu", rows, lambda memory: measured(store, one, memory, folder)
    )
    expected, _ = measured(store, one, None, folder)
    gc.collect()
    tracemalloc.start()
    try:
        found, peak = measured(store, one, memory, folder)
    finally:
        tracemalloc.stop()
    assert same(found, expected)
    assert peak <= memory + READING


def opened(store, folder, rows):
    """The network with memory for the rows so many times."""
    return HostNetwork(store, memory=int(rows * 4 * store.edges), derived=folder, kept=NOTHING)


def rows_in_memory(*networks):
    """Bytes of the rows of networks that are in memory."""
    return sum(block.indices.nbytes for one in networks for block in one.held.values())


def test_rows_take_turns_where_they_do_not_fit_beside_each_other(graphs):
    store = graphs[0](False)
    network = opened(store, graphs[1], 1.9)
    assert network.would_be_in_turn
    back, simple = network.incoming, network.undirected
    assert network.is_in_turn_with_incoming
    assert not network.has_incoming
    assert not network.can_have_incoming
    for _ in range(2):
        for one in (network, back, network, simple, back, simple):
            for block in one.blocks():
                assert rows_in_memory(network, back, simple) + 2 * 4 * block.indices.size * (not one.held) <= (
                    network.memory
                )
    network.close()


def test_rows_backward_stay_beside_the_graphs_where_both_fit(graphs):
    store = graphs[0](False)
    network = opened(store, graphs[1], 2.1)
    assert not network.would_be_in_turn
    assert network.can_have_incoming is False  # not to be made in memory, which takes more
    network.whole(False)
    back = network.incoming
    assert network.has_incoming
    back.whole(False)
    network.whole(False)
    assert rows_in_memory(network, back) == 2 * 4 * store.edges
    assert network.spare == network.memory - 2 * 4 * store.edges
    network.keep(Footprint(4 * store.edges // store.vertices, fixed=1 << 16))  # has no room for both
    assert not network.has_incoming
    assert "incoming" not in vars(network)
    network.close()


def test_a_network_beside_the_graph_goes_where_another_takes_its_turn(graphs):
    store = graphs[0](False)
    network = opened(store, graphs[1], 2.5)
    network.whole(False)
    network.incoming.whole(False)
    assert network.has_incoming
    simple = network.undirected
    simple.whole(False)
    assert rows_in_memory(network, simple) == simple.held[False].indices.nbytes
    assert "incoming" not in vars(network)
    network.incoming.whole(False)
    assert network.has_incoming
    assert not simple.held
    network.close()


def test_weights_backward_are_refused_with_the_bytes_that_suffice(graphs):
    graph, folder = graphs
    one, store = Farthest(), graph(True)
    with pytest.raises(BudgetError, match="in both directions: .* raise --memory to"):
        measured(store, one, one.keeps("cpu", True).bytes(store.vertices, store.edges, 4) + 9 * store.edges, folder)


@pytest.fixture
def reads(monkeypatch):
    """The networks whose rows were read into memory, one for each time."""
    read, found = HostNetwork._read_whole, []
    monkeypatch.setattr(HostNetwork, "_read_whole", lambda one, weights: [found.append(one), read(one, weights)][1])
    return found


def test_page_rank_reads_rows_once_where_directions_take_turns(graphs, reads):
    network = opened(graphs[0](False), graphs[1], 1.9)
    back = network.incoming
    assert back in network.relatives
    ranks = network.compute("pagerank", damping=0.5, tolerance=0.1, sources=np.empty(0, np.int64))
    assert ranks.iterations > 1
    assert reads == [back]
    network.close()


def test_samples_of_a_graph_on_disk_have_the_memory(graphs):
    store, one = graphs[0](False), find("assortativity")()
    vertices = np.arange(0, store.vertices, 2)
    found = []
    for memory in (None, one.keeps("cpu", True).bytes(store.vertices, store.edges, 4) + 3 * store.edges):
        network = HostNetwork(store, memory=memory, derived=graphs[1], kept=NOTHING)
        one.set_aside(network)
        assert network.resident == (memory is None)
        made = sampled.induced(sampled.Held(vertices, vertices, vertices), network).network
        assert not network.passing
        one.set_aside(made)
        found.append(one.findings(made))
        assert made.held
        network.close()
    assert same(*found)


def test_searches_for_the_diameter_begin_with_rows_in_memory(graphs, reads, monkeypatch):
    network, sweep, sweeps = opened(graphs[0](False), graphs[1], 1.9), searches._Search.sweep, []
    monkeypatch.setattr(searches._Search, "sweep", lambda one, vertex: [sweeps.append(vertex), sweep(one, vertex)][1])
    label = network.compute("strong_components")
    assert network.is_in_turn_with_incoming
    reads.clear()
    network.compute("diameter", inside=label == np.bincount(label).argmax())
    assert len(sweeps) > 1
    assert len(reads) <= len(sweeps) + 1
    network.close()


class NearLast(Near):
    """Few vertices change in the first rounds."""

    def start(self, v):
        return 0 if v.id == v.vertices - 1 else v.nothing


def test_a_measure_of_ones_own_reads_rows_once_where_directions_take_turns(graphs, reads):
    network = opened(graphs[0](False), graphs[1], 1.9)
    assert NearLast().computed(network).rounds > 2
    assert reads == [network.incoming]
    network.close()


def test_directions_are_beside_each_other_again_where_there_is_room(graphs, reads):
    store = graphs[0](False)
    network = opened(store, graphs[1], 2.2)
    network.keep(Footprint(4 * store.edges // store.vertices, fixed=1 << 16))
    back = network.incoming
    back.whole(False)
    assert network.is_in_turn_with_incoming
    network.keep(NOTHING)
    network.whole(False)
    assert network.has_incoming
    assert network.incoming is back
    back.whole(False)
    network.whole(False)
    assert reads == [back, network]
    assert rows_in_memory(network, back) == 2 * 4 * store.edges
    network.close()


def test_weights_backward_have_the_memory_of_the_undirected_graph(graphs):
    graph, folder = graphs
    store, one = graph(True), Farthest()
    kept = one.keeps("cpu", True)
    network = HostNetwork(store, derived=folder, kept=NOTHING)
    expected = one.findings(network)
    network.close()
    network = HostNetwork(store, derived=folder, kept=NOTHING)
    simple = network.undirected
    assert simple.beside
    needed = kept.bytes(store.vertices, store.edges, 4) + 18 * store.edges
    network.memory = simple.memory = needed
    one.set_aside(network)
    assert same(one.findings(network), expected)
    assert "undirected" not in vars(network)
    network.close()


def test_to_know_that_a_graph_is_simple_takes_no_memory_for_good(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=900, edges=9000, directed=False, weighted=False)
    network = opened(store, tmp_path, 0.3)
    assert network.undirected is network
    assert not network.resident
    assert not network.passing
    network.close()


def test_what_is_read_ahead_holds_nobody_up_once_the_reader_is_gone(graphs):
    network = opened(graphs[0](False), graphs[1], 0.2)
    busy, blocks = Event(), network.blocks()
    network.reader.submit(busy.wait)
    next(blocks)
    network.reader.shutdown(wait=False, cancel_futures=True)
    blocks.close()
    busy.set()
    network.close()


@pytest.mark.parametrize("spare", [0, -1])
def test_rows_that_a_measure_counts_itself_are_not_counted_again(graphs, spare):
    """Matching counts those of the undirected graph: with the graph's own beside these, nothing is made on disk."""
    graph, folder = graphs
    store, one = graph(False), find("triangles")(triangles="match")
    network = HostNetwork(store, threads=2, derived=folder, kept=NOTHING)
    network.memory = one.suffices(network) + network.rows_bytes + spare
    one.set_aside(network)
    assert (network.undirected.beside > 0) == (spare == 0)
    network.close()
