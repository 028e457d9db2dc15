"""Claims of exports to standard output: the bytes of the file, no word of csaw's among them, and no word at all when
the reader has had enough.
"""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.graphs import SQUARE, store_of
from helpers.machine import need_package
from helpers.small_samples import stored

from csaw.cli.main import cli
from csaw.engine.export.targets import GRAPHS, SAMPLES, formats, is_binary
from csaw.engine.stores.export import export
from csaw.partition.errors import OptionError, StoreError

ROOT = Path(__file__).parents[3]
FORMATS = [(of, name) for of in (SAMPLES, GRAPHS) for name in formats(of)]


class Pipe(io.RawIOBase):
    """What a process sees of a pipe: no places, and no more than some bytes at a time."""

    def __init__(self, room=1 << 40, is_terminal=False):
        self.taken, self.room, self.is_terminal = bytearray(), room, is_terminal

    def writable(self):
        return True

    def isatty(self):
        return self.is_terminal

    def write(self, data):
        if len(self.taken) >= self.room:
            raise BrokenPipeError
        some = bytes(data)[:1000]
        self.taken += some
        return len(some)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    graph = store_of(folder / "g.zarr", [(a, b, 1) for a, b, _ in SQUARE], directed=False)
    return {SAMPLES: stored(folder, "walks"), GRAPHS: graph.path}


def content(data):
    """The members of an archive, which says of itself where it was written; other bytes as they are."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.partition("/")[2] or name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(("of", "name"), FORMATS)
def test_a_pipe_gets_the_bytes_of_the_file(tmp_path, stores, of, name):
    pipe = Pipe()
    said = export(stores[of], pipe, name)
    export(stores[of], tmp_path / "out", name)
    assert content(bytes(pipe.taken)) == content((tmp_path / "out").read_bytes())
    assert said["out"] == "-"
    assert said["bytes"] == len(pipe.taken)
    assert not pipe.closed


@pytest.mark.parametrize(("of", "name"), FORMATS)
def test_bytes_go_to_no_terminal_and_text_does(stores, of, name):
    terminal = Pipe(is_terminal=True)
    if is_binary(of, name):
        with pytest.raises(OptionError, match=f"^format {name}: .* cannot go to a terminal; redirect"):
            export(stores[of], terminal, name)
        assert not terminal.taken
    else:
        export(stores[of], terminal, name)
        assert terminal.taken.decode().replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.parametrize(("of", "name"), FORMATS)
def test_a_reader_that_leaves_ends_the_export(stores, of, name):
    with pytest.raises(BrokenPipeError):
        export(stores[of], Pipe(room=0), name)


def test_a_stream_gets_text_unless_a_format_is_named(tmp_path, stores):
    pipe = Pipe()
    assert export(stores[SAMPLES], pipe)["format"] == "text"


def test_a_sample_that_is_a_folder_of_parquet_files_is_one_stream(tmp_path, stores, monkeypatch):
    monkeypatch.setattr("csaw.engine.export.writers.parquet.PART", 1)
    pq = need_package("pyarrow.parquet")
    pipe = Pipe()
    export(stores[SAMPLES], pipe, "parquet")
    export(stores[SAMPLES], tmp_path / "parts", "parquet")
    assert (tmp_path / "parts").is_dir()
    assert pq.read_table(io.BytesIO(pipe.taken)).equals(pq.read_table(tmp_path / "parts"))


@pytest.mark.parametrize("wrong", [io.StringIO(), 5, None])
def test_what_takes_no_bytes_is_refused(stores, wrong):
    with pytest.raises(OptionError, match="out: expected a path or an open binary stream, such as sys.stdout.buffer"):
        export(stores[SAMPLES], wrong)


def test_a_full_disk_behind_the_stream_is_an_error(stores):
    with (
        open("/dev/full", "wb", buffering=0) as full,
        pytest.raises(StoreError, match="the output cannot be written: No space"),
    ):
        export(stores[SAMPLES], full)


def csaw(*arguments, **options):
    command = [sys.executable, "-m", "csaw.cli", *map(str, arguments)]
    return subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_the_summary_stays_out_of_the_pipe(tmp_path, stores):
    export(stores[SAMPLES], tmp_path / "out.txt")
    with csaw("export", stores[SAMPLES], "-", "--json") as running:
        out, err = running.communicate()
    assert out == (tmp_path / "out.txt").read_bytes()
    assert json.loads(err[err.index(b"{") :])["out"] == "-"
    assert not Path("-").exists()


def test_a_closed_pipe_ends_the_command_without_a_word(stores):
    with csaw("export", stores[GRAPHS], "-", "--quiet") as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 1


@pytest.mark.parametrize(
    "command",
    [
        "sample karate -",
        "sample karate - --dry-run",
        "sample karate - --shard 0/2",
        "partition {} -",
        "datasets generate karate -",
        "seal -",
        "evaluate karate --plot -",
        "bench --plot -",
    ],
)
def test_no_other_command_makes_a_file_called_so(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.txt").write_text("0 1\n")
    done = CliRunner().invoke(cli, command.format("edges.txt").split())
    assert done.exit_code != 0
    assert (
        "- is standard output" in f"{done.exception} {done.output}"
        or "found -, which is standard output" in done.output
    )
    assert [path.name for path in tmp_path.iterdir()] == ["edges.txt"]


def test_a_sample_of_standard_input_names_the_command_that_reads_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["sample", "-", "out.zarr"])
    assert "csaw partition - graph.zarr" in str(done.exception)
    assert not list(tmp_path.iterdir())
