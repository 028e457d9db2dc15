"""PageRank by power iteration in integers, the same bits on any device (Page, Brin, Motwani and Winograd 1999).

A rank is a whole number of units, of which there are 2^62. A vertex passes a whole number of units along each of its
edges: damping times its rank by its degree, rounded down. The rest, which is the share of random jumps, the ranks of
vertices without edges and the remainders of divisions, goes in equal parts to all vertices, or to the sources of a
personalized PageRank; a remainder that cannot be parted equally, fewer units than there are vertices, waits for the
next iteration. Units are neither made nor lost, and sums of integers do not depend on their order.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from csaw.engine.analytics.network import Network
from csaw.engine.plan.contracts import Array

UNITS = 1 << 62
FLOATS = UNITS >> 51  # units by which products of 64-bit floats may be off, together


@dataclass(frozen=True)
class Ranks:
    """Ranks that have converged: ``units`` int64 [V], and how they were found.

    ``residual``: sum of the changes of ranks in the last of ``iterations``, as GAP has it; ``error``: the largest error
    of the sum by rounding.
    """

    units: Array
    iterations: int
    residual: float
    error: float

    @classmethod
    def of(cls, network: Network, units: Array, iterations: int, change: int, damping: float) -> "Ranks":
        """The ranks of a network's vertices after ``iterations``, the last of which changed ``change`` units."""
        # Units of an iteration at most: less than one of an entry and of a vertex is rounded down.
        misplaced = network.edges + network.vertices + FLOATS
        return cls(units, iterations, change / UNITS, 2 * misplaced / UNITS / (1 - damping))

    @property
    def method(self) -> str:
        several = "s" * (self.iterations != 1)
        return f"{self.iterations} iteration{several}; last change {self.residual:.2g}, rounding {self.error:.1g}"


def converged(
    network: Network, settle: Callable[..., tuple[int, int]], *, damping: float, tolerance: float, sources: Array
) -> Ranks:
    """Iterate until one more iteration changes ranks by at most ``tolerance``, in a sum over all vertices.

    ``sources``: rising dense ids, on the network's device; none of them for PageRank from everywhere. ``settle(base,
    sources, damping, degrees, sums, ranks, shares)`` gives all vertices their new ranks and shares, and returns the
    change of ranks and the units that are passed.

    An iteration changes ranks by at most ``damping`` times the change of the last one, so the number of iterations has
    a bound, which ends those that rounding keeps going.
    """
    xp, vertices = network.xp, network.vertices
    sums, ranks, shares = (xp.zeros(vertices, "int64") for _ in range(3))
    jumps_to = sources.size or max(vertices, 1)
    _, passed = settle(UNITS // jumps_to, sources, damping, network.degrees, sums, ranks, shares)
    change, iterations = UNITS, 0
    work = network.unfinished.work("pagerank", damping, sources)
    if work.done:
        ranks[:], shares[:] = work.done["ranks"], work.done["shares"]
        change, passed, iterations = work.done["numbers"].tolist()
        work.done.clear()

    # Not network.compute, which would let go the rows of the other direction in each iteration, where they take turns.
    arriving_sums = network.module_of("arriving_sums").compute

    def advance(base: int, number: int) -> tuple[int, int]:
        arriving_sums(network, values=shares, out=sums)
        found = settle(base, sources, damping, network.degrees, sums, ranks, shares)
        work.note(ranks=ranks, shares=shares, numbers=np.array([*found, number]))
        return found

    limits = (jumps_to, damping, tolerance)
    change, iterations = iterated(advance, change, passed, iterations, *limits) if vertices else (0, 0)
    return Ranks.of(network, ranks, iterations, change, damping)


def iterated(
    advance: Callable[[int, int], tuple[int, int]],
    change: int,
    passed: int,
    iterations: int,
    jumps_to: int,
    damping: float,
    tolerance: float,
) -> tuple[int, int]:
    """Iterate until ranks change by at most ``tolerance``; returns the last change, in units, and all iterations.

    ``change``, ``passed``: of the last of the ``iterations`` that are done. ``jumps_to``: vertices that get a part of
    what is not passed. ``advance(base, number)``, of the iteration ``number``, gives ``base`` units to each of them,
    and what neighbors pass to all vertices; it returns the change of ranks and the units that are passed.
    """
    while change > tolerance * UNITS and iterations < most_iterations(damping, tolerance):
        iterations += 1
        change, passed = advance((UNITS - passed) // jumps_to, iterations)
    return change, iterations


def most_iterations(damping: float, tolerance: float) -> int:
    """Iterations after which exact ranks change by less than ``tolerance``."""
    return 2 + math.ceil(math.log(tolerance / 2) / math.log(damping)) if damping else 2
