"""Any budget that holds the longest row and the offsets gives the sample of a graph that fits."""

import zlib

import numpy as np
import pytest
from helpers.budgets import least
from helpers.cases import OPTIONS
from helpers.graphs import arrays_of, random_store, store_of, stored_arrays
from helpers.invariance import assert_same
from helpers.rates import pin_row_bytes

from csaw.engine import execute, prepare
from csaw.engine.api import registry
from csaw.engine.cpu.places import PAGE
from csaw.engine.cuda.device import Device
from csaw.engine.plan.gpu_memory import owners
from csaw.engine.plan.options import Policy, RunOptions
from csaw.engine.plan.planning import make_plan
from csaw.engine.plan.streaming import SLOTS
from csaw.engine.sources.sources import Sources
from csaw.partition import write_graph
from csaw.partition.arrays.loader import Mapped
from csaw.partition.arrays.words import Words
from csaw.partition.errors import BudgetError, StoreError
from csaw.partition.graph.views import Split

FEW_PAGES = 4 * PAGE  # at the ends of an array, and of what lies beside it
GPU = Device(0, "none", "sm_90", 132, 1 << 40)
FEW_STEPS = {"walk_length": 6}
CASES = [
    ("deepwalk", {"weighted": False} | FEW_STEPS),
    ("deepwalk", FEW_STEPS),
    ("node2vec", {"p": 0.3, "q": 3.0} | FEW_STEPS),
    ("neighbor", OPTIONS.get("neighbor", {})),
    ("layer", OPTIONS.get("layer", {})),
    ("multidimensional", OPTIONS.get("multidimensional", {}) | FEW_STEPS),
    ("neighbor", {"fanout": (4, 3), "edge_bias": "2 if e.is_neighbor(e.prev, e.dst) else 1"}),
    ("minibatch", {"fanout": (4, 3), "seeds_per_batch": 9, "edge_bias": "e.weight * (1 + e.depth)"}),
]


def graph_of(path, compression=None):
    """A graph of which the largest partition has most of the edges; ``compression``: of its chunks."""
    graph = random_store(path, vertices=500, edges=6000).load()
    return write_graph(
        path,
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=False,
        partitions=2,
        overwrite=True,
        compression=compression,
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("in_place", [False, True], ids=["pieces", "rows"])
@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])
def test_a_graph_in_pieces_for_any_budget_gives_the_sample_of_one_that_fits(
    tmp_path, monkeypatch, algo, options, compression, in_place
):
    pin_row_bytes(monkeypatch, 0.001)  # single rows are read wherever that is allowed
    store, options = graph_of(tmp_path / "g.zarr", compression), options | {"seed": 5, "instances": 60}
    expected = arrays_of(store, tmp_path / "r.zarr", algo, **options)
    given = options | {"residency": "disk", "ids": "dense", "device": "cpu", "policy": Policy(in_place=in_place)}
    fewest = least(store, algo, in_flight=8, **given)
    plan = prepare(store, algo, memory=1 << 40, in_flight=8, **given).plan
    most = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes
    rng = np.random.default_rng(zlib.crc32(algo.encode()))
    for memory in [fewest, *rng.integers(fewest, most, 3).tolist()]:
        job = prepare(store, algo, memory=memory, in_flight=8, **given)
        results = execute(job, tmp_path / "s.zarr", overwrite=True)
        assert_same(expected, stored_arrays(tmp_path / "s.zarr"))
        assert job.plan.pieces == len(job.store.partitions)
        assert memory > fewest or (job.plan.pieces > 20 and results["evictions"] > 0)
        assert bool(job.plan.fixed["chunks"]) == bool(compression)


IDS = {
    "narrow": np.arange(500) * 3 + 7,
    "wide": np.arange(500) * 2**40,
    "negative": np.arange(500) * 3 - 700,
    "large": np.arange(500, dtype=np.uint64) + np.uint64(2**64 - 501),
    "words": np.array([f"v{k:04d}" for k in range(500)], object),
}


@pytest.mark.parametrize("kind", IDS)
def test_original_ids_that_stay_on_disk_are_written_as_others_are(tmp_path, kind):
    graph = random_store(tmp_path / "g.zarr", vertices=500, edges=6000).load()
    path = write_graph(
        tmp_path / "g.zarr", graph.indptr, graph.indices, directed=False, vertex_ids=IDS[kind], overwrite=True
    ).path
    given = {"seed": 5, "device": "cpu", "sources": IDS[kind][[3, 400]], "walk_length": 6}
    kept = prepare(path, "deepwalk", **given)
    assert kept.plan.fixed["ids"] == kept.store.id_bytes > 0
    execute(kept, tmp_path / "r.zarr")
    whole = kept.plan.fixed_bytes + kept.plan.graph_bytes + kept.plan.batch_bytes
    for budget in (
        {"memory": least(path, "deepwalk", residency="disk", **given), "residency": "disk"},
        {"memory": whole - 1},
    ):
        job = prepare(path, "deepwalk", **budget, **given)
        assert (job.plan.fixed["ids"], job.plan.residency) == (0, budget.get("residency", "resident"))
        ids = job.written_ids
        assert isinstance(ids.text if isinstance(ids, Words) else ids, Mapped)
        execute(job, tmp_path / "s.zarr", overwrite=True)
        assert_same(stored_arrays(tmp_path / "r.zarr"), stored_arrays(tmp_path / "s.zarr"))


def test_a_damaged_block_ends_a_run_in_pieces(tmp_path):
    store = graph_of(tmp_path / "g.zarr")
    file = store.path / "partitions/00001/indices/c/0"
    content = bytearray(file.read_bytes())
    content[9000] ^= 1
    file.write_bytes(content)
    given = {"residency": "disk", "weighted": False, "walk_length": 6, "seed": 5}
    memory = least(store, "deepwalk", in_flight=8, **given)
    with pytest.raises(StoreError, match=r"00001/indices/c/0: bytes from 8,192 on have changed"):
        execute(
            prepare(store, "deepwalk", memory=memory, in_flight=8, policy=Policy(in_place=False), **given),
            tmp_path / "s.zarr",
        )


def test_a_row_that_is_most_of_the_graph_is_a_piece_of_its_own(tmp_path):
    star = [(0, leaf, 1.0 + leaf % 7) for leaf in range(1, 3000)] + [(leaf, leaf + 1, 1.0) for leaf in range(1, 2999)]
    store = store_of(tmp_path / "g.zarr", star, directed=False)
    given = {"walk_length": 8, "seed": 5, "instances": 50, "ids": "dense"}
    expected = arrays_of(store, tmp_path / "r.zarr", "deepwalk", walk_length=8, seed=5, instances=50)
    memory = least(store, "deepwalk", residency="disk", **given)
    job = prepare(store, "deepwalk", memory=memory, residency="disk", **given)
    assert job.store.largest_partition == store.max_degree == 2999
    execute(job, tmp_path / "s.zarr")
    assert_same(expected, stored_arrays(tmp_path / "s.zarr"))
    with pytest.raises(BudgetError, match="1 piece of 2,999 edges, as many as the longest row has; "):
        prepare(store, "deepwalk", memory=memory - 1, residency="disk", **given)


@pytest.mark.parametrize("device", ["cpu", GPU], ids=["cpu", "gpu"])
def test_pieces_are_no_smaller_than_some_of_them_fit(tmp_path, device):
    store = graph_of(tmp_path / "g.zarr")
    budget, residency = ("memory", "disk") if device == "cpu" else ("gpu_memory", "streamed")
    given = {"device": device, "residency": residency, "weighted": False, "walk_length": 6, "in_flight": 8}
    roomy = prepare(store, "deepwalk", **{budget: 1 << 30}, **given)
    assert len(roomy.store.partitions) == 1  # all of it fits at once
    for share in (2, 3, 5, 9):
        plan = roomy.plan
        memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // share
        job = prepare(store, "deepwalk", **{budget: memory}, **given)
        assert isinstance(job.store, Split)
        assert job.plan.piece_bytes == job.store.largest_partition * 4
        room = job.plan.capacity / job.plan.piece_bytes
        assert SLOTS <= room < 2 * SLOTS + 2 or job.plan.piece_bytes == 4 * store.max_degree


@pytest.mark.parametrize(
    ("algo", "options", "names"),
    [
        ("deepwalk", {}, ("offsets of rows, 8 bytes a vertex", "making the tables")),
        ("node2vec", {"p": 0.3}, ("offsets of rows, 8 bytes a vertex", "sums of rows' weights, 8 bytes a vertex")),
        ("neighbor", {"layout": "csr"}, ("offsets of rows, 8 bytes a vertex", "candidates")),
    ],
)
def test_a_plan_names_each_part_of_its_fixed_memory(tmp_path, algo, options, names):
    store = graph_of(tmp_path / "g.zarr")
    given = {"device": GPU, "residency": "streamed", **options}
    plan = prepare(store, algo, gpu_memory=1 << 30, **given).plan
    assert sum(plan.fixed.values()) == plan.fixed_bytes
    assert plan.fixed["offsets"] == 8 * (store.vertices + 1)
    assert bool(plan.fixed["row_sums"]) == (algo == "node2vec")
    with pytest.raises(BudgetError) as error:
        prepare(store, algo, gpu_memory=1000, **given)
    assert names[0] in str(error.value)
    assert names[1] in str(error.value) or algo == "deepwalk"
    assert "partition" not in str(error.value).replace("partitions of vertices", "")


def test_no_refusal_for_memory_asks_to_partition_again(tmp_path):
    store = graph_of(tmp_path / "g.zarr")
    for given in ({"device": "cpu", "memory": 500}, {"device": GPU, "gpu_memory": 500}):
        with pytest.raises(BudgetError) as error:
            prepare(store, "deepwalk", **given)
        assert "csaw partition" not in str(error.value)


def test_a_graph_of_one_partition_is_shared_by_several_gpus(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=6000)
    pair = (Device(0, "none", "sm_90", 132, 1 << 20, (1,)), Device(1, "none", "sm_90", 132, 1 << 20, (0,)))
    walks = registry.build("deepwalk", {"walk_length": 5}, None)
    sources = Sources(store, walks, "random:10", None, 1)

    def planned(store, **options):
        run = RunOptions(seed=1, ids="dense", in_flight=10, threads=1, residency="pooled", **options)
        return make_plan(store, walks, sources, pair, name="deepwalk", weighted=True, options=run)

    plan = planned(store)
    assert plan.piece_edges < store.largest_partition
    pieces = Split(store, plan.piece_edges)
    assert planned(pieces).graph_bytes <= plan.graph_bytes < 0.75 * 12 * store.edges
    assert set(owners(pieces, 2)) == {0, 1}
    with pytest.raises(BudgetError, match="the graph's share; .*raise --gpu-memory to .* or name more GPUs"):
        planned(store, gpu_memory=1000)


def test_tables_beside_the_rows_of_several_gpus_need_more_of_the_host(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=6000, partitions=8)
    pair = (Device(0, "none", "sm_90", 132, 1 << 20), Device(1, "none", "sm_90", 132, 1 << 20))
    walks = registry.build("deepwalk", {"walk_length": 5}, None)
    sources = Sources(store, walks, "random:10", None, 1)
    options = RunOptions(
        seed=1, ids="dense", in_flight=10, threads=1, gpu_memory=100_000, memory=16 * store.edges * 8 // 7
    )
    found = [
        make_plan(store, walks, sources, devices, name="deepwalk", weighted=True, options=options).residency
        for devices in (pair[:1], pair)
    ]
    assert found == ["streamed", "disk"], "12 bytes an edge, and 20"
