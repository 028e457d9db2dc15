"""Sources are read side by side, within the room that there is; their results and their errors come in the order of the
sources.
"""

import gzip
from threading import Event

import pytest

from csaw.partition import IngestOptions, ingest
from csaw.partition.arrays.spool import Budget
from csaw.partition.base.parallel import Crew, Lanes, Source
from csaw.partition.errors import FormatError
from csaw.partition.ingestion import job
from csaw.partition.ingestion.text import blocks
from csaw.partition.ingestion.text.readers import Several


def pairs(values, size=1):
    return lambda: ((size, (value,)) for value in values)


def negative(value):
    return -value


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("room", [0, 5, 10**6])
def test_results_come_in_the_order_of_sources_whatever_the_room(threads, room):
    sources = [Source(pairs(range(100 * k, 100 * k + 30), size=3), waits=k == 2) for k in range(7)]
    with Crew(threads, 0) as crew:
        found = list(Lanes(crew, lambda: room).in_order(negative, sources))
    assert found == [-value for k in range(7) for value in range(100 * k, 100 * k + 30)]


def test_a_later_source_is_read_while_the_first_is():
    second_has_begun = Event()

    def first():
        assert second_has_begun.wait(20)
        yield 1, (1,)

    def second():
        second_has_begun.set()
        yield 1, (2,)

    with Crew(2, 0) as crew:
        assert list(Lanes(crew, lambda: 10).in_order(negative, [Source(first), Source(second)])) == [-1, -2]


def test_what_can_be_read_once_is_left_alone_until_its_turn():
    begun = []

    def noted(name, values):
        begun.append(name)
        yield from ((1, (value,)) for value in values)

    sources = [Source(lambda: noted("file", [1, 2, 3])), Source(lambda: noted("pipe", [4]), waits=True)]
    with Crew(4, 0) as crew:
        results = Lanes(crew, lambda: 100).in_order(negative, sources)
        assert [next(results) for _ in range(3)] == [-1, -2, -3]
        assert begun == ["file"]
        assert list(results) == [-4]


def test_later_sources_hold_no_more_than_there_is_room_for():
    given = []

    def later():
        for value in range(50):
            given.append(value)
            yield 10, (value,)

    enough = Event()

    def first():
        enough.wait(0.3)  # as long as the later one could go on
        yield 10, (100,)

    with Crew(2, 0) as crew:
        results = Lanes(crew, lambda: 40).in_order(negative, [Source(first), Source(later)])
        assert next(results) == -100
        assert len(given) <= 6
        assert len(list(results)) == 50


def test_an_error_comes_behind_all_that_was_before_it():
    def broken():
        yield 1, (2,)
        raise FormatError("the second is broken")

    with Crew(3, 0) as crew:
        results = Lanes(crew, lambda: 100).in_order(negative, [Source(pairs([1])), Source(broken), Source(pairs([9]))])
        assert [next(results), next(results)] == [-1, -2]
        with pytest.raises(FormatError, match="second is broken"):
            next(results)


@pytest.mark.parametrize("threads", [1, 4])
def test_part_files_are_named_by_what_is_wrong_with_the_first_of_them(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(blocks, "BLOCK", 512)
    texts = [[f"{k} {k + 1}\n" for k in range(2000)] for _ in range(5)]
    texts[1][1233] = texts[3][100] = "7\n"
    names = [tmp_path / f"part-{k}.gz" for k in range(5)]
    for name, text in zip(names, texts, strict=True):
        name.write_bytes(gzip.compress("".join(text).encode()))
    with pytest.raises(FormatError, match="part-1.gz:1234: expected 2 columns, found 1"):
        ingest(names, tmp_path / "g.zarr", IngestOptions(threads=threads))
    names[4].write_bytes(names[4].read_bytes()[:-9])
    with pytest.raises(FormatError, match="part-4.gz: the compressed data is cut off or damaged after"):
        ingest([names[0], names[2], names[4]], tmp_path / "g.zarr", IngestOptions(threads=threads))


@pytest.mark.parametrize("kept", [0.0, 0.7])
def test_part_files_are_the_graph_of_their_joined_text_within_any_memory(tmp_path, monkeypatch, kept):
    monkeypatch.setattr(blocks, "BLOCK", 512)
    monkeypatch.setattr(job, "KEPT_SHARE", kept)
    parts = ["".join(f"{k * p % 701} {k % 97}\n" for k in range(1500)) for p in (3, 5, 7, 11)]
    names = [tmp_path / f"part-{p}.gz" for p in range(4)]
    for name, text in zip(names, parts, strict=True):
        name.write_bytes(gzip.compress(text.encode()))
    (tmp_path / "joined").write_text("".join(parts))
    joined = ingest(tmp_path / "joined", tmp_path / "a.zarr", IngestOptions())
    stores = [
        ingest(names, tmp_path / f"{threads}.zarr", IngestOptions(threads=threads, memory=16 << 20))
        for threads in (1, 2, 4)
    ]
    assert {store.fingerprint for store in stores} == {joined.fingerprint}
    assert len({str(store.report) for store in stores}) == 1
    assert (stores[0].report["spilled_bytes"] > 0) == (kept == 0)


def test_a_file_whose_rows_were_taken_is_let_go(tmp_path):
    names = [str(tmp_path / f"part-{k}") for k in range(6)]
    for name in names:
        (tmp_path / name).write_text("1 2\n2 3\n")
    with Crew(2, 1 << 20) as crew:
        several = Several(names, IngestOptions(), crew, Budget(1 << 20, tmp_path), None)
        for number, _ in enumerate(several):
            assert min(several.kept) >= number
        assert several.kept == {}
