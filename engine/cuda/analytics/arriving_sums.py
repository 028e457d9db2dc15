"""Sums of a number of each vertex over those that edges come from, on a GPU."""

import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cuda.network import DeviceNetwork


def compute(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """int64 [V]: for each edge to a vertex, one of ``values``, that of where the edge comes from, added up; in ``out`` where it is given. ``values``: int64 [V].

    Pulled over the rows of the other direction where the GPU or the host has memory for them, or they were made before; else pushed along the graph's own, by atomic
    additions: sums of integers are the same either way.
    """
    if (
        not network.directed
        or network.can_have_incoming
        or "incoming" in vars(network)
        or network.host.can_have_incoming
    ):
        return network.incoming.compute("neighbor_sums", values=values, out=out)
    out = network.xp.empty(network.vertices, np.int64) if out is None else out
    out.fill(0)
    kernels = network.kernels("ranking")
    for block in network.blocks():
        of_rows = values[block.first : block.last]
        network.classes(block).launch(kernels, "push_rows", block.indptr, block.indices, of_rows, out)
    return out
