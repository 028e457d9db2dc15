"""Samples by the workers of a Dask cluster: the bytes of one machine, whatever becomes of workers, scheduler and
driver.
"""

import os
import pickle
import random
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster
from helpers import cases, clusters, own_walk
from helpers.graphs import random_store
from helpers.machine import need_system
from helpers.small_samples import files_of

from csaw.engine import prepare, sample
from csaw.engine.cluster import dask_executor, dask_run
from csaw.engine.cluster.clusters import Cluster
from csaw.engine.cluster.dask_run import plan_on_cluster, sample_on_cluster
from csaw.engine.cluster.recipe import Recipe
from csaw.engine.runs.job import manifest, stored_as
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.samples.writer import SampleWriter
from csaw.partition import errors, write_graph

FAMILIES = {
    "walks": ("node2vec", {"num_walks": 2, **cases.OPTIONS["node2vec"]}),
    "ragged walks": ("ppr", {"num_walks": 2}),
    "hops": ("neighbor", cases.OPTIONS["neighbor"]),
    "subgraphs": ("forest-fire", {"instances": 60}),
    "targets": ("forest-fire", {"target": 30, "instances": 40}),
    "layers": ("ladies", cases.OPTIONS["ladies"]),
    "batches": ("minibatch", cases.OPTIONS["minibatch"]),
    "induced": ("saint-node", cases.OPTIONS["saint-node"]),
    "induced walks": ("deepwalk", {"walk_length": 8, "induced": True, "instances": 90}),
    "clusters": ("cluster-gcn", cases.OPTIONS["cluster-gcn"]),
    "dependent walkers": ("multidimensional", cases.OPTIONS["multidimensional"]),
}
STREAMED = {"num_walks": 4, "walk_length": 20, "residency": "disk", "memory": "80KiB", "in_flight": 400}
LONG = {"num_walks": 6, "walk_length": 20, "p": 0.5, "seed": 3}
ROUNDS = int(os.environ.get("CSAW_KILL_ROUNDS", "20"))  # of samples whose workers are killed again and again


@contextmanager
def two_workers(seconds=0.0):
    """Two workers of one thread each, in processes of their own, which take so many seconds more for a unit."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as held,
        Client(held, set_as_default=False) as client,
    ):
        client.register_plugin(clusters.SmallGroups(seconds))
        yield client


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as client:
        yield client


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", clusters.GROUP_BYTES)
    monkeypatch.setattr(dask_run, "UNIT_SECONDS", 0.2)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", partitions=3).path


def address(client):
    return client.scheduler.address


def on(client, graph, out, algo, **options):
    return sample_on_cluster(graph, out, algo, cluster=address(client), **options)


def assert_same_files(out, other):
    assert files_of(out) == files_of(other)
    assert {p.name for p in out.rglob("*") if p.is_dir()} == {p.name for p in other.rglob("*") if p.is_dir()}


@pytest.fixture
def slow(cluster):
    """Workers that take a while for each unit, so that something can happen meanwhile."""
    cluster.register_plugin(clusters.SmallGroups(0.1))
    yield cluster
    cluster.register_plugin(clusters.SmallGroups())


@pytest.mark.parametrize("family", FAMILIES)
def test_workers_write_the_bytes_of_one_machine(tmp_path, cluster, graph, family):
    algo, options = FAMILIES[family]
    sample(graph, tmp_path / "alone", algo, seed=5, **options)
    results = on(cluster, graph, tmp_path / "spread", algo, seed=5, **options)
    assert_same_files(tmp_path / "spread", tmp_path / "alone")
    assert results["sampled_edges"] > 0


def test_a_worker_that_streams_its_graph_is_given_a_whole_batch(tmp_path, cluster, graph, monkeypatch):
    job = prepare(graph, "deepwalk", seed=5, **STREAMED)
    batch, sizes, submit = job.plan.batch // job.plan.request.group_size, [], dask_run.Tasks._submit
    monkeypatch.setattr(
        dask_run.Tasks, "_submit", lambda self, unit: sizes.append(len(unit.groups)) or submit(self, unit)
    )
    sample(graph, tmp_path / "alone", "deepwalk", seed=5, **STREAMED)
    on(cluster, graph, tmp_path / "spread", "deepwalk", seed=5, **STREAMED)
    assert_same_files(tmp_path / "spread", tmp_path / "alone")
    assert max(sizes) == batch > 1


def test_the_summary_says_what_each_worker_did(tmp_path, slow, graph):
    seen = []
    done = on(slow, graph, tmp_path / "s", "node2vec", progress=seen.append, **LONG)
    alone = sample(graph, tmp_path / "t", "node2vec", **LONG).results
    assert (done["sampled_edges"], done["bytes_written"]) == (alone["sampled_edges"], alone["bytes_written"])
    assert len(done["workers"]) == 2
    assert seen == sorted(seen)
    assert seen[-1] == done["instances"]


def test_workers_open_files_by_their_whole_paths(tmp_path, cluster, graph, monkeypatch):
    monkeypatch.chdir(tmp_path)
    algo = own_walk.written(tmp_path, 0.9).replace(f"{tmp_path}/", "")
    (tmp_path / "seeds").write_text("\n".join(map(str, range(0, 300, 3))))
    np.save(tmp_path / "x.npy", np.arange(300.0) + 1)
    options = {"sources": "seeds", "columns": "x.npy", "num_walks": 9, "walk_length": 12}
    sample("../" * 0 + str(graph), "alone", algo, **options)
    on(cluster, os.path.relpath(graph), "spread", algo, **options)
    assert_same_files(tmp_path / "spread", tmp_path / "alone")


def test_string_ids_and_labels_go_along(tmp_path, cluster):
    plain = random_store(tmp_path / "p.zarr").load()
    names = np.array([f"v{i}" for i in range(300)])
    graph = write_graph(tmp_path / "g.zarr", plain.indptr, plain.indices, directed=False, vertex_ids=names)
    seeds = {"ids": names[:90], "y": np.arange(90.0)}
    options = {"sources": seeds, "seeds_per_batch": 4, "fanout": (3, 2), "shuffle": True}
    sample(graph, tmp_path / "alone", "minibatch", **options)
    on(cluster, graph, tmp_path / "spread", "minibatch", **options)
    assert_same_files(tmp_path / "spread", tmp_path / "alone")


def test_a_virtual_sample_is_stored_by_a_cluster(tmp_path, cluster, graph):
    commit_virtual(prepare(graph, "node2vec", **LONG), tmp_path / "virtual")
    sample(graph, tmp_path / "alone", "node2vec", **LONG)
    sample_on_cluster(tmp_path / "virtual", tmp_path / "spread", cluster=address(cluster), virtual=True)
    assert_same_files(tmp_path / "spread", tmp_path / "alone")


def test_a_dry_run_plans_for_each_worker_and_draws_nothing(tmp_path, cluster, graph):
    job, plans = plan_on_cluster(graph, tmp_path / "s", "node2vec", cluster=address(cluster), **LONG)
    assert len(plans) == 2
    assert all((plan.device, plan.threads, plan.request) == ("cpu", 1, job.plan.request) for plan in plans.values())
    assert not list(tmp_path.iterdir())


class Killer(threading.Thread):
    """Kills one of two workers at each of the moments, seconds after both were there, until ``peace``.

    Dask gives up a worker that is killed while it starts; until ``stop`` another one is started in its place, as csaw
    does for a cluster of its own.
    """

    def __init__(self, client, moments):
        super().__init__()
        self.client, self.moments, self.killed = client, moments, []
        self.peace, self.stop = threading.Event(), threading.Event()

    def run(self):
        for seconds in self.moments:
            if not self.both_there() or self.stop.wait(0.3 + seconds):
                return
            with suppress(OSError, TimeoutError):  # one may have died by itself, even while it is asked
                there = list(self.client.run(os.getpid, on_error="ignore").values())
                if there and not self.peace.is_set():
                    self.killed.append(random.choice(there))
                    clusters.kill(self.killed[-1])
        while self.both_there() and not self.stop.wait(0.5):
            pass

    def both_there(self):
        """Wait for both workers. False: the end came first."""
        since = time.monotonic()
        while self.workers() < 2 and not self.stop.wait(0.05):
            if time.monotonic() - since > dask_executor.REPLACE_SECONDS:
                since = time.monotonic()
                self.client.cluster.scale(self.workers())
                self.client.cluster.scale(2)
        return not self.stop.is_set()

    def workers(self):
        """How many are there.

        This thread has to go on: without it nobody would replace the workers that the run waits for.
        """
        with suppress(OSError, TimeoutError):
            return len(self.client.nthreads())
        return 0


def assert_kills_lose_nothing(folder, graph, moments, algo, **options):
    """How many workers were killed while the sample was drawn.

    A run that gives up, because all workers of one group were killed, is resumed in peace.
    """
    sample(graph, folder / "alone", algo, **options)
    with two_workers(0.1) as client:
        killer = Killer(client, moments)
        killer.start()
        try:
            try:
                on(client, graph, folder / "spread", algo, **options)
            except errors.ClusterError as error:
                if "the workers that draw it die" not in str(error):
                    raise
                killer.peace.set()
                on(client, graph, folder / "spread", algo, resume=True, **options)
        finally:
            killer.stop.set()
            killer.join()
    assert_same_files(folder / "spread", folder / "alone")
    return len(killer.killed)


def test_killed_workers_lose_nothing(tmp_path, graph):
    assert_kills_lose_nothing(tmp_path, graph, [0.1, 0.1], "node2vec", **LONG)


@pytest.mark.slow("many kills take some minutes; CSAW_KILL_ROUNDS says how many rounds, and -s shows the kills of each")
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_many_killed_workers_lose_nothing(tmp_path, graph, round_):
    algo, options = list(FAMILIES.values())[round_ % len(FAMILIES)]
    options = {name: value * 4 if name == "num_walks" else value for name, value in options.items()}
    chance = random.Random(round_)
    kills = assert_kills_lose_nothing(tmp_path, graph, [chance.random() for _ in range(1000)], algo, **options)
    print(f"round {round_}, {algo}: {kills} workers killed")


def test_a_second_driver_is_refused(tmp_path, cluster, graph):
    job = prepare(graph, "node2vec", **LONG)
    with (
        SampleWriter(tmp_path / "s", manifest(job), **stored_as(job)),
        pytest.raises(errors.StoreError, match="another csaw process is writing here"),
    ):
        on(cluster, graph, tmp_path / "s", "node2vec", resume=True, **LONG)


def test_a_run_goes_on_where_another_ended(tmp_path, slow, graph, monkeypatch):
    sample(graph, tmp_path / "alone", "node2vec", **LONG)

    def interrupt(done):
        if done > 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on(slow, graph, tmp_path / "s", "node2vec", progress=interrupt, **LONG)
    assert (tmp_path / "s.partial").exists()
    done = on(slow, graph, tmp_path / "s", "node2vec", resume=True, **LONG)
    assert "groups were there" in done["resumed"]
    assert_same_files(tmp_path / "s", tmp_path / "alone")
    with pytest.raises(
        errors.StoreError, match="exists already; pass --overwrite to replace it, or choose another name"
    ):
        on(slow, graph, tmp_path / "s", "node2vec", **LONG)


def test_a_worker_with_another_csaw_is_refused_by_name(tmp_path, cluster, graph):
    worker = sorted(cluster.nthreads())[1]
    before = cluster.run(clusters.set_version, "0.0.9", workers=[worker])[worker]
    try:
        with pytest.raises(errors.ClusterError, match=f"worker {worker} has csaw 0.0.9") as said:
            on(cluster, graph, tmp_path / "s", "node2vec", **LONG)
    finally:
        cluster.run(clusters.set_version, before, workers=[worker])
    assert before in str(said.value)
    assert not list(tmp_path.glob("s*"))


def test_a_worker_with_another_graph_is_refused_by_name(tmp_path, cluster, graph, monkeypatch):
    other = random_store(tmp_path / "other.zarr", seed=1)
    monkeypatch.setattr(Recipe, "here", lambda self: prepare(graph, "node2vec", **LONG))
    with pytest.raises(errors.StoreError, match=r"worker [01] \(tcp://.*fingerprint = .*, but this run has"):
        on(cluster, other, tmp_path / "s", "node2vec", **LONG)


def test_workers_with_too_little_memory_are_refused_with_the_numbers(tmp_path, cluster, graph):
    with pytest.raises(errors.BudgetError, match=r"worker [01] \(tcp.* needs .* bytes|worker [01] .*raise --memory"):
        on(cluster, graph, tmp_path / "s", "node2vec", memory=500, **LONG)


def test_a_worker_with_too_little_memory_is_named_and_the_others_draw(tmp_path, cluster, caplog):
    vertices, worker = 200_000, min(cluster.nthreads())
    ring = np.arange(vertices + 1), np.roll(np.arange(vertices, dtype=np.uint32), -1)
    graph, options = (
        write_graph(tmp_path / "ring.zarr", *ring, directed=True).path,
        {"instances": 400, "walk_length": 5},
    )
    sample(graph, tmp_path / "alone", "deepwalk", **options)
    before = cluster.run(clusters.set_memory, 1 << 20, workers=[worker])[worker]
    try:
        done = on(cluster, graph, tmp_path / "s", "deepwalk", **options)
    finally:
        cluster.run(clusters.set_memory, before, workers=[worker])
    assert re.search(
        rf"worker [01] \({worker}\): .*: this run needs at least [\d,]+ bytes.* The limit is 1,048,576 bytes",
        caplog.text,
    )
    assert [worker in name for name in done["workers"]] == [False]
    assert_same_files(tmp_path / "s", tmp_path / "alone")


def test_a_full_disk_on_one_worker_is_the_others_work(tmp_path, cluster, graph, caplog):
    worker = min(cluster.nthreads())
    sample(graph, tmp_path / "alone", "node2vec", **LONG)
    cluster.run(clusters.fill_disk, True, str(tmp_path), workers=[worker])
    try:
        on(cluster, graph, tmp_path / "s", "node2vec", **LONG)
    finally:
        cluster.run(clusters.fill_disk, False, "", workers=[worker])
    assert worker in caplog.text
    assert "the disk is full" in caplog.text
    assert "other workers take over its work" in caplog.text
    assert_same_files(tmp_path / "s", tmp_path / "alone")


def test_a_disk_that_is_full_for_all_ends_the_run(tmp_path, cluster, graph):
    cluster.run(clusters.fill_disk, True, str(tmp_path))
    try:
        with pytest.raises(errors.StoreError, match=r"worker [01] .*the disk is full.*--resume; 1 more failed, too$"):
            on(cluster, graph, tmp_path / "s", "node2vec", **LONG)
    finally:
        cluster.run(clusters.fill_disk, False, "")


def test_a_slow_worker_is_overtaken(tmp_path, cluster, graph, monkeypatch):
    monkeypatch.setattr(dask_run, "SLOW_SECONDS", 0.5)
    worker = min(cluster.nthreads())
    sample(graph, tmp_path / "alone", "node2vec", **LONG)
    cluster.run(clusters.set_pace, 600.0, workers=[worker])
    try:
        on(cluster, graph, tmp_path / "s", "node2vec", **LONG)
        assert cluster.run(clusters.units_begun, workers=[worker]) == {worker: 0}  # it still waits
    finally:
        cluster.run(clusters.set_pace, 0.0)
    assert_same_files(tmp_path / "s", tmp_path / "alone")


def test_an_error_of_the_users_is_the_sentence_of_one_machine(tmp_path, cluster, graph):
    bad = {"edge_bias": "1 - e.dst", "seed": 3}
    said = []
    for run in (
        lambda: sample(graph, tmp_path / "a", "deepwalk", **bad),
        lambda: on(cluster, graph, tmp_path / "b", "deepwalk", **bad),
    ):
        with pytest.raises(errors.BiasError) as error:
            run()
        said.append(str(error.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("kind", [one for one in vars(errors).values() if isinstance(one, type)])
def test_errors_travel(kind):
    error = pickle.loads(pickle.dumps(kind("expected 1, found 2; give 1")))
    made = kind.__new__(kind, *error.args)  # as tblib does, which Dask installs at times
    for one in (error, made):
        assert type(one) is kind
        assert str(one) == "expected 1, found 2; give 1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nowhere", "found 'nowhere', which is not a file"),
        ("local:0", "expected 1 to"),
        ("local:two", "which is not a file"),
    ],
)
def test_what_names_no_cluster_is_refused(given, said):
    with pytest.raises(errors.OptionError, match=said):
        Cluster.of(given)


def test_several_gpus_for_each_worker_are_refused(tmp_path, cluster, graph):
    with pytest.raises(errors.OptionError, match="each worker of a cluster draws on one GPU"):
        on(cluster, graph, tmp_path / "s", "node2vec", device="cuda:0,1", **LONG)


def test_a_scheduler_that_dies_leaves_a_sample_to_resume(tmp_path, graph):
    sample(graph, tmp_path / "alone", "node2vec", **LONG)
    place = f"--scheduler-file={tmp_path / 'scheduler.json'}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    start = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        place,
        "--port=0",
        "--dashboard-address=127.0.0.1:0",
    ]
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(start, **quiet)
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", place, "--no-nanny", "--nthreads=1", "--no-dashboard"],
        **quiet,
    )
    try:
        while not (tmp_path / "scheduler.json").exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        with Client(scheduler_file=tmp_path / "scheduler.json", set_as_default=False) as client:
            client.register_plugin(clusters.SmallGroups(0.1))

        def kill(done):
            scheduler.kill()

        with pytest.raises(errors.ClusterError, match="is lost; finished groups are safe"):
            sample_on_cluster(
                graph, tmp_path / "s", "node2vec", cluster=str(tmp_path / "scheduler.json"), progress=kill, **LONG
            )
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    sample(graph, tmp_path / "s", "node2vec", resume=True, **LONG)
    assert_same_files(tmp_path / "s", tmp_path / "alone")


def csaw(*arguments, small=True):
    """Begin a command; ``small``: in groups as small as those of the workers here."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    text = (
        f"from csaw.engine.plan import planning; planning.GROUP_BYTES = {clusters.GROUP_BYTES if small else 1 << 25}; "
        "from csaw.cli.main import main; main()"
    )
    command = [sys.executable, "-c", text, *map(str, arguments), "--quiet"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def children(pid, word):
    """Processes that a process has begun, with ``word`` in their command line."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(file.read_text().rpartition(")")[2].split()[1])
            if parent == pid and word in (file.parent / "cmdline").read_text():
                found.append(int(file.parent.name))
    return found


def test_a_resource_tracker_that_is_killed_changes_nothing_and_says_nothing(tmp_path, graph):
    need_system(Path("/proc/self/stat").exists(), "no /proc, which lists processes")
    options = ("--algo", "node2vec", "--num-walks", 400, "--walk-length", 40)
    running = csaw("sample", graph, tmp_path / "s", *options, "--cluster", "local:2", small=False)
    end = time.monotonic() + 60
    while not (found := children(running.pid, "resource_tracker")) and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(found[0], 9)
    said = running.communicate(timeout=300)
    assert (running.returncode, said[1]) == (0, "")


def test_of_a_scheduler_that_is_killed_one_line_is_said(tmp_path, graph):
    place = tmp_path / "scheduler.json"
    quiet = {
        "env": os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    begin = [sys.executable, "-m"]
    held = [
        subprocess.Popen(
            [
                *begin,
                "distributed.cli.dask_scheduler",
                f"--scheduler-file={place}",
                "--port=0",
                "--dashboard-address=127.0.0.1:0",
            ],
            **quiet,
        ),
        subprocess.Popen(
            [
                *begin,
                "distributed.cli.dask_worker",
                f"--scheduler-file={place}",
                "--no-nanny",
                "--nthreads=1",
                "--no-dashboard",
            ],
            **quiet,
        ),
    ]
    try:
        while not place.exists():
            time.sleep(0.05)
        with Client(scheduler_file=place, set_as_default=False) as client:
            client.register_plugin(clusters.SmallGroups(0.1))
            client.wait_for_workers(1)
        running = csaw("sample", graph, tmp_path / "s", "--num-walks", 40, "--walk-length", 20, "--cluster", place)
        while not list((tmp_path / "s.partial" / "groups").glob("*.json")) and running.poll() is None:
            time.sleep(0.01)
        held[0].kill()
        _, said = running.communicate(timeout=300)
    finally:
        for process in held:
            process.kill()
            process.wait()
    assert running.returncode == 1
    assert re.fullmatch(r"Error: the scheduler .* is lost; finished groups are safe; .*\n", said), said
