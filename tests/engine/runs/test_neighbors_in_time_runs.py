"""Neighbors in time are a function of the request, wherever the graph is, and whoever draws them in how many parts."""

import numpy as np
import pytest
from helpers.graphs import arrays_of, stored_arrays
from helpers.interrupted import interrupted_after
from helpers.invariance import assert_request_decides, assert_same
from helpers.small_samples import files_of
from helpers.temporal import events_store, random_events

import csaw
from csaw.engine import execute, prepare
from csaw.engine.cluster.shards import Shard, draw_shard
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.plan import costs
from csaw.partition.errors import StoreError
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.views import Coalesced, Split

RNG = np.random.default_rng(8)
SOURCES = {"ids": RNG.integers(0, 200, 300), "time": RNG.integers(-100, 100, 300)}
BATCHES = {"disjoint": True, "seeds_per_batch": 20, "fanout": (4, 3)}
CASES = {
    "uniform": ("neighbor", {"fanout": (4, 3), "time_strategy": "uniform"}),
    "previous": ("neighbor", {"fanout": (4, 3), "time_strategy": "last", "time_against": "previous"}),
    "replace": ("neighbor", {"fanout": (4, 3), "time_strategy": "uniform", "replace": True, "time_window": 60}),
    "subgraphs": ("neighbor", {"fanout": (-1, 3), "time_strategy": "uniform", "time_order": "strict"}),
    "many": ("neighbor", {"fanout": (90, 2), "time_strategy": "uniform"}),
    "labor": ("labor", {"fanout": (4, 3), "time_strategy": "uniform", "frontier_size": 7}),
    "all of labor": ("labor", {"fanout": (-1, 2), "time_strategy": "uniform", "time_against": "previous"}),
    "layer": ("layer", {"neighbor_size": 9, "time_strategy": "uniform", "frontier_size": 4, "depth": 3}),
    "layer without limits": (
        "layer",
        {"neighbor_size": 40, "time_strategy": "uniform", "depth": None, "time_against": "previous", "total": 500},
    ),
    "batches": ("minibatch", BATCHES | {"time_strategy": "uniform"}),
    "last batches": ("minibatch", BATCHES | {"time_strategy": "last", "shuffle": True}),
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder, events = tmp_path_factory.mktemp("timed"), random_events(200, 6000, 11, span=90)
    return [events_store(folder / f"g{n}.zarr", events, 200, partitions=n) for n in (1, 5)]


@pytest.mark.one_in(2)
@every_case
def test_the_request_decides(tmp_path, stores, case):
    (whole, parts), (algo, given) = stores, CASES[case]
    given = given | {"sources": SOURCES}
    assert_request_decides(whole, parts, tmp_path / "s.zarr", algo, **given)
    expected = arrays_of(whole, tmp_path / "s.zarr", algo, seed=5, **given)
    assert len(np.unique(expected["seed_time"])) > 50
    held = whole.load(whole.further_columns)
    memory = InMemory("g", held.indptr, held.indices, edge_columns={"time": held.columns["time"]})
    for graph in (memory, Split(parts, 300), Coalesced(parts, 2)):
        assert_same(expected, arrays_of(graph, tmp_path / "s.zarr", algo, seed=5, in_flight=7, **given))
    for in_place in (True, False):
        how = given | {"residency": "disk", "in_place": in_place, "memory": "64MiB"}
        assert_same(expected, arrays_of(parts, tmp_path / "s.zarr", algo, seed=5, in_flight=7, **how))


@pytest.mark.parametrize("case", ["labor", "all of labor", "layer", "layer without limits"])
@pytest.mark.parametrize("most", [1, 50])
def test_edges_that_are_listed_piece_by_piece_are_the_same(tmp_path, stores, monkeypatch, case, most):
    algo, given = CASES[case]
    expected = arrays_of(stores[0], tmp_path / "s.zarr", algo, sources=SOURCES, **given)
    monkeypatch.setattr("csaw.engine.batches.in_time.LISTED_EDGES", most)
    assert_same(expected, arrays_of(stores[1], tmp_path / "s.zarr", algo, sources=SOURCES, **given))


@every_case
def test_the_times_of_sources_are_part_of_the_request(tmp_path, stores, case):
    algo, given = CASES[case]
    asked = [
        prepare(stores[0], algo, sources=SOURCES | {"time": SOURCES["time"] + shift}, **given).plan.request
        for shift in (0, 1)
    ]
    assert asked[0] != asked[1]


@pytest.mark.parametrize("case", ["uniform", "subgraphs", "labor", "layer", "batches"])
def test_samples_streams_and_virtual_samples_are_the_same(tmp_path, stores, case):
    algo, given = CASES[case]
    given = given | {"sources": SOURCES, "seed": 2}
    kept = csaw.sample(stores[0].path, tmp_path / "s.zarr", algo, **given)
    virtual = csaw.sample(stores[0].path, tmp_path / "v.zarr", algo, virtual=True, **given)
    held = csaw.sample(stores[0].path, algo=algo, **given)
    streamed = [batch.arrays() for batch in csaw.stream(stores[0].path, algo, **given)]
    names = [name for name in stored_arrays(tmp_path / "s.zarr") if not name.endswith("_ptr")]
    assert "seed_time" in names
    for name in names:
        assert np.array_equal(kept[name][:], virtual[name][:]), name
        assert np.array_equal(kept[name][:], held[name][:]), name
        together = np.concatenate([arrays[name] for arrays in streamed])
        assert np.array_equal(kept[name][:], together.astype(kept[name][:].dtype)), name
    assert kept["seed_time"].dtype == np.int64
    execute(virtual.job, tmp_path / "t.zarr")
    assert files_of(tmp_path / "t.zarr") == files_of(tmp_path / "s.zarr")


@pytest.mark.parametrize("case", ["uniform", "subgraphs", "labor", "layer", "batches"])
def test_runs_go_on_and_shards_add_up_to_the_same_bytes(tmp_path, stores, case, monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 4000)
    algo, given = CASES[case]
    job = prepare(stores[1], algo, sources=SOURCES, in_flight=11, **given)
    execute(job, tmp_path / "s.zarr")
    with interrupted_after(2):
        execute(job, tmp_path / "t.zarr")
    other = prepare(stores[1], algo, sources=SOURCES | {"time": SOURCES["time"] + 1}, in_flight=11, **given)
    with pytest.raises(StoreError, match="sources"):
        execute(other, tmp_path / "t.zarr", resume=True)
    execute(job, tmp_path / "t.zarr", resume=True)
    for shard in ("1/2", "0/2"):
        draw_shard(job, tmp_path / "u.zarr", Shard.of(shard))
    assert files_of(tmp_path / "s.zarr") == files_of(tmp_path / "t.zarr") == files_of(tmp_path / "u.zarr")


def test_instances_are_64_bits(stores):
    job = prepare(stores[0], "neighbor", start_time=50, time_strategy="uniform", fanout=(5,))
    backend, drawn = CpuBackend(job.plan, stores[0], job.algorithm), []
    for first in (0, 64, 2**32, 2**33, 2**62):
        batch = backend.begin(first, np.stack([np.zeros((64, 1), np.int64), np.full((64, 1), 50)], axis=-1))
        batch.advance()
        drawn.append(batch.arrays()["hop_1"].tobytes())
    backend.close()
    assert len(set(drawn)) == 5


def test_the_store_keeps_times_beside_vertices(tmp_path, stores):
    algo, given = CASES["uniform"]
    samples = csaw.sample(stores[0].path, tmp_path / "s.zarr", algo, sources=SOURCES, **given)
    group = samples.group(3, 9)
    assert [array.shape for array in group.values()] == [(6, 1), (6, 4), (6, 12), (6, 1), (6, 4), (6, 12)]
    edges = samples.layout.edges(group, samples.fill)
    held = stores[0].load(stores[0].further_columns)
    for src, dst, time in zip(edges["src"], edges["dst"], edges["time"], strict=True):
        row = slice(held.indptr[src], held.indptr[src + 1])
        assert ((held.indices[row] == dst) & (held.columns["time"][row] == time)).any()
    batch = samples.pyg(3, 9)
    assert batch["seed_time"].tolist() == SOURCES["time"][3:9].tolist()
    assert (batch["edge_time"] <= batch["seed_time"][batch["batch"][batch["edge_index"][0]]]).all()


@pytest.mark.parametrize("case", [case for case, (_, given) in CASES.items() if "disjoint" not in given])
def test_edges_in_the_order_by_time_change_nothing(tmp_path, stores, monkeypatch, case):
    algo, given = CASES[case]
    found = {}
    for picks in (1e-9, 1e18):
        monkeypatch.setattr(costs, "EVENT_PICKS", picks)
        assert (prepare(stores[0], algo, sources=SOURCES, **given).plan.fixed["events"] > 0) is (picks < 1)
        found[picks] = arrays_of(stores[0], tmp_path / "s.zarr", algo, seed=5, sources=SOURCES, **given)
    assert_same(found[1e-9], found[1e18])
