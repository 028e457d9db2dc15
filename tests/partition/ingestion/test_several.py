"""Several files, folders and standard input are one graph, as if they had been joined; what is wrong is named by its
own file and line.
"""

import gzip
import io
import itertools
import json
import sys

import pytest
from click.testing import CliRunner
from helpers.ingested import rows
from helpers.machine import need_package

from csaw.cli.commands.partition import partition as command
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError, OptionError, StoreError
from csaw.partition.ingestion.text import blocks

PARTS = {"part-1": "1 2\n2 3\n# c\n", "part-10": "3 1\n\n", "part-2": "9 3\n1 2\n"}  # in order of names


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, text in PARTS.items():
        (folder / name).write_text(text)
    for name in ("_SUCCESS", ".part-1.crc"):
        (folder / name).write_bytes(b"\0")
    return folder


def content(store):
    left_out = ("files", "inputs")
    return store.fingerprint, {name: value for name, value in store.report.items() if name not in left_out}


def test_a_folder_and_a_list_are_what_the_joined_text_is(tmp_path, parts):
    (tmp_path / "joined").write_text("".join(PARTS.values()))
    joined = ingest(tmp_path / "joined", tmp_path / "a.zarr", IngestOptions())
    for given in (
        parts,
        str(parts),
        [parts / name for name in PARTS],
        (parts / "part-1", str(parts / "part-10"), parts / "part-2"),
    ):
        store = ingest(given, tmp_path / "b.zarr", IngestOptions(overwrite=True, threads=3))
        assert content(store) == content(joined)
        assert store.report["files"] == 3
        assert store.report["inputs"] == [str(parts / name) for name in PARTS]
    assert "files" not in joined.report
    assert "files" not in ingest([tmp_path / "joined"], tmp_path / "c.zarr", IngestOptions()).report


def test_the_first_weight_of_an_edge_is_that_of_the_first_file(tmp_path):
    names = [tmp_path / name for name in "ba"]
    for name, weight in zip(names, (5, 7), strict=True):
        name.write_text(f"1 2 {weight}\n")
    assert rows(ingest(names, tmp_path / "g.zarr", IngestOptions())) == [(1, 2, 5.0)]
    assert rows(ingest(names[::-1], tmp_path / "h.zarr", IngestOptions())) == [(1, 2, 7.0)]


def test_packed_and_plain_files_standard_input_and_words_mix(tmp_path, monkeypatch):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a b\n"))
    (tmp_path / "c").write_text("c d\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"b c\nd e\n")))
    store = ingest([tmp_path / "a.gz", "-", tmp_path / "c"], tmp_path / "g.zarr", IngestOptions())
    assert rows(store) == list(itertools.pairwise("abcde"))


def test_the_command_takes_files_and_says_how_many(tmp_path, parts):
    names = [str(parts / name) for name in PARTS]
    done = CliRunner().invoke(command, [*names, str(tmp_path / "g.zarr"), "--threads", "2", "--json"])
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    report = json.loads(done.stdout)
    assert (report["files"], report["inputs"], report["edges"]) == (3, names, 5)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("1 2\n3\n", "other:2: expected 2 columns as in line 1, found 1"),
        ("1 2\n" * 40 + "3\n", "other:41: expected 2 columns, found 1"),
        ("1 2 3\n", "other: expected weight column: none, as in .*first, found 3; .*--weight-column"),
        ("a b\n", "other: expected ids: numbers, as in .*first, found words; .*--id-type string"),
        ("target,source\n1,2\n", "other: expected source column: 1, as in .*first, found 2; .*--source-column"),
        ("# Undirected graph\n1 2\n", "other: expected direction: directed, as in .*first, found undirected"),
        (
            "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n",
            "other: expected 2 entries by its size line, found 1",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_named(tmp_path, monkeypatch, other, message):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    (tmp_path / "first").write_text("1 2\n" * 100)
    (tmp_path / "other").write_text(other)
    with pytest.raises(CsawError, match=message):
        ingest([tmp_path / "first", tmp_path / "other"], tmp_path / "g.zarr", IngestOptions())
    assert not (tmp_path / "g.zarr").exists()


def test_the_first_of_part_files_says_the_direction_of_all(tmp_path):
    for name, text in (("a", "# Undirected graph\n1 2\n"), ("b", "2 3\n"), ("c", "# Directed graph\n3 4\n")):
        (tmp_path / name).write_text(text)
    a, b, c = (tmp_path / name for name in "abc")
    assert not ingest([a, b], tmp_path / "g.zarr", IngestOptions()).directed
    with pytest.raises(CsawError, match="c: expected direction: undirected, as in .*a, found directed"):
        ingest([a, b, c], tmp_path / "h.zarr", IngestOptions())
    assert ingest([c, b], tmp_path / "i.zarr", IngestOptions()).directed
    assert ingest([a, b, c], tmp_path / "j.zarr", IngestOptions(directed=True)).directed


def test_files_without_rows_are_of_any_kind(tmp_path):
    texts = {"a": "", "b": "# only\n", "c": "a b 1\nb c 2\n", "d": "", "e": "c d 3\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    store = ingest([tmp_path / name for name in texts], tmp_path / "g.zarr", IngestOptions())
    assert rows(store) == [("a", "b", 1.0), ("b", "c", 2.0), ("c", "d", 3.0)]
    with pytest.raises(CsawError, match="a and 1 more: no edges found"):
        ingest([tmp_path / "a", tmp_path / "b"], tmp_path / "h.zarr", IngestOptions())


def test_tables_of_other_columns_and_tables_beside_text_are_refused(tmp_path):
    need_package("pyarrow")
    import pyarrow
    import pyarrow.parquet

    for name, columns in (("a", "source target"), ("b", "source target"), ("c", "from to")):
        table = pyarrow.table({column: [k, k + 1] for k, column in enumerate(columns.split())})
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    a, b, c = (tmp_path / f"{name}.parquet" for name in "abc")
    assert ingest([a, b], tmp_path / "g.zarr", IngestOptions()).report["edges"] == 4
    with pytest.raises(CsawError, match=r"c.parquet: expected source column: source, as in .*a.parquet, found from"):
        ingest([a, c], tmp_path / "h.zarr", IngestOptions())
    (tmp_path / "t").write_text("1 2\n")
    with pytest.raises(
        CsawError, match="t: expected format: a table of Parquet or Arrow, as in .*a.parquet, found text"
    ):
        ingest([a, tmp_path / "t"], tmp_path / "h.zarr", IngestOptions())


def test_what_is_no_list_of_files_is_refused(tmp_path, parts):
    for given, message in (([], "found none"), ([3], "found 3"), (["-", "-"], "only once"), (3, "found 3")):
        with pytest.raises(OptionError, match=message):
            ingest(given, tmp_path / "g.zarr", IngestOptions())
    (tmp_path / "empty").mkdir()
    ingest(parts, tmp_path / "g.zarr", IngestOptions())
    for given, message in (
        (tmp_path / "empty", "without files"),
        (tmp_path, "empty is a directory"),
        (tmp_path / "g.zarr", "with a store in it"),
    ):
        with pytest.raises(StoreError, match=message):
            ingest(given, tmp_path / "h.zarr", IngestOptions())
