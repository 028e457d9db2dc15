"""Sums over the neighbors of each vertex on a GPU, and the spectrum, which is iterated of them: twin of cpu/sums.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import exchange, here, on_each, rows_of
from csaw.engine.analytics.lanczos import leading
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.residency import Residency


def is_pulled(network: DeviceNetwork) -> bool:
    """Whether the GPU or the host has memory for the rows of the other direction, or they were made before."""
    made = not network.directed or network.can_have_incoming or "incoming" in vars(network)
    return made or network.host.can_have_incoming


def arriving_sums(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """Sum ``values``, int64 [V], over the vertices that edges come from, for each vertex that they lead to.

    Sums are pulled over the rows of the other direction where the GPU or the host has memory for them, or they were
    made before; else pushed along the graph's own, by atomic additions: they are integers, the same either way.

    Returns:
        int64 [V], in ``out`` if it is given.
    """
    if is_pulled(network):
        return network.incoming.compute("neighbor_sums", values=values, out=out)
    sums = cupy.empty(network.vertices, np.int64) if out is None else out
    sums.fill(0)

    def push(one: DeviceNetwork, number: int) -> Array:
        own, kernels = here(values), one.kernels("ranking")
        found = sums if one is network else cupy.zeros(network.vertices, np.int64)
        for block in rows_of(one, *network.shares[number]):
            of_rows = own[block.first : block.last]
            one.classes(block).launch(kernels, "push_rows", block.indptr, block.indices, of_rows, found)
        return found

    for found in on_each(network.among(len(network.shares)), push)[1:]:
        sums += here(found)
    return sums


def neighbor_sums(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """Sum ``values``, int64 [V], over the entries of each row: int64 [V], in ``out`` if it is given.

    Several GPUs take a range of the rows each.
    """
    sums = cupy.empty(network.vertices, np.int64) if out is None else out
    shares = network.shares

    def add_up(one: DeviceNetwork, number: int) -> Array:
        first, last = shares[number]
        own, kernels = here(values), one.kernels("ranking")
        found = sums[first:last] if one is network else cupy.empty(last - first, np.int64)
        for block in rows_of(one, first, last):
            there = found[block.first - first : block.last - first]
            one.classes(block).launch(kernels, "sum_rows", block.indptr, block.indices, own, there)
        return found

    parts = on_each(network.among(len(shares)), add_up)
    for (first, last), found in zip(shares[1:], parts[1:], strict=True):
        with exchange():
            fetch(found, sums[first:last])
    return sums


def ordered_sums(network: DeviceNetwork, values: Array) -> Array:
    """Sum ``values``, float64 [V], over the entries of each row: float64 [V], the same bits as on the host."""
    out, kernels = cupy.empty(network.vertices), network.kernels("ordered_sums")
    for block in network.blocks():
        rows = (block.indptr, block.indices, values, out[block.first : block.last])
        network.classes(block).launch(kernels, "ordered_sums", *rows)
    return out


# Leading singular values of a graph's matrix.


def spectrum(network: DeviceNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find leading values and a vector on the host, the same as there; a graph that does not fit is read each time."""
    back = _beside(network)
    try:
        return leading(network, count, back)
    finally:
        if back is not None:
            back.close()


def _beside(network: DeviceNetwork) -> DeviceNetwork | None:
    """The rows of the other direction in blocks, where all rows of both would take turns; None: as they are.

    The rows of the network stay in memory, so that each of many products copies one direction in place of two. Where
    all rows are to be resident, blocks are not: directions take turns.
    """
    if not network.would_be_in_turn or network.residency is Residency.RESIDENT:
        return None
    back = network.of_store(network.host.incoming.store, network.memory - network.rows_bytes)
    if back.least_bytes <= back.memory:
        return back
    back.close()
    return None
