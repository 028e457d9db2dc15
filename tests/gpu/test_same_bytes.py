"""A GPU draws what the CPU draws, byte for byte: every algorithm, method, layout, on graphs with every trouble in them."""

import re

import numpy as np
import pytest
from helpers.cases import OPTIONS
from helpers.graphs import SQUARE, TROUBLED, WideStore, arrays_of, random_store, store_of, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import plan as plans
from csaw.engine import registry
from csaw.engine.backend import TALLY
from csaw.engine.cuda.device import open_device
from csaw.engine.detectors import DETECTORS
from csaw.engine.run import execute, open_backend, prepare
from csaw.engine.schedule import Policy
from csaw.partition.errors import BiasError, BudgetError, CsawError, OptionError

try:
    open_device()
except CsawError as error:
    pytest.skip(str(error), allow_module_level=True)

from csaw.engine.cuda import backend, trees  # they import CuPy
from csaw.engine.cuda.units import tree_span

MORE = [
    ("neighbor", {"fanout": (5, 3), "replace": True}),
    ("neighbor", {"fanout": (-1, 3)}),
    ("neighbor", {"fanout": (7,), "bias": "none"}),
    ("neighbor", {"fanout": (40, 2), "bias": "none"}),
    ("neighbor", {"fanout": (3, 3), "bias": "degree", "select": "keys"}),
    ("neighbor", {"fanout": (3, 3), "select": "its", "replace": True}),
    ("neighbor", {"fanout": ()}),
    *(("neighbor", {"fanout": (3, 3), "select": "its", "collision": c}) for c in ("bipartite", "repeated", "updated")),
    *(
        ("neighbor", {"fanout": (40, 3), "select": "its", "collision": c, "detect": d})
        for c in ("bipartite", "repeated")
        for d in DETECTORS
    ),
    ("neighbor", {"fanout": (400, 2), "select": "its", "detect": "strided"}),
    ("neighbor", {"fanout": (400, 2), "select": "its", "detect": "linear"}),
    ("snowball", {"neighbor_size": 3, "select": "its"}),
    ("forest-fire", {"select": "its", "depth": 3, "detect": "contiguous"}),
    ("node2vec", {"select": "its", "walk_length": 8}),
    ("node2vec", {"p": 4.0, "q": 0.25}),
    ("node2vec", {"p": 0.3, "q": 3.0, "layout": "csr"}),
    ("node2vec", {"p": 0.3, "q": 3.0, "layout": "table"}),
    ("deepwalk", {"layout": "alias"}),
    ("deepwalk", {"layout": "table"}),
    ("deepwalk", {"layout": "entries"}),
    ("deepwalk", {"layout": "csr"}),
    ("deepwalk", {"select": "its"}),
    ("deepwalk", {"walk_length": 0}),
    ("neighbor", {"fanout": (5, 3), "replace": True, "transit_parallel": "on"}),
    ("neighbor", {"fanout": (6, 3), "bias": "none", "transit_parallel": "on"}),
    ("neighbor", {"fanout": (3, 4), "bias": "degree", "transit_parallel": "on"}),
    ("neighbor", {"fanout": (3, 4), "bias": "degree", "layout": "csr"}),
    ("neighbor", {"fanout": (2, 2), "select": "its", "replace": True}),
    ("snowball", {"neighbor_size": 3, "weighted": False, "depth": 4}),
    ("forest-fire", {"weighted": False, "depth": 4}),
    ("biased", {"edge_bias": "e.weight / (e.dst_degree + 1)"}),
    (
        "biased",
        {"edge_bias": "e.weight * (1 + e.dst_degree) ** -0.75 + math.exp(-e.weight) * math.log(2 + e.src_degree)"},
    ),
    (
        "node2vec",
        {"edge_bias": "e.weight ** 0.3 if e.is_neighbor(e.prev, e.dst) else e.weight ** 2", "walk_length": 10},
    ),
    ("snowball", {"neighbor_size": 2, "edge_bias": "e.weight * e.src_degree"}),
    ("layer", {"depth": 2, "neighbor_size": 3, "bias": "degree"}),
    ("multidimensional", {"frontier_size": 3, "instances": 20, "walk_length": 40, "edge_bias": "e.weight"}),
    ("multidimensional", {"frontier_size": 70, "instances": 3, "walk_length": 700}),
]
ON_A_GPU = ("layout", "detect", "transit_parallel")
TREES = [
    *(("forest-fire", {"weighted": False, "burn_prob": 0.7, "depth": depth}) for depth in (0, 1, 2, 3, 4)),
    *(("forest-fire", {"weighted": False, "burn_prob": 0.9, "depth": depth}) for depth in (1, 2)),
    ("forest-fire", {"weighted": False, "burn_prob": 0.0}),
    ("snowball", {"weighted": False, "neighbor_size": 0}),
    ("snowball", {"weighted": False, "neighbor_size": 2}),
    ("snowball", {"weighted": False, "neighbor_size": 40}),
    ("snowball", {"weighted": False, "neighbor_size": 70, "depth": 1}),
    ("layer", {"weighted": False, "neighbor_size": 10}),
    ("layer", {"weighted": False, "neighbor_size": 1, "depth": 4}),
    ("layer", {"weighted": False, "neighbor_size": 3, "depth": 3, "frontier_size": 2}),
    ("layer", {"weighted": False, "neighbor_size": 40, "depth": 3, "frontier_size": 5}),
    ("layer", {"weighted": False, "neighbor_size": 0}),
    *(("random-edge", {"neighbor_size": size, "instances": 5}) for size in (0, 3, 100, 1000)),
]
BEYOND_A_BLOCK = [
    ("forest-fire", {"weighted": False, "burn_prob": 0.95, "depth": 3, "instances": 20}),
    ("layer", {"weighted": False, "neighbor_size": 5000, "frontier_size": 3}),
    ("layer", {"weighted": False, "neighbor_size": 4, "select": "keys"}),
    ("random-edge", {"neighbor_size": 5000, "instances": 5}),
    ("random-edge", {"neighbor_size": 50, "instances": 5, "select": "keys"}),
]
CASES = [(name, OPTIONS.get(name, {})) for name in registry.names()] + MORE + TREES + BEYOND_A_BLOCK


def hub_store(path, weighted):
    """A vertex with more neighbors than a large block has threads, several times over."""
    rng = np.random.default_rng(3)
    edges = [(0, v, float(rng.integers(0, 9))) for v in range(1, 5000)]
    edges += [(int(u), int(v), 1.5) for u, v in rng.integers(1, 5000, (3000, 2)) if u < v]
    return store_of(path, sorted(set(edges)), directed=False, vertices=5001, weighted=weighted)


def dense_store(path):
    """Rows of hundreds, most of what they hold seen after a few neighbors; self loops."""
    edges = [(u, v, 1.0) for u in range(300) for v in range(u, 300) if (7 * u + 3 * v) % 4]
    return store_of(path, edges, directed=False, vertices=300, weighted=False)


def repeated_store(path):
    """Every edge many times over."""
    pairs = np.sort(np.random.default_rng(5).integers(0, 12, (900, 2)), axis=1)
    return store_of(path, [(int(u), int(v), 1.0) for u, v in pairs], directed=False, vertices=12)


GRAPHS = {
    "weighted": lambda path: random_store(path, partitions=3),
    "plain": lambda path: random_store(path, weighted=False),
    "directed": lambda path: random_store(path, directed=True, edges=900),
    "troubled": lambda path: store_of(path, TROUBLED, directed=True, vertices=7),
    "square": lambda path: store_of(path, SQUARE, directed=False),
    "hub": lambda path: hub_store(path, True),
    "dense": dense_store,
    "repeated": repeated_store,
    "wide": lambda path: WideStore(random_store(path, seed=2)),
    "no edges": lambda path: store_of(path, [], directed=False, vertices=6),
    "one loop": lambda path: store_of(path, [(0, 0, 1)], directed=True),
}


def usable(store, algo, options):
    """The options, fitted to the graph."""
    options = dict(options)
    if algo == "random-node":
        options["frontier_size"] = min(options["frontier_size"], store.vertices)
    if options.get("layout") == "csr" and algo == "neighbor":
        return options
    table = options.get("layout") in ("table", "alias")
    if (table and not store.weighted) or (options.get("layout") in ("csr", "entries") and store.weighted):
        options["weighted"] = False
        options.pop("layout") if table else None
    if store.id_dtype.itemsize == 8:
        options.pop("transit_parallel", None)
    if store.id_dtype.itemsize == 8 and options.get("layout") in ("entries", "alias"):
        options.pop("layout")
    if store.max_degree > 200 and algo in ("random-edge", "snowball", "neighbor", "forest-fire", "random-node"):
        options["instances"] = min(options.get("instances", 60), 60 if algo != "random-edge" else 2)
    return options


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])
def test_the_gpu_draws_what_the_cpu_draws(tmp_path, algo, options, graph):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    options = usable(store, algo, options)
    on_cpu = {name: value for name, value in options.items() if name not in ON_A_GPU}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", batch_size=17, **options))


@pytest.mark.parametrize("room_bytes", [1 << 30, 20_000])
@pytest.mark.parametrize("graph", ["plain", "hub", "dense", "repeated", "wide"])
@pytest.mark.parametrize(("algo", "options"), TREES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(TREES)])
def test_what_outgrows_its_room_is_drawn_again(tmp_path, monkeypatch, algo, options, graph, room_bytes):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    options = {"instances": 90} | options
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    monkeypatch.setattr(trees, "GROWTH", 3)
    monkeypatch.setattr(trees, "ROOM_BYTES", room_bytes)
    monkeypatch.setattr(backend, "tree_span", lambda backend: min(tree_span(backend), 3))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options))


@pytest.mark.parametrize(("residency", "partitions"), [("streamed", 9), ("in place", 5), ("disk", 4)])
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])
def test_streamed_partitions_give_the_sample_of_a_resident_graph(tmp_path, algo, options, partitions, residency):
    options = {name: value for name, value in options.items() if name not in ("layout", "transit_parallel")}
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=partitions)
    on_cpu = {name: value for name, value in options.items() if name not in ON_A_GPU}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu)
    policy = Policy(in_place=residency == "in place")
    residency = "disk" if residency == "disk" else "streamed"
    given = {
        "device": "cuda",
        "seed": 5,
        "batch_size": 250,
        "residency": residency,
        "ids": "dense",
        "policy": policy,
        **options,
    }
    least = int(
        re.search("raise --gpu-memory to ([0-9,]+)", refusal(store, algo, gpu_memory=1000, **given))[1].replace(",", "")
    )
    job = prepare(store, algo, gpu_memory=least, **given)
    results = execute(job, tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    if not policy.in_place and results["sampled_edges"]:
        assert results["transfers"] >= partitions // 2
        assert results["evictions"] > 0


DETECTED = [(c, d) for c in ("bipartite", "repeated") for d in (None, *DETECTORS)]


@pytest.mark.parametrize(("collision", "detect"), [*DETECTED, ("updated", None)])
@pytest.mark.parametrize(
    "options", [{"fanout": (30, 3)}, {"fanout": (3, 2), "bias": "degree"}], ids=["weight", "degree"]
)
def test_selection_counts_what_the_cpu_counts(tmp_path, options, collision, detect):
    store = random_store(tmp_path / "g.zarr")
    given = {"select": "its", "collision": collision, "seed": 5, **options}
    on_gpu = prepare(store, "neighbor", device="cuda", detect=detect, **given)
    same = None if collision == "updated" else "linear" if on_gpu.plan.detect == "linear" else "contiguous"
    expected = execute(prepare(store, "neighbor", device="cpu", detect=same, **given), tmp_path / "c.zarr")
    found = execute(on_gpu, tmp_path / "g2.zarr")
    assert [found[name] for name in TALLY if name != "conflicts"] == [
        expected[name] for name in TALLY if name != "conflicts"
    ]
    assert expected["conflicts"] == 0
    assert (found["conflicts"] > 0) == (on_gpu.plan.detect in ("strided", "contiguous"))


@pytest.mark.parametrize("options", [{"weighted": False}, {"weighted": True}, {"select": "its"}, {"bias": "degree"}])
def test_what_few_wait_for_is_read_in_place(tmp_path, options):
    store = random_store(tmp_path / "g.zarr", vertices=4000, edges=60_000, partitions=6)
    algo = "biased" if "bias" in options else "deepwalk"
    options = options | {"seed": 5, "sources": list(range(7)), "walk_length": 60}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    given = {"device": "cuda", "residency": "streamed", "ids": "dense", **options}
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 4
    results = execute(prepare(store, algo, gpu_memory=memory, **given), tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    assert results["in_place"] > 0
    assert results["transfers"] <= 2 * len(store.partitions)  # a weighted graph's tables are made once


def refusal(store, algo, **options):
    """What a budget that is too small is answered."""
    with pytest.raises(BudgetError) as error:
        prepare(store, algo, **options)
    return str(error.value)


def test_a_bad_bias_names_its_edge(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    for options in ({}, {"select": "its"}):
        with pytest.raises(BiasError, match="the bias of edge"):
            arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", edge_bias="1.0 - e.dst", weighted=False,
                      sources=[0], **options)  # fmt: skip


def test_what_does_not_fit_is_refused_with_the_numbers(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    with pytest.raises(BudgetError, match="are needed on"):
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", gpu_memory=10_000)
    with pytest.raises(OptionError, match="possible are"):
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", layout="entries")


def test_out_of_memory_halves_the_batch(tmp_path, caplog):
    import cupy

    store = random_store(tmp_path / "g.zarr")
    options = {"num_walks": 2000, "walk_length": 40, "seed": 1}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (64 << 20))
    try:
        with caplog.at_level("INFO"):
            drawn = arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", batch_size=600_000, **options)
    finally:
        pool.set_limit(size=0)
    assert_same(expected, drawn)
    assert "out of memory with" in caplog.text


def test_nothing_stays_allocated(tmp_path):
    import cupy

    store = random_store(tmp_path / "g.zarr")
    before = cupy.get_default_memory_pool().used_bytes()
    for algo in ("deepwalk", "forest-fire", "multidimensional"):
        arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", instances=50)
        assert cupy.get_default_memory_pool().used_bytes() == before


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "forest-fire"])
def test_two_backends_on_one_gpu_keep_their_graphs_apart(tmp_path, algo):
    stores = [random_store(tmp_path / f"{seed}.zarr", seed=seed) for seed in (1, 2)]
    jobs = [prepare(store, algo, device="cuda", seed=5, ids="dense") for store in stores]
    opened = [open_backend(job) for job in jobs]
    size = 100
    batches = [
        one.begin(0, job.sources.take(0, size, job.plan.layout == "walks"))
        for one, job in zip(opened, jobs, strict=True)
    ]
    for batch in batches:
        batch.advance()
    for one in opened:
        one.wait()
    drawn = [batch.arrays() for batch in batches]
    for one in opened:
        one.close()
    for store, found in zip(stores, drawn, strict=True):
        expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5)
        for name in found.keys() & expected.keys() - {"instance_ptr"}:
            part = expected[name][: len(found[name])]
            assert np.array_equal(found[name], part), name


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "forest-fire", "multidimensional"])
def test_several_gpus_draw_what_one_does(tmp_path, monkeypatch, algo):
    import cupy

    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 13)  # something to do for every GPU
    count = cupy.cuda.runtime.getDeviceCount()
    if count < 2:
        pytest.skip("one GPU")
    store = random_store(tmp_path / "g.zarr")
    options = {"num_walks": 3000} if algo in ("deepwalk", "node2vec") else {"instances": 3000}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options)
    devices = "cuda:" + ",".join(str(number) for number in range(count))
    drawn = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device=devices, batch_size=1000, **options)
    assert_same(expected, drawn)


@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])
def test_a_graph_spread_over_gpus_gives_the_sample_of_a_resident_one(tmp_path, monkeypatch, algo, options):
    import cupy

    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 13)  # something to do for every GPU
    count = cupy.cuda.runtime.getDeviceCount()
    if count < 2:
        pytest.skip("one GPU")
    options = {name: value for name, value in options.items() if name not in ("layout", "transit_parallel")}
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=7)
    on_cpu = {name: value for name, value in options.items() if name not in ON_A_GPU}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu)
    devices = "cuda:" + ",".join(str(number) for number in range(count))
    drawn = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device=devices, residency="pooled", **options)
    assert_same(expected, drawn)


@pytest.mark.parametrize("residency", ["streamed", "disk"])
@pytest.mark.parametrize("algo", ["deepwalk", "biased", "node2vec", "neighbor", "forest-fire"])
def test_gpus_that_share_a_host_copy_draw_what_one_does(tmp_path, monkeypatch, algo, residency):
    import cupy

    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 13)  # something to do for every GPU
    count = cupy.cuda.runtime.getDeviceCount()
    if count < 2:
        pytest.skip("one GPU")
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=6)
    options = (
        {"num_walks": 30, "walk_length": 20} if algo in ("deepwalk", "biased", "node2vec") else {"instances": 3000}
    )
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    given = {
        "device": "cuda:" + ",".join(map(str, range(count))),
        "seed": 5,
        "batch_size": 1000,
        "residency": residency,
        **options,
    }
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    assert_same(expected, arrays_of(store, tmp_path / "t.zarr", algo, gpu_memory=memory, **given))


def test_what_a_failed_gpu_leaves_is_done_by_another(tmp_path, monkeypatch, caplog):
    import cupy

    from csaw.engine.cuda.walks import Walks

    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 13)
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU")
    store = random_store(tmp_path / "g.zarr")
    options = {"num_walks": 3000, "seed": 5}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    advance = Walks.advance

    def advance_or_fail(self):
        if self.backend.device.id == 1:
            raise cupy.cuda.runtime.CUDARuntimeError(700)
        advance(self)

    monkeypatch.setattr(Walks, "advance", advance_or_fail)
    assert_same(
        expected, arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda:0,1", batch_size=1000, **options)
    )
    assert "the others do its part" in caplog.text


@pytest.mark.parametrize("switched", ["batching", "workload_aware", "balancing"])
@pytest.mark.parametrize(
    "algo", ["deepwalk", "node2vec", "biased", "neighbor", "forest-fire", "layer", "multidimensional"]
)
def test_switches_of_scheduling_change_no_byte(tmp_path, algo, switched):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=6)
    options = OPTIONS.get(algo, {}) | {"seed": 5, "instances": 40}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    given = {
        "device": "cuda",
        "residency": "streamed",
        "ids": "dense",
        "policy": Policy(in_place=False, **{switched: False}),
    }
    largest = max(p.edges for p in store.partitions)
    job = prepare(store, algo, **given, **options)
    memory = job.plan.fixed_bytes + job.plan.batch_bytes + 3 * 24 * largest
    results = execute(prepare(store, algo, gpu_memory=memory, **given, **options), tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    assert results["transfers"] > 0
    assert algo == "multidimensional" or results["kernel_seconds"] > 0
