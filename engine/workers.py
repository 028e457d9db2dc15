"""Groups of instances to a sample store: a worker a device, each sampling a unit of groups while its last one is written.

Units are handed out one at a time, so a slow device does not hold up the others; which device draws a unit changes nothing in it.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np

from csaw.engine.backend import ALL, TALLY, Backend
from csaw.engine.batches import Batches, Drawn
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule import Stopped
from csaw.partition.errors import CsawError, DeviceError

log = logging.getLogger(__name__)

WRITERS = 8  # groups written at a time: a disk is busy only while several files wait for it
LARGEST = ("seconds", "kernel_seconds", "kernel_deviation")  # of workers side by side
Losses = tuple[type[Exception], ...]
Progress = Callable[[int], None] | None


@dataclass
class Totals:
    """What sampling took; seconds and deviation are those of the worker with most. TALLY in backend.py says what is counted while selecting."""

    edges: int = 0
    dead_ends: int = 0
    draws: int = 0
    collisions: int = 0
    searches: int = 0
    iterations: int = 0
    conflicts: int = 0
    rebuilt: int = 0
    transfers: int = 0
    transfer_bytes: int = 0
    evictions: int = 0
    in_place: int = 0
    overlapped: int = 0
    kernel_seconds: float = 0.0
    kernel_deviation: float = 0.0
    seconds: float = 0.0

    def add(self, other: "Totals") -> None:
        for field in fields(Totals):
            mine, others = getattr(self, field.name), getattr(other, field.name)
            setattr(self, field.name, max(mine, others) if field.name in LARGEST else mine + others)


class Units:
    """Runs of consecutive groups that are still missing, handed out to any thread; none after ``stop``.

    A unit that comes back, because its device has failed, goes to whoever asks next; so nobody is sent away while one is out.
    """

    def __init__(self, writer: SampleWriter, size: int, progress: Progress) -> None:
        missing = [g for g in range(writer.groups) if g not in writer.done]
        self.writer, self.progress, self.changed = writer, progress, threading.Condition()
        self.left, self.out = deque(_runs(missing, size)), 0
        self.done = sum(writer.rows(g) for g in writer.done)
        self.edges = self.dead_ends = 0  # of what this run has written
        self.stopped = False

    def __iter__(self) -> Iterator[list[int]]:
        while (unit := self._next()) is not None:
            yield unit

    def _next(self) -> list[int] | None:
        with self.changed:
            while self.out and not self.left and not self.stopped:
                self.changed.wait()
            if self.stopped or not self.left:
                return None
            self.out += 1
            return self.left.popleft()

    def finished(self, unit: list[int], drawn: list[Drawn]) -> None:
        """Count a unit that is written towards the progress."""
        with self.changed:
            self.out -= 1
            self.edges += sum(batch.edges for batch in drawn)
            self.dead_ends += sum(batch.dead_ends for batch in drawn)
            self.done += sum(self.writer.rows(g) for g in unit)
            if self.progress:
                self.progress(self.done)
            self.changed.notify_all()

    def give_back(self, unit: list[int]) -> None:
        """Let others have a unit that this worker cannot finish."""
        with self.changed:
            self.out -= 1
            self.left.append(unit)
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


def sample_groups(
    backends: list[Callable[[], Backend]],
    sources: Any,
    writer: SampleWriter,
    unit_size: int,
    progress: Progress,
    losses: Losses,
) -> Totals:
    """Fill a store, with a worker for each of ``backends``; one alone works in this thread.

    What stops one stops all, but for errors of the types ``losses``: then the others do its work, if any are left.
    """
    units, totals = Units(writer, unit_size, progress), Totals()
    lost: list[Exception] = []

    def work(make_backend: Callable[[], Backend]) -> None:
        try:
            totals.add(_work(make_backend, sources, units, writers))
        except losses as error:
            lost.append(error)
            if len(lost) < len(backends):
                log.warning("a GPU has failed: %s; the others do its part", error)
        except Stopped:
            pass  # by what another worker or the user did, which is said there
        except BaseException:
            units.stop()
            raise

    with ThreadPoolExecutor(WRITERS) as writers, ThreadPoolExecutor(len(backends)) as workers:
        try:
            list(map(work, backends) if len(backends) == 1 else workers.map(work, backends))
        finally:
            units.stop()
    if units.left and lost:
        _give_up(
            next((error for error in lost if not isinstance(error.__cause__, threading.BrokenBarrierError)), lost[0])
        )
    totals.edges, totals.dead_ends = units.edges, units.dead_ends
    return totals


def _give_up(error: Exception) -> NoReturn:
    safe = "finished groups are safe, --resume completes the rest"
    if isinstance(error, MemoryError):
        raise DeviceError(
            f"a GPU is out of memory: {error}; {safe}, with a smaller --gpu-memory or --batch-size"
        ) from error
    raise DeviceError(f"{error if isinstance(error, CsawError) else f'a GPU has failed: {error}'}; {safe}") from error


def _work(make_backend: Callable[[], Backend], sources: Any, units: Units, writers: ThreadPoolExecutor) -> Totals:
    """One worker, from its backend's beginning to its end."""
    backend = make_backend()
    try:
        batches = Batches(backend, sources, lambda: units.stopped)
        _draw_and_write(batches, units, writers)
        counts = dict(zip(TALLY, backend.tally.tolist(), strict=True))
        graph, counters = backend.graph, batches.schedule.counters
        kernel_seconds, kernel_deviation = backend.kernel_seconds()
        return Totals(
            transfers=graph.transfers, transfer_bytes=graph.transfer_bytes,
            evictions=counters.evictions, in_place=counters.in_place, overlapped=counters.overlapped, kernel_seconds=kernel_seconds,
            kernel_deviation=kernel_deviation, seconds=batches.seconds, **counts,
        )  # fmt: skip
    finally:
        with suppress(*backend.failures):
            backend.close()


def _draw_and_write(batches: Batches, units: Units, writers: ThreadPoolExecutor) -> None:
    """Two units at a time on the device: one is drawn, or its first groups are written, while the other's last groups are.

    A unit of subgraphs leaves the device as a whole, so it waits until the one before is written.
    """
    writer = units.writer
    with ThreadPoolExecutor(2) as writing:
        before: Future | None = None
        for unit in units:
            try:
                drawn = batches.draw(
                    unit[0] * writer.group_size, min((unit[-1] + 1) * writer.group_size, writer.instances)
                )
                if before and (before.done() or writer.layout == "subgraphs"):
                    before.result()
            except BaseException:
                units.give_back(unit)
                raise
            pending = writing.submit(_write_unit, units, writers, unit, drawn)
            if before:
                before.result()
            before = pending
        if before:
            before.result()


def _runs(groups: list[int], size: int) -> Iterator[list[int]]:
    """At most ``size`` consecutive groups at a time."""
    run: list[int] = []
    for g in groups:
        if run and (run[-1] != g - 1 or len(run) == size):
            yield run
            run = []
        run.append(g)
    if run:
        yield run


def _write_unit(units: Units, writers: ThreadPoolExecutor, unit: list[int], drawn: list[Drawn]) -> None:
    try:
        writer = units.writer
        if writer.layout == "subgraphs":
            arrays = _joined([batch.arrays(ALL) for batch in drawn])
            _all_done([writers.submit(writer.write, *part) for part in _by_group(arrays, unit, writer.group_size)])
        else:
            first = unit[0] * writer.group_size
            starts = [g * writer.group_size - first for g in unit]
            _all_done([writers.submit(_write_rows, writer, g, drawn, low) for g, low in zip(unit, starts, strict=True)])
    except BaseException:
        units.give_back(unit)
        raise
    units.finished(unit, drawn)


def _all_done(writes: list[Future]) -> None:
    """Wait for all of them, also where one fails: nobody else may write what is still being written."""
    wait(writes)
    for one in writes:
        one.result()


def _write_rows(writer: SampleWriter, group: int, drawn: list[Drawn], low: int) -> None:
    writer.write(group, _rows(drawn, low, low + writer.rows(group)))


def _rows(drawn: list[Drawn], low: int, high: int) -> dict[str, np.ndarray]:
    """Rows low .. high - 1 of the tables of consecutive batches: a group at a time leaves a GPU, in memory that is used again."""
    pieces, before = [], 0
    for batch in drawn:
        begin, end = max(low - before, 0), min(high - before, batch.instances)
        if begin < end:
            pieces.append(batch.arrays(slice(begin, end)))
        before += batch.instances
    return _joined(pieces)


def _joined(pieces: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    if len(pieces) == 1:
        return pieces[0]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def _by_group(
    arrays: dict[str, np.ndarray], unit: list[int], group: int
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Each group of a unit of subgraphs with its part of the arrays."""
    edges = sources = 0
    for number, g in enumerate(unit):
        rows = slice(number * group, (number + 1) * group)
        counts, held = arrays["counts"][rows], arrays["source_counts"][rows]
        part = {name: arrays[name][edges : edges + int(counts.sum())] for name in ("src", "dst", "depth")}
        part["sources"] = arrays["sources"][sources : sources + int(held.sum())]
        yield g, {"counts": counts, "source_counts": held, **part}
        edges, sources = edges + int(counts.sum()), sources + int(held.sum())
