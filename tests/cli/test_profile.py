"""--profile writes what the threads of a command did, from its start to its end."""

import json
import os
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from csaw.cli.main import cli

SOURCE = os.path.abspath("tests/_src")


def timed(folder, *line):
    """The seconds that a command takes as a process, and its trace."""
    env = os.environ | {"PYTHONPATH": SOURCE}
    before = time.perf_counter()
    subprocess.run([sys.executable, "-m", "csaw.cli", *line, "--profile", "p.json"], check=True, env=env, cwd=folder)
    seconds = time.perf_counter() - before
    return seconds, json.loads((folder / "p.json").read_text())["traceEvents"]


@pytest.mark.parametrize(
    "line",
    [
        ("sample", "karate", "walks.zarr", "--algo", "node2vec"),
        ("partition", "g.txt", "g.zarr"),
        ("evaluate", "karate", "--measures", "degree"),
    ],
)
def test_the_timeline_adds_up_to_the_time_of_the_command(tmp_path, line):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    seconds, events = timed(tmp_path, *line)
    spans = [event for event in events if event["ph"] == "X"]
    whole = next(event for event in spans if event["name"] == "csaw")
    assert 0.95 * seconds - 0.05 <= whole["dur"] / 1e6 <= seconds + 0.01  # the start is known to a hundredth
    top = end = 0
    for event in sorted((one for one in spans if one is not whole), key=lambda one: (one["ts"], -one["dur"])):
        if event["tid"] == whole["tid"] and event["ts"] + event["dur"] > end:  # in no other one
            top += event["ts"] + event["dur"] - max(end, event["ts"])
            end = event["ts"] + event["dur"]
    assert top >= 0.95 * whole["dur"]
    names = [event["name"] for event in spans]
    assert any(name.startswith("import csaw.") for name in names)
    assert f"cli.commands.{line[0]}.{line[0]}" in names
    assert all(0 <= event["ts"] <= event["ts"] + event["dur"] <= whole["dur"] + 1 for event in spans)


def test_a_shell_that_becomes_the_command_does_not_count(tmp_path):
    line = f"sleep 6; exec {sys.executable} -m csaw.cli evaluate karate --measures degree --profile p.json"
    subprocess.run(["sh", "-c", line], env=os.environ | {"PYTHONPATH": SOURCE}, cwd=tmp_path, check=True)
    whole = next(one for one in json.loads((tmp_path / "p.json").read_text())["traceEvents"] if one["ph"] == "X")
    assert whole["dur"] < 6e6


def test_a_profile_replaces_no_file_and_is_written_where_the_command_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept.json").write_text("mine")
    done = CliRunner().invoke(cli, ["sample", "karate", "w.zarr", "--profile", "kept.json"])
    assert done.exit_code == 2
    assert "--profile: kept.json is there already; choose another name" in done.output
    assert (tmp_path / "kept.json").read_text() == "mine"
    done = CliRunner().invoke(cli, ["sample", "nothing.txt", "w.zarr", "--profile", "new.json"])
    assert done.exit_code != 0
    assert json.loads((tmp_path / "new.json").read_text())["traceEvents"]
    assert sys.getprofile() is None


@pytest.mark.parametrize("name", ["", "-"])
def test_a_profile_needs_the_name_of_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["sample", "karate", "w.zarr", "--profile", name])
    assert done.exit_code == 2
    assert f"--profile: expected the name of a file, found '{name}'" in done.output
    assert not list(tmp_path.iterdir())


def test_threads_have_names_and_their_own_spans(tmp_path):
    _, events = timed(tmp_path, "sample", "rmat:scale=12", "walks.zarr", "--algo", "node2vec")
    threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert len(threads) > 1
    assert "MainThread" in threads.values()
    assert {event["tid"] for event in events if event["ph"] == "X"} <= set(threads)


def test_a_profile_that_the_command_replaces_is_missed(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["sample", "karate", "w.zarr"]).exit_code == 0
    done = CliRunner().invoke(cli, ["export", "w.zarr", "w.txt", "--overwrite", "--profile", "w.txt"])
    assert done.exit_code == 0
    assert "--profile: w.txt was replaced while the command ran" in caplog.text
    assert not (tmp_path / "w.txt").read_text().startswith("{")
