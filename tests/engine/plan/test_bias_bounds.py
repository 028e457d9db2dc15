"""Bounds that are read from the text of a bias hold for every edge, and decide that walks are drawn by rejection."""

import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import random_store

import csaw
from csaw.engine import prepare
from csaw.engine.algorithm import Walk, option
from csaw.engine.api import registry
from csaw.engine.api.law import GraphView, edge_biases
from csaw.engine.plan.bias_bounds import Bounds, asks_on_return, derived_bounds
from csaw.engine.plan.choices import Method
from csaw.engine.plan.selection import may_be_hopeless
from csaw.partition.errors import BiasError

ROOT = Path(__file__).parents[3]
RETURN = "e.dst == e.prev"
NEAR = "e.is_neighbor(e.prev, e.dst)"
FOUND = {
    f"0.25 if {RETURN} else 1.0": Bounds(1.0, 1.0, 0.25, 0.25),
    f"e.weight * (8 if {RETURN} else 2 if {NEAR} else 1)": Bounds(1.0, 2.0, 8.0, 1.0),
    f"e.weight * (2 if e.dst_degree > e.src_degree else 1) * (0.5 if {RETURN} else 1)": Bounds(1.0, 2.0, 2.0, 0.5),
    f"(1 + e.depth % 3) / 4 if e.prev < 0 or {NEAR} else 1": Bounds(0.25, 1.0, 1.0, 0.25),
    f"0 if {RETURN} else 1": Bounds(1.0, 1.0, 0.0, 0.0),
    f"1 if not {NEAR} and e.prev >= 0 else 3": Bounds(1.0, 3.0, 3.0, 1.0),
    f"min(3, max(e.dst_degree, 2)) + abs(-1.5) * ({NEAR})": Bounds(2.0, 4.5, 4.5, 2.0),
    "1 if e.dst != e.prev else e.dst % 2": Bounds(1.0, 1.0, 1.0, 0.0),
    f"4 - (3 if {NEAR} else 1.5) % 2": Bounds(2.0, 4.0, 4.0, 2.0),  # of integers and floats
    "7 - (e.depth % 3 + 1) % 3": Bounds(5.0, 7.0, 7.0, 5.0),
    "e.depth > 3 and 5 or 1": Bounds(0.0, 5.0, 5.0, 0.0),  # of numbers, as Python has them
    "math.pi if e.depth > 5 else 1": Bounds(1.0, math.pi, math.pi, 1.0),
    "math.sqrt(2) if e.depth > 5 else 1": Bounds(1.0, math.sqrt(2), math.sqrt(2), 1.0),
}
"""Biases, whose weight is 1, with what is proven of them."""
NOT = [
    "e.dst % 7 - 3",
    "1 if e.prev < 0 else math.nan",
    "e.dst_degree ** -0.5",
    "1 / (e.dst_degree - 1)",
    "e.depth",
    "math.log(e.dst_degree)",
    "204 - ~((e.dst % 3) * 100)",
    "1 if (e.dst % 3 - 1) * (1e308 * 10) <= 1e308 * 10 else 50",
]
"""Biases of which too little is proven to draw by rejection."""


class Own(Walk):
    """node2vec, as a user may write it."""

    p: float = option(1.0, help="of returning")
    q: float = option(1.0, help="of moving away")

    def edge_bias(self, e):
        times = 1 / self.p if e.dst == e.prev else 1.0
        if e.dst != e.prev and e.prev >= 0 and not e.is_neighbor(e.prev, e.dst):
            times /= self.q
        return e.weight * times


SOFTNESS = 0.5


def softened(x, y):
    return math.sqrt(x) if x > y else x + SOFTNESS


class Helped(Walk):
    """A bias by a function and a number of its module."""

    strength: float = option(4.0, help="of triangles")

    def edge_bias(self, e):
        near = self.strength if e.is_neighbor(e.prev, e.dst) else 1.0
        return softened(near, 2.0)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("bounds") / "g.zarr", vertices=40, edges=160)


@pytest.mark.parametrize("text", FOUND)
def test_bounds_are_read_from_the_text(text):
    assert derived_bounds(registry.build("deepwalk", {}, text)) == FOUND[text]


@pytest.mark.parametrize("text", NOT)
def test_nothing_is_assumed_that_is_not_proven(text, store):
    found = derived_bounds(registry.build("deepwalk", {}, text))
    assert found is None or not found.are_near


def test_functions_and_numbers_of_the_module_are_read():
    assert derived_bounds(Helped()) == Bounds(1.0, 4.5, 4.5, 1.0)  # roots from 1 to 2, and others up to 4 + SOFTNESS


class Large(Walk):
    """An integer that is no float."""

    n: int = option(2**53 + 1, help="beyond what a float holds")

    def edge_bias(self, e):
        return 1 + (self.n - 9007199254740992) * (e.depth % 2)


class Compared(Walk):
    n: int = option(2**53 + 1, help="beyond what a float holds")

    def edge_bias(self, e):
        return 1 if self.n > 9007199254740992.0 else 1 + 9 * (e.depth % 2)


def test_integers_beside_floats_are_compared_as_kernels_do():
    assert derived_bounds(Compared()) == Bounds(1.0, 10.0, 10.0, 1.0)


def test_options_that_are_integers_are_exact():
    assert derived_bounds(Large()) == Bounds(1.0, 2.0, 2.0, 1.0)


def number(draw, deep):
    """A random expression of a number."""
    if deep == 0 or draw.random() < 0.2:
        return draw.choice(
            ["e.src_degree", "e.dst_degree", "e.depth", "e.vertices", "e.dst", "e.prev", "2", "0.5", "7"]
        )
    a, b = number(draw, deep - 1), number(draw, deep - 1)
    forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"min({a}, {b})", f"max({a}, 1)"]
    forms += [f"math.sqrt(abs({a}))", f"({a} % 5)", f"(abs({a}) + 1) ** 0.5", f"math.exp(min({a}, 1))", f"-{a}"]
    forms += [f"({truth(draw, deep - 1)} and {a})", f"({a} or {b})", f"(max({a}, {b}) % 3)", f"({a} % 1.5)"]
    forms += [f"(int(abs({a})) % 3)", f"({a} // 2)", f"+{a}", "~(e.dst % 3)"]
    return draw.choice([*forms, *[f"({a} if {truth(draw, deep - 1)} else {b})"] * 4])


def truth(draw, deep):
    """A random expression of a truth."""
    if deep <= 0 or draw.random() < 0.4:
        return draw.choice(
            [RETURN, "e.dst != e.prev", NEAR, "e.prev < 0", "e.depth > 1", "e.src_degree < e.dst_degree"]
        )
    a, b = truth(draw, deep - 1), truth(draw, deep - 1)
    low, high = number(draw, deep - 1), number(draw, deep - 1)
    return draw.choice([f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({low} < {high})", f"(0 <= {low} < {high})"])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow("four more thousand texts"))])
def test_no_edge_is_outside_of_its_bounds(store, seed):
    """Of random texts, which have everything that decides: what is proven is compared with all edges."""
    view, draw, proven = GraphView(store.load(), False), random.Random(seed), 0
    for _ in range(800 if seed == 1 else 4000):
        text = draw.choice(["{}", "1 + abs({})", "2 if {} > 1 else 3", "max(1, min({}, 9))"]).format(number(draw, 4))
        walk = registry.build("deepwalk", {}, text)
        bounds = derived_bounds(walk)
        if bounds is None:
            continue
        proven += 1
        for _ in range(8):
            v, depth = draw.randrange(view.vertices), draw.randrange(5)
            prev = draw.choice([-1, draw.randrange(view.vertices), *view.row(v)[0]])
            try:
                found = edge_biases(view, walk, v, prev, v, depth)
            except BiasError:
                pytest.fail(f"{text} has no number, though {bounds} is proven")
            for dst, bias in found:
                assert bias >= bounds.lowest, (text, bounds, v, prev, dst, bias)
                if dst != prev:
                    assert bounds.low <= bias <= bounds.high, (text, bounds, v, prev, dst, bias)
                elif bounds.back > bounds.high:
                    assert bias == bounds.back, (text, bounds, v, prev, dst, bias)
                else:
                    assert bias <= bounds.high, (text, bounds, v, prev, dst, bias)
    assert proven > (300 if seed == 1 else 1500)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("p", "q"), [(0.5, 2.0), (4.0, 0.25), (1.0, 100.0)])
def test_an_own_node2vec_draws_the_walks_of_the_built_in_one(store, p, q, weighted):
    options = {"p": p, "q": q, "walk_length": 12, "num_walks": 3, "weighted": weighted, "device": "cpu", "threads": 1}
    own, built_in = csaw.sample(store, algo=Own, **options), csaw.sample(store, algo="node2vec", **options)
    assert own.manifest["request"]["select"] == Method.REJECTION
    assert np.array_equal(own.walks[:], built_in.walks[:])
    assert not may_be_hopeless(Own(p=p, q=q), Method.REJECTION)


ROW = re.compile(r"^\| `(.+)` \| (.+) \|$", re.MULTILINE)


def test_the_page_about_fast_biases_says_what_a_dry_run_says(store):
    page = (ROOT / "docs" / "guides" / "fast-biases.md").read_text()
    of_walks, _, of_traversals = page.partition("## What csaw can prove")[2].partition("## Traversals")
    of_traversals = of_traversals.partition("| edge bias of `neighbor`")[2]
    assert len(ROW.findall(of_walks)) == 14
    assert len(ROW.findall(of_traversals)) == 5
    for algo, table in (("deepwalk", of_walks), ("neighbor", of_traversals)):
        for text, found in ROW.findall(table):
            plan = prepare(store, algo, edge_bias=text, device="cpu").plan
            otherwise = "any neighbor" if plan.select is Method.UNIFORM else "from a table"
            assert (plan.bias or otherwise) == found, text


@pytest.mark.parametrize(
    ("text", "residency"),
    [
        (f"2 if {NEAR} else 1", "resident"),
        (f"2 if {NEAR} else 1", "disk"),
        ("5 if e.is_neighbor(e.source, e.dst) else 1", "resident"),
    ],
)
def test_an_edge_of_a_vertex_to_itself_is_known_on_the_way_back(tmp_path, text, residency):
    """Where half of the vertices have one, the way back to them has another bias."""
    edges = [(a, b) for a in range(8) for b in range(8) if (a + b) % 3 or (a == b and a % 2)]
    store = csaw.partition(edges, tmp_path / "g.zarr", directed=False, partitions=3)
    walk = registry.build("deepwalk", {}, text)
    assert asks_on_return(walk)
    assert not asks_on_return(registry.build("node2vec", {}))
    options = {"edge_bias": text, "walk_length": 30, "num_walks": 200, "device": "cpu", "residency": residency}
    samples = csaw.sample(store, tmp_path / "s.zarr", "deepwalk", **options)
    assert samples.manifest["request"]["select"] == Method.REJECTION
    assert csaw.verify(tmp_path / "s.zarr").ok


def test_a_way_back_that_may_have_no_bias_ends_a_walk_at_a_leaf(tmp_path):
    """Where no proposal would ever be accepted, the row is drawn from as a whole."""
    edges = [(0, leaf) for leaf in range(1, 9)]
    store = csaw.partition(edges, tmp_path / "g.zarr", directed=False)
    text = "1 if e.dst != e.prev else e.dst % 2"
    csaw.sample(store, tmp_path / "s.zarr", "deepwalk", edge_bias=text, walk_length=4, num_walks=50, device="cpu")
    assert csaw.verify(tmp_path / "s.zarr").ok


@pytest.mark.parametrize("text", [text for text, bounds in FOUND.items() if bounds.are_near])
def test_the_law_of_a_bias_with_bounds_is_its_own(store, tmp_path, text):
    out = tmp_path / "s.zarr"
    options = {"edge_bias": text, "walk_length": 20, "num_walks": 40, "weighted": "weight" in text}
    samples = csaw.sample(store, out, "deepwalk", device="cpu", **options)
    same_for_all = "e." not in text.replace("e.depth", "")  # of all edges of a step: any neighbor
    assert samples.manifest["request"]["select"] == (Method.UNIFORM if same_for_all else Method.REJECTION)
    report = csaw.verify(out)
    assert report.ok, report.checks
    assert any(check.tested and check.p_value is not None for check in report.checks)
