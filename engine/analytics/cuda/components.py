"""Weak and strong components of a graph on GPUs, and core numbers: twin of engine/analytics/cpu/components.py."""

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import Seat, SharedArray, address_of, meet, seated, step
from csaw.engine.analytics.passes import FIRST, until_none_is_active
from csaw.engine.analytics.rows_in_memory import Block

# Weakly connected components.


def components_pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs join vertices: because the graph is spread. They are not quicker than one."""
    return network.pooled


def components(network: DeviceNetwork) -> Array:
    """[V]: the smallest vertex of each vertex's component; directions do not count.

    State: an id for each vertex. Of a pooled network, each GPU joins what its own rows do, and the first joins that.
    """
    hub = -1 if network.directed or not network.vertices else int(network.degrees.argmax())
    if components_pays(network):
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
        rows = step(seats, Seat.rows)
        first.use()
        parent = _numbered(network)
        _link_first(network, rows[0], parent)
        parents = SharedArray.copied(seats, parent)
        meet(seats)  # before the first joins more in the array that is copied
        for seat, block in zip(seats, rows, strict=True):
            seat.use()
            if seat is not first:
                _link_first(seat.network, block, parents.on(seat))
            _link_rest(seat.network, block, parents.on(seat), hub)
        for seat in others:
            first.wait_for(seat)
            given = (network.vertices, address_of(parents.on(seat)), parent)
            network.kernels("components").over("link_trees", network.vertices, *given)
        _flatten(network, parent)
    return parent


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


# Strongly connected components, found on the host: a search in depth there takes time of the vertices and edges.


def strong_components(network: DeviceNetwork) -> np.ndarray:
    """Find the smallest vertex of each vertex's component, [V], on the host, as analytics/cpu/components.py does."""
    return network.host.compute("strong_components")


# Core numbers.

# entries of rows from where on several GPUs are quicker: those of the smallest graph on which two were measured
LARGE = 500_000_000


def core_pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs are quicker than one: the passes over a large graph take far longer than copying the rows.

    Of a directed network, as far as is known before its undirected one is made. A pooled one is always shared.
    """
    if network.pooled:
        return True
    network = vars(network).get("undirected", network)
    return bool(network.others) and network.resident and network.edges >= LARGE


def core(network: DeviceNetwork) -> Array:
    """Find the core number of each vertex of a simple undirected network, int64 [V].

    Estimates fall from the degrees on, in passes over the rows. Of several GPUs, each lowers the estimates of a range
    of vertices, and tells the others after each pass: those that it has lowered (selective) or all (broadcast),
    whichever are fewer bytes.
    """
    if core_pays(network):
        return _of_shares(network)
    cores, kernels = network.degrees.copy(), network.kernels("core")

    def lower(block: Block, *active: Array) -> None:
        network.classes(block).launch(kernels, "lower", block.first, block.indptr, block.indices, cores, *active)

    until_none_is_active(network, (cores > 0).view(np.uint8), lower)
    return cores


def _of_shares(network: DeviceNetwork) -> Array:
    """Find core numbers with all GPUs: each lowers the estimates of own vertices, and marks those of the next pass."""
    found, ranges = network.degrees.copy(), network.shares
    with seated(network.among(len(ranges)), ranges) as seats:
        rows = step(seats, Seat.rows)
        cores = SharedArray(seats, [found, *step(seats[1:], lambda seat: seat.network.degrees.copy())])
        active = SharedArray.made(seats, lambda seat: (cores.on(seat) > 0).view(np.uint8))
        following = SharedArray.made(seats, lambda seat: cupy.empty(network.vertices, np.uint8))

        def lower(seat: Seat) -> None:
            block, kernels = rows[seat.number], seat.network.kernels("core")
            given = (block.first, block.indptr, block.indices, *(one.on(seat) for one in (cores, active, following)))
            seat.network.classes(block).launch(kernels, "lower", *given)

        while active.any():
            before = step(seats, lambda seat: cores.own(seat).copy())
            following.fill(0)
            step(seats, lower)
            cores.tell(before, network.exchange)
            cores.exchange()
            following.reduce(cupy.maximum)
            active, following = following, active
    return found
