"""Oriented rows of a network, each edge once: in memory, or in a temporary file where memory does not hold them.

The file is an external sort by rank. It is written run by run: the rows of some consecutive vertices of the graph, in
order of rank, cut where pieces end. A piece, the rows of consecutive ranks, is put together from what each run has of
it. The file takes 4 bytes an edge.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.footprints import (
    FETCH_SHARE,
    PIECE_SHARE,
    PLACES_SHARE,
    RUN_BYTES,
    oriented_bytes,
    oriented_least_bytes,
    piece_bytes,
    rank_bytes,
)
from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.rows_in_memory import Block, Extent
from csaw.engine.cpu.scratch_file import ScratchFile
from csaw.partition.base.cache import cache_dir, make_folder
from csaw.partition.graph.in_memory import InMemory

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


# Rows that wait in a file.


class SpooledRows(Oriented):
    """Oriented rows in a temporary file.

    BudgetError where the network's memory, less ``scratch`` bytes, does not hold the longest row.
    """

    def __init__(self, network: HostNetwork, scratch: int) -> None:
        self.file = ScratchFile(scratch_folder(network))
        self.runs, self.places, self.sizes = [0], list[np.ndarray](), list[np.ndarray]()
        self.each = rank_bytes(network)
        self.budget, self.small = network.budget - scratch, network
        if isinstance(network.store, InMemory):
            self.budget -= network.edges * network.id_dtype.itemsize
        else:
            network.held.clear()
        self._check(network, scratch)
        self.budget -= self.budget // PLACES_SHARE
        if not isinstance(network.store, InMemory):
            memory, kept = network.kept_bytes + self.budget // FETCH_SHARE, network.kept
            self.small = HostNetwork(
                network.store, memory=memory, threads=network.threads, derived=network.derived, kept=kept
            )
            self.small.__dict__["indptr"] = network.indptr
        super().__init__(network)

    def _check(self, network: HostNetwork, scratch: int) -> None:
        longest = max(network.store.max_degree, 1)
        least = oriented_least_bytes(network, Extent(network.edges, longest))
        if self.budget < least:
            needed = network.memory - self.budget + least
            raise network.refusal(
                needed,
                f"triangles need {needed:,} bytes, for what is kept of {network.vertices:,} vertices, for "
                f"{network.threads} threads and for rows of {longest:,} neighbors",
            )

    def graph_blocks(self) -> Iterator[Block]:
        return self.small.blocks()

    def _write(self) -> None:
        self.cuts = self._cut(self.budget // PIECE_SHARE // piece_bytes(self.small))
        most = self.budget // FETCH_SHARE
        for block in self.graph_blocks():
            first = block.first
            while first < block.last:
                ranks = self.rank[first : min(first + most // RUN_BYTES, block.last)].astype(np.int64)
                upto = np.cumsum(self.each * (self.begin[ranks + 1] - self.begin[ranks]) + RUN_BYTES)
                last = first + int(np.searchsorted(upto, most, side="right"))
                self._write_run(block, first, last)
                first = last
        self._close_small()
        largest = int(np.diff(self.begin[self.cuts]).max(initial=0))
        self.buffers = [np.empty(largest, self.rank.dtype) for _ in range(2)]  # one is read while the other is in use

    def _write_run(self, block: Block, first: int, last: int) -> None:
        ranks = self.rank[first:last].astype(np.int64)
        by_rank = np.argsort(ranks)
        ranks = ranks[by_rank]
        upto = np.concatenate([[0], np.cumsum(self.begin[ranks + 1] - self.begin[ranks])])
        at = np.empty(ranks.size, np.int64)
        at[by_rank] = upto[:-1]
        entries = np.empty(int(upto[-1]), self.rank.dtype)
        offsets = block.indptr[first - block.first : last - block.first + 1]
        part = Block(first, last, offsets, block.indices, None)
        self.network.over_rows(oriented.fill_lower, part, self.rank, at, entries)
        ends = upto[np.searchsorted(ranks, self.cuts)]
        spans = pairwise(ends.tolist())
        self.places.append(np.array([self.file.append(entries[low:high].view(np.uint8)) for low, high in spans]))
        self.sizes.append(np.diff(ends))
        self.runs.append(last)

    def _cut(self, most: int) -> list[int]:
        """Ranks at which rows are cut into pieces of at most ``most`` entries."""
        cuts = [0]
        while cuts[-1] < self.network.vertices:
            end = np.searchsorted(self.begin, self.begin[cuts[-1]] + most, side="right") - 1
            cuts.append(int(end))
        return cuts

    def _read(self, number: int, out: np.ndarray) -> Rows:
        """A piece, in ``out``."""
        first, last = self.cuts[number], self.cuts[number + 1]
        sizes = np.array([run[number] for run in self.sizes], np.int64)
        at = np.cumsum(sizes) - sizes
        parts, out = np.empty(int(sizes.sum()), self.rank.dtype), out[: int(sizes.sum())]
        for run in np.flatnonzero(sizes).tolist():
            self.file.read(int(self.places[run][number]), parts[at[run] : at[run] + sizes[run]].view(np.uint8))
        oriented.merge_runs(first, last, self.order, self.begin, np.array(self.runs), at, parts, out)
        return Rows(first, last, out)

    def fixed(self, low: int, high: int) -> Iterator[Rows]:
        most = (self.budget - self.budget // PIECE_SHARE) // self.each
        number = int(np.searchsorted(self.cuts, low, side="right")) - 1
        entries = np.empty(min(most, int(self.begin[-1])), self.rank.dtype)
        while number + 1 < len(self.cuts) and self.cuts[number] < high:
            base = self.begin[self.cuts[number]]
            end = int(np.searchsorted(self.begin[self.cuts], base + most, side="right")) - 1
            for one in range(number, end):
                self._read(one, entries[self.begin[self.cuts[one]] - base :])
            yield Rows(self.cuts[number], self.cuts[end], entries[: self.begin[self.cuts[end]] - base])
            number = end

    def pieces(self, first: int) -> Iterator[Rows]:
        numbers = range(int(np.searchsorted(self.cuts, first, side="right")) - 1, len(self.cuts) - 1)
        yield from self.network.one_ahead(self._read, numbers, self.buffers)

    def close(self) -> None:
        self.file.close()
        self._close_small()

    def _close_small(self) -> None:
        if self.small is not self.network:
            self.small.close()
            self.small = self.network


def scratch_folder(network: HostNetwork) -> Path:
    """The folder for temporary files of a network's rows."""
    folder = network.derived or cache_dir() / "networks"
    make_folder(folder)
    return folder


def orient(network: HostNetwork, *, scratch: int = 0) -> Oriented:
    """The oriented rows of a simple undirected network, within its memory less ``scratch`` bytes.

    BudgetError where that does not hold the longest row.
    """
    if network.resident and oriented_bytes(network, network.edges) + scratch <= network.budget:
        return Oriented(network)
    return SpooledRows(network, scratch)
