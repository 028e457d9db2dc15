"""``--device auto`` takes the way that is expected to end the whole run first, says what it compared, and changes no
byte.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.graphs import random_store, stored_arrays
from helpers.rates import pin_rates

from csaw.engine import execute, prepare
from csaw.engine.cuda import device
from csaw.engine.cuda.device import Device
from csaw.engine.devices import choice
from csaw.engine.plan.rates import ASSUMED
from csaw.partition.errors import BudgetError, DeviceError, MissingDependencyError, OptionError

LARGE, SMALL = 1 << 40, 1_100_000  # bytes of the memory of a GPU: SMALL has no room for the whole graph
WALKS = {"walk_length": 50, "num_walks": 20, "weighted": False}
SLOW = replace(ASSUMED, gathers=1e3)  # a CPU that any GPU is faster than


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("choice") / "g.zarr", vertices=3000, edges=200_000, partitions=8)


def machine(monkeypatch, *free, peers=False, found=ASSUMED):
    """Let this machine have GPUs with so many free bytes each, and the rates ``found``."""
    numbers = range(len(free))
    gpus = [
        Device(n, "none", "sm_90", 132, free[n], tuple(m for m in numbers if m != n) if peers else ()) for n in numbers
    ]

    def open_device(number):
        if number >= len(gpus):
            raise DeviceError("no GPU")
        return gpus[number]

    monkeypatch.setattr(device, "open_device", open_device)
    pin_rates(monkeypatch, found)


def test_a_small_run_stays_on_the_cpu_and_a_long_one_takes_the_gpu(store, monkeypatch):
    machine(monkeypatch, LARGE)
    few = prepare(store, "deepwalk", instances=10, walk_length=5).plan
    assert few.device == "cpu"
    assert few.ways["the CPU in memory"] < few.ways["GPU 0 (none) in memory"]
    many = prepare(store, "deepwalk", instances=10_000_000, walk_length=80).plan
    assert (many.device, many.residency) == ("cuda:0", "resident")
    assert many.ways["GPU 0 (none) in memory"] == many.expected["seconds"] < many.ways["the CPU in memory"]


def test_the_cpu_in_memory_is_taken_before_a_gpu_that_streams_more_slowly(store, monkeypatch):
    for bus, expected in ((1e4, "cpu"), (1e12, "cuda:0")):
        reads = {"bus_reads": bus / 100, "far_reads": bus / 1000}
        machine(monkeypatch, SMALL, found=replace(SLOW, gathers=1e5, bus_bytes=bus, **reads, disk_bytes=1e12))
        plan = prepare(store, "deepwalk", **WALKS).plan
        assert plan.device == expected
        assert plan.ways.keys() == {"the CPU in memory", "GPU 0 (none) streamed"}
        assert min(plan.ways.values()) == plan.expected["seconds"]


def test_gpus_that_reach_each_other_are_considered_where_the_graph_fits_none_of_them(store, monkeypatch):
    machine(monkeypatch, SMALL, SMALL, peers=True, found=replace(SLOW, bus_bytes=1e6, bus_reads=1e4, far_reads=1e3))
    job = prepare(store, "deepwalk", **WALKS)
    assert (job.plan.device, job.plan.residency) == ("cuda:0,1", "pooled")
    assert [gpu.number for gpu in job.devices] == [0, 1]
    assert len(job.plan.ways) == 3
    machine(monkeypatch, LARGE, LARGE, peers=True, found=SLOW)
    assert prepare(store, "deepwalk", **WALKS).plan.device == "cuda:0"


def test_a_way_that_is_refused_is_named_with_its_reason(store, monkeypatch):
    machine(monkeypatch, 1000)
    plan = prepare(store, "deepwalk", **WALKS).plan
    assert plan.device == "cpu"
    assert "raise --gpu-memory" in plan.ways["GPU 0 (none)"]
    machine(monkeypatch, LARGE)
    plan = prepare(store, "deepwalk", memory=1000, **WALKS).plan
    assert plan.device == "cuda:0"
    assert "raise --memory" in plan.ways["the CPU"]
    assert "is for GPUs" in prepare(store, "deepwalk", residency="streamed", **WALKS).plan.ways["the CPU"]
    with pytest.raises(BudgetError, match="raise --memory"):
        prepare(store, "deepwalk", memory=1000, gpu_memory=1000, **WALKS)
    with pytest.raises(OptionError, match="--layout alias"):
        prepare(store, "deepwalk", layout="alias", **WALKS)


def test_a_named_device_is_taken_whatever_is_expected(store, monkeypatch):
    machine(monkeypatch, LARGE, found=SLOW)
    assert prepare(store, "deepwalk", device="cpu", **WALKS).plan.device == "cpu"
    job = prepare(store, "deepwalk", device="cuda", instances=1, walk_length=1)
    assert (job.plan.device, job.plan.ways) == ("cuda:0", {})


@pytest.mark.parametrize("error", [DeviceError, MissingDependencyError])
def test_without_a_gpu_the_cpu_is_taken(store, monkeypatch, error):
    def none(number):
        raise error("nothing here")

    monkeypatch.setattr(device, "open_device", none)
    assert prepare(store, "deepwalk", **WALKS).plan.device == "cpu"
    with pytest.raises(error):
        prepare(store, "deepwalk", device="cuda", **WALKS)


def test_the_same_rates_give_the_same_plan(store, monkeypatch):
    machine(monkeypatch, LARGE, SMALL, peers=True)
    monkeypatch.setattr("csaw.engine.plan.planning.available_bytes", lambda: 8 << 30)
    assert prepare(store, "node2vec", **WALKS).plan == prepare(store, "node2vec", **WALKS).plan


@pytest.mark.parametrize(
    "algo", ["deepwalk", "node2vec", "neighbor", "layer", "snowball", "multidimensional", "forest-fire"]
)
def test_every_plan_expects_seconds_for_the_whole_run(store, algo):
    for given in (
        {"device": "cpu"},
        {"device": "cpu", "residency": "disk"},
        {"device": Device(0, "none", "sm_90", 132, LARGE)},
    ):
        expected = prepare(store, algo, **given).plan.expected
        assert expected["loading_seconds"] > 0
        assert expected["sampling_seconds"] > 0
        parts = sum(expected[f"{name}_seconds"] for name in ("loading", "building", "sampling", "writing"))
        assert parts + 0.3 <= expected["seconds"] <= parts + 1.1
    more = prepare(store, algo, device="cpu", instances=100_000).plan.expected
    less = prepare(store, algo, device="cpu", instances=1000).plan.expected
    assert more["sampling_seconds"] == pytest.approx(100 * less["sampling_seconds"], rel=0.01)


def test_what_is_measured_changes_no_byte(store, tmp_path, monkeypatch):
    arrays = []
    for number, found in enumerate(replace(ASSUMED, disk_reads=reads) for reads in (1e-3, 1e30)):
        pin_rates(monkeypatch, found)
        job = prepare(store, "deepwalk", residency="disk", memory=600_000, instances=40, walk_length=10, seed=3)
        results = execute(job, tmp_path / f"{number}.zarr")
        assert (results["in_place"] > 0) == (number == 1)
        arrays.append(stored_arrays(tmp_path / f"{number}.zarr"))
    assert arrays[0].keys() == arrays[1].keys()
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])


def test_a_summary_says_what_was_compared(store, tmp_path, monkeypatch):
    machine(monkeypatch, 1000)
    results = execute(prepare(store, "deepwalk", walk_length=5), tmp_path / "w.zarr")
    assert results["ways"].keys() == {"the CPU in memory", "GPU 0 (none)"}
    assert results["ways"]["the CPU in memory"] == results["expected_seconds"]


def test_machines_are_measured_only_when_asked_and_where_a_plan_depends_on_it(store, monkeypatch):
    machine(monkeypatch)
    asked = []
    monkeypatch.setattr(choice, "measured", lambda devices=(): asked.append(len(devices)) or ASSUMED)
    prepare(store, "deepwalk", **WALKS)
    prepare(store, "deepwalk", measure=True, **WALKS)
    prepare(store, "deepwalk", residency="disk", **WALKS)
    assert asked == []
    prepare(store, "deepwalk", residency="disk", measure=True, **WALKS)
    assert asked == [0]
    machine(monkeypatch, LARGE, found=SLOW)
    monkeypatch.setattr(choice, "measured", lambda devices=(): asked.append(len(devices)) or SLOW)
    prepare(store, "deepwalk", **WALKS)
    prepare(store, "deepwalk", measure=True, device="cuda", **WALKS)
    assert asked == [0]
    prepare(store, "deepwalk", measure=True, **WALKS)
    assert asked == [0, 1]


def test_a_forest_fire_is_expected_to_take_longer_where_more_burns(store):
    expected = [
        prepare(store, "forest-fire", device="cpu", burn_prob=chance).plan.expected["sampling_seconds"]
        for chance in (0.2, 0.5, 0.9)
    ]
    assert expected[0] * 1.4 < expected[1]
    assert expected[1] * 4 < expected[2]


def test_no_gpu_is_opened_where_the_cpu_ends_before_it_would_be(store, monkeypatch):
    machine(monkeypatch, LARGE)
    monkeypatch.setattr(device, "open_device", None)
    plan = prepare(store, "deepwalk", measure=True, **WALKS).plan
    assert plan.device == "cpu"
    assert plan.ways["a GPU"] == "not opened, which would take longer than this run"
    machine(monkeypatch, LARGE, found=SLOW)
    assert prepare(store, "deepwalk", measure=True, **WALKS).plan.device.startswith("cuda")
    machine(monkeypatch, LARGE)
    plan = prepare(store, "deepwalk", **WALKS).plan  # a dry run compares
    assert len(plan.ways) == 2
    assert "a GPU" not in plan.ways
