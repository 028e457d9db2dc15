"""Clusters by name: a scheduler's address or file, workers on this machine, or those that a job scheduler or an MPI job
starts.
"""

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from csaw.engine.cluster.listening import address_in, require_listener
from csaw.engine.cluster.tracker import silent_tracker
from csaw.partition.base.interruptible import interruptible
from csaw.partition.base.python_names import COMMAND_LINE
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import ClusterError, MissingDependencyError, OptionError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

log = logging.getLogger(__name__)
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
        raise OptionError(f"--cluster: expected {FORMS}, found {quoted(text)}, which is no file either")

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
                f"--cluster {cluster.place} cannot be used: {error or type(error).__name__}; look whether "
                "its scheduler runs"
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
