"""Groups of instances to a sample store: a worker a device, each sampling a unit of groups while its last one is written.

Units are handed out one at a time, so a slow device does not hold up the others; which device draws a unit changes nothing in it.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from csaw.engine.backend import TALLY, Backend
from csaw.engine.batches import Batches, Drawn
from csaw.engine.sample_writer import SampleWriter

WRITERS = 8  # groups written at a time: a disk is busy only while several files wait for it
Progress = Callable[[int], None] | None


@dataclass
class Totals:
    """What sampling took; seconds are those of the slowest worker. TALLY in backend.py says what is counted while selecting."""

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
    seconds: float = 0.0

    def add(self, other: "Totals") -> None:
        slowest = max(self.seconds, other.seconds)
        for field in fields(Totals):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        self.seconds = slowest


class Units:
    """Runs of consecutive groups that are still missing, handed out once each to any thread; none after ``stop``."""

    def __init__(self, writer: SampleWriter, size: int, progress: Progress) -> None:
        missing = [g for g in range(writer.groups) if g not in writer.done]
        self.writer, self.progress, self.lock = writer, progress, threading.Lock()
        self.left = iter(list(_runs(missing, size)))
        self.done = sum(writer.rows(g) for g in writer.done)
        self.stopped = False

    def __iter__(self) -> Iterator[list[int]]:
        while (unit := self._next()) is not None:
            yield unit

    def _next(self) -> list[int] | None:
        with self.lock:
            return None if self.stopped else next(self.left, None)

    def drawn(self, instances: int) -> None:
        """Count instances towards the progress."""
        with self.lock:
            self.done += instances
            if self.progress:
                self.progress(self.done)

    def stop(self) -> None:
        self.stopped = True


def sample_groups(
    backends: list[Callable[[], Backend]], sources: Any, writer: SampleWriter, unit_size: int, progress: Progress
) -> Totals:
    """Fill a store, with a worker for each of ``backends``; one alone works in this thread. What stops one stops all."""
    units, totals = Units(writer, unit_size, progress), Totals()
    with ThreadPoolExecutor(WRITERS) as writers, ThreadPoolExecutor(len(backends)) as workers:
        try:
            if len(backends) == 1:
                totals.add(_work(backends[0], sources, units, writers))
            else:
                for done in workers.map(lambda make: _work(make, sources, units, writers), backends):
                    totals.add(done)
        finally:
            units.stop()
    return totals


def _work(make_backend: Callable[[], Backend], sources: Any, units: Units, writers: ThreadPoolExecutor) -> Totals:
    """One worker, from its backend's beginning to its end."""
    backend = make_backend()
    try:
        batches = Batches(backend, sources)
        _draw_and_write(batches, units, writers)
        counts = dict(zip(TALLY, backend.tally.tolist(), strict=True))
        return Totals(
            edges=batches.edges, dead_ends=batches.dead_ends, transfers=backend.graph.transfers, transfer_bytes=backend.graph.transfer_bytes,
            evictions=batches.counters.evictions, seconds=batches.seconds, **counts,
        )  # fmt: skip
    except BaseException:
        units.stop()
        raise
    finally:
        backend.close()


def _draw_and_write(batches: Batches, units: Units, writers: ThreadPoolExecutor) -> None:
    writer = units.writer
    with ThreadPoolExecutor(1) as writing:
        pending: Future | None = None
        for unit in units:
            first = unit[0] * writer.group_size
            last = min((unit[-1] + 1) * writer.group_size, writer.instances)
            drawn = batches.draw(first, last)
            if pending:
                pending.result()
            pending = writing.submit(_write_unit, writer, writers, unit, drawn)
            units.drawn(last - first)
        if pending:
            pending.result()


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


def _write_unit(writer: SampleWriter, writers: ThreadPoolExecutor, unit: list[int], drawn: list[Drawn]) -> None:
    pieces = [batch.arrays() for batch in drawn]
    arrays = pieces[0] if len(pieces) == 1 else {k: np.concatenate([p[k] for p in pieces]) for k in pieces[0]}
    list(writers.map(lambda part: writer.write(*part), _by_group(arrays, unit, writer.group_size)))


def _by_group(
    arrays: dict[str, np.ndarray], unit: list[int], group: int
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Each group of a unit with its part of the arrays."""
    edges = sources = 0
    for number, g in enumerate(unit):
        rows = slice(number * group, (number + 1) * group)
        if "counts" not in arrays:
            yield g, {name: array[rows] for name, array in arrays.items()}
            continue
        counts, held = arrays["counts"][rows], arrays["source_counts"][rows]
        part = {name: arrays[name][edges : edges + int(counts.sum())] for name in ("src", "dst", "depth")}
        part["sources"] = arrays["sources"][sources : sources + int(held.sum())]
        yield g, {"counts": counts, "source_counts": held, **part}
        edges, sources = edges + int(counts.sum()), sources + int(held.sum())
