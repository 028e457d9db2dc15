"""Rows of lists of triangles, and of edges with the triangles of each, as the modules of every device make them."""

from typing import NamedTuple

import numpy as np


class Triangles(NamedTuple):
    """Triangles ``table`` [n, 3] of dense ids u < v < w, in order; ``done``: the entries of rows that are behind."""

    done: int
    table: np.ndarray


class Support(NamedTuple):
    """Edges u < v in order, and the triangles of each, int64; ``done`` as of Triangles."""

    done: int
    u: np.ndarray
    v: np.ndarray
    triangles: np.ndarray
