"""Triangles by a masked product: the square of the oriented graph's matrix where the matrix has entries.

It is one of the three ways of Gunrock's paper (Wang and others, IA3 2016).
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels import triangles as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.oriented import Oriented, Rows
from csaw.engine.analytics.cpu.triangles import counted, tasks_of


def compute(network: HostNetwork, *, each: bool = True) -> tuple[int, np.ndarray | None]:
    """Count triangles as cpu/triangles.py does, of the whole graph and of ``each`` vertex."""
    return counted(network, _multiply, each)


def _multiply(network: HostNetwork, rows: Oriented, fixed: Rows, piece: Rows, counts: np.ndarray) -> int:
    """Count the triangles with the middle vertex in ``fixed`` and the vertex of highest rank in ``piece``.

    Each adds 1 to its vertices in ``counts``, by rank, unless that is empty.
    """
    upto = rows.begin[piece.first : piece.last + 1]
    given = (rows.begin, fixed.entries, fixed.first, fixed.last, piece.entries, int(upto[0]), counts)
    tasks = tasks_of(network, upto, piece.first)
    return sum(map(int, network.each(kernels.multiply, tasks, *given)))
