"""Traversals whose ``update`` says which vertex enters the frontier after an edge (C-SAW, figure 2)."""

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store
from helpers.invariance import assert_same
from helpers.updates import CLASSES, NAMES

from csaw.engine import sample
from csaw.engine.stores.verify import verify
from csaw.engine.verify import groups
from csaw.partition.errors import CsawError


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("update") / "g.zarr", vertices=300, edges=1200, partitions=5)


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    file = tmp_path_factory.mktemp("own") / "mine.py"
    file.write_text(CLASSES)
    return str(file)


def depths(arrays, i):
    """The edges (src, dst) of an instance at each depth."""
    bounds = arrays["instance_ptr"]
    rows = [arrays[name][bounds[i] : bounds[i + 1]] for name in ("src", "dst", "depth")]
    return [np.column_stack([rows[0], rows[1]])[rows[2] == depth] for depth in range(3)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("residency", ["resident", "disk"])
@pytest.mark.parametrize("name", NAMES)
def test_samples_pass_their_checks_and_have_the_same_bytes(tmp_path, store, mine, name, residency):
    algo = f"{mine}:{name}"
    expected = sample(store, tmp_path / "a.zarr", algo, seed=3, device="cpu")
    report = verify(expected.path, algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]
    other = arrays_of(store, tmp_path / "b.zarr", algo, seed=3, residency=residency, threads=2, in_flight=17)
    assert_same(arrays_of(store, tmp_path / "c.zarr", algo, seed=3), other)


def test_a_source_comes_back_as_often_as_the_class_says(tmp_path, store, mine):
    for chance in (0.0, 1.0):
        arrays = arrays_of(store, tmp_path / "s.zarr", f"{mine}:Restarts", chance=chance)
        for i, source in enumerate(arrays["sources"].tolist()):
            first, second, _ = depths(arrays, i)
            assert (first[:, 0] == source).all()
            expected = [source] if chance else np.unique(first[:, 1])
            assert set(second[:, 0]) <= set(expected)
    arrays = arrays_of(store, tmp_path / "s.zarr", f"{mine}:Restarts", seed=1, instances=20_000)
    source = np.repeat(arrays["sources"], np.diff(arrays["instance_ptr"]))
    at_one = arrays["depth"] == 1
    degree = np.diff(store.read_indptr())
    both = at_one & (degree[arrays["src"]] >= 2)
    back, picked = int((arrays["src"] == source)[both].sum()), int(both.sum())
    assert abs(back / picked - 0.3) < 0.02  # a vertex is no neighbor of itself


def test_vertices_that_update_leaves_out_do_not_go_on(tmp_path, store, mine):
    arrays = arrays_of(store, tmp_path / "s.zarr", f"{mine}:Turns")
    for i, source in enumerate(arrays["sources"].tolist()):
        first, second, third = depths(arrays, i)
        on = first[first[:, 1] % 2 == 1, 1]
        assert set(second[:, 0]) <= set(on)
        assert set(third[:, 0]) <= ({source} if (second[:, 1] % 2 == 1).any() else set())


def test_verify_finds_a_frontier_that_update_does_not_give(tmp_path, store, mine, monkeypatch):
    drawn = sample(store, tmp_path / "a.zarr", f"{mine}:Jumps", seed=3, device="cpu")
    monkeypatch.setattr(groups, "UPDATE_DRAWS", np.uint64(groups.UPDATE_DRAWS + np.uint64(1)))
    report = verify(drawn.path, algo=f"{mine}:Jumps")
    assert "depths" in [check.name for check in report.checks if not check.ok]


@pytest.mark.parametrize(
    ("rules", "update", "said"),
    [
        ("", "return e.weight", "line 8 of own.py: mine.update: e.weight is not known here"),
        (
            "    layout = 'hops'\n    visited_once = False\n",
            "return e.dst",
            "mine.layout: expected 'subgraphs'",
        ),
        ("    shares_draws = True\n    visited_once = False\n", "return e.dst", "mine.shares_draws: expected False"),
        ("    collective = True\n", "return e.prev", "mine.update: e.prev is not available with collective = True"),
        ("", "return e.vertices", "update or dead_end at .*: expected a vertex below e.vertices = 300"),
    ],
)
def test_an_update_that_cannot_be_is_refused(tmp_path, store, rules, update, said):
    (tmp_path / "own.py").write_text(
        "from csaw.engine.algorithm import Traversal\n\n\nclass Mine(Traversal):\n"
        f"{rules}    def sizes(self):\n        return (2, 2)\n\n    def update(self, e):\n        {update}\n"
    )
    with pytest.raises(CsawError, match=said):
        arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'own.py'}:Mine")


@pytest.mark.parametrize("name", ["Ends", "Dies", "Leaves"])
def test_any_number_below_0_is_no_vertex(tmp_path, name):
    """So compiled code takes it, and so do the checks."""
    (tmp_path / "less.py").write_text(LESS)
    store = random_store(tmp_path / "g.zarr", vertices=30, edges=40, directed=True)
    drawn = sample(store, tmp_path / "s.zarr", f"{tmp_path}/less.py:{name}", walk_length=6, device="cpu")
    assert verify(drawn.path, algo=f"{tmp_path}/less.py:{name}").ok
    lengths = drawn.lengths[:]
    assert (lengths == 0).all() if name == "Ends" else (lengths < 6).any()


LESS = """
from csaw.engine.algorithm import Walk


class Ends(Walk):
    def update(self, e):
        return -5


class Dies(Walk):
    def dead_end(self, v):
        return -7


class Leaves(Walk):
    def update(self, e):
        return e.dst if e.random() < 0.5 else -1 - e.dst

    def law(self, selected, v):
        ends = selected or {-1: 1.0}
        return {-9: 0.25, -1: 0.25} | {u: chance / 2 for u, chance in ends.items()} if selected else ends
"""
