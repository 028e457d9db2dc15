"""Weakly connected components in host memory or from disk: Afforest over rows as they are, block by block."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import components as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.passes import FIRST


def compute(network: HostNetwork) -> np.ndarray:
    """Find the smallest vertex of each vertex's component, [V]; directions do not count.

    Of an undirected graph, rows of vertices that their first neighbors have joined with the hub's component are not
    read further: each of their edges stands in the row of its other end, too. State: an id for each vertex.
    """
    parent = np.empty(network.vertices, network.id_dtype)
    spans = network.spans(network.vertices)
    network.each(kernels.number, spans, parent)
    hub = -1 if network.directed or not network.vertices else int(network.degrees.argmax())
    for block in network.blocks():
        network.over_rows(kernels.link_first, block, parent, FIRST)
        network.each(kernels.flatten, network.tasks(block), parent)
        network.over_rows(kernels.link_rest, block, parent, FIRST, hub)
    network.each(kernels.flatten, spans, parent)
    return parent
