"""Weakly connected components on a GPU: twin of engine/cpu/analytics/components.py."""

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cpu.analytics.components import FIRST
from csaw.engine.cuda.graphs.node import copied
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.network import DeviceNetwork
from csaw.engine.cuda.several import rows_of
from csaw.engine.cuda.team import seated, shares_pay
from csaw.engine.network import Block


def shared(network: DeviceNetwork) -> bool:
    """Whether several GPUs share it: where they have the rows of a large graph."""
    return shares_pay(network)


def compute(network: DeviceNetwork) -> Array:
    """uint32 [V]: the smallest vertex of each vertex's component; directions do not count.

    State: an id for each vertex. Of several GPUs that have all rows in memory, each joins all vertices with their first neighbors, and those of a range with their others; the
    first has the trees of the others then, and joins each vertex with its root there.
    """
    parent = cupy.empty(network.vertices, np.uint32)
    hub = -1 if network.directed or not network.vertices else int(network.degrees.argmax())
    if shared(network):
        _of_shares(network, parent, hub)
        return parent
    kernels = _numbered(network, parent)
    for block in network.blocks():
        _link_first(kernels, block, parent)
        _link_rest(kernels, block, parent, hub)
    kernels.over("flatten", network.vertices, 0, network.vertices, parent)
    return parent


def _numbered(network: DeviceNetwork, parent: Array) -> Kernels:
    kernels = network.kernels("components")
    kernels.over("number", network.vertices, network.vertices, parent)
    return kernels


def _link_first(kernels: Kernels, block: Block, parent: Array) -> None:
    span, count = (block.first, block.last), block.last - block.first
    kernels.over("link_first", count, *span, block.indptr, block.indices, parent, FIRST)
    kernels.over("flatten", count, *span, parent)


def _link_rest(kernels: Kernels, block: Block, parent: Array, hub: int) -> None:
    span, count = (block.first, block.last), block.last - block.first
    kernels.over("link_rest", count, *span, block.indptr, block.indices, parent, FIRST, hub)


def _of_shares(network: DeviceNetwork, parent: Array, hub: int) -> None:
    """Trees of all edges. A row is left out where its vertex is joined with the hub by what its GPU knows, which is true for all: the other end's row has the edge."""
    vertices, ranges = network.vertices, network.shares if network.directed else network.level_ranges
    with seated(network.among(len(ranges)), ranges) as seats:
        first, trees = seats[0], [parent]
        for seat in seats:
            seat.use()
            if seat is not first:
                trees.append(cupy.empty(vertices, np.uint32))
            kernels = _numbered(seat.network, trees[-1])
            _link_first(kernels, next(seat.network.blocks()), trees[-1])
            for block in rows_of(seat.network, seat.first, seat.last):
                _link_rest(kernels, block, trees[-1], hub)
        for seat, there in zip(seats[1:], trees[1:], strict=True):
            first.wait_for(seat)
            network.kernels("components").over("join", vertices, vertices, copied(there), parent)
        network.kernels("components").over("flatten", vertices, 0, vertices, parent)
