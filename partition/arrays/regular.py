"""Files of a store are opened here, and regular ones alone: a pipe, a device, a socket or a folder in the place of one
is refused, and never waited for or read without end.

A link to a regular file is followed. Files that a user names, such as the input of csaw partition, may be pipes and
devices: text/blocks.py opens those.
"""

import errno
import os
import stat
from pathlib import Path

LARGEST_JSON = 1 << 30  # bytes of a file whose size nothing else says: the checksums of ten million files
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
WAYS = (
    os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
)  # a pipe without a writer does not block, and a terminal stays whose it is


Identity = tuple[int, ...]


def identity_of(found: os.stat_result) -> Identity:
    """Return numbers that are others for another file, and for one that was written to since."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def open_regular(path: Path, *, size: int | None = None, most: int | None = None) -> int:
    """The descriptor of a regular file, open for reading.

    OSError for anything else, and unless the file has ``size`` bytes and at most ``most``, where these are given.
    """
    descriptor = os.open(path, os.O_RDONLY | WAYS)
    try:
        require_regular(descriptor, path)
        found = os.fstat(descriptor).st_size
        if size is not None and found != size:
            raise OSError(errno.EINVAL, f"expected {size:,} bytes, found {found:,}", str(path))
        if most is not None and found > most:
            raise OSError(errno.EFBIG, f"expected at most {most:,} bytes, found {found:,}", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def require_regular(descriptor: int, path: Path) -> None:
    """OSError, which names ``path``, unless an open file is a regular one."""
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"expected a regular file, found {KINDS.get(stat.S_IFMT(mode), 'none')}", str(path))


def read_regular(path: Path, *, most: int = LARGEST_JSON) -> bytes:
    """The bytes of a regular file. Errors as of :func:`open_regular`."""
    with os.fdopen(open_regular(path, most=most), "rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)
