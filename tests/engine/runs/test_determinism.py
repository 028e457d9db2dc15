"""The same bytes whatever the threads, partitions, batches and residency; resumed or not."""

import gc
import weakref

import pytest
from helpers.cases import OPTIONS
from helpers.graphs import TIMELESS, arrays_of, random_store, stored_arrays
from helpers.invariance import assert_instances_are_64_bits, assert_request_decides, assert_same
from helpers.rates import pin_row_bytes

from csaw.engine import execute, prepare
from csaw.engine.algorithm import Walk
from csaw.engine.api import registry
from csaw.engine.cpu.graph import HostRows
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.views import Coalesced

MORE = [
    ("deepwalk", {"induced": True, "walk_length": 8}),
    ("neighbor", {"induced": True, "fanout": (4, 3)}),
    ("ladies", {"frontier_size": 8, "layer_sizes": (12, 7), "replace": False}),
    ("neighbor", {"fanout": (4, 3), "replace": True}),
    ("neighbor", {"fanout": (-1, 3)}),
    ("neighbor", {"fanout": (5, 4), "bias": "none"}),
    ("neighbor", {"fanout": (3, 0, 2), "bias": "none", "replace": True}),
    ("neighbor", {"fanout": (70, 2), "bias": "none"}),
    ("minibatch", {"fanout": (4, 3), "seeds_per_batch": 16, "weighted": False}),
    ("minibatch", {"fanout": (5, -1), "seeds_per_batch": 8, "weighted": False, "disjoint": True}),
    (
        "minibatch",
        {"fanout": (3, 4), "seeds_per_batch": 16, "weighted": False, "replace": True, "shuffle": True, "epochs": 2},
    ),
    ("minibatch", {"fanout": (70, 2), "seeds_per_batch": 7, "bias": "none", "drop_last": True}),
    ("node2vec", {"select": "its", "walk_length": 8}),
    ("layer", {"depth": 3, "neighbor_size": 4, "frontier_size": 8, "weighted": False}),
    ("random-edge", {"neighbor_size": 30, "instances": 10, "select": "keys"}),
    ("forest-fire", {"target": 100, "instances": 5}),
    ("forest-fire", {"target": "10%", "instances": 40, "depth": None, "induced": True}),
    ("deepwalk", {"target": 150, "instances": 3, "walk_length": 8}),
    ("jump", {"target": "20%", "instances": 7, "walk_length": 8}),
    ("random-edge", {"target": 40, "instances": 9}),
    ("random-node", {"target": "10%", "instances": 9}),
    ("links", {"num_negatives": 4, "negative_bias": "degree", "sources": "all"}),
]
CASES = [(name, OPTIONS.get(name, {})) for name in TIMELESS] + MORE
LIKE_OTHERS = pytest.mark.slow(reason="another option of an algorithm, whose kernels differ in a constant")


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        pytest.param(a, o, marks=[LIKE_OTHERS] if (a, o) in MORE[1::2] else [], id=f"{a}-{i}")
        for i, (a, o) in enumerate(CASES)
    ],
)
def test_nothing_but_the_request_decides_the_sample(tmp_path, algo, options):
    one = random_store(tmp_path / "one.zarr")
    seven = random_store(tmp_path / "seven.zarr", partitions=7)
    assert one.fingerprint == seven.fingerprint
    assert_request_decides(one, seven, tmp_path / "s.zarr", algo, **options)


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "multidimensional"])
def test_instances_beyond_32_bits_draw_apart(tmp_path, algo):
    assert_instances_are_64_bits(random_store(tmp_path / "g.zarr"), algo, **OPTIONS.get(algo, {}))


STREAMED = (
    "deepwalk",
    "node2vec",
    "multidimensional",
    "minibatch",
    "neighbor",
    "forest-fire",
    "layer",
    "random-edge",
    "links",
)  # every path through the engine
FIRST = {next(i for i, (name, _) in enumerate(CASES) if name == algo) for algo in STREAMED}
LIKE_STREAMED = pytest.mark.slow(reason="takes the path of the first case of an algorithm in STREAMED")


@pytest.mark.parametrize(
    ("algo", "options"),
    [pytest.param(a, o, marks=[] if i in FIRST else [LIKE_STREAMED], id=f"{a}-{i}") for i, (a, o) in enumerate(CASES)],
)
def test_streamed_partitions_give_the_sample_of_a_resident_graph(tmp_path, algo, options):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=9)
    options = options | {"instances": 100}
    if issubclass(registry.find(algo), Walk):
        # Nearly every step brings a partition, so few are enough.
        options |= {"walk_length": min(options.get("walk_length", 80), 15)}
    resident = prepare(store, algo, seed=5, **options)
    assert resident.plan.residency == "resident"
    batch = 8
    row = resident.plan.batch_bytes // resident.plan.batch
    tables = resident.plan.fixed["members"] if resident.plan.membership == "hash" else 0  # where there is room
    memory = resident.plan.fixed_bytes - tables + batch * row + resident.plan.graph_bytes // 3
    streamed = prepare(store, algo, seed=5, memory=memory, in_flight=batch, ids="dense", **options)
    assert streamed.plan.residency == "disk"
    results = execute(streamed, tmp_path / "s.zarr")
    assert results["transfers"] >= len(store.partitions) // 2
    assert_same(arrays_of(store, tmp_path / "r.zarr", algo, seed=5, **options), stored_arrays(tmp_path / "s.zarr"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("room_bytes", [450_000, 1 << 30])  # for some rows, for all of them
@pytest.mark.parametrize(
    ("algo", "options"),
    [
        pytest.param(a, o, marks=[] if i in FIRST else [LIKE_STREAMED], id=f"{a}-{i}")
        for i, (a, o) in enumerate(CASES)
        if a not in ("random-edge", "fastgcn", "saint-node")  # of which every partition is wanted
    ],
)
def test_rows_that_are_read_one_by_one_give_the_same(tmp_path, monkeypatch, algo, options, room_bytes):
    pin_row_bytes(monkeypatch, 1e-9)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    options = options | {"instances": 30} | ({"walk_length": 8} if issubclass(registry.find(algo), Walk) else {})
    plan = prepare(store, algo, seed=5, in_flight=8, **options).plan
    given = {"residency": "disk", "in_flight": 8, "memory": plan.fixed_bytes + plan.batch_bytes + room_bytes}
    results = execute(prepare(store, algo, seed=5, ids="dense", **given, **options), tmp_path / "s.zarr")
    assert results["in_place"] > 0
    assert_same(arrays_of(store, tmp_path / "r.zarr", algo, seed=5, **options), stored_arrays(tmp_path / "s.zarr"))


@pytest.mark.parametrize("units", [2, 3, 8])
def test_rows_of_partitions_that_are_moved_together(tmp_path, monkeypatch, units):
    pin_row_bytes(monkeypatch, 1e-9)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    options = {"seed": 5, "instances": 30, "walk_length": 8, "weighted": True}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    merged = Coalesced(store, units)
    results = execute(prepare(merged, "deepwalk", residency="disk", ids="dense", **options), tmp_path / "t.zarr")
    assert results["in_place"] > 0
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))


def test_rows_that_could_not_all_be_brought_are_not_read(tmp_path, monkeypatch):
    pin_row_bytes(monkeypatch, 1e-9)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    options = {"seed": 5, "instances": 30, "walk_length": 8}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    whole, failed = HostRows.bring, []

    def fails_once(self, vertices):
        if failed:
            return whole(self, vertices)
        failed.append(vertices)
        self.graph.places.note(vertices)
        self.graph.arrays.loaded[-1] = 1
        raise MemoryError

    monkeypatch.setattr(HostRows, "bring", fails_once)
    execute(prepare(store, "deepwalk", residency="disk", ids="dense", **options), tmp_path / "t.zarr")
    assert failed
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))


def test_a_graph_read_by_rows_is_gone_when_its_run_ends(tmp_path, monkeypatch):
    graphs, made = [], HostRows.__init__

    def noted(self, graph):
        graphs.append(weakref.ref(graph))
        made(self, graph)

    monkeypatch.setattr(HostRows, "__init__", noted)
    gc.disable()
    try:
        arrays_of(random_store(tmp_path / "g.zarr"), tmp_path / "s.zarr", "deepwalk", residency="disk")
        assert [graph() for graph in graphs] == [None]
    finally:
        gc.enable()


def test_different_seeds_share_no_walk(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    walks = [
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", seed=s, walk_length=40)["walks"]
        for s in (0, 1, 2**32, 2**64 - 1)
    ]
    for i, a in enumerate(walks):
        for b in walks[:i]:
            assert not (a[:, 1:] == b[:, 1:]).all(axis=1)[a[:, 1] >= 0].any()


def test_questions_that_loaded_partitions_cannot_answer_are_refused(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=9)
    given = {"seed": 5, "weighted": False, "residency": "disk"}
    far = "2.0 if e.is_neighbor(e.dst, e.prev) else 1.0"
    near = "2.0 if e.is_neighbor(e.prev, e.dst) else 1.0"
    for algo, bias in (("deepwalk", far), ("multidimensional", near)):
        with pytest.raises(OptionError, match="only edge_bias may call e.is_neighbor"):
            prepare(store, algo, edge_bias=bias, **given)
        arrays_of(store, tmp_path / "s.zarr", algo, edge_bias=bias, weighted=False, instances=5)
    assert prepare(store, "deepwalk", edge_bias=near, **given).plan.residency == "disk"


def test_a_partition_without_its_file_is_an_error_also_when_it_is_read_ahead(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=9)
    plan = prepare(store, "deepwalk").plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 3
    store.opened(7, "indices").file(0).unlink()
    with pytest.raises(StoreError, match="cannot be opened"):
        execute(prepare(store, "deepwalk", memory=memory, in_flight=plan.batch), tmp_path / "w.zarr")
