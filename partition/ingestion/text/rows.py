"""The rows of a text file as arrays of ids and weights, with counts of all other lines."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial

from csaw.partition.base.parallel import Crew
from csaw.partition.errors import FormatError, StoreError
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text import blocks
from csaw.partition.ingestion.text.blocks import Blocks
from csaw.partition.ingestion.text.doubts import are_counts, is_size_line, size_line
from csaw.partition.ingestion.text.list_rows import ListRows
from csaw.partition.ingestion.text.members import Unpackers
from csaw.partition.ingestion.text.number_rows import NumberRows
from csaw.partition.ingestion.text.pieces import (
    NOTHING_READ,
    WHOLE,
    FilePiece,
    InTurn,
    Piece,
    ReadRecord,
    Recorded,
    Span,
    parsed,
)
from csaw.partition.ingestion.text.row_checks import sifted
from csaw.partition.ingestion.text.shape import ADJACENCY, METIS, text_read_as
from csaw.partition.ingestion.text.sniff import sniff
from csaw.partition.ingestion.text.word_rows import WordRows

ROOM_BYTES = 32 << 20  # of a thread at most
NUMBER_BYTES, WORD_BYTES = 2, 6  # that a byte of text takes until its rows are taken, with small numbers or short words
WORD_PIECE_BYTES = WORD_BYTES * blocks.BLOCK


class TextRows(Recorded):
    """The rows of a text file, as FileRows has them. Ids are uint32, int64, uint64 or words.

    ``files``: how many are read side by side, which share the threads of the ``crew``.
    """

    def __init__(
        self,
        path: str,
        options: IngestOptions,
        crew: Crew,
        progress: Callable[[int, int], None] | None = None,
        span: Span = WHOLE,
        files: int = 1,
    ) -> None:
        self.path, self.skip_errors, self.crew, self.progress = path, options.on_error == "skip", crew, progress
        self.options = options
        self.span = span
        self.blocks = Blocks(path, progress, Unpackers(max(1, crew.threads // files), crew.work_bytes // (2 * files)))
        self.rest = self.blocks.read()
        try:
            self.shape, self.head = sniff(path, self.rest, options, lambda: self.blocks.done)
        except BaseException:
            self.close()
            raise
        self.said = ReadRecord(NOTHING_READ | {"lines": span.lines if span.begin else self.shape.skip_lines})
        self.warnings: list[str] = list(self.shape.warnings)
        given = path, self.shape, self.skip_errors, self.said
        room = min(ROOM_BYTES, crew.work_bytes // (2 * crew.threads))
        self.parser: ListRows | WordRows | NumberRows
        if self.shape.format in (METIS, ADJACENCY):
            self.parser = ListRows(*given, both_ways=options.directed is True)
        else:
            self.parser = WordRows(*given, span.begin > 0) if self.shape.strings else NumberRows(*given, room)
        self.read_as = text_read_as(self.shape, options)
        if not self.shape.strings and not self.shape.read.further:
            self.blocks.size = max(blocks.BLOCK, min(blocks.LARGEST * blocks.BLOCK, room // 4))
        self.ranges: Ranges | None = None

    @staticmethod
    def can_be_cut(path: str, options: IngestOptions) -> bool:
        """Whether processes may read spans of the file: where its bytes are the text, and each line an edge."""
        with closing(Blocks(path)) as opened:
            return opened.is_plain and sniff(path, opened.read(), options)[0].format not in (METIS, ADJACENCY)

    @staticmethod
    def again(span: Span, lines: int) -> Span:
        """The same span, behind ``lines`` lines."""
        return span._replace(lines=lines)

    @property
    def weighted(self) -> bool:
        return self.shape.read.weight >= 0

    @property
    def kind(self) -> dict[str, str | int]:
        """Properties that all files of one graph must have in common, as errors name them."""
        read, said = self.shape.read, self.shape.says_direction
        return {
            "format": self.shape.format if isinstance(self.parser, ListRows) else "text",
            "ids": "words" if self.shape.strings else "numbers",
            "source column": read.source + 1,
            "target column": read.target + 1,
            "weight column": read.weight + 1 or "none",
            "edge columns": ", ".join(str(place + 1) for place in read.further),
            "columns": self.shape.columns or "any",
            **({"direction": "undirected" if self.shape.undirected else "directed"} if said else {}),
            **({"target offset": self.shape.offset} if self.shape.offset else {}),
        }

    def __iter__(self) -> Iterator[Piece]:
        yield from self.read_pieces()
        self.end()

    def read_pieces(self) -> Iterator[Piece]:
        """The rows, without what can only be said of the whole file."""
        parses = ((piece.parse,) for piece in self.pieces())
        for counted in self.crew.in_order(parsed, parses, WORD_PIECE_BYTES if self.shape.strings else 1):
            yield counted()

    def pieces(self) -> Iterator[FilePiece]:
        """Blocks, or ranges of a file, that threads read themselves."""
        share = WORD_BYTES if self.shape.strings else NUMBER_BYTES
        if self.span.begin == 0:
            head = self.head[self.shape.skip :]
            yield FilePiece(share * len(head), partial(self._parse, head))
        self.head = b""
        if self.blocks.done or not self.blocks.is_plain:
            for block in self.rest:
                yield FilePiece(share * len(block), partial(self._parse, block))
            return
        newline = self.blocks.newline or bytes([self.shape.newline])
        self.ranges = Ranges(
            self.path,
            self.blocks.raw.fileno(),
            self.blocks.given,
            newline,
            threads=self.crew.threads,
            most=self.blocks.size,
        )
        for begin, end in self.ranges.between(self.span.begin, self.span.end):
            yield FilePiece(share * (end - begin), partial(self._parse_range, self.ranges, begin, end))
            if self.progress:
                self.progress(end, self.ranges.size)

    def _parse_range(self, ranges: "Ranges", begin: int, end: int) -> InTurn:
        return self._parse(ranges.read(begin, end))

    def _parse(self, block: bytes | memoryview) -> InTurn:
        """Have the parser cut a block, without lines that are wrong for another reason than their cells."""
        if not self.shape.checks:
            return self.parser.in_turn(block)
        faults, block = sifted(self.shape.checks, bytes(block), self.shape.newline)
        return partial(self._checked, faults, self.parser.in_turn(block))

    def _checked(self, faults: Sequence[tuple[int, str]], counted: InTurn) -> Piece:
        """The next block's rows, after what is wrong with them is counted or raised as FormatError."""
        if faults and not self.skip_errors:
            number, said = faults[0]
            raise FormatError(f"{self.path}:{self.counts['lines'] + number + 1}: {said}")
        self.counts["skipped"] += len(faults)
        self.counts["blank"] -= len(faults)  # which they are for the parser
        return counted()

    def end(self) -> None:
        """Say what can only be said of the whole file."""
        self.close()
        if isinstance(self.parser, ListRows):
            self.parser.end()
        bad, like_rows, respelled = self.said.bad_weights, self.said.like_rows, self.said.respelled
        if respelled.times:
            self.warnings.append(
                f"ids are written with a plus, leading zeros or three decimal zeros, such as {self.said.spelling} "
                f"in line {respelled.line}; they are read as numbers, which lose these: to keep ids as they are "
                "written, pass --id-type string"
            )
        if like_rows.times:
            self.warnings.append(
                f"{like_rows.times} lines that begin with # or % look like rows, the first is line {like_rows.line}; "
                "they were read as comments, put quotes around such an id"
            )
        if bad.times and not self.skip_errors:
            raise FormatError(
                f"{self.path}:{bad.line}: {bad.times} weights are negative, NaN, infinite or outside float32 "
                "(positive numbers: 1e-45 to 3.4e38); this line has the first one; correct them, or pass "
                "--weight-column none or --on-error skip"
            )
        self._check_counts()

    def close(self) -> None:
        """Let go of the file."""
        self.rest.close()
        self.blocks.close()

    def _check_counts(self) -> None:
        """Raise FormatError where a Matrix Market file has other counts than it declares.

        Warn about a first row 'vertices edges' that fits the rows behind it.
        """
        rows, declared = self.counts["edges"] + self.counts["skipped"], self.shape.declared
        if self.shape.exact and rows != declared["edges"]:
            raise FormatError(
                f"{self.path}: expected {declared['edges']} entries by its size line, found {rows}; fetch "
                "the file again"
            )
        size = self.shape.first if self.options.format == "auto" else None
        largest = (
            max(size[:2]) if size and self.options.id_type == "string" else self.said.largest
        )  # words have no largest
        if size and is_size_line(size, rows - 1, largest):
            raise size_line(f"{self.path}:{self.shape.skip_lines + 1}", size)
        flagged = self.shape.first is not None and self.shape.first[2] < 2  # behind counts
        first = self.said.first if flagged or self.shape.columns in (0, 2) else None  # a row of counts has two columns
        if first and rows > 1 and are_counts(first, rows - 1, self.said.largest):
            self.warnings.append(
                f"the first row, {first[0]} {first[1]}, looks like counts of vertices and edges; "
                "if so, pass --skip-lines 1"
            )


# Text of a plain file in ranges, so that several threads read it: to a range belong the lines that begin in it.

PIECE = 1 << 12  # read beyond a range, until its last line ends
SHARES = 8  # ranges for a thread, at least


class Room(threading.local):
    """Where a thread reads to, again and again: it stays in the processor's cache."""

    buffer = bytearray(0)


class Ranges:
    """Ranges of the file open as ``handle``, from byte ``start``, where a line begins, to its present end.

    ``newline`` ends a line. A range has ``most`` bytes; fewer, but ``blocks.BLOCK``, where ``threads`` had too few.
    """

    def __init__(self, path: str, handle: int, start: int, newline: bytes, *, threads: int = 1, most: int = 0) -> None:
        self.path, self.handle, self.start, self.newline = path, handle, start, newline
        self.size, self.room = os.fstat(handle).st_size, Room()
        self.step = max(blocks.BLOCK, min(most, self.size // (SHARES * threads)))

    def between(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
        """Return where each begins and ends, of those of the bytes ``first`` to before ``last``.

        None is the end of the file.
        """
        end = self.size if last is None else min(last, self.size)
        for begin in range(max(first, self.start), end, self.step):
            yield begin, min(begin + self.step, end)

    def read(self, begin: int, end: int) -> memoryview:
        """The lines of a range, good until this thread reads the next.

        FormatError for a line that is too long, or where the file has changed.
        """
        low = max(begin - 1, self.start)  # the byte before tells whether a line begins at the first
        size = self._read(low, end, 0)
        first = self.room.buffer.find(self.newline, 0, size) + 1 if low < begin else 0
        if low < begin and (first == 0 or first == size):
            return memoryview(b"")
        line = self.room.buffer.rfind(self.newline, 0, size - 1) + 1  # where the last one begins
        while self.room.buffer[size - 1] != self.newline[0] and low + size < self.size:
            more = self._read(low + size, min(low + size + PIECE, self.size), size)
            found = self.room.buffer.find(self.newline, size, size + more)
            size = found + 1 if found >= 0 else size + more
            if size - line > blocks.LONGEST_LINE + (found >= 0):
                raise blocks.too_long(self.path, blocks.lines_before(self.path, low + line, self.newline) + 1)
        return memoryview(self.room.buffer)[first:size].toreadonly()

    def _read(self, begin: int, end: int, place: int) -> int:
        """The bytes begin .. end - 1 to ``place`` of the room; how many they are."""
        if len(self.room.buffer) < place + end - begin:
            grown = bytearray(place + max(place, end - begin) + 2 * PIECE)  # bytearray touches all of it
            grown[:place] = memoryview(self.room.buffer)[:place]
            self.room.buffer = grown
        rest = memoryview(self.room.buffer)[place : place + end - begin]
        while rest:
            try:
                got = os.preadv(self.handle, [rest], end - len(rest))
            except OSError as error:
                raise StoreError(f"{self.path} cannot be read: {error.strerror}") from error
            if got <= 0:
                raise FormatError(f"{self.path}: the file became shorter while it was read; run the command again")
            rest = rest[got:]
        return end - begin
