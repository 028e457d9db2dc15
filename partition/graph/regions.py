"""Where the partitions of a graph begin once edges are added to it: as before, unless one grows too large; the rows of
new vertices belong to the last one, or to more behind it.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from csaw.partition.graph.parts import Partition, cut_points
from csaw.partition.graph.store import GraphStore


class Region(NamedTuple):
    """The vertices ``first`` to before ``last``, which become one partition.

    ``part``: the partition that has the rows of those before ``stored``, its edges ``low`` to before ``high``; None
    where all vertices are new.
    """

    first: int
    last: int
    part: Partition | None = None
    stored: int = 0
    low: int = 0
    high: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it has the vertices of a stored partition, and no others."""
        return self.part is not None and (self.first, self.last) == (self.part.first_vertex, self.part.last_vertex)


def regions_of(store: GraphStore, more: np.ndarray, edge_bytes: int, most: int) -> list[Region]:
    """Cut a graph that grows into partitions.

    Args:
        store: the graph before.
        more: int64 [V], how many edges each vertex gets at most, new vertices at the end.
        edge_bytes: of an edge in all arrays of a partition.
        most: bytes of a partition that changes.

    Returns:
        The regions, which follow each other from 0 to V.
    """
    before = np.zeros(more.size + 1, np.int64)
    np.cumsum(more, out=before[1:])
    new_bytes = int(before[-1] - before[store.vertices]) * edge_bytes + 8 * (more.size - store.vertices)
    found, done = list[Region](), store.vertices
    for part in store.partitions:
        last = part.last_vertex
        grown = part.nbytes + int(before[last] - before[part.first_vertex]) * edge_bytes
        if part.number == len(store.partitions) - 1 and more.size > last and grown + new_bytes <= most:
            last, grown = more.size, grown + new_bytes
            done = last
        count = -(-grown // most) if before[last] > before[part.first_vertex] else 1
        found += _cut(store, part, last, before, count)
    if done < more.size:
        own = before[done:] - before[done]
        cuts = cut_points(own, -(-new_bytes // most)).tolist()
        found += [Region(done + a, done + b) for a, b in pairwise(cuts)]
    return found


def _cut(store: GraphStore, part: Partition, last: int, before: np.ndarray, count: int) -> list[Region]:
    """The rows of a stored partition, and those of the vertices behind it up to ``last``, in ``count`` regions."""
    first, end = part.first_vertex, part.last_vertex
    if count < 2:
        return [Region(first, last, part, end, 0, part.edges)]
    offsets = np.full(last - first + 1, part.edges, np.int64)
    store.read_offsets(part.number, offsets[: end - first + 1])
    cuts = cut_points(offsets + before[first : last + 1] - before[first], count).tolist()
    return [
        Region(first + a, first + b, part, min(first + b, end), int(offsets[a]), int(offsets[b]))
        for a, b in pairwise(cuts)
        if b > a
    ]
