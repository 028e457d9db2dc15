"""On a GPU, a measure allocates no more than it says that it keeps beside the rows, in memory and in blocks."""

import pytest
from helpers.gpu import device_or_skip
from helpers.kept import CASES, budgets, graphs_in

DEVICE = device_or_skip()

from helpers.gpu_memory import Peak

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.measure import find
from csaw.engine.plan.footprint import NOTHING

VERTICES = 30_000  # in the least memory, blocks are of few rows, and each pass goes through all of them
ROUNDED = 1.02  # CuPy's pool rounds sizes up to 512 bytes
ON_GPU = [(name, way) for name, way in CASES if not DeviceNetwork.lacks(find(name)(**way).computes(True))]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    return graphs_in(folder, VERTICES), folder


def measured(store, one, memory, folder):
    """Find a measure within ``memory`` of the GPU, and return the most that was in use."""
    with Peak() as peak:
        network = DeviceNetwork(store, DEVICE, threads=2, gpu_memory=memory, derived=folder, kept=NOTHING)
        try:
            one.set_aside(network)
            one.findings(network)
        finally:
            network.close()
    return peak.most


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("name", "way"), ON_GPU)
def test_what_a_measure_allocates_is_what_it_says(graphs, name, way, directed, capsys):
    graph, folder = graphs
    one = find(name)(**way)
    store = graph(directed, one.reads_weights)
    kept, found = budgets(store, one, "cuda", lambda memory: measured(store, one, memory, folder))
    memories, peaks = zip(*found, strict=True)
    of_vertex = [round(number / store.vertices, 1) for number in (kept, *memories, *peaks)]
    with capsys.disabled():
        print(f"\n{name} {way} directed={directed}: kept, budgets and peaks in bytes a vertex: {of_vertex}")
    assert all(peak <= ROUNDED * memory for peak, memory in zip(peaks, memories, strict=True)), of_vertex
