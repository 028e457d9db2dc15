"""Where samples are: on disk, in memory, or nowhere until they are asked for."""

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path

from csaw.engine.samples import files
from csaw.engine.samples.layouts import LAYOUTS, Arrays, SampleLayout, Sizes, Stored
from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record


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
