"""Leading singular values of a graph's matrix, on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.kept import Kept
from csaw.partition.errors import BudgetError, OptionError

DENSE = 64  # vertices up to which all values are computed, and those needed are taken
SPARE = 8  # vectors beside those of the search and results: ARPACK's own, two of a product, offsets and degrees
WEYL = np.uint64(0x9E3779B97F4A7C15)


def compute(network: HostNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the ``count`` largest singular values, falling, and the left singular vector [V] of the largest.

    The sum of the vector is not negative. The matrix has the number of entries of row v that are u in row v, column u.
    By the implicitly restarted Lanczos method (Lehoucq, Sorensen and Yang, ARPACK, 1998) on the matrix if it is
    symmetric, else on its product with its transpose, from a fixed vector. Each product adds a row's numbers in order.

    BudgetError where memory does not hold the rows and the vectors; OptionError where the values do not settle.
    """
    vertices = network.vertices
    if vertices <= max(DENSE, 2 * count + 1):
        values, vectors = np.linalg.eigh(np.array([_multiplied(network, row) for row in np.eye(vertices)]).T)
    else:
        _require_memory(network, count)
        values, vectors = _lanczos(network, count)
    if network.directed:
        values = np.sqrt(np.maximum(values, 0))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    leading = vectors[:, order[0]] if order.size else np.zeros(0)
    return np.abs(values[order]), leading if leading.sum() >= 0 else -leading


def _multiplied(network: HostNetwork, vector: np.ndarray) -> np.ndarray:
    """The matrix times a vector; of a directed graph, the matrix times its transpose times a vector."""
    vector = np.ascontiguousarray(vector, np.float64).ravel()
    if network.directed:
        vector = network.incoming.compute("neighbor_sums", values=vector)
    return network.compute("neighbor_sums", values=vector)


def _lanczos(network: HostNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    vertices = network.vertices
    start = 0.5 + ((np.arange(vertices, dtype=np.uint64) * WEYL) >> np.uint64(11)) * 2.0**-53
    matrix = LinearOperator((vertices, vertices), lambda vector: _multiplied(network, vector), dtype=np.float64)
    try:
        return eigsh(matrix, count, which="LM", v0=start)
    except ArpackNoConvergence as error:
        raise OptionError(
            f"--spectrum-size: {count:,} leading values did not settle ({error}); ask for fewer or more of them"
        ) from error


def _require_memory(network: HostNetwork, count: int) -> None:
    vectors = kept(count).bytes(network.vertices, network.edges, network.id_dtype.itemsize)
    need = vectors + network.edges * network.edge_bytes * (2 if network.directed else 1) + network.beside
    if need > network.budget:
        raise BudgetError(
            f"{network.store.path}: {count:,} leading values take {vectors:,} bytes for vectors and the "
            f"whole graph in memory, {need:,} bytes together, "
            f"and {network.budget:,} are allowed; raise {network.flag} to {need:,}, or lower --spectrum-size"
        )


def kept(count: int) -> Kept:
    """The memory of ``count`` leading values beside the rows."""
    return Kept(8 * (2 * max(2 * count + 1, 20) + count + SPARE))  # ARPACK copies those of the search
