"""Runs on several processes, as a user calls them: options that exclude each other, reports, Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.small_samples import files_of

from csaw.cli.main import cli

SAMPLE = ["sample", "karate", "w.zarr", "--algo", "node2vec", "--seed", "7"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return CliRunner().invoke(cli, [*SAMPLE, *arguments], catch_exceptions=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--cluster local:2 --shard 0/2", "leave out --shard"),
        ("--cluster local:2 --virtual", "leave out --cluster"),
        ("--shard 0/2 --virtual", "leave out --shard"),
        ("--shard 0/2 --overwrite", "remove what other shards have drawn"),
        ("--shard 0/2 --dry-run", "leave out --shard"),
    ],
)
def test_options_that_exclude_each_other_are_refused(options, said):
    done = run(*options.split())
    assert done.exit_code == 2
    assert said in done.output


@pytest.mark.parametrize(
    ("options", "said"), [("--shard 2/2", "expected I/N"), ("--cluster here", "expected a scheduler's address")]
)
def test_what_names_no_part_and_no_cluster_is_refused(options, said):
    assert said in str(run(*options.split()).exception)


def test_shards_report_what_is_left_and_the_whole():
    first, second = run("--shard", "0/2", "--json"), run("--shard", "1/2")
    assert json.loads(first.stdout)["shard"] == "0/2"
    assert second.stdout.startswith("34 walks of 80 steps in w.zarr")
    assert "Shard 0/2" in CliRunner().invoke(cli, [*SAMPLE[:2], "v.zarr", *SAMPLE[3:], "--shard", "0/2"]).stdout
    assert CliRunner().invoke(cli, ["seal", "w.zarr"]).exit_code == 0


def test_seal_says_what_is_missing():
    assert "does not exist" in str(CliRunner().invoke(cli, ["seal", "w.zarr"]).exception)


def test_a_dry_run_says_what_each_worker_reads_and_writes_and_what_limits(monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 4000)
    shown = run("--cluster", "local:3", "--dry-run", "--num-walks", "9").stdout
    assert re.search(
        r"Workers 0, 1, 2\n  share of each, at most +\d\d groups, \d\d\d instances\n  reads of the graph ", shown
    )
    assert re.search(
        r"Expected of the cluster\n  workers that can draw +3\n  to draw +\d+ groups, 306 instances\n", shown
    )
    assert re.search(r"writing to the disk, synced +954 MiB, assumed\n", shown)
    said = json.loads(run("--cluster", "slurm:2", "--dry-run", "--json").stdout)
    assert sum(worker["share"]["instances"] for worker in said["workers"].values()) == said["limits"]["instances"] == 34
    assert said["limits"]["limit"] == max(said["workers"]["0"]["share"]["parts"].items(), key=lambda part: part[1])[0]
    assert not list(Path().iterdir())


def test_a_dry_run_says_which_workers_cannot_draw():
    shown = run("--cluster", "local:2", "--dry-run", "--memory", "500").stdout
    assert re.search(r"Workers 0, 1\n  cannot draw +.*raise --memory", shown)
    assert re.search(r"workers that can draw +none", shown)


@pytest.mark.slow("starts a cluster of its own")
def test_a_local_cluster_from_the_command_line():
    assert "at work" in run("--cluster", "local:2", "-v").stdout
    before = files_of(Path("w.zarr"))
    assert run("--overwrite").exit_code == 0
    assert files_of(Path("w.zarr")) == before


@pytest.mark.slow("starts a cluster of its own, and interrupts it")
def test_ctrl_c_says_how_to_go_on(tmp_path):
    line = [sys.executable, "-m", "csaw.cli", "sample", "rmat:scale=12,seed=1", "w.zarr", "--num-walks", "900"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [*line, "--cluster", "local:2"], env=environment, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    while len(list((tmp_path / "w.zarr.partial" / "groups").glob("*.json"))) < 2:
        assert child.poll() is None
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "the same command with --resume completes w.zarr" in said
    assert "Traceback" not in said
    assert subprocess.run([*line, "--resume"], env=environment, capture_output=True, check=False).returncode == 0
