"""Clusterings of a simple undirected network on a GPU: the same as engine/analytics/clusterings.py finds."""

import cupy
import numpy as np

from csaw.engine.analytics import pieces
from csaw.engine.analytics.clusterings import Clusterings, of_arrays, with_none
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.contracts import Array

ON_HOST = 1 << 16  # vertices whose clusterings the host finds before a GPU has compiled the kernels for it
BLOCKS = 4  # of a multiprocessor, which count low degrees in shared memory


def compute(network: DeviceNetwork, *, triangles: Array) -> Clusterings:
    """Find clusterings of the triangles of each vertex, int64 [V]."""
    if network.vertices <= ON_HOST:
        return of_arrays(np.diff(network.indptr.get()), triangles.get())
    kernels, local, found = network.kernels("clustering"), np.empty(network.vertices), []
    degrees, often, together = _by_degree(network, kernels, triangles)
    for low, high in pieces.spans(network.vertices):
        own = cupy.empty(high - low)
        found.append(_often(kernels, network.indptr[low : high + 1], triangles[low:high], own))
        own.get(out=local[low:high])
    return Clusterings(degrees, often, together, local, *pieces.occurrences(found))


def _by_degree(network: DeviceNetwork, kernels: Kernels, triangles: Array) -> tuple[np.ndarray, ...]:
    """The degrees that occur, and the vertices and the triangles of each."""
    vertices, blocks = network.vertices, BLOCKS * network.gpu.processors
    most = cupy.zeros(1, np.uint64)
    kernels.launch("find_most", blocks, BLOCK, vertices, network.indptr, most)
    often, together = (cupy.zeros(int(most[0]) + 1, np.uint64) for _ in range(2))
    kernels.launch("add_by_degree", blocks, BLOCK, vertices, network.indptr, triangles, often.size, often, together)
    often, together = (one.get().view(np.int64) for one in (often, together))
    degrees = np.flatnonzero(often)
    return degrees, often[degrees], together[degrees]


def _often(kernels: Kernels, indptr: Array, triangles: Array, local: Array) -> tuple[np.ndarray, np.ndarray]:
    """Fill ``local`` with the clusterings of some vertices; which occur, and how often, as of one piece of _often."""
    size = local.size
    above, sizes = cupy.empty(size), cupy.zeros(2, np.uint64)
    kernels.over("cluster", size, size, indptr, triangles, local, above, sizes)
    count, none = sizes.get().tolist()
    if not count:
        return with_none(np.empty(0), np.empty(0, np.int64), none)
    above = above[:count]
    above.sort()
    upto = cupy.empty(count, np.int64)
    kernels.over("mark_new", count, count, above, upto)
    cupy.cumsum(upto, out=upto)
    values, begin = (cupy.empty(int(upto[-1]), kind) for kind in (np.float64, np.int64))
    kernels.over("place_new", count, count, above, upto, values, begin)
    return with_none(values.get(), np.diff(np.append(begin.get(), count)), none)
