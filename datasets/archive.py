"""The unpacked text of a dataset's file: gzip data, or the Matrix Market file in a SuiteSparse archive."""

import gzip
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from csaw.datasets.catalog import Entry

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
