"""Sums of a number of each vertex over the vertices that edges come from, on a GPU."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import here, on_each, rows_of
from csaw.engine.plan.contracts import Array


def is_pulled(network: DeviceNetwork) -> bool:
    """Whether the GPU or the host has memory for the rows of the other direction, or they were made before."""
    made = not network.directed or network.can_have_incoming or "incoming" in vars(network)
    return made or network.host.can_have_incoming


def compute(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
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
