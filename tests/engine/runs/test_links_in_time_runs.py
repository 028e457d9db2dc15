"""Links in time are a function of the request, wherever the graph is, and whoever draws them in how many parts."""

import numpy as np
import pytest
from helpers.executors import Threads
from helpers.graphs import arrays_of, stored_arrays
from helpers.interrupted import interrupted_after
from helpers.invariance import assert_request_decides, assert_same
from helpers.small_samples import files_of
from helpers.temporal import events_store, random_events

import csaw
from csaw.engine import execute, prepare
from csaw.engine.cluster.clusters import Cluster
from csaw.engine.cluster.dask_run import Tasks, plans_on, recipe_of
from csaw.engine.cluster.drawer import Drawing
from csaw.engine.cluster.shards import Shard, draw_shard
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.runs.job import manifest, stored_as
from csaw.engine.samples.writer import SampleWriter
from csaw.partition.errors import BudgetError, StoreError
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.views import Coalesced, Split

RNG = np.random.default_rng(8)
LISTED = {"ids": RNG.integers(0, 200, (300, 2)), "time": RNG.integers(-100, 100, 300)}
UNTIL = {"negative_time": "until", "num_negatives": 3, "skip_full": True}
CASES = {
    "drawn": UNTIL | {"instances": 300},
    "in turn": UNTIL | {"sources": "all", "instances": 3000, "negative_time": "ever"},
    "listed": UNTIL | {"sources": LISTED, "negative_bias": "degree"},
    "at one time": UNTIL | {"sources": LISTED["ids"], "start_time": 20, "allow_self": True},
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The first vertex has edges to all others, most of which come late."""
    folder = tmp_path_factory.mktemp("timed")
    events = random_events(200, 6000, 11, span=90)
    return [events_store(folder / f"g{n}.zarr", events, 200, partitions=n) for n in (1, 5)]


@every_case
def test_the_request_decides(tmp_path, stores, case):
    (whole, parts), given = stores, CASES[case]
    assert_request_decides(whole, parts, tmp_path / "s.zarr", "links", **given)
    expected = arrays_of(whole, tmp_path / "s.zarr", "links", seed=5, **given)
    assert sorted(expected) == ["links", "negatives", "time"]
    held = whole.load(whole.further_columns)
    memory = InMemory("g", held.indptr, held.indices, edge_columns={"time": held.columns["time"]})
    for graph in (memory, Split(parts, 300), Coalesced(parts, 2)):
        assert_same(expected, arrays_of(graph, tmp_path / "s.zarr", "links", seed=5, in_flight=7, **given))
    for in_place in (True, False):
        how = given | {"residency": "disk", "in_place": in_place, "memory": "64MiB"}
        assert_same(expected, arrays_of(parts, tmp_path / "s.zarr", "links", seed=5, in_flight=7, **how))


@pytest.mark.parametrize("most", [1, 50, 1000])
def test_first_times_that_are_read_piece_by_piece_are_the_same(tmp_path, stores, monkeypatch, most):
    expected = arrays_of(stores[0], tmp_path / "s.zarr", "links", **CASES["drawn"])
    monkeypatch.setattr("csaw.engine.batches.links.PIECE", most)
    assert_same(expected, arrays_of(stores[1], tmp_path / "s.zarr", "links", **CASES["drawn"]))


def test_the_times_of_links_are_part_of_the_request(stores):
    asked = [
        prepare(stores[0], "links", **CASES["listed"] | {"sources": LISTED | {"time": LISTED["time"] + shift}})
        for shift in (0, 1)
    ]
    assert asked[0].plan.request != asked[1].plan.request


@every_case
def test_samples_streams_and_virtual_samples_are_the_same(tmp_path, stores, case):
    given = CASES[case] | {"seed": 2}
    kept = csaw.sample(stores[0].path, tmp_path / "s.zarr", "links", **given)
    virtual = csaw.sample(stores[0].path, tmp_path / "v.zarr", "links", virtual=True, **given)
    held = csaw.sample(stores[0].path, algo="links", **given)
    streamed = [batch.arrays() for batch in csaw.stream(stores[0].path, "links", **given)]
    for name in stored_arrays(tmp_path / "s.zarr"):
        assert np.array_equal(kept[name][:], virtual[name][:]), name
        assert np.array_equal(kept[name][:], held[name][:]), name
        together = np.concatenate([arrays[name] for arrays in streamed])
        assert np.array_equal(kept[name][:], together.astype(kept[name][:].dtype)), name
    assert kept["time"].dtype == np.int64
    again = csaw.open_samples(tmp_path / "v.zarr")
    assert np.array_equal(again["negatives"][:], kept["negatives"][:])
    assert np.array_equal(again["time"][:], kept["time"][:])
    assert csaw.verify(tmp_path / "v.zarr").ok
    execute(virtual.job, tmp_path / "t.zarr")
    assert files_of(tmp_path / "t.zarr") == files_of(tmp_path / "s.zarr")


@every_case
def test_runs_go_on_and_shards_add_up_to_the_same_bytes(tmp_path, stores, case, monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 1000)
    job = prepare(stores[1], "links", in_flight=11, **CASES[case])
    execute(job, tmp_path / "s.zarr")
    with interrupted_after(2):
        execute(job, tmp_path / "t.zarr")
    other = prepare(stores[1], "links", in_flight=11, **CASES[case] | {"num_negatives": 4})
    with pytest.raises(StoreError, match="num_negatives"):
        execute(other, tmp_path / "t.zarr", resume=True)
    execute(job, tmp_path / "t.zarr", resume=True)
    for shard in ("1/2", "0/2"):
        draw_shard(job, tmp_path / "u.zarr", Shard.of(shard))
    assert files_of(tmp_path / "s.zarr") == files_of(tmp_path / "t.zarr") == files_of(tmp_path / "u.zarr")


def test_instances_are_64_bits(stores):
    job = prepare(stores[0], "links", **CASES["at one time"] | {"num_negatives": 5})
    backend, drawn = CpuBackend(job.plan, stores[0], job.algorithm), []
    for first in (0, 64, 2**32, 2**33, 2**62):
        batch = backend.begin(first, np.broadcast_to([[[3, 50], [4, 50]]], (64, 2, 2)))
        batch.advance()
        drawn.append(batch.arrays()["negatives"].tobytes())
    backend.close()
    assert len(set(drawn)) == 5


def test_the_plan_counts_the_bytes_of_first_times(tmp_path, stores):
    plan = prepare(stores[0], "links", device="cpu", **CASES["listed"]).plan
    edges = stores[0].edges
    assert plan.fixed["first_times"] == 48 * 200 + 40 * edges
    assert plan.fixed["negatives"] == 24 * 200
    assert prepare(stores[0], "links", device="cpu").plan.fixed["first_times"] == 0
    with pytest.raises(BudgetError, match="vertices by the time of their first edge"):
        prepare(stores[1], "links", device="cpu", memory=40 * edges, **CASES["drawn"])


def test_workers_of_a_cluster_draw_the_sample_of_one_machine(tmp_path, stores, monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 1000)
    given = CASES["listed"] | {"device": "cpu", "threads": 1}
    recipe = recipe_of(Cluster("address", "tcp://none:1"), stores[1].path, tmp_path / "s", "links", given, False)
    job, executor = recipe.here(), Threads()
    with (
        SampleWriter(tmp_path / "s", manifest(job), **stored_as(job)) as writer,
        executor.joined(Drawing(recipe)) as run,
    ):
        plans_on(executor, run)
        Tasks(executor, run, writer, None).run()
        writer.seal()
        writer.finish({})
    execute(job, tmp_path / "alone")
    assert csaw.verify(tmp_path / "s").ok
    assert_same(stored_arrays(tmp_path / "alone"), stored_arrays(tmp_path / "s"))
