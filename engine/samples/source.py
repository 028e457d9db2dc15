"""The places of samples: on disk, in memory, or nowhere until they are requested."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from csaw.engine.samples import files
from csaw.engine.samples.array import Array
from csaw.engine.samples.layouts import LAYOUTS, Arrays, Ragged, SampleLayout, Sizes, Stored
from csaw.engine.samples.results import total
from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record
from csaw.partition.base.read_only import frozen


class Source(ABC):
    """Brings the arrays of :class:`Samples`, which every reader asks in the same way.

    ``attributes`` are those of a sample store. ``checksums``: SHA-256 of each file, by name, where arrays are files.
    """

    is_virtual = False
    """Whether samples are drawn when they are read."""

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
