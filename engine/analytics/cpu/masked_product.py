"""Triangles by the square of the oriented graph's matrix, where the matrix itself has entries: the masked product of Gunrock's paper (Wang and others, IA3 2016)."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import triangles as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.oriented import Oriented, Rows
from csaw.engine.analytics.cpu.triangles import counted, tasks_of


def compute(network: HostNetwork, *, each: bool = True) -> tuple[int, np.ndarray | None]:
    """As that of triangles.py."""
    return counted(network, _multiply, each)


def _multiply(network: HostNetwork, rows: Oriented, fixed: Rows, piece: Rows, counts: np.ndarray) -> int:
    """Triangles with the middle vertex in ``fixed`` and the vertex of highest rank in ``piece``; each adds 1 to its vertices in ``counts``, by rank, unless that is empty."""
    upto = rows.begin[piece.first : piece.last + 1]
    given = (rows.begin, fixed.entries, fixed.first, fixed.last, piece.entries, int(upto[0]), counts)
    tasks = tasks_of(network, upto, piece.first)
    return sum(map(int, network.over(lambda low, high: kernels.multiply(low, high, *given), tasks)))
