"""gzip through ISA-L is gzip through zlib: the same bytes of whole files, the same errors of damaged ones."""

import gzip
import io
import zlib

import pytest
from helpers.machine import need_package

from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError
from csaw.partition.ingestion.text import blocks, members

TEXT = "".join(f"{k * 7919 % 10007} {k}\n" for k in range(300)).encode()


def member(text, level, name=""):
    file = io.BytesIO()
    with gzip.GzipFile(name, "wb", level, file, mtime=5) as out:
        out.write(text)
    return file.getvalue()


WHOLE = member(TEXT[:1500], 6, "a.txt") + member(TEXT[1500:], 1) + member(b"", 9)
ENDS = [b"", bytes(100), b"garbage", b"\0\0g", b"\x1f", b"\x1f\x8b", b"\0\0\x1f\x8b\x08", bytes(9) + WHOLE]


@pytest.fixture
def both(tmp_path, monkeypatch):
    """What a file of the given bytes holds and how it ends, by ISA-L and by zlib; by ISA-L, the same with threads."""
    need_package("isal")
    for name, small in (("APART", 1), ("LOOK", 64), ("WINDOW", 50), ("PIECE", 40), ("FIRST", 9), ("TEXT", 100)):
        monkeypatch.setattr(members, name, small)

    def read(data):
        path = tmp_path / "e.gz"
        path.write_bytes(data)
        found = []
        for disabled, threads in ((False, 3), (False, 1), (True, 1)):
            with monkeypatch.context() as patch, path.open("rb") as file:
                if disabled:
                    patch.setattr(blocks, "_isal", lambda: None)
                found.append(outcome(blocks.gzip_stream(file, str(path), members.Unpackers(threads, 300))))
        assert found[0] == found[1]
        return found[1:]

    return read


def outcome(stream):
    got, room = [], bytearray(777)
    try:
        with stream:
            while size := stream.readinto(room):
                got.append(bytes(room[:size]))
    except (EOFError, OSError, zlib.error) as error:
        return None, type(error), str(error)
    return b"".join(got), None, ""


@pytest.mark.parametrize("end", ENDS)
def test_members_and_what_follows_them(both, end):
    fast, plain = both(WHOLE + end)
    assert fast == plain
    if not end.strip(b"\0"):
        assert fast[0] == TEXT


def test_every_cut_and_every_changed_byte_is_refused_alike(both):
    damaged = [WHOLE[:size] for size in range(1, len(WHOLE), 3)]
    damaged += [WHOLE[:at] + bytes([WHOLE[at] ^ 0x55]) + WHOLE[at + 1 :] for at in range(3, len(WHOLE), 2)]
    outcomes = [both(data) for data in damaged]
    assert all(fast == plain for fast, plain in outcomes)
    refused = [fast for fast, _ in outcomes if fast[1]]
    assert len(refused) > len(damaged) * 9 // 10
    assert all(fast[0] == TEXT for fast, _ in outcomes if not fast[1] and len(fast[0]) >= len(TEXT))


def test_isal_reads_files_and_zlib_what_comes_once(tmp_path):
    isal = need_package("isal")
    (tmp_path / "e.gz").write_bytes(WHOLE)
    with (tmp_path / "e.gz").open("rb") as file, blocks.gzip_stream(file, str(tmp_path / "e.gz")) as stream:
        assert isinstance(stream.raw.stream, isal.igzip.IGzipFile)
        assert stream.read() == TEXT
    with blocks.gzip_stream(io.BufferedReader(io.BytesIO(WHOLE)), "-") as stream:
        assert type(stream) is gzip.GzipFile


def test_without_isal_a_graph_and_an_error_are_the_same(tmp_path, monkeypatch):
    need_package("isal")
    (tmp_path / "e.gz").write_bytes(WHOLE)
    (tmp_path / "cut.gz").write_bytes(WHOLE[:-40])
    stores, errors = [], []
    for number in range(2):
        stores.append(ingest(tmp_path / "e.gz", tmp_path / f"{number}.zarr", IngestOptions()))
        with pytest.raises(CsawError, match="after [1-9][0-9]+ lines") as refused:
            ingest(tmp_path / "cut.gz", tmp_path / "c.zarr", IngestOptions())
        errors.append(str(refused.value))
        monkeypatch.setattr(blocks, "_isal", lambda: None)
    assert (stores[0].fingerprint, stores[0].report) == (stores[1].fingerprint, stores[1].report)
    assert errors[0] == errors[1]
