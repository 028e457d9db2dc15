"""Picks of a traversal by trials: any edge of a vertex is accepted by its bias. Their law is that of reading the row,
with what trials leave to it, and their bytes are the same wherever the graph is.
"""

from itertools import product

import numpy as np
import pytest
from helpers.graphs import arrays_of, ends_of_batches, random_store, store_of
from helpers.invariance import assert_instances_are_64_bits, assert_request_decides, assert_same
from helpers.laws import assert_picks_are_independent
from helpers.stats import assert_drawn_from

import csaw
from csaw.engine import prepare
from csaw.engine.algorithm import MiniBatches, Traversal
from csaw.engine.cpu.kernels import traverse
from csaw.engine.plan.choices import Method
from csaw.engine.plan.selection import bounds_of_trials
from csaw.partition.errors import OptionError

MANY = 40_000
PARALLEL = [(1, 1.0, 20), (2, 2.0, 12), (3, 0.5, 9), (4, 0.0, 3)]
"""Neighbors of vertex 0: each with the weight of an edge, and the number of edges."""
OFTEN = "e.weight * (2 if e.dst % 2 == e.depth % 2 else 1)"
SELDOM = "e.weight * (1 if e.dst == 3 + e.depth else 0.02)"  # of 44 edges, trials seldom accept one
NONE_OF_ONE = "e.weight * (0 if e.dst == 2 + e.depth else 1)"
BIASES = {OFTEN: [1, 2, 1, 2], SELDOM: [0.02, 0.02, 1, 0.02], NONE_OF_ONE: [1, 0, 1, 1]}


def star(path, more=(), times=1):
    edges = [(0, v, w) for v, w, repeats in PARALLEL for _ in range(times * repeats)]
    return store_of(path, sorted([*edges, *more]), directed=True)


def classes(bias, times=1):
    """The biases of an edge to each neighbor, and how many there are."""
    return [w * b for (_, w, _), b in zip(PARALLEL, BIASES[bias], strict=True)], [times * n for *_, n in PARALLEL]


def successive(each, counts, picks):
    """The chance of each sequence of neighbors, by edges that are taken one after the other."""
    law = {}
    for order in product(range(len(each)), repeat=picks):
        left, chance = list(counts), 1.0
        for one in order:
            total = sum(b * n for b, n in zip(each, left, strict=True))
            chance *= each[one] * left[one] / total
            left[one] -= 1
        law[order] = chance
    return law


def assert_follows(picks, bias, times=1):
    law = successive(*classes(bias, times), picks.shape[1])
    counts = [int((picks == order).all(axis=1).sum()) for order in law]
    assert sum(counts) == len(picks)
    assert_drawn_from(counts, list(law.values()))


def assert_by_trials(store, algo, **options):
    job = prepare(store, algo, device="cpu", **options)
    assert job.plan.select is Method.REJECTION
    assert job.plan.bias.endswith("few neighbors are all read")


@pytest.mark.parametrize("times", [1, 4, 40])
@pytest.mark.parametrize("bias", BIASES)
def test_neighbors_are_selected_one_after_the_other(tmp_path, bias, times):
    """Of a few trials, of some that end where few are accepted, and of many."""
    store = star(tmp_path / "g.zarr", times=times)
    given = {"fanout": (3,), "edge_bias": bias, "select": "rejection"}
    assert_by_trials(store, "neighbor", **given)
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=np.zeros(MANY, int), **given)
    assert_follows(drawn["hop_1"].astype(int) - 1, bias, times)


@pytest.mark.parametrize("bias", BIASES)
def test_picks_with_replacement_are_independent(tmp_path, bias):
    store = star(tmp_path / "g.zarr")
    given = {"fanout": (3,), "edge_bias": bias, "select": "rejection", "replace": True}
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=np.zeros(MANY, int), **given)
    law = [b * n for b, n in zip(*classes(bias), strict=True)]
    assert_picks_are_independent(drawn["hop_1"].astype(int) - 1, law, law, law)


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("bias", [OFTEN, SELDOM])
def test_seeds_of_a_mini_batch_select_one_after_the_other(tmp_path, bias, disjoint):
    store = star(tmp_path / "g.zarr")
    given = {"fanout": (2,), "edge_bias": bias, "seeds_per_batch": 1, "disjoint": disjoint}
    assert_by_trials(store, "minibatch", **given)
    drawn = arrays_of(store, tmp_path / "s.zarr", "minibatch", sources=np.zeros(MANY, int), **given)
    picks = ends_of_batches(drawn, 0).reshape(MANY, 2) - 1
    assert_follows(picks, bias)
    row = store.load().indices
    assert np.array_equal(row[drawn["e_id"]].astype(int) - 1, picks.ravel())  # the edges are those of the picks
    assert (drawn["e_id"].reshape(-1, 2)[:, 0] != drawn["e_id"].reshape(-1, 2)[:, 1]).all()


def test_what_an_instance_has_met_is_not_selected(tmp_path):
    store = star(tmp_path / "g.zarr", [(0, 0, 7.0)] * 9)
    given = {"depth": 1, "neighbor_size": 3, "edge_bias": OFTEN}
    assert_by_trials(store, "snowball", **given)
    drawn = arrays_of(store, tmp_path / "s.zarr", "snowball", sources=np.zeros(MANY, int), **given)
    assert_follows(drawn["dst"].reshape(-1, 3).astype(int) - 1, OFTEN)


def test_a_second_hop_selects_by_the_vertex_before(tmp_path):
    back = [(v, 0, 1.0) for v in range(1, 5) for _ in range(10)]
    more = [(v, 5, 1.0) for v in range(1, 5) for _ in range(30)]
    store = star(tmp_path / "g.zarr", back + more)
    given = {"fanout": (1, 2), "edge_bias": "3 if e.dst == e.prev else 1", "replace": True}
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=np.zeros(MANY, int), **given)
    assert_drawn_from(np.bincount(drawn["hop_2"].ravel() // 5, minlength=2), [30, 30])


def test_a_vertex_without_edges_or_with_biases_of_0_is_a_dead_end(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 0.0)] * 40 + [(2, 3, 1.0)] * 40, directed=True)
    given = {"fanout": (3, 2), "edge_bias": OFTEN, "sources": np.array([0, 1, 2])}
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)
    assert (drawn["hop_1"].astype(np.int32)[:2] == -1).all()
    assert (drawn["hop_1"][2] == 3).all()
    assert (drawn["hop_2"].astype(np.int32) == -1).all()


HUBS = [
    ("neighbor", {"fanout": (6, 3)}),
    ("neighbor", {"fanout": (6, 3), "replace": True}),
    ("neighbor", {"fanout": (300, 2), "instances": 40}),
    ("minibatch", {"fanout": (5, 3), "seeds_per_batch": 16}),
    ("minibatch", {"fanout": (5, 3), "seeds_per_batch": 16, "disjoint": True, "replace": True}),
    ("mvs", {"fanout": (5, 3), "seeds_per_batch": 16}),
    ("snowball", {"depth": 2, "neighbor_size": 5}),
    ("snowball", {"depth": None, "neighbor_size": 4, "instances": 20}),
    ("forest-fire", {"depth": 2}),
    ("neighbor", {"fanout": (5, 3), "induced": True, "instances": 60}),
]
TEXTS = [OFTEN, "2 if e.is_neighbor(e.prev, e.dst) else 1", "1 + (e.dst == e.source)"]


@pytest.fixture(scope="module")
def hubs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trials")
    return [random_store(folder / f"{n}.zarr", vertices=200, edges=9000, partitions=n) for n in (1, 5)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("algo", "options"), HUBS, ids=[f"{a}-{i}" for i, (a, _) in enumerate(HUBS)])
def test_the_request_alone_decides(tmp_path, hubs, algo, options, text):
    store, given = hubs[0], options | {"edge_bias": text}
    assert_by_trials(store, algo, **given)
    assert_request_decides(*hubs, tmp_path / "s.zarr", algo, **given)
    whole = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **given)
    assert_same(whole, arrays_of(hubs[1], tmp_path / "s.zarr", algo, seed=5, residency="disk", **given))


def test_instances_are_64_bits(hubs):
    assert_instances_are_64_bits(hubs[0], "neighbor", fanout=(3,), edge_bias=OFTEN)


@pytest.mark.parametrize("algo", ["neighbor", "minibatch", "snowball"])
def test_verify_tests_the_law(tmp_path, hubs, algo):
    size = {"depth": 2, "neighbor_size": 4} if algo == "snowball" else {"fanout": (4, 3)}
    csaw.sample(hubs[0], tmp_path / "s.zarr", algo, edge_bias=OFTEN, sources="all", device="cpu", **size)
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, [check for check in report.checks if not check.ok]


NOT_TRIED = {
    "e.weight if e.depth % 2 else 1.0": "it is not written as e.weight times a number of bounds",
    "e.dst_degree if e.depth else 1": "too far apart",
    "1 / (e.dst - e.prev)": "no bounds",
}


@pytest.mark.parametrize("text", NOT_TRIED)
def test_what_is_not_proven_reads_whole_rows(hubs, text):
    plan = prepare(hubs[0], "neighbor", edge_bias=text, device="cpu").plan
    assert plan.select is Method.ITS
    assert NOT_TRIED[text] in plan.bias
    assert plan.bias.startswith("each vertex reads all of its neighbors: ")


def test_rejection_that_cannot_be_is_refused(hubs):
    for algo, options in (
        ("layer", {"edge_bias": OFTEN}),
        ("neighbor", {"edge_bias": "e.weight"}),
        ("neighbor", {"edge_bias": OFTEN, "unique": True}),
        ("snowball", {"edge_bias": OFTEN}),
    ):
        with pytest.raises(OptionError, match="--select rejection cannot draw"):
            prepare(hubs[0], algo, select="rejection", device="cpu", **options)


def test_weights_whose_range_is_not_known_are_read(tmp_path):
    store = star(tmp_path / "g.zarr")
    store.weight_range = None
    plan = prepare(store, "neighbor", edge_bias=OFTEN, device="cpu").plan
    assert plan.select is Method.KEYS
    assert "weights of the graph are too far apart or not known" in plan.bias
    assert prepare(store, "neighbor", edge_bias="2 if e.depth else 1", device="cpu").plan.select is Method.REJECTION


@pytest.mark.parametrize("fanout", [(2**30,), (300,), (0,), (-1, 2), (1, 1, 1)])
def test_any_number_of_neighbors(tmp_path, hubs, fanout):
    options = {"edge_bias": TEXTS[1], "sources": np.arange(20), "seeds_per_batch": 4, "fanout": fanout}
    drawn = arrays_of(hubs[0], tmp_path / "s.zarr", "minibatch", **options)
    rows = arrays_of(hubs[0], tmp_path / "s.zarr", "minibatch", select="its", **options)
    assert drawn["hop_edges"][:, 0].tolist() == rows["hop_edges"][:, 0].tolist()


def test_its_and_keys_stay_what_they_were(tmp_path, hubs):
    for select in ("its", "keys"):
        plan = prepare(hubs[0], "neighbor", edge_bias=OFTEN, select=select, device="cpu").plan
        assert plan.select == select
        assert "--select asks for it" in plan.bias


def test_the_bound_is_that_of_each_depth(hubs):
    job = prepare(hubs[0], "neighbor", fanout=(2, 2, 2), edge_bias="e.weight * (1 + e.depth)", device="cpu")
    heaviest = hubs[0].weight_range[1]
    found = [bounds_of_trials(job.algorithm, True, hubs[0], depth) for depth in range(3)]
    assert found == [(at, at, at * heaviest) for at in (1, 2, 3)]


class Own(Traversal):
    """Edges to the source again and again, of vertices that may be met again."""

    visited_once = False
    frontier_size = 1

    def sizes(self):
        return (4, 3)

    def edge_bias(self, e):
        return 1.5 if e.dst == e.source or e.is_neighbor(e.prev, e.dst) else 1.0

    def update(self, e):
        return e.dst if e.random() < 0.8 else -1


class OwnBatches(MiniBatches):
    """Hubs are more likely behind hubs."""

    def sizes(self):
        return (3, 3)

    def edge_bias(self, e):
        return e.weight * (2.0 if e.src_degree > 50 and e.depth else 1.0)


@pytest.mark.parametrize("kind", [Own, OwnBatches])
def test_classes_of_the_users_own_with_hooks(tmp_path, hubs, kind):
    options = {"seed": 4, "device": "cpu"}
    assert_by_trials(hubs[0], kind)
    one = csaw.sample(hubs[0], algo=kind, threads=1, **options)
    for store, more in ((hubs[0], {"threads": 2, "in_flight": 5}), (hubs[1], {"residency": "disk"})):
        other = csaw.sample(store, algo=kind, **options, **more)
        for name in one.arrays:
            assert np.array_equal(one.arrays[name][:], other.arrays[name][:]), name


def test_trials_end_after_a_number_that_the_row_decides():
    assert traverse.is_tried.py_func(81, 10)
    assert not traverse.is_tried.py_func(80, 10)
    assert not traverse.is_tried.py_func(31, 1)
    assert not traverse.is_tried.py_func(1 << 40, traverse.TRIED_PICKS + 1)
