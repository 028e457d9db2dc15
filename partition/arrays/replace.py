"""Replacing stores and files: a store by one of its kind, a file by a file, and never anything that csaw did not write.

NAME                   the old store or file stays until the new one is complete and synced
.NAME.csaw-lock        keeps other writers of NAME out, and ends with the process: see locks.py
.NAME.csaw-draft       a graph store, a file or a folder of parts in the making
.NAME.csaw-aside       a whole store between two renames, where two names cannot be exchanged; the next writer gives it
                       its name back
.NAME.csaw-replaced    an old store or file that is being removed; it never comes back, and the next writer removes the
                       rest

Files of results, such as plots, take the place of those that csaw has written and of no others.
"""

import ctypes
import errno
import json
import logging
import os
import shutil
import stat
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from csaw.partition.arrays.files import GRAPH, PART_NAME, PARTS, SAMPLES, read_regular, require_own, sync_folder
from csaw.partition.arrays.locks import Lock, lock_of
from csaw.partition.base.parallel import processors
from csaw.partition.errors import OptionError, StoreError

log = logging.getLogger(__name__)
NOTHING, FILE, FOLDER, LINK, DEVICE = "nothing", "file", "folder", "link", "device"
SAID = {
    GRAPH: "a graph store",
    SAMPLES: "a sample store",
    PARTS: "a folder of Parquet files",
    FILE: "a regular file",
    FOLDER: "a folder that is not a csaw store",
    DEVICE: "a pipe or a device",
}
AT_WORKING_FOLDER, RENAME_EXCHANGE = -100, 2  # of Linux's renameat2
REMOVERS = min(processors(), 16)
CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)


def standing(path: Path) -> str:
    """The kind of the thing at ``path``, one of the words above: a folder is GRAPH or SAMPLES if its zarr.json says so,
    and PARTS if it holds the first part of an export.
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; choose another name") from error
    if stat.S_ISLNK(mode):
        return LINK
    if stat.S_ISREG(mode):
        return FILE
    if not stat.S_ISDIR(mode):
        return DEVICE
    return _kind_of_store(path) or (PARTS if (path / PART_NAME.format(0)).is_file() else FOLDER)


def _kind_of_store(folder: Path) -> str | None:
    node = folder / "zarr.json"
    try:
        attributes = json.loads(read_regular(node))["attributes"]
        kind, version = attributes["csaw_kind"], attributes["format_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return kind if kind in (GRAPH, SAMPLES) and isinstance(version, int) else None


def check_name(path: Path) -> None:
    """Raise OptionError when ``path`` cannot be the name of something new, means standard output, or lies inside a
    store.
    """
    if path.name in ("", ".."):
        raise OptionError(f"expected the name of an output, found {str(path)!r}; give one, such as out.zarr")
    if str(path) == "-":
        raise OptionError(
            "- is standard output, to which only csaw export can write; give the name of an output, such as out.zarr"
        )
    folder = Path(os.path.realpath(path.parent))
    for place in (folder, *folder.parents):
        if (found := standing(place)) in (GRAPH, SAMPLES):
            raise OptionError(f"{path} is inside {place}, {SAID[found]}; choose a place outside of it")


def check(path: Path, kind: str, overwrite: bool) -> None:
    """Raise StoreError unless something of ``kind`` may be written to ``path``, and what stands there replaced.

    ``kind`` is GRAPH, SAMPLES, FILE or PARTS.
    """
    if not stands(path, kind):
        return
    if not overwrite:
        raise StoreError(f"{path} exists already; pass --overwrite to replace it, or choose another name")
    if (found := standing(path)) not in (FILE, NOTHING):
        require_own(path, found)


def check_export(path: Path, overwrite: bool) -> None:
    """Raise StoreError unless a file, or a folder of parts, may be written to ``path``."""
    check(path, PARTS if standing(path) == PARTS else FILE, overwrite)


def stands(path: Path, kind: str) -> bool:
    """Return whether something of ``kind`` is at ``path``, which for PARTS may be a single file.

    StoreError for anything else that is there.
    """
    check_name(path)
    found = standing(path)
    if found == NOTHING:
        return False
    if found == LINK:
        raise StoreError(f"{path} is a symbolic link to {os.readlink(path)}; give that path itself or another name")
    if found != kind and (found, kind) != (FILE, PARTS):
        raise StoreError(
            f"{path} exists already and is {SAID[found]}, not {SAID[kind]}, so csaw does not replace it; "
            "choose another name"
        )
    return True


class Draft:
    """An unfinished store or folder of parts, in a folder that is closed to other writers.

    ``publish`` gives it its name; ``close`` removes it if it has none yet.

    Errors: OptionError and StoreError as :func:`check`; StoreError while another writer makes a store of this name.
    """

    def __init__(self, path: str | Path, kind: str, *, overwrite: bool) -> None:
        self.path, self.kind, self.overwrite = Path(path), kind, overwrite
        self._check()
        self.folder = draft_of(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.lock = Lock(self.path, SAID[kind])
            self._begin()
        except OSError as error:
            raise error if isinstance(error, StoreError) else cannot_be_written(path, error) from error

    def _begin(self) -> None:
        try:
            mend(self.path)
            _make_way(self.folder)
            self._check()  # another writer may have ended since
            self.folder.mkdir()
        except BaseException:
            self.lock.close()
            raise

    def _check(self) -> None:
        check(self.path, self.kind, self.overwrite)

    def publish(self, only: str = "") -> None:
        """Give the folder, or ``only`` this file in it, the name."""
        self._check()
        take_the_name(self.folder / only, self.path)
        self.close() if only else self.lock.close()

    def close(self) -> None:
        if self.lock.held:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a file for writing, which gets the name ``path`` when the block ends; after an error it is removed.

    Errors as of :class:`Draft`.
    """
    check(path, FILE, overwrite)
    draft = draft_of(path)
    with Lock(path, SAID[FILE]):
        mend(path)
        _make_way(draft)
        check(path, FILE, overwrite)
        try:
            with draft.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            check(path, FILE, overwrite)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        draft.replace(path)
    sync_folder(path.parent)


def cannot_be_written(path: str | Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {error.strerror or error}; nothing is left under its name")


def empty(folder: Path) -> None:
    """Remove everything in a folder, but not the folder, whose lock may be held."""
    for child in folder.iterdir():
        shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()


def take_the_name(draft: Path, path: Path) -> None:
    """Rename ``draft`` to ``path`` and remove what was there.

    After a kill, either the old or the new one stands complete under the name.

    Where the system cannot exchange two names in one step, a kill between two renames leaves neither; :func:`mend`
    brings the old one back.
    """
    if not os.path.lexists(path):
        draft.rename(path)
        old = None
    elif _exchange(draft, path):
        old = draft
    else:
        old = path.rename(_aside(path))
        draft.rename(path)
    sync_folder(path.parent)
    discard(old, path)


def mend(path: Path) -> None:
    """Give a store the name ``path`` back, if a kill between two renames took it.

    The caller holds the lock of ``path``.
    """
    old = _aside(path)
    if not os.path.lexists(old):
        return
    if os.path.lexists(path):
        discard(old, path)
        return
    try:
        old.rename(path)
    except OSError as error:
        raise StoreError(f"{_stopped(path)} ({error.strerror})") from error


def mend_alone(path: Path, kind: str) -> None:
    """Give a store of this kind its name back, and remove the rest, where a kill came while it was replaced.

    StoreError where a process is writing there.
    """
    if any(os.path.lexists(rest) for rest in (_aside(path), _replaced(path), lock_of(path))):
        with Lock(path, SAID[kind]):
            mend(path)
            discard(None, path)


def require_not_aside(path: Path) -> None:
    """Raise StoreError where a kill between two renames took the name of the store at ``path``.

    Readers do not rename it, since a writer may be at work.
    """
    if path.name and not os.path.lexists(path) and os.path.lexists(_aside(path)):
        raise StoreError(_stopped(path))


def _stopped(path: Path) -> str:
    return f"{path}: csaw was stopped while it replaced this; rename {_aside(path)} to it"


def discard(old: Path | None, path: Path) -> None:
    """Remove what was replaced, and the rest of an earlier removal.

    It gets a name of its own first, since a kill may leave a part of it.
    """
    removed = _replaced(path)
    _remove(removed)
    if old is not None:
        old.rename(removed)
        _remove(removed)


def _remove(path: Path) -> None:
    """Remove a file or a folder; what cannot be removed is said."""
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):  # a deep folder, where a process may open few files
            _remove_files(path)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
    if os.path.lexists(path):
        log.warning("%s, which was replaced, cannot be removed; remove it yourself", path)


def _remove_files(folder: Path) -> None:
    """Remove the files in a folder and below, by threads: the system takes some time to free the memory of each."""

    def remove(name: str, place: int) -> None:
        with suppress(OSError):
            os.unlink(name, dir_fd=place)

    def close(place: int, removed: list[Future[None]]) -> None:
        wait(removed)
        os.close(place)

    emptied = deque[tuple[int, list[Future[None]]]]()  # folders, which stay open until their files are gone
    with ThreadPoolExecutor(REMOVERS) as threads:
        try:
            for _, _, names, opened in os.fwalk(folder):
                place = os.dup(opened)
                emptied.append((place, [threads.submit(remove, name, place) for name in names]))
                if len(emptied) > REMOVERS:
                    close(*emptied.popleft())
        finally:
            for one in emptied:
                close(*one)


def _make_way(draft: Path) -> None:
    """Remove what a killed run has left of a draft; the caller holds the lock of its name.

    FileExistsError for what is no file or folder, which csaw did not make.
    """
    try:
        mode = draft.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(draft)
    elif stat.S_ISREG(mode):
        draft.unlink()
    else:
        raise FileExistsError(errno.EEXIST, f"{draft.name} next to it is not a draft of csaw; remove it", str(draft))


def draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.csaw-draft")


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.csaw-aside")


def _replaced(path: Path) -> Path:
    return path.with_name(f".{path.name}.csaw-replaced")


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step. False where the system or the file system cannot."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if function(AT_WORKING_FOLDER, os.fsencode(one), AT_WORKING_FOLDER, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    if (number := ctypes.get_errno()) not in CANNOT_EXCHANGE:
        raise OSError(number, os.strerror(number), str(other))
    return False


ENDS = 4096  # bytes at the start and the end of a file, one of which name its author


def check_result(path: Path, ours: Callable[[Path], bool], expected: str, remedy: str = "choose another name") -> None:
    """Raise StoreError unless ``path`` is free, an empty file, or a file that is ``ours``, ``expected`` in words."""
    check(path, FILE, overwrite=True)
    try:
        known = not path.exists() or path.stat().st_size == 0 or ours(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; choose another name") from error
    if not known:
        raise StoreError(f"{path} exists already and is not {expected}, so csaw does not replace it; {remedy}")


def names_author(path: Path, author: str) -> bool:
    """Whether the start or the end of a file, where its metadata are, names ``author``."""
    with path.open("rb") as file:
        start = file.read(ENDS)
        file.seek(max(0, path.stat().st_size - ENDS))
        return author.encode() in start + b"\n" + file.read()


@contextmanager
def new_result(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces a regular file at ``path`` at the end; an error changes nothing.

    Raises StoreError.
    """
    try:
        with new_file(path, overwrite=True) as file:
            yield file
    except OSError as error:
        raise error if isinstance(error, StoreError) else cannot_be_written(path, error) from error
