"""A folder for stores that are made of a window of a graph, such as its undirected one, and are removed with it: the
same window is rarely needed again, and there are many windows.
"""

import os
import re
import shutil
import socket
import tempfile
import time
from pathlib import Path

from csaw.partition.base.cache import cache_dir, make_folder, written_here
from csaw.partition.base.file_locks import lock

PREFIX, DRAFT = "window-", ".csaw-window-"
DRAFT_SECONDS = 3600.0  # far longer than a process takes to lock what it has made


class WindowFolder:
    """A new folder in the cache, removed by ``close``. What a killed process has left is removed when one is made.

    Its name ends with that of the host: locks of folders hold on their own host alone, where several share a disk, so
    that each host removes none but its own.
    """

    def __init__(self) -> None:
        base = cache_dir() / "networks"
        make_folder(base)
        here = f"@{_host()}"
        for left in [*base.glob(f"{PREFIX}*{here}"), *filter(_is_old, base.glob(f"{DRAFT}*{here}"))]:
            if _is_left(left):
                shutil.rmtree(left, ignore_errors=True)
        with written_here(base):
            made = Path(tempfile.mkdtemp(prefix=DRAFT, suffix=here, dir=base))
        self.lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        lock(self.lock)  # where the file system has no locks, no folder is taken for left
        self.path = made.rename(base / f"{PREFIX}{made.name.removeprefix(DRAFT)}")  # seen once it is locked

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self.lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.lock = -1


def _host() -> str:
    """The name of this host, of characters that a file name and a pattern can have."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", socket.gethostname())


def _is_old(draft: Path) -> bool:
    """Whether a folder without its lasting name was made so long ago that its process was killed."""
    try:
        return time.time() - draft.stat().st_mtime > DRAFT_SECONDS
    except OSError:
        return False


def _is_left(folder: Path) -> bool:
    """Whether no process holds the lock of a folder."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return lock(handle)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
