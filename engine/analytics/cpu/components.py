"""Weak and strong components of a graph, and core numbers, in host memory or from disk."""

from collections.abc import Callable

import numpy as np

from csaw.engine.analytics.cpu.kernels import components as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.passes import FIRST, until_none_is_active

# Weakly connected components: Afforest over rows as they are, block by block.


def components(network: HostNetwork) -> np.ndarray:
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


# Strongly connected components.

WORTH = 0.01  # share of the vertices left that a pass of trimming removes, or it was the last


def strong_components(network: HostNetwork) -> np.ndarray:
    """Find the smallest vertex of each vertex's strongly connected component, [V].

    A resident graph is searched in depth by one thread (Pearce 2016), in time of its vertices and edges. From disk,
    passes over blocks do it (Slota, Rajamanickam and Madduri, IPDPS 2014, Multistep): the component of the hub is what
    it reaches and is reached from; vertices that no others lead to, or that lead to none, are trimmed; and the rest are
    colored by the smallest vertex that reaches them.
    """
    if network.resident:
        return _searched(network)
    return _by_passes(network)


def _searched(network: HostNetwork) -> np.ndarray:
    block = next(network.blocks())
    kind = network.id_dtype
    index, path, waiting = (
        np.zeros(network.vertices, kind),
        np.empty(network.vertices, kind),
        np.empty(network.vertices, kind),
    )
    kernels.search(block.indptr, block.indices, index, path, waiting, np.empty(network.vertices, np.int64))
    del path, waiting
    kernels.name(index, np.empty(network.vertices + 1, kind))
    return index


def _by_passes(network: HostNetwork) -> np.ndarray:
    vertices, kind = network.vertices, network.id_dtype
    label = np.full(vertices, vertices, kind)
    color = np.full(vertices, vertices, kind)
    hub = int(network.degrees.argmax())
    color[hub] = hub
    while True:
        _until_none_changes(network, kernels.spread, label, color)
        back = (color == np.arange(vertices, dtype=kind)).astype(np.uint8)
        _until_none_changes(network, kernels.come_back, label, color, back)
        closed = (back == 1) & (label == vertices)
        if hub >= 0:  # it may not be the smallest of its component, as the roots of later colors are
            color[closed], hub = closed.argmax(), -1
        np.copyto(label, color, where=closed)
        _trim(network, label)
        left = label == vertices
        if not left.any():
            return label
        color = np.where(left, np.arange(vertices, dtype=kind), kind.type(vertices))


def _trim(network: HostNetwork, label: np.ndarray) -> None:
    """Take off vertices that nothing leads to, or that lead to nothing, as long as that takes many.

    Each is a component of its own.
    """
    vertices = label.size
    trimmed, left = 1, int((label == vertices).sum())
    while left and trimmed >= WORTH * left:
        met = np.zeros(vertices, np.uint8)
        trimmed = _pass(network, kernels.trim, label, met)
        alone = np.flatnonzero((met == 0) & (label == vertices))
        label[alone] = alone
        trimmed += alone.size
        left -= trimmed


def _until_none_changes(network: HostNetwork, kernel: Callable[..., int], label: np.ndarray, *state: object) -> None:
    while _pass(network, kernel, label, *state):
        pass


def _pass(network: HostNetwork, kernel: Callable[..., int], label: np.ndarray, *state: object) -> int:
    """Run a kernel on the blocks that have a vertex without a label; returns the sum of its results."""
    none = label.size
    blocks = network.blocks(wanted=lambda first, last: bool((label[first:last] == none).any()))
    return sum(sum(network.over_rows(kernel, block, label, *state)) for block in blocks)


# Core numbers.


def core(network: HostNetwork) -> np.ndarray:
    """Find the core number of each vertex of a simple undirected network, int64 [V].

    In memory by peeling, with one thread; else in passes over blocks, with all.
    """
    cores = network.degrees.copy()
    if network.resident:
        block = next(iter(network.blocks()))
        kernels.peel(block.indptr, block.indices, cores)
    else:
        lowered(network, cores)
    return cores


def lowered(network: HostNetwork, cores: np.ndarray) -> int:
    """Lower estimates, from degrees on, to core numbers; returns the number of passes.

    Montresor, De Pellegrini and Miorandi, IEEE TPDS 24(2), 2013.
    """
    return until_none_is_active(
        network, cores > 0, lambda block, *active: network.over_rows(kernels.lower, block, cores, *active)
    )
