"""``csaw append``, ``csaw compact`` and ``--version`` as a user meets them."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.engine.cluster.recipe import Recipe
from csaw.partition import open_graph


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("1 2\n2 3\n3 4\n")
    (tmp_path / "b.txt").write_text("3 4\n4 5\n9 1\n")
    return lambda line, **more: CliRunner().invoke(cli, line.split(), **more)


def done(run, line, **more):
    ended = run(line, **more)
    assert ended.exit_code == 0, (line, ended.output, ended.exception)
    return ended.stdout


def test_a_day_in_the_life_of_a_graph(run):
    done(run, "partition a.txt g.zarr --undirected")
    done(run, "sample g.zarr old.zarr --walk-length 4 --device cpu")
    lines = done(run, "append g.zarr b.txt").splitlines()
    assert lines[1].startswith("Version 1: 6 vertices and 10 stored edges in g.zarr (")
    assert lines[2:] == [
        "3 rows read: 2 edges added, 1 there already, 2 vertices added.",
        "1 of 1 partition was written.",
    ]
    assert "no version was written" in done(run, "append g.zarr -", input="4 5\n")
    removed = run("append g.zarr - --remove", input="1 2\n7 8\n")
    assert "g.zarr lacks 1 of the edges to remove" in removed.stderr
    assert "1 edge removed, 1 not there" in removed.stdout
    shown = done(run, "info g.zarr")
    assert [line.split()[:3] for line in shown.partition("Versions\n")[2].splitlines()[1:4]] == [
        ["0", "4", "6"],
        ["1", "6", "10"],
        ["2", "6", "8"],
    ]
    for version, edges in ((0, 3), (1, 5), (2, 4)):
        assert done(run, f"export g.zarr - --version {version}").count("\n") == edges + 2
        assert json.loads(done(run, f"info g.zarr --version {version} --json"))["version"] == version
        assert json.loads(done(run, f"verify g.zarr --version {version} --json"))["ok"]
        done(run, f"sample g.zarr w{version}.zarr --version {version} --walk-length 4 --device cpu")
    assert json.loads(done(run, "verify old.zarr --json"))["ok"]
    assert "nothing was missing" in done(run, "sample g.zarr old.zarr --walk-length 4 --device cpu --resume")
    done(run, "evaluate g.zarr old.zarr --version 0 --measures degree --device cpu")
    wrong = run("evaluate g.zarr old.zarr --measures degree --device cpu")
    assert "give the graph that was sampled, g.zarr/versions/0" in str(wrong.exception)
    would = done(run, "refresh w0.zarr --dry-run --device cpu").splitlines()
    assert would[0].startswith("6 walks would be drawn again on version 2 of ")
    assert would[1] == "5 rows changed."
    assert json.loads(done(run, "refresh w0.zarr n.zarr --device cpu --json"))["refreshed"]["drawn"] == 6
    again = done(run, "refresh w1.zarr --device cpu").splitlines()
    assert again[2] == "Next: csaw verify w1.zarr"
    assert "w1.zarr is up to date with version 2 of " in done(run, "refresh w1.zarr --device cpu")
    done(run, "sample g.zarr v.zarr --version 0 --virtual")
    assert done(run, "refresh v.zarr --dry-run").startswith("v.zarr would be a virtual sample of version 2 of ")
    assert json.loads(done(run, "refresh v.zarr later.zarr --json"))["refreshed"]["drawn"] == 0
    assert done(run, "refresh v.zarr").endswith("; nothing is drawn.\n")
    np.save("x.npy", np.arange(6))
    bias = "--columns x.npy --edge-bias 1+e.column('x',e.dst)"
    done(run, f"sample g.zarr c.zarr --walk-length 4 --device cpu --version 1 {bias}")
    assert done(run, "refresh c.zarr --columns x.npy --device cpu").endswith("verify c.zarr --columns x.npy\n")
    freed = done(run, "compact g.zarr").splitlines()
    assert freed[0].startswith("g.zarr: version 2 stays (")
    assert "dropped 0, 1, which frees " in freed[0]
    assert freed[1] == "Samples of dropped versions cannot be verified or resumed any more."
    assert done(run, "compact g.zarr") == "g.zarr has one version, 2; nothing was dropped.\n"
    assert json.loads(done(run, "verify w2.zarr --json"))["ok"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("append g.zarr", "Missing argument 'INPUT...'"),
        ("append nothing.zarr a.txt", "nothing.zarr does not exist; make it with csaw partition"),
        ("append g.zarr nothing.txt", "nothing.txt cannot be read"),
        ("append a.txt b.txt", "a.txt is a regular file; expected a graph store"),
        ("append g.zarr b.txt --undirected", "--undirected: g.zarr is directed; leave it out"),
        ("append g.zarr b.txt --weight-column 2", "--weight-column: g.zarr has no weights"),
        ("append g.zarr b.txt --remove --duplicates first", "--duplicates: only for edges that are added"),
        ("compact nothing.zarr", "nothing.zarr does not exist"),
        ("compact g.zarr --version 4", "g.zarr has no version 4, only 0"),
        ("sample g.zarr s.zarr --version 4", "g.zarr has no version 4, only 0"),
        ("sample g.zarr s.zarr --version -1", "--version: expected an integer from 0 on, found -1"),
        ("sample a.txt s.zarr --version 0", "--version: a.txt is no graph store"),
        ("sample --from w.zarr s.zarr --version 0", "w.zarr determines its graph; leave out --version"),
        ("info w.zarr --version 0", "w.zarr is a sample store, which has no versions"),
        ("verify w.zarr --version 0", "--version is for graph stores"),
        ("export w.zarr - --version 0", "--version is for graph stores"),
    ],
)
def test_wrong_use_says_what_to_do(run, line, said):
    done(run, "partition a.txt g.zarr")
    done(run, "sample g.zarr w.zarr --walk-length 2 --device cpu")
    ended = run(line)
    assert ended.exit_code in (1, 2)
    assert said in f"{ended.output}{ended.exception}"


def test_shards_after_an_append_draw_on_the_version_that_the_first_one_began_with(run):
    done(run, "partition a.txt g.zarr")
    how = "--num-walks 40 --walk-length 3 --device cpu"
    done(run, f"sample g.zarr whole.zarr {how}")
    done(run, f"sample g.zarr s.zarr {how} --shard 0/2")
    done(run, "append g.zarr b.txt")
    done(run, f"sample g.zarr s.zarr {how} --shard 1/2")
    found, wanted = (json.loads(done(run, f"info {name} --json")) for name in ("s.zarr", "whole.zarr"))
    assert found["graph"] == wanted["graph"]
    assert found["edges"] == wanted["edges"]


def test_workers_of_a_cluster_get_the_address_of_the_version_of_the_leader(run):
    done(run, "partition a.txt g.zarr")
    assert Recipe.of("g.zarr", "w.zarr", "deepwalk", {}).graph == str(Path("g.zarr").absolute())
    done(run, "append g.zarr b.txt")
    recipe = Recipe.of("g.zarr", "w.zarr", "deepwalk", {"walk_length": 2})
    done(run, "append g.zarr - --remove", input="1 2\n")
    assert recipe.graph == str(Path("g.zarr/versions/1").absolute())
    assert (recipe.here().store.edges, open_graph("g.zarr").edges) == (5, 4)


def test_an_append_says_how_many_rows_its_conditions_left_out(run):
    table = pyarrow.table({"src": [1, 2, 3], "dst": [2, 3, 4], "year": [1, 2, 3]})
    pyarrow.parquet.write_table(table, "e.parquet")
    done(run, "partition e.parquet g.zarr --where year<2")
    assert "1 row read, 2 rows left out by --where: 1 edge added, " in done(
        run, "append g.zarr e.parquet --where year>2"
    )
    assert "0 rows read, 3 rows left out by --where: nothing" in done(run, "append g.zarr e.parquet --where year>5")
    assert json.loads(done(run, "append g.zarr e.parquet --where year>5 --json"))["left_out"] == 3
