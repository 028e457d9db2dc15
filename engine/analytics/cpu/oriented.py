"""Oriented rows of a network, each edge once, in memory; spooled_rows.py has those that memory does not hold."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.rows_in_memory import Block

SAMPLED = 64  # one edge of this many tells how threads share the others


class Rows(NamedTuple):
    """The oriented rows of the vertices of ranks ``first`` up to before ``last``.

    The row of x is ``entries[begin[x] - begin[first] : begin[x + 1] - begin[first]]``.
    """

    first: int
    last: int
    entries: np.ndarray


class Sources(NamedTuple):
    """The edges from some rows to the vertices ``first`` and on: those to y stand from begin_in[y - first] on.

    ``sources``: the vertex that each leaves; ``lengths``: the number of entries of its row before y.
    """

    begin_in: np.ndarray
    first: int
    sources: np.ndarray
    lengths: np.ndarray


class Oriented:
    """Oriented rows of a simple undirected network, in memory.

    rank, order: id [V], the rank of each vertex and the vertex of each rank; begin: int64 [V + 1], where each row
    begins among all.
    """

    def __init__(self, network: HostNetwork) -> None:
        self.network = network
        kind = np.uint32 if network.vertices < 2**32 else np.uint64
        self.rank, self.order = np.empty(network.vertices, kind), np.empty(network.vertices, kind)
        oriented.rank_by_degree(network.indptr, self.rank, self.order)
        self.begin = np.zeros(network.vertices + 1, np.int64)
        self._count()
        self._write()

    def graph_blocks(self) -> Iterator[Block]:
        """The rows of the graph."""
        return self.network.blocks()

    def _count(self) -> None:  # apart from _write, which needs the memory of the last block
        for block in self.graph_blocks():
            self.network.over_rows(oriented.count_lower, block, self.rank, self.begin[1:])
        np.cumsum(self.begin, out=self.begin)

    def _write(self) -> None:
        self.entries = np.empty(int(self.begin[-1]), self.rank.dtype)
        for block in self.graph_blocks():
            at = self.begin[self.rank[block.first : block.last]]
            self.network.over_rows(oriented.fill_lower, block, self.rank, at, self.entries)

    def fixed(self, low: int, high: int) -> Iterator[Rows]:
        """Yield the rows of the ranks low .. high - 1, in parts that stay while pieces are compared with them.

        Others may be among them. Each part is good until the next is asked for.
        """
        yield Rows(0, self.network.vertices, self.entries)

    def within(self, rows: Rows, low: int, high: int) -> Rows:
        """Cut ``rows`` to the ranks low .. high - 1."""
        first, last = max(rows.first, low), min(rows.last, high)
        base = self.begin[rows.first]
        return Rows(first, last, rows.entries[self.begin[first] - base : self.begin[last] - base])

    def pieces(self, first: int) -> Iterator[Rows]:
        """Yield all rows of the ranks ``first`` and on, in pieces, perhaps with some before."""
        yield Rows(0, self.network.vertices, self.entries)

    def sources(self, rows: Rows, first: int, last: int) -> Sources:
        """List the edges of ``rows`` to the vertices of ranks first .. last - 1, by these."""
        begin_in = np.zeros(last - first + 2, np.int64)
        oriented.count_sources(first, last, first, rows.entries[::SAMPLED], begin_in)
        np.cumsum(begin_in, out=begin_in)
        shares = [begin_in[-1] * (n + 1) // self.network.threads for n in range(self.network.threads - 1)]
        cuts = [0, *np.searchsorted(begin_in[2:], shares).tolist(), last - first]
        spans = [(first + low, first + high) for low, high in pairwise(cuts) if low < high]
        begin_in[:] = 0
        self.network.each(oriented.count_sources, spans, first, rows.entries, begin_in)
        np.cumsum(begin_in, out=begin_in)
        listed = np.empty(int(begin_in[-1]), self.rank.dtype), np.empty(int(begin_in[-1]), np.uint32)
        given = rows.first, rows.last, self.begin, rows.entries, begin_in
        self.network.each(oriented.fill_sources, spans, first, *given, *listed)
        return Sources(begin_in, first, *listed)

    def close(self) -> None:
        """Give back memory and files."""
        self.__dict__.pop("entries", None)
