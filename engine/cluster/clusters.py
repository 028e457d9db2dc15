"""Clusters by name: a scheduler's address or file, workers on this machine, or those that a job scheduler or an MPI job
starts.
"""

import json
import logging
import os
import re
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from csaw.engine.cluster.executor import Executor
from csaw.partition.base.parallel import interruptible
from csaw.partition.base.python_names import COMMAND_LINE
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import ClusterError, MissingDependencyError, OptionError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

# Whether a scheduler listens at its address, asked before Dask is, which would try for half a minute in silence.

log = logging.getLogger(__name__)
SECONDS_TO_LISTEN = 10.0  # a scheduler that starts at the same time as csaw may need them
SECONDS_TO_ANSWER = 3.0  # one attempt
SECONDS_TO_WRITE = 1.0  # the file of a scheduler, which Dask does not write in one step
PLAIN = ("tcp", "tls")  # other protocols of Dask are left to it
SCHEDULERS_PORT = 8786


def require_listener(address: str) -> None:
    """Wait until something listens at the address of a scheduler, and say so where that takes time.

    Raises:
        ClusterError: nothing listens there after ``SECONDS_TO_LISTEN``, or this is no address.
    """
    until, told = time.monotonic() + SECONDS_TO_LISTEN, False
    while reason := _silent(address):
        if time.monotonic() > until:
            raise ClusterError(
                f"--cluster: no scheduler listens at {address} ({reason}); check that it runs there, and run the "
                "command again"
            )
        if not told:
            log.warning("nothing listens at %s yet (%s); trying for %g seconds", address, reason, SECONDS_TO_LISTEN)
        told = True
        time.sleep(0.2)


def _silent(address: str) -> str:
    """Why nothing can be reached at an address; nothing where something listens, or where Dask alone could tell."""
    if address.partition("://")[0] not in PLAIN:
        return ""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        where = parse_host_port(parse_address(address)[1], SCHEDULERS_PORT)
        socket.create_connection(where, timeout=SECONDS_TO_ANSWER).close()
    except (ValueError, OverflowError) as error:
        raise ClusterError(f"--cluster: expected an address such as tcp://host:8786, found {address}") from error
    except OSError as error:
        return error.strerror or str(error)
    return ""


def address_in(file: str) -> str:
    """The address in the file of a scheduler, which may write it just now; ClusterError where it has none."""
    until = time.monotonic() + SECONDS_TO_WRITE
    while True:
        try:
            return str(json.loads(Path(file).read_text())["address"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            if time.monotonic() > until:
                raise ClusterError(
                    f"--cluster {file}: expected the file that dask scheduler --scheduler-file writes, with an "
                    "address, found none in it"
                ) from error
        time.sleep(0.02)


FORMS = "a scheduler's address such as tcp://host:8786, its file, local:N, slurm:N, lsf:N or mpi"
JOBS = {"slurm": "SLURMCluster", "lsf": "LSFCluster"}
MOST_WORKERS = 10_000
DISTRIBUTED = "distributed>=2025.1"
NOISY = ("distributed", "tornado", "asyncio")  # loggers


@dataclass(frozen=True)
class Cluster:
    """The cluster that ``--cluster`` names.

    ``kind`` is address, file, mpi, or local, slurm or lsf with a number of ``workers``.
    """

    kind: str
    place: str
    workers: int = 1

    @classmethod
    def of(cls, text: str) -> "Cluster":
        """The cluster that a text names; OptionError where it names none."""
        if text == "mpi":
            return cls("mpi", text)
        if found := re.fullmatch(r"(local|slurm|lsf)(?::(\d{1,5}))?", text):
            workers = int(found[2] or 1)
            if not 1 <= workers <= MOST_WORKERS:
                raise OptionError(f"--cluster {text}: expected 1 to {MOST_WORKERS} workers")
            return cls(found[1], text, workers)
        if re.fullmatch(r"(tcp|tls|ucx|wss?)://.+", text):
            return cls("address", text)
        if Path(text).is_file():
            return cls("file", text)
        raise OptionError(f"--cluster: expected {FORMS}, found {quoted(text)}, which is not a file either")

    @property
    def is_local(self) -> bool:
        """Whether its workers share this machine with this process."""
        return self.kind == "local"


def begin(cluster: Cluster) -> None:
    """In an MPI job, split its processes: the first one schedules, the second one goes on here, and the others become
    workers, for which this call does not return.
    """
    if cluster.kind == "mpi":
        library = _library("dask_mpi", "dask-mpi")
        logging.getLogger("distributed").setLevel(
            logging.CRITICAL
        )  # workers report that their scheduler ends as an error
        library.initialize(nthreads=1, nanny=False, dashboard=False)


def require_scheduler(cluster: Cluster) -> None:
    """Wait for a scheduler that should run already; one that is yet to be started is not waited for.

    Raises ClusterError where none listens at its address.
    """
    if cluster.kind in ("address", "file"):
        _library("distributed", DISTRIBUTED)
        require_listener(cluster.place if cluster.kind == "address" else address_in(cluster.place))


class Closing(Protocol):
    """A client or a cluster of Dask."""

    def close(self, timeout: float) -> object: ...


@contextmanager
def connected(cluster: Cluster) -> Iterator["Client"]:
    """A client of the cluster, which is started if it has to be, and stopped if it was started here.

    ClusterError where it cannot be reached or started, MissingDependencyError where a library is not installed.
    """
    distributed = _library("distributed", DISTRIBUTED)
    require_scheduler(cluster)
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        try:
            client = _client(distributed, cluster, stack)
        except (OSError, RuntimeError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"--cluster {cluster.place} cannot be used: {error or type(error).__name__}; check that its "
                "scheduler runs"
            ) from error
        stack.callback(_closed, client)
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Dask and what it runs on log nothing, not even that its scheduler is lost, with a traceback: what becomes of
    scheduler and workers is said by the run.
    """
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in NOISY]
    levels = {name: logging.getLogger(name).level for name in (*NOISY, *known)}  # children may have levels of their own
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    restore = True
    try:
        yield
    except KeyboardInterrupt:
        restore = not COMMAND_LINE.get()  # what a command still closes at its end says nothing, either
        raise
    finally:
        for name, level in levels.items() if restore else ():
            logging.getLogger(name).setLevel(level)


def _closed(held: Closing) -> None:
    """Close a client or a cluster.

    What goes wrong then, as where a worker has just died, changes nothing of the run.
    """
    try:
        held.close(timeout=10)
    except (OSError, TimeoutError, RuntimeError, LookupError, AttributeError) as error:
        log.debug("the cluster did not close: %r", error)


def _client(distributed: ModuleType, cluster: Cluster, stack: ExitStack) -> "Client":
    if cluster.kind == "local":
        stack.enter_context(silent_tracker())
        started = _local(distributed, cluster.workers)
        stack.callback(_closed, started)
        return distributed.Client(started, set_as_default=False)
    if cluster.kind in JOBS:
        started = getattr(_library("dask_jobqueue", "dask-jobqueue>=0.9"), JOBS[cluster.kind])()
        stack.callback(_closed, started)
        started.scale(jobs=cluster.workers)
        log.info("asked %s for %d jobs; each is to run one worker", cluster.kind, cluster.workers)
        return distributed.Client(started, set_as_default=False)
    if cluster.kind == "file":
        return distributed.Client(scheduler_file=cluster.place, set_as_default=False)
    return distributed.Client(None if cluster.kind == "mpi" else cluster.place, set_as_default=False)


def _local(distributed: ModuleType, workers: int) -> "LocalCluster":
    """Start workers on this machine, each with one thread for tasks.

    csaw bounds their memory, not Dask, which would stop them. A terminal's Ctrl-C, which goes to all processes, is left
    to this one: the threads that start workers, now and later, begin with it blocked, and so do the workers.
    """

    def start() -> "LocalCluster":
        getattr(resource_tracker, "_resource_tracker", resource_tracker).ensure_running()  # it unblocks the signal
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    return interruptible(start)


def _library(name: str, package: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"--cluster needs {name}, which cannot be imported here ({error}); pip install '{package}'"
        ) from error


# Python's resource tracker beside a cluster on this machine: a process that remembers what workers share, and that
# prints tracebacks once another one was killed.
#
# Where it dies, Python begins another, which knows nothing of what the first one remembered and says so for each of it.
# Nothing of a run depends on it.

BEGINS = (
    "ensure_running",
    "_ensure_running_and_write",
)  # of the tracker: what begins its process, in Python 3.11 and in later ones
STDERR = 2


@contextmanager
def silent_tracker() -> Iterator[None]:
    """Let trackers that are begun inside the block write to nowhere, for as long as they live."""
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    if tracker is None:
        yield
        return
    held = [name for name in BEGINS if hasattr(tracker, name)]
    for name in held:
        setattr(tracker, name, _silently(tracker, getattr(tracker, name)))
    try:
        yield
    finally:
        with suppress(OSError):
            for name in held[:1]:
                getattr(
                    tracker, name
                )()  # one that died meanwhile is begun here, and not by what Python does at its end
        for name in held:
            delattr(tracker, name)


class Tracker(Protocol):
    """Python's tracker of resources, by what says whether its process lives."""

    _fd: int | None

    def _check_alive(self) -> bool: ...


def _silently(tracker: Tracker, begin: Callable[..., object]) -> Callable[..., object]:
    def begun(*given: object) -> object:
        if tracker._fd is not None and tracker._check_alive():
            return begin(*given)
        with warnings.catch_warnings(), _to_nowhere():
            warnings.simplefilter("ignore", UserWarning)  # that it died
            return begin(*given)

    return begun


@contextmanager
def _to_nowhere() -> Iterator[None]:
    """Let processes that are begun inside the block inherit a standard error that goes nowhere."""
    kept, nowhere = os.dup(STDERR), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        os.dup2(kept, STDERR)
        os.close(kept)
        os.close(nowhere)


# Opening the executor of a cluster by the cluster's name.


@contextmanager
def opened(cluster: Cluster, safe: str) -> Iterator[Executor]:
    """The executor of a cluster, which is started if it has to be, and stopped if it was started here.

    ``safe``: what errors say of the work that is done. Errors: those of ``connected``.
    """
    with connected(cluster) as client:
        from csaw.engine.cluster.dask_executor import DaskExecutor  # imports Dask, which is optional

        yield DaskExecutor(client, safe, local=cluster.is_local)
