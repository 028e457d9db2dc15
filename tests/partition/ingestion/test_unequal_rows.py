"""Rows that are not what the rows around them are: an error by file and line, or counted, never another graph."""

import bz2
import gzip
import io

import numpy as np
import pytest
from helpers.ingested import read, rows

from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError, FormatError
from csaw.partition.ingestion.text import blocks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 0.5\n2 3\n3 4 1\n", ":2: expected 3 columns as in line 1, found 2"),
        ("1 2 3\n2 4 5 6\n3 1\n", ":2: expected 3 columns as in line 1, found 4"),
        ("34 78 0\n1 2\n2 3\n3 4\n", ":1: expected 2 columns as in the rows that follow, found 3.*--skip-lines 1"),
        ("34 78\n1,2,3\n2,3,1\n3,4,1\n", ":1: expected 3 columns as in the rows that follow"),
        ("a b\nb c d\n", ":2: expected 2 columns as in line 1, found 3"),
        ("1 2\n" * 40 + "2 3 1\n", ":41: expected 2 columns, found 3"),
        ("1 2 1\n" * 40 + "2 3\n", ":41: expected 3 columns, found 2"),
        ("a,b\n" * 40 + "b,c,d\n", ":41: expected 2 columns, found 3"),
        ("7\n8\n9\n", ":1: expected 'source target .*found one column: '7'"),
        ("1/2\n2/3\n", ":1: .*found one column: '1/2'"),
        ("1,2,0.5\n3,4,\n", ":2: expected a value after the last separator, found '3,4,'"),
        ("1,2,\n3,4,\n", ":1: expected a value after the last separator, found '1,2,'"),
        ("1,2\n3,4,\n5,6\n", ":2: expected a value after the last separator"),
        ("1,2\n" * 40 + "3,4,\n", ":41: expected a value after the last separator"),
        ("1,2,0.5\n,4,0.5\n", ":2: expected a value before the first separator"),
        ("1,2\n" * 40 + ",4\n", ":41: expected a value before the first separator"),
        ("1\t2\t0.5\n\t4\t0.5\n", ":2: expected a value before the first separator"),
        ("1\t2\t0.5\n4\t\t0.5\n", ":2: expected a value between two separators"),
        ("a,b\nc,\n", ":2: expected a value after the last separator"),
        ("a\tb\n\td\n", ":2: expected a value before the first separator"),
        ("1.5 2\n2 3\n3 4\n", ":1: expected integers as ids, and a number in each other column"),
        ("x 2\n2 3\n3 4\n", ":1: expected integers as ids, and a number in each other column"),
        ("1 2\n2.5 3\n", ":2: expected integers as ids, and a number in each other column"),
        ('1,2,"x\n3,4,5\n', ":1: "),
        ('1,2,3\n3,4,5\n6,7,"8"9\n', ":3: quotes"),
        ("1,2,3\n" * 40 + '6,7,"8"9\n', ":41: expected integers as ids, and a number in each other column"),
        ("u,v,x\n" + "1,2,x\n" * 40 + '6,7,"8\n', ":42: expected quotes that end"),
        ('a,"b\nc,d\n', ":1: quotes"),
        ('a,b\nc,"d" e\n', ":2: quotes"),
        ("a,b\n" * 40 + 'c,"d" e\n', ":41: quotes"),
        ("1;2;0,5\n2;3;1,5\n", ":1: expected a decimal point, found the comma of 0,5 .*; write 0.5"),
        ("s\tt\tweight\n1\t2\t-1,25\n", ":2: expected a decimal point, found the comma of -1,25 .*; write -1.25"),
        ("source;target;weight\nu;v;0,5\n", ":2: expected a decimal point, found the comma of 0,5"),
    ],
)
def test_a_row_that_differs_is_an_error_by_its_line(tmp_path, text, message):
    with pytest.raises(CsawError, match="edges.txt" + message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("34 78 0\n1 2\n2 3\n3 4\n", 1),
        ("1 2\n2 3\n" * 20 + "3 4 1\n,5\n6,\n7.5 8\n3 4\n", 4),
        ('u,v,name\n1,2,"x, y"\n2,3,z\n9,9\n"9,9,9\n3,4,New York\n', 2),
        ("1,2,0.5\n2,3,1\n,9,1\n9,,1\n9,9,\n9,9,-1\n9,9,x\n3,4,1\n", 5),
    ],
)
def test_rows_that_differ_are_counted_where_bad_rows_are_skipped(tmp_path, text, skipped):
    store = read(tmp_path, text, on_error="skip", id_type="int")
    assert [row[:2] for row in rows(store)] == [(1, 2), (2, 3), (3, 4)]
    assert store.report["skipped"] == skipped


SIXTEEN_ROWS = "".join(f"{v} {v + 1} 2\n" for v in range(16))


@pytest.mark.parametrize(
    ("text", "columns", "kept"),
    [
        ("1 2\n2 3 4\n", None, [(1, 2)]),
        ("2 3 4\n1 2\n", None, [(2, 3, 4.0)]),
        ("1 2 3\n2 3\n3 4 5\n3 4\n4 5\n", None, [(2, 3), (3, 4), (4, 5)]),
        ("7\n8\n1 2\n", None, [(1, 2)]),
        ("1 2\n2 3\n4 5 6\n3 4\n4 5\n", 2, [(1, 2), (2, 3), (3, 4), (4, 5)]),
        ("1 2 3\n2 3 4\n4 5\n3 4 5\n4 5 6\n", None, [(1, 2, 3.0), (2, 3, 4.0), (3, 4, 5.0), (4, 5, 6.0)]),
        ("1 2 3.5\n2 3 4\n4 5\n3 4 5\n4 5 6\n", 3, [(1, 2, 3.5), (2, 3, 4.0), (3, 4, 5.0), (4, 5, 6.0)]),
        (f"20 21 2\n4 5\n{SIXTEEN_ROWS}", 3, [*((v, v + 1, 2.0) for v in range(16)), (20, 21, 2.0)]),
        ("1 2 3\n2 3 4\n4 5 6 7 8\n3 4 5\n", None, [(1, 2, 3.0), (2, 3, 4.0), (3, 4, 5.0)]),
    ],
)
def test_skipping_is_advised_where_few_rows_differ_and_says_which_are_kept(tmp_path, text, columns, kept):
    """Otherwise each row may be a vertex with its neighbors, of which skipping would keep nonsense."""
    with pytest.raises(FormatError, match="--format adjacency") as caught:
        read(tmp_path, text, id_type="int")
    assert ("--on-error skip" in str(caught.value)) == (columns is not None)
    assert columns is None or f"--on-error skip to keep only rows of {columns} columns" in str(caught.value)
    assert rows(read(tmp_path, text, on_error="skip", id_type="int")) == kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"1","2"\n"2","3"\n', [(1, 2), (2, 3)]),
        ('"1" "2" "0.5"\n2 3 1\n', [(1, 2, 0.5), (2, 3, 1.0)]),
        ('"a, b","c"\n"c","d ""e"""\n', [("a, b", "c"), ("c", 'd "e"')]),
        ('x;"a;b";2\ny; "x";3\n', [("x", "a;b", 2.0), ("y", "x", 3.0)]),
        ('"from" "to"\n"a b" "c"\nd  "e ""f"""\n', [("a b", "c"), ("d", 'e "f"')]),
        ("1.0 2.0\n2 1\n1.00 3.\n", [(1, 2), (1, 3), (2, 1)]),
        ("1,2\n,,\n3,4\n", [(1, 2), (3, 4)]),
        ("1 2 # a comment\n2 3\n", [(1, 2), (2, 3)]),
        ("1\t2\t0.5\t\n3\t4\t1\t\n", [(1, 2, 0.5), (3, 4, 1.0)]),
        ("1,2,0.5 \n3, 4 ,\t1\n", [(1, 2, 0.5), (3, 4, 1.0)]),
        (
            "1 2 0.12345678901234567\n2 3 1e-3\n3 4 100000000000000000000\n",
            [
                (1, 2, float(np.float32(0.12345678901234567))),
                (2, 3, float(np.float32(1e-3))),
                (3, 4, float(np.float32(1e20))),
            ],
        ),
    ],
)
def test_odd_rows_that_mean_one_thing_are_read(tmp_path, text, found):
    assert rows(read(tmp_path, text)) == found


def test_a_row_of_numbers_among_words_is_a_row_of_words(tmp_path):
    found = [("a", "b"), ("b", "c"), ("1", "2")]
    assert sorted(rows(read(tmp_path, '"a","b"\n"b","c"\n"1","2"\n', on_error="skip"))) == sorted(found)


def test_ids_written_as_floats_stay_words_where_words_are_asked_for(tmp_path):
    assert rows(read(tmp_path, "1.0 2\n1 2\n", id_type="string")) == [("1", "2"), ("1.0", "2")]


def test_a_comment_that_could_be_a_row_is_warned_of(tmp_path):
    store = read(tmp_path, '#a,b\nc,d\n"#e",f\n#g,h\n')
    assert rows(store) == [("#e", "f"), ("c", "d")]
    assert "1 lines that begin with # or % look like rows, the first is line 4" in store.report["warnings"][0]


def test_a_header_under_more_comments_than_a_block_holds_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    text = "# word\n" * 100 + "target,source\n" + "9,5\n3,7\n"
    assert rows(read(tmp_path, text)) == [(5, 9), (7, 3)]


@pytest.mark.parametrize("end", ["\n", "\r"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_line_without_an_end_is_refused_by_its_number(tmp_path, monkeypatch, pack, end):
    monkeypatch.setattr(blocks, "BLOCK", 100)
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1000)
    rows_before = f"1 2{end}" * 300
    for fill in ("7", "0 1 ", "\0"):
        with pytest.raises(CsawError, match=r"edges.txt:301: a line of more than 1,000 bytes"):
            read(tmp_path, pack((rows_before + fill * 5000 + end + "1 2" + end).encode()))
    kept = rows_before + "8" * 10 + " " * (1000 - 12) + "19" + end + "1 3"
    assert rows(read(tmp_path, pack(kept.encode()))) == [(1, 2), (1, 3), (8888888888, 19)]


class Endless(io.RawIOBase):
    """A stream of one digit without an end, as a small gzip file can hold it."""

    taken = 0

    def readinto(self, into):
        into[:] = b"1" * len(into)
        self.taken += len(into)
        return len(into)


def test_an_endless_line_is_read_no_further_than_the_limit(monkeypatch):
    stream = Endless()
    monkeypatch.setattr(blocks, "open_bytes", lambda path, unpackers: (stream, io.BytesIO()))
    with pytest.raises(CsawError, match=r"-:1: a line of more than 16,777,216 bytes"):
        list(blocks.read_blocks("-"))
    assert stream.taken <= (16 << 20) + 1


def test_each_byte_of_a_long_line_is_copied_a_few_times_at_most(tmp_path, monkeypatch):
    copied = []

    class Counted(bytearray):
        def __setitem__(self, at, value):
            copied.append(len(value))
            super().__setitem__(at, value)

    monkeypatch.setattr(blocks, "BLOCK", 1000)
    monkeypatch.setattr(blocks, "bytearray", Counted, raising=False)
    (tmp_path / "line").write_bytes(b"# " + b"x" * 1_000_000 + b"\n1 2\n")
    assert b"".join(blocks.read_blocks(str(tmp_path / "line"))).endswith(b"x\n1 2\n")
    assert sum(copied) < 2_000_000


@pytest.mark.parametrize("damage", ["none", "a flipped bit", "cut off", "bytes after the end"])
def test_every_member_of_a_bz2_file_is_read_or_refused(tmp_path, damage):
    members = [bz2.compress(b"".join(b"%d %d\n" % (k, k + 1) for k in range(first, first + 500))) for first in (0, 500)]
    data = bytearray(b"".join(members) + (b"more" if damage == "bytes after the end" else b""))
    if damage == "a flipped bit":
        data[len(members[0]) + 2] ^= 1  # of the second member's magic number
    (tmp_path / "e.bz2").write_bytes(data[:-7] if damage == "cut off" else data)
    if damage == "none":
        assert ingest(str(tmp_path / "e.bz2"), tmp_path / "g.zarr", IngestOptions()).edges == 1000
        return
    with pytest.raises(FormatError, match=r"e\.bz2: the compressed data is cut off or damaged after"):
        ingest(str(tmp_path / "e.bz2"), tmp_path / "g.zarr", IngestOptions())


def test_a_zero_byte_among_words_is_named(tmp_path):
    (tmp_path / "e.txt").write_bytes(b"".join(b"v%d w%d\n" % (k, k) for k in range(900)) + b"a\0b c\n")
    with pytest.raises(FormatError, match=r"e\.txt:901: expected text, found a byte of value 0"):
        ingest(str(tmp_path / "e.txt"), tmp_path / "g.zarr", IngestOptions())
