"""What is in the way stays, unless it is a store of the same kind and --overwrite was given; a kill leaves the old one
or the new one.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from csaw.cli.commands.datasets import datasets
from csaw.cli.commands.partition import partition
from csaw.datasets.generate import KarateRows, generate, write_text
from csaw.engine.stores import open_samples
from csaw.partition import IngestOptions, open_graph
from csaw.partition.arrays import replace
from csaw.partition.errors import CsawError, OptionError, StoreError
from csaw.partition.ingestion.pipeline import ingest_rows

SRC = Path(__file__).parents[2] / "_src"


def store(path, kind="graph", said="old"):
    """What replacing looks at of a store."""
    path.mkdir()
    attributes = {"csaw_kind": kind, "format_version": 1, "said": said}
    (path / "zarr.json").write_text(json.dumps({"attributes": attributes, "node_type": "group"}))
    return path


def said(path):
    return json.loads((path / "zarr.json").read_text())["attributes"]["said"]


def project(path):
    path.mkdir()
    (path / "zarr.json").write_text("{}")
    (path / "thesis").mkdir()


def foreign_group(path):
    path.mkdir()
    (path / "zarr.json").write_text('{"attributes": {"of": "mine"}, "node_type": "group", "zarr_format": 3}')


def link_to_a_store(path):
    path.symlink_to(store(path.with_name("elsewhere")))


IN_THE_WAY = {
    "project": project,
    "foreign group": foreign_group,
    "torn metadata": lambda path: (path.mkdir(), (path / "zarr.json").write_text('{"attributes": {"csaw_kind": "gra')),
    "deep metadata": lambda path: (path.mkdir(), (path / "zarr.json").write_text("[" * 100_000)),
    "sample store": lambda path: store(path, "samples"),
    "empty folder": Path.mkdir,
    "file": lambda path: path.write_text("mine"),
    "pipe": os.mkfifo,
    "link": link_to_a_store,
    "dangling link": lambda path: path.symlink_to("nowhere"),
}


def tree(folder):
    return {
        str(p.relative_to(folder)): (p.lstat().st_mode, p.read_bytes() if p.is_file() else b"")
        for p in folder.rglob("*")
    }


@pytest.mark.parametrize("what", IN_THE_WAY)
@pytest.mark.parametrize("command", ["partition", "generate"])
def test_overwrite_removes_nothing_but_a_graph_store(tmp_path, what, command):
    (tmp_path / "g.txt").write_text("1 2\n")
    out = tmp_path / "g.zarr"
    IN_THE_WAY[what](out)
    before = tree(tmp_path)
    line = {"partition": (partition, [str(tmp_path / "g.txt")]), "generate": (datasets, ["generate", "karate"])}[
        command
    ]
    done = CliRunner().invoke(line[0], [*line[1], str(out), "--overwrite"])
    assert isinstance(done.exception, CsawError), done.output
    assert "g.zarr" in str(done.exception)
    assert tree(tmp_path) == before


def test_a_graph_store_is_replaced_when_asked_and_only_then(tmp_path):
    out = tmp_path / "g.zarr"
    generate("rmat:scale=4", out)
    with pytest.raises(StoreError, match=r"exists already; pass --overwrite to replace it, or choose another name"):
        generate("karate", out)
    assert generate("karate", out, overwrite=True).vertices == 34
    assert [p.name for p in tmp_path.iterdir()] == ["g.zarr"]


@pytest.mark.parametrize("name", ["", ".", "/", ".."])
def test_a_name_is_needed(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match="expected the name of an output"):
        generate("karate", name, overwrite=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["graph", "samples"])
def test_nothing_is_written_into_a_store(tmp_path, kind):
    inner = store(tmp_path / "s", kind) / "deep"
    inner.mkdir()
    (tmp_path / "link").symlink_to(inner)
    for place in (tmp_path / "s", inner, tmp_path / "link"):
        for make in (generate, write_text):
            with pytest.raises(OptionError, match="is inside"):
                make("karate", place / "zarr.json", overwrite=True)


def test_text_replaces_a_file_alone(tmp_path):
    for what in ("project", "link", "pipe", "sample store"):
        IN_THE_WAY[what](tmp_path / what)
        with pytest.raises(StoreError, match=what.split()[0] if what == "link" else "not a regular file"):
            write_text("karate", tmp_path / what, overwrite=True)
    (tmp_path / "k.txt").write_text("mine")
    with pytest.raises(StoreError, match="--overwrite"):
        write_text("karate", tmp_path / "k.txt")
    assert write_text("karate", tmp_path / "k.txt", overwrite=True) == 78


class LateRows(KarateRows):
    """Karate's rows, once ``others`` writers have ended."""

    def __init__(self, others):
        self.others = others

    def __iter__(self):
        self.others.wait(20)
        yield from super().__iter__()


@pytest.mark.parametrize("overwrite", [False, True])
def test_of_four_writers_at_once_one_wins_and_the_others_say_why(tmp_path, overwrite):
    if overwrite:
        generate("rmat:scale=4", tmp_path / "g.zarr")
    errors, lost = [], threading.Event()

    def write(_):
        try:
            ingest_rows("karate", LateRows(lost), tmp_path / "g.zarr", IngestOptions(overwrite=overwrite))
        except StoreError as error:
            errors.append(str(error))
            if len(errors) == 3:
                lost.set()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    assert len(errors) == 3
    assert all("another csaw process is writing here" in error for error in errors)
    assert open_graph(tmp_path / "g.zarr").vertices == 34
    assert [p.name for p in tmp_path.iterdir()] == ["g.zarr"]


def test_a_store_that_appeared_while_another_was_made_stays(tmp_path):
    with replace.Draft(tmp_path / "g", replace.GRAPH, overwrite=False) as draft:
        store(tmp_path / "g", said="another's")
        with pytest.raises(StoreError, match="exists"):
            draft.publish()
    assert said(tmp_path / "g") == "another's"
    assert [p.name for p in tmp_path.iterdir()] == ["g"]


KILLED = """
import os, signal, sys
from pathlib import Path
from csaw.partition.arrays import replace
path, moment, exchange = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "True"
if not exchange:
    replace._exchange = lambda one, other: False

def counted(function):
    def call(*arguments, **options):
        global moment
        moment -= 1
        if moment == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call

called = [(Path, "rename"), (replace, "_exchange"), (replace.shutil, "rmtree"), (os, "unlink"), (os, "rmdir")]
for holder, name in (*called, (os, "fsync")):
    setattr(holder, name, counted(getattr(holder, name)))
with replace.Draft(path, replace.GRAPH, overwrite=True) as draft:
    (draft.folder / "zarr.json").write_text((path / "zarr.json").read_text().replace("old", "new"))
    draft.publish()
"""


def killed(path, moment, exchange):
    command = [sys.executable, "-c", KILLED, str(path), str(moment), str(exchange)]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": str(SRC)}, check=False).returncode


@pytest.mark.parametrize("exchange", [True, False])
def test_a_kill_at_any_step_of_replacing_leaves_a_whole_store(tmp_path, exchange):
    found = []
    for moment in range(1, 20):
        path = store(tmp_path / f"g{moment}")
        ended = killed(path, moment, exchange)
        assert path.exists() or not exchange
        replace.mend(path)
        found.append(said(path))
        with replace.Draft(path, replace.GRAPH, overwrite=True) as draft:
            (draft.folder / "zarr.json").write_text((path / "zarr.json").read_text())
            draft.publish()
        assert [p.name for p in tmp_path.iterdir() if f"g{moment}" in p.name] == [f"g{moment}"]
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
    assert found == sorted(found, reverse=True)  # old, old, ..., new
    assert set(found[:-1]) == {"old", "new"}


@pytest.mark.parametrize("left", [("zarr.json",), ("partitions",), ()])
def test_what_was_being_removed_never_comes_back(tmp_path, left):
    out, half = tmp_path / "g.zarr", tmp_path / ".g.zarr.csaw-replaced"
    half.mkdir()
    for name in left:
        (half / name).write_text('{"attributes": {"csaw_kind": "graph", "format_version": 1}}')
    for read in (open_graph, open_samples):
        with pytest.raises(StoreError, match="does not exist"):
            read(out)
    assert generate("karate", out).vertices == 34
    assert [p.name for p in tmp_path.iterdir()] == ["g.zarr"]


def test_a_store_is_removed_where_no_more_files_can_be_opened(tmp_path, monkeypatch, caplog):
    def walked(folder):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    old = store(tmp_path / "old")
    monkeypatch.setattr(os, "fwalk", walked)
    replace.discard(old, tmp_path / "name")
    assert list(tmp_path.iterdir()) == []
    assert caplog.text == ""


def test_a_store_is_removed_with_all_its_folders_and_no_link_is_followed(tmp_path, caplog):
    kept, old = tmp_path / "kept", tmp_path / "old"
    kept.mkdir()
    (kept / "mine").write_text("mine")
    for folder in ("", "walks", "walks/c", "walks/c/0", "empty"):
        (old / folder).mkdir(parents=True, exist_ok=True)
        for number in range(40 * (folder != "empty")):
            (old / folder / f"f{number}").write_text("x")
    (old / "walks" / "link").symlink_to(kept)
    (old / "link").symlink_to(kept / "mine")
    (old / "lost").symlink_to(tmp_path / "nothing")
    replace.discard(old, tmp_path / "name")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "mine"]
    assert caplog.text == ""


def test_what_was_put_aside_is_named_by_readers_and_brought_back_by_the_next_writer(tmp_path):
    out, aside = tmp_path / "g.zarr", tmp_path / ".g.zarr.csaw-aside"
    generate("karate", out)
    out.rename(aside)
    for read in (open_graph, open_samples):
        with pytest.raises(StoreError, match=r"rename .*csaw-aside"):
            read(out)
    assert [p.name for p in tmp_path.iterdir()] == [aside.name]
    with pytest.raises(StoreError, match="exists"):
        generate("karate", out)
    assert open_graph(out).vertices == 34


def test_a_store_whose_name_is_taken_again_is_not_brought_back(tmp_path):
    generate("rmat:scale=4", tmp_path / "g.zarr")
    (tmp_path / "g.zarr").rename(tmp_path / ".g.zarr.csaw-aside")
    generate("karate", tmp_path / "new")
    (tmp_path / "new").rename(tmp_path / "g.zarr")
    assert generate("karate", tmp_path / "g.zarr", overwrite=True).vertices == 34
    assert [p.name for p in tmp_path.iterdir()] == ["g.zarr"]


def test_a_file_in_the_making_leaves_nothing_after_an_error(tmp_path):
    (tmp_path / ".out.csaw-draft").write_text("of a killed run")

    def fail():
        with replace.new_file(tmp_path / "out", overwrite=False) as file:
            file.write(b"half")
            with pytest.raises(StoreError, match="another csaw"), replace.new_file(tmp_path / "out", overwrite=True):
                pass
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with replace.new_file(tmp_path / "out", overwrite=False) as file:
        file.write(b"whole")
    assert (tmp_path / "out").read_bytes() == b"whole"
