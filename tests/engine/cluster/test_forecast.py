"""What a run on a cluster is expected to take, and plans of workers that nobody has started."""

from dataclasses import replace

import pytest
from dask import config
from helpers.graphs import random_store
from helpers.rates import pin_rates

from csaw.engine import prepare
from csaw.engine.cluster import dask_run
from csaw.engine.cluster.forecast import READING, SAMPLING, WRITING, of_all, shares
from csaw.engine.cuda.device import Device
from csaw.engine.plan.rates import ASSUMED, INTERPRETER_BYTES
from csaw.partition.errors import OptionError

WALKS = {"num_walks": 4, "walk_length": 20, "device": "cpu"}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 4000)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", partitions=6).path


def sampling(plan, seconds):
    return replace(plan, expected=plan.expected | {"sampling_seconds": seconds})


def test_workers_share_all_groups_in_proportion_to_their_speed(graph):
    job = prepare(graph, "node2vec", **WALKS)
    plans = {str(i): sampling(job.plan, seconds) for i, seconds in enumerate((1.0, 2.0, 4.0, 1e9))}
    found = list(shares(plans, job.store, one_disk=False).values())
    request = job.plan.request
    assert sum(share.groups for share in found) == -(-request.instances // request.group_size)
    assert sum(share.instances for share in found) == request.instances
    assert sum(share.bytes_written for share in found) == pytest.approx(job.plan.output_bytes, abs=4)
    assert found[0].instances == pytest.approx(2 * found[1].instances, rel=0.15)
    assert found[1].instances == pytest.approx(2 * found[2].instances, rel=0.25)
    assert (found[3].groups, found[3].bytes_read, found[3].seconds) == (0, 0, 0.0)
    assert found[0].parts[SAMPLING] == pytest.approx(found[2].parts[SAMPLING], rel=0.25)
    assert of_all(shares({}, job.store, one_disk=False)) == {}


@pytest.mark.parametrize(("slow", "limit"), [("disk_writes", WRITING), ("disk_bytes", READING), ("gathers", SAMPLING)])
def test_the_slowest_part_is_what_limits(graph, monkeypatch, slow, limit):
    pin_rates(monkeypatch, replace(ASSUMED, **{slow: 100.0}))
    job = prepare(graph, "deepwalk", **WALKS)
    plans = dict.fromkeys("ab", job.plan)
    for one_disk in (False, True):
        found = shares(plans, job.store, one_disk=one_disk)
        assert {share.limit for share in found.values()} == {of_all(found)["limit"]} == {limit}
    if limit == WRITING:
        assert found["a"].parts[WRITING] == pytest.approx(job.plan.output_bytes / 100.0, rel=0.1)
        assert found["a"].seconds == pytest.approx(found["a"].parts[WRITING], rel=0.01)


def test_a_streamed_graph_is_read_again_for_each_batch_of_a_share(graph):
    job = prepare(graph, "deepwalk", residency="disk", memory="40KiB", in_flight=47, **WALKS)
    resident = prepare(graph, "deepwalk", **WALKS)
    assert job.plan.residency.streams
    one, two, four = (shares(dict.fromkeys("abcd"[:n], job.plan), job.store, one_disk=False)["a"] for n in (1, 2, 4))
    assert one.bytes_read == job.plan.expected["bytes"]
    assert two.bytes_read == pytest.approx(one.bytes_read / 2, rel=0.1)
    assert four.bytes_read == pytest.approx(one.bytes_read / 4, rel=0.1)
    share = shares({"a": resident.plan, "b": resident.plan}, resident.store, one_disk=False)["b"]
    assert share.bytes_read == (4 + 4) * resident.store.edges + 8 * resident.store.vertices
    crowded = shares({"a": job.plan, "b": job.plan}, job.store, one_disk=True)["a"]
    assert crowded.parts[READING] == pytest.approx(2 * two.parts[READING], rel=1e-3)


def test_a_gpu_reads_the_store_once_and_its_host_again_for_each_batch(graph, monkeypatch):
    pin_rates(monkeypatch, replace(ASSUMED, bus_bytes=1e3, disk_bytes=1e3))
    gpu = Device(0, "none", "sm_90", 132, 1 << 40)
    job = prepare(graph, "deepwalk", **WALKS | {"device": gpu}, residency="streamed", in_flight=47, in_place=False)
    assert job.plan.residency.streams
    stored = (4 + 4) * job.store.edges + 8 * job.store.vertices
    whole, half = (shares(dict.fromkeys("ab"[:n], job.plan), job.store, one_disk=False)["a"] for n in (1, 2))
    assert whole.bytes_read == half.bytes_read == stored
    assert whole.parts[READING] == pytest.approx(job.plan.expected["loading_seconds"])
    assert half.parts[READING] - stored / 1e3 == pytest.approx((whole.parts[READING] - stored / 1e3) / 2, rel=0.1)


def test_what_the_run_would_start_is_planned_without_a_cluster(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_run, "opened", None)
    pin_rates(monkeypatch)
    job, plans = dask_run.plan_on_cluster(graph, tmp_path / "s", "deepwalk", cluster="local:3", memory="1GiB", **WALKS)
    assert list(plans) == ["0", "1", "2"]
    assert all(plan.request == job.plan.request for plan in plans.values())
    refused = dask_run.plan_on_cluster(graph, tmp_path / "s", "deepwalk", cluster="slurm:2", memory=500, **WALKS)[1]
    assert all("raise --memory" in said for said in refused.values())
    with pytest.raises(OptionError, match="is not an option of deepwalk"):
        dask_run.plan_on_cluster(graph, tmp_path / "s", "deepwalk", cluster="slurm:2", lenght=3)
    assert not list(tmp_path.iterdir())


def test_jobs_are_planned_as_dask_jobqueue_is_configured(graph, tmp_path, monkeypatch):
    pin_rates(monkeypatch)
    said = {"cores": 12, "memory": "16GiB", "processes": 2}
    with config.set({"jobqueue.slurm": said}):
        plans = dask_run.plan_on_cluster(graph, tmp_path / "s", "deepwalk", cluster="slurm:3", **WALKS)[1]
    assert len(plans) == 6
    assert {plan.threads for plan in plans.values()} == {6}
    assert {plan.budget_bytes for plan in plans.values()} == {int((8 << 30) * 0.7) - INTERPRETER_BYTES}
    with config.set({"jobqueue.lsf": {"cores": 12}}):
        workers, place = dask_run.of_jobs("lsf", 2)
    assert workers * place["threads"] == 24  # dask-jobqueue cuts a job up itself
    with config.set({"jobqueue.lsf": {}}):
        assert dask_run.of_jobs("lsf", 2) == (2, {})
