"""Faults of a cluster's workers, and groups so small that a sample of a moment has many."""

import errno
import os
import signal
import threading
import time

from distributed import WorkerPlugin

GROUP_BYTES = 4000


class SmallGroups(WorkerPlugin):
    """Workers, those that come later too, cut samples into groups as this process does, and draw slowly if that is
    wished.
    """

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def setup(self, worker):
        from csaw.engine.plan import planning

        planning.GROUP_BYTES = GROUP_BYTES
        set_pace(self.seconds)


def set_pace(seconds):
    """Make each unit of this process take so many seconds more; what it returns is that of before.

    Units that wait since an earlier call go on.
    """
    from csaw.engine.cluster import drawer

    kept = getattr(drawer.Drawer, "quick", drawer.Drawer.draw)
    drawer.Drawer.quick = kept
    if hasattr(drawer.Drawer, "called"):
        drawer.Drawer.called.set()
    called = drawer.Drawer.called = threading.Event()

    def slow(self, groups, worker):
        called.wait(seconds)
        drawer.Drawer.awoken += 1
        return kept(self, groups, worker)

    drawer.Drawer.awoken = 0
    drawer.Drawer.draw = slow


def units_begun():
    """How many units of this process have begun, of those that ``set_pace`` delays."""
    from csaw.engine.cluster import drawer

    return drawer.Drawer.awoken


def set_version(version):
    """Pretend that this process has another version of csaw."""
    from csaw.partition.base import version as held

    before, held.VERSION = held.VERSION, version
    return before


def fill_disk(full, folder):
    """Let every write of this process below ``folder`` end on a full disk, or none any more."""
    from csaw.engine.samples import files

    held = getattr(files, "on_an_empty_disk", files._written)
    files.on_an_empty_disk = held

    def written(path, pieces):
        if str(path).startswith(folder):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return held(path, pieces)

    files._written = written if full else held


def set_memory(bytes_, dask_worker):
    """Have Dask say that this worker may take so many bytes; what it said before."""
    before = dask_worker.memory_manager.memory_limit
    dask_worker.memory_manager.memory_limit = bytes_
    return before


def kill(pid):
    os.kill(pid, signal.SIGKILL)


class SlowTasks(WorkerPlugin):
    """Workers, those that come later too, that take so many seconds more for a task of an ingest or an evaluation."""

    def __init__(self, seconds):
        self.seconds = seconds

    def setup(self, worker):
        from csaw.engine.analytics.cluster import measurer
        from csaw.engine.cluster import ingest

        self.kept = ingest._by_worker, measurer._on
        ingest._by_worker, measurer._on = (self._slow(quick) for quick in self.kept)

    def teardown(self, worker):
        from csaw.engine.analytics.cluster import measurer
        from csaw.engine.cluster import ingest

        ingest._by_worker, measurer._on = self.kept

    def _slow(self, quick):
        def slow(*given):
            time.sleep(self.seconds)
            return quick(*given)

        return slow
