"""Strongly connected components in host memory or from disk."""

from collections.abc import Callable
from typing import Any

import numpy as np

from csaw.engine.analytics.cpu.kernels import strong as kernels
from csaw.engine.analytics.cpu.network import HostNetwork

WORTH = 0.01  # share of the vertices left that a pass of trimming removes, or it was the last


def compute(network: HostNetwork) -> np.ndarray:
    """[V]: the smallest vertex of each vertex's strongly connected component.

    A resident graph is searched in depth by one thread (Pearce 2016), in time of its vertices and edges. From disk, passes over blocks do it (Slota, Rajamanickam
    and Madduri, IPDPS 2014, Multistep): the component of the hub is what it reaches and is reached from; vertices that no others lead to, or that lead
    to none, are trimmed; and the rest are colored by the smallest vertex that reaches them.
    """
    if network.resident:
        return _searched(network)
    return _by_passes(network)


def _searched(network: HostNetwork) -> np.ndarray:
    block = next(network.blocks())
    kind = network.id_dtype
    index, path, waiting = np.zeros(network.vertices, kind), np.empty(network.vertices, kind), np.empty(network.vertices, kind)  # fmt: skip
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
    """Take off vertices that are a component of their own because nothing leads to them, or they to nothing, as long as that takes many."""
    vertices = label.size
    trimmed, left = 1, int((label == vertices).sum())
    while left and trimmed >= WORTH * left:
        met = np.zeros(vertices, np.uint8)
        trimmed = _pass(network, kernels.trim, label, met)
        alone = np.flatnonzero((met == 0) & (label == vertices))
        label[alone] = alone
        trimmed += alone.size
        left -= trimmed


def _until_none_changes(network: HostNetwork, kernel: Callable, *state: Any) -> None:
    while _pass(network, kernel, *state):
        pass


def _pass(network: HostNetwork, kernel: Callable, label: np.ndarray, *state: Any) -> int:
    """Run a kernel on the blocks that have a vertex without a label; the sum of what it returned."""
    none = label.size
    blocks = network.blocks(wanted=lambda first, last: bool((label[first:last] == none).any()))
    return sum(sum(network.over_rows(kernel, block, label, *state)) for block in blocks)
