"""A view of a graph store with more, smaller partitions: rows that are stored together are read in pieces, so that any memory has room for some."""

import numpy as np

from csaw.partition.graph.recut import Recut
from csaw.partition.graph.store import GraphStore


class Split(Recut):
    """``store`` with each partition of more than ``edges`` edges cut into pieces of at most that many, about equal ones; a row is never cut."""

    def __init__(self, store: GraphStore, edges: int) -> None:
        begins: list[tuple[int, int]] = []
        for part in store.partitions:
            cuts, offsets = [0], np.zeros(1, np.int64)
            if part.edges > edges:
                offsets = store.read_offsets(part.number)
                cuts = cuts_of(offsets, edges)
            begins += [(part.first_vertex + cut, part.first_edge + int(offsets[cut])) for cut in cuts]
        super().__init__(store, begins)


def cuts_of(offsets: np.ndarray, most: int) -> list[int]:
    """The rows at which pieces begin, the first at 0: each has at most ``most`` edges, unless a single row has more. ``offsets`` [rows + 1] rise from 0."""
    rows, total, cuts = offsets.size - 1, int(offsets[-1]), [0]
    while cuts[-1] < rows:
        done = int(offsets[cuts[-1]])
        aim = (total - done) // max(1, -(-(total - done) // most))
        end = int(np.searchsorted(offsets, done + aim, side="right")) - 1
        least = int(np.searchsorted(offsets, done, side="right"))  # a row with edges, so that no piece is empty
        cuts.append(min(max(end, least), rows))
    return cuts[:-1]
