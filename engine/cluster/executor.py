"""Executors: how tasks on plain data come to the workers of a cluster, and their outcomes back.

An executor is a class that does what :class:`Executor` says; dask_executor.py has that of Dask. Runs use nothing else
of a cluster: the process that leads submits tasks, and in a worker a task finds its :func:`seat` and, by the name of
the run, the member of the run that sits there.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from csaw.partition.base.parallel import Result
from csaw.partition.errors import ClusterError, CsawError


@dataclass(frozen=True)
class Seat:
    """The place of a worker."""

    worker: str
    """Its name and address, for messages."""
    address: str
    number: int | None
    """Its number among the workers that were started on this machine; None elsewhere."""
    threads: int
    """Tasks that it does at a time."""
    memory: int | None
    """Bytes of memory that csaw may take there; None if nobody has set a limit."""


class Member:
    """The part of a run that each worker keeps until the run ends. It is made where the run is led, and copied."""

    def setup(self, seat: Seat) -> None:
        """Begin in a worker, before its first task."""

    def teardown(self) -> None:
        """End, as the run does."""


class WorkerDied(Exception):
    """In place of a result: several workers have died with the task, one after the other, the last at ``address``."""

    def __init__(self, address: str) -> None:
        super().__init__(f"the worker at {address} died")
        self.address = address


class ResultLost(Exception):
    """In place of a result that is gone with its worker, or of a task that is gone with its scheduler."""


class Executor(Protocol):
    """Workers that come and go, and what they are given to do. Any thread may call its methods.

    ``safe``: what errors say of the work that is done.
    """

    safe: str

    @property
    def workers(self) -> Collection[str]:
        """The addresses of the workers that were there when last looked."""

    @property
    def threads(self) -> int:
        """Tasks that all of them do at a time."""

    @property
    def wanted(self) -> int:
        """Workers that this process has started, or is starting; 0 if it has started none."""

    @property
    def is_reached(self) -> bool:
        """Whether the scheduler answers."""

    def look(self) -> bool:
        """See which workers there are; False if that was done a moment ago.

        ClusterError if the scheduler is lost, or all workers of this machine.
        """

    def look_soon(self) -> None:
        """Let the next look be a look."""

    def lost(self) -> ClusterError:
        """The error for a scheduler that is lost."""

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
        """Have a worker call ``function(*arguments)``, and return the task.

        The executor gives the task of a worker that dies to another one, some times; then the outcome is WorkerDied.
        With ``only`` it is so at the first death.

        Args:
            function: what a worker calls; it can be pickled.
            *arguments: what it is called with; they can be pickled.
            ended: called as ``ended(task, outcome)`` in any thread; the outcome is a result, or the exception in its
                place: WorkerDied, ResultLost, or what the function raised.
            seconds: to bring a result once it is there.
            rather: addresses of workers that are to do it, if they can.
            only: the address of the one that is to do it. A worker that takes another's place has a new address.
        """

    def cancel(self, tasks: Collection[Hashable]) -> None:
        """Let none of these tasks begin any more; those that have begun end."""

    def joined(self, member: Member) -> AbstractContextManager[str]:
        """Give each worker, those that come later too, its copy of a run's member until the block ends.

        Yields the name of the run. ClusterError if a worker has another csaw; it names the first one.
        """


_here = threading.local()


@contextmanager
def seated(seat: Seat, members: Mapping[str, Member]) -> Iterator[None]:
    """Let a task that this thread does inside the block find its worker's seat, and members by the names of runs."""
    _here.seat, _here.members = seat, members
    try:
        yield
    finally:
        del _here.seat, _here.members


def seat() -> Seat:
    """The seat of the worker that does this task."""
    found = _here.seat
    assert isinstance(found, Seat)
    return found


def member_of(run: str) -> Member:
    """The member of a run in the worker that does this task."""
    found = _here.members[run]
    assert isinstance(found, Member)
    return found


# Tasks that an executor has been given: handed out, taken in, tried again and cancelled.

log = logging.getLogger(__name__)
WAIT_SECONDS = 0.5  # for a task that ends, between looks at the workers
MOST_FAILURES = 2  # of a key, by errors that are none of csaw's

Key = TypeVar("Key", bound=Hashable)


class UnderWay(Generic[Key]):
    """Tasks under way, each for a key of the caller's; several may be for the same one. For one thread.

    ``seconds``: to bring a result once it is there; then its worker has died with it.
    """

    def __init__(self, executor: Executor, seconds: float) -> None:
        self.executor, self.seconds = executor, seconds
        self.tasks: dict[Hashable, Key] = {}
        self.outcomes: SimpleQueue[tuple[Hashable, object]] = SimpleQueue()
        self.failures: Counter[Key] = Counter()

    def __len__(self) -> int:
        return len(self.tasks)

    def number_of(self, key: Key) -> int:
        """Tasks under way for a key."""
        return sum(one == key for one in self.tasks.values())

    def submit(
        self,
        key: Key,
        function: Callable[..., object],
        *arguments: object,
        rather: Collection[str] = (),
        only: str | None = None,
    ) -> None:
        """Have ``function(*arguments)`` called for a key; ``rather`` and ``only`` as of Executor.submit."""
        ended = lambda task, outcome: self.outcomes.put((task, outcome))
        task = self.executor.submit(function, arguments, ended, seconds=self.seconds, rather=rather, only=only)
        self.tasks[task] = key

    def take(self) -> tuple[Key, object] | None:
        """The key and the outcome of a task that has ended; None if none does in a moment."""
        try:
            task, outcome = self.outcomes.get(timeout=WAIT_SECONDS)
        except Empty:
            return None
        return None if task not in self.tasks else (self.tasks.pop(task), outcome)  # others were cancelled

    def may_try_again(self, key: Key, outcome: object, done: str) -> bool:
        """Whether a task that has failed is worth another try: after an error of Python or of a library, which may not
        come again, a few times.

        ``done``: what is done once more, for the log.
        """
        if not isinstance(outcome, Exception) or isinstance(outcome, CsawError | WorkerDied):
            return False
        if self.failures[key] == MOST_FAILURES or not self.executor.is_reached:
            return False
        self.failures[key] += 1
        log.warning("%s again: %s: %s", done, type(outcome).__name__, outcome)
        return True

    def cancel(self, key: Key | None = None) -> None:
        """Let no task of a key begin any more, or none at all."""
        gone = [task for task, one in self.tasks.items() if key is None or one == key]
        for task in gone:
            del self.tasks[task]
        if gone:
            self.executor.cancel(gone)


# Tasks on plain data by the workers of a cluster.
#
# Results come in the order of the tasks, whatever becomes of the workers.

RESULT_SECONDS = 120.0  # to bring a result
AHEAD = 4  # tasks under way for each thread of a worker


class Spread:
    """Does tasks by the workers of an executor: a function with each of some arguments.

    Several threads may do so at a time.

    A task whose worker dies is done again by another one. Raises what a task raised, in its turn; ClusterError where
    the cluster is lost, or where a task kills its workers.
    """

    def __init__(self, executor: Executor) -> None:
        self.executor, self.stopped = executor, False
        self.workers = max(1, len(executor.workers), executor.wanted)
        """How many there are at the begin, or are being started."""

    def __call__(self, function: Callable[..., Result], arguments: Sequence[tuple[object, ...]]) -> Iterator[Result]:
        """``function(*given)`` for each of the ``arguments``, in their order.

        A few more than there are workers are under way, so that few results wait for their turn.
        """
        tasks: UnderWay[int] = UnderWay(self.executor, RESULT_SECONDS)
        results: dict[int, object] = {}
        submitted = 0
        try:
            for number in range(len(arguments)):
                end = min(number + AHEAD * max(self.workers, self.executor.threads), len(arguments))
                for following in range(submitted, end):
                    tasks.submit(following, function, *arguments[following])
                submitted = max(submitted, end)
                while number not in results:
                    self.executor.look()
                    if (taken := tasks.take()) is not None:
                        done, outcome = taken
                        if tasks.may_try_again(done, outcome, f"task {done} is done"):
                            tasks.submit(done, function, *arguments[done])
                        else:
                            results[done] = outcome
                    if self.stopped:
                        raise ClusterError(f"the run is stopped; {self.executor.safe}")
                yield self._checked(results.pop(number))
        finally:
            tasks.cancel()

    def stop(self) -> None:
        """End what other threads still wait for, at the end of all work or after an error."""
        self.stopped = True

    def _checked(self, outcome: object) -> Any:
        """A result; what stands in its place is raised."""
        if isinstance(outcome, WorkerDied):
            raise ClusterError(
                f"a task kills its workers, the last one at {outcome.address}; they may have too little memory: "
                f"give them more, or lower --memory, which is for each task; {self.executor.safe}"
            ) from outcome
        if isinstance(outcome, ResultLost):
            raise self.executor.lost() from outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome
