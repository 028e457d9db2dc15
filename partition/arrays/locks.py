"""The lock of a name: whatever is written there, a graph store, a sample or a file, each name has one writer at a time.

.NAME.csaw-lock    a file that its writer holds locked, and that says who that is; it is removed when the writer ends
"""

import errno
import os
import re
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from csaw.partition.arrays.files import WAYS, read_regular, require_regular
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
    raise StoreError(f"{path}: another csaw process is writing here{said}; wait until it ends")


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


# Leases: one process at a time, on any machine that shares the disk, without locks of the file system.
#
# NAME          folder: whoever gives it this name has the lease, which nobody can while another one with a beat has it
# NAME/beat     who has it, and a number that grows while its process lives
#
# Only an atomic rename is needed, and that a file which is opened has what was written before it was closed (close-to-
# open consistency of NFS). Clocks of machines are not compared: a lease is stale when its beat has not changed while
# another process watched it.
#
# filelock's SoftFileLease does not fit here: its processes watch the time of modification of a file without opening it,
# which NFS may answer from its cache for a minute, so that the lease of one that lives could be taken over.

BEAT_SECONDS = 3.0
STALE_SECONDS = 60.0  # without a beat: its process is dead
LEASE_LOOKS, LEASE_LOOK_SECONDS = 4, 0.05
BEAT = "beat"
LONGEST = 4096  # bytes of a beat


class Lease:
    """A lease that this process has, until it is closed. A thread of its own shows others that it lives."""

    def __init__(self, path: Path) -> None:
        """Take the lease; FileExistsError where another process has it."""
        self.path, self.owner = _aside(path), f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(8)}"
        self._ended, self._beats = threading.Event(), 0
        self.path.mkdir()
        try:
            self._beat()
            self.path = _named(self.path, path)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    @property
    def held(self) -> bool:
        """Whether it is still this process's: another may have taken it over while this one stood still."""
        for _ in range(LEASE_LOOKS):
            if said := _read(self.path):
                return said.startswith(self.owner)
            time.sleep(LEASE_LOOK_SECONDS)  # one that came late to a takeover may put it back at once
        return False

    def _beat(self) -> None:
        """Write the next number over the last one, so that a reader never finds less than a line."""
        self._beats += 1
        descriptor = os.open(self.path / BEAT, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, f"{self.owner} {self._beats:012}\n".encode())
        finally:
            os.close(descriptor)

    def _keep(self) -> None:
        while not self._ended.wait(BEAT_SECONDS) and self.held:
            with suppress(OSError):  # the disk may be full for a while
                self._beat()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        if self.held:
            shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def take(path: Path, waiting: Callable[[str], None] = lambda owner: None) -> Lease | None:
    """The lease ``path``; None where a living process has it.

    A dead one's is taken over, after STALE_SECONDS of watching.

    ``waiting``: called with the name of the owner before it is watched.
    """
    while True:
        try:
            return Lease(path)
        except FileExistsError:
            pass
        seen = _read(path)
        waiting(" ".join(seen.split()[:2]) or "an unknown process")
        end = time.monotonic() + STALE_SECONDS
        while path.exists() and _read(path) == seen:
            if time.monotonic() > end:
                _take_away(path, seen)
                break
            time.sleep(min(BEAT_SECONDS, STALE_SECONDS) / 3)
        else:
            if path.exists():
                return None


def _take_away(path: Path, seen: str) -> None:
    """Remove a stale lease.

    A rename decides which of several processes does so; one that got a fresh lease instead puts it back.
    """
    aside = _aside(path)
    try:
        path.rename(aside)
    except OSError:
        return  # another process was first
    if _read(aside) != seen:
        with suppress(OSError):
            aside.rename(path)
            return
    shutil.rmtree(aside, ignore_errors=True)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}")


def _named(folder: Path, path: Path) -> Path:
    """Rename a folder to ``path``; FileExistsError where a folder that is not empty has the name."""
    try:
        return folder.rename(path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise FileExistsError(error.errno, error.strerror, str(path)) from error
        raise


def _read(path: Path) -> str:
    try:
        return read_regular(path / BEAT, most=LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
