"""Counting the triangles of lists of lower neighbors on a GPU: twin of engine/analytics/cpu/kernels/triangles.py.

The lists are of all vertices, or of parts of them.
"""

from typing import NamedTuple

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.clusterings import HUBS
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.oriented import DENSE_OF, Higher, Lists
from csaw.engine.cuda.launch import Kernels

MANY = 96  # neighbors from which a vertex is worth a bitmap of the hubs
CHUNK = 2048  # higher neighbors of a task, as in engine/analytics/cuda/kernels/triangles.cu
HUB, MIDDLE, MIDDLE_EACH, FEW = 256, 128, 256, 256  # threads of a block of each kernel
DENSE = {8192: 256, 16384: 768}  # sizes of dense parts, and neighbors from which products are faster than lookups
DENSE_EDGES = 4  # entries of rows for each byte of a bit matrix
DENSE_ROWS, DENSE_BLOCK = 64, 384  # rows and threads of a block, as in engine/analytics/cuda/kernels/dense.cu
SINCE = 80  # the first architecture whose tensor cores multiply bits
MOST_SHARED = 97  # CUDA's number of a device's attribute: bytes of shared memory that a block can have


class Counts(NamedTuple):
    """Counters of a GPU: uint64 [1] for all triangles but those of the dense part, and [1] for these.

    ``of_rank``: uint64 [ranks], of each vertex by rank; None where these are not asked for.
    """

    total: Array
    dense: Array
    of_rank: Array | None

    @property
    def each(self) -> bool:
        """Whether triangles are counted of each vertex, too."""
        return self.of_rank is not None


def no_counts(ranks: int, each: bool) -> Counts:
    total, dense = (cupy.zeros(1, np.uint64) for _ in range(2))
    return Counts(total, dense, cupy.zeros(ranks, np.uint64) if each else None)


def found(network: DeviceNetwork, counts: Counts, rank: Array) -> tuple[int, Array | None]:
    """Return the counts of a GPU as triangles.triangles does."""
    dense = int(counts.dense[0]) // (2 if counts.each else 1)  # from both ends of an edge
    return int(counts.total[0]) + dense, _by_vertex(network, counts.of_rank, rank) if counts.each else None


def none_found(network: DeviceNetwork, each: bool) -> tuple[int, Array | None]:
    """Return what triangles.triangles does of a graph without a vertex that has a rank."""
    return 0, cupy.zeros(network.vertices, np.int64) if each else None


def _by_vertex(network: DeviceNetwork, of_rank: Array, rank: Array) -> Array:
    """int64 [V]: the triangles of each vertex, of those of each rank."""
    out = cupy.empty(rank.size, np.int64)
    network.kernels("oriented").over("take_by_rank", rank.size, rank.size, rank, of_rank, out)
    return out


def many_neighbors(network: DeviceNetwork) -> int:
    """The first rank of a vertex with few neighbors."""
    many = cupy.zeros(1, np.uint64)
    network.kernels("oriented").over("count_many", network.vertices, network.vertices, MANY, network.indptr, many)
    return int(many[0])


def dense_parts(network: DeviceNetwork, lists: Lists, ranks: int, each: bool, most: int) -> dict[int, Array]:
    """Make the bit matrices of the dense parts, by their sizes, of the ``lists`` of the vertices of highest degree.

    Of sizes that these lists hold, this GPU can multiply, and ``most`` bytes have room for. ``ranks``: the number of
    all.
    """
    shared = cupy.cuda.runtime.deviceGetAttribute(MOST_SHARED, network.gpu.number)
    if int(network.gpu.architecture.removeprefix("sm_")) < SINCE or lists.first > 0:
        return {}
    sizes = [
        size
        for size in DENSE
        if _shared(size) <= shared and size * size // 8 <= most and min(size, ranks) <= lists.last
    ]
    parts = {size: cupy.zeros(size * size // 32, np.uint32) for size in sizes}
    for size, matrix in parts.items():
        rows = min(size, lists.last)
        _dense_kernels(network, size, each).over("mark_dense", 32 * rows, rows, lists.ranked, lists.near, matrix)
    return parts


def _dense_kernels(network: DeviceNetwork, size: int, each: bool) -> Kernels:
    return network.kernels("dense", DENSE=size, EACH=int(each))


def _shared(size: int) -> int:
    """Bytes of shared memory of a block that multiplies rows of the dense part of a size."""
    return DENSE_ROWS * (size // 8 + 64)


def count_dense(
    network: DeviceNetwork, parts: dict[int, Array], others: Lists, counts: Counts, share: tuple[int, int] = (0, 1)
) -> None:
    """Count the triangles of each vertex of ``others`` with two of a dense part.

    It is the largest part in which the vertex has enough neighbors. ``share``: as of ``count``.
    """
    each = counts.each
    kernels, lists = network.kernels("triangles", EACH=int(each)), others.ranked.shape[0]
    kernels.over("forget_dense", lists, lists, others.ranked)
    for size in sorted(parts):
        _dense_kernels(network, size, each).over(
            "choose_dense",
            others.ranked.shape[0],
            others.ranked.shape[0],
            others.ranked,
            others.near,
            np.uint32(DENSE[size]),
        )
    for size, matrix in parts.items():
        chosen = cupy.flatnonzero(others.ranked[:, DENSE_OF] == size)[share[0] :: share[1]].copy()
        _dense_kernels(network, size, each).launch(
            "count_dense",
            -(-chosen.size // DENSE_ROWS),
            DENSE_BLOCK,
            chosen.size,
            chosen,
            others.first,
            others.ranked,
            others.near,
            matrix,
            counts.dense,
            counts.of_rank,
            shared=_shared(size),
        )


def count(
    network: DeviceNetwork,
    middles: Lists,
    higher: Higher,
    others: Lists,
    many: int,
    counts: Counts,
    share: tuple[int, int] = (0, 1),
) -> None:
    """Count the triangles whose middle vertex is in ``middles`` and whose vertex of highest rank is in ``others``.

    Those that ``count_dense`` counts are left out. ``higher``: of ``middles``. ``many``: as of ``many_neighbors``.
    ``share``: (k, n) takes every n-th of the middle vertices, from k on: neighbors in rank have about the same work.
    """
    each = counts.each
    kernels = network.kernels("triangles", EACH=int(each))
    part, step = share
    first, last = middles.first, middles.last
    start = [low + (part - low) % step for low in (first, max(first, HUBS), max(first, HUBS, many))]
    ends = [min(last, HUBS), min(last, max(many, HUBS)), last]
    lists = (first, *middles[2:], *higher, others.first, *others[1:])
    out = (counts.total, counts.of_rank)
    hubs = higher.count[start[0] - first : max(ends[0] - first, 0) : step]
    if hubs.size:
        tasks = cupy.zeros(hubs.size + 1, np.int64)
        kernels.over("count_tasks", hubs.size, hubs.size, step, hubs, tasks[1:])
        cupy.cumsum(tasks, out=tasks)
        kernels.launch("count_hubs", int(tasks[-1]), HUB, hubs.size, tasks, start[0], step, *lists, *out)
    middle, few = (max(0, -(-(end - begin) // step)) for begin, end in zip(start[1:], ends[1:], strict=True))
    ticket = cupy.zeros(1, np.uint64)
    kernels.launch(
        "count_middle",
        min(middle, network.gpu.processors * 16),
        MIDDLE_EACH if each else MIDDLE,
        ticket,
        start[1],
        ends[1],
        step,
        *lists,
        *out,
    )
    kernels.launch(
        "count_few", min(-(-few // 8), network.gpu.processors * 8), FEW, start[2], ends[2], step, *lists, *out
    )
