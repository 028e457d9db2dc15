"""Groups that take long are kept in parts while they are drawn, so that a run that is killed again and again ends."""

import signal
import subprocess
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.small_samples import files_of, python

from csaw.engine import execute, prepare
from csaw.engine.plan import planning
from csaw.engine.plan.choices import Residency
from csaw.engine.samples import group_writer
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.schedule import batch_loop
from csaw.engine.schedule.batch_loop import GROWTH, KEEP_SECONDS, Pace
from csaw.engine.schedule.workers import Units

SEEDS = {"ids": np.arange(50), "y": np.arange(50) % 7}
REQUESTS = {
    "walks": ("deepwalk", {"walk_length": 5, "edge_bias": "e.weight + e.is_neighbor(e.prev, e.dst)"}),
    "ragged walks": ("ppr", {"walk_length": None}),
    "hops": ("neighbor", {"fanout": (3, 2)}),
    "subgraphs": ("forest-fire", {"depth": 2}),
    "layers": ("layer", {}),
    "mini-batches": ("minibatch", {"fanout": (3, 2), "seeds_per_batch": 3, "sources": SEEDS}),
    "target": ("deepwalk", {"target": 9, "instances": 60}),
}


@pytest.fixture
def slow(monkeypatch):
    """Every instance takes long: as many are drawn at a time as there are threads, and kept."""
    monkeypatch.setattr(batch_loop, "KEEP_SECONDS", 0.0)
    monkeypatch.setattr(batch_loop, "FIRST_SECONDS", 0.0)


@contextmanager
def stopping_after(monkeypatch, checkpoints_kept):
    """Raise KeyboardInterrupt once a run has kept so many checkpoints."""
    keep, kept_now = GroupWriter.keep, count(1)

    def kept(self, *given):
        keep(self, *given)
        if next(kept_now) == checkpoints_kept:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GroupWriter, "keep", kept)
        yield


def markers(partial):
    return sorted(file.name for file in (partial / group_writer.FOLDER).rglob("*.json"))


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_slow_run_goes_on_inside_a_group_with_the_same_bytes(tmp_path, monkeypatch, slow, request_):
    algo, options = REQUESTS[request_]
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=500)
    given = {"device": "cpu", "seed": 3} | options
    with monkeypatch.context() as quick:
        quick.setattr(batch_loop, "KEEP_SECONDS", KEEP_SECONDS)
        whole = execute(prepare(store, algo, **given), tmp_path / "whole.zarr")
    with stopping_after(monkeypatch, 2), pytest.raises(KeyboardInterrupt):
        execute(prepare(store, algo, threads=3, **given), tmp_path / "s.zarr")
    assert len(markers(tmp_path / "s.zarr.partial")) == 2
    begun = []
    draw = batch_loop.Pace.drew
    monkeypatch.setattr(batch_loop.Pace, "drew", lambda self, n, seconds: begun.append(n) or draw(self, n, seconds))
    resumed = execute(prepare(store, algo, threads=2, in_flight=7, **given), tmp_path / "s.zarr", resume=True)
    assert sum(begun) == whole["instances"] - 6
    assert resumed["sampled_edges"] == whole["sampled_edges"]
    assert files_of(tmp_path / "s.zarr") == files_of(tmp_path / "whole.zarr")


KILLED = """
import os, signal, sys
from csaw.engine import execute, prepare
from csaw.engine.plan import planning
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.schedule import batch_loop

planning.GROUP_BYTES, batch_loop.KEEP_SECONDS, batch_loop.FIRST_SECONDS = 4000, 0.0, 0.0
keep, left = GroupWriter.keep, int(sys.argv[3])
def kept(self, *given):
    global left
    keep(self, *given)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
GroupWriter.keep = kept
job = prepare(sys.argv[1], "deepwalk", walk_length=5, threads=8, device="cpu")
execute(job, sys.argv[2], resume=sys.argv[4] == "resume")
"""


def test_a_run_that_is_killed_again_and_again_ends(tmp_path, monkeypatch):
    """Groups of 60 walks, of which eight are drawn at a time, and a kill after every third time that some are kept."""
    store = random_store(tmp_path / "g.zarr", vertices=200)
    for turn in range(20):
        how = python(KILLED, store.path, tmp_path / "s.zarr", 3, "resume" if turn else "")
        ended = subprocess.run(**how, check=False).returncode
        if ended != -signal.SIGKILL:
            break
    assert (turn, ended) == (7, 0)
    monkeypatch.setattr(planning, "GROUP_BYTES", 4000)
    execute(prepare(store, "deepwalk", walk_length=5, device="cpu"), tmp_path / "whole.zarr")
    assert files_of(tmp_path / "s.zarr") == files_of(tmp_path / "whole.zarr")


def test_a_checkpoint_that_is_damaged_is_drawn_again(tmp_path, monkeypatch, slow):
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=500)
    job = prepare(store, "deepwalk", walk_length=5, threads=4, device="cpu")
    with stopping_after(monkeypatch, 3), pytest.raises(KeyboardInterrupt):
        execute(job, tmp_path / "s.zarr")
    file = tmp_path / "s.zarr.partial" / group_writer.FOLDER / "000000" / "4-8" / "walks"
    file.write_bytes(file.read_bytes()[:-3] + b"\1\1\1")
    found = [counts.first for counts, _ in group_writer.read_checkpoints(tmp_path / "s.zarr.partial", 0, 0)]
    assert found == [0], "what lies behind the damaged one counts no more, as checkpoints go on from each other"
    execute(job, tmp_path / "s.zarr", resume=True)
    execute(job, tmp_path / "whole.zarr")
    assert files_of(tmp_path / "s.zarr") == files_of(tmp_path / "whole.zarr")


def test_of_checkpoints_that_begin_alike_the_longest_counts(tmp_path):
    """A slow worker of a cluster and one that has overtaken it may draw the same group."""
    for first, last in ((40, 43), (40, 45), (43, 44), (45, 47), (48, 50)):
        counts = group_writer.Counts(first, last - first, edges=1, dead_ends=0)
        group_writer.write_checkpoint(tmp_path, 4, counts, {"lengths": np.arange(first, last)})
    found = list(group_writer.read_checkpoints(tmp_path, 4, 40))
    assert [(counts.first, counts.instances) for counts, _ in found] == [(40, 5), (45, 2)]
    assert np.concatenate([arrays["lengths"] for _, arrays in found]).tolist() == list(range(40, 47))
    group_writer.remove_checkpoints(tmp_path, 4)
    assert list(group_writer.read_checkpoints(tmp_path, 4, 40)) == []


def plan(seconds, *, instances=1000, threads=2, device="cpu", residency=Residency.RESIDENT, at_a_time=500):
    return SimpleNamespace(
        expected={"sampling_seconds": seconds},
        request=SimpleNamespace(instances=instances),
        threads=threads,
        device=device,
        residency=residency,
        at_a_time=at_a_time,
    )


def test_as_many_instances_come_first_as_are_expected_to_take_a_moment_and_then_as_many_as_take_the_time():
    one = Pace(plan(100.0, instances=10_000))
    assert one.size == 25
    one.drew(25, 5.0)
    assert one.size == 5 * KEEP_SECONDS
    one.drew(100, 40.0)
    assert one.size == 2.5 * KEEP_SECONDS
    one.drew(50, 0.0)
    assert one.size == 50 * GROWTH
    one.drew(3, 3.0)
    assert one.size == 50 * GROWTH, "a few at the end of a group do not count"
    one.drew(3, 2 * KEEP_SECONDS)
    assert one.size == 2, "but where they took long"
    one.drew(2, 1000.0)
    assert one.size == 2, "the threads of the CPU"


def test_a_gpu_draws_no_fewer_than_first_and_a_streamed_graph_is_not_read_more_often():
    gpu = Pace(plan(1.0, device="cuda:0"))
    gpu.drew(250, 1000.0)
    assert gpu.size == 250
    streamed = Pace(plan(1000.0, residency=Residency.HOST))
    streamed.drew(500, 1000.0)
    assert streamed.size == 500


def test_units_are_as_large_as_the_pace_of_who_asks():
    units = Units(SimpleNamespace(done=[], rows=lambda group: 1), [0, 1, 2, 3, 4, 5, 8, 9], 4)
    assert [units.next(most) for most in (1, 2, 9, 9, 9)] == [[0], [1, 2], [3], [4, 5], [8, 9]]
    assert Pace(plan(100.0, instances=10_000)).groups(10) == 2
    assert Pace(plan(100.0, instances=10_000)).groups(26) == 1
