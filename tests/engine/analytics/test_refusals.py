"""The memory that a refusal of a measure asks for is enough."""

from functools import partial

import pytest
from helpers.graphs import random_store, store_of
from helpers.kept import CASES, asked_for
from helpers.networks import REPEATED
from helpers.own_measures import Beaten, Farthest, Reached

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.measure import find
from csaw.engine.plan.footprint import NOTHING
from csaw.partition.errors import BudgetError

GRAPHS = {
    "random": lambda path, weighted: random_store(path, vertices=700, edges=6000, weighted=weighted),
    "directed": lambda path, weighted: random_store(path, vertices=200, edges=6000, weighted=weighted, directed=True),
    "star inwards": lambda path, weighted: store_of(
        path, [(v, 0, 1) for v in range(1, 200)], directed=True, weighted=weighted
    ),
    "repeated": lambda path, weighted: store_of(
        path, [(u + 4 * k, v + 4 * k, 1) for k in range(40) for u, v, _ in REPEATED], directed=False, weighted=weighted
    ),
}
MEASURES = [*(partial(find(name), **way) for name, way in CASES), Beaten, Farthest, Reached]
ENTRIES = [0, 5, 12]  # bytes of memory for each entry of a row, beside what is kept


def measured(store, one, memory, folder):
    network = HostNetwork(store, threads=2, memory=memory, derived=folder, kept=NOTHING)
    try:
        one.set_aside(network)
        one.findings(network)
    finally:
        network.close()


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("number", range(len(MEASURES)))
def test_the_memory_that_a_refusal_asks_for_is_enough(tmp_path, number, graph):
    one = MEASURES[number]()
    store = GRAPHS[graph](tmp_path / "g.zarr", one.reads_weights)
    kept = one.keeps("cpu", store.directed).bytes(store.vertices, store.edges, 4)
    memories = [1, *(kept + entry * store.edges for entry in ENTRIES)]
    refused = [asked_for(memory, lambda memory: measured(store, one, memory, tmp_path)) for memory in memories]
    assert refused[0]  # one byte is not enough


@pytest.mark.parametrize("name", ["triangles", "patterns", "spectrum", "core", "degree"])
def test_an_evaluation_needs_no_more_than_it_asks_for(tmp_path, monkeypatch, name):
    monkeypatch.setattr(profiles, "cache_dir", lambda: tmp_path / "cache")
    store = GRAPHS["directed"](tmp_path / "g.zarr", False)
    assert asked_for(1, lambda memory: evaluate(store, measures=[name], memory=memory, threads=2, device="cpu"))


def test_all_rows_where_they_must_be_in_memory_are_asked_for_at_once(tmp_path):
    store = GRAPHS["directed"](tmp_path / "g.zarr", False)
    with pytest.raises(BudgetError, match="are needed for all rows .* raise --memory to .*, or leave out") as refusal:
        evaluate(store, measures=["core"], memory=1, residency="resident", device="cpu", refresh=True)
    needed = int(str(refusal.value).partition("raise --memory to ")[2].partition(", or")[0].replace(",", ""))
    assert evaluate(store, measures=["core"], memory=needed, residency="resident", device="cpu", refresh=True).profile
