"""Samples as every reader asks them, their attributes and their arrays, and where these are: on disk, in memory, or
nowhere until they are requested.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from csaw.engine.samples import files
from csaw.engine.samples.array import Array
from csaw.engine.samples.check import Manifest, as_said
from csaw.engine.samples.identifiers import NOTHING, UNKNOWN, DenseNumbers, names_of
from csaw.engine.samples.layouts import LAYOUTS, Arrays, Ragged, SampleLayout, Sizes, Stored
from csaw.engine.samples.results import total
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.arguments import maybe
from csaw.partition.base.arrow_interface import ArrowTable
from csaw.partition.base.parallel import heeding
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import quoted
from csaw.partition.base.read_only import frozen
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.edge_columns import NO_UNITS
from csaw.partition.graph.types import Types


class Source(ABC):
    """Brings the arrays of :class:`Samples`, which every reader asks in the same way.

    ``attributes`` are those of a sample store. ``checksums``: SHA-256 of each file, by name, where arrays are files.
    """

    is_virtual = False
    """Whether samples are drawn when they are read."""
    numbers: np.ndarray | None = None
    """The numbers of the instances, int64, where they do not follow each other."""

    def __init__(self, path: Path, attributes: Record, checksums: dict[str, str] | None = None) -> None:
        self.path, self.attributes, self.checksums = path, attributes, checksums or {}
        self.layout: SampleLayout = LAYOUTS[attributes["layout"]]
        self.instances: int = attributes["instances"]

    @property
    def identity(self) -> str:
        """A digest of the files of a store."""
        return files.digest(self.checksums)

    @property
    @abstractmethod
    def arrays(self) -> Stored:
        """The arrays by name."""

    @abstractmethod
    def group(self, start: int, stop: int) -> Arrays:
        """The arrays of the instances start .. stop - 1, as :meth:`Samples.group` returns them."""

    @property
    @abstractmethod
    def words(self) -> Words | None:
        """The string ids of the graph, by dense id; None where its ids are numbers."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the samples take."""

    @property
    def results(self) -> Record:
        """Counts and timings of what drew the samples."""
        return {}

    @property
    def sizes(self) -> Sizes | None:
        """How many edges there are and instances have; None where nobody has counted them."""
        return None

    def trust(self) -> None:  # noqa: B027
        """Read files without comparing them with their checksums: the caller has just done so."""


class Held(Source):
    """Samples whose arrays are there."""

    def group(self, start: int, stop: int) -> Arrays:
        return self.layout.read(self.path, self.arrays, start, stop)

    @cached_property
    def words(self) -> Words | None:
        if self.attributes["ids"] != "names":
            return None
        return Words(self.arrays["vertex_id_offsets"][:], self.arrays["vertex_ids"][:]).checked(self.path)


# Samples in memory.

NAME = "samples in memory"  # stands for their path in messages


class KeptSource(Held):
    """Samples whose arrays are in memory.

    ``attributes``: those that a store of these samples would have; ``batches``: the arrays of consecutive instances, as
    :meth:`Samples.group` returns them, of at least one batch; ``words``: the string ids of the graph by dense id, None
    where ids are numbers. ``results``: counts and timings of what drew them.
    """

    def __init__(self, attributes: Record, batches: Iterable[Arrays], words: Words | None, results: Record) -> None:
        super().__init__(Path(NAME), attributes)
        held = self._whole(joined(list(batches)))
        if words is not None:
            held |= {"vertex_ids": words.text, "vertex_id_offsets": words.offsets}
        self._held, self._results, self._words = {k: KeptArray(array) for k, array in held.items()}, results, words

    def _whole(self, parts: Arrays) -> Arrays:
        """The arrays of a store that are made of those of all instances: bounds are running sums of counts."""
        layout = self.layout
        if not isinstance(layout, Ragged):
            return parts
        made = {name: (part, parts[part]) for name, part in layout.parts(parts).items()}
        return {
            name: values if name == part else np.concatenate([[0], np.cumsum(layout.elements(values))])
            for name, (part, values) in made.items()
        }

    @property
    def arrays(self) -> dict[str, "KeptArray"]:
        return self._held

    @property
    def words(self) -> Words | None:
        return self._words

    @property
    def results(self) -> Record:
        return self._results

    @cached_property
    def sizes(self) -> Sizes | None:
        size = self.attributes["group_size"]
        groups = (self.group(start, start + size) for start in range(0, self.instances, size))
        return total((self.layout.sizes(arrays, self.attributes["fill"]) for arrays in groups), self.layout)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the arrays take."""
        return sum(one.array.nbytes for one in self._held.values())


class KeptArray(Array):
    """An array in memory; slices are views of it, which cannot be written."""

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array.shape, array.dtype)
        self.array = frozen(array)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the array, which NumPy would make one that can be written."""
        return KeptArray, (self.array,)

    def _range(self, start: int, stop: int) -> np.ndarray:
        return self.array[start:stop]

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.array[rows])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype, copy=copy)


def joined(parts: list[Arrays]) -> Arrays:
    """Join the arrays of consecutive instances, by name, from those of at least one part.

    The arrays of a single part are not copied.
    """
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class OpenedSamples(ArrowTable):
    """Samples of a source; :class:`Samples` describes them.

    source: where the arrays are. first: the number of the first instance. algo: the file of an algorithm that csaw does
    not ship, where the user has named it to have samples drawn.
    """

    def __init__(self, source: Source, *, first: int = 0, algo: str | None = None) -> None:
        said = source.attributes
        self.source, self.first, self.algo = source, first, algo
        self.path, self.layout, self.instances = source.path, source.layout, source.instances
        self.manifest: Manifest = as_said(source.path, said["manifest"])
        self.group_size: int = said["group_size"]
        self.ids: str = said["ids"]
        self.fill: int = said["fill"]
        self._numbers: DenseNumbers | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the place of a store, which is opened again, or the arrays of samples in memory."""
        return samples_of, (type(self), self.source, self.first, self.algo)

    @property
    def is_virtual(self) -> bool:
        """Whether they are drawn when they are read."""
        return self.source.is_virtual

    @property
    def arrays(self) -> Stored:
        """All arrays by name."""
        return self.source.arrays

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of every file of the store but those of ``results`` and these."""
        return self.source.checksums

    def numbers(self, places: np.ndarray) -> np.ndarray:
        """The numbers in the store of the instances at these places, which count from 0."""
        return self.first + places if self.source.numbers is None else self.source.numbers[places]

    def trust(self) -> None:
        """Read arrays without comparing their files again: the caller has just compared all of them with their
        checksums.
        """
        self.source.trust()

    def __getitem__(self, name: str) -> Array:
        """The array of this name; StoreError where the store has none."""
        if name not in self.arrays:
            raise StoreError(f"{self.path} ({self.layout}) has no array {quoted(name)}")
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        """Whether the store has an array of this name."""
        return name in self.arrays

    @property
    def vertex_dtype(self) -> np.dtype:
        """The element type of vertex ids."""
        return self[self.layout.first_ids].dtype

    @property
    def has_walks(self) -> bool:
        """Whether an instance is a walk."""
        return self.layout.has_walks

    @property
    def words(self) -> Words | None:
        """The string ids of the graph, by dense id; None where its ids are numbers."""
        return self.source.words

    @property
    def time_units(self) -> str:
        """The units of times, as those of the graph; ``1``, integers as they are, where the manifest does not say."""
        units: str = self.manifest.get("graph", {}).get("time_units", NO_UNITS)
        return units

    @property
    def types(self) -> Types | None:
        """The types of the graph's vertices and its relations; None where it has one type."""
        said = self.manifest.get("graph", {}).get("types")
        return None if said is None else Types.described(said)

    @property
    def results(self) -> Record:
        """Counts and timings of the run, which are no part of the sample; empty where their file is missing."""
        return self.source.results

    @property
    def sizes(self) -> Sizes | None:
        """The number of edges, and those of instances, counted when they were written.

        None of samples of early versions.
        """
        return self.source.sizes

    @property
    def nbytes(self) -> int:
        """Bytes of the store's files, or of memory."""
        return self.source.nbytes

    @reading({"size": maybe(arguments.whole(1))})
    def iter_groups(self, size: int | None = None) -> Iterator[tuple[int, Arrays]]:
        """Read all groups of instances in turn.

        ``size``: instances of a group (default: those of the store).

        A thread reads and checks the next group while the caller works on this one: without it, a copy of 212 MB to
        .npy took 1.5 times as long.

        Yields:
            The first instance of a group, and its arrays, as :meth:`group` returns them.
        """
        size = size or self.group_size
        starts, read = range(0, self.instances, size), heeding(self.group)
        with ThreadPoolExecutor(1) as reader:
            ahead: deque[Future[Arrays]] = deque()
            for start in starts:
                ahead.append(reader.submit(read, start, min(start + size, self.instances)))
                if len(ahead) > 1:
                    yield start - size, ahead.popleft().result()
            if ahead:
                yield starts[-1], ahead.popleft().result()

    @reading({"start": arguments.integer, "stop": arguments.integer})
    def group(self, start: int, stop: int) -> Arrays:
        """Read the arrays of the instances start .. stop - 1 into host memory.

        Args:
            start: number of the first instance.
            stop: number after that of the last instance.

        Returns:
            The arrays by name. Walks have ``walks`` and ``lengths`` (ragged ones ``walks`` [steps + instances]), hops
            ``hop_0``, ``hop_1``, ..., subgraphs ``counts``, ``source_counts``, ``src``, ``dst``, ``depth`` and
            ``sources``, and those of ``weight``, ``vertex_counts``, ``vertices``, ``layer`` and ``probability`` that
            the store has, mini-batches those that :func:`draw_batches` names, as those of samples in time.

        Raises:
            OptionError: there are no such instances.
            StoreError: a file has changed.
        """
        require_instances(self, start, stop)
        return self.source.group(start, stop)

    @reading({"vertices": arguments.ids})
    def names(self, vertices: ArrayLike) -> np.ndarray:
        """Return the ids of the input for vertices of these samples, which have numbers if the ids are strings.

        Args:
            vertices: vertices of any shape, from any array, group, batch or loader of these samples, such as
                ``samples.walks[:10]``.

        Returns:
            An array of the same shape: if the graph's ids are strings, ``str`` in an array of dtype object, with the
            empty string for no vertex; otherwise the vertices unchanged.

        Raises:
            StoreError: a number is not a vertex of the graph.
        """
        return names_of(vertices, self.words, self.fill, self.path)

    def dense(self, array: np.ndarray, vertex_ids: np.ndarray | None = None) -> np.ndarray:
        """Dense ids of stored ones, int64: NOTHING for an entry without a vertex, UNKNOWN for an id that the graph does
        not have.

        ``vertex_ids`` are the graph's original ids by dense id; None where those are 0 .. V - 1.
        """
        if self.ids != "original" or vertex_ids is None:
            out = array.astype(np.int64)
            known = self.manifest.get("graph", {}).get("vertices", 2**63 - 1)
            out[(out < 0) | (out >= known)] = UNKNOWN
        else:
            if self._numbers is None or self._numbers.ids is not vertex_ids:
                self._numbers = DenseNumbers(vertex_ids)
            out = self._numbers.of(array)
        out[array == np.asarray(self.fill).astype(array.dtype)] = NOTHING
        return out


def samples_of(kind: type[OpenedSamples], source: Source, first: int, algo: str | None) -> OpenedSamples:
    """Make samples anew of what was pickled of them."""
    return kind(source, first=first, algo=algo)


def require_instances(samples: OpenedSamples, first: int, last: int) -> None:
    """OptionError unless there are instances ``first`` .. ``last`` - 1."""
    if not (0 <= first <= last <= samples.instances):
        raise OptionError(
            f"{samples.path}: expected instances FIRST:LAST with 0 <= FIRST <= LAST <= {samples.instances:,}, found "
            f"{quoted(first)}:{quoted(last)}"
        )
