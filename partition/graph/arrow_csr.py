"""A graph as CSR arrays of Arrow, which other libraries take by its PyCapsule interface without copying them."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from csaw.partition.base.arrow_interface import ArrowTable
from csaw.partition.base.libraries import needed
from csaw.partition.base.python_names import reading
from csaw.partition.graph import given_room
from csaw.partition.graph.edge_columns import WEIGHT, EdgeColumn
from csaw.partition.graph.parts import Graph

if TYPE_CHECKING:
    from pyarrow import Array


class ArrowCsr(NamedTuple):
    """CSR of a graph of V vertices and E stored edges, as arrays of pyarrow, which have ``__arrow_c_array__``.

    Attributes:
        offsets: int64 [V + 1]: the edges of vertex v are ``offsets[v]`` to ``offsets[v + 1] - 1``.
        indices: uint32, or uint64 for 2^32 - 1 vertices and more, [E]: the vertices that edges lead to.
        columns: ``weight``, float32 [E], if there are weights, and further columns by name, [E] each.
    """

    offsets: "Array"
    indices: "Array"
    columns: Mapping[str, "Array"]


class ArrowGraph(ArrowTable):
    """Gives a graph its rows as CSR arrays of Arrow, beside its edges as a table."""

    def load(self, columns: Collection[EdgeColumn] = ()) -> Graph:
        """Load the whole graph."""
        raise NotImplementedError

    def whole(self, columns: Collection[EdgeColumn]) -> Graph:
        """The whole graph, whose arrays nobody may change: a graph in memory has them already."""
        return self.load(columns)

    @reading({"columns": given_room.columns})
    def to_arrow_csr(self, columns: Collection[EdgeColumn] = ()) -> ArrowCsr:
        """Return the whole graph as CSR arrays of Arrow.

        A graph in memory shares its arrays, except for columns that are not contiguous; a store on disk is read once,
        as by :meth:`load`. Nothing else is copied. Vertices are dense ids; ``original_ids`` translates them.

        Args:
            columns: Further edge columns, from ``edge_columns`` (default: none).

        Returns:
            ``offsets``, ``indices`` and ``columns``, the weights among them, as arrays of pyarrow without nulls.

        Raises:
            OptionError: The graph has no such column.
            MissingDependencyError: pyarrow is not installed.
            StoreError: A file has changed.
        """
        array = needed("pyarrow", "to_arrow_csr").array
        graph = self.whole(columns)
        weights = {} if graph.weights is None else {WEIGHT.name: graph.weights}
        further = {name: array(values) for name, values in {**weights, **graph.columns}.items()}
        return ArrowCsr(array(graph.indptr), array(graph.indices), further)
