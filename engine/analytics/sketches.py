"""Sketches of the vertices that each vertex reaches: HyperLogLog counters, the same on every device.

Flajolet et al., AofA 2007; Boldi, Rosa and Vigna, WWW 2011 (HyperANF).
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from csaw.engine.analytics.network import Network

REGISTERS, LARGEST = 16, 56
ALPHA = 0.673  # of 16 registers (Flajolet et al., figure 3)
SKETCH_SLOT = np.uint64(0xFFFFFFFD)  # below the slots whose draws choose and shuffle sources
UNIT = 16  # of an estimate
# By empty registers: linear counting.
FEW = np.array([0.0] + [REGISTERS * math.log(REGISTERS / empty) for empty in range(1, REGISTERS + 1)])


def pairs_within(network: "Network", join: Callable[[], tuple[int, bool]]) -> np.ndarray:
    """Estimate how many pairs of vertices are within each number of edges: float64 [levels]. The first is exact.

    ``join()`` joins the sketch of each vertex with those of its neighbors, and returns the sum of the estimates in
    units, and whether any sketch has changed.
    """
    pairs, changed = [float(network.vertices)], network.edges > 0
    while changed:
        units, changed = join()
        if changed:
            pairs.append(max(units / UNIT, pairs[-1]))  # an estimate may fall where linear counting ends
    return np.array(pairs)
