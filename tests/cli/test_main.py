"""The command group: what it imports, how it ends, and what it prints elsewhere than to a terminal."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest
from helpers import slow
from helpers.machine import need_system

from csaw.cli import main
from csaw.cli.__main__ import _interrupted
from csaw.partition import write_graph
from csaw.partition.errors import BudgetError, CsawError, StoreError

ROOT = Path(__file__).parents[2]
ENV = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src")}


COMMANDS = sorted(path.stem for path in (ROOT / "cli" / "commands").glob("*.py") if path.stem != "__init__")


def csaw(*arguments, **options):
    command = [sys.executable, "-m", "csaw.cli", *arguments]
    return subprocess.run(command, check=False, env=ENV, stderr=subprocess.PIPE, text=True, **options)


def run(monkeypatch, capsys, body, *arguments):
    """Exit status and stderr of ``csaw probe`` with this body."""
    probe = click.command("probe")(click.pass_context(lambda ctx: body(ctx)))
    monkeypatch.setattr(main.Lazy, "get_command", lambda self, ctx, name: probe if name == "probe" else None)
    monkeypatch.setattr(sys, "argv", ["csaw", *(arguments or ["probe"])])
    with pytest.raises(SystemExit) as end:
        main.main()
    return end.value.code, capsys.readouterr().err


def fail_with(error):
    def body(ctx):
        raise error

    return body


def test_python_looks_for_no_garbage_in_what_a_command_leaves_at_its_end():
    code = "import atexit, gc, sys; from csaw.cli.__main__ import run; sys.argv = ['csaw', '--version']; "
    left = "atexit.register(lambda: print(gc.get_freeze_count() > 1000 > len(gc.get_objects()))); run()"
    said = subprocess.run([sys.executable, "-c", code + left], check=True, env=ENV, stdout=subprocess.PIPE, text=True)
    assert said.stdout.splitlines()[-1] == "True"


def test_every_file_is_a_command_of_its_name_and_help_lists_it():
    said = csaw("--help", stdout=subprocess.PIPE).stdout.split("Draw:")[1]
    listed = [line.split()[0] for line in said.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == COMMANDS
    assert "..." not in said
    for name in COMMANDS:
        command = getattr(import_module(f"csaw.cli.commands.{name}"), name)
        assert isinstance(command, click.Command)
        assert command.name == name


def test_help_and_version_import_nothing_heavy():
    heavy = {"numba", "zarr", "numpy", "rich", "scipy"}
    for argument in ("--help", "--version"):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "csaw.cli", argument],
            env=ENV,
            capture_output=True,
            text=True,
            check=True,
        )
        imported = {
            line.split("|")[-1].strip().split(".")[0]
            for line in done.stderr.splitlines()
            if line.startswith("import time")
        }
        assert "click" in imported
        assert not heavy & imported


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CsawError("this, not that"), 1, "Error: this, not that"),
        (StoreError("torn"), 1, "Error: torn"),  # an OSError too
        (BudgetError("too big by 3 bytes"), 1, "Error: too big by 3 bytes"),  # a MemoryError too
        (click.UsageError("wrong"), 2, "Error: wrong"),
        (click.BadParameter("wrong"), 2, "Invalid value: wrong"),
        (MemoryError(), 1, "out of memory; set --memory"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "here"), 1, "here: No space left on device; make room"),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "there"), 1, "there: Permission denied"),
        (FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "gone"), 1, "gone: No such file or directory"),
        (KeyboardInterrupt(), 130, "Error: interrupted\n"),
        (KeyboardInterrupt("go on with --resume"), 130, "interrupted: go on with --resume"),
    ],
    ids=lambda value: repr(value) if isinstance(value, BaseException) else "",
)
def test_errors_become_a_line_and_a_status(monkeypatch, capsys, error, code, said):
    monkeypatch.setattr(
        threading, "enumerate", lambda: [threading.main_thread()]
    )  # not those that other tests have left
    ended, printed = run(monkeypatch, capsys, fail_with(error))
    assert ended == code
    assert said in printed
    assert "Traceback" not in printed


SMALL = ["sample", "karate", "w.zarr", "--walk-length", "2", "--device", "cpu"]
INTERRUPTED = """
import importlib.abc, os, runpy, signal, sys

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == os.environ["INTERRUPTED"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))

sys.meta_path.insert(0, Finder())
runpy.run_module("csaw.cli", run_name="__main__", alter_sys=True)
"""


def interrupted(tmp_path, module, name, code=INTERRUPTED, line=SMALL):
    """The end of a command that gets the signal ``name`` when it imports ``module``."""
    return subprocess.run(
        [sys.executable, "-c", code, *line],
        env=ENV | {"INTERRUPTED": module, "SIGNAL": name},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "module",
    [
        "csaw.cli.main",
        "click.core",
        "csaw.cli.commands.sample",
        "numpy.random",
        "numba.core",
        "csaw.engine.cpu.backend",
    ],
)
def test_ctrl_c_while_modules_are_imported_is_one_line(tmp_path, module):
    done = interrupted(tmp_path, module, "SIGINT")
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: interrupted")
    assert "Traceback" not in done.stderr
    assert ("--resume" in done.stderr) == (tmp_path / "w.zarr.partial").exists()


@pytest.mark.parametrize("module", ["csaw.cli.main", "csaw.engine.cpu.backend"])
def test_the_signal_of_a_scheduler_ends_a_command_as_ctrl_c_does(tmp_path, module):
    """Slurm and LSF send SIGTERM some time before they kill."""
    done = interrupted(tmp_path, module, "SIGTERM")
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: interrupted")
    assert ("--resume" in done.stderr) == (tmp_path / "w.zarr.partial").exists()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_that_is_ignored_stays_so(tmp_path, name):
    deaf = f"import signal; signal.signal(signal.{name}, signal.SIG_IGN)\n{INTERRUPTED}"
    done = interrupted(tmp_path, "csaw.engine.cpu.backend", name, deaf)
    assert (done.returncode, (tmp_path / "w.zarr").exists()) == (0, True), done.stderr


SLOW_DRIVER = """
import ctypes, importlib.util, os, runpy, signal, sys, time
from types import SimpleNamespace

class Cupy:
    @property
    def cuda(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

sys.modules["cupy"] = Cupy()
library = ctypes.CDLL
driver = SimpleNamespace(cuInit=lambda flags: time.sleep(60))
ctypes.CDLL = lambda name, *how, **more: driver if name == "libcuda.so.1" else library(name, *how, **more)
find_spec, there = importlib.util.find_spec, ("cupy", "numba_cuda", "cuda.core")
importlib.util.find_spec = lambda name, *of: SimpleNamespace(origin=name) if name in there else find_spec(name, *of)
runpy.run_module("csaw.cli", run_name="__main__", alter_sys=True)
"""


def test_ctrl_c_does_not_wait_for_the_context_of_a_gpu(tmp_path):
    began = time.monotonic()
    done = interrupted(tmp_path, "", "SIGINT", SLOW_DRIVER, [*SMALL[:-1], "cuda"])
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[-1] == "Error: interrupted"
    assert time.monotonic() - began < 30


def test_a_bench_that_a_scheduler_ends_keeps_its_rows(tmp_path):
    line = ["bench", "rmat:scale=8", "--quick", "--suite", "walks", "--device", "cpu", "--export-json", "rows.json"]
    command = [sys.executable, "-m", "csaw.cli", *line]
    with subprocess.Popen(command, cwd=tmp_path, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == 130, said
    assert said.endswith("Error: interrupted\n")
    assert json.loads((tmp_path / "rows.json").read_text())[0]["suite"] == "machine"


HALF_MADE = """
import os, signal
from csaw.cli.__main__ import _interrupted

class Half:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGINT)
        self.made = True

    def __del__(self):
        self.made

signal.signal(signal.SIGINT, _interrupted)
try:
    Half()
except KeyboardInterrupt:
    print("interrupted")
"""


def test_what_an_interruption_leaves_half_made_says_nothing():
    done = subprocess.run([sys.executable, "-c", HALF_MADE], env=ENV, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


DROPPED = """
import os, signal, time
from csaw.cli.__main__ import _interrupted

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

for number in (signal.SIGINT, signal.SIGALRM):
    signal.signal(number, _interrupted)
try:
    Last()
    print("dropped", flush=True)
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interruption_that_python_drops_is_made_again():
    done = subprocess.run([sys.executable, "-c", DROPPED], env=ENV, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("dropped\ninterrupted\n", "")


LOCKED = """
import os, signal, sys, threading, time
from csaw.cli.__main__ import _interrupted

class Lock:
    def __init__(self):
        self.lock = threading.Lock()

    def acquire(self, *wait):
        return self.lock.acquire(*wait)

    def release(self):
        self.lock.release()

    def __enter__(self):
        self.acquire()
        self.interrupt("taken")

    def __exit__(self, *error):
        self.interrupt("at the end")
        self.release()

    def _is_owned(self):
        return True

    def _release_save(self):
        self.release()
        self.interrupt("let go")

    def interrupt(self, when):
        if when == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

for number in (signal.SIGINT, signal.SIGALRM):
    signal.signal(number, _interrupted)
lock = Lock()
change = threading.Condition(lock)
try:
    with change:
        print("locked", flush=True)
        if sys.argv[1] != "at the end":
            change.wait(5)
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted", lock.acquire(False))
"""


@pytest.mark.parametrize("when", ["taken", "let go", "at the end"])
def test_an_interruption_leaves_locks_as_with_expects_them(when):
    done = subprocess.run([sys.executable, "-c", LOCKED, when], env=ENV, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("locked\ninterrupted True\n", "")


STARTED = """
import os, runpy, signal, threading

def start(*arguments):
    threading._start_new_thread = begin
    os.kill(os.getpid(), signal.SIGINT)
    print("started", flush=True)
    return begin(*arguments)

begin, threading._start_new_thread = threading._start_new_thread, start
runpy.run_module("csaw.cli", run_name="__main__", alter_sys=True)
"""


def test_ctrl_c_waits_until_a_thread_that_begins_has_begun(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", STARTED, *SMALL], env=ENV, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "started\n"
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_a_wait_for_a_result_of_a_thread():
    with ThreadPoolExecutor(1) as threads:
        go_on = threading.Event()
        result = threads.submit(go_on.wait, 20)
        before = signal.signal(signal.SIGALRM, _interrupted)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            with pytest.raises(KeyboardInterrupt):
                result.result()
        finally:
            signal.signal(signal.SIGALRM, before)
            go_on.set()


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(main.Lazy, "get_command", lambda *_: click.command("probe")(lambda: 1 / 0))
    monkeypatch.setattr(sys, "argv", ["csaw", "probe"])
    with pytest.raises(ZeroDivisionError):
        main.main()


def test_a_command_chooses_its_status(monkeypatch, capsys):
    assert run(monkeypatch, capsys, lambda ctx: ctx.exit(3))[0] == 3
    assert run(monkeypatch, capsys, lambda ctx: None)[0] == 0
    assert run(monkeypatch, capsys, lambda ctx: None, "prob")[0] == 2


@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_a_reader_that_leaves_ends_it_quietly(monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    for command in ("datasets list", "datasets list --json"):
        reader, writer = os.pipe()
        os.close(reader)
        done = csaw(*command.split(), stdout=writer)
        os.close(writer)
        assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_a_full_disk_behind_stdout_is_said(monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    need_system(Path("/dev/full").is_char_device(), "no /dev/full, which is always full")
    with open("/dev/full", "w") as full:
        done = csaw("datasets", "list", stdout=full)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_info_shows_a_graph_and_its_json_is_plain(tmp_path):
    assert (
        csaw(
            "datasets",
            "generate",
            "rmat",
            "g.zarr",
            "--scale",
            "7",
            "--partitions",
            "12",
            cwd=tmp_path,
            stdout=subprocess.PIPE,
        ).returncode
        == 0
    )
    shown = csaw("info", "g.zarr", cwd=tmp_path, stdout=subprocess.PIPE).stdout
    assert "partition 7" in shown
    assert "partition 8" not in shown
    assert "... and 4 more" in shown
    data = json.loads(csaw("info", "g.zarr", "--json", "--full", cwd=tmp_path, stdout=subprocess.PIPE).stdout)
    assert sum(b["vertices"] for b in data["degrees"]) == data["vertices"]
    assert data["degrees"][-1]["from"] <= data["max_degree"] <= data["degrees"][-1]["to"]
    assert sum(p["edges"] for p in data["partitions"]) == data["edges"]


def test_info_answers_without_a_compiler_and_where_arrays_are_missing(tmp_path):
    write_graph(tmp_path / "g.zarr", np.array([0, 1, 2]), np.array([1, 0]), directed=False)
    slow.write(tmp_path / "s.zarr", {}, "hops", {"hop_0": np.zeros((1, 1), np.uint32)})
    for chunk in [*(tmp_path / "g.zarr").rglob("c/*"), *(tmp_path / "s.zarr").rglob("c.*")]:
        chunk.unlink()
    code = (
        "import sys; from csaw.cli.main import cli\n"
        "for name in ('g.zarr', 's.zarr'): cli(['info', name], standalone_mode=False)\n"
        "print({'numba', 'scipy', 'zarr'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENV, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "stored edges" in done.stdout
    assert "Instances\n  not read: s.zarr/hop_0" in done.stdout
    assert done.stdout.endswith("set()\n")


def test_an_error_gives_a_terminal_nothing_to_obey(monkeypatch, capsys):
    """A store may say anything of itself, and messages show it."""
    code, said = run(monkeypatch, capsys, fail_with(StoreError("found \x1b]0;a title\x07\x9b31m here")))
    assert (code, said) == (1, "Error: found \\x1b]0;a title\\x07\\x9b31m here\n")


def test_what_is_nested_too_deeply_is_said_in_a_line(monkeypatch, capsys):
    code, said = run(monkeypatch, capsys, fail_with(RecursionError("maximum recursion depth exceeded")))
    assert (code, said.count("\n")) == (1, 1)
    assert "nested more deeply" in said
