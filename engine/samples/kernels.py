"""Compiled loops over the ids of a group; loaded when one is called, for opening a store needs none of them."""

import numpy as np

from csaw.partition.base.compile import njit


@njit(nogil=True)
def relabel(dense: np.ndarray, nothing: np.integer, table: np.ndarray, fill: np.integer, out: np.ndarray) -> None:
    """The ids that ``table`` has for dense ones, and ``fill`` where there is nothing."""
    for k in range(dense.size):
        out[k] = fill if dense[k] == nothing else table[dense[k]]


@njit(nogil=True)
def count_present(rows: np.ndarray, nothing: np.integer, counts: np.ndarray) -> None:
    """Add the ids of each row to its count, but for those that stand for nothing."""
    for row in range(rows.shape[0]):
        present = 0
        for column in range(rows.shape[1]):
            present += rows[row, column] != nothing
        counts[row] += present


@njit(nogil=True)
def edges_of_hop(
    src: np.ndarray,
    dst: np.ndarray,
    nothing: np.integer,
    depth: int,
    places: np.ndarray,
    out_instance: np.ndarray,
    out_src: np.ndarray,
    out_dst: np.ndarray,
    out_depth: np.ndarray,
) -> None:
    """Write the edges from one hop to the next, each at its instance's place, which moves on.

    ``src`` and ``dst`` are [instances, width].
    """
    fanout = dst.shape[1] // max(src.shape[1], 1)
    for row in range(dst.shape[0]):
        at = places[row]
        for column in range(dst.shape[1]):
            if dst[row, column] != nothing:
                out_instance[at] = row
                out_src[at] = src[row, column // fanout]
                out_dst[at] = dst[row, column]
                out_depth[at] = depth
                at += 1
        places[row] = at
