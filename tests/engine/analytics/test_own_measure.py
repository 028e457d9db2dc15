"""Measures of the page on writing one's own find what csaw's find, and any class what Python's interpreter finds."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.networks import GRAPHS, networks, stores
from helpers.own_measures import (
    Beaten,
    Below,
    Counted,
    Farthest,
    Reached,
    Same,
    Signed,
    by_definition,
    found,
    of_the_page,
    text_of_the_page,
)

import csaw
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.rounds import compiled
from csaw.engine.analytics.iterations import UNITS
from csaw.engine.analytics.rounds import CHUNK, nothing
from csaw.engine.measure import Measure
from csaw.partition.errors import BudgetError

NOWHERE = np.zeros(0, np.int64)
RANKS = {"damping": 0.85, "tolerance": 1e-6, "sources": NOWHERE}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    return lambda name: of_the_page(folder, name)


def some_graphs(folder, names=("troubled", "star inwards", "repeated", "no edges", "one vertex", "one loop", "random")):
    return [GRAPHS[name](folder / f"of {name}.zarr") for name in names]


def each_network(folder, graphs):
    for store in graphs:
        for network in networks(store, folder / "derived"):
            yield store, network
            network.close()


# The classes of the page


def test_distances_are_those_of_the_search(tmp_path, page):
    for store, network in each_network(tmp_path, [*some_graphs(tmp_path), GRAPHS["wide"](tmp_path / "w.zarr")]):
        for source in {0, store.vertices - 1}:
            own = found(page("Distance")(source=source), network)
            assert np.where(own == nothing("min", False), -1, own).tolist() == (
                network.compute("bfs", source=source).tolist()
            )


def test_halves_of_a_value_are_distances_and_predecessors(tmp_path, page):
    for store, network in each_network(tmp_path, some_graphs(tmp_path)):
        for source in {0, store.vertices - 1}:
            own = found(page("Predecessor")(source=source), network)
            reached, distance = own != nothing("min", False), network.compute("bfs", source=source)
            tree = network.compute("predecessors", source=source, distance=distance)
            assert np.where(reached, own >> 32, -1).tolist() == distance.tolist()
            assert np.where(reached, own % 2**32, -1).tolist() == tree.tolist()


def test_a_large_search_pulls_pushes_and_queues_alike(tmp_path, page, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=4000, edges=60_000, weighted=False)
    expected = HostNetwork(store).compute("bfs", source=3999)
    for few, share in ((0, 15), (0, 0), (1 << 17, 15), (500, 15)):
        monkeypatch.setattr("csaw.engine.analytics.cpu.rounds.FEW", few)
        monkeypatch.setattr("csaw.engine.analytics.cpu.rounds.PULL_SHARE", share or 1)
        for threads in (1, 3):
            own = found(page("Distance")(source=3999), HostNetwork(store, threads=threads))
            assert np.array_equal(np.where(own == nothing("min", False), -1, own), expected)


IDS = "10 20\n20 30\n30 40\n40 13\n13 2\n2 1\n2 2\n"  # of which 2 is a number of another vertex, too


@pytest.mark.parametrize("over", ["edges", "reversed", "undirected"])
@pytest.mark.parametrize("words", [False, True])
def test_a_vertex_option_is_an_id_of_the_graph_whatever_edges_values_go_along(over, words, tmp_path, page):
    class Away(page("Distance")):
        pass

    Away.over = over
    text = re.sub(r"(\d+)", r"v\1", IDS) if words else IDS
    (tmp_path / "edges.txt").write_text(text)
    given = csaw.graph(tmp_path / "edges.txt", directed=True)
    away = {"edges": {2: 0, 1: 1}, "reversed": {2: 0, 13: 1, 40: 2, 30: 3, 20: 4, 10: 5}}
    away["undirected"] = away["edges"] | away["reversed"]
    values = Away(source="v2" if words else 2).findings(HostNetwork(given))["Away"].values
    known = {
        str(one).removeprefix("v"): value
        for one, value in zip(given.original_ids(np.arange(values.size)), values, strict=True)
    }
    assert {int(one): value for one, value in known.items() if value < 100} == away[over]


def test_labels_are_those_of_components(tmp_path, page):
    for _, network in each_network(tmp_path, [*some_graphs(tmp_path), GRAPHS["random directed"](tmp_path / "d.zarr")]):
        assert found(page("Label")(), network).tolist() == network.compute("components").tolist()


@pytest.mark.parametrize("directed", [True, False])
def test_sums_of_weights_are_those_of_delta_stepping(tmp_path, page, directed):
    for _, network in each_network(tmp_path, stores(tmp_path, directed=directed, weighted=True)):
        own = found(page("WeightFrom")(source=0), network)
        assert own.tolist() == network.compute("sssp", source=0).tolist()


@pytest.mark.parametrize("name", ["Rank", "RankInUnits"])
def test_ranks_are_those_of_pagerank(tmp_path, page, name):
    graphs = [*some_graphs(tmp_path), GRAPHS["random directed"](tmp_path / "d.zarr")]
    for _, network in each_network(tmp_path, graphs):
        ranks, own = network.compute("pagerank", **RANKS), found(page(name)(), network)
        if name == "RankInUnits":
            assert own.tolist() == ranks.units.tolist()
        else:
            # Floats that are rounded in each round may end a round apart, which changes ranks by the tolerance.
            assert np.abs(own - ranks.units / UNITS).sum() <= 2e-6 + ranks.error


def test_a_core_is_that_of_the_core_numbers(tmp_path, page):
    for _, network in each_network(tmp_path, [*some_graphs(tmp_path), GRAPHS["clique"](tmp_path / "c.zarr")]):
        cores = network.undirected.compute("core")
        for k in (0, 3, 7):
            assert found(page("KCore")(k=k), network).tolist() == (cores >= k).astype(int).tolist()


def test_the_page_is_tested_whole(page):
    text, tested = text_of_the_page(), Path(__file__).read_text()
    assert all(name in tested for name in re.findall(r"^class (\w+)", text, re.MULTILINE))


# Any class, by the definition


def test_hooks_are_written_once_in_a_process():
    made = [compiled(one, (1.0,), weighted=False) for one in (Reached(), Reached(), Same())]
    assert made[0].kernels is made[1].kernels
    assert made[0].kernels is not made[2].kernels
    assert compiled(Reached(), (1.0,), weighted=True).kernels is not made[0].kernels


@pytest.mark.parametrize("kind", [Farthest, Reached, Beaten, Same, Below, Signed, Counted])
def test_a_class_finds_what_its_hooks_say(tmp_path, kind):
    one = kind(source=1) if kind is Farthest else kind()
    graphs = [
        random_store(tmp_path / "d.zarr", vertices=120, edges=700, directed=True),
        random_store(tmp_path / "u.zarr", vertices=120, edges=300, seed=3),
        GRAPHS["repeated"](tmp_path / "r.zarr"),
        GRAPHS["one loop"](tmp_path / "l.zarr"),
    ]
    for store, network in each_network(tmp_path, graphs):
        both = 18 * store.edges  # bytes of ids and weights in both directions, and to check them
        if kind in (Farthest, Beaten) and store.directed and network.budget < both:
            with pytest.raises(BudgetError, match="reads e.weight and has a hook vertex"):
                one.findings(network)
            continue
        values, number = by_definition(one, store, source=min(1, store.vertices - 1))
        if kind is Farthest and store.vertices == 1:
            one, (values, number) = kind(source=0), by_definition(one, store)
        findings = one.findings(network)
        own = findings[kind.__name__].values
        # Python adds floats in another order.
        assert np.allclose(own, values, rtol=1e-12) if kind is Beaten else own.tolist() == values
        assert findings[f"rounds of {kind.__name__}"].value in (number, number - 1)  # the last one changes nothing


def test_floats_have_the_same_bits_by_any_threads(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=3000, edges=60_000)
    wanted = found(Beaten(), HostNetwork(store, threads=1))
    for threads in (2, 3, 7):
        assert found(Beaten(), HostNetwork(store, threads=threads)).tobytes() == wanted.tobytes()


class Summed(Measure):
    """What each row has in a sum, and what all vertices have."""

    combine = "sum"
    rounds = 1

    def start(self, v):
        return 1 / (3 + v.id)

    def total(self, v):
        return v.value * 1.1

    def edge(self, e):
        return e.value / (1 + e.dst)

    def vertex(self, v):
        return v.combined if v.id else v.total


def in_lanes(numbers):
    """The sum of 32 lanes, in each of which numbers are added in their order, and which are then added in halves."""
    lanes = [0.0] * 32
    for number, one in enumerate(numbers):
        lanes[number % 32] += one
    while len(lanes) > 1:
        lanes = [one + other for one, other in zip(lanes, lanes[len(lanes) // 2 :], strict=False)]
    return lanes[0]


def in_pieces(numbers):
    sums = [in_lanes(numbers[k : k + 512]) for k in range(0, len(numbers), 512)]
    return in_lanes(sums) if len(sums) > 1 else sum(sums)


def test_floats_are_added_as_lanes_of_a_warp_add_them(tmp_path):
    counts, vertices = [0, 1, 2, 7, 31, 32, 33, 511, 512, 513, 1025, 16_384, 16_385, 17_000], 17_001
    edges = [(u, v, 1) for v, count in enumerate(counts) for u in range(1, count + 1)]
    network = HostNetwork(store_of(tmp_path / "g.zarr", edges, directed=True, vertices=vertices))
    own = found(Summed(), network)
    start = [1 / (3 + v) for v in range(vertices)]
    for v, count in enumerate(counts[1:], start=1):
        assert own[v] == in_pieces([start[u] / (1 + v) for u in range(1, count + 1)])
    whole = [one * 1.1 for one in start]
    assert own[0] == sum(in_pieces(whole[k : k + CHUNK]) for k in range(0, vertices, CHUNK))
