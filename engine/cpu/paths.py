"""Walks whose steps go to disk in the order in which they are drawn, where memory has no room for all walks at once.

Fewer, larger batches of walkers then share the loads of partitions. Steps are kept by ranges of walkers and sorted out
when a range is read.
"""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from csaw.engine.cpu.scratch_file import ScratchFile
from csaw.partition.errors import StoreError

FIELDS = 3  # of a step: walker, number of the step, vertex; all of the type of vertex ids


class Paths:
    """``note`` steps; ``rows`` are walks, a row each, as they are stored.

    ``room``: bytes for steps on their way, and for the walks of a range.

    ``length``: steps of a walk, or about so many where walks have no limit; those are read with ``fill``.
    """

    def __init__(self, sources: np.ndarray, length: int, dtype: np.dtype, folder: Path, room: int) -> None:
        self.sources, self.length, self.dtype, self.room = sources, length, dtype, room
        self.walkers = max(1, room // (FIELDS * (length + 1) * dtype.itemsize))  # of a range
        ranges = -(-sources.size // self.walkers)
        self.waiting: list[list[np.ndarray]] = [[] for _ in range(ranges)]  # steps of a range that are in memory
        self.written: list[list[tuple[int, int]]] = [[] for _ in range(ranges)]  # and on disk: (place, number)
        self.bytes = 0  # of those in memory
        self.file = ScratchFile(folder)
        self.lock, self.reading = threading.Lock(), threading.Lock()

    def log(self, steps: int) -> np.ndarray:
        """An array for kernels to note at most so many steps in: its first entry counts them."""
        log = np.empty((1 + steps, FIELDS), self.dtype)
        log[0, 0] = 0
        return log

    def note(self, log: np.ndarray) -> None:
        """Keep the steps in a log. StoreError where no disk has room for them. Any thread may call this."""
        steps = log[1 : 1 + int(log[0, 0])]
        if steps.size == 0:
            return
        ranges = steps[:, 0] // self.dtype.type(self.walkers)
        order = np.argsort(ranges, kind="stable")
        steps, ranges = steps[order], ranges[order]
        begins = [0, *(1 + np.flatnonzero(np.diff(ranges))).tolist()]
        with self.lock:
            for begin, end in pairwise([*begins, len(steps)]):
                self.waiting[int(ranges[begin])].append(steps[begin:end])
            self.bytes += steps.nbytes
            if self.bytes > self.room:
                self._write()

    def rows(self, first: int, last: int) -> np.ndarray:
        """The walks of the walkers first .. last - 1.

        One thread at a time reads steps, so that memory holds few of them.
        """
        out = np.full((last - first, self.length + 1), np.iinfo(self.dtype).max, self.dtype)
        out[:, 0] = self.sources[first:last]
        for walker, steps in self._found(first, last):
            out[walker, steps[:, 1]] = steps[:, 2]
        return out

    def fill(self, first: int, last: int, places: np.ndarray, out: np.ndarray) -> None:
        """Fill ``out`` with the walks of the walkers first .. last - 1, each from its place on and as long as it is."""
        out[places] = self.sources[first:last]
        for walker, steps in self._found(first, last):
            out[places[walker] + steps[:, 1]] = steps[:, 2]

    def close(self) -> None:
        """Remove the file."""
        self.file.close()

    def _found(self, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The steps of the walkers first .. last - 1, and how many walkers after the first each of them is of."""
        for number in range(first // self.walkers, -(-last // self.walkers)):
            with self.reading:
                for steps in self._steps(number):
                    walker = steps[:, 0].astype(np.int64) - first
                    inside = (walker >= 0) & (walker < last - first)
                    yield walker[inside], steps[inside]

    def _steps(self, number: int) -> Iterator[np.ndarray]:
        yield from self.waiting[number]
        for place, count in self.written[number]:
            steps = np.empty((count, FIELDS), self.dtype)
            self.file.read(place, steps.view(np.uint8).reshape(-1))
            yield steps

    def _write(self) -> None:
        for waiting, written in zip(self.waiting, self.written, strict=True):
            if not waiting:
                continue
            steps = np.concatenate(waiting)
            try:
                place = self.file.append(steps.view(np.uint8).reshape(-1))
            except OSError as error:
                raise StoreError(
                    f"{self.file.folder}: no room for the steps of walks in flight ({error.strerror}); free some "
                    "space, or raise --memory"
                ) from error
            written.append((place, len(steps)))
            waiting.clear()
        self.bytes = 0
