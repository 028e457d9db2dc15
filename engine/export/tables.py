"""Edges of a graph as rows of a table of text: what text, CSV, Matrix Market and GraphML have in common."""

import gzip
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import IO, cast

import numpy as np

from csaw.engine.export.common import DATES, DECIMALS, FLOAT, NUMBER, SIGNED, WEIGHT, WORD
from csaw.engine.export.graph_rows import Edges, Listed, Piece
from csaw.partition.arrays.words import Words
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.columns import ENDS
from csaw.partition.ingestion.text.blocks import LONGEST_LINE
from csaw.partition.ingestion.time_column import decimals_of, decimals_of_numbers

# Rows of cells as text: ids, numbers and weights with something around them, which is what CSV, Matrix Market and
# GraphML are made of.

TIME_ROOM = 34
LONGEST_FLOAT = 24  # bytes of a float64 with the fewest digits that give it again, as NumPy and Python write it
ROOMS = {NUMBER: 24, SIGNED: 25, WEIGHT: 32, FLOAT: LONGEST_FLOAT} | dict.fromkeys(
    range(DECIMALS, DATES + DECIMALS), TIME_ROOM
)
"""The most bytes that one takes, and that are written beyond its end."""
LONGEST_WORD = LONGEST_LINE // 2 - 256  # two of them leave room for a weight, a number and separators
XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
SPECIAL = np.zeros(256, bool)  # bytes that some kind of text cannot have in an id as they are
SPECIAL[[*range(33), *b'",;#%&<>', *range(127, 256)]] = True


@dataclass(frozen=True)
class Rows:
    """How rows are written.

    ``around``: what stands before the first cell, between cells, and after the last one. ``kinds``: of each cell.
    ``words``: the string ids, as they are written.
    """

    around: Sequence[bytes]
    kinds: Sequence[int]
    words: Words | None = None

    def text(self, columns: Sequence[np.ndarray], filled: np.ndarray | None = None) -> memoryview:
        """Rows of these cells, a column for each kind.

        ``filled``: of each row the number of cells that are not empty (default: None, all).
        """
        from csaw.engine.export import kernels  # brings Numba

        cells, floats = np.empty((columns[0].size, len(columns)), np.uint64), list[np.ndarray]()
        for k, (column, kind) in enumerate(zip(columns, self.kinds, strict=True)):
            if kind == FLOAT:
                cells[:, k] = np.arange(column.size) + len(floats) * column.size
                floats.append(column.astype(f"S{LONGEST_FLOAT}"))
            else:
                cells[:, k] = _bits(column)
        return self._written(kernels, cells, filled, floats)

    def table(self, first: np.ndarray, ids: np.ndarray, filled: np.ndarray) -> memoryview:
        """Rows of a cell each and a row of ``ids`` [rows, columns] after it."""
        from csaw.engine.export import kernels

        cells = np.concatenate([_bits(first)[:, None], _bits(ids)], axis=1)
        return self._written(kernels, cells, filled)

    def _written(
        self, kernels: ModuleType, cells: np.ndarray, filled: np.ndarray | None, floats: Sequence[np.ndarray] = ()
    ) -> memoryview:
        """Rows of cells; ``floats`` are the texts of the columns of floats, one column after the other."""
        texts = np.concatenate([np.empty(0, f"S{LONGEST_FLOAT}"), *floats]).view(np.uint8).reshape(-1, LONGEST_FLOAT)
        words = self.words or Words(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        out = np.empty(self._room(cells, filled), np.uint8)
        around, ends = np.frombuffer(b"".join(self.around), np.uint8), np.cumsum([len(some) for some in self.around])
        counts = np.zeros(0, np.int64) if filled is None else filled
        held = (words.offsets, words.text, texts, kernels.DIGITS)
        size = kernels.rows(cells, counts, np.array(self.kinds), around, ends, *held, out)
        return out[:size].data

    def _room(self, cells: np.ndarray, filled: np.ndarray | None) -> int:
        each = sum(len(some) for some in self.around) + sum(ROOMS.get(kind, 0) for kind in self.kinds)
        room = each * len(cells) + ROOMS[WEIGHT]
        if self.words is not None:
            ends = self.words.offsets
            for k in (k for k, kind in enumerate(self.kinds) if kind == WORD):
                held = (cells[:, k] if filled is None else cells[filled > k, k]).astype(np.int64)
                room += int((ends[held + 1] - ends[held]).sum())
        return room


def kind_of_ids(ids: np.dtype, words: Words | None) -> int:
    """The kind of cells that hold vertices."""
    return WORD if words is not None else SIGNED if ids.kind == "i" else NUMBER


def kind_of_times(units: str) -> int:
    """The kind of cells that hold times of these units, so that they are written as the input of the graph has them."""
    if (since_1970 := decimals_of(units)) is not None:
        return DATES + since_1970
    return DECIMALS + decimals_of_numbers(units)


def _bits(column: np.ndarray) -> np.ndarray:
    """A column as cells hold it."""
    if column.dtype.kind == "f":
        return np.ascontiguousarray(column, np.float32).view(np.uint32)
    return np.ascontiguousarray(column, np.int64).view(np.uint64) if column.dtype.kind == "i" else column


def csv_words(words: Words | None) -> Words | None:
    """String ids as cells of CSV (RFC 4180): in quotes where they need them, or would begin a comment.

    OptionError for one that csaw would not read again.
    """

    def quoted(word: bytes) -> bytes:
        if not _csv_holds(word):
            raise refused(word, "CSV", "a cell cannot contain a line break or a zero byte, or be empty")
        risky = word != word.strip() or any(byte in b'",;\t' for byte in word) or word[:1] in (b"#", b"%")
        return b'"' + word.replace(b'"', b'""') + b'"' if risky else word

    return _short(_changed(words, quoted), "CSV")


def xml_words(words: Words | None) -> Words | None:
    """String ids as XML 1.0 has them in attributes and texts; OptionError for one that it cannot hold."""

    def escaped(word: bytes) -> bytes:
        try:
            text = word.decode()
        except UnicodeDecodeError:
            text = "\0"
        if any(one in "\ufffe\uffff" or (one < " " and one not in "\t\r\n") for one in text):
            raise refused(word, "GraphML", "it has characters that XML cannot hold")
        for plain, said in XML.items():
            text = text.replace(plain, said)
        return text.encode()

    return _changed(words, escaped)


def plain_words(words: Words | None) -> Words | None:
    """String ids as they are; OptionError for one that a line of words would not give again: with a blank or a quote,
    with nothing, or like a comment or an empty line.
    """

    def kept(word: bytes) -> bytes:
        if any(byte in b'\0 \t\r\n\v\f"' for byte in word) or word[:1] in (b"#", b"%") or not word.strip(b",;"):
            raise refused(
                word,
                "a line of text",
                "spaces separate ids there, # and % begin comments, and a line of only commas is empty",
            )
        return word

    return _short(_changed(words, kept), "a line of text")


def refused(word: bytes, where: str, why: str) -> OptionError:
    """The error for an id that a format cannot hold."""
    can = ["CSV"] * (_csv_holds(word) and len(word) <= LONGEST_WORD // 2) + ["Parquet"] * is_utf8(word) + ["NumPy"]
    return OptionError(
        f"vertex id {quoted(word.decode('utf-8', 'backslashreplace'))} cannot be written to {where}: {why}; "
        f"export to {' or '.join(can)} instead"
    )


def _csv_holds(word: bytes) -> bool:
    return bool(word) and not any(byte in b"\0\r\n" for byte in word)


def is_utf8(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def _short(words: Words | None, where: str) -> Words | None:
    """The words; OptionError for one so long that a row of two of them may be longer than a line that csaw reads."""
    long = np.zeros(0, np.int64) if words is None else np.flatnonzero(words.sizes() > LONGEST_WORD)
    for word in words.encoded(long[:1]) if words is not None else ():
        raise refused(
            bytes(word), where, f"it takes {len(word):,} bytes there, and a line of two may have {LONGEST_LINE:,}"
        )
    return words


def _changed(words: Words | None, change: Callable[[bytes], bytes]) -> Words | None:
    """Words of which those are changed that may have to be; these are the same where none has."""
    if words is None:
        return None
    holders = np.searchsorted(words.offsets, np.flatnonzero(SPECIAL[words.text]), "right") - 1
    places = np.union1d(holders, np.flatnonzero(words.sizes() == 0))
    before = list(map(bytes, words.encoded(places)))
    after = list(map(change, before))
    if after == before:
        return words
    every = list(map(bytes, words.encoded()))
    for place, word in zip(places.tolist(), after, strict=True):
        every[place] = word
    return Words.of(every)


# Edges of a graph as rows of a table.

Update = Callable[[int], None]


@contextmanager
def packed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """``file``, or what packs into it where the ``name`` ends in .gz; the same bytes whenever it is made."""
    if not name.endswith(".gz"):
        yield file
        return
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as inside:
        yield cast(IO[bytes], inside)


def names_of_ends(words: Words | None, usual: tuple[str, str], taken: Collection[str] = ()) -> tuple[str, str]:
    """The names of the columns of both ends: the ``usual`` ones, or others that say the same where other columns are
    called so, whose names are ``taken``, or a vertex is, which would make a header look like an edge.
    """
    pairs = (usual, *((f"{a}_id", f"{b}_id") for a, b in (("source", "target"), ("src", "dst"), ("from", "to"))), *ENDS)
    free = (pair for pair in pairs if set(pair).isdisjoint(taken) and (words is None or max(words.find(pair)) < 0))
    if (pair := next(free, None)) is None:
        raise OptionError(
            "vertices have the names of all columns that rows of edges may have, such as "
            f"{' and '.join(usual)}; export to Parquet instead"
        )
    return pair


def columns_of(edges: Edges) -> list[str]:
    """Return the columns that the store has of an edge beside its ends."""
    further = [column.name for column in edges.further]
    return ["weight"] * edges.store.weighted + ["edge_id"] * edges.has_edge_ids + further


def write_edges(
    edges: Edges, file: IO[bytes], update: Update, around: Sequence[bytes], words: Words | None, once: str = "upper"
) -> None:
    """Write a row for each edge: its ends as original ids, and the ``columns_of`` the store.

    ``words``: string ids as they are written.
    """
    ids = kind_of_ids(edges.id_dtype, edges.words)
    kinds = [WEIGHT] * edges.store.weighted + [NUMBER] * edges.has_edge_ids
    rows = Rows(around, [ids, ids, *kinds, *(_kind(edges, column) for column in edges.further)], words)

    def made(piece: Piece) -> memoryview:
        more = [one for one in (piece.weights, piece.edge_ids) if one is not None]
        return rows.text([edges.original(piece.src), edges.original(piece.dst), *more, *piece.further])

    for done, some in edges.map(made, once):
        file.write(some)
        update(done)


def _kind(edges: Edges, column: EdgeColumn) -> int:
    """The kind of cells that hold numbers of edges: times are written as the input has them."""
    if column == edges.store.time:
        return kind_of_times(column.units)
    return {"i": SIGNED, "u": NUMBER, "f": FLOAT}[column.dtype.kind]


def write_rows(listed: Listed, file: IO[bytes], update: Update, between: bytes, words: Words | None) -> None:
    """Write each row of a list in a line, ``between`` its cells; ``words``: string ids as they are written."""
    ids = kind_of_ids(listed.id_dtype, listed.words)
    kinds = [ids if column.is_vertex else NUMBER for column in listed.columns]
    rows = Rows([b"", *[between] * (len(kinds) - 1), b"\n"], kinds, words)
    for done, some in listed.map(lambda arrays: rows.text(listed.originals(arrays))):
        file.write(some)
        update(done)
