"""A graph argument becomes a store: once, in the cache, again when its file changes."""

import gzip
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.commands.sample import sample as sample_command
from csaw.cli.main import cli, main
from csaw.datasets import catalog, download
from csaw.datasets import resolve as module
from csaw.datasets.catalog import Entry
from csaw.datasets.generate import generate
from csaw.datasets.resolve import place_of, resolve
from csaw.partition import open_graph
from csaw.partition.arrays.loader import AGAIN
from csaw.partition.errors import CsawError, OptionError


def stores(cache):
    return sorted(cache.glob("graphs/*.zarr"))


def test_a_store_is_itself(tmp_path):
    generate("karate", tmp_path / "k.zarr")
    assert resolve(str(tmp_path / "k.zarr"), tmp_path / "cache") == tmp_path / "k.zarr"
    assert not (tmp_path / "cache").exists()


def test_text_is_partitioned_once_and_again_when_it_changes(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("7 8\n8 9\n")
    first = resolve(str(file), tmp_path)
    before = (first / "zarr.json").stat().st_mtime_ns
    assert resolve(str(file), tmp_path) == first
    assert (first / "zarr.json").stat().st_mtime_ns == before
    file.write_text("7 8\n8 5\n")
    os.utime(file, ns=(1, 1))
    second = resolve(str(file), tmp_path)
    assert second != first
    assert open_graph(second).dense_ids([5, 7, 8]).tolist() == [0, 1, 2]


def test_a_file_that_keeps_name_size_and_time_is_another_one(tmp_path):
    """As ``mv`` of a file of the same time, or an edit whose time is put back, leave it."""
    file, other = tmp_path / "edges.txt", tmp_path / "other.txt"
    found = []
    for change in ("first", "moved", "edited"):
        if change == "moved":
            other.write_text("1 7\n7 8\n")
            os.utime(other, ns=(1, 1))
            other.rename(file)
        else:
            file.write_text("1 2\n2 3\n" if change == "first" else "4 5\n5 6\n")
            os.utime(file, ns=(1, 1))
        found.append(open_graph(resolve(str(file), tmp_path)).original_ids([0, 1, 2]).tolist())
    assert found == [[1, 2, 3], [1, 7, 8], [4, 5, 6]]


def test_specs_of_the_same_graph_share_a_store(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    one = resolve("rmat:scale=5,edge_factor=16")
    assert resolve("rmat:edge_factor=16,seed=1,scale=5") == one
    assert resolve("rmat:scale=5,seed=2") != one
    assert open_graph(resolve("karate")).edges == 156
    assert len(stores(tmp_path)) == 3


def test_a_file_in_the_way_of_a_name_is_the_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "karate").write_text("1 2\n")
    assert open_graph(resolve("karate", tmp_path / "cache")).edges == 1


ROWS = b"# Directed graph (each unordered pair of nodes is saved once)\n1 2\n2 1\n2 3\n3 2\n1 3\n3 1\n4 4\n"


@pytest.fixture
def entry(tmp_path, monkeypatch):
    """A dataset whose file lies in the cache already: SNAP's way of listing an undirected graph, both directions of
    each edge.
    """
    known = Entry("tiny", "tiny.txt.gz", 4, 4, False)
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "tiny.txt.gz").write_bytes(gzip.compress(ROWS))
    monkeypatch.setattr(module, "find", lambda name: known if name == "tiny" else None)
    monkeypatch.setattr(catalog, "SNAP", "http://127.0.0.1:9/")
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    return known


def test_a_dataset_has_the_direction_of_the_catalog_and_its_counts(tmp_path, entry, caplog):
    caplog.set_level(logging.INFO, "csaw")
    store = open_graph(resolve("tiny", tmp_path))
    assert (store.directed, store.vertices, store.edges) == (False, 4, 7)
    assert module.disagreement(entry, store) == ""
    assert "tiny: no checksum is published for it; its size" in caplog.text
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


TIMED = b"1 2 1082040961\n2 1 1082155839\n1 2 1082414391\n3 3 1082439619\n1 2 1082414391\n"


@pytest.fixture
def network(tmp_path, monkeypatch):
    """A temporal network whose file lies in the cache already."""
    known = Entry("calls", "calls.txt.gz", 3, 5, True, time_column=3, time_format="unix", static_edges=3, days=4)
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "calls.txt.gz").write_bytes(gzip.compress(TIMED))
    for place in (module, catalog):
        monkeypatch.setattr(place, "find", lambda name: known if name == "calls" else None)
    monkeypatch.setattr(catalog, "SNAP", "http://127.0.0.1:9/")
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    return known


def test_the_times_of_a_dataset_are_times_and_no_weights(tmp_path, network, caplog):
    store = open_graph(resolve("calls", tmp_path))
    assert (store.vertices, store.edges, store.weighted) == (3, 5, False)
    assert store.report["times"]["first"] == 1082040961
    assert store.report["times"]["units"] == "seconds since 1970-01-01"
    assert store.report["times"]["last"] == 1082439619
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]
    both = open_graph(resolve("calls", tmp_path, directed=False))
    assert (both.directed, both.edges, both.weighted) == (False, 9, False)


def test_one_command_draws_temporal_walks_of_a_dataset(tmp_path, network, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    done = CliRunner().invoke(
        cli, ["sample", "calls", str(tmp_path / "w.zarr"), "--algo", "temporal", "--device", "cpu"]
    )
    assert done.exit_code == 0, done.output
    fetched = CliRunner().invoke(cli, ["datasets", "fetch", "calls", str(tmp_path / "graphs")])
    assert "calls.zarr --time-column 3 --time-format unix" in fetched.output


def test_a_file_of_times_on_disk_is_not_taken_for_the_dataset(tmp_path, network):
    assert module.on_disk(network, tmp_path) is None
    made = resolve("calls", tmp_path)
    assert module.on_disk(network, tmp_path) == made


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (b"1 2\n" * 5, "expected rows of three numbers, found '1 2'"),
        (TIMED + b"1 3 1082439619\n", "expected 5 rows, as calls has 5 edges; found 6"),
        (TIMED[15:], "expected 5 rows, as calls has 5 edges; found 4"),
    ],
)
def test_a_file_without_the_times_of_all_edges_is_another_one(tmp_path, network, caplog, rows, said):
    (tmp_path / "graphs" / "calls.txt.gz").write_bytes(gzip.compress(rows))
    with pytest.raises(CsawError, match="cannot be fetched"):
        resolve("calls", tmp_path)
    assert said in caplog.text


@pytest.mark.parametrize("unit", [1, 1000])
def test_weights_that_look_like_times_are_said(tmp_path, caplog, unit):
    file = tmp_path / "calls.txt"
    file.write_text(f"1 2 {1082040961 * unit}\n2 1 {1082155839 * unit}\n")
    resolve(str(file), tmp_path)
    assert "as times since 1970 are; if they are times, name their column with --time-column, and pass" in caplog.text
    assert "--time-format unix if they are seconds, unix-ms if milliseconds; csaw partition" in caplog.text
    caplog.clear()
    file.write_text(f"1 2 {1082040961 * unit}\n2 1 3\n")
    resolve(str(file), tmp_path)
    assert "1970" not in caplog.text


def files(tmp_path):
    return sorted(p.name for p in (tmp_path / "graphs").iterdir() if p.suffix != ".lock")


@pytest.mark.parametrize(
    "body", [b"<html>", gzip.compress(ROWS)[:-9], gzip.compress(b"1 2\n"), b""], ids=["page", "half", "other", "empty"]
)
def test_a_wrong_file_in_the_cache_is_removed_and_fetched_anew(tmp_path, entry, caplog, body):
    (tmp_path / "graphs" / "tiny.txt.gz").write_bytes(body)
    with pytest.raises(CsawError, match=r"http://127.0.0.1:9/tiny.txt.gz cannot be fetched"):
        resolve("tiny", tmp_path)
    assert "graphs/tiny.txt.gz: " in caplog.text
    assert "it is removed and fetched again" in caplog.text
    assert files(tmp_path) == []


def test_neither_store_nor_file_of_other_counts_than_the_published_ones_stays(tmp_path, entry, monkeypatch):
    monkeypatch.setattr(module, "find", lambda name: Entry("tiny", "tiny.txt.gz", 5, 6, False))
    wrong = (
        "tiny has 4 vertices where 5 are published, 4 edges where 6 are published; its file and its store were removed"
    )
    with pytest.raises(CsawError, match=f"{wrong}.*give csaw its path"):
        resolve("tiny", tmp_path)
    assert files(tmp_path) == []


def test_a_store_of_other_counts_in_the_cache_is_made_anew(tmp_path, entry, caplog):
    place = place_of(tmp_path / "graphs", entry.url)
    generate("karate", place)
    assert module.on_disk(entry, tmp_path) == tmp_path / "graphs" / "tiny.txt.gz"
    assert open_graph(resolve("tiny", tmp_path)).vertices == 4
    assert (
        "tiny has 34 vertices where 4 are published, 78 edges where 4 are published; it is removed and made"
        in caplog.text
    )
    assert files(tmp_path) == [place.name, "tiny.txt.gz"]


def test_a_store_of_the_cache_that_cannot_be_opened_is_made_anew(tmp_path, entry, caplog):
    file = tmp_path / "edges.txt"
    file.write_text("7 8\n8 9\n")
    for graph, vertices in ((str(file), 3), ("rmat:scale=3", 8), ("karate", 34), ("tiny", 4)):
        store = resolve(graph, tmp_path)
        (store / "zarr.json").write_text("{")
        assert open_graph(resolve(graph, tmp_path)).vertices == vertices
        assert f"{store}/zarr.json cannot be read" in caplog.text
    (store / "zarr.json").unlink()
    assert open_graph(resolve("tiny", tmp_path)).vertices == 4


def test_damage_in_a_store_of_the_cache_says_what_to_remove(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    store = resolve("karate")
    chunk = store / "partitions/00000/indices/c/0"
    chunk.write_bytes(b"\x1f" + chunk.read_bytes()[1:])
    monkeypatch.setattr("sys.argv", ["csaw", "sample", "karate", str(tmp_path / "out.zarr"), "--device", "cpu"])
    with pytest.raises(SystemExit):
        main()
    assert f"{AGAIN}, or remove {store}: it is in csaw's cache and is made again\n" in capsys.readouterr().err
    assert module.remedy(CsawError(f"{tmp_path}/mine.zarr: {AGAIN}")) == ""
    assert module.remedy(CsawError(f"vertex 99 is not in {store}")) == ""


def test_what_is_on_disk_is_passed_over_where_it_is_not_the_dataset(tmp_path, entry, caplog, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs" / "tiny.txt.gz").write_bytes(b"<html>")
    generate("karate", "tiny.zarr")
    assert module.on_disk(entry, tmp_path) is None
    assert "tiny.zarr: tiny has 34 vertices where 4 are published" in caplog.text
    assert "found a web page, such as that of a login or a proxy; it is not used as tiny; remove it" in caplog.text
    (tmp_path / "tiny.txt.gz").write_bytes(gzip.compress(ROWS))
    assert module.on_disk(entry, tmp_path) == Path("tiny.txt.gz")


def test_a_link_in_the_place_of_a_lock_is_not_written_through(tmp_path):
    (tmp_path / "graphs").mkdir()
    (tmp_path / "mine").write_text("precious")
    place_of(tmp_path / "graphs", "karate").with_suffix(".lock").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        resolve("karate", tmp_path)
    assert (tmp_path / "mine").read_text() == "precious"


def test_two_at_once_make_one_store(tmp_path):
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: resolve("rmat:scale=8", tmp_path), range(2))
    assert one == other
    assert stores(tmp_path) == [one]


def test_what_is_nothing_says_so(tmp_path):
    with pytest.raises(CsawError, match="does not exist, and no dataset has that name"):
        resolve("web-Goggle", tmp_path)
    with pytest.raises(CsawError, match="scale: expected 1 to 31"):
        resolve("rmat:scale=77", tmp_path)
    assert not stores(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("karate", "csaw datasets generate karate graph.zarr"),
        ("rmat:scale=8", "csaw datasets generate rmat:scale=8 graph.zarr"),
        ("Web-Google", "download the dataset of that name with csaw datasets fetch web-Google"),
        ("reddit", "csaw does not fetch Reddit"),
    ],
)
def test_a_name_in_place_of_a_file_of_edges_is_refused_with_the_way_to_the_graph(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    assert said in str(CliRunner().invoke(cli, ["partition", name, "g.zarr"]).exception)
    (tmp_path / name).write_text("1 2\n2 3\n")
    assert CliRunner().invoke(cli, ["partition", name, "g.zarr"]).exit_code == 0


@pytest.mark.parametrize("call", ["command", "sample", "stream", "evaluate"])
def test_making_a_store_of_a_file_keeps_to_the_memory_that_the_command_may_use(tmp_path, monkeypatch, call):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "g.txt").write_text("0 1\n1 2\n2 0\n")
    asked, ingest = [], csaw.partition.ingest

    def noted(source, out, options):
        asked.append(options.memory)
        return ingest(source, out, options)

    monkeypatch.setattr(csaw.partition, "ingest", noted, raising=False)
    path = str(tmp_path / "g.txt")
    if call == "command":
        done = CliRunner().invoke(sample_command, [path, str(tmp_path / "s.zarr"), "--memory", "300MiB"])
        assert done.exit_code == 0, done.output
    elif call == "sample":
        csaw.sample(path, algo="deepwalk", memory="300MiB")
    elif call == "stream":
        csaw.stream(path, "deepwalk", memory=300 << 20).close()
    else:
        csaw.evaluate(path, measures="degree", memory="300MiB")
    assert asked == [300 << 20]


def test_a_little_memory_is_enough_for_a_small_file(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "g.txt").write_text("0 1\n1 2\n2 0\n")
    assert csaw.sample(str(tmp_path / "g.txt"), algo="deepwalk", memory="4MiB").instances == 3
    with pytest.raises(OptionError, match="memory: expected"):
        csaw.sample(str(tmp_path / "g.txt"), algo="deepwalk", memory="much")
