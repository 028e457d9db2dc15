"""Writing files so that they are complete or absent: under a temporary name, synced, then renamed."""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import numpy as np

from csaw.partition.arrays.files import LARGEST_JSON, open_regular, read_regular, sync_folder
from csaw.partition.base.cache import drafted
from csaw.partition.base.parallel import go_on, heeding
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import StoreError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TEMPORARY = ".tmp"
PIECE = 1 << 22  # bytes written at a time
HASHED = 1 << 20  # bytes read at a time to be hashed: they are in the processor's cache still
READERS = 4  # files hashed at a time
AGAIN = "sample again with --overwrite"


def write_file(path: Path, data: np.ndarray | bytes) -> str:
    """Write ``data`` to ``path`` safely and return its SHA-256."""
    return write_pieces(path, in_pieces(np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data))


def in_pieces(data: np.ndarray) -> Iterator[np.ndarray]:
    """The bytes of a contiguous array, in the pieces in which they are written."""
    flat = data.reshape(-1).view(np.uint8)
    return (flat[start : start + PIECE] for start in range(0, flat.size, PIECE))


def write_pieces(path: Path, pieces: Iterable[np.ndarray]) -> str:
    """Write pieces of bytes to ``path`` safely and return their SHA-256.

    A piece is no longer used when the next one is asked for.

    Several processes, on any machines, may write the same bytes to one path at once: each writes under a temporary name
    of its own.
    """
    with drafted(path, TEMPORARY) as draft:
        return _written(draft, pieces)


def _written(path: Path, pieces: Iterable[np.ndarray]) -> str:
    """Write pieces of bytes to a new file, sync it, and return their SHA-256."""
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        for piece in pieces:
            view = piece.data
            digest.update(view)
            while view:
                view = view[os.write(descriptor, view) :]
            begin_writing(descriptor, size, piece.size)
            size += piece.size
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def sweep(folder: Path) -> None:
    """Remove the temporary files that killed processes have left in a store's folder and in those of its arrays."""
    for file in (*folder.glob(f"*{TEMPORARY}"), *folder.glob(f"*/*{TEMPORARY}")):
        file.unlink(missing_ok=True)


def begin_writing(descriptor: int, start: int, size: int) -> None:
    """Ask the system to begin to write a piece to the disk while the next one is hashed.

    Otherwise the disk would idle until the file is synced.

    Linux does so when it is told that a range of the page cache is not needed. Eight files of 30 or 60 MB at a time:
    2.1 and 2.2 GB/s instead of 1.3.
    """
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, start, size, os.POSIX_FADV_DONTNEED)


def refuse(where: Path, expected: str, found: object) -> NoReturn:
    """Raise StoreError for a file or an array that is no such thing as a store has."""
    raise StoreError(f"{where}: expected {expected}, found {str(found)[:60]}; {AGAIN}")


def write_json(path: Path, value: object) -> None:
    """Write ``value`` as sorted JSON to ``path``, so that it survives a power cut."""
    write_file(path, json.dumps(value, sort_keys=True, indent=1).encode())
    sync_folder(path.parent)


def read_json(path: Path, way_out: str = AGAIN) -> object:
    """The value in a JSON file; StoreError, which ends with ``way_out``, where it cannot be read."""
    try:
        return json.loads(read_regular(path))
    except PermissionError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; ask its owner for permission") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {error}; {way_out}") from error


def read_record(path: Path, way_out: str = AGAIN) -> Record:
    """The object in a JSON file; an empty one where the file holds anything else. StoreError as of ``read_json``."""
    found = read_json(path, way_out)
    return found if isinstance(found, dict) else {}


def write_marker(path: Path, value: Record) -> None:
    """Write ``value`` with a checksum of its own to ``path``, safely."""
    write_json(path, signed(value))


def read_marker(path: Path) -> Record | None:
    """The value that :func:`write_marker` wrote; None where the file is missing or has changed since.

    Early versions wrote no checksum.
    """
    try:
        value = read_json(path)
    except StoreError:
        return None
    return unchanged(value, unsigned=True)


def signed(value: Record) -> Record:
    """``value`` with its own checksum."""
    return value | {"sha256": digest(value)}


def unchanged(value: object, *, unsigned: bool = False) -> Record | None:
    """Return the value that :func:`signed` was given; None for anything else.

    A dictionary without a checksum gives None, too, unless ``unsigned`` allows it.
    """
    if not isinstance(value, dict):
        return None
    found = {key: held for key, held in value.items() if key != "sha256"}
    right = (digest(found), None) if unsigned else (digest(found),)
    return found if value.get("sha256") in right else None


def digest(value: object) -> str:
    """The SHA-256 of a value of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def plain(value: Record) -> Record:
    """``value`` as JSON would give it back: tuples as lists, NumPy numbers as Python numbers."""
    said: Record = json.loads(
        json.dumps(value, default=lambda one: one.tolist() if hasattr(one, "tolist") else str(one))
    )
    return said


def sha256(path: Path, most: int | None = LARGEST_JSON) -> str:
    """Return the SHA-256 of a file of at most ``most`` bytes.

    The pieces that are read are large enough for many threads not to wait for the interpreter's lock in between.
    """
    digest = hashlib.sha256()
    with os.fdopen(open_regular(path, most=most), "rb", buffering=0) as file:
        room = memoryview(bytearray(max(1, min(os.fstat(file.fileno()).st_size, HASHED))))
        while count := file.readinto(room):
            digest.update(room[:count])
            go_on()
    return digest.hexdigest()


def differing(
    folder: Path, wanted: Mapping[str, str], most: Mapping[str, int | None], threads: int = READERS
) -> list[str]:
    """Return the files of ``wanted`` below ``folder`` that differ from what was written.

    They are missing, cannot be read, have more bytes than ``most`` says or have another SHA-256.
    """

    def differs(name: str) -> bool:
        try:
            return sha256(folder / name, most[name]) != wanted[name]
        except OSError:
            return True

    with ThreadPoolExecutor(threads) as readers:
        return [name for name, bad in zip(wanted, readers.map(heeding(differs), wanted), strict=True) if bad]


@contextmanager
def writing(path: Path, way_out: Callable[[], str]) -> Iterator[None]:
    """Turn errors of the disk inside the block into a StoreError that ends with ``way_out``."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        reason = "the disk is full" if error.errno in FULL else f"cannot be written ({error.strerror or error})"
        raise StoreError(f"{path}: {reason}; {way_out()}") from error
