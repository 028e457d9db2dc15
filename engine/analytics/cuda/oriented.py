"""Lists of lower neighbors of vertices that are ranked by degree, on a GPU: twin of cpu/oriented.py.

Vertices of fewer than two neighbors are in no triangle, and have no rank: so ranks take 32 bits where ids take 64, and
what is kept of each rank is of fewer vertices. Hubs, the vertices of highest degree, are listed in 16 bits, others in
32. Where all rows are in memory, they are split where others' ranks are looked up, and keep their places;
oriented_runs.py has those that pass by.
"""

from typing import NamedTuple

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.plan.contracts import Array
from csaw.partition.errors import DeviceError

MOST_RANKED = (1 << 32) - 1  # vertices whose ranks take 32 bits, besides the number that stands for no rank
LEAST = 2  # neighbors of a vertex in a triangle
SPAN = 1024  # vertices of which a warp finds those that get a rank, as in oriented.cu
HUBS = 0xFFFF  # ranks that 16 bits hold, beside the sign of all others
LONG = 1024  # neighbors from which a row is split by a whole block
BIG, SMALL = 512, (32, 2)  # threads of a block: of one long row, and of two short ones
RANKED = 8  # words of the struct Ranked
DENSE_OF = 3  # its word that says in how large a dense part it has many neighbors
MOST_WARPS = 1 << 20  # of a launch


class Lists(NamedTuple):
    """The lower neighbors of the vertices of rank ``first`` .. ``last`` - 1.

    ``ranked`` uint32 [last - first, RANKED]: the struct of ranked.cuh. ``near`` uint16, ``far`` uint32: hubs, and
    others.
    """

    first: int
    last: int
    ranked: Array
    near: Array
    far: Array


class Higher(NamedTuple):
    """The higher neighbors of the vertices of some lists, in any order.

    ``count[k]`` uint32 of ``words`` uint32 from ``begin[k]`` int64 on.
    """

    begin: Array
    count: Array
    words: Array


class Split(NamedTuple):
    """Rows whose lower neighbors' ranks come first, and whose higher ones' come last: ``rows`` uint32 [entries].

    ``lower``, ``close`` and ``higher``, uint32 of each vertex: how many neighbors are lower, hubs among these, and
    higher.
    """

    rows: Array
    lower: Array
    close: Array
    higher: Array


def rank_by_degree(network: DeviceNetwork, least: int = LEAST) -> tuple[Array, Array]:
    """Rank the vertices of ``least`` neighbors or more by degree, the highest first, ties in order of ids.

    DeviceError where there are 2^32 of them or more.

    Returns:
        The rank of each vertex, uint32 [V], of which 2^32 - 1 is none; and the vertex of each rank, int64 [ranks].
    """
    vertices, kernels = network.vertices, network.kernels("oriented")
    begin = cupy.zeros(-(-vertices // SPAN) + 1, np.int64)
    kernels.over("count_ranked", 32 * begin.size, vertices, least, network.indptr, begin[1:])
    cupy.cumsum(begin, out=begin)
    ranks = int(begin[-1])
    if ranks > MOST_RANKED:
        neighbors = "two neighbors" if least > 1 else "one neighbor"
        raise DeviceError(
            f"{network.store.path}: expected fewer than 2^32 vertices with {neighbors} or more, found {ranks:,}, which "
            "GPUs number in 32 bits; pass --device cpu"
        )
    rank, chosen = cupy.empty(vertices, np.uint32), cupy.empty(ranks, network.id_dtype)
    keys = cupy.empty(ranks, np.uint64)
    kernels.over("key_ranked", 32 * begin.size, vertices, least, network.indptr, begin, chosen, keys, rank)
    keys.sort()
    kernels.over("rank_keys", ranks, ranks, chosen, keys, rank)
    return rank, keys.view(np.int64)


def empty_split(entries: int, vertices: int) -> Split:
    return Split(*(cupy.empty(size, np.uint32) for size in (entries, vertices, vertices, vertices)))


def split(network: DeviceNetwork, rank: Array, block: Block, into: Split) -> None:
    """Split the rows of a block into ``into``, of its vertices; ``rows`` has the places of ``block.indices``."""
    kernels, count = network.kernels("oriented"), block.last - block.first
    given = (block.first, np.uint32(HUBS), block.indptr, block.indices, rank, *into)
    long, found = cupy.empty(block.indices.size // LONG, np.int64), cupy.zeros(1, np.uint64)
    kernels.over("list_long", count, count, LONG, block.indptr, long, found)
    many = int(found[0])
    kernels.launch("split_long", min(many, network.gpu.processors * 8), BIG, many, long, *given)
    kernels.launch("split_short", min(-(-count // SMALL[1]), network.gpu.processors * 64), SMALL, count, LONG, *given)


def placed(network: DeviceNetwork, order: Array, whole: Split) -> tuple[Lists, Higher]:
    """Place the lists of all ranks, of the split rows of a network in memory."""
    ranks = order.size
    near_begin, kernels = cupy.zeros(ranks + 1, np.int64), network.kernels("oriented")
    kernels.over("count_units", ranks, ranks, order, whole.close, near_begin[1:])
    cupy.cumsum(near_begin, out=near_begin)
    near = cupy.empty(4 * int(near_begin[-1]), np.uint16)
    ranked = cupy.empty((ranks, RANKED), np.uint32)
    higher = Higher(cupy.empty(ranks, np.int64), cupy.empty(ranks, np.uint32), whole.rows)
    kernels.over(
        "place_rows",
        32 * min(ranks, MOST_WARPS),
        ranks,
        order,
        network.indptr,
        *whole,
        near_begin,
        ranked,
        near,
        *higher[:2],
    )
    return Lists(0, ranks, ranked, near, whole.rows), higher
