"""The base of layouts: a layout is the form in which instances are drawn, stored and read."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np

from csaw.engine.samples.array import Array, check_pointer
from csaw.engine.samples.pyg_batches import Batch
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import OptionError
from csaw.partition.graph.attributes import COUNT, NUMBER

# Declarations of the arrays of a sample store: what each layout says of its own.

VERTEX = "vertex"  # the element type of vertex ids: that of the store's ids
NUMBERS = "<i8"
EDGE_WEIGHT = "weight"  # the array of what each edge of a layer counts in an estimate
BATCH = "batch"  # the array of the seed to which each node of a disjoint mini-batch belongs
TIME: Final = "time"  # the array of samples in time of each edge,
SEED_TIME: Final = "seed_time"  # and of each source
OF_COPIES = "src_time", "dst_time"  # and where vertices are in a frontier at several times: those of both ends


@dataclass(frozen=True)
class Declared:
    """One array of a store.

    kind: element type of what a group brings, VERTEX for ids. dimensions, units and said: as viewers show them; arrays
    with a row for each instance begin with the dimension ``instance``. counts: the array of a group that says how many
    elements each instance has; for bounds, that of which they are the running sum. optional: whether only some stores
    of the layout have it.
    """

    name: str
    kind: str
    dimensions: tuple[str, ...]
    units: str
    said: str
    counts: str = ""
    optional: bool = False

    @property
    def is_bounds(self) -> bool:
        """Whether it says where the elements of each instance begin, and where those of the last one end."""
        return self.name.endswith("_ptr")

    @property
    def part(self) -> str:
        """The array of a group that it is made of."""
        return self.counts if self.is_bounds else self.name

    def rows(self, instances: int) -> int | None:
        """Its number of rows in a store of so many instances; None where instances differ in size."""
        if self.is_bounds:
            return instances + 1
        return instances if self.dimensions[0] == "instance" else None


def pointer(name: str, counts: str, said: str, kind: str = NUMBERS, *, optional: bool = False) -> Declared:
    """Declare the bounds of elements that ``counts``, of element type ``kind``, counts in each instance."""
    return Declared(name, kind, ("instance_bound",), COUNT, f"where {said}", counts, optional)


def values(
    name: str, kind: str, counts: str, dimension: str, said: str, units: str = NUMBER, *, optional: bool = False
) -> Declared:
    """Declare an array in which an instance has as many elements as ``counts`` says."""
    return Declared(name, kind, (dimension,), units, said, counts, optional)


def fixed(name: str, kind: str, said: str, units: str, *columns: str) -> Declared:
    """Declare an array with a row for each instance, and a dimension of ``columns`` if one is named."""
    return Declared(name, kind, ("instance", *columns), units, said)


def times(edges: str, sources: str) -> tuple[Declared, Declared]:
    """Declare the times of edges and of sources, of which an instance has as many as ``edges`` and ``sources`` say."""
    said = "in the units of the graph"
    return (
        values(TIME, NUMBERS, edges, "edge", f"time of each edge, {said}", optional=True),
        values(SEED_TIME, NUMBERS, sources, "source", f"time of each source, {said}", optional=True),
    )


# The base of layouts.

Arrays = dict[str, np.ndarray]
Instance = np.ndarray | Arrays
"""An instance by itself: the vertices of a walk, or arrays by name."""
Stored = Mapping[str, Array]
"""The arrays of a store by name."""
Shapes = Mapping[str, tuple[int, ...]]
Sizes = Record
"""``edges``, ``instances``, ``least`` and ``most`` edges of one of these, and of walks with a limit how many
``ended_early``; of subgraphs that have vertices of their own ``least_vertices`` of one."""
LEAST_VERTICES = "least_vertices"
EDGE = ("instance", "src", "dst", "depth")


class SampleLayout(str, ABC):
    """A layout is equal to its name, which manifests have, and answers what depends on the form of samples.

    Methods take the arrays of a group of n instances by name, as :meth:`Samples.group` returns them, and the ``fill``
    that stands for no vertex in them; or the arrays of a whole store.
    """

    name: ClassVar[str]
    arrays: ClassVar[tuple[Declared, ...]] = ()
    first_version: ClassVar[int] = 1
    """The earliest version of the format that has the layout."""
    words: ClassVar[tuple[str, str]]
    """The words for one instance and for several."""
    printed: ClassVar[tuple[str, str] | None] = None
    """Other words for them in reports of the command line, where it has others."""
    heading: ClassVar[str] = ""
    """The heading of the algorithms that draw in it; empty where none declares it."""
    has_walks: ClassVar[bool] = False
    """Whether an instance is a walk."""
    has_limit: ClassVar[bool] = False
    """Whether an instance is a walk with a limit of steps, and so a row of a table."""
    comes_whole: ClassVar[bool] = False
    """Whether the arrays of a batch must be copied all at once, since only they say where an instance begins."""
    counts_visits: ClassVar[bool] = False
    """Whether vertices occur as often as they are visited, rather than once for each edge."""
    counted_from: ClassVar[tuple[str, ...] | None] = None
    """The arrays whose values ``sizes`` reads, of the others only the shape; None: it reads all."""
    joins_in_order: ClassVar[bool] = True
    """Whether the edges of an instance have an order of their own, by which ``--target`` joins them."""
    joins_batches: ClassVar[bool] = True
    """Whether batches of PyTorch Geometric are made in parts by several threads."""
    keeps_seeds: ClassVar[bool] = False
    """Whether it has the labels of seeds, and their chances to be drawn."""
    lists_lonely: ClassVar[bool] = False
    """Whether its edges are listed with the vertices of an instance that have none."""
    first_ids: ClassVar[str]
    """The name of an array of vertex ids."""
    summed: ClassVar[tuple[str, ...]] = ("edges", "instances")
    """The sizes of groups that are added up."""

    def __new__(cls) -> Self:
        return super().__new__(cls, cls.name)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()

    @cached_property
    def counted_by(self) -> dict[str, str]:
        """The arrays of a group in which an instance has as many elements as it takes, and the counts of these."""
        return {one.name: one.counts for one in self.arrays if one.counts and not one.is_bounds}

    def declared(self, name: str) -> Declared:
        """Return the declaration of the array ``name`` of a store."""
        return next(one for one in self.arrays if one.name == name)

    def wanted(self, found: Collection[str]) -> list[str]:
        """The arrays that a store must have if it has those ``found``."""
        return [one.name for one in self.arrays if not one.optional or one.name in found]

    @abstractmethod
    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        """Raise StoreError unless the arrays of the store at ``path`` have shapes that fit together."""

    @abstractmethod
    def edge_arrays(self, names: Collection[str]) -> list[str]:
        """The arrays that edges are read from, of a store that has those of these ``names``."""

    @abstractmethod
    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        """Read a group from the store at ``path``. StoreError where its numbers contradict each other."""

    @abstractmethod
    def cuts(self, path: Path, stored: Stored, span: tuple[int, int], piece: int) -> list[int]:
        """Where to cut the instances of a span into pieces of about ``piece`` bytes of ids, the first one included."""

    @abstractmethod
    def ids_of_one(self, stored: Stored, instances: int) -> float:
        """The ids that an instance has, on average."""

    @abstractmethod
    def cut(self, arrays: Arrays, bounds: Iterable[int]) -> Iterator[Arrays]:
        """Cut arrays into those of the instances between each two of ``bounds``; they are views, not copies."""

    @abstractmethod
    def rows(self, arrays: Arrays, rows: slice) -> Arrays:
        """The arrays of some instances, as views; they may be on a device."""

    @abstractmethod
    def pick(self, arrays: Arrays, rows: np.ndarray) -> Arrays:
        """Copy the arrays of the instances ``rows``, int64, in this order."""

    @abstractmethod
    def replaced(self, arrays: Arrays, others: Arrays, wanted: np.ndarray) -> Arrays:
        """The arrays of a group with the instances that are ``wanted``, bool [n], taken from ``others`` in their order.

        ``arrays`` may lack the last ones, which are wanted then; they may be changed.
        """

    @abstractmethod
    def instance(self, arrays: Arrays) -> Instance:
        """The only instance of a group of one, as a reader takes it in: without counts."""

    @abstractmethod
    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        """The edges of a group: ``instance`` from 0, ``src``, ``dst`` and ``depth`` [edges]."""

    @abstractmethod
    def edges_of_each(self, arrays: Arrays, fill: int) -> np.ndarray:
        """The number of edges of each instance, int64 [n]."""

    def sizes(self, arrays: Arrays, fill: int) -> Sizes:
        """The sizes of a group of at least one instance."""
        edges = self.counted_edges(arrays, fill)
        return {
            "edges": int(edges.sum()),
            "instances": edges.size,
            "least": int(edges.min()),
            "most": int(edges.max()),
        }

    def counted_edges(self, arrays: Arrays, fill: int) -> np.ndarray:
        """The same as ``edges_of_each``, in one of many threads that write groups side by side."""
        return self.edges_of_each(arrays, fill)

    @abstractmethod
    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """The sources of a group, one instance after the other, and the number of each instance, int64 [n]."""

    def members(self, arrays: Arrays, fill: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the instances, from 0, and the ids of all vertices without an edge; others may be among them."""
        sources, counts = self.sources(arrays)
        held = sources != sources.dtype.type(fill)
        return [(np.repeat(np.arange(counts.size), counts)[held], sources[held])]

    @abstractmethod
    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray | None:
        """Return the id of each visited vertex, as often as it was visited.

        The first ``skipped`` of each walk are left out. None where it depends on the algorithm.
        """

    @abstractmethod
    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the number of steps or edges of each instance, and two lists of ids.

        Ids of the first list count as visits or ends of edges; the second has vertices that are there in any case.
        """

    @abstractmethod
    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        """Return the vertices whose rows the instances of a group have read; fill may be among them.

        ``depth``: the number of steps or hops after which no row is read any more; None, the rows of all are. Each list
        comes with the name of the array that counts its elements in each instance; empty for a row for each instance.
        """

    @abstractmethod
    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        """A group as one batch of PyTorch Geometric. ``start``: the number of its first instance in the store."""

    def fits(self, stored: Stored, sizes: Sequence[int]) -> bool:
        """Whether the hops of a store are those of a request that selects so many neighbors at each."""
        return True


class Table(SampleLayout):
    """A layout whose arrays have a row of the same length for each instance: chunks of a store are the groups."""

    def tables(self, names: Collection[str]) -> list[str]:
        """The names of its tables of ids."""
        return [name for name in self.wanted(names) if self.declared(name).kind == VERTEX]

    def edge_arrays(self, names: Collection[str]) -> list[str]:
        return self.wanted(names)

    def rows(self, arrays: Arrays, rows: slice) -> Arrays:
        return {name: array[rows] for name, array in arrays.items()}

    def pick(self, arrays: Arrays, rows: np.ndarray) -> Arrays:
        return {name: array[rows] for name, array in arrays.items()}

    def replaced(self, arrays: Arrays, others: Arrays, wanted: np.ndarray) -> Arrays:
        found = {}
        for name, array in arrays.items():
            new, held = others[name], np.flatnonzero(wanted[: len(array)])
            made = array if array.flags.writeable else array.copy()
            made[held] = new[: held.size]
            found[name] = np.concatenate([made, new[held.size :]]) if len(array) < wanted.size else made
        return found

    def instance(self, arrays: Arrays) -> Instance:
        return {name: array[0] for name, array in arrays.items()}

    def cut(self, arrays: Arrays, bounds: Iterable[int]) -> Iterator[Arrays]:
        return ({name: array[start:stop] for name, array in arrays.items()} for start, stop in pairwise(bounds))

    def cuts(self, path: Path, stored: Stored, span: tuple[int, int], piece: int) -> list[int]:
        row_bytes = sum(stored[name].shape[1] * stored[name].dtype.itemsize for name in self.tables(stored))
        return list(range(*span, max(1, piece // max(row_bytes, 1))))

    def ids_of_one(self, stored: Stored, instances: int) -> float:
        return sum(stored[name].shape[1] for name in self.tables(stored))


class Ragged(SampleLayout):
    """A layout whose instances differ in size: bounds in the store, counts in a group, say where each begins."""

    edge_bounds: ClassVar[tuple[str, str]]
    """The array of the bounds of edges, and one of edges; of walks, of vertices."""

    def elements(self, counts: np.ndarray) -> np.ndarray:
        """The number of elements of instances with these ``counts``, int64."""
        return counts.astype(np.int64)

    def parts(self, held: Collection[str]) -> dict[str, str]:
        """The arrays of a store whose groups bring those ``held``, and what each is made of."""
        return {one.name: one.part for one in self.arrays if one.part in held}

    @property
    def edge_counts(self) -> str:
        """The array of a group that says how many edges each instance has; of walks, how many steps."""
        return self.declared(self.edge_bounds[0]).counts

    def edges_of_each(self, arrays: Arrays, fill: int) -> np.ndarray:
        return arrays[self.edge_counts].astype(np.int64)

    def rows(self, arrays: Arrays, rows: slice) -> Arrays:
        start, stop, step = rows.indices(len(arrays[self.edge_counts]))
        if step != 1:
            raise OptionError(f"rows of {self}: expected consecutive ones, found a step of {step}")
        [found] = self.cut(arrays, (start, max(start, stop)))
        return found

    def cut(self, arrays: Arrays, bounds: Iterable[int]) -> Iterator[Arrays]:
        ends = {one: self.elements(arrays[one]).cumsum() for one in set(self.counted_by.values()) if one in arrays}
        for start, stop in pairwise(bounds):
            spans = {one: slice(_before(sums, start), _before(sums, stop)) for one, sums in ends.items()}
            spans[""] = slice(start, stop)
            yield {name: array[spans[self.counted_by.get(name, "")]] for name, array in arrays.items()}

    def replaced(self, arrays: Arrays, others: Arrays, wanted: np.ndarray) -> Arrays:
        rows, held = np.arange(wanted.size), len(arrays[self.edge_counts])
        rows[wanted] = held + np.arange(int(wanted.sum()))
        return self.pick({name: np.concatenate([array, others[name]]) for name, array in arrays.items()}, rows)

    def pick(self, arrays: Arrays, rows: np.ndarray) -> Arrays:
        found, places = {}, {"": rows}
        for name, array in arrays.items():
            counts = self.counted_by.get(name, "")
            if counts not in places:
                places[counts] = _places(self.elements(arrays[counts]), rows)
            found[name] = array[places[counts]]
        return found

    def instance(self, arrays: Arrays) -> Instance:
        return {name: array for name, array in arrays.items() if name in self.counted_by}

    def bounds(self, path: Path, stored: Stored, name: str, start: int, stop: int) -> np.ndarray:
        """Where the instances start to stop begin by the bounds ``name``, and where the last one ends."""
        counts = self.declared(name).counts
        of = next(one for one, by in self.counted_by.items() if by == counts and one in stored)
        found = stored[name][start : stop + 1]
        check_pointer(path / name, found, len(stored[of]), first=start == 0, last=stop == len(stored[name]) - 1)
        return np.asarray(found)

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        held = [one for one in self.arrays if one.name in stored]
        ends = {one.counts: self.bounds(path, stored, one.name, start, stop) for one in held if one.is_bounds}
        arrays = {}
        for one in held:
            pointer = ends.get(one.counts, (start, stop))
            values = np.diff(pointer) if one.is_bounds else stored[one.name][int(pointer[0]) : int(pointer[-1])]
            arrays[one.part] = values
        return arrays

    def cuts(self, path: Path, stored: Stored, span: tuple[int, int], piece: int) -> list[int]:
        start, stop = span
        pointer, array = self.edge_bounds
        bounds = self.bounds(path, stored, pointer, start, stop)
        each = max(1, piece // (2 * stored[array].dtype.itemsize))
        marks = np.arange(bounds[0], max(bounds[-1], bounds[0] + 1), each)
        return list(np.unique(start + np.minimum(np.searchsorted(bounds, marks), stop - start - 1)).tolist())

    def ids_of_one(self, stored: Stored, instances: int) -> float:
        return 2 * len(stored[self.edge_bounds[1]]) / max(instances, 1)


def walk_of(arrays: Arrays) -> np.ndarray:
    """The vertices of the only walk of a group, from its source to its end."""
    return np.asarray(arrays["walks"].reshape(-1)[: int(arrays["lengths"][0]) + 1])


def _places(sizes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Where the elements of some instances are among those of all, which have these ``sizes``; int64."""
    wanted = sizes[rows]
    moved = (np.cumsum(sizes) - sizes)[rows] - (np.cumsum(wanted) - wanted)
    return np.asarray(np.repeat(moved, wanted) + np.arange(int(wanted.sum())))


def _before(sums: np.ndarray, instance: int) -> int:
    """The elements of all instances before this one, by running sums of their numbers."""
    return int(sums[instance - 1]) if instance else 0
