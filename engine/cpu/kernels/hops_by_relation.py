"""Neighbor samples with uniform picks from each relation by itself, hop by hop, on a graph of relations: see
partition/graph/relation_rows.py. The same sample as engine/batches/relations.py draws.

The children of a cell are in the order of the relations that leave the type of its vertex, as many cells for each as it
selects edges of it.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, neighbor_at, prefetch_edge
from csaw.engine.cpu.kernels.by_time import draw_places
from csaw.engine.cpu.kernels.hops import PARENTS
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import empty, zeros


@njit(nogil=True)
def hop_by_relation(begin, end, graph, seed, first, width, slot, size, parent, child, relation, picks, counts):
    """Draw the children of cells begin .. end - 1 of ``parent`` from each relation by itself, and their relations,
    which are 0 so far; add the numbers of children, and of rows without a neighbor, to ``counts``.

    ``picks`` int64 [relations, 5]: see RelationRows.picks. Others as in hop.
    """
    graph = borrowed(graph)
    none = child.dtype.type(-1)
    spots, found = empty(max(size, 1), np.int64), zeros(picks.shape[0], np.int64)
    for cell in range(begin, end):
        for k in range(cell * size, (cell + 1) * size):
            child[k] = none
        if cell + PARENTS < end and parent[cell + PARENTS] != none:
            prefetch(graph.indptr, uint64(parent[cell + PARENTS]))
        if parent[cell] == none:
            continue
        local, v = cell // width, int64(parent[cell])
        at = (slot + cell - local * width) * picks.shape[0]
        for r in range(picks.shape[0]):
            low, high, shift, wanted, base = picks[r]
            found[r] = 0
            if wanted == 0 or not low <= v < high:
                continue
            row, end_of_row = graph.indptr[uint64(v + shift)], graph.indptr[uint64(v + shift + 1)]
            here = spots[base : base + wanted]
            found[r] = draw_places(seed, uint64(first + local), uint64(at + r), row, end_of_row, wanted, here)
            counts[1] += row == end_of_row
            counts[0] += found[r]
            for k in range(base, base + found[r]):
                prefetch_edge(graph, uint64(spots[k]))
        for r in range(picks.shape[0]):
            for k in range(picks[r, 4], picks[r, 4] + found[r]):
                child[cell * size + k], relation[cell * size + k] = neighbor_at(graph, spots[k]), r
