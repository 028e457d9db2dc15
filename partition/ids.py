"""The numbering of vertices: the dense id of a vertex is the rank of its original id."""

import numpy as np

from csaw.partition.csr import mark, rank_by_table
from csaw.partition.errors import FormatError
from csaw.partition.parallel import in_order
from csaw.partition.spool import Spool
from csaw.partition.words import Words

TABLE_FACTOR = 4  # a table covers the whole range of ids if that is at most this many times the number of edges


class Numbering:
    """Dense ids of integer ids. ``vertex_ids`` are the original ids by dense id; None when they are 0 .. V - 1."""

    def __init__(self, raw: Spool, low: int, high: int, dtype: np.dtype) -> None:
        self.table = None
        if high - low < max(TABLE_FACTOR * raw.rows, 1 << 20):
            seen = np.zeros(high - low + 1, np.bool_)
            self.base = np.uint64(low % 2**64)
            for _ in in_order(lambda src, dst, *_: (mark(src, self.base, seen), mark(dst, self.base, seen)), raw):
                pass
            self.ids = np.flatnonzero(seen).astype(dtype) + np.dtype(dtype).type(low)
            self.table = np.cumsum(seen, dtype=np.uint32 if self.ids.size < 2**32 - 1 else np.uint64) - 1
        else:
            self.ids = np.empty(0, dtype)
            for src, dst, *_ in raw:
                self.ids = np.union1d(
                    self.ids, np.union1d(src.astype(dtype, copy=False), dst.astype(dtype, copy=False))
                )
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
        out[:] = np.searchsorted(self.ids, ids.astype(self.ids.dtype, copy=False))
        return out


class StringNumbering:
    """Dense ids of string ids, ranked by their bytes. While rows are read, strings get provisional numbers."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}

    def provisional(self, words: list[bytes]) -> np.ndarray:
        numbers = self.numbers
        return np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)

    def finish(self) -> None:
        self.words = sorted(self.numbers)
        self.rank = np.empty(len(self.words), np.uint32)
        self.rank[[self.numbers[word] for word in self.words]] = np.arange(len(self.words))
        self.dtype = np.dtype(np.uint32)

    @property
    def vertices(self) -> int:
        return len(self.words)

    @property
    def vertex_ids(self) -> Words:
        return Words.of(self.words)

    def dense(self, ids: np.ndarray) -> np.ndarray:
        return self.rank[ids]


def number(raw: Spool, bounds: list[int], big: bool, path: str) -> Numbering:
    """The numbering of the integer ids of ``raw``, which lie in bounds[0] .. bounds[1]; ``big``: whether some are 2^63 or more."""
    if big and bounds[0] < 0:
        raise FormatError(f"{path}: the file has ids below zero and ids above 2^63; pass --ids string")
    return Numbering(raw, bounds[0], bounds[1], np.dtype(np.uint64 if big else np.int64))
