"""Declarations of the arrays of a sample store: what each layout says of its own."""

from dataclasses import dataclass

from csaw.partition.graph.about import COUNT, NUMBER

VERTEX = "vertex"  # the element type of vertex ids: that of the store's ids
NUMBERS = "<i8"
EDGE_WEIGHT = "weight"  # the array of what each edge of a layer counts in an estimate
BATCH = "batch"  # the array of the seed to which each node of a disjoint mini-batch belongs
TIME, SEED_TIME = "time", "seed_time"  # arrays of samples in time: of each edge, and of each source
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
