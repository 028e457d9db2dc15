"""A graph larger than a GPU gives the sample of one that fits, whatever is where and when."""

import re

import numpy as np
import pytest
from helpers.cases import OPTIONS
from helpers.gpu import brief, device_or_skip, every_case, need_gpus, on_cpu
from helpers.graphs import arrays_of, random_store, store_of, stored_arrays
from helpers.invariance import assert_same
from helpers.rates import pin_row_bytes

from csaw.engine import execute, prepare
from csaw.engine.plan.options import Policy
from csaw.partition import write_graph
from csaw.partition.errors import BiasError, BudgetError, StoreError
from csaw.partition.graph.views import Coalesced, Split

device_or_skip()


from csaw.engine.cuda.graphs import pieces as cuda_rows
from csaw.engine.cuda.graphs.streamed import StreamedGraph


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("residency", "partitions"), [("streamed", 5), ("in place", 4), ("disk", 3)])
@every_case
def test_streamed_partitions_give_the_sample_of_a_resident_graph(tmp_path, algo, options, partitions, residency):
    options = {name: value for name, value in options.items() if name not in ("layout", "transit_parallel")}
    options = brief(algo, options, steps=5)  # each brings every partition: most of the time is waiting for the GPU
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=partitions)
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    policy = Policy(in_place=residency == "in place")
    residency = "disk" if residency == "disk" else "streamed"
    given = {
        "device": "cuda",
        "seed": 5,
        "in_flight": 250,
        "residency": residency,
        "ids": "dense",
        "policy": policy,
        **options,
    }
    job = prepare(store, algo, gpu_memory=least(store, algo, **given), **given)
    results = execute(job, tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    if not policy.in_place and results["sampled_edges"]:
        assert results["transfers"] >= partitions // 2
        assert results["evictions"] > 0


SPLIT = [
    ("deepwalk", {"weighted": False}),
    ("deepwalk", {"weighted": True}),
    ("node2vec", {"p": 0.3, "q": 3.0}),
    ("neighbor", {}),
    ("layer", {}),
    ("multidimensional", {}),
]


FEW_COUNT = {"edge_bias": "e.weight if e.dst % 7 == 0 else 0.0"}  # rows have fewer neighbors that count than are picked


@pytest.mark.parametrize("options", [{}, FEW_COUNT, {"fanout": (32, 1)}, {"fanout": (5, 3), "instances": 3}])
@pytest.mark.parametrize("layout", ["csr", "ctps"])
@pytest.mark.parametrize("residency", ["streamed", "disk"])
def test_picks_by_running_sums_of_partitions_are_those_of_rows(tmp_path, options, layout, residency):
    rng, hub = np.random.default_rng(3), np.arange(1, 9000)  # neighbors of a vertex whose row large blocks sum up
    ends = np.unique(rng.integers(1, 9000, (60_000, 2)), axis=0)
    edges = np.concatenate([ends, np.column_stack([0 * hub, hub]), np.column_stack([hub, 0 * hub])[::3]])
    edges = np.column_stack([edges, rng.integers(0, 64, len(edges)) / 8])
    store = store_of(tmp_path / "g.zarr", edges, directed=True, vertices=9000, partitions=7)
    options = {"fanout": (6, 4), "seed": 5, "instances": 700} | options
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    given = {"device": "cuda", "residency": residency, "layout": layout, "ids": "dense", "in_flight": 300, **options}
    memory = 2 * least(store, "neighbor", **given)
    job = prepare(store, "neighbor", gpu_memory=memory, **given)
    assert job.plan.graph_layout == layout
    execute(job, tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))


@pytest.mark.parametrize("residency", ["streamed", "disk"])
@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize(("algo", "options"), SPLIT, ids=[f"{a}-{i}" for i, (a, _) in enumerate(SPLIT)])
def test_one_partition_in_pieces_for_any_budget(tmp_path, algo, options, compression, residency):
    graph = random_store(tmp_path / "g.zarr", vertices=400, edges=6000).load()
    store = write_graph(
        tmp_path / "h.zarr",
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=False,
        partitions=1,
        compression=compression,
    )
    options = brief(algo, OPTIONS.get(algo, {}) | options | {"seed": 5, "instances": 60}, steps=5)
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **on_cpu(options))
    given = {"device": "cuda", "residency": residency, "ids": "dense", "in_flight": 20, **options}
    given["policy"] = Policy(in_place=False)
    fewest = least(store, algo, **given)
    for memory in (fewest, 3 * fewest):
        job = prepare(store, algo, gpu_memory=memory, **given)
        results = execute(job, tmp_path / "t.zarr", overwrite=True)
        assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
        assert memory > fewest or (isinstance(job.store, Split) and results["evictions"] > 0)


@pytest.mark.parametrize("options", [{"weighted": False}, {"weighted": True}, {"select": "its"}, {"bias": "degree"}])
def test_what_few_wait_for_is_read_in_place(tmp_path, options):
    store = random_store(tmp_path / "g.zarr", vertices=4000, edges=60_000, partitions=6)
    algo = "biased" if "bias" in options else "deepwalk"
    options = options | {"seed": 5, "sources": list(range(7)), "walk_length": 60}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    given = {"device": "cuda", "residency": "streamed", "ids": "dense", **options}
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 4
    job = prepare(store, algo, gpu_memory=memory, **given)
    results = execute(job, tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    assert results["in_place"] > 0
    assert results["transfers"] <= 2 * len(job.store.partitions)  # a weighted graph's tables are made once


@pytest.mark.one_in(4)
@every_case
def test_rows_that_are_brought_alone_give_the_same(tmp_path, monkeypatch, algo, options):
    pin_row_bytes(monkeypatch, 1e-9)
    monkeypatch.setattr(cuda_rows, "STAGED", 100)
    options = {name: value for name, value in options.items() if name not in ("layout", "transit_parallel", "epochs")}
    options = brief(algo, options | {"instances": 20}, steps=5) | {"instances": 20}
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    given = {"device": "cuda", "seed": 5, "in_flight": 8, "residency": "disk", "ids": "dense", **options}
    results = execute(prepare(store, algo, gpu_memory=least(store, algo, **given), **given), tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    if (
        algo not in ("random-node", "random-edge", "links", "fastgcn", "saint-node", "cluster-gcn")
        and results["sampled_edges"]
    ):  # whose rows are anywhere
        assert results["in_place"] > 0


@pytest.mark.parametrize("options", [{"weighted": False}, {"weighted": True}, {"p": 0.3, "q": 3.0}])
def test_rows_of_partitions_that_are_moved_together(tmp_path, monkeypatch, options):
    pin_row_bytes(monkeypatch, 1e-9)
    monkeypatch.setattr(cuda_rows.DeviceRows, "most", 20)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    algo = "node2vec" if "p" in options else "deepwalk"
    options = options | {"seed": 5, "instances": 30, "walk_length": 10}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    job = prepare(store, algo, device="cuda", residency="disk", ids="dense", **options)
    assert isinstance(job.store, Coalesced)
    results = execute(job, tmp_path / "t.zarr")
    assert results["in_place"] > 0
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))


def test_rows_whose_tables_could_not_be_made_are_not_read(tmp_path, monkeypatch):
    pin_row_bytes(monkeypatch, 1e-9)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    options = {"seed": 5, "instances": 30, "walk_length": 20}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    build, failed = cuda_rows.build_alias_of_rows, []

    def fails_once(builder, rows, *arguments):
        if failed:
            return build(builder, rows, *arguments)
        failed.append(rows)
        raise MemoryError

    monkeypatch.setattr(cuda_rows, "build_alias_of_rows", fails_once)
    execute(prepare(store, "deepwalk", device="cuda", residency="disk", ids="dense", **options), tmp_path / "t.zarr")
    assert failed
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))


@pytest.mark.parametrize("device", ["cuda", "cuda:0,1"])
def test_a_bad_bias_and_a_lost_file_end_a_run_of_rows(tmp_path, monkeypatch, device):
    need_gpus(1 + device.count(","))
    pin_row_bytes(monkeypatch, 1e-9)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    given = {"device": device, "residency": "disk", "seed": 5, "instances": 30, "walk_length": 20}
    with pytest.raises(BiasError):
        execute(prepare(store, "biased", edge_bias="e.weight - 1e9", **given), tmp_path / "s.zarr")
    for file in (tmp_path / "g.zarr" / "partitions").glob("*/indices/c/*"):
        file.write_bytes(b"")
    with pytest.raises(StoreError, match="make the store again"):
        execute(prepare(store, "deepwalk", **given), tmp_path / "t.zarr")


def test_rows_make_way_for_others(tmp_path, monkeypatch):
    pin_row_bytes(monkeypatch, 1e-9)
    monkeypatch.setattr(cuda_rows.DeviceRows, "most", 5)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=9)
    for algo, options in (("deepwalk", {}), ("node2vec", {"weighted": False}), ("node2vec", {"p": 0.3, "q": 3.0})):
        options = options | {"seed": 5, "instances": 20, "walk_length": 15}
        expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
        given = {"device": "cuda", "residency": "disk", "ids": "dense", **options}
        results = execute(
            prepare(store, algo, gpu_memory=least(store, algo, **given), **given), tmp_path / "t.zarr", overwrite=True
        )
        assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
        assert results["in_place"] > 0


def least(store, algo, **options):
    """The smallest budget of a GPU that is not refused."""
    with pytest.raises(BudgetError) as error:
        prepare(store, algo, gpu_memory=1000, **options)
    return int(re.search("raise --gpu-memory to ([0-9,]+)", str(error.value))[1].replace(",", ""))


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


@pytest.mark.parametrize("residency", ["streamed", "disk"])
@pytest.mark.parametrize(
    ("algo", "options"), [("deepwalk", {}), ("node2vec", {"p": 0.3, "q": 3.0}), ("ppr", {"termination_prob": 0.05})]
)
def test_the_partition_that_comes_next_is_copied_ahead(tmp_path, monkeypatch, algo, options, residency):
    landed, begins = list[int](), StreamedGraph._begin_copy

    def spied(graph, number, slot):
        if slot is graph.slots[graph.landing % len(graph.slots)] and number not in graph.slot_of:
            landed.append(number)
        return begins(graph, number, slot)

    monkeypatch.setattr(StreamedGraph, "_begin_copy", spied)
    store = random_store(tmp_path / "g.zarr", vertices=4000, edges=60_000, partitions=12)
    options = {"seed": 5, "weighted": False} | options
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    given = {"device": "cuda", "residency": residency, "ids": "dense", "in_flight": 500, **options}
    given["policy"] = Policy(in_place=False)
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    job = prepare(store, algo, gpu_memory=memory, **given)
    assert job.plan.fixed["landing"] == job.plan.piece_bytes
    results = execute(job, tmp_path / "t.zarr")
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    assert landed
    assert results["transfers"] >= len(landed)


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
def test_tables_of_long_rows_are_those_of_the_cpu(tmp_path, residency):
    rng, rows = np.random.default_rng(3), {0: 1023, 1: 1024, 2: 1025, 3: 8000, 4: 5000, 5: 4096}
    ends = [np.column_stack([np.full(size, v), rng.choice(9000, size, replace=False)]) for v, size in rows.items()]
    back = np.column_stack([np.arange(6, 9000), rng.integers(0, 6, 8994)])
    edges = np.concatenate([*ends, back])
    weights = rng.integers(0, 64, len(edges)) / 8
    weights[edges[:, 0] == 4] = 0  # nothing of it can be taken
    weights[edges[:, 0] == 5] = 0.3  # no entry has an alias
    edges = np.column_stack([edges, weights])
    store = store_of(tmp_path / "g.zarr", edges, directed=True, vertices=9000, partitions=4)
    options = {"seed": 5, "num_walks": 2, "walk_length": 9, "weighted": True}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    given = {"device": "cuda", "residency": residency, **options}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "deepwalk", **given))
    if residency != "resident":
        memory = 2 * least(store, "deepwalk", ids="dense", **given)
        assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "deepwalk", gpu_memory=memory, **given))
