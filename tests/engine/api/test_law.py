"""Claims of the slow law: the papers' formulas by hand, and inclusion by summing over every order of picks."""

from itertools import permutations
from math import prod

import pytest
from helpers import graphs

from csaw.engine.api import registry
from csaw.engine.api.law import GraphView, edge_biases, edge_law, inclusion_law, next_law, of_largest
from csaw.partition.errors import BiasError, OptionError


@pytest.fixture
def troubled(tmp_path):
    return GraphView(graphs.store_of(tmp_path / "g", graphs.TROUBLED, directed=True, vertices=7).load())


def test_repeated_edges_count_together_and_zero_weights_never(troubled):
    law = edge_law(troubled, registry.build("deepwalk", {}), 2)
    assert law == pytest.approx({0: 3 / 9.5, 1: 1 / 9.5, 3: 5.5 / 9.5})
    assert 3 not in edge_law(troubled, registry.build("deepwalk", {}), 0)
    assert edge_law(troubled, registry.build("deepwalk", {}), 5) == {}


def test_an_unweighted_run_has_weight_one(tmp_path):
    view = GraphView(graphs.store_of(tmp_path / "g", graphs.TROUBLED, directed=True, vertices=7).load(), weighted=False)
    assert edge_law(view, registry.build("deepwalk", {}), 2) == pytest.approx({0: 1 / 4, 1: 1 / 4, 3: 2 / 4})


def test_node2vec_by_hand(troubled):
    walk = registry.build("node2vec", {"p": 4.0, "q": 0.5})
    biases = {1: 1.0 / 4.0, 0: 3.0, 3: 5.5 / 0.5}
    total = sum(biases.values())
    assert next_law(troubled, walk, 2, prev=1) == pytest.approx({v: b / total for v, b in biases.items()})


@pytest.mark.parametrize(
    ("name", "options", "v", "expected"),
    [
        ("jump", {"jump_prob": 0.7}, 4, dict.fromkeys(range(7), 1 / 7)),
        ("restart", {"restart_prob": 0.25}, 3, {2: 0.75 / 2.25, 4: 0.75 / 2.25, 5: 0.75 * 0.25 / 2.25, 1: 0.25}),
        ("restart", {"restart_prob": 0.25}, 4, {1: 1.0}),
        ("ppr", {"termination_prob": 0.2}, 1, {0: 0.8 / 7, 1: 0.8 * 2 / 7, 2: 0.8 * 4 / 7, -1: 0.2}),
        ("ppr", {"termination_prob": 0.2}, 4, {-1: 1.0}),
        ("metropolis-hastings", {}, 3, {2: 1 / 3 * 3 / 4, 4: 1 / 3, 5: 1 / 3, 3: 1 / 3 * 1 / 4}),
    ],
)
def test_laws_of_other_walks_by_hand(troubled, name, options, v, expected):
    assert next_law(troubled, registry.build(name, options), v, source=1) == pytest.approx(expected)


def test_a_bias_that_is_none_names_the_edge(troubled):
    walk = registry.build("deepwalk", {}, "e.weight - 3")
    with pytest.raises(BiasError, match="edge 1 -> 0"):
        edge_biases(troubled, walk, 1)


def test_a_bias_cannot_draw(troubled):
    walk = registry.build("deepwalk", {}, "e.random()")
    with pytest.raises(OptionError, match="edge_bias failed: RuntimeError: a bias must be a function of its edge"):
        edge_law(troubled, walk, 1)


def test_is_neighbor_and_degrees_are_those_of_the_graph(troubled):
    assert troubled.is_neighbor(2, 3)
    assert not troubled.is_neighbor(3, 0)
    assert not troubled.is_neighbor(-1, 0)
    assert [troubled.degree(v) for v in range(7)] == [3, 3, 4, 3, 0, 1, 0]


def by_all_orders(biases, picks):
    """Chance of each neighbor to be picked: every ordered way of picking, one after the other."""
    out = {}
    total = sum(bias for _, bias in biases)
    for order in permutations(range(len(biases)), picks):
        taken = [sum(biases[i][1] for i in order[:k]) for k in range(picks)]
        chance = prod(biases[i][1] / (total - before) for i, before in zip(order, taken, strict=True))
        for v in {biases[i][0] for i in order}:
            out[v] = out.get(v, 0.0) + chance
    return out


@pytest.mark.parametrize("picks", [1, 2, 3])
@pytest.mark.parametrize(
    "biases",
    [
        [(0, 3.0), (1, 6.0), (2, 2.0), (3, 2.0), (4, 2.0)],
        [(0, 1e-3), (1, 1000.0), (1, 5.0), (2, 1.0), (3, 1.0)],
        [(v, 1.0) for v in range(6)],
    ],
)
def test_inclusion_equals_the_sum_over_all_orders(biases, picks):
    assert inclusion_law(biases, picks) == pytest.approx(by_all_orders(biases, picks), abs=1e-12)


def test_inclusion_of_all_and_of_none():
    biases = [(0, 1.0), (1, 0.0), (2, 3.0), (3, 1.0)]
    assert inclusion_law(biases, 3) == {0: 1.0, 2: 1.0, 3: 1.0}
    assert inclusion_law(biases, 0) == {0: 0.0, 2: 0.0, 3: 0.0}


@pytest.mark.parametrize("light", [1e-155, 1e-280, 1e-300])
@pytest.mark.parametrize("heavy", [1e155, 1e280, 1e300])
def test_biases_further_apart_than_floats_hold_have_a_law(heavy, light):
    """The heavy one is always drawn first, and the others are equally likely."""
    biases = of_largest([(0, heavy), *((v, light) for v in range(1, 6))])
    assert inclusion_law(biases, 3) == pytest.approx({0: 1.0} | dict.fromkeys(range(1, 6), 2 / 5), abs=1e-9)


def test_biases_of_three_kinds_keep_their_order():
    biases = dict(of_largest([(0, 1e300), (1, 1.0), (2, 3.0), (3, 1e-300), (4, 0.0)]))
    assert biases[0] == 1.0
    assert biases[2] == pytest.approx(1e-20)
    assert biases[1] == pytest.approx(1e-20 / 3)
    assert 0 < biases[3] < 1e-39
    assert biases[4] == 0.0
    near = [(0, 1e300), (1, 1e200)]
    assert of_largest(near) == [(0, 1.0), (1, 1e200 / 1e300)]
