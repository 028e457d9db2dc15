"""Input that once changed the graph without a word: each must now come out whole, or be refused."""

import gzip

import numpy as np
import pytest
from helpers.ingested import read, rows

from csaw.partition import IngestOptions
from csaw.partition.errors import CsawError, OptionError
from csaw.partition.ingestion.text.pieces import NOTHING_READ, ReadRecord, Recorded


def entries(store):
    return [row[:2] for row in rows(store)]


def test_a_byte_order_mark_does_not_cost_the_first_edge(tmp_path):
    assert entries(read(tmp_path, b"\xef\xbb\xbf1 2\n2 3\n")) == [(1, 2), (2, 3)]


@pytest.mark.parametrize("options", [{}, {"format": "adjacency"}])
@pytest.mark.parametrize("lines", [1, 100])
def test_a_byte_order_mark_between_joined_files_is_part_of_no_word(tmp_path, lines, options):
    part = "\ufeff" + "a b\nb c\n" * lines
    with pytest.raises(CsawError, match=rf":{2 * lines + 1}: found a byte order mark, .*before 'a b'; give the files"):
        read(tmp_path, part + part, **options)
    if not options:
        skipped = read(tmp_path, part + part, on_error="skip")
        assert (entries(skipped), skipped.report["skipped"]) == ([("a", "b"), ("b", "c")], 1)
    assert entries(read(tmp_path, "\uf000a \ufebfb\n")) == [("\uf000a", "\ufebfb")]  # which begin with the same byte


@pytest.mark.parametrize("options", [{"weight_column": 3}, {"time_column": 3}])
@pytest.mark.parametrize("text", ["1 2 1,5\n3 4 2,5\n", "1 2 1,5 7\n3 4 2,5 8\n"])
def test_a_decimal_comma_between_blanks_cuts_no_number(tmp_path, text, options):
    with pytest.raises(CsawError, match=r":1: expected a decimal point, found the comma of 1,5 .*; write 1.5"):
        read(tmp_path, text, **options)
    assert len(entries(read(tmp_path, text, weight_column="none"))) == 2
    assert read(tmp_path, "1 2,3\n3 4,5\n", weight_column=3).load().weights.tolist() == [3.0, 5.0]


def test_column_names_above_words_are_no_edge_and_name_the_weight(tmp_path):
    store = read(tmp_path, "Source,Target,Type,weight\na,b,x,3\nb,c,x,4\n")
    assert entries(store) == [("a", "b"), ("b", "c")]
    assert store.load().weights.tolist() == [3.0, 4.0]


def test_counts_in_the_first_row_are_warned_of_and_can_be_skipped(tmp_path):
    text = "4 3\n0 1\n1 2\n2 3\n"
    assert "looks like counts" in read(tmp_path, text).report["warnings"][0]
    assert read(tmp_path, "4 3 9\n0 1 5\n1 2 5\n2 3 5\n").report["warnings"] == []  # rows of counts have two cells
    assert read(tmp_path, "1 2\n2 3\n3 4\n").report["warnings"] == []  # of two edges, but not of one vertex
    skipped = read(tmp_path, text, skip_lines=1)
    assert (entries(skipped), skipped.report["warnings"]) == ([(0, 1), (1, 2), (2, 3)], [])


def test_the_largest_id_behind_the_first_edge_is_that_of_all_spans():
    whole = Recorded()
    whole.said = ReadRecord(dict(NOTHING_READ))
    for first, largest in [(None, -1), ((4, 3), 2), ((1, 9), 5), ((7, 8), -1)]:
        whole.add(ReadRecord(dict(NOTHING_READ), first=first, largest=largest))
    assert (whole.said.first, whole.said.largest) == ((4, 3), 9)


def test_weights_that_sum_beyond_float32_are_refused_and_the_largest_one_is_kept(tmp_path):
    with pytest.raises(CsawError, match="add up to more than float32 can hold"):
        read(tmp_path, "1 2 3e38\n1 2 3e38\n", duplicates="sum")
    largest = float(np.finfo(np.float32).max)
    assert read(tmp_path, f"1 2 {largest!r}\n").load().weights.tolist() == [largest]


@pytest.mark.parametrize(
    ("size", "rows", "message"),
    [
        ("3 3 5", "2 1\n3 3\n", "expected 5 entries by its size line, found 2"),
        ("3 3 2", "2 9\n3 3\n", "expected indices from 1 to 3 by its size line, found 9"),
        ("3 3 2", "0 1\n3 3\n", "expected indices from 1 to 3 by its size line, found 0"),
        ("3 9 1", "2 9\n", "expected a square matrix"),
        ("", "", ":2: expected a size line"),
    ],
)
def test_matrix_market_must_hold_what_it_declares(tmp_path, size, rows, message):
    with pytest.raises(CsawError, match=message):
        read(tmp_path, f"%%MatrixMarket matrix coordinate pattern general\n{size}\n{rows}", "m.mtx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c road\np sp 3 2\na 1 2 3\n", "DIMACS"),
        ("graph [\n node [ id 0 ]\n]\n", "GML"),
        ("<?xml version='1.0'?>\n<graphml/>\n", "GraphML"),
        ('{"nodes": []}\n', "JSON"),
        ("*Vertices 3\n1 2\n", "Pajek"),
        ('"a b" c\n"b c d\n', ":2: quotes that do not end before a space"),
        ("1 2\n2 3\n".encode("utf-16"), "UTF-16"),
        (b"1 2\n\0\0\0\n", "binary data"),
        (b"\xfd7zXZ\0rest", "xz data"),
        ("1 2 1e\n", "expected integers as ids, and a number"),
        ("1,,2\n", "a value between two separators"),
    ],
)
def test_what_is_no_edge_list_is_named(tmp_path, text, message):
    with pytest.raises(CsawError, match=message):
        read(tmp_path, text)


def test_words_that_look_like_another_format_are_still_ids(tmp_path):
    assert read(tmp_path, "<http://a> <http://b>\n<http://b> <http://c>\n").edges == 2
    assert read(tmp_path, "[a] [b]\n[b] [c]\n").edges == 2


def test_a_torn_gzip_says_how_many_whole_lines_there_are(tmp_path):
    text = "".join(f"{i * 7919 % 10007} {i}\n" for i in range(3000)).encode()
    torn = gzip.compress(text)[:-3000]
    with pytest.raises(CsawError, match="after [1-9][0-9]+ lines"):
        read(tmp_path, torn)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight_column": "-1"}, "--weight-column: expected a name, or a number from 1"),
        ({"weight_column": "0"}, "--weight-column: expected a name, or a number from 1"),
        ({"duplicates": "last"}, "--duplicates: expected keep, first"),
        ({"balance": "both"}, "--balance"),
        ({"compression": "gzip"}, "--compression"),
        ({"self_loops": "no"}, "--self-loops"),
        ({"on_error": "warn"}, "--on-error"),
        ({"partition_bytes": 0}, "--partition-size"),
        ({"skip_lines": -1}, "--skip-lines"),
    ],
)
def test_options_out_of_range_are_refused_by_name(options, message):
    with pytest.raises(OptionError, match=message):
        IngestOptions(**options)


def slow_read(text):
    """Rows of an edge list by Python's own split: what the fast parser must find."""
    rows = set()
    for line in text.replace("\r", "\n").split("\n"):
        words = line.replace(",", " ").replace(";", " ").split()
        if words and words[0][0] not in "#%":
            rows.add((int(words[0]), int(words[1])))
    return sorted(rows)


@pytest.mark.parametrize("seed", range(4))
def test_odd_spacing_line_ends_and_block_cuts_read_like_a_plain_split(tmp_path, monkeypatch, seed):
    from csaw.partition.ingestion.text import blocks

    monkeypatch.setattr(blocks, "BLOCK", 61)
    monkeypatch.setattr(blocks, "PIECE", 17)
    rng = np.random.default_rng(seed)
    ends = ["\r"] if seed == 3 else ["\n", "\r\n", "\r\r\n", " \n", "\n\n"]
    tops = [10, 10**6, 2**31, 2**62]
    lines = []
    for _ in range(600):
        u, v = (int(rng.integers(0, tops[int(rng.integers(4))])) for _ in range(2))
        gap = str(rng.choice([" ", "\t", ",", ";", "  ", " \t ", ", "]))
        lead = str(rng.choice(["", "", "", " ", "# c\n" if seed != 3 else ""]))
        lines.append(f"{lead}{u}{gap}{v}{rng.choice(ends)}")
    text = "".join(lines).rstrip() if seed % 2 else "".join(lines)
    assert entries(read(tmp_path, text)) == slow_read(text)


def test_weights_read_like_python_reads_them(tmp_path):
    rng = np.random.default_rng(5)
    forms = ["{:.3f}", "{:.17g}", "{:.6e}", "{:g}", "{:.0f}"]
    words = [str(rng.choice(forms)).format(10.0 ** rng.uniform(-30, 37)) for _ in range(3000)]
    store = read(tmp_path, "".join(f"0 {i} {w}\n" for i, w in enumerate(words)))
    expected = np.array([float(w) for w in words]).astype(np.float32)
    assert np.allclose(store.load().weights, expected, rtol=1.2e-7, atol=0)
