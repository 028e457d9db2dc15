"""Work on pieces by threads, results in the order of the pieces.

Kernels, reads and writes let go of the interpreter meanwhile.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

from csaw.partition.base.interruptible import go_on, heeding

Result = TypeVar("Result")
WORK_BYTES = 40 << 20  # that threads may have in work, however small the budget


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered(futures: Iterable[Future[Result]], ahead: int) -> Iterator[Result]:
    """Yield the results of ``futures``, whose work begins when they are iterated, in their order.

    ``ahead`` of them have begun before the first result is taken. At an error, and when the caller stops, those that
    wait are cancelled, and those under way come to their end.
    """
    waiting: deque[Future[Result]] = deque()
    try:
        for future in futures:
            waiting.append(future)
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        wait(waiting)


def failed(error: Exception) -> Future[Any]:
    """A future whose result is an error."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


class Backlog:
    """Jobs in order whose results nobody waits for, with ``most`` bytes of data at a time.

    Without threads, each is done at once.
    """

    def __init__(self, pool: ThreadPoolExecutor | None = None, most: int = 0) -> None:
        self.pool, self.most, self.bytes = pool, most, 0
        self.jobs: deque[tuple[int, Future]] = deque()

    def add(self, size: int, work: Callable[..., Result], *arguments: object) -> Callable[[], Result]:
        """Begin a job on ``size`` bytes, and return a function that waits for its result.

        Raises what an earlier one raised, or this one without threads.
        """
        if self.pool is None:
            result = work(*arguments)
            return lambda: result
        future = self.pool.submit(heeding(work), *arguments)
        self.jobs.append((size, future))
        self.bytes += size
        while self.bytes > self.most and len(self.jobs) > 1:
            self._await_oldest()
        return future.result

    def finish(self) -> None:
        """Wait for all of them; raises what one raised."""
        while self.jobs:
            self._await_oldest()

    def drop(self) -> None:
        """Begin none that waits, and wait for those that have begun, whatever becomes of them: after an error."""
        futures = [future for _, future in self.jobs]
        for future in futures:
            future.cancel()
        wait(futures)
        self.jobs.clear()

    def _await_oldest(self) -> None:
        size, future = self.jobs.popleft()
        self.bytes -= size
        future.result()


class Crew:
    """The threads of an ingest, and the bytes that they may have in work beside what it keeps: an eighth of ``memory``
    and a little more.
    """

    def __init__(self, threads: int, memory: int) -> None:
        self.threads, self.work_bytes = threads, WORK_BYTES + memory // 8
        self.pool = ThreadPoolExecutor(threads)

    def backlog(self) -> Backlog:
        return Backlog(self.pool, self.work_bytes // 4)

    def in_order(self, work: Callable[..., Result], pieces: Iterable[tuple], piece_bytes: int = 1) -> Iterator[Result]:
        """Yield ``work(*piece)`` of each; twice as many as there are threads are under way, or as many as have room.

        An error of the pieces comes after those of the work on earlier pieces: the first of a file is said, whatever
        the threads.
        """
        ahead = max(1, min(2 * self.threads, self.work_bytes // piece_bytes))
        return ordered(self._begun(heeding(work), pieces), ahead - 1)

    def _begun(self, work: Callable[..., Result], pieces: Iterable[tuple]) -> Iterator[Future[Result]]:
        for piece in _with_error(pieces):
            go_on()
            yield failed(piece) if isinstance(piece, Exception) else self.pool.submit(work, *piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)


def _with_error(pieces: Iterable[tuple]) -> Iterator[tuple | Exception]:
    """The pieces, and at the end the error that there was."""
    try:
        yield from pieces
    except Exception as error:  # noqa: BLE001 - handed on
        yield error
