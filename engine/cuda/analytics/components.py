"""Weakly connected components on a GPU: twin of engine/cpu/analytics/components.py."""

from collections.abc import Iterator

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cpu.analytics.components import FIRST
from csaw.engine.cuda.graphs.node import copied
from csaw.engine.cuda.network import DeviceNetwork
from csaw.engine.cuda.several import rows_of
from csaw.engine.cuda.team import seated, shares_pay
from csaw.engine.network import Block


def compute(network: DeviceNetwork) -> Array:
    """uint32 [V]: the smallest vertex of each vertex's component; directions do not count.

    State: an id for each vertex. Of several GPUs that have all rows in memory, each joins the vertices of a range with their neighbors; the first has the trees of the others
    then, and joins each vertex with its root there.
    """
    parent = cupy.empty(network.vertices, np.uint32)
    hub = -1 if network.directed or not network.vertices else int(network.degrees.argmax())
    if shares_pay(network):
        _of_shares(network, parent, hub)
    else:
        _join(network, network.blocks(), parent, hub)
    return parent


def _join(network: DeviceNetwork, blocks: Iterator[Block], parent: Array, hub: int) -> None:
    """Trees of the edges in some blocks."""
    kernels, vertices = network.kernels("components"), network.vertices
    kernels.over("number", vertices, vertices, parent)
    for block in blocks:
        span = (block.first, block.last)
        rows = (*span, block.indptr, block.indices)
        kernels.over("link_first", block.last - block.first, *rows, parent, FIRST)
        kernels.over("flatten", block.last - block.first, *span, parent)
        kernels.over("link_rest", block.last - block.first, *rows, parent, FIRST, hub)
    kernels.over("flatten", vertices, 0, vertices, parent)


def _of_shares(network: DeviceNetwork, parent: Array, hub: int) -> None:
    """Trees of all edges. A row is left out where its vertex is joined with the hub by what its GPU knows, which is true for all: the other end's row has the edge."""
    vertices, ranges = network.vertices, network.level_ranges
    with seated(network.among(len(ranges)), ranges) as seats:
        first, trees = seats[0], [parent]
        for seat in seats:
            seat.use()
            if seat is not first:
                trees.append(cupy.empty(vertices, np.uint32))
            _join(seat.network, rows_of(seat.network, seat.first, seat.last), trees[-1], hub)
        for seat, there in zip(seats[1:], trees[1:], strict=True):
            first.wait_for(seat)
            kernels = network.kernels("components")
            kernels.over("join", vertices, vertices, copied(there), parent)
            kernels.over("flatten", vertices, 0, vertices, parent)
