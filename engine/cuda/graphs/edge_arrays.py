"""Arrays of the edges of a partition, where kernels or copies find them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.needs import Needs
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.store import INDICES


class EdgeArrays(NamedTuple):
    """Arrays on a GPU or in page-locked memory.

    Attributes:
        stored: [edges] each, by the names that they have in the store: those of neighbors and edge columns that are
            here.
        entries: bytes [edges, of each], what the layout has built of the rows: alias tables or running sums; None
            without.
    """

    stored: dict[str, Array]
    entries: Array = None

    def part(self, first: int, last: int) -> "EdgeArrays":
        """The arrays of the edges first .. last - 1."""
        entries = None if self.entries is None else self.entries[first:last]
        return EdgeArrays({name: array[first:last] for name, array in self.stored.items()}, entries)


def entries_for(edges: int, layout: GraphLayout, needs: Needs) -> Array:
    """Room on the GPU for what ``layout`` builds of so many edges: bytes [edges, of each]; None where it is nothing."""
    each = needs.edge.built(layout)
    return cupy.empty((edges, each), np.uint8) if each else None


def dtypes_of(store: Store, columns: Iterable[EdgeColumn]) -> dict[str, np.dtype]:
    """The dtypes of neighbors and of each of ``columns``, by their names in the store."""
    return {INDICES: np.dtype(store.id_dtype)} | {column.array: column.dtype for column in columns}


def made(
    make: Callable[[int, np.dtype], Array], edges: int, store: Store, columns: Iterable[EdgeColumn]
) -> dict[str, Array]:
    """Make an array of so many edges for neighbors and for each of ``columns``, by their names in the store."""
    return {name: make(edges, dtype) for name, dtype in dtypes_of(store, columns).items()}


def addresses(arrays: Iterable[Array]) -> Array:
    """Where arrays on the current GPU are, for kernels: uint64 [arrays]; None for no arrays."""
    found = [array.data.ptr for array in arrays]
    return cupy.asarray(np.array(found, np.uint64)) if found else None
