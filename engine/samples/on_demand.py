"""Samples that are brought when they are read: those of a virtual store, which are drawn then, and a range of the instances of another store."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.layout import PARTS, RAGGED, WHOLE, elements_of
from csaw.engine.samples.sizes import Sizes
from csaw.partition.arrays.words import Words

Arrays = dict[str, np.ndarray]
Bring = Callable[[int, int], Arrays]
"""The arrays of the instances from the first number to before the second, as :meth:`Samples.group` returns them."""
KEPT = 4  # ranges of instances that were brought last: exports read the arrays of a range one after the other
SCATTERED = 64  # rows that are further apart than this are brought one by one


class OnDemand(Samples):
    """Samples with the interface of :class:`Samples`, whose instances ``bring`` brings whenever they are read.

    ``attributes``: those of a sample store, with the number of these ``instances``. ``bring`` may be called by several threads, and is not called before
    an array is asked for. ``words`` returns the string ids of the graph, None where the ids are numbers. ``part`` of a stored sample is one of these, and so
    is a virtual sample.

    Instances that differ in size have no place in an array that is known before all of them are there: ``instance_ptr`` and what lies between its bounds are
    found by bringing every instance once. ``group`` and ``iter_groups`` need none of that.
    """

    def __init__(self, path: Path, attributes: dict[str, Any], bring: Bring, words: Callable[[], Words | None]) -> None:
        self.path, self.checksums = path, {}
        self.manifest, self.layout = attributes["manifest"], attributes["layout"]
        self.instances, self.group_size = attributes["instances"], attributes["group_size"]
        self.ids, self.fill = attributes["ids"], attributes["fill"]
        self._bring, self._words_of = bring, words
        self._latest: deque[tuple[int, int, Arrays]] = deque(maxlen=KEPT)
        self._guard = Lock()

    @cached_property
    def _shapes(self) -> Arrays:
        """The arrays of the first instance, which have the names and element types of all and, but for ragged ones, their columns."""
        return self._bring(0, min(1, self.instances))

    @cached_property
    def _arrays(self) -> dict[str, Any]:  # type: ignore[override]  # known at once there
        shapes = self._shapes
        names = [name for name, part in WHOLE[self.layout].items() if part in shapes] if self.is_ragged else shapes
        return {
            name: _Rows(self, name) if name in shapes and name not in self.ragged else _Ragged(self, name)
            for name in names
        }

    @property
    def is_ragged(self) -> bool:
        """Whether an instance has as many rows of an array as it takes."""
        return self.layout in RAGGED

    @property
    def ragged(self) -> dict[str, str]:
        """The arrays in which an instance has as many rows as it takes, and the counts that say how many."""
        return RAGGED.get(self.layout, {})

    def group(self, start: int, stop: int) -> Arrays:
        start, stop, _ = slice(start, stop).indices(self.instances)
        return self._range(start, max(start, stop))

    def _range(self, start: int, stop: int) -> Arrays:
        for first, last, arrays in list(self._latest):
            if first <= start and stop <= last and (not self.is_ragged or (first, last) == (start, stop)):
                return arrays if self.is_ragged else {n: a[start - first : stop - first] for n, a in arrays.items()}
        arrays = self._bring(start, stop)
        self._latest.append((start, stop, arrays))
        return arrays

    def pointer(self, name: str) -> np.ndarray:
        """int64 [instances + 1]: running sums of some counts, such as ``counts`` or ``source_counts``, for which every instance is brought once."""
        names = set(self.ragged.values()) & self._shapes.keys()
        with self._guard:
            if not hasattr(self, "_pointers"):
                counts = [{n: arrays[n] for n in names} for _, arrays in self.iter_groups()]
                self._pointers = {
                    n: np.concatenate([[0], *(elements_of(n, each[n]) for each in counts)]).cumsum() for n in names
                }
        return self._pointers[name]

    @cached_property
    def words(self) -> Words | None:
        return self._words_of()

    @property
    def results(self) -> dict[str, Any]:  # type: ignore[override]  # read once there
        return {}

    @property
    def sizes(self) -> Sizes | None:
        return None

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays would take if they were stored; of instances whose sizes are not known, those of what one takes."""
        return self.instances * sum(array.nbytes for array in self._shapes.values())


class _Rows:
    """An array with a row for each instance, as :class:`Rows` of a stored sample."""

    def __init__(self, samples: OnDemand, name: str) -> None:
        self.samples, self.name = samples, name
        like = samples._shapes[name]
        self.shape, self.dtype, self.ndim = (samples.instances, *like.shape[1:]), like.dtype, like.ndim
        self.chunks = 0  # files to check

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def stored_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def trust(self) -> None:
        """Nothing is compared with checksums."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows = self[key[0]]
            return rows[key[1:]] if isinstance(key[0], int | np.integer) else rows[(slice(None), *key[1:])]
        if isinstance(key, int | np.integer):
            row = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= row < len(self):
                raise IndexError(f"row {key} of {len(self)}")
            return self._range(row, row + 1)[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._range(start, max(start, stop))
            key = range(start, stop, step)
        elif getattr(key, "dtype", None) == bool:
            key = np.flatnonzero(key)
        return self._gather(np.asarray(key, np.int64))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def _range(self, start: int, stop: int) -> np.ndarray:
        return self.samples.group(start, stop)[self.name]

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        """Some rows, in any order: those that are near each other are brought together."""
        rows = np.where(rows < 0, rows + len(self), rows)
        if rows.size and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"rows {rows.min()} to {rows.max()} of {len(self)}")
        out = np.empty((rows.size, *self.shape[1:]), self.dtype)
        order = np.argsort(rows, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(rows[order]) > SCATTERED) + 1):
            if some.size:
                first = int(rows[some[0]])
                out[some] = self._range(first, int(rows[some[-1]]) + 1)[rows[some] - first]
        return out


class _Ragged:
    """An array in which an instance has as many elements as it takes, or the bounds of these."""

    ndim = 1
    chunks = 0

    def __init__(self, samples: OnDemand, name: str) -> None:
        self.samples, self.name, self.part = samples, name, PARTS[name]
        self.counted_by = self.part if self.is_pointer else samples.ragged[self.part]
        self.dtype = np.dtype(np.int64) if self.is_pointer else samples._shapes[self.part].dtype

    @property
    def is_pointer(self) -> bool:
        return self.name.endswith("_ptr")

    def __len__(self) -> int:
        return self.samples.instances + 1 if self.is_pointer else int(self.samples.pointer(self.counted_by)[-1])

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def trust(self) -> None:
        """Nothing is compared with checksums."""

    def __getitem__(self, key: Any) -> Any:
        if self.is_pointer:
            return self.samples.pointer(self.counted_by)[key]
        if isinstance(key, slice) and key.step in (1, None):
            start, stop, _ = key.indices(len(self))
            return self._range(start, max(start, stop))
        if isinstance(key, int | np.integer):
            place = range(len(self))[key]
            return self._range(place, place + 1)[0]
        return self._range(0, len(self))[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def _range(self, start: int, stop: int) -> np.ndarray:
        pointer = self.samples.pointer(self.counted_by)
        pieces = [np.empty(0, self.dtype)]
        for first, last in self._groups(pointer, start, stop):
            low, high = max(start, int(pointer[first])), min(stop, int(pointer[last]))
            pieces.append(self.samples.group(first, last)[self.part][low - pointer[first] : high - pointer[first]])
        return np.concatenate(pieces)

    def _groups(self, pointer: np.ndarray, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The instances that have the elements start .. stop - 1, a group of them at a time."""
        if start == stop:
            return
        first = int(np.searchsorted(pointer, start, "right")) - 1
        end = int(np.searchsorted(pointer, stop, "left"))
        for begin in range(first, end, self.samples.group_size):
            yield begin, min(begin + self.samples.group_size, end)


def part_of(samples: Samples, first: int, last: int) -> OnDemand:
    """The instances first .. last - 1 of ``samples``, which are numbers 0, 1, ... of the part."""
    attributes = {
        "manifest": samples.manifest,
        "layout": samples.layout,
        "instances": last - first,
        "group_size": samples.group_size,
        "ids": samples.ids,
        "fill": samples.fill,
    }
    part = OnDemand(samples.path, attributes, lambda a, b: samples.group(first + a, first + b), lambda: samples.words)
    part.first = samples.first + first
    return part
