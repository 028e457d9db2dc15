"""The lock of a name: whatever is written there, a graph store, a sample or a file, each name has one writer at a time.

.NAME.csaw-lock    a file that its writer holds locked, and that says who that is; it is removed when the writer ends
"""

import os
import re
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from csaw.partition.arrays.regular import WAYS, require_regular
from csaw.partition.base.file_locks import lock
from csaw.partition.errors import StoreError

OWNER = re.compile(r"[a-zA-Z ]{1,60}, (by|last by) process \d{1,20} on [\w.-]{1,255}")
LOOKS, LOOK_SECONDS = 3, 0.05  # a writer that ends may hold a shared lock alone for a moment


class Lock:
    """Keeps other writers of ``path`` out, whatever they write.

    The lock ends with the process, so one that is killed leaves a file that keeps nobody out.

    ``what`` is written, such as "a sample store": the error of other writers says it. ``shared``: keep out only writers
    that do not share it. On a file system without locks it keeps no writer out.
    """

    def __init__(self, path: Path, what: str, *, shared: bool = False) -> None:
        self.file, self.descriptor = lock_of(path), -1
        while self.descriptor < 0:
            descriptor = _opened(self.file)
            try:
                _lock(descriptor, path, shared=shared)
            except StoreError:
                os.close(descriptor)
                raise
            if _same(descriptor, self.file):
                self.descriptor = descriptor
            else:
                os.close(descriptor)  # its writer has just ended
        with suppress(OSError):  # a full disk leaves it without a name
            os.ftruncate(self.descriptor, 0)
            by = f"{'last by' if shared else 'by'} process {os.getpid()} on {socket.gethostname()}"
            os.pwrite(self.descriptor, f"{what}, {by}\n".encode(), 0)

    @property
    def held(self) -> bool:
        """Whether it is not closed yet."""
        return self.descriptor >= 0

    def close(self) -> None:
        """Let other writers in. The last one that shares it removes the file."""
        if not self.held:
            return
        with suppress(OSError):  # others share it
            lock(self.descriptor)
            self.file.unlink(missing_ok=True)
        os.close(self.descriptor)
        self.descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lock_of(path: Path) -> Path:
    """The file of the lock of a name."""
    return path.with_name(f".{path.name}.csaw-lock")


def require_unlocked(path: Path) -> None:
    """Raise StoreError while a :class:`Lock` that is not shared keeps others out of ``path``.

    Neither makes nor changes anything.
    """
    try:
        descriptor = os.open(lock_of(path), os.O_RDONLY | os.O_NOFOLLOW | WAYS)
    except OSError:
        return  # no file, or not one that can be read: nobody has locked it
    try:
        _lock(descriptor, path, shared=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, *, shared: bool) -> None:
    for look in range(LOOKS):
        try:
            lock(descriptor, shared=shared)
            return
        except BlockingIOError:
            if look < LOOKS - 1:
                time.sleep(LOOK_SECONDS)
    owner = os.pread(descriptor, 512, 0).decode("ascii", "replace").strip()
    said = f": {owner}" if OWNER.fullmatch(owner) else ""
    raise StoreError(f"{path}: another csaw is writing here{said}; wait until it ends")


def _opened(file: Path) -> int:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | WAYS, 0o666)
    try:
        require_regular(descriptor, file)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _same(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.lstat())
    except FileNotFoundError:
        return False
