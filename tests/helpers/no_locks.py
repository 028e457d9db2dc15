"""File systems that have no locks, as NFS and Lustre in some homes."""

import errno
import fcntl
import os

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF)
"""What flock(2) says there: without a lock manager, without the option of the mount, or of a kind of file."""


WITHOUT = """
import fcntl, os
def flock(descriptor, how):
    raise OSError({0}, os.strerror({0}))
fcntl.flock = flock
"""


def without_locks(monkeypatch, number):
    """Have every lock of this process refused with an error of this number."""

    def flock(descriptor, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


def for_children(folder, number):
    """Have the locks of Python's processes refused that have the folder in PYTHONPATH."""
    (folder / "sitecustomize.py").write_text(WITHOUT.format(number))
