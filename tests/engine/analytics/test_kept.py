"""A measure allocates no more than it says that it keeps beside the rows, in memory and in blocks."""

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.kept import CASES, READING, budgets, graphs_in

from csaw.engine.analytics.computations import lacking, works
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measure import Measure, find, names
from csaw.engine.plan.footprint import NOTHING, Footprint
from csaw.partition.errors import BudgetError

HEADING = "## What a measure keeps"
VERTICES = 60_000
PAGE = Path(__file__).parents[3] / "docs/reference/measure-memory.md"
IN_MEMORY = {"patterns", "spectrum", "match"}  # which refuse to read blocks

OTHER = pytest.mark.slow(reason="by default each way to measure is held to it on one kind of graph")
BOTH = [
    pytest.param(name, way, directed, marks=() if directed == bool(number % 2) else OTHER)
    for number, (name, way) in enumerate(CASES)
    for directed in (False, True)
]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    return graphs_in(folder, VERTICES), folder


def measured(store, one, memory, folder):
    """Find a measure within ``memory``; the most that was allocated at a time, if allocations are traced."""
    network = HostNetwork(store, threads=2, memory=memory, derived=folder, kept=NOTHING)
    try:
        one.set_aside(network)
        found = one.findings(network)
        return len(found), tracemalloc.get_traced_memory()[1]
    finally:
        network.close()


@pytest.mark.parametrize(("name", "way", "directed"), BOTH)
def test_what_a_measure_allocates_is_what_it_says(graphs, name, way, directed):
    graph, folder = graphs
    one = find(name)(**way)
    store = graph(directed, one.reads_weights)
    kept, found = budgets(store, one, "cpu", lambda memory: measured(store, one, memory, folder))  # compiles, too
    memories, peaks = [memory for memory, _ in found], []
    for memory in memories[: 1 if IN_MEMORY & {name, *way.values()} else 2]:
        gc.collect()
        tracemalloc.start()
        try:
            peaks.append(measured(store, one, memory, folder)[1])
        finally:
            tracemalloc.stop()
    assert all(peak <= memory + READING for peak, memory in zip(peaks, memories, strict=False)), (peaks, memories)
    assert 2 * max(peaks) > kept  # nor does it say much more than it takes


def test_every_measure_says_what_it_keeps():
    kinds = [find(name) for name in names()]
    assert all(kind.KEEPS is not Measure.KEEPS or kind.keeps is not Measure.keeps for kind in kinds)


def test_a_measure_that_keeps_less_is_measured_where_another_is_refused(graphs):
    graph, folder = graphs
    store = graph(False, False)
    memory = find("degree")().keeps("cpu", False).bytes(store.vertices, store.edges, 4) + 8 * store.max_degree
    network = HostNetwork(store, memory=memory, derived=folder, kept=NOTHING)
    network.keep(find("degree")().keeps("cpu", False))
    assert not network.resident
    more = find("pagerank")().keeps("cpu", False).bytes(store.vertices, store.edges, 4) + 8 * store.max_degree
    with pytest.raises(BudgetError, match=f"{more:,} bytes are needed .* raise --memory to {more:,}"):
        network.keep(find("pagerank")().keeps("cpu", False))
    network.close()


def test_rows_in_memory_are_given_back_where_another_measure_needs_the_room(tmp_path):
    edges = np.random.default_rng(1).integers(0, 500, (9000, 2)).tolist()
    store = store_of(tmp_path / "g.zarr", [(u, v, 1) for u, v in edges], directed=False, weighted=False)
    rows, little, much = 4 * store.edges, Footprint(16), Footprint(64)
    network = HostNetwork(store, memory=16 * store.vertices + 2 * rows, derived=tmp_path, kept=little)
    simple = network.undirected
    assert network.held
    assert simple.resident
    assert simple is not network
    network.keep(much + Footprint(rows // store.vertices))
    assert not network.held
    assert "undirected" not in vars(network)
    assert sum(block.indices.size for block in network.undirected.blocks()) == simple.edges
    network.close()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_works_that_declare_memory_are_computations_of_their_device(device):
    """They are declared without the modules, and on any machine: those of GPUs without CuPy, too."""
    assert not lacking(device, tuple(works(device).keys() - {"rounds_both_ways"}))


@pytest.mark.parametrize(("name", "device"), [(name, device) for name in names() for device in ("cpu", "cuda")])
def test_the_page_on_evaluation_says_what_a_measure_keeps(name, device):
    one = find(name)()
    if device == "cuda" and "cuda" not in one.KEEPS:
        return
    each = [kept.vertex + 4 * kept.ids for kept in (one.keeps(device, directed) for directed in (False, True))]
    said = str(each[0]) if len({*each}) == 1 else f"{each[0]}, directed {each[1]}"
    [row] = [line for line in PAGE.read_text().partition(HEADING)[2].splitlines() if line.startswith(f"| `{name}` | ")]
    assert row.split(" | ")[1 + (device == "cuda")].removesuffix(" |").removesuffix(", and the rows again") == said
