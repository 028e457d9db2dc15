"""The nodes of a mini-batch, numbered by a hash table.

A cell of the table, in open addressing, has 32 bits by which a node is known above the number of the node. Where they
are its vertex (PACKED), a cell is all that a search reads; else the vertex of a node is in ``n_id``, its seed in
``owner``.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.constants import PACKED
from csaw.engine.draws.random import LOW, SHIFT
from csaw.partition.base.compile import inner
from csaw.partition.base.kernel_arrays import empty, full

FREE = -1  # a cell without a node


@inner
def resized(array, size):
    """A copy of ``array`` with room for ``size`` elements."""
    out = empty(size, array.dtype)
    for i in range(array.size):
        out[i] = array[i]
    return out


@inner
def hash_of(vertex, seed):
    """64 mixed bits of a node's vertex and seed, which are 0 apart from disjoint mini-batches."""
    return (uint64(vertex) + uint64(seed) * uint64(0xD6E8FEB86659FD93)) * uint64(0x9E3779B97F4A7C15)


@inner
def cell_of(vertex, seed, cells):
    """The cell at which the search for a node begins; the number of cells is a power of two."""
    h = hash_of(vertex, seed)
    return int64((h ^ (h >> uint64(32))) & uint64(cells - 1))


@inner
def key_of(vertex, seed):
    """32 bits by which a node is known: its vertex where that is all there is to it, else some
    of the bits of its hash.
    """
    return uint64(vertex) if PACKED else hash_of(vertex, seed) >> SHIFT


@inner
def enter(table, n_id, owner, vertex, seed, nodes):
    """The node of a vertex; ``nodes`` if it is new, under which number it is then in the table."""
    key, cell = key_of(vertex, seed), cell_of(vertex, seed, table.size)
    while table[cell] != FREE:
        held = uint64(table[cell])
        if held >> SHIFT == key:
            node = int64(held & LOW)
            if PACKED or (n_id[node] == vertex and owner[node] == seed):
                return node
        cell = (cell + 1) & (table.size - 1)
    table[cell] = int64((key << SHIFT) | uint64(nodes))
    return nodes


@inner
def table_of(n_id, owner, nodes, room):
    """A table of the first ``nodes`` nodes, with room for ``room``, at most two thirds full.

    Of equal nodes the first is there.
    """
    cells = int64(64)
    while 2 * cells < 3 * room:
        cells <<= 1
    table = full(cells, FREE, np.int64)
    for node in range(nodes):
        enter(table, n_id, owner, int64(n_id[node]), seed_of(owner, node), node)
    return table


@inner
def seed_of(owner, node):
    """The seed that a node belongs to; 0 where nodes belong to all."""
    return int64(0) if PACKED else int64(owner[node])
