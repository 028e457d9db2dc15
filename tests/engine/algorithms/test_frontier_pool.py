"""Traversals whose ``vertex_bias`` selects the vertices of a pool that expand at a depth (C-SAW, figure 2)."""

from collections import Counter

import numpy as np
import pytest
from helpers.faults import plant
from helpers.frontier_pools import CLASSES, NAMES, chosen_edges, frontiers_law
from helpers.graphs import SQUARE, arrays_of, random_store, rows_of, store_of
from helpers.interrupted import interrupted_after
from helpers.invariance import assert_same
from helpers.laws import assert_frontier_walks_follow
from helpers.stats import assert_drawn_from

from csaw.engine import sample
from csaw.engine.runs import base_instances
from csaw.engine.stores.verify import verify
from csaw.engine.verify import entries
from csaw.partition.errors import CsawError

LAW = """
from csaw.engine.algorithm import Traversal, option


class All(Traversal):
    visited_once = False
    pool_size = 3
    frontier_size = 2
    frontier_replace: bool = option(False, help="draw with replacement")

    def vertex_bias(self, v):
        return v.id * v.id

    def sizes(self):
        return (-1, -1)


class One(All):
    pool_size: int = option(1, help="sources of an instance", low=1)

    def sizes(self):
        return (1,)


class Walkers(Traversal):
    visited_once = False
    pool_size = 3

    def sizes(self):
        return (1, 1)
"""
MANY = 20_000
REPLACE = pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("pool") / "g.zarr", vertices=300, edges=1200, partitions=5)


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    file = tmp_path_factory.mktemp("own") / "mine.py"
    file.write_text(CLASSES)
    return str(file)


@pytest.fixture(scope="module")
def law(tmp_path_factory):
    file = tmp_path_factory.mktemp("law") / "law.py"
    file.write_text(LAW)
    return str(file)


LIKE_OTHERS = pytest.mark.slow(reason="its law and its faults are tested by default, and its path through the engine")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[LIKE_OTHERS] if name in ("Picks", "Again", "Evenly") else []) for name in NAMES]
)
def test_samples_pass_their_checks_and_have_the_same_bytes(tmp_path, store, mine, name):
    algo, other = f"{mine}:{name}", random_store(tmp_path / "g.zarr", vertices=300, edges=1200, partitions=3)
    sample(store, tmp_path / "a.zarr", algo, seed=3, device="cpu", instances=60 if name == "Unending" else 400)
    report = verify(tmp_path / "a.zarr", algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]
    assert "frontiers, pooled" in [check.name for check in report.checks if check.tested]
    expected = arrays_of(store, tmp_path / "b.zarr", algo, seed=3)
    for graph, options in ((store, {"residency": "disk", "threads": 2}), (other, {"threads": 1})):
        assert_same(expected, arrays_of(graph, tmp_path / "c.zarr", algo, seed=3, in_flight=17, **options))


@REPLACE
def test_a_run_that_was_interrupted_goes_on_to_the_same_bytes(tmp_path, store, mine, replace, monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 2000)
    given = {"frontier_replace": replace, "frontier_size": 3, "instances": 40, "seed": 9, "device": "cpu"}
    whole = sample(store, tmp_path / "whole.zarr", f"{mine}:Chosen", **given)
    assert whole.group_size < 20
    with interrupted_after(1):
        sample(store, tmp_path / "s.zarr", f"{mine}:Chosen", **given)
    resumed = sample(store, tmp_path / "s.zarr", f"{mine}:Chosen", resume=True, **given)
    assert resumed.checksums == whole.checksums


@REPLACE
@pytest.mark.parametrize("once", [True, False])
def test_a_sample_is_what_a_slow_reference_selects(tmp_path, store, mine, once, replace):
    options = {"frontier_replace": replace, "once": once, "frontier_size": 3, "instances": 40, "seed": 9}
    drawn = arrays_of(store, tmp_path / "s.zarr", f"{mine}:Chosen", **options)
    rows = [[u for u, _ in row] for row in rows_of(store, True)]
    for i, sources in enumerate(drawn["sources"].reshape(-1, 3).tolist()):
        part = slice(*drawn["instance_ptr"][i : i + 2])
        edges = list(zip(*(drawn[name][part].tolist() for name in ("depth", "src", "dst")), strict=True))
        assert edges == chosen_edges(rows, sources, i, seed=9, size=3, replace=replace, once=once)


@REPLACE
def test_frontiers_have_the_law_of_single_draws(tmp_path, law, replace):
    """A vertex without a chance, 0, waits forever; its neighbors and those of others are there more than once."""
    store, start = store_of(tmp_path / "g.zarr", SQUARE, directed=False), [0, 3, 4]
    drawn = arrays_of(
        store, tmp_path / "s.zarr", f"{law}:All", frontier_replace=replace, sources=np.tile(start, MANY), seed=2
    )
    rows = [[u for u, _ in row] for row in rows_of(store, True)]
    instance = np.repeat(np.arange(MANY), np.diff(drawn["instance_ptr"]))
    edges = Counter(zip(instance.tolist(), drawn["depth"].tolist(), drawn["src"].tolist(), strict=True))
    found = [[[], []] for _ in range(MANY)]
    for (i, depth, v), times in edges.items():
        found[i][depth] += [v] * (times // len(rows[v]))
    seen = Counter(tuple(tuple(sorted(frontier)) for frontier in one) for one in found)
    exact = frontiers_law(rows, start, lambda v: v * v, 2, replace, 2)
    assert seen.keys() <= exact.keys()
    rare = [one for one, chance in exact.items() if chance * MANY < 6]
    counts = [seen[one] for one in exact if one not in rare] + [sum(seen[one] for one in rare)]
    chances = [exact[one] for one in exact if one not in rare] + [sum(exact[one] for one in rare)]
    assert_drawn_from(counts[: len(counts) - (not rare)], chances[: len(chances) - (not rare)])


def test_a_vertex_that_is_selected_twice_draws_neighbors_of_its_own_each_time(tmp_path, law):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    options = {"frontier_replace": True, "sources": np.full(MANY, 3), "seed": 4}
    drawn = arrays_of(store, tmp_path / "s.zarr", f"{law}:One", **options)
    weights = dict(rows_of(store, True)[3])
    pairs = Counter(map(tuple, drawn["dst"].reshape(MANY, 2).tolist()))
    chances = {(a, b): x * y for a, x in weights.items() for b, y in weights.items()}
    assert_drawn_from([pairs[pair] for pair in chances], list(chances.values()))


def test_a_pool_of_which_one_moves_is_multidimensional(tmp_path, law):
    """Without a vertex_bias of its own, by degree: walker after walker, as Ribeiro and Towsley have it."""
    store, start = store_of(tmp_path / "g.zarr", SQUARE, directed=False, weighted=False), [0, 3, 4]
    drawn = arrays_of(store, tmp_path / "s.zarr", f"{law}:Walkers", sources=np.tile(start, MANY))
    assert_frontier_walks_follow(drawn, rows_of(store, False), start)


def test_a_pool_that_is_selected_whole_is_a_frontier(tmp_path, store):
    """Vertices have the same slots, and so the same neighbors."""
    (tmp_path / "own.py").write_text(
        "from csaw.engine.algorithm import Traversal\n\n\nclass Plain(Traversal):\n    frontier_size = 3\n\n"
        "    def sizes(self):\n        return (3, 2, 2)\n\n\n"
        "class Pooled(Plain):\n    pool_size = 3\n    frontier_size = 10**9\n\n"
        "    def vertex_bias(self, v):\n        return 1.0 + v.id\n"
    )
    whole, pooled = (arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'own.py'}:{n}") for n in ("Plain", "Pooled"))
    assert_same(whole, pooled)


def test_an_instance_ends_with_the_chances_of_its_pool(tmp_path, law):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    drawn = arrays_of(store, tmp_path / "s.zarr", f"{law}:All", sources=[0, 0, 0, 0, 0, 3])
    assert np.unique(drawn["src"][: drawn["instance_ptr"][1]]).size == 0
    first = drawn["src"][drawn["depth"] == 0]
    assert set(first.tolist()) == {3}  # of two that may be selected, one has a chance


def test_no_address_is_used_twice(tmp_path, store, mine):
    """Seeds, and instances of the same sources, draw apart."""
    options = {"sources": [1, 2, 3, 4], "instances": 30}
    drawn = arrays_of(store, tmp_path / "a.zarr", f"{mine}:Picks", seed=1, **options)
    parts = [
        drawn["dst"][a:b].tobytes() for a, b in zip(drawn["instance_ptr"], drawn["instance_ptr"][1:], strict=False)
    ]
    assert len(set(parts)) == len(parts)
    other = arrays_of(store, tmp_path / "b.zarr", f"{mine}:Picks", seed=2, **options)
    assert drawn["dst"].tobytes() != other["dst"].tobytes()


def test_base_instances_of_a_target_pass_their_checks(tmp_path, store, mine, monkeypatch):
    """Their frontiers are selected again by the numbers that drew them, and so is what update draws."""
    monkeypatch.setattr(base_instances, "MOST", 64)
    sample(store, tmp_path / "s.zarr", f"{mine}:Again", seed=3, device="cpu", instances=3, target=60)
    report = verify(tmp_path / "s.zarr", algo=f"{mine}:Again")
    assert report.ok, [check for check in report.checks if not check.ok]
    assert "base depths" in [check.name for check in report.checks]


RACE, DRAW = "neg_log(word) / bias", "biases[e])\n        total"


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("Picks", RACE, "neg_log(word)"),
        ("Again", DRAW, "biases[e])\n        biases[low : low + count] = 1.0\n        total"),
    ],
)
def test_verify_finds_frontiers_that_ignore_the_bias(tmp_path, store, mine, monkeypatch, name, right, wrong):
    with monkeypatch.context() as during:
        plant(during, "traverse.py", right, wrong)
        sample(store, tmp_path / "s.zarr", f"{mine}:{name}", seed=3, device="cpu")
    report = verify(tmp_path / "s.zarr", algo=f"{mine}:{name}")
    assert "depths" in [check.name for check in report.checks if not check.ok]


@pytest.mark.parametrize("name", ["Picks", "Again"])
def test_verify_judges_the_law_of_what_is_selected(tmp_path, store, mine, monkeypatch, name):
    """Even if both sides ignored the bias, so that they agree on each frontier, the law would tell."""
    algo = f"{mine}:{name}"
    chosen = entries.FrontierPools._chosen

    def equally(self, instance, depth, pool, biases):
        return chosen(self, instance, depth, pool, [float(bias > 0.0) for bias in biases])

    with monkeypatch.context() as during:
        plant(
            during,
            "traverse.py",
            "is_bias(bias):\n        return bias",
            "True:\n        return 1.0 if bias > 0.0 else 0.0",
        )
        sample(store, tmp_path / "s.zarr", algo, seed=3, device="cpu", instances=400)
    monkeypatch.setattr(entries.FrontierPools, "_chosen", equally)
    failed = {check.name for check in verify(tmp_path / "s.zarr", algo=algo).checks if not check.ok}
    assert failed
    assert failed <= {
        "frontiers",
        "frontiers, pooled",
        "frontiers, by degree",
        "frontiers, uniform",
        "frontiers, independence",
    }


REFUSED = [
    ("frontier_size = 2", "return 1.0", "line 7 of own.py: mine.vertex_bias: only a Traversal with pool_size, from"),
    (
        "clocks = True; visited_once = False",
        "return 1.0",
        "line 7 of own.py: mine.walk_length: expected an integer with",
    ),
    (
        "frontier_replace = True; clocks = True",
        "return 1.0",
        "frontier_replace = True and clocks = True cannot be combined|walk_length",
    ),
    ("pool_size = 0", "return 1.0", "mine.pool_size: expected an integer from 1"),
    ("pool_size = 2; shares_draws = True", "return 1.0", "pool_size = 2 cannot be combined|pool_size = 2"),
    ("pool_size = 2; sources_from = 'every'", "return 1.0", "mine.sources_from: expected one of 'all'"),
    ("pool_size = 2; collective = True; frontier_replace = True", "return 1.0", "cannot be combined"),
    ("pool_size = 2", "return v.dst", "line 8 of own.py: mine.vertex_bias: no v.dst; a vertex is not an edge"),
    ("pool_size = 2", "return v.random()", "line 8 of own.py: mine.vertex_bias: a bias must be a function of"),
    ("pool_size = 2", "return -1.0", "the vertex bias of 0 is negative, NaN or infinite"),
    ("pool_size = 999; sources_from = 'distinct'", "return 1.0", "--pool-size: expected at most the graph's 300"),
]


@pytest.mark.parametrize(("rules", "bias", "said"), REFUSED, ids=range(len(REFUSED)))
def test_a_pool_that_cannot_be_is_refused(tmp_path, store, rules, bias, said):
    (tmp_path / "own.py").write_text(
        f"from csaw.engine.algorithm import Traversal\nclass Mine(Traversal):\n    {rules}\n\n"
        f"    def sizes(self):\n        return (2, 2)\n    def vertex_bias(self, v):\n        {bias}\n"
    )
    with pytest.raises(CsawError, match=said):
        arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'own.py'}:Mine")
