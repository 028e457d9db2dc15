"""Oriented rows where memory does not hold them: an external sort by rank, to a temporary file.

The file is written run by run: the rows of some consecutive vertices of the graph, in order of rank, cut where pieces
end. A piece, the rows of consecutive ranks, is put together from what each run has of it. The file takes 4 bytes an
edge.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

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
from csaw.engine.analytics.cpu.oriented import Oriented, Rows
from csaw.engine.analytics.rows_in_memory import Block, Extent
from csaw.engine.cpu.scratch_file import ScratchFile
from csaw.partition.base.cache import cache_dir, make_folder
from csaw.partition.graph.in_memory import InMemory


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
