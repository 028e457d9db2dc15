"""Words are cut, numbered and ranked by all threads as one thread in plain Python would do it."""

import random

import numpy as np
import pytest
from helpers.ingested import rows
from hypothesis import given, settings
from hypothesis import strategies as st

from csaw.partition import IngestOptions, ingest
from csaw.partition.base.parallel import Crew
from csaw.partition.errors import FormatError
from csaw.partition.ingestion import word_numbers
from csaw.partition.ingestion.columns import Columns
from csaw.partition.ingestion.text.pieces import NOTHING_READ, Piece, ReadRecord
from csaw.partition.ingestion.text.shape import Shape
from csaw.partition.ingestion.text.word_cells import Cells, CutRows, cut_rows
from csaw.partition.ingestion.text.word_rows import WordRows
from csaw.partition.ingestion.word_numbers import StringNumbering, sorted_places

PIECES = (
    "a",
    "bc",
    "ü",
    "#",
    "%",
    '"',
    " ",
    "  ",
    "\t",
    ",",
    ";",
    "\r",
    "\x0b",
    "\0",
    "1",
    "2.5",
    ".",
    "-3",
    "1e2",
    "_",
    "x" * 20,
)


def words_of(cells):
    whole = cells.text.tobytes()
    return [
        whole[start : start + size] for start, size in zip(cells.starts.tolist(), cells.sizes.tolist(), strict=True)
    ]


def random_line(chance, separator):
    if chance.random() < 0.05:
        return chance.choice(["", "\r", "# c", ",", "only"])
    cells = [
        "".join(chance.choices(PIECES[:3] if chance.random() < 0.9 else PIECES, k=chance.randint(1, 3))) for _ in "ab"
    ]
    cells.append(chance.choice(["1", "2.5", "0.125", "10", "3."] if chance.random() < 0.9 else PIECES))
    return separator.join(cells) + chance.choice(["", "", "", "\r", " "])


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("places", [(0, 1, 2), (1, 0, -1)])
def test_plain_rows_are_cut_as_line_by_line_and_others_are_left(separator, places):
    chance, taken = random.Random(5), 0
    for columns in (0, 3):
        shape = Shape(separator=separator.encode(), columns=columns, read=Columns(*places), strings=True)
        for _ in range(400):
            block = "\n".join(random_line(chance, separator) for _ in range(chance.randint(0, 4)))
            text = (block + chance.choice(["\n", ""])).encode()
            cut = cut_rows(text, 10, ord(separator), columns, places)
            if cut is None:
                continue
            taken += 1
            by_line, cut_too = (WordRows("e", shape, False, ReadRecord(dict(NOTHING_READ))) for _ in range(2))
            expected, found = by_line.parse(text), cut_too.counted(cut)
            assert (words_of(found.src), words_of(found.dst)) == (expected.src, expected.dst)
            assert cut_too.said == by_line.said
            assert (cut_too.has_rows, by_line.said.like_rows.times) == (by_line.has_rows, 0)
            assert len(found.columns) == len(expected.columns)
            assert all(map(np.array_equal, found.columns, expected.columns))
    assert taken > 200


@settings(max_examples=100)
@given(
    st.sets(
        st.binary(max_size=3)
        | st.binary(max_size=4).map(b"http://".__add__)
        | st.text("a\0", max_size=20).map(str.encode)
    )
)
def test_places_are_those_of_sorted_bytes(words):
    given = [b"http://" + word for word in words] or [b"one"]
    random.Random(1).shuffle(given)
    cells = Cells.of(given)
    assert [given[place] for place in sorted_places(Cells(cells.text.copy(), cells.starts, cells.sizes))] == sorted(
        given
    )


@pytest.mark.parametrize("threads", [1, 4])
def test_equal_words_have_one_number_whichever_thread_meets_them(monkeypatch, threads):
    monkeypatch.setattr(word_numbers, "FIRST_ROOM", 2)  # so that parts grow often
    chance = random.Random(2)
    vocabulary = [bytes(chance.choices(range(256), k=chance.randint(0, 40))) for _ in range(3000)]
    pieces = [Piece([*chance.choices(vocabulary, k=500)], [*chance.choices(vocabulary, k=500)]) for _ in range(20)]
    numbering = StringNumbering()
    with Crew(threads, 0) as crew:
        numbered = list(crew.in_order(numbering.numbered, ((piece,) for piece in pieces)))
    numbering.finish()
    used = sorted({word for src, dst, *_ in pieces for word in src + dst})
    assert [bytes(word) for word in numbering.vertex_ids.encoded()] == used
    for (src, dst, *_), (first, second, *_) in zip(pieces, numbered, strict=True):
        assert [used[rank] for rank in numbering.dense(first)] == src
        assert [used[rank] for rank in numbering.dense(second)] == dst


def test_odd_rows_between_plain_ones_keep_their_lines_and_their_place(tmp_path):
    lines = [f"user{k % 700}\tuser{k * 7 % 900}\n" for k in range(120_000)]
    lines[5] = '"user 1"\t user2\n'
    lines[100_000] = "# a comment\n\n"
    (tmp_path / "e").write_text("".join(lines))
    pairs = {tuple(line.split()) for line in lines if line[0] == "u"} | {("user 1", "user2")}
    for threads in (1, 3):
        store = ingest(tmp_path / "e", tmp_path / f"{threads}.zarr", IngestOptions(threads=threads))
        assert rows(store) == sorted(pairs)
        assert [store.report[name] for name in ("lines", "edges", "comments", "blank")] == [120_001, 119_999, 1, 1]
    lines[110_000] = "user1\n"
    (tmp_path / "e").write_text("".join(lines))
    with pytest.raises(FormatError, match="e:110002: expected 2 columns, found 1"):
        ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(threads=3))


def test_files_of_words_are_cut_by_the_kernel():
    shape = Shape(separator=b" ", columns=2, strings=True)
    said = ReadRecord(dict(NOTHING_READ))
    assert isinstance(WordRows("e", shape, False, said).cut(b"a b\nc  d\r\n"), CutRows)
