"""Files that are whole or absent: written under a temporary name, synced, renamed."""

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.errors import StoreError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TEMPORARY = ".tmp"
PIECE = 1 << 24


def write_file(path: Path, data: Any) -> str:
    """The SHA-256 of ``data`` (bytes or a contiguous array), once it is safe under ``path``."""
    view = memoryview(np.frombuffer(data, np.uint8)) if len(memoryview(data).cast("B")) else memoryview(b"")
    temporary = path.with_name(path.name + TEMPORARY)
    digest = hashlib.sha256()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        for start in range(0, len(view), PIECE):
            piece = view[start : start + PIECE]
            digest.update(piece)
            while piece:
                piece = piece[os.write(descriptor, piece) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(temporary, path)
    return digest.hexdigest()


def write_json(path: Path, value: Any) -> None:
    """``value`` as sorted JSON, safe under ``path`` even through a power cut."""
    write_file(path, json.dumps(value, sort_keys=True, indent=1).encode())
    sync(path.parent)


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise StoreError(f"{path}: expected JSON, found damaged text ({error})") from error


def sync(path: Path) -> None:
    """Make what a file or folder holds survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def lock(folder: Path) -> int:
    """A descriptor that keeps every other writer out of ``folder`` until it is closed, or its process ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise StoreError(f"{folder}: another csaw is writing here; wait until it ends") from None
    except OSError:
        pass  # some network file systems have no locks
    return descriptor


@contextmanager
def writing(path: Path, how_to_go_on: str) -> Iterator[None]:
    """Disk errors inside the block, as a StoreError that says ``how_to_go_on``."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        reason = "the disk is full" if error.errno in FULL else f"cannot be written ({error.strerror})"
        raise StoreError(f"{path}: {reason}; {how_to_go_on}") from error
