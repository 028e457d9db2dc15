"""Instances to arrays, batch after batch; smaller batches when memory is short."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from csaw.engine.algorithm import Walk
from csaw.engine.backend import ALL, Backend
from csaw.engine.schedule import Schedule
from csaw.engine.sources import Sources
from csaw.partition.errors import CsawError

log = logging.getLogger(__name__)
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Drawn:
    """Samples of so many consecutive instances: counts, and the arrays (of tables only some rows) as soon as they are asked for."""

    instances: int
    edges: int
    dead_ends: int
    arrays: Callable[[slice], Arrays]


class Batches:
    """Draws ranges of instances, and says how long it took."""

    def __init__(self, backend: Backend, sources: Sources, stopped: Callable[[], bool] = lambda: False) -> None:
        plan = backend.plan
        self.backend, self.sources, self.flat = backend, sources, isinstance(backend.algorithm, Walk)
        self.size = plan.batch
        self.schedule = Schedule(backend.graph, plan.capacity if backend.streamed else None, plan.policy, stopped)
        self.seconds = 0.0

    def draw(self, first: int, last: int) -> list[Drawn]:
        """The instances first .. last - 1, in order."""
        clock = time.perf_counter()
        drawn: list[Drawn] = []
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

    def _attempt(self, first: int, last: int) -> Drawn | None:
        """One batch; None where memory does not suffice, and then batches are half as large from here on."""
        try:
            batch: Any = self.backend.begin(first, self.sources.take(first, last, self.flat))
            self.schedule.run(batch)
            self.backend.wait()
            return Drawn(last - first, batch.edges(), batch.dead_ends(), batch.arrays)
        except MemoryError as error:
            if last - first == 1 or isinstance(error, CsawError):
                raise
        self.size = (last - first) // 2
        log.info("out of memory with %d instances in flight: going on with %d", last - first, self.size)
        return None


def kept(drawn: Drawn) -> Drawn:
    """The same with its arrays in host memory."""
    arrays = drawn.arrays(ALL)
    return replace(drawn, arrays=lambda rows: {name: array[rows] for name, array in arrays.items()})
