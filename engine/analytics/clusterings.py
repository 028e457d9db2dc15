"""Triangles of vertices by degree, and clusterings: as the modules of every device find them."""

from typing import NamedTuple

import numpy as np

from csaw.engine.analytics import passes

HUBS = 0xFFFF  # vertices of highest degree, whose ranks 16 bits hold, beside the sign of all others


class Clusterings(NamedTuple):
    """How often neighbors of vertices are neighbors of each other.

    degrees: int64 [n], rising: those that occur; vertices, triangles: int64 [n], of the vertices of each degree
        together. local: float64 [V], the clustering of each vertex, 0 of a degree below 2.
    values, counts: the clusterings that occur among vertices of degree 2 and more, float64 [k], rising, and how often.
    """

    degrees: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    local: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def of_arrays(degrees: np.ndarray, triangles: np.ndarray) -> Clusterings:
    """Find clusterings of the degree and the triangles of each vertex, int64 [V] both, in host memory."""
    often = np.bincount(degrees)
    present = np.flatnonzero(often)
    together = np.bincount(degrees, weights=triangles)  # floats that are integers below 2^53
    local, found = np.empty(degrees.size), []
    for low, high in passes.spans(degrees.size) or [(0, 0)]:
        own = degrees[low:high]
        local[low:high] = triangles[low:high] / np.maximum(own * (own - 1) // 2, 1)
        found.append(_often(local[low:high], own))
    return Clusterings(present, often[present], together[present].astype(np.int64), local, *passes.occurrences(found))


def with_none(values: np.ndarray, counts: np.ndarray, none: int) -> tuple[np.ndarray, np.ndarray]:
    """Add how many have no triangles, ``none``, to values above 0 and how often each occurs."""
    if not none:
        return values, counts
    return np.concatenate([[0.0], values]), np.concatenate([[none], counts])


def _often(local: np.ndarray, degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The clusterings that occur among vertices of degree 2 and more, and how often each does.

    Most are 0, and need no sorting.
    """
    none = int(np.count_nonzero((degrees >= 2) & (local == 0)))
    return with_none(*np.unique(local[local > 0], return_counts=True), none)


# Rows of lists of triangles, and of edges with the triangles of each, as the modules of every device make them.


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
