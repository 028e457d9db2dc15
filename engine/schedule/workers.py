"""Drawing the groups of a sample store: one worker for each device draws a unit of groups while the unit before it is
written.

Units are handed out one at a time, so that a slow device does not hold up the others. Memory limits their size, and
what the run has measured (Pace). A unit has the same bytes whichever device draws it.

The parts of this file: ``Units``, which hands them out; ``write_unit``; ``sample_groups``, the workers of a run;
``draw_unit``, the instances of one unit.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, fields
from itertools import pairwise

from csaw.engine.plan.contracts import Partitions
from csaw.engine.samples.group_writer import Counts, GroupWriter
from csaw.engine.samples.identifiers import together
from csaw.engine.samples.opened import joined
from csaw.engine.schedule import batch_loop
from csaw.engine.schedule.backend import ALL, TALLY, Backend
from csaw.engine.schedule.batch_loop import Batches, FinishedBatch, InHostMemory, TooManyTogetherError
from csaw.engine.schedule.device_threads import failure, gave_up
from csaw.engine.schedule.schedule import Stopped
from csaw.engine.schedule.targets import batches_of
from csaw.engine.sources.sources import Sources
from csaw.partition.base.kernel_time import Lapse, Stopwatch, stand_aside
from csaw.partition.base.parallel import processors

# Units of groups: runs of consecutive groups that a sample store still lacks, handed out to
# the worker that asks next.

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


# Writing finished batches as groups of a sample store: one unit at a time, the groups of a unit in parallel.


def instances_of(unit: list[int], writer: GroupWriter) -> tuple[int, int]:
    """The first instance of a unit's groups, and the one after the last."""
    return unit[0] * writer.group_size, min((unit[-1] + 1) * writer.group_size, writer.instances)


def leaves_as_a_whole(writer: GroupWriter) -> bool:
    """Whether the samples of a unit must be copied from the device all at once: instances that differ in size must,
    since a group's edges begin where those before it end.
    """
    return writer.layout.comes_whole


def write_unit(unit: list[int], drawn: list[FinishedBatch], writer: GroupWriter, threads: ThreadPoolExecutor) -> None:
    """Write and commit the groups of a unit, each in one of ``threads``.

    Even when one fails, all writing has ended when this returns.
    """
    first, last = instances_of(unit, writer)
    bounds = [*range(0, last - first, writer.group_size), last - first]
    if leaves_as_a_whole(writer):
        parts = writer.layout.cut(joined([batch.arrays(ALL) for batch in drawn]), bounds)
        writes = [threads.submit(writer.write, group, part) for group, part in zip(unit, parts, strict=True)]
    else:
        spans = pairwise(bounds)
        if any(batch.read_back for batch in drawn):
            for group, span in zip(unit, spans, strict=True):
                _write_rows(writer, group, drawn, *span)
            return
        writes = [
            threads.submit(_write_rows, writer, group, drawn, *span) for group, span in zip(unit, spans, strict=True)
        ]
    _all_done(writes)


def _all_done(writes: list[Future[None]]) -> None:
    """Wait for all writes, even when one fails: another thread must not write a group that is still being written."""
    wait(writes)
    for one in writes:
        one.result()


def _write_rows(writer: GroupWriter, group: int, drawn: list[FinishedBatch], low: int, high: int) -> None:
    """Write the instances low .. high - 1 of consecutive batches of walks or hops, counted from the first instance of
    the first batch.

    What is large comes from a GPU piece after piece, through memory that is used again. The GPU converts ids if it can.
    """
    rows = _rows(drawn, low, high)
    stored = [batch.stored(some, writer.identifiers) for batch, some in rows]
    held = [one for one in stored if one is not None]
    if len(held) == len(rows):
        writer.write(group, together(held), converted=True)
    else:
        writer.write(group, joined([batch.arrays(some) for batch, some in rows]))


def _rows(drawn: list[FinishedBatch], low: int, high: int) -> list[tuple[FinishedBatch, slice]]:
    """Batches that have some of these instances, and their numbers in each."""
    parts, start = [], drawn[0].first
    for batch in drawn:
        before = batch.first - start
        begin, end = max(low - before, 0), min(high - before, batch.instances)
        if begin < end:
            parts.append((batch, slice(begin, end)))
    return parts


# Drawing the groups of a sample store.

log = logging.getLogger(__name__)

# Groups written at a time: a disk is busy only if several files wait for it, and each file is hashed by one thread.
WRITERS = min(max(8, processors()), 32)
# Of these, the largest of all workers counts: they work side by side.
LARGEST = ("seconds", "kernels_seconds", "loading_seconds", "waiting_seconds", "kernel_seconds", "kernel_deviation")
SAFE = "finished groups are safe; --resume completes the rest"
Losses = tuple[type[Exception], ...]


@dataclass
class Totals:
    """Counts and times of a run.

    Seconds and the deviation are the largest of any worker; all else is summed. backend.py explains the counts of
    selection (TALLY).
    """

    edges: int = 0
    kept_edges: int = 0  # of these, drawn before: see engine/samples/group_writer.py
    dead_ends: int = 0
    draws: int = 0
    collisions: int = 0
    searches: int = 0
    iterations: int = 0
    conflicts: int = 0
    rebuilt: int = 0
    transfers: int = 0
    transfer_bytes: int = 0
    read_bytes: int = 0
    evictions: int = 0
    in_place: int = 0
    overlapped: int = 0
    kernel_seconds: float = 0.0
    kernel_deviation: float = 0.0
    seconds: float = 0.0
    kernels_seconds: float = 0.0
    loading_seconds: float = 0.0
    waiting_seconds: float = 0.0

    def add(self, other: "Totals") -> None:
        for field in fields(Totals):
            mine, others = getattr(self, field.name), getattr(other, field.name)
            setattr(self, field.name, max(mine, others) if field.name in LARGEST else mine + others)


def sample_groups(
    backends: list[Callable[[], Backend]],
    sources: Sources,
    writer: GroupWriter,
    unit_size: int,
    progress: Progress,
    losses: Losses,
    groups: Iterable[int] | None = None,
) -> Totals:
    """Draw and write those of ``groups`` that are missing (default: of all), and return the totals of the run.

    ``backends``: a function for each device that opens its backend; a single one works in this thread, several in
    threads of their own. ``unit_size``: groups that a worker draws at a time, at most. ``progress``: called with the
    number of finished instances. An error in one worker stops all of them, except errors of the types ``losses``: then
    the other workers do its work. DeviceError where none is left.
    """
    missing = [g for g in (range(writer.groups) if groups is None else groups) if g not in writer.done]
    units, totals = Units(writer, missing, unit_size, progress), Totals()
    lost: list[Exception] = []

    def work(make_backend: Callable[[], Backend]) -> None:
        try:
            totals.add(_work(make_backend, sources, units, threads))
        except losses as error:
            lost.append(error)
            if len(lost) < len(backends):
                log.warning("a GPU has failed: %s; the other GPUs take over its work", error)
        except Stopped:
            pass  # another worker or the user has stopped the run, and the error is raised there
        except BaseException:
            units.stop()
            raise

    with ThreadPoolExecutor(WRITERS, initializer=stand_aside) as threads, ThreadPoolExecutor(len(backends)) as workers:
        try:
            list(map(work, backends) if len(backends) == 1 else workers.map(work, backends))
        finally:
            units.stop()
    if units.left and lost:
        error = min(lost, key=gave_up)
        raise failure(error, SAFE) from error
    totals.edges, totals.dead_ends = units.edges, units.dead_ends
    return totals


def _work(make_backend: Callable[[], Backend], sources: Sources, units: Units, threads: ThreadPoolExecutor) -> Totals:
    """Run one worker: open its backend, draw and write units until none is left, close the backend, and return its
    totals.
    """
    with closing(batches_of(make_backend(), sources, lambda: units.stopped)) as batches:
        watch = Stopwatch()
        draw_and_write(batches, units, threads)
        return totals_of(batches, watch.read())


def totals_of(batches: Batches, busy: Lapse) -> Totals:
    """Return the totals of one worker so far, without edges and dead ends.

    ``busy``: time that it drew or wrote.
    """
    drew, waited = batches.spent, busy - batches.spent
    backend, graph, counters = batches.backend, batches.backend.graph, batches.counters
    kernel_seconds, kernel_deviation = backend.kernel_seconds()
    return Totals(
        kept_edges=batches.kept_edges,
        transfers=graph.transfers,
        transfer_bytes=graph.transfer_bytes,
        read_bytes=graph.read_bytes if isinstance(graph, Partitions) else 0,
        evictions=counters.evictions,
        in_place=counters.in_place,
        overlapped=counters.overlapped,
        kernel_seconds=kernel_seconds,
        kernel_deviation=kernel_deviation,
        seconds=drew.drawn,
        kernels_seconds=backend.kernels_seconds + drew.drawing + waited.anywhere,
        loading_seconds=backend.loading_seconds,
        waiting_seconds=waited.rest,
        **dict(zip(TALLY, backend.tally.tolist(), strict=True)),
    )


def draw_and_write(batches: Batches, units: Units, threads: ThreadPoolExecutor) -> None:
    """Draw and write units.

    Two are on the device at a time: one is drawn, or its first groups are written, while the last groups of the one
    before are written.
    """
    with ThreadPoolExecutor(2, initializer=stand_aside) as writing:
        before: Future[None] | None = None
        while (unit := units.next(batches.pace.groups(units.writer.group_size))) is not None:
            drawn = _draw(batches, units, unit, before)
            if drawn is None:
                continue
            pending = writing.submit(_write, units, unit, drawn, threads)
            if before:
                before.result()
            before = pending
        if before:
            before.result()


def _draw(batches: Batches, units: Units, unit: list[int], before: Future[None] | None) -> list[FinishedBatch] | None:
    """Draw the batches of a unit, while the unit ``before`` is written.

    Where either fails, the unit is given back for other workers. None where memory has room for fewer groups.
    """
    try:
        drawn = _fitting(batches, units, unit, before)
        if drawn is None:
            return None
        if before and (before.done() or leaves_as_a_whole(units.writer)):
            before.result()
    except BaseException:
        units.give_back(unit)
        raise
    return drawn


def _fitting(
    batches: Batches, units: Units, unit: list[int], before: Future[None] | None
) -> list[FinishedBatch] | None:
    """The batches of a unit.

    Where they do not fit beside others: once the unit ``before`` is written, then one group at a time, then in smaller
    batches.
    """
    try:
        return draw_unit(batches, unit, units.writer, patient=False)
    except TooManyTogetherError:
        if before:
            before.result()
        batches.drawn_bytes = 0
    if len(unit) > 1:
        units.part(unit)
        return None
    return draw_unit(batches, unit, units.writer)


def _write(units: Units, unit: list[int], drawn: list[FinishedBatch], threads: ThreadPoolExecutor) -> None:
    try:
        write_unit(unit, drawn, units.writer, threads)
    except BaseException:
        units.give_back(unit)
        raise
    units.finished(unit, drawn)


# Drawing the instances of a unit; those of a group that takes long are kept meanwhile.


def draw_unit(batches: Batches, unit: list[int], writer: GroupWriter, *, patient: bool = True) -> list[FinishedBatch]:
    """Draw the instances of a unit's groups and return their batches in order.

    A single group is drawn from where its checkpoints end, as many instances at a time as the pace says. ``patient``,
    and errors: as for :meth:`Batches.draw`.
    """
    first, last = instances_of(unit, writer)
    if len(unit) > 1:
        batches.begin_unit()
        return _drawn_after([], batches, first, last, patient)
    drawn = _kept_before(batches, unit[0], writer)
    batches.begin_unit(drawn)
    first, kept_edges = first + sum(batch.instances for batch in drawn), sum(batch.edges for batch in drawn)
    safe, since = len(drawn), Stopwatch()
    while first < last:
        upto = min(first + batches.pace.size, last)
        drawn = _drawn_after(drawn, batches, first, upto, patient)
        first = upto
        if first < last and since.read().whole > batch_loop.KEEP_SECONDS / 2:
            drawn[safe:] = [_kept(drawn[safe:], batches, unit[0], writer)]
            safe, since = len(drawn), Stopwatch()
    batches.kept_edges += kept_edges
    return drawn


def _drawn_after(
    drawn: list[FinishedBatch], batches: Batches, first: int, last: int, patient: bool
) -> list[FinishedBatch]:
    """The batches of a unit with the next ones, whose time the pace notes."""
    watch = Stopwatch()
    drawn = batches.draw(first, last, patient=patient, after=drawn)
    batches.pace.drew(last - first, watch.read().drawn)
    return drawn


def _kept_before(batches: Batches, group: int, writer: GroupWriter) -> list[FinishedBatch]:
    """The instances of a group that a run which was killed, or a worker that was slow, has kept."""
    layout = batches.backend.plan.sample_layout
    return [_batch(counts, InHostMemory(arrays, layout)) for counts, arrays in writer.kept(group)]


def _kept(drawn: list[FinishedBatch], batches: Batches, group: int, writer: GroupWriter) -> FinishedBatch:
    """Keep consecutive batches of a group, which become one in host memory."""
    counts = Counts(
        drawn[0].first,
        sum(batch.instances for batch in drawn),
        sum(batch.edges for batch in drawn),
        sum(batch.dead_ends for batch in drawn),
    )
    arrays = joined([batch.arrays() for batch in drawn])
    writer.keep(group, counts, arrays)
    return _batch(counts, InHostMemory(arrays, batches.backend.plan.sample_layout))


def _batch(counts: Counts, held: InHostMemory) -> FinishedBatch:
    return FinishedBatch(counts.first, counts.instances, counts.edges, counts.dead_ends, held)
