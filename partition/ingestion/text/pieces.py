"""Rows of edges on their way into a store: in pieces, of files or of anything else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from csaw.partition.ingestion.text.shape import Shape
from csaw.partition.ingestion.text.word_cells import Cells

# Text that several processes read: the span of a file that each keeps to, and what it has to say of it.

COUNTED = ("comments", "blank", "edges", "skipped", "left_out")
NOTHING_READ = {"lines": 0} | dict.fromkeys(COUNTED, 0)


class Span(NamedTuple):
    """Bytes of a file to whose lines a reader keeps; ``end`` None is that of the file.

    ``lines``: those before it, where they are known.
    """

    begin: int = 0
    end: int | None = None
    lines: int = 0


WHOLE = Span()


class Found(NamedTuple):
    """How often something was found, and the line of the first; 0 where there is none."""

    times: int = 0
    line: int = 0

    def at(self, line: int, times: int = 1) -> Self:
        """It was found again, so often, first in this line."""
        return type(self)(self.times + times, self.line or line)

    def then(self, other: "Found", before: int) -> Self:
        """Add what was found in the span behind, whose lines count from behind ``before`` lines."""
        return self.at(before + other.line, other.times) if other.times else self


@dataclass
class ReadRecord:
    """The counts of a reader, and what it has found odd, for the report and warnings.

    ``first``: the first edge of numbers; ``largest``: the largest id behind it;
    ``bad_weights``: that no store takes; ``like_rows``: comments that look like rows; ``respelled``: ids that a number
    is not written with, of which ``spelling`` is the first. Of lists, ``vertices``: how many there are, and ``sums``
    over the edges of METIS in both directions.
    """

    counts: dict[str, int]
    first: tuple[int, int] | None = None
    largest: int = -1
    bad_weights: Found = field(default_factory=Found)
    like_rows: Found = field(default_factory=Found)
    respelled: Found = field(default_factory=Found)
    spelling: str = ""
    vertices: int = 0
    sums: tuple[int, int] = (0, 0)


class Recorded:
    """Rows of a file whose spans other processes have read: ``add`` their records in order, then it can be ended."""

    said: ReadRecord
    continued = False  # whether a record was added

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of lines by what they are."""
        return self.said.counts

    def record(self) -> ReadRecord:
        """Return the record of the rows that were read."""
        return self.said

    def add(self, record: ReadRecord) -> None:
        """Take over the record of the next span, whose lines count from its begin."""
        said = self.said
        before = said.counts["lines"] if self.continued else 0
        behind = record.first if said.first and record.first else ()
        said.first = said.first or record.first
        said.largest = max(said.largest, record.largest, *behind)
        said.bad_weights = said.bad_weights.then(record.bad_weights, before)
        said.like_rows = said.like_rows.then(record.like_rows, before)
        said.respelled, said.spelling = said.respelled.then(record.respelled, before), said.spelling or record.spelling
        said.vertices += record.vertices
        said.sums = ((said.sums[0] + record.sums[0]) % 2**64, (said.sums[1] + record.sums[1]) % 2**64)
        said.counts["lines"] = before + record.counts["lines"]
        said.counts["left_out"] *= self.continued  # before the first row, by whoever opened the file
        self.continued = True
        for name in COUNTED:
            said.counts[name] += record.counts[name]


# Rows of edges on their way into a store.

Ends = np.ndarray | Cells | list[bytes]
"""Ids of one end of some rows: integers, or words."""
Bounds = tuple[int, int]
"""The least and the largest id of some rows, where ids are integers."""


class Piece(NamedTuple):
    """Some rows: ids of both ends, and ``columns`` of what edges have beside, of which weights, float32, are the first.

    ``bounds`` None: nobody has looked.
    """

    src: Ends
    dst: Ends
    columns: tuple[np.ndarray, ...] = ()
    bounds: Bounds | None = None


Cut = TypeVar("Cut")


class Parser(Generic[Cut]):
    """Parses blocks of lines: any thread cuts one, and its rows are counted in turn."""

    def cut(self, block: bytes | memoryview, /) -> Cut:
        """The rows of a block, as the parser has them."""
        raise NotImplementedError

    def counted(self, cut: Cut, /) -> Piece:
        """The rows of the next block, after what is wrong with them is counted or raised as FormatError."""
        raise NotImplementedError

    def in_turn(self, block: bytes | memoryview) -> Callable[[], Piece]:
        """Cut a block, and return what counts it in its turn."""
        return partial(self.counted, self.cut(block))


class Described(Protocol):
    """The rows of an input, as its header and its first rows describe them."""

    strings: bool
    undirected: bool
    header_line: str | None
    declared: dict[str, int]
    offset: int


class InputRows(Protocol):
    """Rows that are read once, in pieces; ``counts`` and ``warnings`` are complete afterwards."""

    warnings: list[str]

    @property
    def counts(self) -> dict[str, int]: ...

    @property
    def shape(self) -> Described: ...

    @property
    def weighted(self) -> bool: ...

    def __iter__(self) -> Iterator[Piece]: ...


InTurn = Callable[[], Piece]
"""Counts the rows of a piece that is parsed, after those of all pieces before it, and gives them."""


class FilePiece(NamedTuple):
    """A piece of a file, which any thread may ``parse``; it holds so many bytes of memory until its rows are taken."""

    nbytes: int
    parse: Callable[[], InTurn]


def parsed(parse: Callable[[], InTurn]) -> InTurn:
    """What a thread does with a piece."""
    return parse()


class FileRows(Protocol):
    """The rows of a file, or of a span of it.

    Threads parse its ``pieces``; then somebody calls the results in order, and ``end``. Where other processes have read
    the file, ``add`` takes their records in order. ``kind`` is what files of one graph must have in common, and
    ``read_as`` says how the file is read.
    """

    path: str
    warnings: list[str]
    shape: Shape
    read_as: str

    @property
    def counts(self) -> dict[str, int]: ...

    @property
    def weighted(self) -> bool: ...

    @property
    def kind(self) -> dict[str, str | int]: ...

    def __iter__(self) -> Iterator[Piece]: ...

    def read_pieces(self) -> Iterator[Piece]: ...

    def pieces(self) -> Iterator[FilePiece]: ...

    def record(self) -> ReadRecord: ...

    def add(self, record: ReadRecord) -> None: ...

    def end(self) -> None: ...

    def close(self) -> None: ...
