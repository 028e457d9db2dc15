"""Hooks that read the walk further back than its previous vertex follow their law, on every residency and without a
limit, and are verified.
"""

import numpy as np
import pytest
from helpers.faults import plant
from helpers.graphs import SQUARE, arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_same
from helpers.stats import assert_drawn_from

from csaw.engine.cpu.batches.walks import UnlimitedWalks
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

BIAS = "e.weight * (4.0 if e.dst == e.path(2) else 1.0)"  # towards where the walk was three steps before the next
ROOTED = """
from csaw.engine.algorithm import Walk, option

class Rooted(Walk):
    ends: float = option(0.0, help="chance that a step is the last")

    def expected_steps(self):
        return 4  # so that there are several rounds

    def update(self, e):
        if e.random() < self.ends:
            return -1
        if e.depth % 2 == 0:
            return e.dst
        left = 0.0
        for i in range(e.depth + 1):
            left += e.column("degree", e.path(i))
        left = left * e.random()
        for i in range(e.depth):
            left -= e.column("degree", e.path(i))
            if left < 0.0:
                return e.path(i)
        return e.path(e.depth)

    def law(self, selected, v):
        if v.depth % 2 == 0:
            after = {u: p * (1.0 - self.ends) for u, p in selected.items()}
        else:
            after, path = {}, [v.path(i) for i in range(v.depth + 1)]
            for u in path:
                after[u] = after.get(u, 0.0) + (1.0 - self.ends) * v.degree(u) / sum(map(v.degree, path))
        return after | ({-1: self.ends} if self.ends else {})
"""  # every second step goes to a vertex of the walk, by its degree: a root among the sample's own vertices


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("path") / "g.zarr", SQUARE, directed=False)


def assert_third_order(walks, rows):
    """Each step, given where the walk is and was two steps before; before the source there is no vertex."""
    walks = walks.astype(np.int64)
    for step in range(walks.shape[1] - 1):
        context = np.stack([walks[:, step - 2] if step > 1 else np.full(len(walks), -1), walks[:, step]], axis=1)
        for back, here in np.unique(context, axis=0).tolist():
            then = walks[(context == (back, here)).all(axis=1), step + 1]
            biases = {v: w * (4.0 if v == back else 1.0) for v, w in rows[here]}
            if then.size > 1000 and len(biases) > 1:
                total = sum(biases.values())
                assert_drawn_from([np.sum(then == v) for v in biases], [b / total for b in biases.values()])


def drawn(store, path):
    return arrays_of(store, path / "s.zarr", edge_bias=BIAS, num_walks=8000, walk_length=5, seed=11)["walks"]


def test_walks_follow_a_law_of_third_order(tmp_path, square):
    assert_third_order(drawn(square, tmp_path), rows_of(square, True))
    assert_verified(tmp_path / "s.zarr")


def test_a_path_that_is_read_one_step_off_is_found(tmp_path, square, monkeypatch):
    plant(monkeypatch, "access.py", "graph.path[depth - steps]", "graph.path[depth - steps + 1]")
    with pytest.raises(AssertionError):
        assert_third_order(drawn(square, tmp_path), rows_of(square, True))
    assert not verify(tmp_path / "s.zarr").ok


def assert_verified(path, **given):
    """All that verify says is good, and it has tested the law of the steps."""
    report = verify(path, **given)
    assert report.ok, str(report)
    assert {check.name for check in report.checks if check.tested} >= {"edges", "transitions, pooled"}


def rooted(square, tmp_path, **options):
    """(algorithm, options) of walks with roots of their own on the square."""
    (tmp_path / "mine.py").write_text(ROOTED)
    degrees = np.diff(square.load().indptr)
    return f"{tmp_path / 'mine.py'}:Rooted", {"columns": {"degree": degrees}, "seed": 3, **options}


def assert_roots_follow_degrees(walks, degrees):
    """Of walks with the same beginning, how often each of its vertices follows."""
    for depth in (1, 3):
        begins, number = np.unique(np.sort(walks[:, : depth + 1], axis=1), axis=0, return_inverse=True)
        for kind, path in enumerate(begins.tolist()):
            then = walks[number.ravel() == kind, depth + 1]
            law = {v: path.count(v) * degrees[v] / sum(degrees[u] for u in path) for v in path}
            if then.size > 500 and len(law) > 1:
                assert_drawn_from([int((then == v).sum()) for v in law], list(law.values()))


def test_roots_are_drawn_among_the_vertices_of_the_walk(tmp_path, square, monkeypatch):
    algo, options = rooted(square, tmp_path, num_walks=4000, walk_length=5)
    degrees = options["columns"]["degree"]
    assert_roots_follow_degrees(arrays_of(square, tmp_path / "s.zarr", algo, **options)["walks"], degrees)
    assert_verified(tmp_path / "s.zarr", columns=options["columns"], algo=algo)
    plant(monkeypatch, "access.py", "0 <= steps <= depth", "0 <= steps < depth")  # the source is forgotten
    with pytest.raises(AssertionError):
        assert_roots_follow_degrees(arrays_of(square, tmp_path / "s.zarr", algo, **options)["walks"], degrees)
    assert [
        check.name
        for check in verify(tmp_path / "s.zarr", columns=options["columns"], algo=algo).checks
        if not check.ok
    ]


@pytest.mark.parametrize(
    "select",
    ["uniform", pytest.param("its", marks=pytest.mark.slow(reason="hooks read the path as in the other case"))],
)
def test_walks_without_a_limit_know_their_whole_path(tmp_path, square, select):
    """A limit that no walk reaches gives the same walks as none, however many rounds there are."""
    algo, options = rooted(square, tmp_path, num_walks=100, ends=0.1, select=select, weighted=False)
    limited = arrays_of(square, tmp_path / "l.zarr", algo, walk_length=400, **options)
    expected = [walk[: n + 1].tolist() for walk, n in zip(limited["walks"], limited["lengths"], strict=True)]
    for way in ({}, {"threads": 1, "in_flight": 7}, {"residency": "disk"}):
        found = arrays_of(square, tmp_path / "u.zarr", algo, walk_length=None, **options, **way)
        assert [walk.tolist() for walk in np.split(found["walks"], found["walk_ptr"][1:-1])] == expected
    if select == "uniform":
        assert_verified(tmp_path / "u.zarr", columns=options["columns"], algo=algo)


def test_a_round_that_forgets_the_path_is_found(tmp_path, square, monkeypatch):
    algo, options = rooted(square, tmp_path, num_walks=100, ends=0.1, walk_length=None, weighted=False)
    with monkeypatch.context() as during:
        during.setattr(UnlimitedWalks, "_take_along", lambda self, walkers, vertices: vertices.fill(0))
        arrays_of(square, tmp_path / "s.zarr", algo, **options)
    assert [
        check.name
        for check in verify(tmp_path / "s.zarr", columns=options["columns"], algo=algo).checks
        if not check.ok
    ]


def test_the_path_begins_with_src_and_prev_on_every_residency(tmp_path):
    store, cut = random_store(tmp_path / "a.zarr"), random_store(tmp_path / "b.zarr", partitions=4)
    known = "e.weight + 9.0 * (e.dst % 7 == (e.src + e.prev) % 7)"
    options = {"walk_length": 9, "seed": 5, "select": "its"}
    expected = arrays_of(store, tmp_path / "s.zarr", edge_bias=known, **options)
    path = known.replace("e.src", "e.path(0)").replace("e.prev", "e.path(1)")
    for graph, how in ((store, {}), (store, {"threads": 1, "in_flight": 17}), (cut, {}), (cut, {"residency": "disk"})):
        assert_same(expected, arrays_of(graph, tmp_path / "s.zarr", edge_bias=path, **options, **how))


@pytest.mark.parametrize(
    ("algo", "options", "said"),
    [
        ("neighbor", {}, "only hooks of a walk may call e.path"),
        ("deepwalk", {"select": "rejection"}, "--select rejection cannot draw"),
    ],
)
def test_what_cannot_read_a_path_is_refused(tmp_path, square, algo, options, said):
    with pytest.raises(OptionError, match=said):
        arrays_of(square, tmp_path / "s.zarr", algo, edge_bias=BIAS, **options)
