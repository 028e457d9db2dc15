"""Advice of errors, followed: what a message says to do is done, and works."""

import json
import re

import pytest
from click.testing import CliRunner
from helpers.machine import need_package

import csaw
from csaw.cli.main import cli
from csaw.partition.errors import StoreError

FILES = {
    "plain.txt": "1 2\n2 3\n",
    "weights.txt": "1 2 5\n2 3 4\n",
    "four.txt": "1 2 5 6\n2 3 4 7\n",
    "bad.txt": "0 1\n1 2\n2\n2 3\n",
    "wide.txt": "-1 2\n9223372036854775809 3\n",
    "names.txt": "a b\nb c\n",
    "types.txt": "1 2 x\n2 3 4\n",
    "repeated.txt": "1 2\n1 2\n2 3\n",
}
# a command, what it says, and the command that does so
FOLLOWED = [
    (
        "partition plain.txt weights.txt g.zarr",
        "--weight-column which all of them have, or none",
        "{} --weight-column none",
    ),
    ("partition plain.txt names.txt g.zarr", "say how with --id-type string", "{} --id-type string"),
    ("partition four.txt g.zarr", "--weight-column N, or none", "{} --weight-column 3"),
    ("partition bad.txt g.zarr", "pass --on-error skip", "{} --on-error skip"),
    ("partition types.txt g.zarr", "words follow the ids: --weight-column none", "{} --weight-column none"),
    ("partition wide.txt g.zarr", "pass --id-type string", "{} --id-type string"),
    (
        "partition repeated.txt g.zarr --duplicates error",
        "pass --duplicates keep, first or sum",
        "{} --duplicates keep",
    ),
    ("sample four.txt s.zarr", "csaw partition four.txt graph.zarr", "partition four.txt graph.zarr --weight-column 3"),
    ("sample karate old.zarr", "pass --overwrite", "{} --overwrite"),
    (
        "sample karate old.zarr --resume --num-walks 2",
        "start again with --overwrite and without --resume",
        "sample karate old.zarr --num-walks 2 --overwrite",
    ),
    (
        "sample karate begun.zarr --shard 1/2 --num-walks 2",
        "start again at another OUT",
        "sample karate other.zarr --shard 1/2 --num-walks 2",
    ),
    (
        "sample karate s.zarr --algo restart --walk-length none",
        "give a number of steps",
        "sample karate s.zarr --algo restart --walk-length 5",
    ),
    (
        "sample karate s.zarr --algo cluster-gcn",
        "csaw partition FILE OUT --num-clusters N",
        "partition plain.txt out.zarr --num-clusters 2",
    ),
    ("sample karate s.zarr --algo deepwlk", "did you mean deepwalk?", "sample karate s.zarr --algo deepwalk"),
    ("sample karat s.zarr", "did you mean karate?", "sample karate s.zarr"),
    ("info moved.zarr", "name the graph with --graph", "{} --graph kept.zarr"),
    ("sample --from moved.zarr s.zarr", "name the graph with --graph", "{} --graph kept.zarr"),
    ("export moved.zarr out.txt", "name the graph with --graph", "{} --graph kept.zarr"),
]


def call(line):
    return CliRunner().invoke(cli, line.split())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def prepare(folder, line):
    """Make what the command finds there."""
    if "old.zarr" in line:
        call("sample karate old.zarr")
    if "begun.zarr" in line:
        call("sample karate begun.zarr --shard 0/2")
    if "moved.zarr" in line:
        call("partition plain.txt g.zarr")
        call("sample g.zarr moved.zarr --virtual")
        (folder / "g.zarr").rename("kept.zarr")


@pytest.mark.parametrize(("line", "said", "followed"), FOLLOWED, ids=[line for line, _, _ in FOLLOWED])
def test_what_an_error_says_to_do_works(folder, line, said, followed):
    prepare(folder, line)
    refused = call(line)
    assert refused.exit_code != 0
    assert said in f"{refused.exception} {refused.output}"
    done = call(followed.format(line))
    assert done.exit_code == 0, f"{done.exception} {done.output}"


def test_text_beside_parquet_is_named_and_no_option_is_asked_for_again(folder):
    pa, parquet = need_package("pyarrow"), need_package("pyarrow.parquet")
    parquet.write_table(pa.table({"src": [1, 2], "dst": [2, 3]}), folder / "p.parquet")
    (folder / "p.csv").write_text("src,dst\n1,2\n")
    said = str(call("partition p.csv p.parquet g.zarr --source-column src --target-column dst").exception)
    assert "expected format: text, as in p.csv, found a table" in said
    assert "--source-column" not in said


def test_a_summary_for_programs_says_what_was_drawn_and_where(folder):
    said = json.loads(call("sample karate s.zarr --algo node2vec --p 0.5 --seed 7 --json").stdout)
    names = ["out", "finished", "graph", "fingerprint", "algorithm", "parameters", "seed", "layout"]
    assert list(said)[: len(names)] == names
    assert (said["out"], said["finished"], said["algorithm"], said["seed"]) == ("s.zarr", True, "node2vec", 7)
    assert said["parameters"]["p"] == 0.5


def test_a_shard_without_work_says_why(folder):
    done = call("sample karate s.zarr --shard 0/2 --json")
    assert re.search(r"1 group of 34 instances or fewer, .*: 1 of 2 shards have nothing to draw", done.stderr)
    said = json.loads(done.stdout)
    assert (said["finished"], said["groups"], said["all_groups"], said["left"]) == (False, 0, 1, 1)


@pytest.mark.parametrize("ids", [(0, 1, 2), (1, 2, 3), (-5, 2, 9)])
def test_vertices_in_parquet_are_int64_whatever_the_ids(folder, ids):
    parquet = need_package("pyarrow.parquet")
    a, b, c = ids
    (folder / "e.txt").write_text(f"{a} {b}\n{b} {c}\n{c} {a}\n")
    call("partition e.txt e.zarr")
    for number, made in enumerate(("sample e.zarr w.zarr", "sample e.zarr w.zarr --algo neighbor", "")):
        if made:
            call(f"{made} --overwrite")
        done = call(f"export {'w.zarr' if made else 'e.zarr'} {number}.parquet")
        assert done.exit_code == 0, done.output
        types = [str(field.type) for field in parquet.read_schema(f"{number}.parquet")]
        assert types == [["int64", "list<element: int64>"], ["int64"] * 3 + ["int32"], ["int64"] * 2][number]


def test_a_scheduler_that_is_lost_before_work_begins_is_one_sentence():
    need_package("distributed")
    from types import SimpleNamespace

    from csaw.engine.cluster import dask_executor
    from csaw.partition.errors import ClusterError

    def lost():
        raise OSError("Stream is closed")

    client = SimpleNamespace(nthreads=lost, scheduler=SimpleNamespace(address="tcp://here:1"))
    with (
        pytest.raises(ClusterError, match="the scheduler tcp://here:1 was lost before any work began"),
        dask_executor.joined(client, None),
    ):
        pass


@pytest.mark.parametrize("command", ["verify {}", "info {}", "export {} out.csv"])
def test_a_folder_that_is_no_store_is_told_both_kinds(tmp_path, command):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words")
    done = CliRunner().invoke(cli, command.format(tmp_path / "mine").split())
    assert str(done.exception) == (
        f"{tmp_path}/mine is a folder, not a graph store or a sample store; make one with csaw partition or csaw sample"
    )


def test_a_file_that_is_no_store_is_told_both_kinds(tmp_path):
    (tmp_path / "edges.txt").write_text("0 1\n")
    for check in (csaw.verify, csaw.info):
        with pytest.raises(StoreError, match="is a file, not a graph store or a sample store"):
            check(tmp_path / "edges.txt")
