"""Sources that are read side by side, each by a thread of its own.

They are for work whose results come in the order of the sources.

A packed file is unpacked by one thread, however many there are, so several files are unpacked at the same time. Results
of later sources wait until it is their turn, as many as there is room for.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Condition
from typing import NamedTuple

from csaw.partition.base.parallel import Crew, Result, failed

AHEAD, MOST_OPEN = 2, 64  # sources that are open, and pieces in work, for each thread; sources together


class Source(NamedTuple):
    """``open`` gives pairs of (bytes that wait while its result does, arguments of the work).

    A source that ``waits`` begins in its turn.
    """

    open: Callable[[], Iterable[tuple[int, tuple]]]
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

    def _read(self, number: int, source: Source, lane: deque[tuple[int, Future | None]], work: Callable) -> None:
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
