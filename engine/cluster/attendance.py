"""Which workers of a cluster are there: those that go are told, those that are lost for good are started again where
this process has started the cluster.
"""

import asyncio
import logging
import time
from concurrent.futures import CancelledError
from threading import Lock

from distributed import Client, LocalCluster

from csaw.partition.errors import ClusterError

log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0  # between looks at the workers
REPLACE_SECONDS = 20.0  # after which a worker that is not there is lost for good
DESERTED_SECONDS = 120.0  # without any worker of a local cluster
REMIND_SECONDS = 60.0  # between messages that no worker is there
LOST = (CancelledError, asyncio.CancelledError, TimeoutError, OSError)
"""The errors in place of a result that died with its worker, or of a task that died with its scheduler."""


class Attendance:
    """The addresses of the ``workers`` of a client.

    ``safe``: what an error says of the work that is done. Any thread may look.
    """

    def __init__(self, client: Client, safe: str) -> None:
        self.client, self.safe, self.lock = client, safe, Lock()
        self.workers: set[str] = set()
        self.threads = 0  # of all workers, for tasks
        self.begin()
        self.wanted = 0 if client.cluster is None else len(client.cluster.worker_spec)

    def begin(self) -> None:
        """Begin to count the time for which workers are missing; the next look is a look."""
        self.looked = self.reminded = time.monotonic() - REMIND_SECONDS
        self.complete = self.peopled = time.monotonic()

    @property
    def is_reached(self) -> bool:
        """Whether the client is connected with its scheduler; while it tries to be again, calls of it would wait."""
        return bool(self.client.status == "running")

    def look(self) -> bool:
        """See which workers there are; False where that was done a moment ago.

        ClusterError where the scheduler or all workers of this machine are lost.
        """
        with self.lock:
            if (now := time.monotonic()) - self.looked < LOOK_SECONDS:
                return False
            self.looked = now
            self._look(now)
            return True

    def look_soon(self) -> None:
        """Let the next look be a look."""
        self.looked -= LOOK_SECONDS

    def _look(self, now: float) -> None:
        if not self.is_reached:
            raise self.lost()
        try:
            threads = self.client.nthreads()
        except (OSError, TimeoutError, RuntimeError) as error:
            raise self.lost() from error
        workers, self.threads = set(threads), sum(threads.values())
        if gone := sorted(self.workers - workers):
            log.warning(
                "%s gone; other workers take over the work",
                f"worker {gone[0]} is" if len(gone) == 1 else f"{len(gone)} workers are",
            )
        self.workers = workers
        self._replace_lost(now)
        if not workers and now - self.reminded >= REMIND_SECONDS:
            self.reminded = now
            log.info("no worker is there yet; waiting for one")

    def _replace_lost(self, now: float) -> None:
        """Start new workers for those that are lost for good, where this process has started the cluster.

        Dask itself gives up one that dies while it starts.
        """
        if (cluster := self.client.cluster) is None or len(self.workers) >= self.wanted:
            self.complete = now
        if self.workers or cluster is None:
            self.peopled = now
        elif isinstance(cluster, LocalCluster) and now - self.peopled > DESERTED_SECONDS:
            raise ClusterError(
                "all workers on this machine have died, and Dask has started none for "
                f"{DESERTED_SECONDS:.0f} seconds; {self.safe}"
            )
        if now - self.complete > REPLACE_SECONDS:
            self.complete = now
            if isinstance(cluster, LocalCluster):  # elsewhere, a worker that is not there may wait in a queue
                cluster.scale(len(self.workers))
            cluster.scale(self.wanted)

    def lost(self) -> ClusterError:
        """The error for a scheduler that is lost."""
        return ClusterError(f"the scheduler {self.client.scheduler.address} is lost; {self.safe}")
