"""What --dry-run says of a measure is what happens."""

import re
from functools import partial

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.kept import CASES
from helpers.own_measures import Beaten, Reached

from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.measure import find
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rows_in_memory import RowsInMemory
from csaw.partition.errors import BudgetError

MEASURES = [*(partial(find(name), **way) for name, way in CASES), Beaten, Reached]
ROWS = [0.4, 1.2, 2.2, 40]  # memory for the rows of the graph so many times, beside what is kept


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("graphs"), {}

    def graph(directed, weighted):
        if (directed, weighted) not in made:
            ends = (np.random.default_rng(5).random((30_000, 2)) * 1500).astype(int)
            path = folder / f"{directed}-{weighted}.zarr"
            edges = np.column_stack([ends, np.ones(len(ends))])
            made[directed, weighted] = store_of(path, edges, directed=directed, weighted=weighted, partitions=3)
        return made[directed, weighted]

    return graph


@pytest.fixture
def read(monkeypatch):
    """The networks whose rows are read as a whole, and those whose rows are read in blocks."""
    whole, blocks = [], []
    of_whole, of_slots = Network.whole, RowsInMemory.slots

    def spied_whole(network, weights):
        whole.append(network)
        return of_whole(network, weights)

    def spied_slots(network, weights):
        blocks.append(network)
        return of_slots(network, weights)

    monkeypatch.setattr(Network, "whole", spied_whole)
    monkeypatch.setattr(RowsInMemory, "slots", spied_slots)
    return whole, blocks


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("number", range(len(MEASURES)))
def test_rows_are_read_as_the_plan_says(graph, read, monkeypatch, tmp_path, number, directed, rows):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    one, (whole, blocks) = MEASURES[number](), read
    store = graph(directed, one.reads_weights)
    kept = one.keeps("cpu", directed).bytes(store.vertices, store.edges, 4)
    memory = int(kept + rows * store.edges * (4 + 4 * one.reads_weights))
    with Networks(store, EvaluateOptions(device="cpu", memory=memory, threads=2)) as networks:
        said = networks.plan(one)["graph"]
        whole.clear()
        blocks.clear()
        try:
            networks.findings(one)
        except BudgetError:
            refused = True
        else:
            refused = False
        if refused:
            assert ", or refused: " in said
        elif said == "in memory":
            assert not blocks
        elif found := re.fullmatch(r"in ([\d,]+) blocks, one after the other(, or refused: .*)?", said):
            assert networks.host not in whole
            assert networks.host not in blocks or int(found[1]) == len(networks.host.cut.partitions)
        else:
            assert said.startswith("in memory, ")
            assert networks.host not in blocks


def test_every_way_to_say_it_occurs(graph):
    said = set()
    for rows in ROWS:
        for one in (find("patterns")(pattern="triangle"), find("core")(), find("degree")()):
            store = graph(True, False)
            memory = int(one.keeps("cpu", True).bytes(store.vertices, store.edges, 4) + rows * store.edges * 4)
            with Networks(store, EvaluateOptions(device="cpu", memory=memory, threads=2)) as networks:
                said.add(re.sub("[0-9,]+ b", "N b", networks.plan(one)["graph"]))
    assert said == {
        "in memory",
        "in N blocks, one after the other",
        "in memory, rows made of it perhaps in blocks",
        "in memory, or refused: N bytes are enough",
    }


@pytest.mark.parametrize("one", [find("patterns")(pattern="triangle"), find("spectrum")(), Beaten()])
def test_what_is_said_of_a_graph_that_is_to_be_read_from_disk(graph, one):
    with Networks(graph(True, one.reads_weights), EvaluateOptions(device="cpu", residency="disk")) as networks:
        said = networks.plan(one)["graph"]
        if isinstance(one, Beaten):
            assert said == "refused: all rows must be in memory; leave out --residency disk"
            with pytest.raises(BudgetError, match="leave out --residency disk"):
                networks.findings(one)
        else:
            assert said == "in one block"
            networks.findings(one)
