"""The command line as a user meets it: the README's commands, exit codes, messages without tracebacks, Ctrl-C."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from contextlib import chdir
from itertools import takewhile
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.machine import need_network
from helpers.outputs import masked

from csaw.cli.main import cli, main

ROOT = Path(__file__).parents[2]
GUIDES = (
    "guides/terminal",
    "quickstart",
    "guides/samples",
    "guides/sources",
    "guides/biases",
    "guides/export",
    "guides/evaluate",
)
ENV = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src")}


def csaw(*arguments, cwd, **options):
    return subprocess.run(
        [sys.executable, "-m", "csaw.cli", *arguments],
        check=False,
        cwd=cwd,
        env=ENV,
        capture_output=True,
        text=True,
        **options,
    )


def commands(text):
    """The commands of a page in order, each with the output that stands below it; None where there is none."""
    for kind, block in re.findall(r"```(sh|console)\n(.*?)```", text, re.DOTALL):
        if kind == "sh":
            yield from ((line.strip(), None) for line in block.splitlines() if line.startswith("csaw "))
        else:
            yield from ((said.partition("\n")[0], said.partition("\n")[2]) for said in block.split("$ ")[1:])


def within(*arguments, cwd):
    """The command in this process, which has loaded all that a command loads."""
    with chdir(cwd):
        done = CliRunner().invoke(cli, arguments)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr + str(done.exception or ""))


@pytest.mark.parametrize(
    ("pages", "run"),
    [("README.md", csaw), (" ".join(f"docs/{page}.md" for page in GUIDES), within)],
    ids=["README", "guides"],
)
def test_every_command_of_a_page_runs(tmp_path, pages, run):
    (tmp_path / "datasets").mkdir()
    for file in ("graph.txt.gz", "datasets/example.txt.gz"):
        (tmp_path / file).write_bytes((ROOT / "datasets" / "example.txt.gz").read_bytes())
    found = [each for page in pages.split() for each in commands((ROOT / page).read_text())]
    assert len(found) >= 8
    for line, output in found:
        words = takewhile(lambda word: word not in ("|", ">"), shlex.split(line, comments=True)[1:])
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if output is not None:
            said = masked(done.stdout).splitlines()
            shown = masked(output).splitlines()
            cut = shown.index("...") if "..." in shown else len(shown)
            assert shown[:cut] == said[:cut], line
            assert shown[cut + 1 :] == said[len(said) - len(shown[cut + 1 :]) :], line


@pytest.mark.parametrize("line", [["--help"], ["sample", "--help"]])
def test_help_is_quick_because_nothing_heavy_is_imported(tmp_path, line):
    code = (
        f"import sys; sys.argv = {['csaw', *line]}\nfrom csaw.cli.main import "
        "cli\ncli.main(standalone_mode=False)\nprint(sorted({'numpy', 'numba', 'zarr', 'rich'} & "
        "set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, env=ENV, capture_output=True, text=True).stdout
    assert said.splitlines()[-1] == "[]"
    bare = [sys.executable, "-c", "import click, inspect, logging, tomllib"]
    works = lambda: csaw(*line, cwd=tmp_path), lambda: subprocess.run(bare, check=True)
    taken = [[seconds_of_processor(work) for work in works] for _ in range(5)]
    quickest, beside = (min(times) for times in zip(*taken, strict=True))
    assert quickest < 4 * beside  # mostly 3 times as long; NumPy would take twice as long as the rest of ``bare``


def seconds_of_processor(work):
    """What a process takes however busy the machine is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert work().returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    "command",
    ["partition", "sample", "verify", "evaluate", "export", "info", "algorithms", "datasets", "bench", "seal"],
)
def test_every_help_has_an_example(command):
    said = CliRunner().invoke(cli, [command, "--help"]).stdout
    assert f"csaw {command}" in said.split("Example:")[1]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("sample karate out.zarr --algo deepwalk --p 2", 2, "--p is not an option of deepwalk"),
        ("sample karate out.zarr --algo node2vec --last-time 2", 2, "--num-walks, --p, --q; temporal has --last-time"),
        (
            "sample karate out.zarr --option start_time=2",
            2,
            "; hgt, labor, layer, links, minibatch, mvs, neighbor, temporal have --start",
        ),
        ("sample karate out.zarr --algo deepwlk", 2, "no algorithm called 'deepwlk'"),
        (
            "sample karate out.zarr --algo node2vec --p 0",
            2,
            "--p: expected a finite number, 1e-250 to 1e+250, found 0.0; beyond it",
        ),
        ("sample karate out.zarr --algo node2vec --p nan", 2, "found nan"),
        ("sample karate out.zarr --sources nofile", 2, "--sources: expected all, random:N, type:NAME or a file"),
        ("sample karate out.zarr --sources random:99", 2, "34 vertices"),
        ("sample karate out.zarr --weighted", 2, "has no weights"),
        ("sample karate out.zarr --select keys", 2, "--select keys cannot draw deepwalk"),
        ("sample karate out.zarr --edge-bias e.wight", 2, "no e.wight; there are"),
        ("sample karate out.zarr --edge-bias 1+", 2, "--edge-bias: expected an expression"),
        ("sample karate out.zarr --edge-bias 3-e.dst", 1, "the bias of edge"),
        ("sample karate out.zarr --algo my.py:Walk", 2, "my.py is not a file"),
        ("sample karate out.zarr --memory 500 --algo node2vec", 1, "raise --memory"),
        ("sample karate out.zarr --device cpu --residency pooled", 2, "is for GPUs"),
        ("sample karate out.zarr --device cpu --no-batching", 2, "compare launches on GPUs"),
        ("sample karate out.zarr --device cpu --detect strided", 2, "--detect strided"),
        ("sample karate out.zarr --gpu-memory lots", 2, "lots"),
        ("sample nothing out.zarr", 1, "nothing does not exist"),
        ("sample karate out.zarr --walk-length x", 2, "not a valid integer"),
        ("partition nothing.txt g.zarr", 1, "nothing.txt cannot be read"),
        ("partition . g.zarr", 1, "is a directory"),
        ("sample karate ''", 2, "expected the name of an output, found '.'"),
        ("sample karate . --overwrite", 2, "expected the name of an output"),
        ("sample karate / --overwrite", 2, "expected the name of an output"),
        ("sample karate .. --dry-run", 2, "expected the name of an output"),
        ("sample karate w.partial", 2, "names that end in .partial"),
        ("export nothing.zarr ''", 2, "expected the name of an output"),
        ("datasets generate karate '' --overwrite", 2, "expected a path, found nothing"),
        ("info nothing", 1, "does not exist"),
        ("info ''", 2, "expected a path, found nothing"),
        ("verify nothing.zarr", 1, "does not exist"),
        ("verify karate", 1, "csaw datasets generate karate graph.zarr"),
        ("info karate", 1, "csaw datasets generate karate graph.zarr"),
        ("export nothing.zarr x.mtx", 1, "make a sample with csaw sample, or a graph store with csaw partition"),
        ("datasets fetch nothing", 2, "no dataset called 'nothing'"),
        ("datasets generate rmat:scal=3 r.zarr", 2, "no parameter 'scal'"),
        ("datasets generate rmat:scale=99 r.zarr", 2, "scale: expected 1 to 31"),
    ],
)
def test_mistakes_end_in_one_clear_line(tmp_path, monkeypatch, capsys, line, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["csaw", *shlex.split(line)])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().err
    assert end.value.code == code, said
    assert message in said
    assert not (tmp_path / "out.zarr").exists()


def test_walks_of_length_zero_are_their_sources(tmp_path):
    done = csaw("sample", "karate", "w.zarr", "--walk-length", "0", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["sampled_edges"] == 0
    assert csaw("verify", "w.zarr", cwd=tmp_path).returncode == 0


def test_an_algorithm_of_ones_own(tmp_path):
    (tmp_path / "my.py").write_text(
        "import math\nfrom csaw.engine.algorithm import Walk, option\nSHIFT = 2\n\n"
        "def grow(x):\n    return math.sqrt(x + SHIFT)\n\n"
        "class Hubs(Walk):\n    power: float = option(1.0, help='pull of hubs', low=0)\n\n"
        "    def edge_bias(self, e):\n        return grow(e.dst_degree) * self.power\n"
    )
    done = csaw(
        "sample", "karate", "w.zarr", "--algo", "my.py:Hubs", "--option", "power=2", "--num-walks", "50", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert csaw("verify", "w.zarr", "--algo", "my.py:Hubs", cwd=tmp_path).returncode == 0
    without = csaw("verify", "w.zarr", cwd=tmp_path)
    assert without.returncode == 3
    assert "NOT TESTED" in without.stdout
    assert "--algo FILE.py:Hubs" in without.stdout


# csaw on a disk that has room for so many bytes of samples
FULL_DISK = """
import errno, os, sys
room, write = int(sys.argv.pop(1)), os.write

def write_while_there_is_room(descriptor, data):
    global room
    room -= len(data)
    if room < 0:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return write(descriptor, data)

os.write = write_while_there_is_room
from csaw.cli.main import main
main()
"""


@pytest.mark.parametrize(
    ("room", "options"),
    [
        (200, "--algo deepwalk"),  # not even the manifest
        (300_000_000, "--algo deepwalk --num-walks 400"),  # more than what is being written at a time
        pytest.param(
            3_000_000,
            "--algo forest-fire --sources random:3000 --instances 40000",
            marks=pytest.mark.slow(reason="another layout, which is written as walks are"),
        ),
    ],
    ids=["nothing", "walks", "fires"],
)
def test_a_full_disk_is_said_and_resume_completes_to_the_same_bytes(tmp_path, room, options):
    line = ["sample", "rmat:scale=12,seed=1", "w.zarr", *options.split(), "--in-flight", "4096"]
    full = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(room), *line],
        check=False,
        cwd=tmp_path,
        env=ENV,
        capture_output=True,
        text=True,
    )
    assert full.returncode == 1
    assert "the disk is full" in full.stderr
    assert "Traceback" not in full.stderr
    assert not (tmp_path / "w.zarr").exists()
    partial = tmp_path / "w.zarr.partial"
    safe = [int(marker.stem) for marker in partial.glob("groups/*.json")]
    assert bool(safe) == (room > 1000)
    walks = [f"walks/c.{group}.0" for group in safe if (partial / "walks").exists()]
    written = {name: (partial / name).stat().st_mtime_ns for name in walks}
    again = csaw(*line, *(["--resume"] if safe else ["--overwrite"]), "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    for name, when in written.items():
        assert (tmp_path / "w.zarr" / name).stat().st_mtime_ns == when, "sampled again"
    assert csaw(*line[:2], "v.zarr", *line[3:], cwd=tmp_path).returncode == 0
    assert contents(tmp_path / "w.zarr") == contents(tmp_path / "v.zarr")


def contents(store):
    """Every file of a sample store but the account of its run."""
    files = [file.relative_to(store) for file in store.rglob("*") if file.is_file()]
    return {str(file): (store / file).read_bytes() for file in files if file.parts[0] != "results"}


@pytest.mark.parametrize(
    "how",
    [signal.SIGINT, signal.SIGKILL],
    ids=["ctrl-c", "kill -9"],
)
def test_an_interrupted_run_resumes_to_the_same_bytes(tmp_path, how):
    line = [
        "sample",
        "rmat:scale=9,seed=1",
        "w.zarr",
        "--algo",
        "node2vec",
        "--num-walks",
        "320",
        "--walk-length",
        "20",
        "--in-flight",
        "4096",
    ]
    csaw("sample", "rmat:scale=9,seed=1", "warm.zarr", "--algo", "node2vec", "--sources", "random:9", cwd=tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-m", "csaw.cli", *line], cwd=tmp_path, env=ENV, stderr=subprocess.PIPE, text=True
    )
    partial = tmp_path / "w.zarr.partial"
    while len(list(partial.glob("groups/*.json"))) < 2 and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(how)
    said = child.communicate()[1]
    if how == signal.SIGINT and child.returncode != 0:
        assert child.returncode == 130
        assert "--resume" in said
        assert "Traceback" not in said
    assert partial.exists() != (tmp_path / "w.zarr").exists()
    again = csaw(*line, "--resume", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    whole = [*line[:2], "v.zarr", *line[3:]]
    assert csaw(*whole, cwd=tmp_path).returncode == 0
    assert contents(tmp_path / "w.zarr") == contents(tmp_path / "v.zarr")
    assert csaw("verify", "w.zarr", cwd=tmp_path).returncode == 0


@pytest.mark.slow(reason="downloads every package that csaw needs")
def test_a_bundle_installs_without_a_network(tmp_path):
    need_network(tmp_path / "downloaded")
    bundle = ROOT / "csaw-bundle.tar"
    subprocess.run([ROOT / "scripts" / "bundle"], check=True, env=os.environ | {"PYTHON": sys.executable})
    try:
        subprocess.run(["tar", "-xf", bundle, "-C", tmp_path], check=True)
    finally:
        bundle.unlink()
    offline = os.environ | {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PYTHON": sys.executable}
    subprocess.run([tmp_path / "csaw-bundle" / "install", tmp_path / "venv"], check=True, env=offline)
    subprocess.run([tmp_path / "venv/bin/csaw", "sample", "karate", tmp_path / "walks.zarr"], check=True, env=offline)
