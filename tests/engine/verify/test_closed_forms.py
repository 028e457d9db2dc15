"""Claims of the closed forms of laws: they are the slow law, on every kind of row."""

import numpy as np
import pytest
from helpers import graphs

from csaw.engine.algorithm import Walk
from csaw.engine.api import registry
from csaw.engine.api.law import GraphView, edge_law, next_law
from csaw.engine.verify.forms import RowLaws, row_form
from csaw.engine.verify.statistics import Laws

KNOWN = {
    "deepwalk": ("deepwalk", {}, None),
    "node2vec": ("node2vec", {"p": 0.25, "q": 4.0}, None),
    "node2vec, far": ("node2vec", {"p": 1000.0, "q": 0.001}, None),
    "biased by degree": ("biased", {"bias": "degree"}, None),
    "biased by nothing": ("biased", {"bias": "none"}, None),
    "of the weight": ("deepwalk", {}, "e.weight ** 2 + 1"),
    "metropolis-hastings": ("metropolis-hastings", {}, None),
    "ppr": ("ppr", {"termination_prob": 0.3}, None),
    "restart": ("restart", {"restart_prob": 0.3}, None),
    "always restart": ("restart", {"restart_prob": 1.0}, None),
    "never restart": ("restart", {"restart_prob": 0.0}, None),
    "jump": ("jump", {"jump_prob": 0.3}, None),
    "neighbor": ("neighbor", {"replace": True}, None),
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    where = tmp_path_factory.mktemp("graphs")
    return (
        graphs.store_of(where / "troubled", graphs.TROUBLED, directed=True, vertices=7),
        graphs.random_store(where / "random", vertices=25, edges=90),
    )


def tables_and_laws(store, known, weighted):
    """Every situation's law, from tables and from the slow law."""
    name, options, expression = known
    algorithm, view = registry.build(name, options, expression), GraphView(store.load(), weighted)

    def slow(v, prev, source):
        if isinstance(algorithm, Walk):
            return next_law(view, algorithm, v, prev, source)
        return edge_law(view, algorithm, v) or {-1: 1.0}

    form = row_form(view, algorithm, 10**6)
    assert form is not None
    rows = np.array([(v, prev, s) for v in range(view.vertices) for prev in range(-1, view.vertices) for s in (0, v)])
    laws = RowLaws(slow, lambda rows: np.ones(len(rows)), 10**6, view, form, ("v", "prev", "source"))
    quick = [as_laws(table) for table in laws.tables(rows)]
    return [law for table in quick for law in table], [slow(*row) for row in rows.tolist()]


def as_laws(table):
    ends = zip(table.start, table.start[1:], strict=False)
    return [dict(zip(table.outcome[a:b].tolist(), table.chance[a:b].tolist(), strict=True)) for a, b in ends]


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "unweighted"])
@pytest.mark.parametrize("case", KNOWN)
def test_a_closed_form_is_the_slow_law(stores, case, weighted):
    for store in stores:
        for quick, slow in zip(*tables_and_laws(store, KNOWN[case], weighted), strict=True):
            assert list(quick) == sorted(quick)
            possible = {outcome: chance for outcome, chance in slow.items() if chance > 1e-12}
            assert quick == pytest.approx(possible, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(
    "expression",
    [
        "e.weight * (1 + e.dst_degree)",
        "e.dst_degree if e.weight == 1 else 7",
        "e.weight / (1 + e.dst_degree)",
        "(e.dst_degree + e.weight) ** 2",
        "e.dst_degree - e.weight + 2",
    ],
)
def test_without_weights_a_bias_of_weights_and_degrees_has_a_closed_form(stores, expression):
    for store in stores:
        for quick, slow in zip(*tables_and_laws(store, ("deepwalk", {}, expression), False), strict=True):
            possible = {outcome: chance for outcome, chance in slow.items() if chance > 1e-12}
            assert quick == pytest.approx(possible, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("expression", ["e.dst", "e.weight * e.dst_degree", "e.depth + 1", "1e100 * e.weight"])
def test_what_has_no_closed_form_is_left_to_the_slow_law(stores, expression):
    view = GraphView(stores[1].load())
    assert row_form(view, registry.build("deepwalk", {}, expression), 10**6) is None


def test_a_class_that_changes_a_hook_or_the_law_has_no_closed_form(stores):
    jump = type(registry.build("jump", {}))

    class Other(jump):
        def law(self, selected, v):
            return selected

    view = GraphView(stores[1].load())
    assert row_form(view, registry.build("jump", {}), 10**6) is not None
    assert row_form(view, Other(), 10**6) is None


def test_tables_of_slow_laws_are_those_laws():
    known = {0: {3: 0.25, 1: 0.75}, 1: {-1: 1.0}, 2: {5: 0.0, 2: 0.5, 9: 0.5}}
    laws = Laws(known.__getitem__, lambda rows: np.ones(len(rows)), 100)
    (table,) = laws.tables(np.array([[2], [0], [1]]))
    assert as_laws(table) == [{2: 0.5, 9: 0.5}, {1: 0.75, 3: 0.25}, {-1: 1.0}]
    assert laws.left == 97
