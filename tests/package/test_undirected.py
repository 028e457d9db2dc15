"""Claims of files that list each edge once: every command and function that takes one reads it as undirected when it is
asked to, and says so where walks die because nobody asked.
"""

import json
import logging
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.main import cli
from csaw.datasets.resolve import resolve
from csaw.partition.errors import OptionError, StoreError

EDGES = "".join(f"{a} {b}\n" for a in range(30) for b in (a + 1, a + 2) if b < 30)
WALKS = ["--walk-length", "40", "--seed", "3", "--device", "cpu"]
SAME = {"walk_length": 40, "seed": 3, "device": "cpu"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a file of edges, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "edges.txt").write_text(EDGES)
    return tmp_path


def run(*line, code=0):
    done = CliRunner().invoke(cli, list(line))
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_every_way_to_sample_a_file_as_undirected_has_the_same_walks(here):
    run("sample", "edges.txt", "said.zarr", *WALKS, "--undirected")
    run("partition", "edges.txt", "g.zarr", "--undirected")
    expected = csaw.sample("g.zarr", **SAME).walks[:]
    assert (expected >= 0).all()
    with csaw.stream("edges.txt", directed=False, **SAME) as stream:
        streamed = np.concatenate([batch["walks"] for batch in stream])
    rows = [tuple(map(int, line.split())) for line in EDGES.splitlines()]
    for walks in (
        csaw.open_samples("said.zarr").walks[:],
        csaw.sample("edges.txt", directed=False, **SAME).walks[:],
        csaw.sample(rows, directed=False, **SAME).walks[:],
        csaw.sample(csaw.graph("edges.txt", directed=False), **SAME).walks[:],
        streamed,
    ):
        assert np.array_equal(walks, expected)


def test_evaluate_and_export_read_a_file_as_undirected(here):
    degree = 2 * len(EDGES.splitlines()) / 30
    said = run("evaluate", "edges.txt", "--undirected", "--measures", "degree").stdout
    assert f"{degree:g}" in said
    found = csaw.evaluate("edges.txt", directed=False, measures="degree").profile["mean degree"].value
    assert found == pytest.approx(degree)
    run("export", "edges.txt", "both.npz", "--undirected")
    run("export", "edges.txt", "one.npz")
    sizes = [np.load(name)["indices"].size for name in ("both.npz", "one.npz")]
    assert sizes == [2 * len(EDGES.splitlines()), len(EDGES.splitlines())]


def test_the_cache_keeps_a_store_for_each_way_to_read_a_file(here):
    stores = {directed: resolve("edges.txt", here, directed) for directed in (None, True, False)}
    assert len(set(stores.values())) == 3
    found = {directed: csaw.open_graph(store).directed for directed, store in stores.items()}
    assert found == {None: True, True: True, False: False}
    assert resolve("edges.txt", here, False) == stores[False]


def test_a_header_that_says_undirected_is_overruled(here):
    (here / "said.txt").write_text("# Undirected graph\n" + EDGES)
    assert not csaw.graph("said.txt").directed
    assert csaw.graph("said.txt", directed=True).directed


def test_a_store_is_not_read_in_another_way(here):
    csaw.partition("edges.txt", "g.zarr")
    for line in (["sample", "g.zarr", "s.zarr"], ["evaluate", "g.zarr"], ["export", "g.zarr", "g.csv"]):
        done = CliRunner().invoke(cli, [*line, "--undirected"])
        assert done.exit_code
        assert "csaw partition FILE OUT --undirected" in str(done.exception)
    for take in (csaw.sample, csaw.graph, csaw.evaluate, csaw.stream):
        for store in ("g.zarr", csaw.open_graph("g.zarr")):
            with pytest.raises(OptionError, match=r"graph store.*--undirected"):
                take(store, directed=False)
    with pytest.raises(OptionError, match="directed: expected True or False, or None"):
        csaw.sample("edges.txt", directed="no")


def test_graphs_that_csaw_makes_have_both_ways(here):
    assert csaw.graph("rmat:scale=4", directed=True).directed
    assert not csaw.graph("rmat:scale=4,undirected=0", directed=False).directed
    assert not csaw.graph("karate", directed=False).directed
    with pytest.raises(OptionError, match="karate is undirected"):
        csaw.graph("karate", directed=True)


def test_an_unfinished_sample_is_not_finished_with_edges_read_in_another_way(here):
    run("sample", "edges.txt", "s.zarr", *WALKS)
    with pytest.raises(StoreError, match="sampled with directed = True, but this run has False"):
        csaw.sample("edges.txt", "s.zarr", directed=False, resume=True, **SAME)


def test_a_virtual_sample_has_its_graph(here):
    run("sample", "edges.txt", "later.zarr", *WALKS, "--undirected", "--virtual")
    assert (
        "leave out --directed and --undirected"
        in run("sample", "--from", "later.zarr", "s", "--undirected", code=2).output
    )
    run("sample", "--from", "later.zarr", "s.zarr")
    assert np.array_equal(csaw.open_samples("s.zarr").walks[:], csaw.open_samples("later.zarr").walks[:])


def test_walks_that_die_because_edges_are_listed_once_say_the_command_that_helps(here):
    said = run("sample", "edges.txt", "s.zarr", *WALKS).stdout
    assert "30 of 30 walks met a dead end: the graph was read as directed, and no edge has its opposite" in said
    found = json.loads(run("sample", "edges.txt", "s.zarr", *WALKS, "--overwrite", "--json").stdout)
    assert found["one_way"] == {"dead": 30, "walks": 30, "edges": 57, "edges_looked_at": 57}
    [warning] = found["warnings"]
    command = shlex.split(warning.partition("undirected: ")[2])
    assert command[:2] == ["csaw", "sample"]
    again = json.loads(run(*command[1:]).stdout)
    assert "one_way" not in again
    assert (csaw.open_samples("s.zarr").walks[:] >= 0).all()


def test_a_store_of_such_a_file_says_how_to_make_it_again(here):
    run("partition", "edges.txt", "g.zarr")
    said = run("sample", "g.zarr", "s.zarr", *WALKS).stdout
    assert "csaw partition FILE g.zarr --undirected --overwrite" in said


def test_shards_say_what_to_do_too(here):
    said = run("sample", "edges.txt", "s.zarr", *WALKS, "--shard", "0/1").stdout
    assert "remove s.zarr, and draw all shards again with --undirected" in said


def test_python_is_warned_unless_the_direction_was_given(here, caplog):
    with caplog.at_level(logging.WARNING):
        csaw.sample("edges.txt", directed=True, **SAME)
        csaw.sample("edges.txt", directed=False, **SAME)
        assert not caplog.messages
        csaw.sample("edges.txt", **SAME)
        csaw.sample([(0, 1), (1, 2), (0, 2)], **SAME)
    assert [message.endswith("pass directed=False") for message in caplog.messages] == [True, True]


def test_a_stream_warns_once(here, caplog):
    caplog.set_level(logging.WARNING)
    with csaw.stream(csaw.graph("edges.txt"), "deepwalk", in_flight=10, **SAME) as walks:
        for _ in range(2):
            assert sum(batch.dead_ends for batch in walks) == 30
    [message] = [one for one in caplog.messages if "opposite" in one]
    assert message.startswith("10 of 10 walks met a dead end: the graph was read as directed")
    assert message.endswith("make the graph again with directed=False")


def test_a_stream_of_joined_walks_counts_no_walks(caplog):
    caplog.set_level(logging.WARNING)
    with csaw.stream([(k, 100 + k) for k in range(60)], "deepwalk", walk_length=3, target=20, instances=3) as joined:
        assert sum(batch.dead_ends for batch in joined) > 3
    assert not caplog.messages


@pytest.mark.parametrize(
    ("edges", "options"),
    [
        ("0 1\n1 0\n1 2\n", {}),  # an edge in both directions
        ("0 1\n1 2\n2 0\n", {}),  # no dead end
        ("0 1\n", {"algo": "ppr"}),  # ends its walks itself
        ("0 1\n", {"algo": "neighbor", "fanout": "2"}),
    ],
)
def test_other_samples_are_not_warned_about(here, caplog, edges, options):
    (here / "other.txt").write_text(edges)
    walk = {} if options else {"walk_length": 9}
    found = csaw.sample("other.txt", seed=1, device="cpu", **walk, **options)
    assert "one_way" not in found.results
    assert not [message for message in caplog.messages if "opposite" in message]
