"""Locks on unfinished folders and files, so that each name has one writer at a time."""

import fcntl
import os
from pathlib import Path
from typing import Self

from csaw.partition.arrays.regular import WAYS, require_regular
from csaw.partition.errors import StoreError


class Lock:
    """Keeps other writers out of a folder or file, which is made if it does not exist.

    The lock ends with the process, so a kill leaves none.

    ``shown`` is the name in the error. ``shared``: keep out only writers that do not share it. On a file system without
    locks it keeps no writer out.
    """

    def __init__(self, path: Path, *, file: bool = False, shown: Path | None = None, shared: bool = False) -> None:
        self.descriptor = -1
        while self.descriptor < 0:
            descriptor = _opened(path, file)
            try:
                _lock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, shown or path)
            except StoreError:
                os.close(descriptor)
                raise
            if _same(descriptor, path):
                self.descriptor = descriptor
            else:
                os.close(descriptor)  # its writer has just given it another name

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def require_unlocked(folder: Path, shown: Path) -> None:
    """Raise StoreError, naming ``shown``, while a :class:`Lock` keeps others out of ``folder``.

    Neither makes nor changes anything.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return  # no folder, or not one that can be read: nobody has locked it
    try:
        _lock(descriptor, fcntl.LOCK_SH, shown)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int, shown: Path) -> None:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(f"{shown}: another csaw is writing here; wait until it ends") from None
    except OSError:
        pass  # some network file systems have no locks


def _opened(path: Path, file: bool) -> int:
    if file:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | WAYS, 0o666)
        try:
            require_regular(descriptor, path)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    while True:
        path.mkdir(exist_ok=True)
        try:
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue  # its writer has just given it another name


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
