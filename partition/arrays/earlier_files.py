"""Files of results, such as plots, which take the place of those that csaw has written and of no others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from csaw.partition.arrays import replace
from csaw.partition.errors import StoreError

ENDS = 4096  # bytes at the start and the end of a file, one of which name its author


def check(path: Path, ours: Callable[[Path], bool], expected: str, remedy: str = "choose another name") -> None:
    """Raise StoreError unless ``path`` is free, an empty file, or a file that is ``ours``, ``expected`` in words."""
    replace.check(path, replace.FILE, overwrite=True)
    try:
        known = not path.exists() or path.stat().st_size == 0 or ours(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; choose another name") from error
    if not known:
        raise StoreError(f"{path} exists already and is not {expected}, so csaw does not replace it; {remedy}")


def names(path: Path, author: str) -> bool:
    """Whether the start or the end of a file, where its metadata are, names ``author``."""
    with path.open("rb") as file:
        start = file.read(ENDS)
        file.seek(max(0, path.stat().st_size - ENDS))
        return author.encode() in start + b"\n" + file.read()


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
