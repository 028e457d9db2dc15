"""Every command where the file system has no locks, as NFS and Lustre in some homes: the same results, and no error."""

import errno
import os
import shutil
import subprocess
import sys
from itertools import chain

import pytest
from click.testing import CliRunner
from helpers.no_locks import NO_LOCKS, for_children, without_locks

from csaw.cli.main import Lazy, cli
from csaw.datasets import resolve

ROWS = "".join(f"{k} {k * k % 11}\n{k} {k + 1} \n" for k in range(11))
TIMES = "".join(f"{k} {k * k % 11} {k}\n" for k in range(40))
WALKS = ("--walk-length", "3")
COMMANDS = {  # each after those before it
    "partition": [
        ("partition", "rows.txt", "graph.zarr"),
        ("partition", "times.txt", "timed.zarr", "--time-column", "3"),
    ],
    "algorithms": [("algorithms",)],
    "sample": [
        ("sample", "graph.zarr", "walks.zarr", *WALKS),
        ("sample", "graph.zarr", "virtual.zarr", *WALKS, "--virtual"),
        ("sample", "rows.txt", "read.zarr", *WALKS),  # by the cache
        ("sample", "karate", "karate.zarr", *WALKS),
    ],
    "seal": [
        *(("sample", "graph.zarr", "shared.zarr", *WALKS, "--shard", f"{k}/2") for k in range(2)),
        ("seal", "shared.zarr"),
    ],
    "verify": [("verify", "walks.zarr"), ("verify", "graph.zarr")],
    "evaluate": [
        ("evaluate", "graph.zarr", "walks.zarr", "--measures", "degree,triangles"),
        ("evaluate", "timed.zarr", "--measures", "triangles", "--windows", "3"),
    ],
    "export": [("export", "walks.zarr", "walks.txt"), ("export", "graph.zarr", "graph.txt")],
    "info": [("info", "graph.zarr"), ("info", "walks.zarr")],
    "append": [("append", "graph.zarr", "times.txt"), ("append", "graph.zarr", "rows.txt", "--remove")],
    "refresh": [("refresh", "walks.zarr", "--device", "cpu")],
    "completion": [("completion", "bash")],
    "datasets": [("datasets", "generate", "karate", "made.zarr"), ("datasets", "list")],
    "compact": [("append", "made.zarr", "rows.txt"), ("compact", "made.zarr")],
    "bench": [("bench", "graph.zarr", "--suite", "walks", "--quick", "--only", "uniform walk, 4000")],
}


def test_every_command_is_tried():
    assert sorted(COMMANDS) == Lazy().list_commands(None)


@pytest.mark.one_in(len(NO_LOCKS))
@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_commands_end_as_they_do_with_locks(tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(resolve, "_folder", lambda given: tmp_path / "graphs")
    without_locks(monkeypatch, number)
    (tmp_path / "rows.txt").write_text(ROWS)
    (tmp_path / "times.txt").write_text(TIMES)
    for command in chain(*COMMANDS.values()):
        ended = CliRunner().invoke(cli, command)
        assert ended.exit_code == 0, (command, ended.output, ended.exception)
    assert not [path.name for path in tmp_path.iterdir() if "csaw-lock" in path.name or "csaw-draft" in path.name]


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """By name of a command, a folder in which those before it have been run."""
    left, place = {}, tmp_path_factory.mktemp("place")
    (place / "rows.txt").write_text(ROWS)
    (place / "times.txt").write_text(TIMES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "_folder", lambda given: place / "graphs")
        patch.chdir(place)
        for name, commands in COMMANDS.items():
            left[name] = shutil.copytree(place, tmp_path_factory.mktemp(name) / "here")
            for command in commands if name != "bench" else ():
                assert CliRunner().invoke(cli, command).exit_code == 0, command
    return left


def without(folder, words, **more):
    """A process of Python that has no locks."""
    for_children(folder, errno.ENOLCK)
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    given = os.environ | {"PYTHONPATH": path} | more
    return subprocess.run([sys.executable, *words], check=False, cwd=folder, env=given, capture_output=True, text=True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_in_a_process_of_its_own_ends_as_with_locks(after, name):
    for command in COMMANDS[name]:
        ended = without(after[name], ["-m", "csaw.cli", *command])
        assert ended.returncode == 0, (command, ended.stderr)
        assert "locks" not in ended.stderr


COLD = {
    "command": ["-m", "csaw.cli", "sample", "karate", "walks.zarr", *WALKS],
    "Python": ["-c", "import csaw; csaw.sample(csaw.graph([(0, 1), (1, 0)]), 'walks.zarr', walk_length=3)"],
}


@pytest.mark.parametrize("way", COLD)
def test_a_cold_cache_without_locks_is_filled_and_found_again(tmp_path, way):
    cache, kept = tmp_path / "cache", []
    for again in (False, True):
        ended = without(tmp_path, COLD[way], CSAW_CACHE_DIR=str(cache))
        assert ended.returncode == 0, ended.stderr
        assert ("compiling kernels" in ended.stderr) is (way == "command" and not again)
        kept.append(sorted(cache.rglob("*.nbc")))
        shutil.rmtree(tmp_path / "walks.zarr")
    assert kept[0]
    assert kept[0] == kept[1]
