"""A file that is still being fetched, ``NAME.part``, and the version to which its bytes belong, ``NAME.part.tag``."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import Self

from csaw.partition.base.file_locks import lock
from csaw.partition.errors import StoreError

OPEN = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK  # O_NONBLOCK: a pipe of that name does not hang
MOST_TAG = 1000  # characters


class Part:
    """The bytes that were fetched, in a regular file that no other process writes. It is used as a context.

    A part that cannot be continued later, because it is empty or its version is unknown, is removed at the end.
    ``path``: the file of the bytes; ``size``: their number; ``tag``: their version in the words of the server. Raises
    StoreError.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self.tag_path = target.with_name(f"{target.name}.part.tag")
        self.size, self.tag = 0, ""

    def __enter__(self) -> Self:
        try:
            new = not os.path.lexists(self.path)
            self.file = os.open(self.path, OPEN | (os.O_CREAT | os.O_EXCL if new else 0), 0o666)
        except OSError as error:
            linked = error.errno == errno.ELOOP
            why = "a symbolic link, which csaw does not write through; remove it" if linked else error.strerror
            raise StoreError(f"{self.path}: {why}") from error
        try:
            self._own(new)
            self.tag = self._read_tag()
        except BaseException:
            os.close(self.file)
            raise
        if self.tag:
            self.size = os.lseek(self.file, 0, os.SEEK_END)
        return self

    def __exit__(self, *error: object) -> None:
        if not self.can_go_on:
            self.discard()
        os.close(self.file)

    @property
    def can_go_on(self) -> bool:
        """Whether a later download can begin where this one ends."""
        return bool(self.tag and self.size)

    def begin(self, tag: str) -> None:
        """Start again with another version of the file, whose name is ``tag``; it may be empty."""
        os.ftruncate(self.file, 0)  # before the tag is written, so that a new tag never stands beside old bytes
        os.lseek(self.file, 0, os.SEEK_SET)
        self.tag_path.unlink(missing_ok=True)
        self.size, self.tag = 0, tag if len(tag) <= MOST_TAG and re.fullmatch("[ -~]+", tag) else ""
        if self.tag:
            with open(self.tag_path, "x") as file:  # never through a link
                file.write(self.tag)

    def append(self, piece: bytes) -> None:
        """Add bytes at the end."""
        rest = memoryview(piece)
        while rest:
            written = os.write(self.file, rest)
            self.size += written
            rest = rest[written:]

    def start(self, nbytes: int) -> bytes:
        """The first ``nbytes`` bytes."""
        return os.pread(self.file, nbytes, 0)

    def take_the_name(self) -> None:
        """Make the whole file durable and give it its final name."""
        os.fsync(self.file)
        self.path.replace(self.target)
        self.tag_path.unlink(missing_ok=True)
        self.size = 0

    def discard(self) -> None:
        """Remove the bytes and their version."""
        self.size, self.tag = 0, ""
        if self._has_the_path():
            self.path.unlink()
            self.tag_path.unlink(missing_ok=True)

    def _own(self, new: bool) -> None:
        found = os.fstat(self.file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or not (new or found.st_uid == os.geteuid()):
            raise StoreError(f"{self.path}: expected a regular file that belongs to you and has one name; remove it")
        try:
            lock(self.file)  # without locks, the check of the whole file finds what two processes would mix
        except BlockingIOError as error:
            raise StoreError(f"{self.path}: another process is fetching this file; wait for it") from error
        if not self._has_the_path():
            raise StoreError(f"{self.path}: another process has just finished with this file; run the command again")

    def _has_the_path(self) -> bool:
        """Whether the open file still has its name."""
        try:
            return os.path.samestat(os.fstat(self.file), self.path.lstat())
        except FileNotFoundError:
            return False

    def _read_tag(self) -> str:
        if self.tag_path.is_symlink() or not self.tag_path.is_file():
            return ""
        with open(self.tag_path, errors="replace") as file:
            tag = file.read(MOST_TAG + 1)
        return tag if len(tag) <= MOST_TAG and re.fullmatch("[ -~]+", tag) else ""
