"""Walks of a sample as tables, some at a time: those without a limit have as many columns as the longest of them needs,
and one more for its end.
"""

from collections.abc import Callable, Iterator

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.layouts import RAGGED_WALKS, Arrays

ENTRIES = 1 << 19  # entries of walks that a thread has in hand


class WalkTables:
    """Reads the walks of ``samples``, and tells ``watch`` of those that are read in turn.

    ``steps`` is the number of steps of all of them, or the most that they can have.
    """

    def __init__(self, samples: Samples, watch: Callable[[int, Arrays], None]) -> None:
        self.samples, self.ragged, self.watch = samples, not samples.layout.has_limit, watch
        if self.ragged:
            self.lengths = np.asarray(samples.lengths)
            self.steps = int(self.lengths.sum())
        else:
            self.steps = samples.instances * (samples.walks.shape[1] - 1)

    def ranges(self) -> list[tuple[int, int]]:
        """First and last instance, the last one exclusive, of tables that together have all walks."""
        every = range(self.samples.instances)
        return [(part[0], part[-1] + 1) for part in self._parts(np.arange(every.stop))]

    def scattered(self, instances: np.ndarray) -> Iterator[tuple[np.ndarray]]:
        """Some instances, as many at a time as a table takes."""
        return ((part,) for part in self._parts(instances))

    def between(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """The walks start .. stop - 1 [walks, columns] with the ids of the store, and their lengths."""
        arrays = self.samples.group(start, stop)
        self.watch(start, arrays)
        return (self._padded(arrays) if self.ragged else arrays["walks"]), arrays["lengths"]

    def of(self, instances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of some instances."""
        if not self.ragged:
            return self.samples.walks[instances], self.samples.lengths[instances]
        sizes = self.lengths[instances] + 1
        begins = self.samples.walk_ptr[instances]
        places = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        arrays = {"walks": self.samples.walks[places], "lengths": self.lengths[instances]}
        return self._padded(arrays), arrays["lengths"]

    def _padded(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        return RAGGED_WALKS.table(arrays, self.samples.fill, int(arrays["lengths"].max(initial=0)) + 2)

    def _parts(self, instances: np.ndarray) -> Iterator[np.ndarray]:
        """Cut instances so that no table has more than ENTRIES entries, unless a single walk has."""
        columns = self.steps // max(self.samples.instances, 1) + 1
        rows = max(1, ENTRIES // columns)
        waiting = [instances[a : a + rows] for a in range(0, instances.size, rows)][::-1]
        while waiting:
            part = waiting.pop()
            if self.ragged and part.size > 1 and part.size * (int(self.lengths[part].max()) + 2) > ENTRIES:
                waiting += [part[part.size // 2 :], part[: part.size // 2]]
            else:
                yield part
