"""The system's locks of open files, flock(2), by which csaw's processes keep out of each other's way.

A lock ends with the process that holds it, however that ends. Some file systems, such as NFS and Lustre in some homes,
have none: a lock is then not held, and what it guards is safe by itself or says what may happen.

filelock does not fit here. Its locks of files are exclusive only: those that are shared lock a database of SQLite. It
takes ENOSYS for a file system without locks, but raises the ENOLCK and EOPNOTSUPP of NFS and Lustre (4.3). The file by
which it then marks the owner stays when the owner is killed, and keeps processes on other machines out for ever.
"""

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTENDED = (errno.EAGAIN, errno.EACCES)  # POSIX allows both where another process holds a lock


def lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file, and return whether the lock is held: False where the file system has no locks.

    ``wait``: wait while another process holds it, rather than raise BlockingIOError.
    """
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno in CONTENDED:
            raise BlockingIOError(error.errno, error.strerror) from error
        return False
    return True


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep out all other processes that name this file, which is there meanwhile; whoever waited looks again what there
    is to do.
    """
    with open(path, "w") as file:
        lock(file.fileno(), wait=True)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
