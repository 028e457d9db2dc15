"""Work on pieces by threads, results in the order of the pieces; and parts of one work shared by several workers such
as GPUs, of which whoever is idle takes the next part.

Kernels, reads and writes let go of the interpreter meanwhile.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from queue import SimpleQueue
from threading import Condition
from typing import NamedTuple, ParamSpec, Self, TypeVar

# Work that Ctrl-C ends at once, however long a step of it takes: it is done in a thread, and asks now and then whether
# anybody still waits for it.

NAME = "csaw at work"  # of the thread: the command line does not wait for it
PATIENCE = 0.3  # seconds in which most works end
Given = ParamSpec("Given")

# Work on pieces by threads.

Result = TypeVar("Result")

_left: ContextVar[threading.Event | None] = ContextVar("left", default=None)


class Left(BaseException):
    """Ends a work that nobody waits for any more."""


def interruptible(work: Callable[[], Result]) -> Result:
    """Return what ``work`` returns. An interruption is raised at once; the work ends at its next :func:`go_on`, and
    keeps neither the caller nor the process.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        return work()
    left, coming = threading.Event(), Future[Result]()

    def do() -> None:
        _left.set(left)
        try:
            coming.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            coming.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(do,), name=NAME, daemon=True)
    thread.start()
    try:
        while not wait((coming,), PATIENCE).done:
            pass  # a signal that another thread took is heard when this one wakes up
        return coming.result()
    except BaseException:
        left.set()
        thread.join(PATIENCE)
        raise


def go_on() -> None:
    """End the work of this thread where nobody waits for it any more."""
    left = _left.get()
    if left is not None and left.is_set():
        raise Left


def heeding(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """``work`` for threads that do a part of this one's work: it ends where nobody waits for that any more."""
    left = _left.get()
    if left is None:
        return work

    def heard(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        token = _left.set(left)
        try:
            go_on()
            return work(*args, **kwargs)
        finally:
            _left.reset(token)

    return heard


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


def failed(error: Exception) -> Future[Result]:
    """A future whose result is an error."""
    future = Future[Result]()
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

    def in_order(
        self, work: Callable[..., Result], pieces: Iterable[tuple[object, ...]], piece_bytes: int = 1
    ) -> Iterator[Result]:
        """Yield ``work(*piece)`` of each; twice as many as there are threads are under way, or as many as have room.

        An error of the pieces comes after those of the work on earlier pieces: the first of a file is said, whatever
        the threads.
        """
        ahead = max(1, min(2 * self.threads, self.work_bytes // piece_bytes))
        return ordered(self._begun(heeding(work), pieces), ahead - 1)

    def _begun(self, work: Callable[..., Result], pieces: Iterable[tuple[object, ...]]) -> Iterator[Future[Result]]:
        for piece in _with_error(pieces):
            go_on()
            yield failed(piece) if isinstance(piece, Exception) else self.pool.submit(work, *piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)


def _with_error(pieces: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...] | Exception]:
    """The pieces, and at the end the error that there was."""
    try:
        yield from pieces
    except Exception as error:  # noqa: BLE001 - handed on
        yield error


# Sources that are read side by side, each by a thread of its own.
#
# They are for work whose results come in the order of the sources.
#
# A packed file is unpacked by one thread, however many there are, so several files are unpacked at the same time.
# Results of later sources wait until it is their turn, as many as there is room for.

AHEAD, MOST_OPEN = 2, 64  # sources that are open, and pieces in work, for each thread; sources together


class Source(NamedTuple):
    """``open`` gives pairs of (bytes that wait while its result does, arguments of the work).

    A source that ``waits`` begins in its turn.
    """

    open: Callable[[], Iterable[tuple[int, tuple[object, ...]]]]
    waits: bool = False


class Lanes:
    """Reads sources and has the ``crew`` work on their pieces.

    ``room`` says how many bytes may wait, and is asked again for each piece.
    """

    def __init__(self, crew: Crew, room: Callable[[], int]) -> None:
        self.crew, self.room = crew, room
        self.change = Condition()
        self.turn, self.stopped = 0, False
        self.held: dict[int, int] = {}  # bytes that wait, by source
        self.working = 0  # pieces that are not done: their text is in memory

    def in_order(self, work: Callable[..., Result], sources: Sequence[Source]) -> Iterator[Result]:
        """Yield ``work(*arguments)`` of each piece of each source in turn.

        An error of a source comes after the results of its earlier pieces.
        """
        lanes: list[deque[tuple[int, Future[Result] | None]]] = [deque() for _ in sources]
        readers = ThreadPoolExecutor(max(1, min(self.crew.threads, len(sources), MOST_OPEN)))
        try:
            for number, source in enumerate(sources):
                readers.submit(self._read, number, source, lanes[number], work)
            for number, lane in enumerate(lanes):
                with self.change:
                    self.turn = number
                    self.change.notify_all()
                while (job := self._next(number, lane)) is not None:
                    yield job.result()
        finally:
            with self.change:
                self.stopped = True
                self.change.notify_all()
            readers.shutdown(cancel_futures=True)
            left = [job for lane in lanes for _, job in lane if job is not None]
            for job in left:
                job.cancel()
            wait(left)

    def _next(self, number: int, lane: deque[tuple[int, Future[Result] | None]]) -> Future[Result] | None:
        """The next piece of work of the source whose turn it is; None behind its last."""
        with self.change:
            self.change.wait_for(lambda: lane)
            size, job = lane.popleft()
            self.held[number] = self.held.get(number, 0) - size
            self.change.notify_all()
        return job

    def _read(
        self, number: int, source: Source, lane: deque[tuple[int, Future | None]], work: Callable[..., object]
    ) -> None:
        """Put the work on all pieces of a source into its lane, then None."""
        try:
            if self._may_begin(number, source):
                for size, arguments in source.open():
                    if not self._has_room(number, size):
                        return
                    job = self.crew.pool.submit(work, *arguments)
                    job.add_done_callback(self._is_done)
                    self._put(lane, size, job)
        except Exception as error:  # noqa: BLE001 - handed on
            self._put(lane, 0, failed(error))
        self._put(lane, 0, None)

    def _may_begin(self, number: int, source: Source) -> bool:
        ahead = 0 if source.waits else min(AHEAD * self.crew.threads, MOST_OPEN)
        with self.change:
            self.change.wait_for(lambda: self.stopped or number <= self.turn + ahead)
            return not self.stopped

    def _has_room(self, number: int, size: int) -> bool:
        """Wait until ``size`` more bytes may wait; whatever others hold, the source whose turn it is goes on.

        False at the end of all work.
        """

        def free() -> bool:
            own = self.held.get(number, 0)
            in_turn = number == self.turn and (own == 0 or own + size <= self.crew.work_bytes // 4)
            has_room = in_turn or sum(self.held.values()) + size <= self.room()
            return self.stopped or (has_room and self.working < AHEAD * self.crew.threads)

        with self.change:
            self.change.wait_for(free)
            self.held[number] = self.held.get(number, 0) + size
            self.working += 1
            return not self.stopped

    def _is_done(self, _: Future) -> None:
        with self.change:
            self.working -= 1
            self.change.notify_all()

    def _put(self, lane: deque[tuple[int, Future | None]], size: int, job: Future | None) -> None:
        with self.change:
            lane.append((size, job))
            self.change.notify_all()


Worker = TypeVar("Worker")
Part = TypeVar("Part")


def on_each(workers: Sequence[Worker], work: Callable[[Worker, int], Result]) -> list[Result]:
    """Call ``work(worker, number)`` of all workers at the same time, each in a thread of its own.

    Returns what they returned, in order.

    A single worker works in this thread. Where some fail, the error of the first of them is raised when all have ended.
    """
    if len(workers) == 1:
        return [work(workers[0], 0)]
    with ThreadPoolExecutor(len(workers)) as threads:
        return list(threads.map(work, workers, range(len(workers))))


def in_order(
    workers: Sequence[Worker], parts: Iterable[Part], work: Callable[[Worker, Part], Result]
) -> Iterator[Result]:
    """``work(worker, part)`` of each part, in the order of ``parts``, whichever worker did it.

    A worker has one part at a time. As many parts as there are workers, and one more, have begun or wait before the
    first of them is taken by the caller. An error of a part is raised in its place, and parts that wait are dropped
    then, as when the caller stops.
    """
    if len(workers) == 1:
        yield from (work(workers[0], part) for part in parts)
        return
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def done(part: Part) -> Result:
        worker = idle.get()  # there are as many threads as workers
        try:
            return work(worker, part)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(len(workers)) as threads:
        yield from ordered((threads.submit(done, part) for part in parts), ahead=len(workers))
