"""A folder for stores that are made of a window of a graph, such as its undirected one, and go with it: nobody asks for
the same window often enough to keep them, and there are many windows.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from csaw.partition.base.cache import cache_dir

PREFIX = "window-"


class WindowFolder:
    """A new folder in the cache, removed by ``close``. What a killed process has left is removed when one is made."""

    def __init__(self) -> None:
        base = cache_dir() / "networks"
        base.mkdir(parents=True, exist_ok=True)
        for left in base.glob(f"{PREFIX}*"):
            if _is_left(left):
                shutil.rmtree(left, ignore_errors=True)
        made = Path(tempfile.mkdtemp(prefix=".csaw-", dir=base))
        self.lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(OSError):  # some network file systems have no locks: there, none is taken for left
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.path = made.rename(base / f"{PREFIX}{made.name.removeprefix('.csaw-')}")  # seen once it is locked

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self.lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.lock = -1


def _is_left(folder: Path) -> bool:
    """Whether no process holds the lock of a folder."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
