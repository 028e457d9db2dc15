"""What is iterated by passes over a graph's matrix, the same on any device: PageRank by power iteration in integers
(Page, Brin, Motwani and Winograd 1999), and leading singular values by products with vectors.

A rank is a whole number of units, of which there are 2^62. A vertex passes a whole number of units along each of its
edges: damping times its rank by its degree, rounded down. The rest, which is the share of random jumps, the ranks of
vertices without edges and the remainders of divisions, goes in equal parts to all vertices, or to the sources of a
personalized PageRank; a remainder that cannot be parted equally, fewer units than there are vertices, waits for the
next iteration. Units are neither made nor lost, and sums of integers do not depend on their order.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from csaw.engine.analytics import passes
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.api.option import option
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import Footprint
from csaw.partition.errors import OptionError

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
    arriving_sums = network.function("arriving_sums")

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


# The base of measures by ranks: their options and their findings.

BINS = 8  # of a distribution, for each doubling of the rank
SLOW = "with more, ranks take more than 100,000 iterations"


class RankMeasure(Measure):
    """A measure by ranks, with the options of all of them."""

    KEEPS: ClassVar = {"cpu": Footprint(56, fixed=1 << 18), "cuda": Footprint(84, fixed=FIXED)}
    paper = "Page, Brin, Motwani and Winograd 1999"
    damping: float = option(
        0.85,
        help="probability that a step of PageRank follows an edge instead of jumping",
        low=0,
        high=0.9999,
        reason=SLOW,
    )
    tolerance: float = option(
        1e-6, help="total change of ranks in an iteration (L1) at which PageRank stops", low=1e-12, high=1
    )


def found(name: str, ranks: Ranks, begun: str = "") -> Findings:
    """Return the findings of a measure by ranks. ``begun``: words about the one vertex that walks begin at."""
    method = "; ".join(filter(None, [begun, ranks.method]))
    units = on_host(ranks.units)
    largest = int(units.max(initial=0)) / UNITS
    return {
        name: Column(units / UNITS, method),
        f"distribution of {name}": binned(units, f"{name}, multiples of the mean"),
        f"largest {name}": Number(largest, method),
    }


def binned(units: np.ndarray, label: str) -> Distribution:
    """Return the distribution of ranks, int64 [V] in units, in multiples of their mean.

    Ranks are rounded to the middle of the eighth of a doubling that they are in; 0 stays 0.
    """
    found = [_middles(units[low:high], units.size) for low, high in passes.spans(units.size) or [(0, 0)]]
    return Distribution(*passes.occurrences(found), label)


def _middles(units: np.ndarray, vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """The middles of the eighths that some of the ranks are in, and how many are in each."""
    fractions, exponents = np.frexp(units * (vertices / UNITS))
    middles = np.where(units > 0, (np.floor(fractions * 2 * BINS) + 0.5) / (2 * BINS), 0.0)
    return np.unique(np.ldexp(middles, exponents), return_counts=True)


DENSE = 64  # vertices up to which all values are computed, and those needed are taken
SPARE = 8  # vectors beside those of the search and results: ARPACK's own, two of a product, offsets and degrees
WEYL = np.uint64(0x9E3779B97F4A7C15)


def leading(network: Network, count: int, incoming: Network | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find the ``count`` largest singular values, falling, and the left singular vector [V] of the largest.

    The sum of the vector is not negative. The matrix has the number of entries of row v that are u in row v, column u.
    By the implicitly restarted Lanczos method (Lehoucq, Sorensen and Yang, ARPACK, 1998) on the matrix if it is
    symmetric, else on its product with its transpose, from a fixed vector; vectors are on the host. Products have an
    order of their own (ordered_sums). OptionError where the values do not settle.

    ``incoming``: the rows of the other direction (default: the network's own ``incoming``, if it is directed).
    """
    vertices = network.vertices
    if vertices == 0:
        return np.zeros(0), np.zeros(0)
    if incoming is None:
        incoming = network.incoming
    if vertices <= max(DENSE, 2 * count + 1):
        values, vectors = np.linalg.eigh(np.array([_multiplied(network, incoming, row) for row in np.eye(vertices)]).T)
    else:
        values, vectors = _lanczos(network, incoming, count)
    if network.directed:
        values = np.sqrt(np.maximum(values, 0))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    largest = vectors[:, order[0]] if order.size else np.zeros(0)
    return np.abs(values[order]), largest if largest.sum() >= 0 else -largest


def kept(count: int) -> Footprint:
    """The memory of the host for ``count`` leading values, beside rows."""
    return Footprint(8 * (2 * max(2 * count + 1, 20) + count + SPARE), fixed=FIXED)  # ARPACK copies those of the search


def _multiplied(network: Network, incoming: Network, vector: np.ndarray) -> np.ndarray:
    """The matrix times a vector; of a directed graph, the matrix times its transpose times a vector."""
    values = network.xp.asarray(np.ascontiguousarray(vector, np.float64).ravel())
    if network.directed:
        values = incoming.compute("ordered_sums", values=values)
    return on_host(network.compute("ordered_sums", values=values))


def _lanczos(network: Network, incoming: Network, count: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    vertices = network.vertices
    start = 0.5 + ((np.arange(vertices, dtype=np.uint64) * WEYL) >> np.uint64(11)) * 2.0**-53
    matrix = LinearOperator(
        (vertices, vertices), lambda vector: _multiplied(network, incoming, vector), dtype=np.float64
    )
    try:
        return eigsh(matrix, count, which="LM", v0=start)
    except ArpackNoConvergence as error:
        raise OptionError(
            f"--spectrum-size: {count:,} leading values did not converge ({error}); ask for fewer or more of them"
        ) from error
