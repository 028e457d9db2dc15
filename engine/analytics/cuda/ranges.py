"""The vertices of a graph in ranges, one for each GPU that shares a work."""

from collections.abc import Sequence
from itertools import pairwise

import cupy
import numpy as np

from csaw.engine.analytics.spread import GRAIN, Range
from csaw.engine.plan.contracts import Array
from csaw.partition import Partition


def by_entries(indptr: Array, count: int) -> list[Range]:
    """Cut the vertices into ``count`` ranges of about as many entries of rows each. ``indptr``: int64 [V + 1]."""
    wanted = int(indptr[-1]) * np.arange(1, count) // count
    cuts = cupy.searchsorted(indptr, cupy.asarray(wanted)).get()
    return list(pairwise([0, *cuts.tolist(), indptr.size - 1]))


def by_blocks(blocks: Sequence[Partition], edges: int, vertices: int, count: int) -> list[Range]:
    """Cut the vertices into ``count`` ranges of whole blocks with about as many of the ``edges`` entries each."""
    begins = np.array([(part.first_edge, part.first_vertex) for part in blocks] + [(edges, vertices)])
    cuts = begins[np.searchsorted(begins[:, 0], edges * np.arange(1, count) // count), 1]
    return list(pairwise([0, *cuts.tolist(), vertices]))


def by_work(degrees: Array, most: int, count: int) -> list[Range]:
    """Cut the vertices into ``count`` ranges of about as much work each, where ``most`` entries of a row are read.

    ``degrees``: int64 [V].
    """
    if not degrees.size:
        return [(0, 0)] * count
    work = cupy.cumsum(cupy.minimum(degrees, most) + 1)
    cuts = cupy.searchsorted(work, work[-1] * cupy.arange(1, count) // count).get() // GRAIN * GRAIN
    return list(pairwise([0, *cuts.tolist(), degrees.size]))
