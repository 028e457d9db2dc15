"""Checks of a dataset's file: its size, whole gzip data, the published number of rows, and its checksum if known."""

import gzip
import hashlib
import re
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from csaw.datasets.catalog import Entry
from csaw.partition.errors import StoreError
from csaw.partition.ingestion.text.sniff import SNAP_COUNTS

# The unpacked text of a dataset's file: gzip data, or the Matrix Market file in a SuiteSparse archive.

PIECE = 1 << 20


@contextmanager
def unpacked(path: Path, entry: Entry) -> Iterator[IO[bytes]]:
    """Open the text of the entry's file.

    Raises tarfile.TarError if an archive is damaged or has no such file, and the errors of gzip.
    """
    with cast(IO[bytes], gzip.open(path, "rb")) as stream:
        if not entry.member:
            yield stream
            return
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            yield _member(archive, entry.member)
        while stream.read(PIECE):  # its checksum is at the end
            pass


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    for member in archive:
        if PurePosixPath(member.name).name == name and (file := archive.extractfile(member)):
            return file
    raise tarfile.ReadError(f"it has no file {name}")


# Checks of a dataset's file.

ROW_BYTES = 24  # of text, at most: two ids of ten digits, a separator, the end of the line; with a time less than 48
PACKED_ROW_BYTES = ROW_BYTES // 2  # gzip needs less than half a byte for a digit
HEAD_BYTES = 1 << 20  # of comments, beside the rows
MAGIC = b"\x1f\x8b"
ROW = re.compile(rb"\d+[ \t,]+\d+\s*")
ROW_WITH_TIME = re.compile(rb"\d+[ \t,]+\d+[ \t,]+\d+\s*")
SHOWN = 60  # bytes of a file in a message


class WrongFileError(StoreError):
    """A file that is not the dataset that the catalog names. The message says what was expected and found."""


@dataclass
class Text:
    """The contents of an unpacked file: its first bytes, and the number of rows after its comments."""

    head: bytes = b""
    rows: int = 0
    nbytes: int = 0


def largest_file(entry: Entry) -> int:
    """The size of the entry's file in bytes, or the largest possible one where it is unknown.

    An undirected edge may stand there in both directions.
    """
    return entry.nbytes or HEAD_BYTES + PACKED_ROW_BYTES * 2 * entry.edges


def check_start(start: bytes, entry: Entry, shown: str) -> None:
    """Refuse a file that does not begin as gzip does.

    ``start`` holds at least two bytes; ``shown`` names the file in the error. Raises WrongFileError.
    """
    if not start.startswith(MAGIC):
        page = start.lstrip().startswith(b"<")
        what = "a web page, such as that of a login or a proxy" if page else _quoted(start)
        raise WrongFileError(f"{shown}: expected gzip data for {entry.name}, found {what}")


def check_size(size: int, entry: Entry, shown: str) -> None:
    """Refuse more bytes than the published counts allow. Raises WrongFileError."""
    if size > (most := largest_file(entry)):
        raise WrongFileError(
            f"{shown}: expected at most {most:,} bytes for the {entry.edges:,} edges of {entry.name}, found {size:,}"
        )


def check(path: Path, entry: Entry, shown: str) -> str:
    """Read the file at ``path`` to its end and compare it with the published facts of ``entry``.

    ``shown`` names the file in errors. Returns a sentence that says what agrees. Raises WrongFileError.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise WrongFileError(f"{shown}: expected the file of {entry.name}, found something that is not a regular file")
    size = path.stat().st_size
    if size == 0:
        raise WrongFileError(f"{shown}: expected the file of {entry.name}, found an empty file")
    check_size(size, entry, shown)
    with open(path, "rb") as file:
        check_start(file.read(SHOWN), entry, shown)
    if entry.sha256 is not None and (found := _sha256(path)) != entry.sha256:
        raise WrongFileError(f"{shown}: expected sha256 {entry.sha256}, found {found}")
    text = _unpacked(path, entry, shown)
    checked = _check_matrix if entry.member else _check_counts
    agreed = ["its size", "its gzip checksum", *checked(text, entry, shown)]
    known = "its sha256 is the known one" if entry.sha256 else "no checksum is published for it"
    return f"{entry.name}: {known}; {', '.join(agreed)} agree with the published counts"


def _unpacked(path: Path, entry: Entry, shown: str) -> Text:
    """Unpack the whole file and count its rows; no more text is unpacked than the published counts allow."""
    most = HEAD_BYTES + ROW_BYTES * 2 * entry.edges
    text, last, comment = Text(), b"\n", b"\n%" if entry.member else b"\n#"
    try:
        with unpacked(path, entry) as stream:
            while piece := stream.read(PIECE):
                text.head = text.head or piece
                text.nbytes += len(piece)
                if text.nbytes > most:
                    raise WrongFileError(f"{shown}: expected at most {most:,} bytes of text in it, found more")
                seen = last + piece
                text.rows += seen.count(b"\n", 0, -1) - seen.count(comment)
                last = piece[-1:]
    except EOFError as error:
        raise WrongFileError(f"{shown}: its gzip data is cut off after {path.stat().st_size:,} bytes") from error
    except tarfile.TarError as error:
        raise WrongFileError(f"{shown}: expected an archive with {entry.member} in it; {error}") from error
    except (zlib.error, gzip.BadGzipFile) as error:
        raise WrongFileError(f"{shown}: its gzip data is damaged ({error})") from error
    return text


def _check_counts(text: Text, entry: Entry, shown: str) -> list[str]:
    """Compare the rows, and the counts in the comments above them, with the published counts.

    Returns the names of the counts that agree.
    """
    first = next((line for line in text.head.splitlines() if line.strip() and not line.startswith(b"#")), b"")
    row, cells = (ROW, "two") if entry.time_column is None else (ROW_WITH_TIME, "three")
    if not row.fullmatch(first):
        raise WrongFileError(f"{shown}: expected rows of {cells} numbers, found {_quoted(first)}")
    most = entry.edges if entry.time_column else 2 * entry.edges  # an edge without times may stand there both ways
    if not entry.edges <= text.rows <= most:
        rows = f"{entry.edges:,}" if most == entry.edges else f"{entry.edges:,} to {most:,}"
        raise WrongFileError(
            f"{shown}: expected {rows} rows, as {entry.name} has {entry.edges:,} edges; found {text.rows:,}"
        )
    comments = b"\n".join(line for line in text.head.splitlines() if line.startswith(b"#"))
    if not (counts := SNAP_COUNTS.search(comments)):
        return [f"{text.rows:,} rows"]
    vertices, edges = int(counts[1]), int(counts[2])
    both_ways = not entry.directed and 2 * entry.edges - entry.vertices <= edges <= 2 * entry.edges  # less self loops
    if vertices != entry.vertices or not (edges == entry.edges or both_ways):
        raise WrongFileError(
            f"{shown}: expected {entry.vertices:,} vertices and {entry.edges:,} edges, as published for {entry.name}; "
            f"its comments say {vertices:,} and {edges:,}"
        )
    return [f"{text.rows:,} rows", "the counts in its comments"]


def _check_matrix(text: Text, entry: Entry, shown: str) -> list[str]:
    """Compare the size line of a Matrix Market file, and its rows, with the published counts.

    Returns the names of the counts that agree.
    """
    size = next((line for line in text.head.splitlines() if line.strip() and not line.startswith(b"%")), b"")
    if (
        not text.head.startswith(b"%%MatrixMarket")
        or size.split() != f"{entry.vertices} {entry.vertices} {entry.edges}".encode().split()
    ):
        raise WrongFileError(
            f"{shown}: expected a Matrix Market file of {entry.vertices:,} vertices and {entry.edges:,} "
            f"edges, as published for {entry.name}; "
            f"found {_quoted(size)}"
        )
    if text.rows - 1 != entry.edges:
        raise WrongFileError(f"{shown}: expected {entry.edges:,} rows under the size line, found {text.rows - 1:,}")
    return [f"{entry.edges:,} rows", "its size line"]


def _quoted(found: bytes) -> str:
    return repr(found[:SHOWN].decode("utf-8", "replace"))


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
