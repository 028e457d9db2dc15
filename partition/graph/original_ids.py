"""The ids that vertices have in the input, by dense id, and dense ids of those: words are found by a table, integers by
a search among those of the graph, which increase unless its vertices were renumbered.
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np

from csaw.partition.arrays.loader import AGAIN, StoredArray, map_array, read_array
from csaw.partition.arrays.uncompared import read_uncompared
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import quoted
from csaw.partition.base.read_only import frozen
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.attributes import IDENTITY, STRING

IDS_AT_A_TIME = 1 << 21


class StoredIds:
    """Gives a graph store the original ids of its vertices; see GraphStore for the attributes."""

    path: Path
    vertices: int
    id_dtype: np.dtype
    id_kind: str
    partitioner: str
    _maps_ids = False
    ids_left: np.ndarray | None = None  # checksums of blocks of the ids in memory that are still to be compared

    def array(self, name: str) -> StoredArray:
        """An array of the store by its path in it, to be read."""
        raise NotImplementedError

    @property
    def id_bytes(self) -> int:
        """Bytes of memory that the original ids take at most, unless they are mapped: numbers as they are stored, and
        in four bytes as they are written.
        """
        if self.id_kind == IDENTITY:
            return 0
        if self.id_kind != STRING:
            return self.vertices * (np.dtype(self.id_kind).itemsize + 4 + 8 * (self.partitioner != "range"))
        return self.array("vertex_ids").elements + 8 * (self.vertices + 1)

    def map_ids(self) -> None:
        """From now on, leave the original ids on disk and let the system read those that are used, where their files
        allow it.
        """
        self._maps_ids = True
        self._forget()

    @property
    def ids_store(self) -> "StoredIds":
        """The store that the original ids are read from."""
        return self

    def leave_ids(self) -> None:
        """Read original ids that are numbers, and leave it to ``compare_ids``, or to a GPU, to compare their blocks.

        Other ids are read when they are needed, and compared then.
        """
        if self.id_kind in (IDENTITY, STRING) or self._maps_ids or "id_arrays" in vars(self):
            return
        array, ids = self.array("vertex_ids"), np.empty(self.vertices, np.dtype(self.id_kind))
        self.ids_left = read_uncompared(array, ids)
        if self.ids_left is None:
            return
        self.id_arrays = [ids]
        if self.partitioner == "range" and (ids[1:] <= ids[:-1]).any():
            self.compare_ids()
            raise StoreError(f"{array.path}: expected increasing ids, found others; {AGAIN}")

    def compare_ids(self) -> None:
        """Read the original ids again if they have been left, and compare them; StoreError if they have changed."""
        if self.ids_left is None:
            return
        array, (ids,) = self.array("vertex_ids"), self.id_arrays
        again = np.empty_like(ids)
        read_array(array, again)
        if not np.array_equal(again, ids):
            raise StoreError(f"{array.path}: its ids have changed while they were used; run the command again")
        self.ids_left = None

    def forget_ids(self) -> None:
        """Forget original ids that were left and have not been compared."""
        if self.ids_left is not None:
            self.ids_left = None
            self._forget()

    def _forget(self) -> None:
        for name in ("id_arrays", "_ids"):
            vars(self).pop(name, None)

    @cached_property
    def id_arrays(self) -> list[np.ndarray]:
        """Original ids as they are stored: no array, one array of numbers, or the bytes of the strings and their
        offsets.
        """
        if self.id_kind == IDENTITY:
            return []
        if self.id_kind != STRING:
            array = self.array("vertex_ids")
            return [self._read_ids(array, np.dtype(self.id_kind), self.vertices, self.partitioner == "range")]
        text = self.array("vertex_ids")
        offsets = self._read_ids(self.array("vertex_id_offsets"), np.dtype(np.int64), self.vertices + 1)
        return [self._read_ids(text, np.dtype(np.uint8), text.elements), offsets]

    def _read_ids(self, array: StoredArray, dtype: np.dtype, count: int, rising: bool = False) -> np.ndarray:
        """An array of ids, read and checked; StoreError where ids do not rise.

        Arrays that are mapped are checked a piece at a time before.
        """
        mapped = map_array(array, dtype) if self._maps_ids else None
        out = np.empty(count if mapped is None else min(count, IDS_AT_A_TIME), dtype)
        last = out[:0]
        for first in range(0, max(count, 1), max(out.size, 1)):
            piece = out[: min(out.size, count - first)]
            read_array(array, piece, first=first, elements=count)
            if rising and ((piece[1:] <= piece[:-1]).any() or (piece[:1] <= last).any()):
                raise StoreError(f"{array.path}: expected increasing ids, found others; {AGAIN}")
            last = piece[-1:].copy()
        return out if mapped is None else mapped

    @cached_property
    def _ids(self) -> np.ndarray | Words | None:
        arrays = self.id_arrays
        if self.id_kind == STRING:
            return Words(arrays[1], arrays[0]).checked(self.path)
        return arrays[0] if arrays else None

    def stored_ids(self) -> np.ndarray | Words | None:
        """Original ids by dense id as they are stored: like :meth:`vertex_ids`, but strings as :class:`Words`."""
        return self._ids

    def vertex_ids(self) -> np.ndarray | None:
        """Original ids by dense id, int64, uint64, or ``str`` in an array of dtype object; None if they are the dense
        ids. They ascend unless a partitioner renumbered the vertices. Numbers are a read-only view of the graph's
        array.
        """
        ids = self.stored_ids()
        return np.asarray(ids) if isinstance(ids, Words) else None if ids is None else frozen(ids)

    @reading({"dense": arguments.ids})
    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        """Return the ids of the input for dense ids, such as those in samples.

        Args:
            dense: vertex numbers of any shape; -1 means no vertex.

        Returns:
            An array of the same shape: int64, uint64, or ``str`` of dtype object. No vertex is -1, or "" for words.

        Raises:
            OptionError: a number is not a vertex, or an entry is -1 and -1 is an id of the input.
        """
        ids, at = self.stored_ids(), np.asarray(dense, np.int64)
        none = at == -1
        if (wrong := at[~none & ((at < 0) | (at >= self.vertices))]).size:
            raise OptionError(
                f"vertex {wrong[0]}: expected numbers of vertices from 0 to {self.vertices - 1}, or -1 for none"
            )
        if ids is None or not none.any():
            return at if ids is None else ids[at]
        out = np.full(at.shape, "", object)
        if isinstance(ids, np.ndarray):
            if ids.dtype.kind == "u" or ids.min(initial=0) < 0:
                raise OptionError(
                    f"vertex -1: the ids of {self.path} use every number, so none can mean no "
                    "vertex; leave such entries out"
                )
            out = np.full(at.shape, -1, ids.dtype)
        out[~none] = ids[at[~none]]
        return out

    @reading({"originals": arguments.vertices})
    def dense_ids(self, originals: Iterable[int | str]) -> np.ndarray:
        """Dense ids, of id_dtype, for ids of the input; OptionError names the first that the graph does not have."""
        ids = self._ids
        if (
            not isinstance(ids, Words)
            and isinstance(originals, list)
            and any(isinstance(one, str) for one in originals)
        ):
            raise OptionError(f"originals: expected integers, which ids of {self.path} are, found {quoted(originals)}")
        if isinstance(originals, np.ndarray) and originals.dtype.kind in "iu" and not isinstance(ids, Words):
            at, there = places_of_integers(ids, self._order, self.vertices, originals)
            if there.all():
                return at.astype(self.id_dtype)
            originals, found = originals[~there][:1].tolist(), [-1]
        else:
            originals = originals.tolist() if isinstance(originals, np.ndarray) else originals
            found = places(ids, self._order, self.vertices, list(originals))
        for original, dense in zip(originals, found, strict=True):
            if dense < 0:
                raise OptionError(
                    f"vertex {original} is not in {self.path}; it has {self.vertices} vertices (see csaw info)"
                )
        return np.array(found, self.id_dtype)

    def find_ids(self, wanted: np.ndarray | Words) -> tuple[np.ndarray, np.ndarray]:
        """Find the dense id, int64, of each of some ids of the input, and whether the graph has it, bool.

        ``wanted``: integers, or words where the graph has words.
        """
        ids = self._ids
        if isinstance(ids, Words):
            at = np.array(ids.find(wanted), np.int64).reshape(len(wanted))
            return at, at >= 0
        assert isinstance(wanted, np.ndarray)
        at, there = places_of_integers(ids, self._order, self.vertices, wanted)
        return at.astype(np.int64), there

    @cached_property
    def _order(self) -> np.ndarray | None:
        """Dense ids in the order of rising original ids; None where those rise already, or are words."""
        rise = self.partitioner == "range" or self.id_kind == STRING
        return None if rise else np.argsort(self.id_arrays[0], kind="stable")


def places(
    ids: np.ndarray | Words | None, order: np.ndarray | None, vertices: int, originals: list[int | str]
) -> list[int]:
    """Find the dense id of each of ``originals``; -1 for one that the graph does not have.

    ``ids``: original ids by dense id; None where they are the dense ones, 0 to ``vertices`` - 1. ``order``: of
    integers, the dense ids in the order of rising ids; None where these rise already.
    """
    if isinstance(ids, Words):
        return ids.find(originals)
    if ids is None:
        return [int(v) if 0 <= int(v) < vertices else -1 for v in originals]
    return [_place(ids, order, int(v)) for v in originals]


def places_of_integers(
    ids: np.ndarray | None, order: np.ndarray | None, vertices: int, originals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the dense id of each of an array of integers, and whether the graph has it, which is bool.

    ``ids`` and ``order`` as for :func:`places`.
    """
    if ids is None or not ids.size:
        return originals, (originals >= 0) & (originals < vertices)
    limits = np.iinfo(ids.dtype)
    there = (originals >= int(limits.min)) & (originals <= int(limits.max))
    wanted = originals.astype(ids.dtype)  # those beyond its limits become others, which are not there
    at = np.minimum(np.searchsorted(ids, wanted, sorter=order), ids.size - 1)
    at = at if order is None else order[at]
    return at, there & (ids[at] == wanted)


def _place(ids: np.ndarray, order: np.ndarray | None, original: int) -> int:
    limits = np.iinfo(ids.dtype)
    if not limits.min <= original <= limits.max:
        return -1
    place = int(np.searchsorted(ids, ids.dtype.type(original), sorter=order))
    if place == ids.size:
        return -1
    place = place if order is None else int(order[place])
    return place if int(ids[place]) == original else -1
