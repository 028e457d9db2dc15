"""Any number of threads gives the same store and the same errors; each thread has work of its own."""

import gzip

import numpy as np
import pytest

from csaw.partition import IngestOptions, ingest
from csaw.partition.arrays import arrays
from csaw.partition.base.parallel import Crew
from csaw.partition.errors import CsawError, OptionError
from csaw.partition.ingestion import buckets, ids, job, pipeline
from csaw.partition.ingestion.text import blocks

THREADS = (1, 2, 5)


@pytest.fixture
def small_pieces(monkeypatch):
    """Blocks, buckets, pieces and memory so small that a short text has many of each, and some in temporary files."""
    for module, name, value in (
        (blocks, "BLOCK", 512),
        (blocks, "PIECE", 100),
        (buckets, "BUCKET_ENTRIES", 60),
        (arrays, "PIECE_BYTES", 4096),
        (ids, "MARKED_ROWS", 90),
        (ids, "SORTED_ROWS", 90),
        (ids, "TABLE_SLICE", 77),
        (pipeline, "PIECE_ROWS", 150),
        (job, "KEPT_SHARE", 0.001),
    ):
        monkeypatch.setattr(module, name, value)


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("factor", "options"),
    [
        (7, {}),
        (-7, {"self_loops": "drop"}),
        (7, {"directed": False, "self_loops": "drop", "partitions": 3}),
        (10**12 + 1, {"duplicates": "sum"}),
        (1, {"compression": "lz4"}),
    ],
    ids=["directed", "around zero", "undirected", "sparse ids", "lz4"],
)
def test_the_store_is_the_same_byte_for_byte(tmp_path, small_pieces, pack, factor, options):
    rng = np.random.default_rng(4)
    ends = (rng.random((3000, 2)) ** 2 * 500).astype(np.int64) * abs(factor)
    ends -= 250 * 7 if factor < 0 else 0
    lines = [f"{u} {v} {(u * v) % 97}\n" for u, v in ends.tolist()]
    lines[700] = "# a comment\n\n"
    (tmp_path / "e").write_bytes(pack("".join(lines).encode()))
    stores = [
        ingest(tmp_path / "e", tmp_path / f"{threads}.zarr", IngestOptions(memory=16 << 20, threads=threads, **options))
        for threads in THREADS
    ]
    assert stores[0].report["spilled_bytes"] > 0
    assert stores[0].report["edges"] == 2999
    assert files(stores[1].path) == files(stores[0].path)
    assert files(stores[2].path) == files(stores[0].path)


@pytest.mark.parametrize("words", [False, True])
def test_the_first_bad_row_is_named_whatever_comes_later(tmp_path, small_pieces, words):
    end = "x" if words else ""
    lines = [f"{k}{end} {k + 1}{end}\n" for k in range(3000)]
    lines[1500] = lines[2900] = "1\n"
    (tmp_path / "e").write_text("".join(lines))
    for threads in THREADS:
        with pytest.raises(CsawError, match="e:1501: expected 2 columns, found 1"):
            ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(threads=threads))
    assert [place.name for place in tmp_path.iterdir()] == ["e"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "open"])
def test_each_line_is_in_one_range_of_a_file_whatever_their_lengths(tmp_path, monkeypatch, end, last):
    rng = np.random.default_rng(6)
    lines = [f"{k} {k * 10 ** int(rng.integers(0, 9))}{' ' * int(rng.integers(0, 40))}" for k in range(400)]
    (tmp_path / "e").write_bytes((end.join(lines) + end * last).encode())
    for block in (7, 40, 1000):
        monkeypatch.setattr(blocks, "BLOCK", block)
        store = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(overwrite=True, threads=3))
        assert (store.report["lines"], store.report["edges"], store.edges) == (400, 400, 400)


def test_a_file_that_becomes_shorter_is_refused(tmp_path, monkeypatch):
    from csaw.partition.ingestion.text.rows import Ranges

    (tmp_path / "e").write_text("1 2\n" * 100)
    with (tmp_path / "e").open("rb") as file:
        ranges = Ranges("e", file.fileno(), 0, b"\n")
        (tmp_path / "e").write_text("1 2\n")
        with pytest.raises(CsawError, match="e: the file became shorter"):
            ranges.read(0, 400)


def test_work_that_fails_ends_all_that_waits():
    begun = []

    def work(number):
        begun.append(number)
        if number == 3:
            raise ValueError("three")
        return number

    with Crew(2, 1 << 24) as crew:
        found = []
        with pytest.raises(ValueError, match="three"):
            found.extend(crew.in_order(work, ((number,) for number in range(1000))))
    assert max(begun) <= 3 + 2 * crew.threads


@pytest.mark.parametrize("threads", [0, -1, 5000, True, 1.5])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads):
    with pytest.raises(OptionError, match="--threads"):
        IngestOptions(threads=threads)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("last", ["", "# the end"], ids=["open", "comment"])
@pytest.mark.parametrize("weighted", [False, True])
def test_plain_text_asks_nothing_of_the_parser_that_takes_long_to_compile(tmp_path, monkeypatch, end, last, weighted):
    from csaw.partition.ingestion.text import odd_rows

    monkeypatch.setattr(odd_rows, "parse_block", None)
    rows = ["1 2 0.5", "2 3 1e3", "3 1 7"] if weighted else ["1 2", "2\t3", "3,1"]
    lines = ["# a", "% b", *rows[:1], "# c", *([""] if end == "\n" else []), *rows[1:], *([last] if last else [])]
    (tmp_path / "e").write_text(end.join(lines), newline="")
    store = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions())
    assert (store.edges, store.report["lines"], store.report["comments"]) == (3, len(lines), 3 + bool(last))
    assert store.load().indices.tolist() == [1, 2, 0]


def test_odd_rows_between_plain_ones_are_counted_where_they_stand(tmp_path):
    lines = ["1 2", "# c", "", " 2 3", "3 x", "4 5", "-1 2", "5", "# d", "7 8 "]
    (tmp_path / "e").write_text("\n".join(lines))
    store = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(on_error="skip"))
    counts = {name: store.report[name] for name in ("lines", "comments", "blank", "edges", "skipped")}
    assert counts == {"lines": 10, "comments": 2, "blank": 1, "edges": 5, "skipped": 2}
