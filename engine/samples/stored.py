"""Samples on disk."""

import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import FileIO
from operator import attrgetter
from pathlib import Path
from threading import Lock

import numpy as np

from csaw.engine.samples import check, files
from csaw.engine.samples.array import Array
from csaw.engine.samples.check import array_of, check_file, chunk_name, not_as_written
from csaw.engine.samples.files import AGAIN
from csaw.engine.samples.layouts import Arrays, Ragged, Sizes
from csaw.engine.samples.opened import Held, OpenedSamples, Source, joined
from csaw.engine.samples.results import REPLACES, RESULTS, SIZES, results_of
from csaw.partition.arrays.files import Identity, identity_of, open_regular, opened_again, way_out
from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record
from csaw.partition.base.read_only import frozen
from csaw.partition.errors import StoreError

# Arrays of a finished sample store: read when sliced, each file checked when it is first read.


class Rows(Array):
    """An array on disk; its first axis is cut into uncompressed chunk files, whose SHA-256 are in ``checksums``.

    Slicing it reads and checks files.
    """

    def __init__(self, store: Path, name: str, checksums: dict[str, str]):
        check_file(store, f"{name}/zarr.json", checksums)
        self.store, self.name = store, name
        shape, dtype, self._chunk = array_of(store / name / "zarr.json")
        super().__init__(shape, dtype)
        self._checksums, self._intact = checksums, dict[int, Identity]()  # of the chunks' files that were checked
        self._guard, self._checking = Lock(), dict[int, Lock]()

    def __getstate__(self) -> Record:
        """The pickled state; each file is checked again after unpickling."""
        return vars(self) | {"store": self.store.absolute(), "_guard": None, "_checking": {}, "_intact": {}}

    def __setstate__(self, state: Record) -> None:
        self.__dict__.update(state, _guard=Lock())

    def trust(self) -> None:
        """Read files without comparing them again: the caller has just compared all of them with their checksums."""
        for index in range(self.chunks):
            with suppress(OSError):  # left to the reader
                self._intact[index] = identity_of(os.stat(self.store / self._file(index)))

    @property
    def stored_bytes(self) -> int:
        """Bytes of its chunk files, of which the last is padded."""
        return self.chunks * self._chunk_bytes

    @property
    def _chunk_bytes(self) -> int:
        return math.prod(self._chunk) * self.dtype.itemsize

    @property
    def chunks(self) -> int:
        return -(-self.shape[0] // self._chunk[0]) if all(self.shape) else 0

    def check(self, index: int) -> None:
        """Compare a chunk's file with its checksum, unless this has been done.

        Of several threads that ask, one does it and the others wait.
        """
        with self._opened(index):
            pass

    def _compare(self, index: int, identity: Identity) -> None:
        """Compare the file with this identity, unless this has been done: another one may have its name since then."""
        if self._intact.get(index) == identity:
            return
        with self._guard:
            checking = self._checking.setdefault(index, Lock())
        with checking:
            if self._intact.get(index) != identity:
                check_file(self.store, self._file(index), self._checksums, self._chunk_bytes)
                self._intact[index] = identity

    def _file(self, index: int) -> str:
        return f"{self.name}/{chunk_name(index, self.ndim)}"

    def _range(self, start: int, stop: int) -> np.ndarray:
        out = np.empty((stop - start, *self.shape[1:]), self.dtype)
        size, at = self._chunk[0], start
        while out.size and at < stop:
            end = min(stop, (at // size + 1) * size)
            self._read(at // size, at % size, out[at - start : end - start])
            at = end
        return out

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *self.shape[1:]), self.dtype)
        chunks = rows // self._chunk[0]
        for chunk in np.unique(chunks) if out.size else ():
            here = chunks == chunk
            out[here] = self._mapped(int(chunk))[rows[here] % self._chunk[0]]
        return out

    def _read(self, index: int, row: int, out: np.ndarray) -> None:
        """Rows of a chunk, copied: a file mapped into memory costs several threads more, which wait for each other at
        every new page.
        """
        place = row * math.prod(self._chunk[1:]) * self.dtype.itemsize
        with self._opened(index) as file:
            left = out.reshape(-1).view(np.uint8).data
            file.seek(place)
            while left:
                if not (count := file.readinto(left)):
                    raise StoreError(f"{file.name}: has become shorter while it was read; {AGAIN}")
                left = left[count:]

    def _mapped(self, index: int) -> np.ndarray:
        with self._opened(index) as file:
            return np.memmap(file, self.dtype, "r", shape=self._chunk)

    @contextmanager
    def _opened(self, index: int) -> Iterator[FileIO]:
        """Open the file of a chunk, once it is known to be as written.

        StoreError also where it cannot be read inside the block.
        """
        path = self.store / self._file(index)
        try:
            with FileIO(path, opener=lambda name, _: open_regular(Path(name), size=self._chunk_bytes)) as file:
                self._compare(index, identity_of(os.fstat(file.fileno())))
                yield file
        except StoreError:
            raise
        except OSError as error:
            what = ": missing" if isinstance(error, FileNotFoundError) else f" cannot be read: {error.strerror}"
            refused = StoreError(f"{path}{what}; {way_out(error, AGAIN)}")
            raise not_as_written(self.store, self._checksums, refused) from error


class StoredSource(Held):
    """The finished sample store at ``path``, whose files are compared with their checksums when they are read."""

    def __init__(self, path: Path, attributes: Record) -> None:
        """``attributes``: what the store says of itself, as :func:`check.attributes_of` has read it."""
        checksums = check.checksums_of(path)
        super().__init__(path, attributes, checksums)
        check.check_file(path, "zarr.json", checksums)
        names = [name.removesuffix("/zarr.json") for name in checksums if name.endswith("/zarr.json")]
        self._rows = {name: Rows(path, name, checksums) for name in names}
        check.check_arrays(path, attributes, self._rows)

    def __reduce__(self) -> tuple[object, ...]:
        return opened_again, (str(self.path.absolute()), self.identity, opened, attrgetter("identity"))

    @property
    def arrays(self) -> dict[str, Rows]:
        return self._rows

    def trust(self) -> None:
        for rows in self._rows.values():
            rows.trust()

    @cached_property
    def results(self) -> Record:
        return {name: value for name, value in results_of(self.path).items() if name not in (SIZES, REPLACES)}

    @property
    def sizes(self) -> Sizes | None:
        found = results_of(self.path).get(SIZES)
        sizes = files.unchanged(found)
        if found is not None and sizes is None:
            files.refuse(self.path / RESULTS, "sizes as they were written", "others")
        return sizes

    @property
    def nbytes(self) -> int:
        """Bytes of the store's files."""
        nodes = [self.path / name / "zarr.json" for name in ("", "checksums", *self._rows)]
        results = [self.path / RESULTS] if (self.path / RESULTS).exists() else []
        try:
            described = sum(node.stat().st_size for node in nodes + results)
        except OSError as error:
            raise StoreError(
                f"{error.filename} cannot be read: {error.strerror}; {way_out(error, files.AGAIN)}"
            ) from error
        return described + sum(rows.stored_bytes for rows in self._rows.values())


def opened(path: Path) -> StoredSource:
    """Open the finished sample store at ``path``."""
    return StoredSource(path, check.attributes_of(path))


# Samples that are brought when they are read: those of a virtual store, which are drawn then, and a range of the
# instances of another store.

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
        if samples.source.numbers is not None:
            self.numbers = samples.source.numbers[first:last]

    def __reduce__(self) -> tuple[object, ...]:
        return PartOf, self.of


class Chosen(OnDemand):
    """Some instances of ``samples``: those with these ``numbers``, int64, ascending."""

    numbers: np.ndarray

    def __init__(self, samples: OpenedSamples, numbers: np.ndarray) -> None:
        said = samples.source.attributes | {"instances": numbers.size}
        super().__init__(samples.path, said, self._picked, lambda: samples.words)
        self.samples, self.numbers = samples, numbers

    def __reduce__(self) -> tuple[object, ...]:
        return Chosen, (self.samples, self.numbers)

    def _picked(self, start: int, stop: int) -> Arrays:
        """Read the groups that have some of the instances, one after the other."""
        wanted, size, parts = self.numbers[start:stop], self.samples.group_size, list[Arrays]()
        for group in np.unique(wanted // size).tolist() or [0]:
            first, last = group * size, min((group + 1) * size, self.samples.instances)
            some = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, last)]
            parts.append(self.layout.pick(self.samples.group(first, last), some - first))
        return joined(parts)


class BroughtRows(Array):
    """An array with a row for each instance."""

    def __init__(self, source: OnDemand, name: str) -> None:
        like = source.first_instance[name]
        super().__init__((source.instances, *like.shape[1:]), like.dtype)
        self.source, self.name = source, name

    def _preview(self) -> str:
        return ""  # which may have to be drawn

    def _range(self, start: int, stop: int) -> np.ndarray:
        return self.source.group(start, stop)[self.name]


class BroughtElements(Array):
    """An array in which an instance has as many elements as it takes, or the bounds of these.

    ``part``: the array of a group that it is made of. ``counts``: what counts the elements of each instance.
    """

    def __init__(self, source: OnDemand, part: str, counts: str, *, is_bounds: bool) -> None:
        super().__init__((), np.dtype(np.int64) if is_bounds else source.first_instance[part].dtype)
        self.source, self.part, self.counts, self.is_bounds = source, part, counts, is_bounds

    def __repr__(self) -> str:
        return f"<{self.dtype}, counted and read when it is sliced>"

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
