"""The executor of a Dask cluster."""

import asyncio
import logging
import secrets
import signal
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from threading import Lock

from distributed import Client, Future, KilledWorker, LocalCluster, Worker, WorkerPlugin, get_worker

from csaw.engine.cluster.executor import Member, ResultLost, Seat, WorkerDied, seated
from csaw.engine.cluster.recipe import memory_of
from csaw.engine.runs.job import DRAWS
from csaw.partition.base.version import VERSION
from csaw.partition.errors import ClusterError, CsawError

# Which workers of a cluster are there: those that go are told, those that are lost for good are started again where
# this process has started the cluster.

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
            assert cluster is not None
            cluster.scale(self.wanted)

    def lost(self) -> ClusterError:
        """The error for a scheduler that is lost."""
        return ClusterError(f"the scheduler {address_of(self.client)} is lost; {self.safe}")


def address_of(client: Client) -> str:
    """The address of a client's scheduler."""
    assert client.scheduler is not None
    return str(client.scheduler.address)


# The executor of a Dask cluster.


class DaskExecutor(Attendance):
    """The workers of a client. ``local``: whether they were started on this machine for the run."""

    def __init__(self, client: Client, safe: str, *, local: bool) -> None:
        super().__init__(client, safe)
        self.local = local

    def submit(
        self,
        function: Callable[..., object],
        arguments: Sequence[object],
        ended: Callable[[Hashable, object], None],
        *,
        seconds: float,
        rather: Collection[str] = (),
        only: str | None = None,
    ) -> Hashable:
        where: dict[str, bool | list[str]] = {"workers": sorted(rather), "allow_other_workers": True} if rather else {}
        if only is not None:
            where = {"workers": [only]}
        future = self.client.submit(_in_seat, function, *arguments, pure=False, **where)
        future.add_done_callback(lambda done: ended(done, _outcome(done, seconds)))
        return future

    def cancel(self, tasks: Collection[Hashable]) -> None:
        if self.is_reached:
            with suppress(OSError, TimeoutError, RuntimeError):
                self.client.cancel(list(tasks), force=True)

    @contextmanager
    def joined(self, member: Member) -> Iterator[str]:
        with joined(self.client, Joined(member, self.local)) as name:
            self.begin()  # workers may have waited in a queue until now
            self.look()
            yield name


def _outcome(future: Future[object], seconds: float) -> object:
    """The outcome of a task that has ended; called in a thread of the client."""
    try:
        found = future.exception(timeout=seconds) or future.result(timeout=seconds)
    except LOST as error:
        found = error
    if isinstance(found, KilledWorker):
        return WorkerDied(found.last_worker.address)
    if isinstance(found, LOST) and not isinstance(found, CsawError):
        return ResultLost(f"{type(found).__name__}: {found}")
    return found


def _in_seat(function: Callable[..., object], *arguments: object) -> object:
    """A task, as a worker of Dask does it."""
    worker = get_worker()
    plugins = {name: one for name, one in worker.plugins.items() if isinstance(one, Joined)}
    local = any(one.local for one in plugins.values())
    with seated(seat_of(worker, local), {name: one.member for name, one in plugins.items()}):
        return function(*arguments)


# The workers of a cluster joined for one run: there, of this version of csaw, and with the run's own plugin, which
# they drop at its end.

SECONDS_TO_COME = 5.0  # for workers that start with the run, before a word


class Joined(WorkerPlugin):
    """The member of a run in a worker of Dask.

    Ctrl-C is for the process that leads, which stops the workers: those on its machine do not hear it.
    """

    def __init__(self, member: Member, local: bool) -> None:
        self.member, self.local = member, local

    def setup(self, worker: Worker) -> None:
        if self.local and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.member.setup(seat_of(worker, self.local))

    def teardown(self, worker: Worker) -> None:
        self.member.teardown()


def seat_of(worker: Worker, local: bool) -> Seat:
    """The seat of a worker; ``local``: whether it was started on this machine for the run."""
    address, limit = worker.address, worker.memory_manager.memory_limit
    return Seat(
        worker=address if str(worker.name) == address else f"{worker.name} ({address})",
        address=address,
        number=worker.name if local and isinstance(worker.name, int) else None,
        threads=worker.state.nthreads,
        memory=memory_of(limit) if limit else None,
    )


@contextmanager
def joined(client: Client, plugin: Joined) -> Iterator[str]:
    """Register the plugin of a run with all workers, those that come later too, and yield the run's name.

    At the end, also after Ctrl-C, workers drop it.

    ClusterError where a worker has another csaw, and names the first one; or where the scheduler is lost.
    """
    name = f"csaw-{secrets.token_hex(8)}"
    try:
        _await_workers(client)
        _check_versions(client)
        client.register_plugin(plugin, name=name)
    except ClusterError:
        raise
    except (OSError, TimeoutError, RuntimeError) as error:
        raise ClusterError(
            f"the scheduler {address_of(client)} was lost before any work began; check that it runs, and run "
            "the command again"
        ) from error
    try:
        yield name
    finally:
        if client.status == "running":  # otherwise the scheduler is lost
            with suppress(OSError, TimeoutError, RuntimeError, ValueError):
                client.unregister_worker_plugin(name)


def _await_workers(client: Client) -> None:
    """Wait for a first worker, for as long as its job may wait in a queue."""
    said = time.monotonic() + SECONDS_TO_COME
    while not client.nthreads():
        if time.monotonic() > said:
            said = time.monotonic() + REMIND_SECONDS
            log.info("%s has no worker yet; waiting for one", address_of(client))
        time.sleep(0.1)


def _check_versions(client: Client) -> None:
    wanted = (VERSION, DRAWS)
    for address, found in client.run(_version_probe(), on_error="return").items():
        if isinstance(found, BaseException):
            raise ClusterError(f"worker {address} has no csaw ({found}); install csaw {VERSION} there")
        if tuple(found) != wanted:
            raise ClusterError(
                f"worker {address} has csaw {found[0]}, whose draws are version {found[1]}; expected "
                f"{wanted[0]} with draws of version {wanted[1]}, as here"
            )


def _version_probe() -> Callable[[], tuple[str, int]]:
    """A function that workers without csaw can load: Dask sends what is defined inside of another one as it is."""

    def said() -> tuple[str, int]:
        from csaw.engine.runs import job
        from csaw.partition.base import version

        return version.VERSION, job.DRAWS

    return said
