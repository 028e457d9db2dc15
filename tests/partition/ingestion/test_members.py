"""Members of a gzip file that threads unpack side by side are the file's text, whatever looks like a member in them."""

import gzip
import io
import struct
import threading
import zlib

import numpy as np
import pytest
from helpers.machine import need_package

from csaw.partition import IngestOptions, ingest
from csaw.partition.ingestion.text import blocks, members

need_package("isal")

LINES = b"".join(b"%d %d\n" % (k * 7919 % 10007, k) for k in range(3000))


def cut(text, sizes):
    ends = np.minimum(np.cumsum(sizes), len(text)).tolist()
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def in_members(parts, level=1):
    return b"".join(gzip.compress(part, level, mtime=0) for part in parts)


def with_head(part, flags):
    """A member whose head has what ``flags`` say."""
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    head += struct.pack("<H2s", 2, b"ab") * bool(flags & 4) + b"n\0" * bool(flags & 8) + b"co\0" * bool(flags & 16)
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF) * bool(flags & 2)
    return head + gzip.compress(part, 1)[10:]


FILES = {
    "one member": (in_members([LINES]), LINES),
    "many of unequal sizes, some of them empty": (
        in_members(cut(LINES, np.random.default_rng(1).integers(0, 900, 90))),
        LINES,
    ),
    "heads of members in stored blocks": (
        in_members([in_members(cut(LINES[:5000], [100] * 49)), LINES, in_members([LINES, LINES])], level=0),
        in_members(cut(LINES[:5000], [100] * 49)) + LINES + in_members([LINES, LINES]),
    ),
    "nothing but heads": (in_members([b"\x1f\x8b\x08\x00" * 5000] * 3, level=0), b"\x1f\x8b\x08\x00" * 15000),
    "a member that unpacks to a thousand times its size": (
        in_members([bytes(3_000_000), LINES]),
        bytes(3_000_000) + LINES,
    ),
    "heads with all that heads may have": (
        b"".join(with_head(part, flags % 32) for flags, part in enumerate(cut(LINES, [400] * 99))),
        LINES,
    ),
    "zeros between members and behind the last": (
        in_members([LINES]) + bytes(99) + in_members([LINES]) + bytes(2000),
        LINES + LINES,
    ),
}


SIZES = {
    "tiny": {"APART": 1, "LOOK": 64, "WINDOW": 50, "PIECE": 30, "FIRST": 7, "TEXT": 100},
    "small": {"APART": 200, "WINDOW": 4096, "PIECE": 1000, "FIRST": 300, "TEXT": 700},
    "as they are": {},
}


@pytest.fixture(params=SIZES)
def sizes(request, monkeypatch):
    for name, size in SIZES[request.param].items():
        monkeypatch.setattr(members, name, size)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("threads", "room"), [(2, 0), (3, 2000), (8, 1 << 20)])
def test_members_are_the_text_of_the_file(tmp_path, sizes, name, threads, room):
    data, text = FILES[name]
    (tmp_path / "e.gz").write_bytes(data)
    with (tmp_path / "e.gz").open("rb") as file:
        with blocks.gzip_stream(file, str(tmp_path / "e.gz"), members.Unpackers(threads, room)) as stream:
            assert isinstance(stream.raw.stream, members.Members)
            assert stream.read() == text
            assert isinstance(stream.raw.stream, members.Members)  # zlib had nothing to say
        assert file.tell() == len(data)


@pytest.mark.parametrize("taken", [0, 1, 5000])
def test_who_stops_early_leaves_no_thread(tmp_path, sizes, taken):
    before = set(threading.enumerate())  # of which those of other tests may end meanwhile
    (tmp_path / "e.gz").write_bytes(FILES["many of unequal sizes, some of them empty"][0])
    with (
        (tmp_path / "e.gz").open("rb") as file,
        blocks.gzip_stream(file, str(tmp_path / "e.gz"), members.Unpackers(4, 1000)) as stream,
    ):
        assert stream.read(taken) == LINES[:taken]
    assert set(threading.enumerate()) <= before


def test_half_of_the_threads_unpack_beside_those_that_parse(tmp_path, monkeypatch):
    monkeypatch.setattr(members, "APART", 1)
    (tmp_path / "e.gz").write_bytes(in_members(cut(LINES, [300] * 99)))
    before, most = set(threading.enumerate()), 0
    with (tmp_path / "e.gz").open("rb") as file:
        stream = members.Members(blocks._isal(), file, members.Unpackers(8, 0))
        with stream:
            while stream.read(64):
                most = max(most, len(set(threading.enumerate()) - before))
    assert 2 <= most <= 5  # one looks for begins


def test_members_wait_for_their_turn_in_the_room_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(members, "APART", 1)
    monkeypatch.setattr(members, "TEXT", 100)
    (tmp_path / "e.gz").write_bytes(in_members(cut(LINES, [1000] * 30)))
    most = 0
    with (tmp_path / "e.gz").open("rb") as file:
        stream = members.Members(blocks._isal(), file, members.Unpackers(4, 5000))
        with stream:
            while got := stream.read(64):
                most = max(most, stream.held)
                del got
    assert 0 < most <= 5000 + members.IN_TURN * 100


def test_texts_of_small_members_wait_together(tmp_path):
    (tmp_path / "e.gz").write_bytes(in_members(cut(LINES * 20, [100] * 10**4)))
    with (tmp_path / "e.gz").open("rb") as file:
        stream = members.Members(blocks._isal(), file, members.Unpackers(2, 0))
        with stream:
            sizes = [stream.readinto(bytearray(1 << 22)) for _ in range(5)]
    assert sum(sizes) == len(LINES * 20)
    assert sizes[0] >= members.TEXT // 4


class Wrong(io.RawIOBase):
    """Gives other bytes than the file has, and fails then."""

    def __init__(self, texts):
        self.texts = texts

    def readinto(self, room):
        if not self.texts:
            raise EOFError
        text = self.texts.pop()
        room[: len(text)] = text
        return len(text)


@pytest.mark.parametrize("text", [b"9 9\n", b"1 2\n3 4\n5 6\n7 8\n"])
def test_what_zlib_does_not_find_is_an_error(tmp_path, text):
    (tmp_path / "e.gz").write_bytes(gzip.compress(b"1 2\n3 4\n5 6\n"))
    stream = blocks.FastGzip(blocks._isal(), Wrong([text]), str(tmp_path / "e.gz"))
    room = bytearray(100)
    assert stream.readinto(room) == len(text)
    with pytest.raises(OSError, match="zlib and ISA-L do not agree"):
        stream.readinto(room)
    good = blocks.FastGzip(blocks._isal(), Wrong([b"1 2\n3"]), str(tmp_path / "e.gz"))
    assert (good.readinto(room), good.read()) == (5, b" 4\n5 6\n")


def test_the_size_of_a_head_is_more_than_there_is_where_it_is_cut():
    for flags in range(32):
        head = with_head(b"", flags)
        size = len(head) - len(gzip.compress(b"", 1)) + 10
        assert members.head_size(b"xyz" + head, 3) == members.head_size(head, 0) == size
        assert all(members.head_size(head[:cut], 0) > cut for cut in range(size))


def test_a_graph_of_members_is_that_of_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(members, "APART", 500)
    (tmp_path / "e").write_bytes(LINES)
    (tmp_path / "e.gz").write_bytes(in_members(cut(LINES, [777] * 40)))
    plain = ingest(tmp_path / "e", tmp_path / "plain.zarr", IngestOptions(threads=1))
    for threads in (1, 2, 5):
        told = [(0, 0)]
        options = IngestOptions(threads=threads, overwrite=True)
        store = ingest(tmp_path / "e.gz", tmp_path / "g.zarr", options, lambda *done, told=told: told.append(done))
        assert (store.fingerprint, store.report["lines"]) == (plain.fingerprint, 3000)
        assert told == sorted(told)
        assert told[-1] == ((tmp_path / "e.gz").stat().st_size,) * 2


def test_heads_are_found_wherever_they_lie():
    rng = np.random.default_rng(2)
    data = bytearray(rng.integers(0, 256, 4001, dtype=np.uint8).tobytes())
    for place in (0, 7, 8, 100, 3997):
        data[place : place + 4] = b"\x1f\x8b\x08\x04"
    data[50:54] = b"\x1f\x8b\x08\x20"  # a bit that is reserved
    wanted = [k for k in range(len(data) - 3) if data[k : k + 3] == b"\x1f\x8b\x08" and data[k + 3] < 32]
    assert members.heads(bytes(data)).tolist() == wanted
    assert members.heads(b"\x1f\x8b\x08").size == 0
