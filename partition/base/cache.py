"""The cache folder and its parts with code: csaw runs what is there, so it must belong to this user, and no one else
may write to it.

A folder of one's own that others may write is tightened. A file of one's own that others may write is made anew. What
belongs to others is refused, and so is a folder that others could put another one in the place of. Root counts as this
user, and so does the group of a user alone.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from csaw.partition.errors import StoreError

# Drafts: files and folders in the making, beside the names that they get when they are whole.
#
# A draft's name cannot be guessed and is no other's, whatever writes the same file at the same time: threads,
# processes, and containers that share a disk, whose processes have the same numbers.

DRAFT = ".draft"


def draft_beside(path: Path, ending: str = DRAFT, folder: Path | None = None) -> Path:
    """A new name for what is to be ``path``, beside it, or in another ``folder`` of its disk."""
    return (path.parent if folder is None else folder) / f"{path.name}.{secrets.token_hex(8)}{ending}"


@contextmanager
def drafted(path: Path, ending: str = DRAFT) -> Iterator[Path]:
    """The name under which the block makes a file, which becomes ``path`` at its end, and is removed after an error."""
    draft = draft_beside(path, ending)
    try:
        yield draft
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def remove_folder(path: Path) -> None:
    """Remove a folder, which loses its name first, so that the name never has half of it; another process may be
    faster.
    """
    gone = draft_beside(path)
    try:
        path.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone, ignore_errors=True)


# The cache folder.

NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR)
OTHERS = stat.S_IWGRP | stat.S_IWOTH
VARIABLE = "CSAW_CACHE_DIR"
CUPY_VARIABLE = "CUPY_CACHE_DIR"


def cache_dir() -> Path:
    """The folder for everything that csaw can make again: ``$CSAW_CACHE_DIR`` or ``~/.cache/csaw``.

    StoreError for a user without a home.
    """
    return Path(os.environ.get(VARIABLE) or _home(VARIABLE) / ".cache" / "csaw")


def _home(variable: str) -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise StoreError(
            f"csaw has no folder for its cache, because HOME is not set; set {variable} to a folder of yours"
        ) from error


def make_folder(folder: Path) -> None:
    """Make a folder of the cache, for what is only read; StoreError names the way out."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder}, the cache of csaw, cannot be created ({error.strerror}); set {VARIABLE} to a folder of yours"
        ) from error


@contextmanager
def written_here(path: Path) -> Iterator[None]:
    """Turn the error of a file of the cache that may not be written into one that names the way out."""
    try:
        yield
    except OSError as error:
        if error.errno not in NOT_ALLOWED or isinstance(error, StoreError):
            raise
        raise StoreError(
            f"{path}, the cache of csaw, cannot be written ({error.strerror}); set {VARIABLE} to a folder of yours"
        ) from error


def code_folder(name: str) -> Path:
    """The folder ``name`` of the cache, whose files run; it is made where there is none.

    StoreError where others could have put something there, or where it cannot be written.
    """
    _own(cache_dir(), VARIABLE)
    return _own(cache_dir() / name, VARIABLE)


def check_cupy() -> None:
    """StoreError where others could have put something into the folder of CuPy's machine code."""
    folder = Path(os.environ.get(CUPY_VARIABLE) or _home(CUPY_VARIABLE) / ".cupy" / "kernel_cache")
    if folder.is_dir():
        _own(folder, CUPY_VARIABLE)
        for entry in os.scandir(folder):
            own_file(Path(entry.path), CUPY_VARIABLE)


def own_file(path: Path, variable: str = VARIABLE) -> bool:
    """Whether the file is there and may be used: one of this user's that others may write is removed.

    StoreError for a file of somebody else.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    if found.st_uid not in (os.geteuid(), 0):
        raise _refused(path, f"belongs to {_owner(found)}", variable)
    if found.st_mode & OTHERS and stat.S_ISREG(found.st_mode):
        path.unlink(missing_ok=True)
        return False
    return True


def write_own(path: Path, data: bytes) -> None:
    """Write a file as a whole, for this user alone."""
    make_own(path.parent)
    try:
        with (
            drafted(path) as draft,
            open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file,
        ):
            file.write(data)
    except OSError as error:
        if error.filename is None:  # a full disk does not say which file it was
            error.filename = str(path)
        raise


@cache  # once in a process: a run asks for each of its kernels
def _own(folder: Path, variable: str) -> Path:
    place = Path(os.path.abspath(folder))
    try:
        make_own(place)
        found = place.stat()
        if found.st_uid == os.geteuid() and found.st_mode & OTHERS:
            place.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
            found = place.stat()
    except OSError as error:
        raise _refused(place, f"cannot be used ({error.strerror})", variable) from error
    if found.st_uid not in (os.geteuid(), 0):
        raise _refused(place, f"belongs to {_owner(found)}", variable)
    if found.st_mode & OTHERS:
        raise _refused(place, "can be written by others", variable)
    if not os.access(place, os.W_OK | os.X_OK):
        raise _refused(place, "cannot be written", variable)
    for above in _above(place):
        _check_above(above, place, variable)
    return folder


def make_own(folder: Path) -> None:
    """Make a folder and those above it that are missing, for this user alone."""
    if not folder.is_dir():
        make_own(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _above(folder: Path) -> Iterator[Path]:
    """The folders that decide what lies at this path, also of the links on the way."""
    waiting, seen = [folder], set[Path]()
    while waiting:
        path = waiting.pop()
        if path.is_symlink():
            waiting.append(Path(os.path.abspath(path.parent / path.readlink())))
        if path.parent != path and path.parent not in seen:
            seen.add(path.parent)
            waiting.append(path.parent)
            yield path.parent


def _check_above(above: Path, place: Path, variable: str) -> None:
    found = above.stat()
    if found.st_uid not in (os.geteuid(), 0, _unmapped()):
        raise _refused(place, f"lies in {above}, which belongs to {_owner(found)}", variable)
    if not found.st_mode & OTHERS or found.st_mode & stat.S_ISVTX:  # in a sticky one, nobody moves what is another's
        return
    if found.st_mode & stat.S_IWOTH or not _is_alone(found.st_gid):
        raise _refused(place, f"lies in {above}, which others can write (chmod go-w {above})", variable)


@cache
def _is_alone(group: int) -> bool:
    """Whether nobody else is in a group: that of root, or the one that is called as this user, where systems give each
    user a group of their own.
    """
    import grp
    import pwd

    if group == 0:
        return True
    try:
        me, them = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return me.pw_gid == group and me.pw_name == them.gr_name and set(them.gr_mem) <= {me.pw_name}


@cache
def _unmapped() -> int:
    """Return the number that a user namespace shows for users that it does not know.

    Root may be one of these. -1 where it knows all.
    """
    try:
        rows = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
        return -1 if any(row[1] == "0" for row in rows) else int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError, IndexError):
        return -1


def _owner(found: os.stat_result) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(found.st_uid).pw_name}"
    except KeyError:
        return f"the user {found.st_uid}"


def _refused(path: Path, why: str, variable: str) -> StoreError:
    return StoreError(
        f"{path}, whose files csaw runs, {why}; set {variable} to a folder of yours that no other user can write to"
    )
