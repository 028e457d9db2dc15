"""What a plan says of budgets above its own, against the plans of these budgets."""

import pytest
from click.testing import CliRunner
from helpers.graphs import random_store

from csaw.cli.main import cli
from csaw.engine import prepare
from csaw.engine.cuda.device import Device
from csaw.engine.plan.costs import stored_bytes
from csaw.partition.base.quoting import parse_size

GPU = Device(0, "none", "sm_90", 132, 16 << 20)
WALK = {"walk_length": 20, "instances": 3000, "weighted": False, "seed": 3, "ids": "dense"}
ON_CPU, ON_GPU = {"device": "cpu"}, {"device": GPU, "memory": 64 << 20}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", vertices=2000, edges=60_000, partitions=16)


def prepared(store, budget, options):
    return prepare(store, "deepwalk", **WALK, **options, **budget).plan


@pytest.mark.parametrize(
    ("options", "budget", "where"),
    [
        (ON_CPU, {"memory": 300 << 10}, "resident"),
        (ON_CPU | {"residency": "disk"}, {"memory": 500 << 10}, "resident"),
        (ON_GPU, {"gpu_memory": 300 << 10}, "resident"),
        (ON_GPU | {"memory": 500 << 10}, {"gpu_memory": 300 << 10}, "streamed"),
    ],
    ids=["cpu", "cpu-forced", "gpu-streamed", "gpu-from-disk"],
)
def test_larger_budgets_are_twice_and_about_the_least_that_is_enough(store, options, budget, where):
    plan = prepared(store, budget, options)
    assert plan.residency.streams
    (*_, (name, last)) = plan.larger.items()
    option, size = name.split(" ")
    field = option.removeprefix("--").replace("-", "_")
    assert parse_size(size) in range(last["budget_bytes"] - 1, last["budget_bytes"] + 1)
    assert last["residency"] == where
    free = {key: value for key, value in options.items() if key not in ("residency", field)} | budget
    assert prepared(store, free | {field: last["budget_bytes"]}, {}).residency == where
    assert prepared(store, free | {field: last["budget_bytes"] * 6 // 7}, {}).residency is plan.residency
    now = (options | budget)[field]
    assert [each["budget_bytes"] for each in plan.larger.values()][:-1] in ([], [2 * now])
    if where == "resident":
        assert last["bytes"] == stored_bytes(store, plan.needs) < plan.expected["bytes"]


def test_twice_the_budget_is_expected_to_take_what_its_own_plan_expects(store):
    plan = prepared(store, {"memory": 250 << 10}, ON_CPU)
    twice = plan.larger["--memory 500KiB"]
    other = prepared(store, {"memory": 500 << 10}, ON_CPU)
    assert other.residency == twice["residency"] == "disk"
    assert twice["bytes"] == pytest.approx(other.expected["bytes"], rel=0.1)  # cut into other pieces
    assert twice["bytes"] < plan.expected["bytes"]


def test_a_gpu_is_not_asked_for_more_memory_than_it_has(store):
    small = Device(0, "none", "sm_90", 132, 330 << 10)
    assert prepared(store, {}, ON_GPU | {"device": small}).larger == {}


def test_memory_that_is_there_needs_no_larger_budget(store):
    assert prepared(store, {}, ON_CPU).larger == {}
    forced = prepared(store, {"memory": 1 << 30}, ON_CPU | {"residency": "disk"})
    assert list(forced.larger) == ["without --residency disk"]


def test_a_dry_run_says_what_more_memory_saves(store):
    line = ["sample", str(store.path), "o.zarr", "--instances", "3000", "--memory", "250KiB", "--device", "cpu"]
    said = CliRunner().invoke(cli, [*line, "--dry-run"], catch_exceptions=False).output
    shown = said.split("With more memory, as expected\n")[1].split("\n\n")[0].splitlines()
    assert shown[0].startswith("  --memory 500KiB")
    assert shown[-1].endswith("all in memory")
    assert all(" instead of " in each for each in shown)
