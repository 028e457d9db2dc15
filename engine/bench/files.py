"""Output files of a run, which may replace files of an earlier run and nothing else."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from csaw.engine.bench.bench_row import Row
from csaw.partition.arrays import replace
from csaw.partition.errors import FormatError, StoreError

AUTHOR = "csaw bench"  # in the metadata of a plot
HEAD = 4096  # AUTHOR is in this many bytes at the start of a plot
ROWS = b"[\n {\n"  # the first bytes of JSON written by csaw bench


def check_rows(path: Path) -> None:
    """StoreError unless ``path`` is free or holds rows of an earlier run."""
    _check(path, _holds_rows, "JSON of csaw bench")


def check_plot(path: Path) -> None:
    """StoreError unless ``path`` is free or holds a plot of an earlier run."""
    _check(path, lambda file: AUTHOR.encode() in _head(file), "a plot of csaw bench")


def write_rows(rows: list[Row], path: Path) -> None:
    """Write rows as JSON, whole or not at all. Raises StoreError as :func:`check_rows`."""
    check_rows(path)
    with new_file(path) as file:
        file.write(f"{json.dumps(rows, indent=1, default=str)}\n".encode())


def _check(path: Path, ours: Callable[[Path], bool], expected: str) -> None:
    replace.check(path, replace.FILE, overwrite=True)
    try:
        known = not path.exists() or path.stat().st_size == 0 or ours(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; choose another name") from error
    if not known:
        raise StoreError(
            f"{path} exists already and is not {expected}, so csaw does not replace it; choose another name"
        )


def _holds_rows(path: Path) -> bool:
    from csaw.engine.bench.baseline import read

    try:
        return _head(path).startswith(ROWS) and bool(read(path))
    except (FormatError, RecursionError):
        return False


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces a regular file at ``path`` at the end; an error changes nothing.

    Raises StoreError.
    """
    try:
        with replace.new_file(path, overwrite=True) as file:
            yield file
    except OSError as error:
        raise error if isinstance(error, StoreError) else replace.cannot_be_written(path, error) from error
