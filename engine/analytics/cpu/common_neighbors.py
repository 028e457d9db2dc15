"""Triangles of a simple undirected network one by one, and the number of those of each edge, in order, on the CPU.

Rows stay in the order of vertices, so triangles u < v < w come by u, then v, then w, whatever the threads and the
memory. Where memory does not hold all rows, those of some vertices u stay while all rows of vertices v pass by, and the
vertices w, in the order of the pieces that passed, are put in order by way of a temporary file.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.clusterings import Support, Triangles
from csaw.engine.analytics.cpu.footprints import (
    COUNT_BYTES,
    LEAST_TRIANGLES,
    TRIANGLE_BYTES,
    WINDOW_SHARE,
    few_rows_bytes,
    lists_least_bytes,
    marks_bytes,
)
from csaw.engine.analytics.cpu.kernels import triangles as kernels
from csaw.engine.analytics.cpu.network import STATE_BYTES, HostNetwork, equal_ranges
from csaw.engine.analytics.cpu.oriented import scratch_folder
from csaw.engine.analytics.passes import within
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cpu.scratch_file import ScratchFile
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import StoreError

ENTRIES = 1 << 20  # of rows that are cut into windows at a time
MOST, VERTICES = 1 << 22, 4  # triangles of a window: or one for so many vertices, whose marks it needs
TASKS_OF_THREAD = 4  # a window's work is shared in this many ranges
NONE = np.empty(0, np.int64)
Closed = tuple["Window", np.ndarray, np.ndarray]
"""A window, the common neighbors of each of its entries above these, int64, and all of them in order."""


class Window(NamedTuple):
    """Entries ``low`` .. ``high`` - 1 of rows, cut in ranges of about as much work."""

    low: int
    high: int
    ranges: list[tuple[int, int]]


class Part(NamedTuple):
    """Rows that stay: ``block``, of which entry 0 is entry ``begin`` of all.

    ``pieces()``: the rows that entries lead to; the same block where all rows are in memory.
    """

    block: Block
    begin: int
    pieces: Callable[[], Iterator[Block]]


class Run(NamedTuple):
    """Third vertices in a file: of a window's entries to the vertices ``first`` .. ``last`` - 1, ``size`` of them."""

    first: int
    last: int
    place: int
    size: int


def triangle_list(network: HostNetwork) -> Iterator[Triangles]:
    """List the triangles of a simple undirected network, each once, by u, then v, then w.

    BudgetError where its memory does not hold the longest row several times.
    """
    find = _in_memory if network.resident else _by_way_of_a_file
    for part in _parts(network):
        for window, counts, third in find(network, part):
            u, v = _ends(part.block, window)
            columns = np.repeat(u, counts), np.repeat(v, counts), third
            yield Triangles(part.begin + window.high, np.column_stack(columns))


def support_list(network: HostNetwork) -> Iterator[Support]:
    """List the edges of a simple undirected network with the number of triangles of each (its support).

    Errors as of ``triangle_list``.
    """
    for part in _parts(network):
        for window, counts in _counted(network, part):
            u, v = _ends(part.block, window)
            upper = u < v
            yield Support(part.begin + window.high, u[upper], v[upper], counts[upper])


def _counted(network: HostNetwork, part: Part) -> Iterator[tuple[Window, np.ndarray]]:
    """Yield the triangles of the entries of each window; those of all windows are kept only while pieces pass by."""
    windows = _windows(network, part.block, above=False)
    if network.resident:
        for window in windows:
            yield window, _find(network, part.block, part.block, window, above=False)
        return
    kept = [(window, np.zeros(window.high - window.low, np.int64)) for window in windows]
    for piece in part.pieces():
        for window, counts in kept:
            counts += _find(network, part.block, piece, window, above=False)
    yield from kept


def _in_memory(network: HostNetwork, part: Part) -> Iterator[Closed]:
    for window in _windows(network, part.block, above=True):
        counts = _find(network, part.block, part.block, window, above=True)
        yield window, counts, _third(network, part.block, part.block, window, counts)


def _by_way_of_a_file(network: HostNetwork, part: Part) -> Iterator[Closed]:
    """Find the third vertices piece by piece, and put those of each window in the order of its entries."""
    kept = [
        (window, np.zeros(window.high - window.low, np.int64)) for window in _windows(network, part.block, above=True)
    ]
    runs: list[list[Run]] = [[] for _ in kept]
    with closing(ScratchFile(scratch_folder(network))) as file:
        for piece in part.pieces():
            for (window, counts), own in zip(kept, runs, strict=True):
                some = _find(network, part.block, piece, window, above=True)
                third = _third(network, part.block, piece, window, some)
                counts += some
                if third.size:
                    own.append(Run(piece.first, piece.last, _put(file, third), third.size))
        for (window, counts), own in zip(kept, runs, strict=True):
            yield window, counts, _merged(part.block, window, counts, own, file)


def _put(file: ScratchFile, third: np.ndarray) -> int:
    """Append third vertices to the file, and return where they begin; StoreError where the disk has no room."""
    try:
        return file.append(third.view(np.uint8))
    except OSError as error:
        raise StoreError(
            f"{file.folder}: a temporary file for triangles that do not fit in memory cannot be written: "
            f"{error.strerror or error}; raise --memory, or set CSAW_CACHE_DIR to another folder"
        ) from error


def _merged(block: Block, window: Window, counts: np.ndarray, runs: list[Run], file: ScratchFile) -> np.ndarray:
    """Read the third vertices of a window's entries from what each piece has of them."""
    v, begin = block.indices[window.low : window.high], np.cumsum(counts) - counts
    out = np.empty(int(counts.sum()), block.indices.dtype)
    for run in runs:
        own = np.flatnonzero((v >= run.first) & (v < run.last) & (counts > 0))
        some = counts[own]
        third = np.empty(run.size, out.dtype)
        file.read(run.place, third.view(np.uint8))
        out[np.repeat(begin[own] - (np.cumsum(some) - some), some) + np.arange(run.size)] = third
    return out


def _find(network: HostNetwork, block: Block, piece: Block, window: Window, above: bool) -> np.ndarray:
    """Count the common neighbors of a window's entries that lead to a piece: int64 [entries], 0 of the others."""
    counts = np.zeros(window.high - window.low, np.int64)
    given = _given(network, block, piece, window, above)
    network.each(kernels.find, window.ranges, *given, counts, NONE, block.indices[:0])
    return counts


def _third(network: HostNetwork, block: Block, piece: Block, window: Window, counts: np.ndarray) -> np.ndarray:
    """Write the common neighbors that ``counts`` counts, one entry after the other."""
    upto = np.concatenate([[0], np.cumsum(counts)])
    out = np.empty(int(upto[-1]), block.indices.dtype)
    if out.size:
        ranges = equal_ranges(upto, len(window.ranges), window.low)
        given = _given(network, block, piece, window, above=True)
        network.each(kernels.find, ranges, *given, counts, upto, out)
    return out


def _given(network: HostNetwork, block: Block, piece: Block, window: Window, above: bool) -> tuple[object, ...]:
    """The arguments of the kernel ``find``, from ``at`` to ``above``."""
    theirs = (piece.first, piece.last, piece.indptr, piece.indices)
    return (window.low, block.first, block.indptr, block.indices, *theirs, network.vertices, above)


def _ends(block: Block, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The vertices that the entries of a window are between."""
    low, high = np.searchsorted(block.indptr, [window.low, window.high - 1], side="right").tolist()
    ends = np.clip(block.indptr[low - 1 : high + 1], window.low, window.high)
    u = np.repeat(np.arange(block.first + low - 1, block.first + high, dtype=block.indices.dtype), np.diff(ends))
    return u, block.indices[window.low : window.high]


def _windows(network: HostNetwork, block: Block, above: bool) -> Iterator[Window]:
    """Cut the entries of a block so that each window is of about as much work, and has few enough triangles."""
    most = _most(network)
    for low in range(0, block.indices.size, ENTRIES):
        high = min(low + ENTRIES, block.indices.size)
        upto = np.zeros(high - low + 1, np.int64)
        spans = [(low + first, low + last) for first, last in network.spans(high - low)]
        given = (low, block.first, block.indptr, block.indices, network.degrees, above)
        network.each(kernels.bound, spans, *given, upto[1:])
        np.cumsum(upto, out=upto)
        for at, end in within(upto, most):
            ranges = equal_ranges(upto[at : end + 1], network.threads * TASKS_OF_THREAD, low + at)
            yield Window(low + at, low + end, ranges)


def _most(network: HostNetwork) -> int:
    """Triangles that a window may have, beside those of its first entry."""
    share = network.budget // WINDOW_SHARE // TRIANGLE_BYTES
    return max(LEAST_TRIANGLES, min(max(MOST, network.vertices // VERTICES), share))


def _parts(network: HostNetwork) -> Iterator[Part]:
    """Yield all rows at once, or, where memory does not hold them, a part after the other in half of the room."""
    if network.resident:
        whole = next(network.blocks())
        yield Part(whole, 0, lambda: iter([whole]))
        return
    network.take_turn()
    network.forget_blocks()
    budget = _budget(network)
    most = budget // 2 // (network.id_dtype.itemsize + COUNT_BYTES)
    small = HostNetwork(
        network.store,
        memory=network.vertices * STATE_BYTES + budget // 2,
        threads=network.threads,
        residency=Residency.DISK,
    )
    with closing(small):
        small.__dict__["indptr"] = network.indptr
        first, offsets = 0, network.offsets
        while first < network.vertices:
            last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1)
            yield Part(_rows(small, first, last), int(offsets[first]), partial(_from, small, first))
            first = last


def _from(network: HostNetwork, first: int) -> Iterator[Block]:
    """Yield the blocks of a network from that with the vertex ``first`` on."""
    return network.blocks(wanted=lambda _, end: end > first)


def _rows(network: HostNetwork, first: int, last: int) -> Block:
    """Copy the rows of the vertices first .. last - 1 out of the blocks that have them."""
    offsets = network.offsets[first : last + 1] - network.offsets[first]
    out = np.empty(int(offsets[-1]), network.id_dtype)
    for block in network.blocks(wanted=lambda low, end: low < last and end > first):
        low, high = max(block.first, first), min(block.last, last)
        rows = block.indices[block.indptr[low - block.first] : block.indptr[high - block.first]]
        out[offsets[low - first] : offsets[high - first]] = rows
    return Block(first, last, offsets, out, None)


def _budget(network: HostNetwork) -> int:
    """Bytes for rows beside a window's marks and triangles; BudgetError where a few of the longest do not fit."""
    longest = max(network.store.max_degree, 1)
    budget = network.budget - TRIANGLE_BYTES * (_most(network) + longest) - marks_bytes(network)
    if budget < few_rows_bytes(network, longest):
        needed = network.kept_bytes + lists_least_bytes(network, longest)
        raise network.refusal(
            needed,
            f"lists of triangles need {needed:,} bytes, for what is kept of {network.vertices:,} vertices, for some "
            f"triangles, and for rows of {longest:,} neighbors",
        )
    return budget
