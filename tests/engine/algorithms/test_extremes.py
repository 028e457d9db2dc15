"""Parameters at their ends: every accepted one gives its law in a bounded time, every other one is refused with the
reason.
"""

import numpy as np
import pytest
from helpers.graphs import SQUARE, arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_same
from helpers.laws import END, assert_walks_follow, node2vec
from helpers.limits import within
from helpers.stats import assert_drawn_from

from csaw.engine import prepare, sample
from csaw.engine.algorithms.forest_fire import ForestFire
from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.cpu.kernels.traverse import geometric_sizes
from csaw.engine.draws.addresses import SIZE_DRAWS
from csaw.engine.draws.random import words
from csaw.engine.plan.choices import Method
from csaw.engine.plan.selection import coin, may_be_hopeless
from csaw.engine.stores.verify import verify
from csaw.partition.errors import BiasError, OptionError

SECONDS = 60  # most of it compiles
# Weights at the ends of float32: an edge that is 3e76 times as heavy as another is as likely where q is 3e76.
UNEVEN = [(0, 1, 1e-38), (1, 2, 1e-38), (2, 3, 3e38), (3, 0, 3e38), (0, 2, 1e-38), (3, 4, 3e38)]
CLIQUE = [(u, v, 1 + u + v) for u in range(5) for v in range(u)]


def that_can_be_seen(law):
    """The law without what thousands of draws never are: an outcome of less than 1e-9 must not be met at all."""
    return lambda *state: {v: chance for v, chance in law(*state).items() if chance > 1e-9}


@pytest.mark.parametrize(
    ("edges", "p", "q"),
    [
        (SQUARE, 1e-250, 1e-250),
        (SQUARE, 1e250, 1e250),
        (SQUARE, 1e-30, 1e30),
        (SQUARE, 1e9, 1.0),
        (UNEVEN, 0.5, 3e76),
        (UNEVEN, 1e-30, 1e30),
        (UNEVEN, 3e76, 1e-76),
        (UNEVEN, 1.0, 1e250),
    ],
    ids=lambda value: f"{value:g}" if isinstance(value, float) else "uneven" if value is UNEVEN else "square",
)
def test_node2vec_keeps_its_law_however_far_biases_are_apart(tmp_path, edges, p, q):
    store = store_of(tmp_path / "g.zarr", edges, directed=False, vertices=5)
    with within(SECONDS):
        walks = arrays_of(store, tmp_path / "s.zarr", "node2vec", num_walks=4000, walk_length=3, seed=11, p=p, q=q)[
            "walks"
        ]
    assert_walks_follow(walks, rows_of(store, True), that_can_be_seen(node2vec(p, q)))


@pytest.mark.slow(reason="streamed walks of every other kind are compared by default")
def test_biases_far_apart_change_no_byte_on_streamed_graphs(tmp_path):
    store, parts = (random_store(tmp_path / f"{n}.zarr", partitions=n) for n in (1, 4))
    options = {"p": 1e9, "q": 1e9, "walk_length": 6, "seed": 5}
    plan = prepare(parts, "node2vec", in_flight=50, **options).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes * 3 // 4
    with within(SECONDS):
        streamed = arrays_of(
            parts, tmp_path / "b.zarr", "node2vec", residency="disk", memory=memory, in_flight=50, **options
        )
        assert_same(arrays_of(store, tmp_path / "a.zarr", "node2vec", **options), streamed)


def test_rows_are_tried_as_before_where_biases_are_not_far_apart():
    for p, q in ((1e3, 1e-3), (1e-3, 1e3), (1e3, 1e3), (1e-3, 1e-3), (1e-250, 1.0)):
        assert not may_be_hopeless(Node2vec(p=p, q=q), Method.REJECTION)
    assert may_be_hopeless(Node2vec(p=1e7), Method.REJECTION)


@pytest.mark.parametrize("value", [1e-310, 5e-324, 1e-251, 1e251, 1e308, float("nan"), float("inf"), 0.0, -1.0])
@pytest.mark.parametrize("name", ["p", "q"])
def test_what_float64_cannot_hold_is_refused(name, value):
    with pytest.raises(OptionError, match=f"--{name}: expected a finite number, 1e-250 to 1e\\+250, found .*float64"):
        Node2vec(**{name: value})


OWN = """
from csaw.engine.algorithm import Walk, option

class Mine(Walk):
    low: float = option(0.0, help="bound")
    back: float = option(0.0, help="bound")
    far: float = option(0.0, help="bias")
    def edge_bias(self, e):
        if e.dst == e.prev:
            return 0.0
        if e.prev < 0 or e.is_neighbor(e.prev, e.dst):
            return e.weight
        return e.weight * self.far
    def bias_range(self):
        return (self.low, 1.0, self.back)
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    return f"{tmp_path / 'mine.py'}:Mine"


@pytest.mark.parametrize(("low", "back"), [(0.0, 0.0), (0.5, 1.0)], ids=["true bounds", "false bounds"])
def test_a_row_that_accepts_nothing_is_a_dead_end(tmp_path, mine, low, back):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=5)
    with within(SECONDS):
        walks = arrays_of(store, tmp_path / "s.zarr", mine, num_walks=4000, walk_length=2, seed=3, low=low, back=back)[
            "walks"
        ]
    assert set(walks[(walks[:, 0] == 3) & (walks[:, 1] == 4)][:, 2].tolist()) == {END}  # back is never
    if low == 0.0:
        assert set(walks[walks[:, 0] == 4][:, 2].tolist()) == {END}  # no neighbor of 3 is near 4
        assert set(walks[(walks[:, 0] == 1) & (walks[:, 1] == 2)][:, 2].tolist()) == {0}


def test_biases_that_are_none_are_named_where_trials_meet_them(tmp_path, mine):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=5)
    for far in (-1.0, -(10.0**300)):
        with within(SECONDS), pytest.raises(BiasError, match="the bias of edge .* is negative, NaN or infinite"):
            arrays_of(store, tmp_path / "s.zarr", mine, walk_length=3, far=far)


@pytest.mark.parametrize(
    "given", ['"wide"', "None", "(1.0, 0.5, 1.0)", "(0.0, float('inf'), 1.0)", "(1.0, 1.0, float('nan'))", "{}"]
)
def test_bounds_that_bound_nothing_are_refused(tmp_path, given):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=5)
    (tmp_path / "mine.py").write_text(OWN.replace("(self.low, 1.0, self.back)", given))
    with pytest.raises(OptionError, match=r"bias_range: expected numbers \(low, high, back\)"):
        prepare(store, f"{tmp_path / 'mine.py'}:Mine")


def test_rare_edges_of_a_long_row_are_found_at_once(tmp_path):
    """Of a thousand neighbors one is near, and the others are hopeless."""
    edges = [(0, v, 1.0) for v in range(1, 1001)] + [(1, 2, 1.0), (1, 3, 1.0)]
    store = store_of(tmp_path / "g.zarr", edges, directed=False)
    with within(SECONDS):
        walks = arrays_of(
            store, tmp_path / "s.zarr", "node2vec", sources=np.full(6000, 1), walk_length=2, p=1e12, q=1e12, seed=1
        )["walks"]
    through_0 = walks[walks[:, 1] == 0][:, 2]
    assert_drawn_from(np.bincount(through_0, minlength=1001)[1:4], [0, 1, 1])


def sizes_of(chance, most, count=20_000):
    """Numbers that entries of a fire ask for, straight from the kernel."""
    limit, rest = (np.uint64(number) for number in coin(ForestFire(burn_prob=chance)))
    sizes, instance = np.empty(count, np.int64), np.arange(count)
    geometric_sizes(instance, np.zeros(count, np.int64), np.uint64(7), limit, rest, np.full(count, most), sizes)
    return sizes


@pytest.mark.parametrize("chance", [1e-12, 2.0**-40, 1 - 2.0**-53, 0.999999999999])
def test_coins_of_extreme_chances_have_them(chance):
    limit, rest = coin(ForestFire(burn_prob=chance))
    assert 0 <= limit < 2**32
    assert 0 < rest < 2**64
    assert (limit * 2**64 + rest) / 2**96 == pytest.approx(chance, rel=1e-6)
    assert 2**96 - (limit * 2**64 + rest) == pytest.approx((1 - chance) * 2**96, rel=1e-6)


@pytest.mark.parametrize("chance", [0.0, 0.001, 0.5, 0.7, 0.99, 0.9999])
def test_coins_of_other_chances_are_as_ever(chance):
    assert coin(ForestFire(burn_prob=chance)) == (int(chance * 2**32), 0)


def test_a_coin_that_falls_on_its_limit_is_decided_by_the_rest():
    def succeeds(instance, rest):
        limit, size = words(7, instance, 0, SIZE_DRAWS)[0], np.empty(1, np.int64)
        one = np.array([instance]), np.array([0])
        geometric_sizes(*one, np.uint64(7), np.uint64(limit), np.uint64(rest), np.array([1]), size)
        return int(size[0])

    assert not any(succeeds(i, 0) for i in range(100))
    assert all(succeeds(i, 2**64 - 1) for i in range(100))
    won = sum(succeeds(i, 2**62) for i in range(4000))
    assert_drawn_from([won, 4000 - won], [1, 3])


def test_fires_that_hardly_ever_go_out_end_at_the_degree(tmp_path):
    with within(SECONDS):
        assert (sizes_of(0.999999999999, 1000, 500) == 1000).all()
        assert (sizes_of(1e-12, 1000, 500) == 0).all()
        store = random_store(tmp_path / "g.zarr")
        burnt = arrays_of(store, tmp_path / "f.zarr", "forest-fire", burn_prob=0.999999999999, depth=1, seed=2)
    assert (np.diff(burnt["instance_ptr"]) == [len(row) for row in rows_of(store, True)]).all()


HEAVY = [(0, 1, 6e37), (0, 2, 1e-38), (0, 3, 2.5e-39), (0, 4, 5e-39)]


def test_what_is_left_beside_a_heavy_edge_is_drawn_by_its_weights(tmp_path):
    store = store_of(tmp_path / "g.zarr", HEAVY, directed=True, vertices=5)
    found = arrays_of(store, tmp_path / "s.zarr", "neighbor", fanout=(2,), sources="all", instances=40_000, seed=3)
    picks = found["hop_1"].reshape(-1, 2)[found["hop_0"].ravel() == 0]
    assert (picks[:, 0] == 1).all()
    assert_drawn_from([(picks[:, 1] == v).sum() for v in (2, 3, 4)], [4, 1, 2])


@pytest.mark.parametrize(
    ("algo", "options"),
    [("snowball", {"neighbor_size": 2, "depth": 1}), ("minibatch", {"fanout": (2,), "seeds_per_batch": 1})],
)
def test_verify_agrees_beside_a_heavy_edge(tmp_path, algo, options):
    store = store_of(tmp_path / "g.zarr", HEAVY, directed=True, vertices=5)
    several = {"epochs": 4000} if algo == "minibatch" else {"sources": "all", "instances": 20_000}
    sample(store, tmp_path / "s.zarr", algo, device="cpu", seed=3, **options, **several)
    report = verify(tmp_path / "s.zarr", store)
    assert report.ok, [check for check in report.checks if not check.ok]


@pytest.mark.parametrize(("least", "method"), [(1.0, Method.ITS), (1e-12, Method.KEYS), (0.0, Method.ITS)])
def test_running_sums_select_where_weights_are_near_enough(tmp_path, least, method):
    edges = [(0, v, 1.0) for v in range(1, 900)] + [(0, 900, least)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, vertices=901)
    assert prepare(store, "neighbor", device="cpu").plan.request.select is method
    assert prepare(store, "neighbor", device="cpu", replace=True, select="its").plan.request.select is Method.ITS
    assert prepare(store, "deepwalk", device="cpu", select="its").plan.request.select is Method.ITS
    if method is Method.KEYS:
        with pytest.raises(OptionError, match=r"--select its .* weights are 1e-12 to 1, too far apart .* use keys"):
            prepare(store, "neighbor", device="cpu", select="its")
