"""Triangles by a masked product on a GPU, in memory: twin of cpu/masked_product.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda import oriented
from csaw.engine.analytics.cuda import triangle_counts as counting
from csaw.engine.analytics.cuda.footprints import MASKED_PRODUCT, require_room
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.plan.contracts import Array

FEW = 64  # entries of a mask that a warp searches, as in masked_product.cu
BLOCK, BLOCKS = 256, 16  # threads of a block, and blocks of a multiprocessor


def compute(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """Count the triangles of a simple undirected network, and of ``each`` vertex if that is asked for.

    BudgetError where the GPU's memory does not hold the rows twice; DeviceError as of triangles.compute.

    Returns:
        The number of triangles, and those that each vertex is in, int64 [V], or None.
    """
    require_room(network, "masked products", MASKED_PRODUCT.bytes(network.vertices, network.edges))
    rank, order = oriented.rank_by_degree(network)
    split = oriented.empty_split(network.edges, network.vertices)
    oriented.split(network, rank, next(network.blocks()), split)
    begin, length = network.indptr[order], split.lower[order]
    few, many = cupy.flatnonzero((length > 1) & (length <= FEW)), cupy.flatnonzero(length > FEW)
    counts, kernels = counting.no_counts(order.size, each), network.kernels("masked_product", EACH=int(each))
    given, most = (begin, length, split.rows, counts.total, counts.of_rank), network.gpu.processors * BLOCKS
    kernels.launch("multiply_few", min(-(-few.size * 32 // BLOCK), most), BLOCK, few.size, few, *given)
    ticket = cupy.zeros(1, np.uint64)
    kernels.launch("multiply_many", min(many.size, most), BLOCK, ticket, many.size, many, *given)
    return counting.found(network, counts, rank)
