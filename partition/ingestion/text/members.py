"""The members of a gzip file, unpacked side by side: a file may have several, one after the other.

Only who has unpacked a member knows where the next one begins. So threads begin some way ahead, at each place that
looks like the begin of a member, and what they make of it counts if the members before end just there; otherwise it is
dropped. A file of one member is unpacked by one thread beside its reader.
"""

import io
import os
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Condition
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC, DEFLATE, RESERVED = 0x8B1F, 8, 0xE0  # two bytes, little-endian; the third; bits of the fourth that are 0
APART = 1 << 20  # packed bytes between two begins, at least: a thread takes small members together
LOOK, WINDOW = 1 << 30, 1 << 20  # packed bytes that begins are looked for in, beyond those that are read; at a time
PIECE, TEXT = 1 << 18, 1 << 20  # packed bytes read at a time, and bytes of text unpacked
FIRST = 1 << 14  # of the packed bytes of a member are unpacked first, at most: what lies behind its end is copied
EXTRA, NAME, COMMENT, CHECK = 4, 8, 16, 2  # bits of the fourth byte of a head: what else it has
IN_TURN = 8  # texts that wait for the reader, however little room there is
AHEAD = 2  # runs of members for each thread that are begun or wait


class Unpackers(NamedTuple):
    """How many ``threads`` may unpack a file, and how many bytes of text may wait for their turn."""

    threads: int
    room: int


ALONE = Unpackers(1, 0)


class Run:
    """Members from packed byte ``begin`` on, read up to ``at``: their ``texts`` that wait, and where they end, once
    that is known. Of the ``piece`` that was read last, ``used`` bytes are unpacked.
    """

    def __init__(self, begin: int) -> None:
        self.begin, self.at, self.texts, self.held = begin, begin, deque[bytes](), 0
        self.piece, self.used = b"", 0
        self.end: int | None = None
        self.wrong = self.dropped = False

    @property
    def place(self) -> int:
        """The packed byte that is next."""
        return self.at - len(self.piece) + self.used


class Members(io.RawIOBase):
    """The text of the file ``packed``, unpacked by ISA-L; EOFError where anything is wrong.

    The file, which must stay open, stands where reading has come to.
    """

    def __init__(self, isal: ModuleType, packed: io.BufferedReader, unpackers: Unpackers) -> None:
        self.isal, self.packed, self.unpackers = isal, packed, unpackers
        self.handle = packed.fileno()
        self.size = os.fstat(self.handle).st_size
        self.change = Condition()
        self.begins, self.scanned = [0], 1  # places where members may begin, all of those before ``scanned``
        self.begun = self.held = 0  # of the begins; bytes of text that wait
        self.runs: deque[Run] = deque()  # in turn, and behind it
        self.pool: ThreadPoolExecutor | None = None
        self.stopped, self.text, self.told = False, memoryview(b""), 0  # where ``packed`` stands

    def readable(self) -> bool:
        return True

    def readinto(self, room: "WriteableBuffer") -> int:
        """Fill the beginning of ``room``."""
        if not self.text:
            self.text = memoryview(self._next())
            if (at := self.runs[0].at) > self.told:
                self.told = self.packed.seek(at)
        free = memoryview(room)
        count = min(len(free), len(self.text))
        free[:count], self.text = self.text[:count], self.text[count:]
        return count

    def _next(self) -> bytes:
        """The next text; empty at the end of the file."""
        if self.pool is None:
            unpack = max(2, self.unpackers.threads // 2)  # the others parse
            self.pool = ThreadPoolExecutor(unpack + 1)
            self.pool.submit(self._scan)
        with self.change:
            while True:
                self._begin_runs()
                run = self.runs[0]
                self.change.wait_for(lambda: run.texts or run.end is not None or run.wrong)  # noqa: B023 - waits here
                if run.texts:
                    text = run.texts.popleft()
                    self._hold(run, -len(text))
                    return text
                if run.wrong:
                    raise EOFError("a member is damaged or cut off")
                assert run.end is not None
                if run.end >= self.size:
                    return b""
                self._go_on(run.end)

    def _go_on(self, begin: int) -> None:
        """It is the turn of the run from ``begin`` on; what was made of places before it counts for nothing."""
        while self.runs and self.runs[0].begin < begin:
            run = self.runs.popleft()
            run.dropped = True
            self._hold(run, -run.held)
            run.texts.clear()
        self.begun = max(self.begun, bisect_left(self.begins, begin))
        self.change.notify_all()

    def _begin_runs(self) -> None:
        while self._may_begin():
            self.runs.append(Run(self.begins[self.begun]))
            self.begun += 1
            assert self.pool is not None
            self.pool.submit(self._unpack, self.runs[-1])

    def _may_begin(self) -> bool:
        few = len(self.runs) < AHEAD * self.unpackers.threads
        return few and self.begun < len(self.begins) and not self.stopped

    def _scan(self) -> None:
        """Look for begins of members."""
        try:
            for at in range(1, self.size, WINDOW):
                with self.change:
                    self.change.wait_for(lambda: self._is_near(at))  # noqa: B023 - waits here
                    if self.stopped:
                        return
                found = heads(os.pread(self.handle, WINDOW + 3, at)) + at
                with self.change:
                    for begin in found.tolist():
                        if begin >= self.begins[-1] + APART:
                            self.begins.append(begin)
                    self.scanned = at + WINDOW
                    self._begin_runs()
                    self.change.notify_all()
        finally:
            with self.change:
                self.scanned = self.size + 1
                self.change.notify_all()

    def _is_near(self, at: int) -> bool:
        return self.stopped or at <= LOOK or bool(self.runs) and at <= self.runs[0].at + LOOK

    def _unpack(self, run: Run) -> None:
        """Unpack members of a run into its texts."""
        try:
            for text in self._texts(run):
                if not self._has_room(run, len(text)):
                    return
                with self.change:
                    run.texts.append(text)
                    self._hold(run, len(text))
            with self.change:
                run.end = run.place
                self.change.notify_all()
        except Exception:  # noqa: BLE001 - whoever reads on says what it is
            with self.change:
                run.wrong = True
                self.change.notify_all()

    def _texts(self, run: Run) -> Iterator[bytes]:
        """The texts of a run, up to its end: those of small members together."""
        texts, size, share, ends = list[bytes](), 0, FIRST, False
        while not ends:
            begin = run.place
            member = self.isal.igzip_lib.IgzipDecompressor(flag=self.isal.igzip_lib.DECOMP_GZIP)
            share = max(share, self._read_head(run))
            while not member.eof:
                data = b""
                if member.needs_input:
                    data, share = self._take(run, share), 2 * share
                text = member.decompress(data, TEXT)
                texts.append(text)
                size += len(text)
                if size >= TEXT // 4:
                    yield b"".join(texts)
                    texts, size = [], 0
            run.used -= len(member.unused_data)
            share = min(FIRST, 2 * (run.place - begin))
            self._pass_zeros(run)
            ends = self._ends(run, run.place)
        if size:
            yield b"".join(texts)

    def _read_head(self, run: Run) -> int:
        """Have the head of the next member in one piece: ISA-L misreads some that it gets in two. Returns its size."""
        size = head_size(run.piece, run.used)
        if run.used + size > len(run.piece):
            self._read(run)
            size = head_size(run.piece, 0)
            if size > len(run.piece):
                raise EOFError
        return size

    def _take(self, run: Run, size: int) -> bytes:
        """Up to ``size`` packed bytes of a run."""
        if run.used == len(run.piece):
            self._read(run)
        data = run.piece[run.used : run.used + size]
        run.used += len(data)
        return data

    def _pass_zeros(self, run: Run) -> None:
        """Pass the zeros that may follow a member."""
        while run.place < self.size:
            if run.used == len(run.piece):
                self._read(run)
            if run.piece[run.used]:
                return
            run.used = len(run.piece) - len(run.piece[run.used :].lstrip(b"\0"))

    def _read(self, run: Run) -> None:
        """Read the piece of a run that begins at its ``place``."""
        place = run.place
        piece = os.pread(self.handle, PIECE, place)
        if not piece or self.stopped or run.dropped:
            raise EOFError
        with self.change:
            run.piece, run.used, run.at = piece, 0, place + len(piece)
            self.change.notify_all()

    def _ends(self, run: Run, at: int) -> bool:
        """Whether the run ends with the member that ends here: another one begins here, or nothing does."""
        if self.scanned <= at:
            with self.change:
                self.change.wait_for(lambda: self.stopped or run.dropped or self.scanned > at)
        place = bisect_left(self.begins, at)
        begins = place < len(self.begins) and self.begins[place] == at
        return at >= self.size or begins or self.stopped or run.dropped

    def _has_room(self, run: Run, size: int) -> bool:
        """Wait until ``size`` more bytes may wait; False where nobody waits for them."""

        def free() -> bool:
            if self.stopped or run.dropped or self.held + size <= self.unpackers.room:
                return True
            return self.runs[0] is run and len(run.texts) < IN_TURN

        with self.change:
            self.change.wait_for(free)
            return not (self.stopped or run.dropped)

    def _hold(self, run: Run, size: int) -> None:
        run.held += size
        self.held += size
        self.change.notify_all()

    def close(self) -> None:
        """Let go of the threads."""
        if not self.closed:
            with self.change:
                self.stopped = True
                self.change.notify_all()
            if self.pool:
                self.pool.shutdown(cancel_futures=True)
        super().close()


def heads(data: bytes) -> np.ndarray:
    """Where the first four bytes of a member's head may be: places in ``data``, ascending."""
    pairs = [np.frombuffer(data, "<u2", offset=odd, count=(len(data) - odd) // 2) for odd in (0, 1)]
    places = np.sort(np.concatenate([2 * np.flatnonzero(each == MAGIC) + odd for odd, each in enumerate(pairs)]))
    places = places[places + 3 < len(data)]
    bytes_of = np.frombuffer(data, np.uint8)
    return places[(bytes_of[places + 2] == DEFLATE) & (bytes_of[places + 3] & RESERVED == 0)]


def head_size(data: bytes, begin: int) -> int:
    """The bytes of the head of the member that begins in ``data`` (RFC 1952); more than there are if its end is not
    among them.
    """
    at = begin + 10
    flags = data[begin + 3] if at <= len(data) else 0
    if flags & EXTRA:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (NAME, COMMENT):
        if flags & flag:
            at = data.find(0, at) + 1 or len(data) + 1
    return at + (2 if flags & CHECK else 0) - begin
