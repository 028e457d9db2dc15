"""What the plan of a streamed run expects to be moved, against what the run moves."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store
from helpers.rates import pin_row_bytes

from csaw.cli.main import cli
from csaw.engine import execute, prepare
from csaw.engine.cuda.device import Device
from csaw.engine.plan import planning
from csaw.engine.plan.rates import ASSUMED
from csaw.engine.plan.streaming import PAIRS, PARTITIONS, ROWS, _alone
from csaw.partition import open_graph

GPU = Device(0, "none", "sm_90", 132, 1 << 40)
PLAIN = {"weighted": False, "seed": 3}
WALK = PLAIN | {"walk_length": 16, "instances": 3000}
RUNS = [
    ("deepwalk", WALK, PARTITIONS),
    ("deepwalk", WALK | {"weighted": True}, PARTITIONS),
    ("node2vec", WALK | {"p": 0.5, "q": 2.0}, PARTITIONS),
    ("node2vec", WALK | {"p": 2.0, "q": 0.5}, PARTITIONS),
    ("node2vec", WALK | {"p": 0.25, "q": 4.0}, PARTITIONS),
    ("node2vec", WALK | {"p": 0.5, "q": 2.0, "select": "its", "walk_length": 4}, PAIRS),
    ("neighbor", PLAIN | {"fanout": (5, 4), "instances": 1000}, PARTITIONS),
    ("forest-fire", PLAIN | {"depth": 3, "burn_prob": 0.6, "instances": 1000}, PARTITIONS),
    ("layer", PLAIN | {"depth": 2, "instances": 1000}, PARTITIONS),
    ("random-edge", PLAIN | {"instances": 200}, PARTITIONS),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", vertices=2000, edges=60_000, partitions=16)


def job_with_room(store, algo, options, partitions):
    """The job with memory for so many partitions of the graph."""
    given = {"in_flight": options["instances"]} | options | {"residency": "disk", "device": "cpu"}
    plan = prepare(store, algo, **given).plan
    edge = plan.needs.edge
    making = edge.stored if plan.needs.alias_tables else 0  # of one partition's tables
    room = store.largest_partition * (partitions * edge.in_partition(plan.graph_layout) + making)
    fixed = plan.fixed_bytes - plan.fixed["table_scratch"]
    return prepare(store, algo, memory=fixed + plan.batch_bytes + room, **given)


@pytest.mark.parametrize("room", [4, 8])
@pytest.mark.parametrize(("algo", "options", "way"), RUNS, ids=[f"{algo}-{i}" for i, (algo, *_) in enumerate(RUNS)])
def test_a_run_moves_what_its_plan_expects_within_half_more_or_less(tmp_path, store, algo, options, way, room):
    job = job_with_room(store, algo, options | {"in_place": False}, room)
    results = execute(job, tmp_path / "s.zarr")
    assert results["expected_strategy"] == way
    assert results["expected_transfers"] / 1.5 <= results["transfers"] <= results["expected_transfers"] * 1.5
    loaded = job.plan.strategies[way]["bytes"] / results["expected_transfers"]
    edge = job.plan.needs.edge.in_partition(job.plan.graph_layout)
    assert loaded == pytest.approx(job.store.edges / len(job.store.partitions) * edge, rel=0.1)


@pytest.fixture(scope="module")
def skewed(tmp_path_factory):
    """An R-MAT graph, whose walkers gather in few of its partitions."""
    path = tmp_path_factory.mktemp("rmat") / "g.zarr"
    line = ["datasets", "generate", "rmat:scale=12,edge_factor=16,weights=1", str(path), "--partitions", "16"]
    assert CliRunner().invoke(cli, line).exit_code == 0
    return open_graph(path)


@pytest.mark.parametrize("room", [2, 5, 9])
@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("deepwalk", WALK | {"walk_length": 20}),
        ("deepwalk", WALK | {"walk_length": 20, "weighted": True}),
        ("node2vec", WALK | {"walk_length": 20, "p": 0.5, "q": 2.0}),
        ("neighbor", PLAIN | {"fanout": (10, 5), "instances": 1000}),
        ("forest-fire", PLAIN | {"depth": 2, "burn_prob": 0.7, "instances": 1000}),
    ],
    ids=["walk", "weighted-walk", "node2vec", "10x5", "forest-fire"],
)
def test_bytes_are_expected_within_half_more_or_less_where_walkers_gather(tmp_path, skewed, algo, options, room):
    results = execute(job_with_room(skewed, algo, options | {"in_place": False}, room), tmp_path / "s.zarr")
    assert results["transfer_bytes"] / 1.5 <= results["expected_bytes"] <= results["transfer_bytes"] * 1.5


@pytest.mark.parametrize(
    ("instances", "row_bytes", "way"),
    [(40, 30, ROWS), (1000, 100_000, PARTITIONS)],
    ids=["row-by-row", "in-partitions"],
)
@pytest.mark.parametrize("sources", ["all", "random:3000"])
@pytest.mark.parametrize("batches", [1, 4])
def test_fires_move_what_is_expected_whichever_way_their_rows_come(
    tmp_path, skewed, monkeypatch, instances, row_bytes, way, sources, batches
):
    pin_row_bytes(monkeypatch, row_bytes)
    options = PLAIN | {"depth": 2, "burn_prob": 0.7, "instances": instances, "sources": sources}
    job = job_with_room(skewed, "forest-fire", options | {"in_flight": instances // batches}, 4)
    results = execute(job, tmp_path / "s.zarr")
    assert results["expected_strategy"] == way
    assert (results["in_place"] > 0) == (way == ROWS)
    assert results["transfer_bytes"] / 1.5 <= results["expected_bytes"] <= results["transfer_bytes"] * 1.5


def moved_by_hand(partitions, held, steps, walkers=4000):
    """Graphs that walkers move who go to any partition with equal chances, while the partition that most wait for takes
    the place of the one that came first.
    """
    rng = np.random.default_rng(7)
    at, left, here, loads = rng.integers(0, partitions, walkers), np.full(walkers, steps), [], 0
    while left.any():
        waiting = np.bincount(at[left > 0], minlength=partitions)
        waiting[here] = 0
        here = [*here, int(waiting.argmax())][-held:]
        loads += 1
        while (going := np.flatnonzero((left > 0) & np.isin(at, here))).size:
            at[going] = rng.integers(0, partitions, going.size)
            left[going] -= 1
    return loads / partitions


@pytest.mark.parametrize("steps", [4, 20, 80])
@pytest.mark.parametrize("held", [1, 3, 6, 12, 18])
def test_walks_are_expected_to_move_what_a_simulation_moves(store, steps, held):
    shape = SimpleNamespace(by_steps=True, needs=SimpleNamespace(asks_later=False))
    expected = held / 24 + _alone(shape, steps, 1 - held / 24)
    assert expected == pytest.approx(moved_by_hand(24, held, steps), rel=0.25)


def test_few_walkers_read_rows_and_many_load_partitions(tmp_path, store, monkeypatch):
    pin_row_bytes(monkeypatch, 500)  # beside partitions that are as small
    for instances, way in (3, ROWS), (3000, PARTITIONS):
        job = job_with_room(store, "deepwalk", WALK | {"instances": instances}, 4)
        results = execute(job, tmp_path / f"{instances}.zarr")
        assert job.plan.expected["strategy"] == way
        assert set(job.plan.strategies) == {PARTITIONS, ROWS}
        assert (results["transfers"] == 0) == (way == ROWS)


@pytest.mark.parametrize("device", ["cpu", GPU], ids=["cpu", "gpu"])
def test_a_second_order_walk_never_waits_for_pairs_where_it_can_ask_later(store, device):
    given = WALK | {"p": 0.5, "q": 2.0, "device": device, "in_flight": WALK["instances"]}
    given |= {"residency": "disk"} if device == "cpu" else {"residency": "streamed"}
    budget = "memory" if device == "cpu" else "gpu_memory"
    plan = prepare(store, "node2vec", **given).plan
    for share in (0.1, 0.25, 0.5, 0.9):
        room = int(share * store.edges * plan.needs.edge.piece)
        ways = prepare(
            store, "node2vec", **{budget: plan.fixed_bytes + plan.batch_bytes + room}, **given
        ).plan.strategies
        assert set(ways) == {PARTITIONS, PAIRS, ROWS}
        assert ways[PARTITIONS]["bytes"] < ways[PAIRS]["bytes"]


def test_rows_that_a_gpu_reads_over_the_bus_move_their_picks_and_not_whole_rows(store):
    picks = WALK["instances"] * WALK["walk_length"]
    given = WALK | {"device": GPU, "residency": "streamed", "weighted": True}
    ways = prepare(store, "deepwalk", gpu_memory=1 << 20, **given).plan.strategies
    most = store.edges * 12 + picks * 4 * 32  # the graph once, and up to four reads of 32 bytes for each pick
    assert 0 < ways[ROWS]["bytes"] <= most


@pytest.mark.parametrize(("beside", "read_again"), [(2 << 20, ASSUMED.cached_bytes / 2), (0, ASSUMED.disk_bytes)])
def test_what_is_read_again_comes_from_what_the_system_keeps_where_the_store_fits_beside_the_run(
    store, monkeypatch, beside, read_again
):
    memory = 300 << 10
    monkeypatch.setattr(planning, "available_bytes", lambda: memory + beside)
    plan = prepare(store, "deepwalk", memory=memory, in_place=False, residency="disk", device="cpu", **WALK).plan
    graph, moved = store.edges * plan.needs.edge.in_partition(plan.graph_layout), plan.expected["bytes"]
    assert moved > 2 * graph
    seconds = graph / ASSUMED.disk_bytes + (moved - graph) / read_again
    assert plan.expected["loading_seconds"] == pytest.approx(seconds, rel=0.01)


def test_a_dry_run_shows_each_way_with_its_bytes_and_seconds_and_the_one_it_takes(store):
    line = [
        "sample",
        str(store.path),
        "out.zarr",
        "--algo",
        "node2vec",
        "--p",
        "0.5",
        "--q",
        "2",
        "--instances",
        "3000",
        "--walk-length",
        "16",
        "--residency",
        "disk",
        "--memory",
        "600KiB",
        "--device",
        "cpu",
        "--dry-run",
    ]
    said = CliRunner().invoke(cli, line, catch_exceptions=False).output
    ways = json.loads(CliRunner().invoke(cli, [*line, "--json"], catch_exceptions=False).stdout)["strategies"]
    shown = said.split("Ways to bring the graph, as expected\n")[1].split("\n\n")[0].splitlines()
    assert [text.split("  ")[1] for text in shown] == [
        "one partition at a time",
        "partitions in pairs",
        "rows one by one where they are",
    ]
    assert [f" {each['transfers']:,} loads, " in text for text, each in zip(shown, ways.values(), strict=True)] == [
        True,
        True,
        True,
    ]
    assert [text for text in shown if text.endswith(" (taken)")] == shown[:1]
