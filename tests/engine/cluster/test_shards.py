"""Shards: processes that draw parts of one sample and know nothing of each other, and what seals it."""

import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pytest
from helpers import cases, slow
from helpers.dying import HALF_WRITTEN
from helpers.graphs import random_store
from helpers.small_samples import SAID, STORES, files_of, python, some_walks

from csaw.engine import execute, prepare, sample
from csaw.engine.cluster.shards import Shard, draw_shard, seal_sample
from csaw.engine.runs.job import manifest, stored_as
from csaw.engine.samples import files
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.writer import SampleWriter, SharedWriter, named
from csaw.engine.stores import open_samples
from csaw.partition.arrays import locks
from csaw.partition.arrays.locks import Lock
from csaw.partition.errors import OptionError, StoreError

FAMILIES = {
    "walks": ("node2vec", {"num_walks": 1, **cases.OPTIONS["node2vec"]}),
    "ragged walks": ("ppr", {"num_walks": 2}),
    "hops": ("neighbor", cases.OPTIONS["neighbor"]),
    "subgraphs": ("forest-fire", {"instances": 60}),
    "batches": ("minibatch", cases.OPTIONS["minibatch"]),
}
WALKS = {"num_walks": 1, "walk_length": 20, "seed": 3}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 4000)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", partitions=3).path


def draw(graph, out, shard, algo="deepwalk", options=WALKS):
    return draw_shard(prepare(graph, algo, **options), out, Shard.of(shard))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("order", [["2/3", "0/3", "1/3"], ["0/1"], [f"{i}/9" for i in (8, 1, 7, 2, 6, 3, 5, 4, 0)]])
def test_shards_in_any_order_and_number_write_the_bytes_of_one_run(tmp_path, graph, family, order):
    algo, options = FAMILIES[family]
    sample(graph, tmp_path / "alone", algo, **options)
    for shard in order:
        done = draw(graph, tmp_path / "s", shard, algo, options)
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")
    assert sorted(os.listdir(tmp_path / "s")) == sorted(os.listdir(tmp_path / "alone"))
    assert not list(tmp_path.glob(".*"))
    assert done.get("sampled_edges", 1) > 0
    assert len(open_samples(tmp_path / "s").results["shards"]) <= len(order)


def test_a_shard_says_what_is_left(tmp_path, graph):
    said = draw(graph, tmp_path / "s", "0/2")
    assert said["left"] > 0
    assert said["instances"] + draw(graph, tmp_path / "s", "1/2")["instances"] > said["instances"]
    assert draw(graph, tmp_path / "s", "1/2") == {"shard": "1/2", "resumed": "nothing was missing", "left": 0}


def test_more_shards_than_groups_leave_some_without_work(tmp_path, graph):
    sample(graph, tmp_path / "alone", "deepwalk", **WALKS)
    job = prepare(graph, "deepwalk", **WALKS)
    groups = -(-job.plan.request.instances // job.plan.request.group_size)
    for i in range(groups + 5):
        draw(graph, tmp_path / "s", f"{i}/{groups + 5}")
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")


def test_every_group_has_one_shard():
    for groups in (0, 1, 7, 100):
        for parts in (1, 2, 3, 50):
            held = [g for i in range(parts) for g in Shard(i, parts).groups(groups)]
            assert held == list(range(groups))


@pytest.mark.parametrize("text", ["3/3", "-1/3", "1", "1/0", "a/b", "1/3/5", "", "1/9999999"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(OptionError, match="expected I/N with I from 0 to N - 1"):
        Shard.of(text)


def test_shards_of_different_requests_are_refused_by_name(tmp_path, graph):
    draw(graph, tmp_path / "s", "0/2")
    with pytest.raises(StoreError, match="seed = 3, but this run has 4"):
        draw(graph, tmp_path / "s", "1/2", options=WALKS | {"seed": 4})


def test_a_run_alone_and_shards_keep_each_other_out(tmp_path, graph):
    job = prepare(graph, "deepwalk", **WALKS)
    with SharedWriter(tmp_path / "s", manifest(job), **stored_as(job)):
        draw(graph, tmp_path / "s", "0/2")
        with pytest.raises(StoreError, match="another csaw process is writing here"):
            execute(job, tmp_path / "s", resume=True)
    with (
        SampleWriter(tmp_path / "s", manifest(job), resume=True, **stored_as(job)),
        pytest.raises(StoreError, match="another csaw process is writing here"),
    ):
        draw(graph, tmp_path / "s", "1/2")


def test_a_run_alone_completes_what_shards_have_begun(tmp_path, graph):
    sample(graph, tmp_path / "alone", "deepwalk", **WALKS)
    draw(graph, tmp_path / "s", "1/2")
    assert "groups were there" in execute(prepare(graph, "deepwalk", **WALKS), tmp_path / "s", resume=True)["resumed"]
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")


KILLED = (
    HALF_WRITTEN
    + """
import sys
from csaw.engine.cluster.shards import Shard, draw_shard
from csaw.engine.plan import planning
from csaw.engine import prepare
planning.GROUP_BYTES = 4000
graph, out, shard, moment = sys.argv[1:]
die_in_write(int(moment))
draw_shard(prepare(graph, "deepwalk", num_walks=1, walk_length=20, seed=3), out, Shard.of(shard))
"""
)


@pytest.mark.parametrize("moment", [1, 2, 9])
def test_a_shard_that_was_killed_runs_again(tmp_path, graph, moment):
    sample(graph, tmp_path / "alone", "deepwalk", **WALKS)
    child = subprocess.run(**python(KILLED, graph, tmp_path / "s", "0/2", moment), check=False)
    assert child.returncode == -signal.SIGKILL
    draw(graph, tmp_path / "s", "1/2")
    assert not (tmp_path / "s").exists()
    draw(graph, tmp_path / "s", "0/2")
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")


def test_shards_leave_out_dead_ends_that_one_of_them_could_not_report(tmp_path, monkeypatch):
    graph = random_store(tmp_path / "g.zarr", directed=True).path
    whole = sample(graph, tmp_path / "alone", "forest-fire", instances=60).results["dead_ends"]
    for name, lost in (("s", False), ("t", True)):
        with monkeypatch.context() as dying:
            if lost:
                dying.setattr(SharedWriter, "report", lambda *_: None)
            draw(graph, tmp_path / name, "0/2", "forest-fire", {"instances": 60})
        draw(graph, tmp_path / name, "1/2", "forest-fire", {"instances": 60})
    assert open_samples(tmp_path / "s").results["dead_ends"] == whole > 0
    assert "dead_ends" not in open_samples(tmp_path / "t").results


def test_shards_at_the_same_time_seal_once(tmp_path, graph, monkeypatch):
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.05)
    sample(graph, tmp_path / "alone", "forest-fire", instances=60)
    groups = -(-60 // prepare(graph, "forest-fire", instances=60).plan.request.group_size)
    for round_, shards in enumerate((2, groups, groups + 9)):  # some of the last ones have nothing to draw
        out, jobs = tmp_path / f"s{round_}", [prepare(graph, "forest-fire", instances=60) for _ in range(shards)]
        with ThreadPoolExecutor(shards) as pool:
            said = list(pool.map(draw_shard, jobs, repeat(out), [Shard(i, shards) for i in range(shards)]))
        assert len(said) == shards
        assert files_of(out) == files_of(tmp_path / "alone")
    assert not list(tmp_path.glob("*.partial"))


MOMENTS = {
    "the folder is made": lambda partial: partial.mkdir(),
    "the manifest is drafted": lambda partial: (partial.mkdir(), (partial / "zarr.json.1.tmp").write_text("{")),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_shard_starts_while_another_begins_the_sample(tmp_path, graph, moment):
    sample(graph, tmp_path / "alone", "deepwalk", **WALKS)
    MOMENTS[moment](tmp_path / "s.partial")
    for shard in ("0/2", "1/2"):
        draw(graph, tmp_path / "s", shard)
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")


@pytest.mark.parametrize("step", ["_is_there", "_begin_or_join", "join"])
def test_a_shard_starts_while_another_ends_the_sample(tmp_path, graph, monkeypatch, step):
    """The rest of the sample is drawn and named just before one step of the start of the last shard."""
    draw(graph, tmp_path / "s", "0/2")
    then = getattr(SharedWriter, step)

    def ended_before(writer):
        monkeypatch.setattr(SharedWriter, step, then)
        draw(graph, tmp_path / "s", "1/2")
        return then(writer)

    monkeypatch.setattr(SharedWriter, step, ended_before)
    assert draw(graph, tmp_path / "s", "1/2") == {"shard": "1/2", "resumed": "nothing was missing", "left": 0}
    assert sorted(os.listdir(tmp_path)) == ["s"]


@pytest.mark.parametrize("foreign", ["file", "folder"])
def test_a_shard_leaves_alone_what_is_no_sample(tmp_path, graph, foreign):
    partial = tmp_path / "s.partial"
    partial.write_text("mine") if foreign == "file" else (partial.mkdir(), (partial / "mine").touch())
    with pytest.raises(StoreError, match="exists but is not an unfinished sample"):
        draw(graph, tmp_path / "s", "1/2")


def unsealed(graph, out, monkeypatch, algo="deepwalk", options=WALKS):
    """A sample whose last shard died before it sealed it."""
    with monkeypatch.context() as patched:
        patched.setattr(SharedWriter, "seal_alone", lambda *_, **__: False)
        for shard in ("0/2", "1/2"):
            draw(graph, out, shard, algo, options)
    assert not out.exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_seal_completes_what_the_last_shard_could_not(tmp_path, graph, monkeypatch, family):
    algo, options = FAMILIES[family]
    sample(graph, tmp_path / "alone", algo, **options)
    unsealed(graph, tmp_path / "s", monkeypatch, algo, options)
    results = seal_sample(tmp_path / "s")
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")
    assert len(results["shards"]) == 2
    assert seal_sample(tmp_path / "s")["resumed"] == "nothing was missing"


def test_seal_names_what_is_missing_or_damaged(tmp_path, graph, monkeypatch):
    draw(graph, tmp_path / "s", "1/2")
    with pytest.raises(StoreError, match=r"groups \(0 to \d+\) are missing, out of \d+; run --shard 0/2 again, or"):
        seal_sample(tmp_path / "s")
    unsealed(graph, tmp_path / "t", monkeypatch)
    chunk = tmp_path / "t.partial" / "walks" / "c.1.0"
    chunk.write_bytes(chunk.read_bytes()[:-1] + b"\7")
    with pytest.raises(StoreError, match="group 1 is damaged"):
        seal_sample(tmp_path / "t")
    draw(graph, tmp_path / "t", "0/2")
    sample(graph, tmp_path / "alone", "deepwalk", **WALKS)
    assert files_of(tmp_path / "t") == files_of(tmp_path / "alone")


def test_seal_refuses_another_graph_and_what_is_no_sample(tmp_path, graph, monkeypatch):
    other = random_store(tmp_path / "other.zarr", seed=1)
    unsealed(graph, tmp_path / "s", monkeypatch)
    with pytest.raises(StoreError, match="sampled from a graph other than"):
        seal_sample(tmp_path / "s", other.path)
    with pytest.raises(StoreError, match="does not exist"):
        seal_sample(tmp_path / "none")


def test_a_sealer_that_was_killed_is_succeeded(tmp_path, graph, monkeypatch):
    monkeypatch.setattr(locks, "STALE_SECONDS", 0.5)
    sample(graph, tmp_path / "alone", "deepwalk", **WALKS)
    unsealed(graph, tmp_path / "s", monkeypatch)
    (tmp_path / ".s.csaw-sealing").mkdir()
    (tmp_path / ".s.csaw-sealing" / "beat").write_text("node7 123 abc 4\n")
    draw(graph, tmp_path / "s", "0/2")
    assert files_of(tmp_path / "s") == files_of(tmp_path / "alone")
    assert not list(tmp_path.glob(".*"))


def test_a_living_sealer_is_left_alone(tmp_path, graph, monkeypatch):
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.05)
    unsealed(graph, tmp_path / "s", monkeypatch)
    with locks.Lease(tmp_path / ".s.csaw-sealing") as held:
        assert draw(graph, tmp_path / "s", "0/2")["resumed"] == "another process seals the sample"
        assert held.held
    assert not (tmp_path / "s").exists()
    seal_sample(tmp_path / "s")


def test_of_several_that_take_over_a_lease_one_gets_it(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "STALE_SECONDS", 0.3)
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.05)
    (tmp_path / "lease").mkdir()
    (tmp_path / "lease" / "beat").write_text("node7 123 abc 4\n")
    got = []
    threads = [threading.Thread(target=lambda: got.append(locks.take(tmp_path / "lease"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert sum(one is not None and one.held for one in got) == 1
    for one in got:
        if one is not None:
            one.close()
    assert not list(tmp_path.iterdir())


def begun(path, arrays, **options):
    """A writer of groups beside the one that has begun the store."""
    writer = GroupWriter(path, SAID, layout="walks", instances=11, group_size=2, dense_dtype="u4", **options)
    writer.join()
    return writer


@pytest.mark.parametrize("layout", STORES)
def test_a_process_that_comes_too_late_changes_nothing(tmp_path, layout):
    arrays = STORES[layout]
    instances = len(arrays["counts"] if layout == "subgraphs" else next(iter(arrays.values())))
    if layout == "ragged-walks":
        instances = len(arrays["lengths"])
    slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, groups=[0])
    late = GroupWriter(tmp_path / "s", SAID, layout=layout, instances=instances, group_size=2, dense_dtype="u4")
    late.join()
    slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, resume=True)
    before = files_of(tmp_path / "s", results=True)
    with pytest.raises(StoreError):
        late.write(1, slow.part(arrays, 2, 4))
    assert files_of(tmp_path / "s", results=True) == before
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_a_process_of_a_run_that_was_replaced_writes_nothing(tmp_path):
    walks = some_walks()
    slow.write(tmp_path / "s", SAID, "walks", walks, group_size=2, groups=[0])
    late = begun(tmp_path / "s", walks)
    other = json.loads(json.dumps(SAID))
    other["request"]["seed"] = 8
    slow.write(tmp_path / "s", other, "walks", some_walks(seed=1), group_size=2, groups=[0], overwrite=True)
    with pytest.raises(StoreError, match="now belongs to another run"):
        late.write(1, slow.part(walks, 2, 4))
    assert not (tmp_path / "s.partial" / "groups" / "000001.json").exists()


def test_what_killed_processes_left_does_not_reach_the_store(tmp_path):
    walks = some_walks()
    whole = slow.write(tmp_path / "whole", SAID, "walks", walks, group_size=2)
    slow.write(tmp_path / "s", SAID, "walks", walks, group_size=2, groups=[0])
    for place in ("zarr.json.1.tmp", "walks/c.4.0.0123456789abcdef.tmp", "groups/000004.json.2.tmp"):
        (tmp_path / "s.partial" / place).write_bytes(b"half")
    slow.write(tmp_path / "s", SAID, "walks", walks, group_size=2, resume=True)
    assert files_of(tmp_path / "s") == files_of(whole)


def test_a_file_that_could_not_be_written_leaves_no_rest(tmp_path):
    def pieces():
        yield from ()
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        files.write_pieces(tmp_path / "chunk", pieces())
    assert not list(tmp_path.iterdir())


def test_locks_are_shared_with_those_that_share(tmp_path):
    shared = [Lock(tmp_path / "x", "a sample store", shared=True) for _ in range(2)]
    for one in shared:
        with pytest.raises(StoreError, match=f"x: another csaw .* a sample store, last by process {os.getpid()} on "):
            Lock(tmp_path / "x", "a graph store")
        one.close()
    assert not list(tmp_path.iterdir())
    Lock(tmp_path / "x", "a graph store").close()
    assert not list(tmp_path.iterdir())


def test_groups_are_named_in_ranges():
    assert named([4]) == "group 4 is"
    assert named([0, 1, 2, 7]) == "4 groups (0 to 2, 7) are"


def test_a_lease_shows_that_its_owner_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.02)
    with locks.Lease(tmp_path / "lease"):
        seen, end = (tmp_path / "lease" / "beat").read_text(), time.monotonic() + 20
        while (tmp_path / "lease" / "beat").read_text() == seen:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert locks.take(tmp_path / "lease") is None
    assert not (tmp_path / "lease").exists()
