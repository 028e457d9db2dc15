"""Executors: how tasks on plain data come to the workers of a cluster, and their outcomes back.

An executor is a class that does what :class:`Executor` says; dask_executor.py has that of Dask. Runs use nothing else
of a cluster: the process that leads submits tasks, and in a worker a task finds its :func:`seat` and, by the name of
the run, the member of the run that sits there.
"""

import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from csaw.partition.errors import ClusterError


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
