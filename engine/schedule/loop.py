"""Instances to arrays, batch after batch: the one loop of take, begin, run and wait; smaller batches when memory is short."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np

from csaw.engine.algorithm import Walk
from csaw.engine.backend import ALL, Backend
from csaw.engine.contracts import Array, Batch, WaitingBatch
from csaw.engine.schedule.schedule import Counters, Schedule
from csaw.engine.sources import Sources
from csaw.partition.errors import BudgetError, CsawError

log = logging.getLogger(__name__)
Arrays = dict[str, np.ndarray]


class Drawn(Protocol):
    """Arrays of samples, wherever they are."""

    def arrays(self, rows: slice) -> Arrays:
        """Copies in host memory; of walks and hops only some instances, of subgraphs always all."""

    def on_device(self) -> dict[str, Array]:
        """All arrays where they were drawn."""


@dataclass(frozen=True)
class FinishedBatch:
    """The samples of ``instances`` consecutive instances, of which number ``first`` is the first one.

    ``edges`` is the number of sampled edges, ``dead_ends`` that of walks and frontier vertices that ended because they had no neighbor to go to.
    """

    first: int
    instances: int
    edges: int
    dead_ends: int
    drawn: Drawn

    def arrays(self, rows: slice = ALL) -> Arrays:
        """Copy the samples to NumPy arrays, by name; any thread may call this.

        ``rows``: instances to copy, counted from ``first`` (default: all). Arrays are those of :func:`draw_batches`.
        """
        return self.drawn.arrays(rows)

    def on_device(self) -> dict[str, Array]:
        """The arrays where they were drawn, without a copy: CuPy arrays on a GPU, NumPy arrays on the CPU; both support DLPack.

        Vertices are dense ids (rows of the graph store); an entry without a vertex has all bits set. Arrays that had to make room are in host memory.
        A stream of your own must have finished its work on them before the batch is dropped: the memory is used again.
        """
        return self.drawn.on_device()


@dataclass(frozen=True)
class InHostMemory:
    """Arrays that have left their device."""

    held: Arrays

    def arrays(self, rows: slice) -> Arrays:
        return {name: array[rows] for name, array in self.held.items()}

    def on_device(self) -> dict[str, Array]:
        return self.held


class Batches:
    """Draws ranges of a job's instances on one backend, which it owns from here on: ``close`` closes it.

    ``size`` is how many instances a batch has: as many as planned, and fewer once memory was short. ``seconds`` is the host's time in ``draw``.
    """

    def __init__(self, backend: Backend, sources: Sources, stopped: Callable[[], bool] = lambda: False) -> None:
        plan = backend.plan
        self.backend, self.sources, self.flat = backend, sources, isinstance(backend.algorithm, Walk)
        self.size, self.seconds = plan.batch, 0.0
        try:
            self.schedule = (
                Schedule(backend.partitions, plan.capacity, plan.policy, stopped) if backend.streamed else None
            )
        except BaseException:
            self._close_backend()
            raise

    def begin(self, first: int, last: int) -> Batch:
        """The backend's batch of the instances first .. last - 1, of which nothing is drawn yet."""
        return self.backend.begin(first, self.sources.take(first, last, self.flat))

    def draw(self, first: int, last: int) -> list[FinishedBatch]:
        """The instances first .. last - 1, in order, in batches of ``size`` or fewer; BudgetError where not even one instance fits."""
        clock = time.perf_counter()
        drawn: list[FinishedBatch] = []
        while first < last:
            upto = min(first + self.size, last)
            batch = self._attempt(first, upto)
            if batch is None:  # what is there already makes room
                drawn = [kept(batch) for batch in drawn]
                self.backend.release()
                continue
            drawn.append(batch)
            first = upto
        self.seconds += time.perf_counter() - clock
        return drawn

    def draw_timed(self, first: int, last: int) -> tuple[FinishedBatch, float]:
        """One batch, and the seconds that sampling alone took: it has begun before the clock runs. MemoryError where it does not fit."""
        batch = self.begin(first, last)
        self.backend.wait()
        clock = time.perf_counter()
        self._finish(batch)
        seconds = time.perf_counter() - clock
        return _finished(batch, first, last), seconds

    @property
    def counters(self) -> Counters:
        """What scheduling did so far."""
        return Counters() if self.schedule is None else self.schedule.counters

    def close(self) -> None:
        """Give back the backend's threads and memory, also those of the graph, which the schedule has too."""
        self.schedule = None
        self._close_backend()

    def _close_backend(self) -> None:
        with suppress(*self.backend.failures):  # a device that has failed cannot
            self.backend.close()

    def run(self, batch: Batch) -> None:
        """Draw a batch that has begun to its end; a GPU's last kernels may still run."""
        if self.schedule is None:
            batch.advance()
        else:
            self.schedule.run(cast(WaitingBatch, batch))  # which a backend begins on a streamed graph

    def _finish(self, batch: Batch) -> None:
        self.run(batch)
        self.backend.wait()

    def _attempt(self, first: int, last: int) -> FinishedBatch | None:
        """One batch; None where memory does not suffice, and then batches are half as large from here on."""
        try:
            batch = self.begin(first, last)
            self._finish(batch)
            return _finished(batch, first, last)
        except MemoryError as error:
            if isinstance(error, CsawError):
                raise
            if last - first == 1:
                raise BudgetError(
                    f"instance {first} alone needs more memory than there is; ask for fewer neighbors or steps, or free some memory"
                ) from error
        self.size = (last - first) // 2
        log.info("out of memory with %d instances in flight: going on with %d", last - first, self.size)
        return None


def kept(batch: FinishedBatch) -> FinishedBatch:
    """The same batch with its arrays in host memory."""
    return replace(batch, drawn=InHostMemory(batch.arrays()))


def _finished(batch: Batch, first: int, last: int) -> FinishedBatch:
    return FinishedBatch(first, last - first, batch.edges(), batch.dead_ends(), batch)
