"""Units of groups: runs of consecutive groups that a sample store still lacks, handed out to
the worker that asks next.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.schedule.batch_loop import FinishedBatch

Progress = Callable[[int], None] | None


class Units:
    """Groups of a sample that are to be drawn, handed out to any thread in units of at most ``size`` groups, and of as
    many as a worker draws before it keeps them.

    After ``stop``, none is handed out.

    A unit that is given back, because its device has failed, goes to the worker that asks next. So a worker that asks
    while a unit is out waits for it.
    """

    def __init__(self, writer: GroupWriter, groups: Iterable[int], size: int, progress: Progress = None) -> None:
        self.writer, self.progress, self.changed = writer, progress, threading.Condition()
        self.left, self.out = deque(runs(groups, size)), 0
        self.done = sum(writer.rows(g) for g in writer.done)
        self.edges = self.dead_ends = 0  # of what this run has written
        self.stopped = False

    def next(self, most: int) -> list[int] | None:
        """The next unit, of at most so many groups; None where nothing is left."""
        with self.changed:
            while self.out and not self.left and not self.stopped:
                self.changed.wait()
            if self.stopped or not self.left:
                return None
            self.out += 1
            run = self.left.popleft()
            if len(run) > most:
                self.left.appendleft(run[most:])
            return run[:most]

    def finished(self, unit: list[int], drawn: list[FinishedBatch]) -> None:
        """Report a unit that is written and count its edges and dead ends.

        Workers that wait are told first: what shows progress fails where nobody reads it any more.
        """
        with self.changed:
            self.out -= 1
            self.edges += sum(batch.edges for batch in drawn)
            self.dead_ends += sum(batch.dead_ends for batch in drawn)
            self.done += sum(self.writer.rows(g) for g in unit)
            self.changed.notify_all()
            if self.progress:
                self.progress(self.done)

    def give_back(self, unit: list[int]) -> None:
        """Return a unit that this worker cannot finish, for other workers."""
        with self.changed:
            self.out -= 1
            self.left.append(unit)
            self.changed.notify_all()

    def part(self, unit: list[int]) -> None:
        """Return a unit for which memory is too short, and hand out one group at a time from now on, to all workers."""
        with self.changed:
            self.out -= 1
            self.left = deque([group] for each in (unit, *self.left) for group in each)
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


def runs(groups: Iterable[int], size: int) -> Iterator[list[int]]:
    """Runs of at most ``size`` consecutive groups."""
    run: list[int] = []
    for g in groups:
        if run and (run[-1] != g - 1 or len(run) == size):
            yield run
            run = []
        run.append(g)
    if run:
        yield run
