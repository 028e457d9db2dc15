"""Commands work in any process: without standard streams, with little address space, on narrow terminals, and in a
group of processes that a terminal interrupts.
"""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.machine import need_package, need_system

import csaw
from csaw.partition.arrays import files, replace
from csaw.partition.base.cache import cache_dir
from csaw.partition.errors import StoreError

ROOT = Path(__file__).parents[2]
ENV = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src")}
CSAW = [sys.executable, "-m", "csaw.cli"]
SMALL = ["--walk-length", "3", "--device", "cpu"]


def closed(*line, streams, folder):
    """The end of a command that begins with some of its standard streams closed."""
    how = " ".join(f"{number}{'<' if number == 0 else '>'}&-" for number in streams)
    whole = " ".join([*CSAW, *line, how])
    return subprocess.run(["sh", "-c", whole], cwd=folder, env=ENV, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("streams", [(1,), (2,), (1, 2), (0, 1, 2)])
def test_a_command_without_standard_streams_does_its_work(tmp_path, streams):
    done = closed("sample", "karate", "s.zarr", *SMALL, streams=streams, folder=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert csaw.verify(tmp_path / "s.zarr").ok
    assert ("s.zarr" in done.stdout) == (1 not in streams)
    again = closed("sample", "karate", "s.zarr", *SMALL, streams=streams, folder=tmp_path)
    assert again.returncode == 1
    assert ("Error: s.zarr exists already" in again.stderr) == (2 not in streams)


def test_an_export_to_a_closed_standard_output_is_refused(tmp_path):
    done = closed("export", "karate", "-", streams=(1,), folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "Error: OUT: standard output (-) is closed; give a file\n"


@pytest.mark.parametrize("limit", [200_000, 260_000])
def test_little_address_space_is_one_line(tmp_path, limit):
    need_system(sys.platform == "linux", "a limit of address space")
    (tmp_path / "e.txt").write_text("0 1\n1 2\n")
    for line in ("sample karate s.zarr --device cpu", "partition e.txt g.zarr", "evaluate karate --refresh"):
        whole = f"ulimit -v {limit}; exec {' '.join(CSAW)} {line}"
        done = subprocess.run(["bash", "-c", whole], cwd=tmp_path, env=ENV, check=False, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        if done.returncode:
            assert done.stderr.splitlines()[-1].startswith("Error: "), done.stderr


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 20])
def test_algorithms_are_listed_on_any_terminal(columns):
    main, other = pty.openpty()
    environment = ENV | {"COLUMNS": str(columns)}
    with subprocess.Popen([*CSAW, "algorithms"], stdout=other, stderr=subprocess.PIPE, env=environment) as running:
        os.close(other)
        said = b""
        try:
            while piece := os.read(main, 1 << 16):
                said += piece
        except OSError:  # the terminal is closed at the command's end
            pass
        os.close(main)
        assert (running.wait(), running.stderr.read()) == (0, b"")
    assert b"node2vec" in said


@pytest.mark.parametrize("seconds", [1.5, 4])
def test_a_terminals_ctrl_c_beside_local_workers_is_one_line(tmp_path, seconds):
    need_package("distributed")
    line = ["sample", "rmat:scale=12", "s.zarr", "--cluster", "local:2", "--num-walks", "2000", "--walk-length", "400"]
    with subprocess.Popen(
        [*CSAW, *line],
        cwd=tmp_path,
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        time.sleep(seconds)
        os.killpg(running.pid, signal.SIGINT)
        began = time.monotonic()
        _, said = running.communicate(timeout=60)
        assert time.monotonic() - began < 20
    assert running.returncode == 130
    others = [one for one in said.splitlines() if one and not one.startswith(("csaw: ", "Error: interrupted"))]
    assert others == []


def unwritable(path, mode):
    """What os.access says to a user who is not root."""
    return not mode & os.W_OK or bool(os.stat(path).st_mode & 0o200)


@pytest.mark.parametrize("inside", [".", "walks"])
def test_a_store_that_cannot_be_removed_is_not_replaced(tmp_path, monkeypatch, inside):
    csaw.sample("karate", tmp_path / "s.zarr", walk_length=3, device="cpu")
    (tmp_path / "s.zarr" / inside).chmod(0o500)
    monkeypatch.setattr(files.os, "access", unwritable)
    with pytest.raises(StoreError, match=r"s\.zarr cannot be replaced, because you cannot write to .*; chmod -R u\+w"):
        csaw.sample("karate", tmp_path / "s.zarr", walk_length=4, device="cpu", overwrite=True)
    assert [one.name for one in tmp_path.iterdir() if one.name.endswith("replaced")] == []
    (tmp_path / "s.zarr" / inside).chmod(0o700)
    assert csaw.verify(tmp_path / "s.zarr").ok


def test_the_rest_of_what_was_replaced_is_said(tmp_path, monkeypatch, caplog):
    csaw.sample("karate", tmp_path / "s.zarr", walk_length=3, device="cpu")
    monkeypatch.setattr(replace.shutil, "rmtree", lambda *_, **how: None)
    csaw.sample("karate", tmp_path / "s.zarr", walk_length=4, device="cpu", overwrite=True)
    assert ".s.zarr.csaw-replaced, which was replaced, cannot be removed; remove it yourself" in caplog.text


def test_resume_of_nothing_begins(tmp_path, caplog):
    caplog.set_level("INFO")
    made = csaw.sample("karate", tmp_path / "s.zarr", walk_length=3, device="cpu", resume=True)
    assert "there is nothing to resume, so csaw starts a new sample" in caplog.text
    whole = csaw.sample("karate", walk_length=3, device="cpu")
    assert (made.walks[:] == whole.walks[:]).all()


@pytest.mark.parametrize("line", ["sample karate s.zarr", "evaluate g.zarr --measures degree", "evaluate karate"])
@pytest.mark.parametrize("place", ["a file", "a file in place of graphs", "a file in place of profiles"])
def test_a_cache_that_cannot_be_used_names_the_variable(tmp_path, monkeypatch, line, place):
    csaw.partition([(0, 1), (1, 2)], tmp_path / "g.zarr")
    cache = tmp_path / "cache"
    if place == "a file":
        cache.write_text("")
    else:
        cache.mkdir()
        if (kernels := cache_dir() / "kernels").is_dir():  # what is compiled need not be again
            (cache / "kernels").symlink_to(kernels)
        (cache / place.rpartition(" ")[2]).write_text("")
    done = subprocess.run(
        [*CSAW, *line.split(), "--device", "cpu"],
        cwd=tmp_path,
        env=ENV | {"CSAW_CACHE_DIR": str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "CSAW_CACHE_DIR" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("NUMBA_DISABLE_JIT", "1", "NUMBA_DISABLE_JIT: expected 0, because csaw compiles its kernels; unset it"),
        (
            "NUMBA_NUM_THREADS",
            "0",
            "NUMBA_NUM_THREADS: expected a number of threads of at least 1, found '0'; unset it",
        ),
        (
            "NUMBA_NUM_THREADS",
            "x",
            "NUMBA_NUM_THREADS: expected a number of threads of at least 1, found 'x'; unset it",
        ),
    ],
)
def test_settings_of_numba_that_no_kernel_can_be_compiled_with_are_named(tmp_path, name, value, said):
    line = [*CSAW, "sample", "karate", "s.zarr", *SMALL]
    done = subprocess.run(line, cwd=tmp_path, env=ENV | {name: value}, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {said}")


def test_a_current_folder_that_is_gone_is_said(tmp_path):
    csaw.partition([(0, 1), (1, 0)], tmp_path / "g.zarr")
    (tmp_path / "gone").mkdir()
    line = f"rmdir ../gone; exec {' '.join(CSAW)} sample {tmp_path}/g.zarr s.zarr"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path / "gone", env=ENV, check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert (
        done.stderr
        == "Error: the current folder has been removed; change to another folder and run the command again\n"
    )


def test_sources_from_a_pipe_are_refused_with_the_way_out(tmp_path):
    line = [*CSAW, "sample", "karate", "s.zarr", "--sources", "/dev/stdin", *SMALL]
    done = subprocess.run(line, cwd=tmp_path, env=ENV, check=False, capture_output=True, text=True, input="1\n")
    assert done.returncode == 2
    assert "which is a pipe; write the ids to a file first" in done.stderr
