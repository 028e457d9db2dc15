"""Lists on disk have the rows of the graph, with its ids, in every format; a file is whole or is not there."""

import csv
import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store, store_of
from helpers.kept import asked_for
from helpers.machine import need_package

import csaw
from csaw.cli.main import cli
from csaw.engine.analytics.evaluation.listing import KINDS, write_list
from csaw.engine.analytics.evaluation.options import LISTS
from csaw.engine.export.targets import LISTINGS, formats
from csaw.engine.export.writers import npy
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import CsawError, OptionError, StoreError

INTEGERS = "30 10\n10 7\n7 30\n-5 7\n-5 10\n30 30\n7 10\n"
WORDS = 'zoë,"a,b"\n"a,b",c\nc,zoë\nzoë,d\n'


def stored(folder, text, **options):
    (folder / "edges.txt").write_text(text)
    ingest(folder / "edges.txt", folder / "g.zarr", IngestOptions(**options))
    return open_graph(folder / "g.zarr")


@pytest.fixture(params=["integers", "words", "dense", "empty"])
def store(request, tmp_path):
    if request.param == "dense":
        return random_store(tmp_path / "g.zarr", vertices=120, edges=1500)
    if request.param == "empty":
        return stored(tmp_path, "5 5\n", directed=False)
    if request.param == "integers":
        return stored(tmp_path, INTEGERS, directed=True)
    return stored(tmp_path, WORDS, id_type="string", directed=True)


def of_networkx(store):
    """Triangles and edges with their triangles, as rows of original ids in the order of dense ones."""
    graph, ids = networkx.Graph(), store.original_ids(np.arange(store.vertices)).tolist()
    held = store.load()
    graph.add_edges_from(
        (u, int(v))
        for u in range(store.vertices)
        for v in held.indices[held.indptr[u] : held.indptr[u + 1]]
        if u != int(v)
    )
    triangles = sorted(tuple(sorted(one)) for one in networkx.enumerate_all_cliques(graph) if len(one) == 3)
    support = sorted((*sorted(edge), len(list(networkx.common_neighbors(graph, *edge)))) for edge in graph.edges)
    return {
        "triangles": [tuple(ids[v] for v in one) for one in triangles],
        "support": [(ids[u], ids[v], count) for u, v, count in support],
    }


def read(file, what):
    """The rows of a file as they are, and the names of the columns."""
    if file.suffix == ".npy":
        found = np.load(file)
        return [tuple(row) for row in found.tolist()], found.dtype.names
    if file.suffix == ".parquet":
        table = need_package("pyarrow.parquet").read_table(file)
        return list(zip(*(column.to_pylist() for column in table), strict=True)), tuple(table.column_names)
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    if ".csv" in file.name:
        names, *rows = csv.reader(data.decode().splitlines())
        return [tuple(row) for row in rows], tuple(names)
    title, names, *rows = data.decode().splitlines()
    assert title.startswith(f"# {KINDS[what].title}, written by csaw ")
    return [tuple(row.split("\t")) for row in rows], tuple(names.removeprefix("# ").split("\t"))


@pytest.mark.parametrize("what", LISTS)
@pytest.mark.parametrize("suffix", [suffix for one in formats(LISTINGS).values() for suffix in one.SUFFIXES])
def test_every_format_has_the_rows_and_ids(store, tmp_path, what, suffix):
    out = tmp_path / f"list{suffix}"
    summary = write_list(store, what, out)
    rows, names = read(out, what)
    wanted = of_networkx(store)[what]
    assert names in (tuple(column.name for column in KINDS[what].columns), None)
    assert rows == (wanted if suffix in (".npy", ".parquet") else [tuple(map(str, row)) for row in wanted])
    assert (summary["rows"], summary["bytes"], summary["vertices"]) == (len(wanted), out.stat().st_size, store.vertices)


def test_every_kind_of_list_is_an_option():
    assert tuple(KINDS) == LISTS


def test_an_array_has_the_room_of_its_rows_in_the_header(tmp_path):
    large = npy._header_of_list((2**62, 3), np.dtype(f"<U{1024}"))
    assert len(large) == len(npy._header_of_list((0,), np.dtype([("source", "<U1024"), ("triangles", "<i8")])))


@pytest.mark.parametrize("suffix", ["npy", "csv.gz", "parquet"])
def test_bytes_do_not_depend_on_threads_memory_or_place(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("csaw.engine.export.graph_rows.ROWS", 1000)
    stores = [random_store(tmp_path / f"{n}.zarr", vertices=600, edges=9000, partitions=n) for n in (1, 3)]
    files = []
    for number, (threads, memory, residency) in enumerate([(1, None, None), (3, None, "disk"), (2, 1 << 22, None)]):
        out = tmp_path / f"{number}.{suffix}"
        write_list(stores[number % 2], "triangles", out, threads=threads, memory=memory, residency=residency)
        files.append(out.read_bytes())
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize(
    ("what", "function", "rows", "words"),
    [("triangles", csaw.list_triangles, 45, "45 triangles"), ("support", csaw.list_support, 78, "78 edges")],
)
def test_the_command_and_python_write_the_same(tmp_path, monkeypatch, what, function, rows, words):
    monkeypatch.chdir(tmp_path)
    line = ["evaluate", "karate", "--write-list", what, "--out", "said.csv", "--overwrite", "--threads", "2"]
    done, told = CliRunner().invoke(cli, line), []
    assert done.exit_code == 0, done.output
    assert f"{words} as csv in said.csv" in done.output
    summary = function("karate", "made.csv", progress=lambda *counted: told.append(counted))
    assert Path("said.csv").read_bytes() == Path("made.csv").read_bytes()
    assert (summary["rows"], told[-1]) == (rows, (156, 156))
    assert json.loads(CliRunner().invoke(cli, [*line, "--json"]).stdout) == summary | {"out": "said.csv"}


def test_a_window_of_time_is_listed(tmp_path):
    (tmp_path / "e.txt").write_text("0 1 5\n1 2 6\n0 2 9\n2 3 5\n3 0 5\n")
    ingest(tmp_path / "e.txt", tmp_path / "g.zarr", IngestOptions(time_column="3", directed=False))
    for until, wanted in ((8, []), (9, [[0, 1, 2], [0, 2, 3]])):
        csaw.list_triangles(tmp_path / "g.zarr", tmp_path / "t.npy", until=until, overwrite=True)
        assert np.load(tmp_path / "t.npy").tolist() == wanted


def refused(*line):
    done = CliRunner().invoke(cli, ["evaluate", *line])
    assert done.exit_code != 0, done.output
    return f"{done.output}{done.exception}"


def test_what_does_not_go_together_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listing = ("karate", "--write-list", "triangles")
    assert "give both" in refused(*listing)
    assert "give both" in refused("karate", "--out", "t.npy")
    assert "--measures cannot be combined with --write-list" in refused(
        *listing, "--out", "t.npy", "--measures", "degree"
    )
    assert "--damping cannot be combined with --write-list" in refused(*listing, "--out", "t.npy", "--damping", "0.5")
    assert "--samples: --write-list writes a list instead of measuring" in refused(
        "karate", "s.zarr", *listing[1:], "--out", "t.npy"
    )
    assert "needs all rows in its memory" in refused(
        *listing, "--out", "t.npy", "--device", "cuda", "--residency", "streamed"
    )
    assert "expected a name ending in .csv" in refused(*listing, "--out", "t.zip")
    assert "make it first" in refused(*listing, "--out", "nowhere/t.npy")
    (tmp_path / "t.npy").write_bytes(b"kept")
    assert "exists already; pass --overwrite" in refused(*listing, "--out", "t.npy")
    assert (tmp_path / "t.npy").read_bytes() == b"kept"
    with pytest.raises(OptionError, match="damping cannot be combined with write_list"):
        csaw.list_triangles("karate", "t.npy", damping=0.5, overwrite=True)
    with pytest.raises(OptionError, match="expected triangles or support, found 'wedges'"):
        write_list("karate", "wedges", "t.npy")
    with pytest.raises(CsawError, match="raise memory to"):
        csaw.list_triangles("karate", "t.npy", memory=1000, overwrite=True)
    assert os.listdir(tmp_path) == ["t.npy"]


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=5000)
    (tmp_path / "t.txt").write_text("kept")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="cannot be written: No space left on device; nothing is left under its name"):
        write_list(store, "triangles", tmp_path / "t.txt", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["g.zarr", "t.txt"]
    assert (tmp_path / "t.txt").read_text() == "kept"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_list_leaves_nothing_under_its_name(tmp_path, ending):
    line = [
        "evaluate",
        "rmat:scale=15,edge_factor=16,seed=1",
        "--undirected",
        "--write-list",
        "triangles",
        "--out",
        "t.txt",
    ]
    running = subprocess.Popen([sys.executable, "-m", "csaw.cli", *line], cwd=tmp_path, stderr=subprocess.DEVNULL)
    draft = tmp_path / ".t.txt.csaw-draft"
    for _ in range(3000):
        if running.poll() is not None or (draft.exists() and draft.stat().st_size > 100_000):
            break
        time.sleep(0.01)
    assert running.poll() is None
    running.send_signal(ending)
    assert running.wait(30) != 0
    assert not (tmp_path / "t.txt").exists()
    if ending == signal.SIGINT:
        assert os.listdir(tmp_path) == []
    done = CliRunner().invoke(
        cli, ["evaluate", "karate", "--write-list", "triangles", "--out", str(tmp_path / "t.txt")]
    )
    assert done.exit_code == 0, done.output
    assert os.listdir(tmp_path) == ["t.txt"]


@pytest.mark.parametrize("what", LISTS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("memory", [1, 100_000, 1 << 20, 3 << 20, 6 << 20])
def test_the_memory_that_a_refusal_asks_for_is_enough(tmp_path, what, directed, memory):
    edges = np.random.default_rng(3).integers(0, 4000, (20_000, 2))
    edges[:3999, 0] = 7  # a hub
    store = store_of(tmp_path / "g.zarr", np.column_stack([edges, np.ones(20_000, int)]), directed=directed)
    given = {"device": "cpu", "threads": 2, "overwrite": True}
    asked = asked_for(memory, lambda memory: write_list(store, what, tmp_path / "t.npy", memory=memory, **given))
    assert asked or memory > 1
