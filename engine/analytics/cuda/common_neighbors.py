"""Triangles of a simple undirected network one by one, and the number of those of each edge, in order, on a GPU.

Twin of engine/analytics/cpu/common_neighbors.py, with the same rows. All rows of the graph are in the GPU's memory;
tables of some triangles at a time come to the host.
"""

from collections.abc import Iterator
from typing import NamedTuple

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.clusterings import Support, Triangles
from csaw.engine.analytics.cuda.footprints import (
    ENTRY_BYTES,
    LEAST_ENTRIES,
    lists_least_bytes,
    require_room,
    triangle_bytes,
)
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.passes import within

MOST_ENTRIES, MOST = 1 << 22, 1 << 24  # entries that are looked at, and triangles of a table, at a time


class Sizes(NamedTuple):
    """Entries that are looked at at a time, and triangles of a table beside those of its first entry."""

    entries: int
    triangles: int


def triangle_list(network: DeviceNetwork) -> Iterator[Triangles]:
    """List the triangles of a simple undirected network, each once, by u, then v, then w.

    BudgetError where all rows are not in the GPU's memory, or have too little room beside them.
    """
    sizes, kernels = _sizes(network), network.kernels("common_neighbors")
    _, _, indptr, indices, _ = next(network.blocks())
    for low in range(0, network.edges, sizes.entries):
        high = min(low + sizes.entries, network.edges)
        upto = cupy.zeros(high - low + 1, np.int64)
        cupy.cumsum(_counts(network, low, high, above=True), out=upto[1:])
        at = upto.get()
        for first, last in within(at, sizes.triangles):
            table = cupy.empty((int(at[last] - at[first]), 3), indices.dtype)
            if table.size:
                rows = (network.vertices, indptr, indices)
                kernels.over(
                    "write_triangles", 32 * (last - first), low + first, low + last, *rows, upto[first:], table
                )
            found = table.get()
            del table  # its memory is the next one's
            yield Triangles(low + last, found)


def support_list(network: DeviceNetwork) -> Iterator[Support]:
    """List the edges of a simple undirected network with the number of triangles of each (its support).

    Errors as of ``triangle_list``.
    """
    entries = _sizes(network).entries
    _, _, indptr, indices, _ = next(network.blocks())
    for low in range(0, network.edges, entries):
        high = min(low + entries, network.edges)
        counts, v = _counts(network, low, high, above=False), indices[low:high]
        u = (cupy.searchsorted(indptr, cupy.arange(low, high), side="right") - 1).astype(v.dtype)
        upper = cupy.flatnonzero(u < v)
        yield Support(high, u[upper].get(), v[upper].get(), counts[upper].get())


def _counts(network: DeviceNetwork, low: int, high: int, *, above: bool) -> Array:
    """Count the common neighbors of the entries low .. high - 1, or those ``above`` both ends: int64 [high - low]."""
    counts = cupy.empty(high - low, np.int64)
    _, _, indptr, indices, _ = next(network.blocks())
    given = (low, high, network.vertices, indptr, indices, above, counts)
    network.kernels("common_neighbors").over("count_common", 32 * (high - low), *given)
    return counts


def _sizes(network: DeviceNetwork) -> Sizes:
    """Choose how much is at work at a time, by the memory that is left; errors as of ``triangle_list``."""
    longest = int(network.degrees.max()) if network.edges else 0
    left = require_room(network, "lists of triangles", lists_least_bytes(network, longest)) // 2
    triangles = LEAST_ENTRIES + left // triangle_bytes(network)
    return Sizes(min(MOST_ENTRIES, LEAST_ENTRIES + left // ENTRY_BYTES), min(MOST, triangles))
