"""Weakly connected components on a GPU: twin of engine/analytics/cpu/components.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import copy_range, rows_of, seated
from csaw.engine.analytics.passes import FIRST
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.plan.contracts import Array


def pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs join vertices: because the graph is spread. They are not quicker than one."""
    return network.pooled


def compute(network: DeviceNetwork) -> Array:
    """[V]: the smallest vertex of each vertex's component; directions do not count.

    State: an id for each vertex. Of a pooled network, each GPU joins what its own rows do, and the first joins that.
    """
    hub = -1 if network.directed or not network.vertices else int(network.degrees.argmax())
    if pays(network):
        return _joined(network, hub)
    parent = _numbered(network)
    for block in network.blocks():
        _link_first(network, block, parent)
        _link_rest(network, block, parent, hub)
    _flatten(network, parent)
    return parent


def _joined(network: DeviceNetwork, hub: int) -> Array:
    """Join what the rows of all GPUs join, on the first.

    The first neighbors of most vertices are those of low numbers, which the first GPU has: it joins these, and others
    begin with its trees. Without them, all threads of another GPU would climb and join the trees of the same few hubs.
    At the end the first reads where each vertex points on the other GPUs, in their memory.
    """
    ranges = network.shares
    with seated(network.among(len(ranges)), ranges) as seats:
        first, *others = seats
        first.use()
        blocks, parents = [next(rows_of(one.network, one.first, one.last)) for one in seats], [_numbered(network)]
        _link_first(network, blocks[0], parents[0])
        for seat in others:
            seat.wait_for(first)
            parents.append(cupy.empty(network.vertices, network.id_dtype))
            copy_range(parents[0], parents[-1], 0, network.vertices)
            first.wait_for(seat)
        for seat, block, parent in zip(seats, blocks, parents, strict=True):
            seat.use()
            if seat is not first:
                _link_first(seat.network, block, parent)
            _link_rest(seat.network, block, parent, hub)
        for seat, there in zip(others, parents[1:], strict=True):
            first.wait_for(seat)
            given = (network.vertices, np.uint64(there.data.ptr), parents[0])
            network.kernels("components").over("link_trees", network.vertices, *given)
        _flatten(network, parents[0])
    return parents[0]


def _numbered(network: DeviceNetwork) -> Array:
    """[V]: each vertex points to itself."""
    parent = cupy.empty(network.vertices, network.id_dtype)
    network.kernels("components").over("number", network.vertices, network.vertices, parent)
    return parent


def _link_first(network: DeviceNetwork, block: Block, parent: Array) -> None:
    """Join the vertices of a block with the first neighbors of each."""
    given = (block.first, block.last, block.indptr, block.indices, parent, FIRST)
    network.kernels("components").over("link_first", block.last - block.first, *given)


def _link_rest(network: DeviceNetwork, block: Block, parent: Array, hub: int) -> None:
    """Join them with their other neighbors.

    ``hub``: a vertex of many neighbors, or -1 where rows have to be read to their ends.
    """
    kernels, count, span = network.kernels("components"), block.last - block.first, (block.first, block.last)
    kernels.over("flatten", count, *span, parent)
    if hub >= 0 and not block.first <= hub < block.last:
        kernels.over("flatten", 1, hub, hub + 1, parent)
    kernels.over("link_rest", count, *span, block.indptr, block.indices, parent, FIRST, hub)


def _flatten(network: DeviceNetwork, parent: Array) -> None:
    """Let each vertex point to the smallest of its component."""
    network.kernels("components").over("flatten", network.vertices, 0, network.vertices, parent)
