"""Biases that depend on the depth: factors that all edges of a step have in common are left out, and a few biases of
the edge are drawn from as many tables, by the law of the whole and with the same bytes wherever the graph is.
"""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.invariance import assert_same
from helpers.rates import pin_row_bytes

import csaw
from csaw.engine import prepare
from csaw.engine.algorithm import Walk, option
from csaw.engine.plan.choices import Method
from csaw.engine.runs.job import DRAWS

RUN = {"walk_length": 9, "num_walks": 40, "device": "cpu", "seed": 4}
BY_WEIGHT = [
    "e.weight * (1 + e.depth % 3)",
    "(2 + e.prev) * e.weight / e.src_degree",
    "e.weight * 2.0 ** -e.depth * (1 + e.instance % 2)",
    "e.weight * math.exp(-e.depth)",
    "(1 if e.source % 2 == 0 else 5) * e.weight / math.sqrt(1 + e.depth)",
]
"""Biases that are the weight, times what all edges of a step have in common."""
CASES = {
    "e.weight if e.depth % 2 == 0 else 1.0": (0, 1, 0, 1, 0, 1, 0, 1, 0),
    "e.weight if e.depth < 2 else e.dst_degree": (0, 0, 1, 1, 1, 1, 1, 1, 1),
    "0 if e.depth == 5 else e.weight * (1 + e.depth)": (0, 0, 0, 0, 0, 1, 0, 0, 0),
    "e.weight * ((e.depth + 2) // 2 % 3)": (0, 0, 0, 0, 1, 1, 0, 0, 0),
    "e.weight + e.depth % 4": (0, 1, 2, 3, 0, 1, 2, 3, 0),
    "e.weight * (e.dst % 2) if e.depth & 1 else e.weight / e.dst_degree": (0, 1, 0, 1, 0, 1, 0, 1, 0),
    "(e.weight if e.depth < 3 else 1.0) * (2 + e.source)": (0, 0, 0, 1, 1, 1, 1, 1, 1),
    "e.weight if e.depth < 4 or e.dst_degree > 9 else 2 * e.weight if e.depth < 8 else 1": (0,) * 4 + (1,) * 4 + (2,),
    "e.weight * 3 if e.depth > 2 else e.weight": (0,) * 9,
    "math.sqrt(e.weight) if e.depth > 2 else e.weight ** 1.5": (0, 0, 0, 1, 1, 1, 1, 1, 1),
}
"""Biases, with the case of each depth."""
OTHERS = [
    "e.weight + e.depth",  # as many cases as steps
    "e.weight if e.depth < 3 else e.weight * (e.dst % (1 + e.source))",  # knows the walk
    "e.weight if e.depth < 3 else e.dst_degree - 3.5",  # may be below 0
    "e.weight if e.depth < 3 else (e.dst_degree - 3.5) ** 2",  # may be too small
    "1.0 if e.depth < 3 else e.dst_degree ** 200",  # too large
    "1.0 if e.depth < 3 else 1 / e.weight",  # which may be 0
    "1.0 if e.depth < 3 else e.is_neighbor(e.source, e.dst)",
    "1.0 if e.depth < 3 else 1.0 * (e.dst != e.path(0))",
]
"""Biases that are drawn from whole rows."""


class Early(Walk):
    """By weight first, then by degrees, in statements."""

    early: int = option(3, help="steps by weight", low=0)

    def edge_bias(self, e):
        """With a variable, and two ways out."""
        late = e.depth >= self.early
        times = 2.0 + e.depth
        if not late:
            return e.weight * times
        if e.dst_degree > 8:
            return times / e.dst_degree
        return times


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by_depth")
    return {n: random_store(folder / f"g{n}.zarr", vertices=50, edges=300, partitions=n) for n in (1, 4)}


def plan_of(store, text, **options):
    return prepare(store, "deepwalk", edge_bias=text, **(RUN | options)).plan


@pytest.mark.parametrize("text", BY_WEIGHT)
def test_a_factor_that_all_edges_have_in_common_changes_no_byte(stores, text):
    by_weight = csaw.sample(stores[1], algo="deepwalk", **RUN)
    samples = csaw.sample(stores[1], algo="deepwalk", edge_bias=text, **RUN)
    assert samples.manifest["request"]["select"] == Method.ALIAS
    assert samples.manifest["draws"] == DRAWS == 3
    assert np.array_equal(samples.walks[:], by_weight.walks[:])
    may_be_0 = "**" in text or "exp" in text  # as 2 ** -5000 is
    assert (plan_of(stores[1], text, walk_length=5000).select is Method.ALIAS) != may_be_0


@pytest.mark.parametrize("text", ["1.0 * (1 + e.depth)", "2 if e.prev < 0 else 3", "max(0.1, 1 / (1 + e.depth))"])
def test_a_bias_that_all_edges_share_is_uniform(stores, text):
    uniform = csaw.sample(stores[1], algo="deepwalk", weighted=False, **RUN)
    samples = csaw.sample(stores[1], algo="deepwalk", edge_bias=text, **RUN)
    assert samples.manifest["request"]["select"] == Method.UNIFORM
    assert np.array_equal(samples.walks[:], uniform.walks[:])


def test_a_common_factor_widens_no_bounds(stores):
    near = "(2 if e.is_neighbor(e.prev, e.dst) else 1)"
    assert plan_of(stores[1], f"{near} * (1 + e.depth % 9)").bias == plan_of(stores[1], near).bias
    given = {"weighted": False, "select": "rejection"}
    assert plan_of(stores[1], f"{near} * (1 + e.depth % 9)", **given).bias == plan_of(stores[1], near, **given).bias


def test_a_factor_that_may_be_0_ends_walks(stores):
    """And one that may be too small or too large for a product with it is left where it is."""
    walks = csaw.sample(stores[1], algo="deepwalk", edge_bias="e.weight * (e.source % 2)", **RUN).walks[:]
    assert np.array_equal(walks[:, 1] < 0, walks[:, 0] % 2 == 0)
    for text in (
        "e.weight * (e.prev + 1)",
        "e.weight * 1e-280 * (1 + e.source)",
        "1e280 * (1 + e.prev % 2) * e.weight",
    ):
        assert plan_of(stores[1], text).select is not Method.ALIAS


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("text", CASES)
def test_steps_follow_the_law_of_their_depth(tmp_path, stores, text, weighted):
    plan = plan_of(stores[1], text, weighted=weighted)
    tables = len(set(CASES[text]))
    if weighted:
        assert (plan.select, plan.needs.cases) == (Method.ALIAS, CASES[text])
        assert plan.bias == (f"from {tables} tables, by depth" if tables > 1 else None)
    csaw.sample(stores[1], tmp_path / "s.zarr", "deepwalk", edge_bias=text, weighted=weighted, **RUN)
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, [check for check in report.checks if not check.ok]
    assert any(check.tested and check.p_value is not None for check in report.checks)


@pytest.mark.parametrize("text", list(CASES)[:6])
def test_all_steps_of_a_small_graph_have_the_chances_of_the_formula(text):
    """Every depth, vertex and neighbor, by enumeration."""
    edges = [(0, 1, 1.0), (0, 2, 4.0), (1, 2, 2.0), (2, 3, 0.5), (1, 3, 3.0), (3, 0, 8.0)]
    graph = csaw.graph(edges, directed=False)
    walks = csaw.sample(graph, algo="deepwalk", edge_bias=text, **RUN | {"num_walks": 20_000}).walks[:]
    beside = {v: {} for v in range(4)}
    for a, b, weight in edges:
        beside[a][b] = beside[b][a] = weight
    code = compile(text, "bias", "eval")
    for depth in range(9):
        for v in range(4):
            found = dict.fromkeys(beside[v], 0.0)
            for u, weight in beside[v].items():
                e = SimpleNamespace(weight=weight, dst=u, dst_degree=len(beside[u]), depth=depth, source=0, prev=-1)
                found[u] = float(eval(code, {"e": e}))
            then = walks[walks[:, depth] == v, depth + 1]
            total = sum(found.values())
            assert (total > 0) or (then < 0).all()
            for u, bias in found.items() if total > 0 else ():
                mean = then.size * bias / total
                assert abs((then == u).sum() - mean) <= 5 * math.sqrt(mean) + (bias > 0), (depth, v, u)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_proven_is_drawn_from_whole_rows(stores, text):
    assert plan_of(stores[1], text).select is Method.ITS


def test_walks_that_know_no_depth_beforehand_have_no_tables(stores):
    text = next(iter(CASES))
    assert plan_of(stores[1], text, walk_length=1024).select is Method.ALIAS
    assert plan_of(stores[1], text, walk_length=1025).select is Method.ITS
    endless = prepare(stores[1], "ppr", edge_bias=text, device="cpu", walk_length=None)
    assert endless.plan.select is Method.ITS
    assert prepare(stores[1], "ppr", edge_bias=text, device="cpu", walk_length=20).plan.select is Method.ALIAS


def test_a_longer_walk_begins_with_the_same_steps(stores):
    text = "e.weight if e.depth < 5 else e.dst_degree"
    long = csaw.sample(stores[1], algo="deepwalk", edge_bias=text, **RUN).walks[:]
    short = csaw.sample(stores[1], algo="deepwalk", edge_bias=text, **RUN | {"walk_length": 4}).walks[:]
    assert np.array_equal(long[:, :5], short)


@pytest.mark.parametrize("early", [0, 3, 100])
def test_a_class_with_statements_has_a_table_for_each_depth(tmp_path, stores, early):
    plan = prepare(stores[1], Early, early=early, **RUN).plan
    assert plan.select is Method.ALIAS
    assert plan.needs.edge.tables == (2 if early == 3 else 1)
    csaw.sample(stores[1], tmp_path / "s.zarr", Early, early=early, **RUN)
    assert csaw.verify(tmp_path / "s.zarr", algo=Early).ok


PLACES = [{"threads": 1}, {"residency": "disk"}, {"residency": "disk", "memory": "2MB"}, {"in_flight": 13}]


@pytest.mark.parametrize("options", PLACES)
@pytest.mark.parametrize("text", [BY_WEIGHT[0], *list(CASES)[:6]])
def test_bytes_do_not_depend_on_where_the_graph_is(stores, text, options):
    wanted = csaw.sample(stores[1], algo="deepwalk", edge_bias=text, residency="resident", **RUN).walks[:]
    found = csaw.sample(stores[4], algo="deepwalk", edge_bias=text, **RUN | options).walks[:]
    assert_same({"walks": wanted}, {"walks": found})


def test_rows_that_are_read_one_by_one_have_all_tables(stores, monkeypatch):
    """A walk of few instances on a streamed graph reads single rows."""
    pin_row_bytes(monkeypatch, 1e-9)
    text = next(iter(CASES))
    wanted = csaw.sample(stores[1], algo="deepwalk", edge_bias=text, **RUN | {"num_walks": 1}).walks[:]
    given = RUN | {"num_walks": 1, "residency": "disk", "in_flight": 1}
    assert np.array_equal(wanted, csaw.sample(stores[4], algo="deepwalk", edge_bias=text, **given).walks[:])


def test_virtual_and_resumed_samples_have_the_bytes(tmp_path, stores, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in (next(iter(CASES)), BY_WEIGHT[0]):
        given = {"edge_bias": text, "overwrite": True, **RUN}
        whole = csaw.sample(stores[4], "s.zarr", "deepwalk", **given).walks[:]
        csaw.sample(stores[4], "v.zarr", "deepwalk", virtual=True, **given)
        assert np.array_equal(csaw.open_samples("v.zarr").walks[:], whole)


@pytest.mark.parametrize("cases", [(0,) * 9, (0, 1) * 4 + (0,)])
def test_verify_sees_steps_from_the_table_of_another_depth(tmp_path, stores, monkeypatch, cases):
    text = "e.weight ** 2 if e.depth < 2 else (1 + e.dst % 7) ** 2"
    assert plan_of(stores[1], text).needs.cases == (0, 0) + (1,) * 7
    monkeypatch.setattr("csaw.engine.runs.by_depth.depth_cases", lambda *_: cases)
    csaw.sample(stores[1], tmp_path / "s.zarr", "deepwalk", edge_bias=text, **RUN)
    assert not csaw.verify(tmp_path / "s.zarr").ok


class Near(Walk):
    """Asks for edges of a graph that has tables in place of rows."""

    def edge_bias(self, e):
        return e.weight if e.depth % 2 else e.dst_degree

    def update(self, e):
        return e.dst if e.is_neighbor(e.source, e.dst) else e.source


def test_a_hook_finds_edges_among_several_tables(tmp_path, stores):
    samples = csaw.sample(stores[4], tmp_path / "s.zarr", Near, **RUN)
    assert samples.manifest["request"]["select"] == Method.ALIAS
    assert csaw.verify(tmp_path / "s.zarr", algo=Near).ok


def test_memory_is_planned_for_every_table(stores):
    one, two = (plan_of(stores[1], text) for text in ("e.weight", next(iter(CASES))))
    assert two.needs.edge.alias == 2 * one.needs.edge.alias
    assert two.graph_bytes - one.graph_bytes == stores[1].edges * one.needs.edge.alias


def of_edge(draw):
    return draw.choice(
        [
            "e.weight",
            "e.dst_degree",
            "1.0",
            "(1 + e.dst % 4)",
            "e.weight * (e.dst % 2)",
            "(e.weight + 1) / e.src_degree",
        ]
        + ["max(e.dst_degree, 3)", "(2 if e.dst_degree > e.src_degree else 1)", "0", "e.dst_degree ** 0.3 * e.weight"]
    )


def of_step(draw):
    depth = draw.choice(["e.depth < 3", "e.depth % 2 == 0", "e.depth in_range", "not e.depth % 3", "e.depth // 3 > 1"])
    return depth.replace("e.depth in_range", "2 <= e.depth < 6")


@pytest.mark.parametrize("seed", range(16))
def test_random_conditions_of_the_depth_have_their_law(tmp_path, stores, seed):
    draw = random.Random(seed)
    common = draw.choice(["", "", " * (1 + e.depth)", " / (2 + e.prev)", " * 2.0 ** -e.depth"])
    text = f"({of_edge(draw)} if {of_step(draw)} else {of_edge(draw)}){common}"
    if draw.random() < 0.4:
        text = f"{text} if {of_step(draw)} else {of_edge(draw)}"
    given = RUN | {"edge_bias": text, "weighted": draw.random() < 0.8}
    csaw.sample(stores[4], tmp_path / "s.zarr", "deepwalk", **given)
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, (text, [check for check in report.checks if not check.ok])
    again = csaw.sample(stores[1], algo="deepwalk", residency="disk", **given).walks[:]
    assert np.array_equal(again, csaw.open_samples(tmp_path / "s.zarr").walks[:])
    assert plan_of(stores[4], text, weighted=given["weighted"]).select is not Method.ITS, text
