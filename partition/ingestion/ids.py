"""The numbering of vertices: the dense id of a vertex is the rank of its original id, which kernels find by a table
over the range of ids or by a hash table.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from itertools import pairwise
from typing import Protocol

import numpy as np

from csaw.partition.arrays.spool import Column, grouped
from csaw.partition.base.compile import njit
from csaw.partition.base.parallel import Crew
from csaw.partition.base.sorting import distinct
from csaw.partition.errors import FormatError

TABLE_FACTOR = 4  # a table over the whole id range, when it is at most this many times the number of edges
TABLE_SLICE = 1 << 20  # of it, for a thread
MARKED_ROWS, SORTED_ROWS = 1 << 18, 1 << 20  # at a time
SORTED_ROW_BYTES = 48  # in work: both ids joined, sorted and without repeats


class Edges(Protocol):
    """Pieces of edges, (src, dst, ...), which a numbering goes through once, and the number of their ``rows``."""

    rows: int

    def __iter__(self) -> Iterator[tuple[Column, ...]]: ...


class Numbering:
    """Dense ids of integer ids. ``vertex_ids`` are the original ids by dense id; None when they are 0 .. V - 1."""

    def __init__(self, raw: Edges, low: int, high: int, dtype: np.dtype, crew: Crew) -> None:
        self.table = None
        if high - low < max(TABLE_FACTOR * raw.rows, 1 << 20):
            self.base = np.uint64(low % 2**64)
            self.ids, self.table = _by_table(raw, self.base, high - low + 1, dtype, crew)
        else:
            self.ids = _distinct(raw, dtype, crew)
            bits = int(2 * self.ids.size).bit_length()
            self.shift = np.uint64(64 - bits)
            self.slots = np.zeros(1 << bits, np.uint32 if self.ids.size < 2**32 - 1 else np.uint64)
            fill_slots(self.ids.view(np.uint64), self.shift, self.slots)
        self.dtype = np.dtype(np.uint32 if self.ids.size < 2**32 - 1 else np.uint64)

    @property
    def vertices(self) -> int:
        return int(self.ids.size)

    @property
    def vertex_ids(self) -> np.ndarray | None:
        identity = self.ids.size and self.ids[0] == 0 and int(self.ids[-1]) == self.ids.size - 1
        return None if identity else self.ids

    def dense(self, ids: np.ndarray) -> np.ndarray:
        """Dense ids of ``ids``, in the same memory where they fit: new memory would cost as much as the look-up."""
        out = ids if ids.dtype == self.dtype else np.empty(ids.size, self.dtype)
        if self.table is not None:
            rank_by_table(ids, self.base, self.table, out)
            return out
        rank_by_slots(ids, self.ids.view(np.uint64), self.shift, self.slots, out)
        return out


class Unchanged:
    """The numbering of rows whose ids are 0 to V - 1 already, each of which is a vertex, with edges or without."""

    vertex_ids = None

    def __init__(self, vertices: int) -> None:
        self.vertices = vertices
        self.dtype = np.dtype(np.uint32 if vertices < 2**32 - 1 else np.uint64)

    def dense(self, ids: np.ndarray) -> np.ndarray:
        return ids.astype(self.dtype, copy=False)


def _by_table(raw: Edges, base: np.uint64, size: int, dtype: np.dtype, crew: Crew) -> tuple[np.ndarray, np.ndarray]:
    """All ids, ascending, and the rank of each at its distance from ``base``; what no id has is left open."""
    seen = np.zeros(size, np.bool_)

    def mark_piece(*pieces: tuple[Column, ...]) -> None:
        for src, dst, *_ in pieces:
            mark(src[:], base, seen)
            mark(dst[:], base, seen)

    for _ in crew.in_order(mark_piece, grouped(raw, MARKED_ROWS)):
        pass
    cuts = np.arange(0, size + TABLE_SLICE, TABLE_SLICE).clip(max=size)
    slices = [seen[low:high] for low, high in pairwise(cuts.tolist())]
    firsts = np.cumsum([0, *crew.in_order(lambda part: int(np.count_nonzero(part)), ((part,) for part in slices))])
    ids = np.empty(firsts[-1], dtype)
    table = np.empty(size, np.uint32 if ids.size < 2**32 - 1 else np.uint64)

    def rank(part: np.ndarray, low: int, first: int) -> None:
        begin = np.uint64((int(base) + low) % 2**64)
        rank_seen(part, begin, first, ids.view(np.uint64), table[low : low + part.size])

    for _ in crew.in_order(rank, zip(slices, cuts.tolist(), firsts.tolist(), strict=False)):
        pass
    return ids, table


def _distinct(raw: Edges, dtype: np.dtype, crew: Crew) -> np.ndarray:
    """All ids, ascending: of groups of pieces, then of two of those together, so that threads share the sorting."""

    def of(*pieces: tuple[Column, ...]) -> np.ndarray:
        return distinct(
            np.concatenate([ids[:].astype(dtype, copy=False) for src, dst, *_ in pieces for ids in (src, dst)])
        )

    def both(one: Future[np.ndarray], other: Future[np.ndarray]) -> np.ndarray:
        return distinct(np.concatenate([one.result(), other.result()]))

    merged: list[Future[np.ndarray] | None] = []  # at place k of 2^k groups
    for found in crew.in_order(of, grouped(raw, SORTED_ROWS), SORTED_ROWS * SORTED_ROW_BYTES):
        job: Future[np.ndarray] = Future()
        job.set_result(found)
        for place, waiting in enumerate([*merged, None]):
            if waiting is None:
                merged[place : place + 1] = [job]
                break
            merged[place], job = None, crew.pool.submit(both, waiting, job)
    whole = [job.result() for job in merged if job is not None]
    return distinct(np.concatenate([np.empty(0, dtype), *whole]))


def number(raw: Edges, bounds: tuple[int, int], big: bool, path: str, crew: Crew) -> Numbering:
    """The numbering of integer ids in [bounds[0], bounds[1]]; ``big`` when some are 2^63 or more."""
    if big and bounds[0] < 0:
        raise FormatError(
            f"{path}: expected ids that fit in one 64-bit type, found some below 0 and some of 2^63 "
            "or more; pass --id-type string"
        )
    return Numbering(raw, bounds[0], bounds[1], np.dtype(np.uint64 if big else np.int64), crew)


@njit(nogil=True)
def mark(ids, base, seen):
    """Set ``seen[id - base]`` for each id that occurs, modulo 2^64, for ids of any sign.

    Several threads may mark entries of one table, since all write the same value. Each writes only entries that are not
    marked, because a write takes the cache line from other threads.
    """
    for i in range(ids.size):
        if not seen[np.uint64(ids[i]) - base]:
            seen[np.uint64(ids[i]) - base] = True


@njit(nogil=True)
def rank_seen(seen, base, first, ids, table):
    """The ids of a slice that begins at ``base``, ranks counted from ``first``: their bits to ``ids[rank]``, their
    ranks to ``table``.
    """
    rank = np.int64(first)
    for i in range(seen.size):
        if seen[i]:
            ids[rank] = base + np.uint64(i)
            table[i] = rank
            rank += 1


@njit(nogil=True)
def rank_by_table(ids, base, table, out):
    for i in range(ids.size):
        out[i] = table[np.uint64(ids[i]) - base]


MIX = np.uint64(0x9E3779B97F4A7C15)  # of Fibonacci hashing: the upper bits of a product depend on all bits of a number


@njit(nogil=True)
def fill_slots(ids, shift, slots):
    """A hash table of ranks, counted from 1, by their ids (uint64, each once): ``slots`` has 2^(64 - shift) places,
    more than there are ids.
    """
    for rank in range(ids.size):
        place = np.int64((ids[rank] * MIX) >> shift)
        while slots[place] != 0:
            place = (place + 1) & (slots.size - 1)
        slots[place] = rank + 1


@njit(nogil=True)
def rank_by_slots(wanted, ids, shift, slots, out):
    """The rank of each wanted id, all of which are there."""
    for i in range(wanted.size):
        bits = np.uint64(wanted[i])
        place = np.int64((bits * MIX) >> shift)
        while ids[np.int64(slots[place]) - 1] != bits:
            place = (place + 1) & (slots.size - 1)
        out[i] = slots[place] - 1
