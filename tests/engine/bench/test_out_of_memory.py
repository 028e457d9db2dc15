"""The suite out-of-memory measures graphs of which half fits, and says so when it does not."""

from types import SimpleNamespace

import pytest
from helpers.bench import GRAPH, bench, row

from csaw.datasets.generate import generate
from csaw.engine.bench import shares
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph, in_partitions
from csaw.engine.bench.suites import from_disk
from csaw.engine.bench.suites import out_of_memory as suite
from csaw.engine.cuda.device import Device
from csaw.engine.devices import devices

GPU = Device(0, "none", "sm_90", 132, 1 << 38)


@pytest.mark.parametrize("on_gpu", [True, False])
def test_the_budget_of_each_work_has_room_for_half_of_the_graph(tmp_path, monkeypatch, on_gpu):
    monkeypatch.setattr(devices, "opened", lambda numbers: (GPU,))
    context = Context([], devices=(GPU,) if on_gpu else (), max_instances=100)
    made = generate("rmat:scale=14,edge_factor=4", tmp_path / "made.zarr")
    store = in_partitions(made, suite.PARTITIONS, tmp_path)
    for work in {work.name: context.shrunk(work) for work in (*suite.OF_PAPER, *suite.WORKS, suite.STREAMED)}.values():
        options = shares.share_options(context, store, work, suite.FIT / suite.PARTITIONS)
        for policy in (suite.ON_GPU if on_gpu else suite.ON_CPU).values():
            plan = shares.job_of(context, store, work, policy=policy, **options).plan
            edge = plan.needs.edge
            graph_bytes = store.edges * (edge.kept if on_gpu else edge.in_partition(plan.graph_layout))
            assert plan.capacity / graph_bytes == pytest.approx(0.5, abs=0.05), work.name


@pytest.mark.parametrize("on_gpu", [True, False])
def test_the_budget_of_a_run_from_disk_has_room_for_an_eighth_of_the_graph(tmp_path, monkeypatch, on_gpu):
    monkeypatch.setattr(devices, "opened", lambda numbers: (GPU,))
    context = Context([], devices=(GPU,) if on_gpu else ())
    store = in_partitions(
        generate("rmat:scale=14,edge_factor=8", tmp_path / "made.zarr"), from_disk.PARTITIONS, tmp_path
    )
    for work in (*from_disk.WORKS, from_disk.FEW):
        options = from_disk._budgets(context, store, context.shrunk(work))
        plan = shares.job_of(context, store, context.shrunk(work), **options).plan
        edge = plan.needs.edge
        graph_bytes = store.edges * (edge.kept if on_gpu else edge.in_partition(plan.graph_layout))
        assert plan.capacity / graph_bytes == pytest.approx(1 / from_disk.SHARE, abs=0.02), work.name
        if on_gpu:
            assert options["memory"] == pytest.approx(2 * store.edges * edge.stored / from_disk.SHARE, rel=0.05)


def test_a_run_that_moved_nothing_is_a_failure_of_the_suite(tmp_path, monkeypatch):
    line = [GRAPH, "--suite", "out-of-memory", "--only", "2 x 2 by degree, baseline"]
    line += ["--max-instances", "200", "--repeats", "1"]
    plenty = {"residency": "disk", "memory": 1 << 30}
    monkeypatch.setattr(shares, "share_options", lambda *_: plenty)
    _, said, rows = bench(*line, folder=tmp_path)
    assert rows[-1]["holds"] is False
    assert rows[-1]["found"].startswith(
        "the suite failed: its graph was in memory, as nothing was moved for 2 x 2 by degree, baseline"
    )
    assert rows[-1]["found"] in said


def of(work, way, rate=1.0, **columns):
    return row(
        f"{work}, {way}",
        rate,
        suite="out-of-memory",
        way=way,
        **{"transfers": 4, "transfer_bytes": 10, "in_place": 0} | columns,
    )


def steps(work, times=4.0, after=2, deviation=0.25):
    ways = [
        of(work, "baseline"),
        of(work, "batching", times),
        of(work, "and workload-aware", times, transfers=after, kernel_deviation=0.5),
    ]
    return [
        *ways,
        of(work, "and balancing", times, kernel_deviation=deviation),
        of(work, "and in place", transfers=0, transfer_bytes=0, in_place=3),
    ]


def test_rows_read_in_place_are_not_nothing():
    holds, found = suite.verdict(steps("a"))
    assert holds is True
    assert found.split("; ") == [
        "4 times the baseline with batching (a)",
        "4 times the baseline with workload-aware (a)",
        "4 times the baseline with balancing (a)",
        "2 times less deviation between multiprocessors with balancing (a)",
        "2 times fewer transfers with scheduling (a)",
    ]
    still = steps("a")
    still[1] |= {"transfer_bytes": 0, "transfers": 0}
    assert suite.verdict(still) == (
        False,
        "the suite failed: its graph was in memory, as nothing was moved for a, batching",
    )


def test_balancing_that_evens_out_nothing_fails():
    holds, found = suite.verdict(steps("a", deviation=0.6))
    assert holds is False
    assert "0.833 times less deviation between multiprocessors with balancing (a)" in found
    unmeasured = [{name: one for name, one in row.items() if name != "kernel_deviation"} for row in steps("a")]
    holds, found = suite.verdict(unmeasured)
    assert holds is None
    assert "the imbalance between multiprocessors was not measured" in found


def test_works_that_fail_are_named_and_no_pair_of_transfers_is_dropped():
    holds, found = suite.verdict([*steps("a"), *steps("b", times=2.5, after=8)])
    assert holds is False
    assert "2.5 to 4 times the baseline with batching; " in found
    assert "2.5 to 4 times the baseline with balancing (it fails for b (2.5))" in found
    assert "0.5 to 2 times fewer transfers with scheduling (it fails for b (0.5))" in found
    holds, found = suite.verdict([*steps("a"), *(row for row in steps("b") if row["way"] != "batching")])
    assert holds is None
    assert "transfers of b with only one of batching and scheduling" in found
    assert suite.verdict([row("a, all in memory", 1.0)]).holds is None


def test_a_traversal_that_passes_over_the_graph_once_a_depth_has_nothing_to_save_but_must_not_move_more():
    alike = [one | {"transfers": 2, "pass_bytes": 10} for one in steps("b")]
    holds, found = suite.verdict([*steps("a"), *alike])
    assert holds is True
    assert "2 times fewer transfers with scheduling (a); 1 times fewer where one pass a depth is made in order" in found
    more = [one | {"transfers": 3 if "workload" in one["work"] else 2} for one in alike]
    holds, found = suite.verdict([*steps("a"), *more])
    assert holds is False
    assert "0.667 times fewer where one pass a depth is made in order (b)" in found
    twice = [one | {"pass_bytes": 5} for one in alike]
    assert suite.verdict([*steps("a"), *twice]).holds is False


def test_a_pass_a_depth_moves_what_has_no_room(tmp_path):
    context = Context([], max_instances=100)
    made = generate("rmat:scale=14,edge_factor=4", tmp_path / "made.zarr")
    store = in_partitions(made, suite.PARTITIONS, tmp_path)
    options = shares.share_options(context, store, suite.NEIGHBORS, 0.5)
    job = shares.job_of(context, store, suite.NEIGHBORS, **options)
    graph = store.edges * job.plan.needs.edge.in_partition(job.plan.graph_layout)
    assert shares.pass_bytes(job) == pytest.approx(2 * graph / 2, rel=0.05)  # two depths, half of the graph
    walk = shares.job_of(context, store, suite.WALKS, **options)
    assert shares.pass_bytes(walk) is None


def test_the_walk_of_the_paper_is_measured_by_the_policies_that_end_in_time(monkeypatch):
    context, half = Context([], devices=(GPU,)), Graph("g", SimpleNamespace(vertices=8, edges=9))
    asked = []
    monkeypatch.setattr(suite, "_compared", lambda *given: asked.append(list(given[-1])) or iter(()))

    def rows_after(seconds, rest):
        short = [
            row(f"{suite.SHORT_WALK.name}, {way}", 1.0, way=way, seconds=rest if place else seconds)
            for place, way in enumerate(suite.ON_GPU)
        ]
        return {one["work"]: one["not_measured"] for one in suite._long_walk(context, half, short, suite.ON_GPU)}

    gaps = rows_after(seconds=20.0, rest=1.0)
    assert asked[-1] == [way for way in suite.ON_GPU if way != "baseline"]
    assert gaps["walk by degree, 4000 x 2000, baseline"] == (
        "it would take about 6,400 s, judged by walk by degree, 500 x 50"
    )
    rows_after(seconds=0.1, rest=0.1)
    assert asked[-1] == list(suite.ON_GPU)
    assert list(rows_after(seconds=20.0, rest=2.0)) == [f"{suite.LONG_WALK.name}, {way}" for way in suite.ON_GPU]
    assert asked[-1] == []
