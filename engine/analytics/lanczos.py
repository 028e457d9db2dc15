"""Leading singular values of a graph's matrix, by products with vectors on any device, the same on each."""

import numpy as np

from csaw.engine.analytics.measure import FIXED
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.footprint import Footprint
from csaw.partition.errors import OptionError

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
