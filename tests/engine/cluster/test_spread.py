"""Ingest and evaluation by the workers of a Dask cluster: the bytes and the findings of one process, whatever becomes
of workers.
"""

import gzip
import json
import os
import shutil
import time
from contextlib import contextmanager

import numpy as np
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster
from helpers import clusters
from helpers.graphs import random_store
from helpers.own_measures import Counted, Unfit, of_the_page
from helpers.small_samples import files_of
from helpers.temporal import events_store, random_events

from csaw.cli.commands.evaluate import evaluate as evaluate_command
from csaw.cli.commands.partition import partition as partition_command
from csaw.engine import sample
from csaw.engine.analytics.cluster import measurer as spread_network
from csaw.engine.analytics.cluster.evaluation import evaluate_on_cluster
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.cluster.ingest import ingest_on_cluster
from csaw.engine.measure import Measure
from csaw.partition import IngestOptions, errors, ingest, open_graph
from csaw.partition.ingestion import distributed_ingest, passes

MEASURES = "triangles,hops,betweenness,degree,pagerank,core"
WISH = {"betweenness_sources": 70, "hop_sources": 100, "hops": "sources", "refresh": True, "device": "cpu"}


@pytest.fixture(scope="module")
def cluster():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as held,
        Client(held, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    monkeypatch.setattr(passes, "UNIT_BYTES", 20_000)
    monkeypatch.setattr(distributed_ingest, "COUNTED_ENTRIES", 5000)
    monkeypatch.setattr(spread_network, "SOURCES", 16)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", partitions=3).path


@pytest.fixture
def parts(tmp_path):
    """A large file and some small ones."""
    folder = tmp_path / "parts"
    folder.mkdir()
    ends = (np.random.default_rng(4).random((12_000, 2)) ** 2 * 700).astype(np.int64).tolist()
    lines = [f"{u} {v} {(u * v) % 97}\n" for u, v in ends]
    (folder / "a").write_text("".join(lines))
    (folder / "b.gz").write_bytes(gzip.compress("".join(lines[:500]).encode()))
    (folder / "c").write_text("".join(lines[:50]))
    return folder


def address(client):
    return client.scheduler.address


@contextmanager
def a_worker_to_kill(client):
    """Workers slow enough to be killed at their work. Yields what kills one, the first time it is called."""
    killed = []

    def kill():
        if not killed:
            address, pid = min(client.run(os.getpid).items())
            killed.append(address)
            clusters.kill(pid)

    client.register_plugin(clusters.SlowTasks(0.1), name="slow")
    try:
        yield kill
    finally:
        # What Dask tells all workers fails while its scheduler still lists one that is dead.
        end = time.monotonic() + 60
        while (set(killed) & client.nthreads().keys() or len(client.nthreads()) < 2) and time.monotonic() < end:
            time.sleep(0.05)
        client.unregister_worker_plugin("slow")


@pytest.mark.parametrize("options", [{"partitions": 3}, {"id_type": "string", "directed": False, "duplicates": "sum"}])
def test_workers_make_the_store_of_one_machine(tmp_path, cluster, parts, options):
    chosen, seen = IngestOptions(memory=32 << 20, **options), []
    ingest(parts, tmp_path / "alone", chosen)
    ingest_on_cluster(
        parts, tmp_path / "spread", chosen, cluster=address(cluster), progress=lambda *done: seen.append(done)
    )
    assert files_of(tmp_path / "spread") == files_of(tmp_path / "alone")
    assert len(seen) > 5
    assert seen[-1] == (sum(file.stat().st_size for file in parts.iterdir()),) * 2


def test_the_command_takes_paths_of_its_own_folder(tmp_path, cluster, parts, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ingest("parts", "alone", IngestOptions())
    given = ["parts", "spread", "--cluster", address(cluster), "--no-progress", "--json"]
    done = CliRunner().invoke(partition_command, given, catch_exceptions=False)
    assert json.loads(done.stdout)["files"] == 3
    assert files_of(tmp_path / "spread") == files_of(tmp_path / "alone")


def test_an_error_in_the_input_is_that_of_one_machine(tmp_path, cluster, parts, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (parts / "a").read_text().splitlines(keepends=True)
    (parts / "a").write_text("".join([*lines[:9000], "7\n", *lines[9000:]]))
    with pytest.raises(errors.FormatError, match="parts/a:9001: expected 3 columns, found 1") as said:
        ingest_on_cluster("parts", "g", IngestOptions(), cluster=address(cluster))
    assert str(said.value).startswith("parts/a:9001: ")
    assert [file.name for file in tmp_path.iterdir()] == ["parts"]


def test_a_worker_with_another_csaw_is_refused_by_name(tmp_path, cluster, parts, graph):
    worker = sorted(cluster.nthreads())[1]
    before = cluster.run(clusters.set_version, "0.0.9", workers=[worker])[worker]
    try:
        for run in (
            lambda: ingest_on_cluster(parts, tmp_path / "g", IngestOptions(), cluster=address(cluster)),
            lambda: evaluate_on_cluster(graph, cluster=address(cluster), measures="degree"),
        ):
            with pytest.raises(errors.ClusterError, match=f"worker {worker} has csaw 0.0.9"):
                run()
    finally:
        cluster.run(clusters.set_version, before, workers=[worker])
    assert [file.name for file in tmp_path.iterdir()] == ["parts"]


def assert_same_findings(found, expected):
    assert found.profile.keys() == expected.profile.keys()
    for name, one in expected.profile.items():
        for field, value in vars(one).items():
            other = vars(found.profile[name])[field]
            assert np.asarray(other).tobytes() == np.asarray(value).tobytes() or other == value, (name, field)
    assert repr(found.rows()) == repr(expected.rows())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"per_instance": True, "as_": "induced", "measures": "degree,triangles"},
        {"as_": "visits", "measures": "core"},
    ],
)
def test_workers_find_what_one_machine_finds(tmp_path, cluster, graph, options):
    sample(graph, tmp_path / "s", "forest-fire", instances=20, seed=1)
    wish = {"measures": MEASURES, "device": "cpu", "refresh": True} | (options or WISH) | options
    expected = evaluate(graph, [tmp_path / "s"], **wish)
    assert_same_findings(evaluate_on_cluster(graph, [tmp_path / "s"], cluster=address(cluster), **wish), expected)


@pytest.mark.parametrize("window", [{"until": 0}, {"between": (-40, 3)}])
def test_workers_measure_a_window_of_time(tmp_path, cluster, window):
    store = events_store(tmp_path / "g.zarr", random_events(90, 900, 2), 90, partitions=2)
    wish = {"measures": MEASURES, **WISH, **window}
    expected = evaluate(store, **wish)
    found = evaluate_on_cluster(store.path, cluster=address(cluster), **wish)
    assert_same_findings(found, expected)
    assert found.as_dict()["window"] == expected.as_dict()["window"]


@pytest.mark.parametrize("options", [{"source": 17}, {"per_instance": True, "as_": "induced"}])
def test_workers_find_what_ones_own_measures_find(tmp_path, cluster, graph, options):
    sample(graph, tmp_path / "s", "forest-fire", instances=20, seed=1)
    core = of_the_page(tmp_path, "KCore")(k=2)
    named = [f"{tmp_path}/measures.py:{name}" for name in ("Label", "Rank", "Distance", "WeightFrom")]
    wish = {"measures": [*named, core, Counted, "degree"], "refresh": True, "device": "cpu", **options}
    expected = evaluate(graph, [tmp_path / "s"], **wish)
    assert_same_findings(evaluate_on_cluster(graph, [tmp_path / "s"], cluster=address(cluster), **wish), expected)


def test_an_error_of_a_hook_is_that_of_one_machine(cluster, graph):
    with pytest.raises(errors.OptionError, match=r"^line \d+ of own_measures.py: Unfit.edge: .* found NaN") as alone:
        evaluate(graph, measures=Unfit, device="cpu")
    with pytest.raises(errors.OptionError) as spread:
        evaluate_on_cluster(graph, cluster=address(cluster), measures=Unfit, device="cpu")
    assert str(spread.value) == str(alone.value)


def test_a_worker_with_another_class_is_refused(tmp_path, cluster, graph):
    label, file = of_the_page(tmp_path, "Label"), tmp_path / "measures.py"
    text = file.read_text()
    for change, said in (
        (lambda: setattr(label, "rounds", 1), "Label differs here from the measure where the evaluation was started"),
        (lambda: file.write_text(text + "\n"), "measures.py differs here from the file where the run was started"),
        (file.unlink, "measures.py: No such file or directory; --measures needs it on every worker"),
    ):
        change()
        with pytest.raises(errors.StoreError, match=said):
            evaluate_on_cluster(graph, cluster=address(cluster), measures=label, refresh=True, device="cpu")


def test_a_class_in_no_file_is_refused(monkeypatch, cluster, graph):
    class Here(Measure):
        def start(self, v):
            return v.id

    monkeypatch.setattr(Unfit, "__module__", "__main__")
    for one in (Here, Here(), Unfit):
        with pytest.raises(
            errors.OptionError, match=r"in no file; write it to a separate file.* measures='FILE.py:(Here|Unfit)'"
        ):
            evaluate_on_cluster(graph, cluster=address(cluster), measures=one)


def test_the_command_evaluates_on_a_cluster(cluster, graph):
    given = [str(graph), "--measures", "degree", "--json", "--refresh"]
    alone = CliRunner().invoke(evaluate_command, given, catch_exceptions=False)
    spread = CliRunner().invoke(evaluate_command, [*given, "--cluster", address(cluster)], catch_exceptions=False)
    assert json.loads(spread.stdout) == json.loads(alone.stdout)
    refused = CliRunner().invoke(evaluate_command, [*given, "--dry-run", "--cluster", address(cluster)])
    assert "leave out --cluster" in refused.output


def test_what_workers_cannot_read_is_refused(tmp_path, cluster, graph):
    moved = tmp_path / "g.zarr"
    shutil.copytree(graph, moved)
    store = open_graph(moved)
    shutil.rmtree(moved)
    random_store(moved, seed=1)
    with pytest.raises(
        errors.StoreError, match=r"worker [01] \(tcp://.* has the fingerprint .* copy the same graph there"
    ):
        evaluate_on_cluster(store, cluster=address(cluster), measures="degree", refresh=True, device="cpu")
    held = evaluate(graph, measures="degree", device="cpu").store
    held.in_memory = True
    with pytest.raises(errors.OptionError, match="workers cannot read a graph in this process's memory"):
        evaluate_on_cluster(held, cluster=address(cluster))


def test_a_worker_that_is_killed_in_an_ingest_loses_nothing(tmp_path, cluster, parts):
    ingest(parts, tmp_path / "alone", IngestOptions(partitions=5))
    seen = []
    with a_worker_to_kill(cluster) as kill:

        def progress(done, total):
            seen.append(done)
            if len(seen) == 2:
                kill()

        ingest_on_cluster(
            parts, tmp_path / "spread", IngestOptions(partitions=5), cluster=address(cluster), progress=progress
        )
    assert files_of(tmp_path / "spread") == files_of(tmp_path / "alone")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["alone", "parts", "spread"]


def test_a_worker_that_is_killed_in_an_evaluation_changes_nothing(cluster, graph):
    expected = evaluate(graph, measures=MEASURES, **WISH)
    with a_worker_to_kill(cluster) as kill:

        def progress(doing):
            if doing.startswith("hops"):
                kill()

        found = evaluate_on_cluster(graph, cluster=address(cluster), measures=MEASURES, progress=progress, **WISH)
    assert_same_findings(found, expected)
