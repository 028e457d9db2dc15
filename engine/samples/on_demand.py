"""Samples that are brought when they are read: those of a virtual store, which are drawn then, and a range of the
instances of another store.
"""

from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np

from csaw.engine.samples.array import Array
from csaw.engine.samples.layouts import Arrays, Ragged
from csaw.engine.samples.opened import OpenedSamples
from csaw.engine.samples.source import Source
from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record
from csaw.partition.base.read_only import frozen

Bring = Callable[[int, int], Arrays]
"""The arrays of the instances from the first number to before the second, as :meth:`Samples.group` returns them."""
KEPT = 4  # ranges of instances that were brought last: exports read the arrays of a range one after the other


class OnDemand(Source):
    """Samples whose instances ``bring`` brings whenever they are read.

    ``attributes``: those of a sample store, with the number of these ``instances``. ``bring`` may be called by several
    threads, and is not called before an array is asked for. ``words`` returns the string ids of the graph, None where
    the ids are numbers.

    Instances that differ in size have no place in an array that is known before all of them are there: ``instance_ptr``
    and what lies between its bounds are found by bringing every instance once. ``group`` and ``iter_groups`` need none
    of that.
    """

    def __init__(
        self,
        path: Path,
        attributes: Record,
        bring: Bring,
        words: Callable[[], Words | None],
        checksums: dict[str, str] | None = None,
    ) -> None:
        super().__init__(path, attributes, checksums)
        self.group_size: int = attributes["group_size"]
        self._bring, self._words_of = bring, words
        self._latest: deque[tuple[int, int, Arrays]] = deque(maxlen=KEPT)
        self._guard = Lock()

    @cached_property
    def first_instance(self) -> Arrays:
        """Return the arrays of the first instance.

        They have the names and element types of all and, but for ragged ones, their columns.
        """
        return self._bring(0, min(1, self.instances))

    @cached_property
    def arrays(self) -> dict[str, Array]:
        brought = {name: BroughtRows(self, name) for name in self.first_instance}
        layout = self.layout
        if not isinstance(layout, Ragged):
            return dict(brought)
        made: dict[str, Array] = {}
        for name, part in layout.parts(brought).items():
            counts = part if part != name else layout.counted_by.get(part)
            made[name] = (
                brought[name] if counts is None else BroughtElements(self, part, counts, is_bounds=part != name)
            )
        return made

    def group(self, start: int, stop: int) -> Arrays:
        start, stop, _ = slice(start, stop).indices(self.instances)
        stop = max(start, stop)
        for first, last, arrays in list(self._latest):
            if (first, last) == (start, stop):
                return arrays
            if not isinstance(self.layout, Ragged) and first <= start and stop <= last:
                return {name: array[start - first : stop - first] for name, array in arrays.items()}
        arrays = {name: frozen(array) for name, array in self._bring(start, stop).items()}  # which are asked for again
        self._latest.append((start, stop, arrays))
        return arrays

    def pointer(self, name: str) -> np.ndarray:
        """int64 [instances + 1]: running sums of some counts, such as ``counts`` or ``source_counts``, for which every
        instance is brought once.
        """
        with self._guard:
            return self._pointers[name]

    @cached_property
    def _pointers(self) -> Arrays:
        layout = self.layout
        assert isinstance(layout, Ragged)
        names = set(layout.counted_by.values()) & self.first_instance.keys()
        starts = range(0, self.instances, self.group_size)
        groups = (self.group(start, min(start + self.group_size, self.instances)) for start in starts)
        counts = [{name: layout.elements(arrays[name]) for name in names} for arrays in groups]
        return {name: frozen(np.concatenate([[0], *(each[name] for each in counts)]).cumsum()) for name in names}

    @cached_property
    def words(self) -> Words | None:
        return self._words_of()

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays would take if they were stored.

        Of instances whose sizes are not known, those of what one takes.
        """
        return self.instances * sum(array.nbytes for array in self.first_instance.values())


class PartOf(OnDemand):
    """The instances first .. last - 1 of ``samples``."""

    def __init__(self, samples: OpenedSamples, first: int, last: int) -> None:
        said = samples.source.attributes | {"instances": last - first}
        super().__init__(samples.path, said, lambda a, b: samples.group(first + a, first + b), lambda: samples.words)
        self.of = samples, first, last

    def __reduce__(self) -> tuple[object, ...]:
        return PartOf, self.of


class BroughtRows(Array):
    """An array with a row for each instance."""

    def __init__(self, source: OnDemand, name: str) -> None:
        like = source.first_instance[name]
        super().__init__((source.instances, *like.shape[1:]), like.dtype)
        self.source, self.name = source, name

    def _range(self, start: int, stop: int) -> np.ndarray:
        return self.source.group(start, stop)[self.name]


class BroughtElements(Array):
    """An array in which an instance has as many elements as it takes, or the bounds of these.

    ``part``: the array of a group that it is made of. ``counts``: what counts the elements of each instance.
    """

    def __init__(self, source: OnDemand, part: str, counts: str, *, is_bounds: bool) -> None:
        super().__init__((), np.dtype(np.int64) if is_bounds else source.first_instance[part].dtype)
        self.source, self.part, self.counts, self.is_bounds = source, part, counts, is_bounds

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.source.instances + 1 if self.is_bounds else int(self.source.pointer(self.counts)[-1]),)

    @property
    def ndim(self) -> int:
        return 1

    def _range(self, start: int, stop: int) -> np.ndarray:
        pointer = self.source.pointer(self.counts)
        if self.is_bounds:
            return pointer[start:stop]
        pieces = [np.empty(0, self.dtype)]
        for first, last in self._groups(pointer, start, stop):
            low, high = max(start, int(pointer[first])), min(stop, int(pointer[last]))
            pieces.append(self.source.group(first, last)[self.part][low - pointer[first] : high - pointer[first]])
        return np.concatenate(pieces)

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._range(0, len(self))[rows])

    def _groups(self, pointer: np.ndarray, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The instances that have the elements start .. stop - 1, a group of them at a time."""
        if start == stop:
            return
        first = int(np.searchsorted(pointer, start, "right")) - 1
        end = int(np.searchsorted(pointer, stop, "left"))
        for begin in range(first, end, self.source.group_size):
            yield begin, min(begin + self.source.group_size, end)
