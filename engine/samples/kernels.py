"""Compiled loops over the ids of a group; loaded when one is called, for opening a store needs none of them."""

from csaw.partition.compile import njit


@njit(nogil=True)
def relabel(dense, nothing, table, fill, out):
    """The ids that ``table`` has for dense ones, and ``fill`` where there is nothing."""
    for k in range(dense.size):
        out[k] = fill if dense[k] == nothing else table[dense[k]]


@njit(nogil=True)
def count_present(rows, nothing, counts):
    """Add the ids of each row to its count, but for those that stand for nothing."""
    for row in range(rows.shape[0]):
        present = 0
        for column in range(rows.shape[1]):
            present += rows[row, column] != nothing
        counts[row] += present
