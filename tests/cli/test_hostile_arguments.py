"""Arguments that nobody means: each ends in one sentence with exit status 1 or 2, in every
command that takes a graph.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.datasets.generate import generate
from csaw.datasets.resolve import resolve
from csaw.datasets.spec import parse_spec
from csaw.engine import sample
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import BudgetError, CsawError, StoreError
from csaw.partition.ingestion.text import blocks

ROOT = Path(__file__).parents[2]
LONG = "x" * 5000
GRAPHS = {
    "nothing": "",
    "pipe": "pipe",
    "folder": "folder",
    "NUL": "a\0b",
    "long": LONG,
    "device": "/dev/zero",
    "long names": "a/" * 3000,
}
COMMANDS = {
    "sample": ["sample", "GRAPH", "out.zarr", "--device", "cpu"],
    "evaluate": ["evaluate", "GRAPH", "--device", "cpu"],
    "info": ["info", "GRAPH"],
    "verify": ["verify", "samples.zarr", "--graph", "GRAPH"],
    "partition": ["partition", "GRAPH", "out.zarr"],
    "bench": ["bench", "GRAPH", "--quick", "--device", "cpu"],
}
SPECS = [
    "scale=²",
    "scale=99999999999999999999",
    "scale=-1",
    "a=nan,b=1",
    "scale=3,scale=4",
    "scale=3,edge_factor=" + "9" * 30,
    "scale=" + "9" * 5000,
    "scale",
    "scale=1e3",
    "a=inf,b=-inf",
    "weights=2",
    "seed=-1",
    LONG,
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a pipe, a folder and a sample."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(blocks, "WAIT_SECONDS", 0.1)
    os.mkfifo("pipe")
    os.mkdir("folder")
    return tmp_path


def ended(arguments):
    """Exit status and the error of a command in this process; what is no error that a user can cause is raised."""
    done = CliRunner().invoke(cli, arguments)
    if isinstance(done.exception, CsawError):
        return 1, str(done.exception)
    if not isinstance(done.exception, SystemExit):
        raise done.exception or AssertionError(f"{arguments} ended well")
    return done.exit_code, done.stderr.splitlines()[-1]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", GRAPHS)
def test_a_graph_that_is_none_is_said_in_a_sentence(folder, command, kind):
    if command == "verify":
        sample(generate("karate", "k.zarr"), "samples.zarr", walk_length=1, device="cpu")
    code, said = ended([GRAPHS[kind] if word == "GRAPH" else word for word in COMMANDS[command]])
    assert code in (1, 2)
    assert 10 < len(said) < 400
    assert said.isprintable()
    assert not (folder / "out.zarr").exists()


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_python_says_the_same(folder, graph):
    for call in (
        lambda path: open_graph(resolve(path)),
        open_graph,
        lambda path: ingest(path, "out.zarr", IngestOptions()),
    ):
        with pytest.raises(CsawError):
            call(graph)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec[:30]} {len(spec)}")
def test_a_spec_that_says_nothing_sensible_is_refused_before_anything_is_made(folder, spec):
    code, said = ended(["datasets", "generate", f"rmat:{spec}", "out.zarr"])
    assert code == 1
    assert len(said) < 500
    assert said.isprintable()
    with pytest.raises(CsawError):
        resolve(f"rmat:{spec}")
    assert not (folder / "cache").exists()


def test_an_option_replaces_what_the_spec_says(folder):
    CliRunner().invoke(cli, ["datasets", "generate", "rmat:scale=3,seed=2", "out.zarr", "--scale", "4"])
    assert open_graph("out.zarr").fingerprint == generate("rmat:scale=4,seed=2", "same.zarr").fingerprint
    with pytest.raises(CsawError, match="rmat:seed=1,seed=1: seed is given twice"):
        parse_spec("rmat:seed=1,seed=1")


@pytest.mark.parametrize("out", ["out.zarr", "out.txt"])
def test_a_spec_for_which_there_is_no_room_is_refused_at_once(folder, out):
    with pytest.raises(BudgetError, match="2,251,797,666,201,600 edges need at least .* choose a smaller graph"):
        (generate if out.endswith("zarr") else sys.modules[generate.__module__].write_text)(
            "rmat:scale=31,edge_factor=1048575", out
        )
    assert not list(folder.glob("*out*"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "x"],
        ["fetch", ""],
        ["fetch", LONG],
        ["fetch", "wiki-Vote", "a\0b"],
        ["generate", "", "x"],
        ["generate", "karate", ""],
        ["generate", "karate", LONG],
        ["generate", "karate", "a\0b"],
    ],
    ids=lambda words: repr([word[:20] for word in words]),
)
def test_datasets_say_what_they_cannot_do(folder, arguments):
    code, said = ended(["datasets", *arguments])
    assert code in (1, 2)
    assert len(said) < 1000
    assert said.isprintable()


def test_a_pipe_that_is_written_to_is_read(folder):
    writer = threading.Thread(target=Path("pipe").write_text, args=("1 2\n2 3\n",))
    writer.start()
    assert ingest("pipe", "out.zarr", IngestOptions()).edges == 2
    writer.join()


def test_a_pipe_that_nobody_writes_to_leaves_no_thread_behind(folder):
    before = set(threading.enumerate())  # of which those of other tests may end meanwhile
    with pytest.raises(StoreError, match="pipe is a pipe that no program writes to; start the writing program first"):
        ingest("pipe", "out.zarr", IngestOptions())
    assert set(threading.enumerate()) <= before


def test_a_closed_standard_input_is_said(folder):
    command = [sys.executable, "-m", "csaw.cli", "partition", "-", "out.zarr"]
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src")}
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command], check=False, env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (
        1,
        "Error: -: standard input is closed; expected a file or a pipe there\n",
    )
