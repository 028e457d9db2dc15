"""Conversion of the engine's dense ids to the ids of a sample store.

The engine's dense ids are uint32 or uint64, and all bits set stand for nothing. In a store they are int32 where the
graph has fewer than 2^31 vertices, otherwise int64, and -1, the same bits, stands for nothing. Numbers of the input are
the smallest of int32, int64 and uint64 that holds all of them and a fill value that none of them is: -1 wherever they
are not negative and int64 holds them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from csaw.engine.samples.array import all_ones, check_names
from csaw.engine.samples.check import FORMAT_VERSION
from csaw.engine.samples.files import PIECE, in_pieces
from csaw.engine.samples.layouts import VERTEX, kind_of
from csaw.partition.arrays.loader import Mapped
from csaw.partition.arrays.words import Words
from csaw.partition.base.first_work import is_little
from csaw.partition.base.plain_data import Record


@dataclass(frozen=True)
class Coming:
    """An array of a group that is still on the device that drew it, and leaves it as it is written.

    ``parts``: functions that each begin to bring the bytes of some rows, as a store has them, in pieces. The next piece
    may use the memory of the last one.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    parts: tuple[Callable[[], Iterator[np.ndarray]], ...]

    @classmethod
    def joined(cls, arrays: Sequence["Coming"]) -> "Coming":
        """The arrays of consecutive instances as one."""
        rows, first = sum(len(one) for one in arrays), arrays[0]
        return cls((rows, *first.shape[1:]), first.dtype, tuple(part for one in arrays for part in one.parts))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def pieces(self) -> Iterator[np.ndarray]:
        """The bytes of all parts, one after the other."""
        return chain.from_iterable(part() for part in self.parts)


GroupArray = np.ndarray | Coming
GroupArrays = dict[str, GroupArray]


def together(parts: Sequence[GroupArrays]) -> GroupArrays:
    """The arrays of consecutive instances, by name, from those of at least one part; of a single part as they are."""
    if len(parts) == 1:
        return parts[0]
    return {name: _together([part[name] for part in parts]) for name in parts[0]}


def _together(arrays: Sequence[GroupArray]) -> GroupArray:
    coming = [one for one in arrays if isinstance(one, Coming)]
    return Coming.joined(coming) if len(coming) == len(arrays) else np.concatenate(arrays)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Identifiers:
    """The conversion of the engine's dense ids to the ids of a store."""

    kind: str  # dense: dense ids; original: numbers of the input; names: dense, with the table of words beside
    dtype: np.dtype
    fill: int
    table: np.ndarray | Words | None = None
    version: int = 1  # of the format: the earliest in which they are so

    @classmethod
    def choose(
        cls,
        dense_dtype: DTypeLike,
        vertex_ids: np.ndarray | Words | None,
        ids: str,
        vertices: int = 0,
        like: Record | None = None,
    ) -> "Identifiers":
        """Choose the ids of a store of a graph with so many ``vertices`` and these ``vertex_ids``.

        ``like``: the attributes of a store that an earlier csaw has begun, whose types are kept (default: None).
        """
        said = {} if like is None else like
        version = 1 if said.get("format_version") == 1 else FORMAT_VERSION
        dense, nothing = _of_dense(np.dtype(dense_dtype).newbyteorder("<"), vertices, said.get("fill"))
        if ids == "dense":
            return cls("dense", dense, nothing)
        if vertex_ids is None:
            return cls("original", dense, nothing)
        if isinstance(vertex_ids, Words):
            return cls("names", dense, nothing, vertex_ids)
        if vertex_ids.dtype.kind not in "iu":
            return cls("names", dense, nothing, Words.of(vertex_ids))
        dtype = _holding(vertex_ids, version)
        mapped = isinstance(vertex_ids, Mapped)  # a copy would take the memory that mapping saves
        table = vertex_ids.view(np.ndarray) if mapped else np.ascontiguousarray(vertex_ids, dtype)
        return cls("original", dtype, _unused(table, dtype), table, 1 if dtype == _holding(vertex_ids, 1) else 2)

    @property
    def words(self) -> Words | None:
        """The string ids by dense id; None where the ids are numbers."""
        return self.table if isinstance(self.table, Words) else None

    def converted(self, name: str, array: np.ndarray) -> np.ndarray:
        """Convert the array ``name`` of a group to the ids and element type of the store.

        Returns the array itself where these are the same.
        """
        table = self.table_of(name)
        if table is None:
            return self._typed(name, array)
        out = np.empty(array.size, self.dtype)
        self._relabel(np.ascontiguousarray(array).reshape(-1), table, out)
        return out.reshape(array.shape)

    def put(self, name: str, array: np.ndarray, out: np.ndarray) -> None:
        """Put what ``converted`` returns into ``out``, contiguous, of the shape of the array."""
        table = self.table_of(name)
        if table is None:
            out[...] = self._typed(name, array)
        else:
            self._relabel(np.ascontiguousarray(array).reshape(-1), table, out.reshape(-1))

    def stored(self, name: str, array: GroupArray, converted: bool = False) -> Iterator[np.ndarray]:
        """Yield the bytes to write for the array ``name`` of a group, in pieces.

        The next piece may use the memory of the last one. ``converted``: its ids are those of the store already, as are
        those of an array that is still coming.
        """
        if isinstance(array, Coming):
            return array.pieces()
        table = None if converted else self.table_of(name)
        if table is None:
            return in_pieces(self._typed(name, array))
        return self._originals(np.ascontiguousarray(array).reshape(-1), table)

    def table_of(self, name: str) -> np.ndarray | None:
        """The numbers of the input by dense id, if the array ``name`` holds them instead of dense ids."""
        of_vertices = kind_of(name) == VERTEX
        return self.table if of_vertices and isinstance(self.table, np.ndarray) else None

    def _typed(self, name: str, array: np.ndarray) -> np.ndarray:
        """The array in the element type of the store, where its numbers stay as they are."""
        dtype, fill = self.type_of(name)
        if kind_of(name) != VERTEX:
            return np.ascontiguousarray(array, dtype)
        if array.dtype.itemsize == dtype.itemsize:
            return np.ascontiguousarray(array).view(dtype)
        out = array.astype(dtype, order="C")
        out[array == array.dtype.type(all_ones(array.dtype))] = fill
        return out

    def _originals(self, dense: np.ndarray, table: np.ndarray) -> Iterator[np.ndarray]:
        """Convert dense ids to those of the input, in a piece of memory that stays in the cache.

        All bits set becomes the fill value.
        """
        room = np.empty(PIECE // self.dtype.itemsize, self.dtype)
        for start in range(0, dense.size, room.size):
            some = dense[start : start + room.size]
            out = room[: some.size]
            self._relabel(some, table, out)
            yield out.view(np.uint8)

    def _relabel(self, dense: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
        nothing = dense.dtype.type(all_ones(dense.dtype))
        if is_little(dense.nbytes):
            out[:] = table.take(dense.astype(np.intp), mode="clip") if table.size else self.fill
            out[dense == nothing] = self.fill
            return
        from csaw.engine.samples.kernels import relabel

        relabel(dense, nothing, table, self.dtype.type(self.fill), out)

    def type_of(self, name: str) -> tuple[np.dtype, int]:
        """Element type and fill value of the array ``name``."""
        kind = kind_of(name)
        return (self.dtype, self.fill) if kind == VERTEX else (np.dtype(kind), 0)


def _of_dense(dense: np.dtype, vertices: int, fill: object) -> tuple[np.dtype, int]:
    """Element type and fill value of dense ids; unsigned where a store of an earlier csaw has this ``fill``."""
    if fill == all_ones(dense):
        return dense, all_ones(dense)
    return np.dtype("<i4" if dense.itemsize == 4 and vertices < 2**31 else "<i8"), -1


def _holding(ids: np.ndarray, version: int) -> np.dtype:
    """The smallest element type that a format of this version has for some ids and a value that is none of them."""
    if version == 1:
        return np.dtype("<u8" if ids.dtype == np.uint64 else "<i8")
    low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, 0)
    for name in ("<i4", "<i8"):
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max and ids.size <= limits.max:
            return np.dtype(name)
    return np.dtype("<u8")


def _unused(ids: np.ndarray, dtype: np.dtype) -> int:
    """A fill value of the type that no vertex has: -1, otherwise an end of the range of the type, otherwise the lowest
    number that is free.
    """
    limits = np.iinfo(dtype)
    if dtype.kind == "i" and (ids.size == 0 or ids.min() >= 0):
        return -1
    ends = (limits.max, limits.max - 1) if dtype.kind == "u" else (limits.min, limits.max)
    free = [end for end in ends if not (ids == end).any()]
    return free[0] if free else int(np.setdiff1d(np.arange(ids.size + 1).astype(dtype), ids)[0])


# Dense ids of the original ids that samples have.

NOTHING = -1  # dense id of a fill value
UNKNOWN = -2  # dense id of a value that no vertex has


class DenseNumbers:
    """Finds the dense ids of original ones in ``ids`` [V], the original ids by dense id."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids
        large = ids.dtype == np.uint64 and ids.max(initial=0) > np.iinfo(np.int64).max
        held = np.asarray(ids).astype(np.uint64 if large else np.int64)
        self._order = np.argsort(held, kind="stable")
        self._ordered = held[self._order]

    def of(self, wanted: np.ndarray) -> np.ndarray:
        """The dense ids, int64; UNKNOWN for an id that no vertex has."""
        if not self._ordered.size:
            return np.full(wanted.shape, UNKNOWN, np.int64)
        place = np.minimum(np.searchsorted(self._ordered, wanted), self._ordered.size - 1)
        return np.where(self._ordered[place] == wanted, self._order[place], UNKNOWN)


# The strings behind the dense ids that samples of a graph with string ids have.


def names_of(
    vertices: ArrayLike, words: Words | None, fill: int, where: Path, dtype: DTypeLike = np.object_
) -> np.ndarray:
    """The ids of the input for ``vertices`` of samples: the strings that ``words`` has for them.

    Args:
        vertices: dense ids of any shape.
        words: the string ids by dense id; None where the ids are numbers, which stay as they are.
        fill: the value of an entry without a vertex, whose string is empty; -1 has none either.
        where: the samples, for errors.
        dtype: of the strings.

    Returns:
        An array of the same shape.

    Raises:
        StoreError: a number has no string.
    """
    ids = np.asarray(vertices)
    if words is None:
        return ids
    out = np.full(ids.shape, "", dtype)
    absent = [np.asarray(nothing).astype(ids.dtype) for nothing in (fill, NOTHING)]
    present = (ids != absent[0]) & (ids != absent[1])
    check_names(where, ids[present], len(words))
    out[present] = words[ids[present]]
    return out
