"""An array of samples, wherever it is: read when it is sliced. Its dense ids as bits, the value for no vertex and
unsigned numbers for kernels, and checks of its numbers as they are read.

Lengths, bounds, counts and names that another program wrote must not mislead or crash.
"""

from abc import abstractmethod
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike

from csaw.engine.api.algorithm import MOST_STEPS
from csaw.engine.samples.files import refuse
from csaw.partition.base.read_only import thawed
from csaw.partition.errors import CsawError
from csaw.partition.graph.given_arrays import refuse_masked

SCATTERED = 64  # rows that are further apart than this are read one by one


class Array:
    """An array with the slices of NumPy, of which ranges of rows are brought when they are asked for."""

    SHOWN = 3  # rows in the description

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._shape, self.dtype = shape, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def chunks(self) -> int:
        """How many files it has, which :meth:`check` compares with their checksums."""
        return 0

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        """``<int32 [34, 11]: [[0 2 ... 5] ...]>``: the type, the shape, and the first rows where that draws nothing."""
        shape = ", ".join(f"{size:,}" for size in self.shape)
        return f"<{self.dtype} [{shape}]{self._preview()}>"

    def _preview(self) -> str:
        try:
            first = self[: self.SHOWN]
        except CsawError:  # of a damaged store, whose error comes when it is read
            return ""
        some = np.array2string(first, threshold=8, edgeitems=3, max_line_width=2**30).replace("\n", "")
        return f": {some[:-1]} ...]" if len(self) > self.SHOWN else f": {some}"

    def check(self, index: int) -> None:
        """Compare a file with its checksum, unless this has been done."""

    def __getitem__(self, key: Any) -> Any:
        for one in key if isinstance(key, tuple) else (key,):
            refuse_masked("rows", one)
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) and key else (key, ())
        if first is Ellipsis or first is None or isinstance(first, bool | np.bool_ | tuple):
            return self[:][key]
        if isinstance(first, int | np.integer):
            row = int(first) + (len(self) if first < 0 else 0)
            if not 0 <= row < len(self):
                raise IndexError(f"row {first} of {len(self)}")
            return self._range(row, row + 1)[(0, *rest)]
        if isinstance(first, slice):
            start, stop, step = first.indices(len(self))
            rows = np.arange(start, stop, step)
            found = self._range(start, max(start, stop)) if step == 1 else self._gather(rows)
            return found[(slice(None), *rest)] if rest else found
        index = self._rows(np.asarray(first, np.int64) if np.size(first) == 0 else np.asarray(first))
        if index is None:
            return self[:][key]
        found, places = self._gather(index.ravel()), np.arange(index.size).reshape(index.shape)
        return found[(places, *rest)]

    def _rows(self, found: np.ndarray) -> np.ndarray | None:
        """The rows that an array selects; None for a truth an element. IndexError for what selects none."""
        if found.dtype == bool and found.ndim != 1:
            return None
        if found.dtype == bool:
            if found.size != len(self):
                raise IndexError(f"expected {len(self)} bools, one per row, found {found.size}")
            return np.flatnonzero(found)
        if found.dtype.kind not in "iu":
            raise IndexError(f"expected row numbers, or one bool per row, found {found.dtype}")
        if found.size and not -len(self) <= int(found.min()) <= int(found.max()) < len(self):
            raise IndexError(f"rows {found.min()} to {found.max()} of {len(self)}")
        rows = found.astype(np.int64)
        return np.where(rows < 0, rows + len(self), rows)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        whole: np.ndarray = self[:]
        return whole if dtype is None else whole.astype(dtype)

    @abstractmethod
    def _range(self, start: int, stop: int) -> np.ndarray:
        """The rows start .. stop - 1."""

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        """Some rows, in any order: those that are near each other are brought together."""
        out = np.empty((rows.size, *self.shape[1:]), self.dtype)
        order = np.argsort(rows, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(rows[order]) > SCATTERED) + 1):
            if some.size:
                first = int(rows[some[0]])
                out[some] = self._range(first, int(rows[some[-1]]) + 1)[rows[some] - first]
        return out


def all_ones(dense: np.dtype) -> int:
    """The dense id that stands for nothing."""
    return int(np.array(-1).astype(dense)[()])


@overload
def bits(ids: int | np.integer, dtype: np.dtype | None = None) -> np.unsignedinteger: ...


@overload
def bits(ids: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray: ...


def bits(ids: int | np.integer | np.ndarray, dtype: np.dtype | None = None) -> np.unsignedinteger | np.ndarray:
    """Ids, or one id, as unsigned numbers of the same bits: kernels are compiled for two element types then, not for
    four.
    """
    held = thawed(np.asarray(ids, dtype))
    return held.view(f"u{held.dtype.itemsize}")[()]


def check_minibatches(where: Path, arrays: dict[str, np.ndarray]) -> None:
    """Raise StoreError unless the arrays of mini-batches agree: counts of hops with those of nodes, edges and seeds,
    and numbers of nodes with their number.
    """
    nodes, edges = arrays["node_counts"], arrays["edge_counts"]
    for name, counts in (("hop_nodes", nodes), ("hop_edges", edges)):
        if (arrays[name] < 0).any() or (arrays[name].sum(axis=1) != counts).any():
            refuse(where / name, "counts of hops that sum up to those of their mini-batch", "others")
    if (arrays["hop_nodes"][:, 0] != arrays["seed_counts"]).any():
        refuse(where / "hop_nodes", "a first hop of all seeds", "another number of them")
    most = np.repeat(nodes, edges)
    for name in ("row", "col"):
        if ((arrays[name] < 0) | (arrays[name] >= most)).any():
            refuse(where / name, "numbers of nodes of the same mini-batch", "others")


def check_lengths(where: Path, lengths: np.ndarray, longest: int) -> None:
    """Raise StoreError unless all ``lengths`` of walks are 0 to ``longest`` steps."""
    low, high = lengths.min(initial=0), lengths.max(initial=0)
    if low < 0 or high > longest:
        refuse(where, f"lengths from 0 to {longest}", low if low < 0 else high)


def check_walk_pointer(where: Path, pointer: np.ndarray) -> None:
    """Raise StoreError unless each walk between two bounds has from one vertex to the most that a walk can have."""
    sizes = np.diff(pointer)
    low, high = sizes.min(initial=1), sizes.max(initial=1)
    if low < 1 or high > MOST_STEPS + 1:
        refuse(where, f"walks of 1 to {MOST_STEPS + 1:,} vertices", low if low < 1 else high)


def check_pointer(where: Path, pointer: np.ndarray, size: int, *, first: bool, last: bool) -> None:
    """Raise StoreError unless a part of an array of bounds rises within 0 .. ``size``.

    ``first``, ``last``: whether it has the first bound, which is 0, or the last, ``size``.
    """
    falls = (np.diff(pointer) < 0).any()
    inside = pointer[0] >= 0 and pointer[-1] <= size
    if falls or not inside or (first and pointer[0] != 0) or (last and pointer[-1] != size):
        refuse(where, f"bounds that increase from 0 to {size:,}", f"{pointer[0]} to {pointer[-1]}")


def check_names(where: Path, ids: np.ndarray, names: int) -> None:
    """Raise StoreError unless all ``ids`` are below ``names``, the number of string ids."""
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < names:
        refuse(where, f"vertices from 0 to {names - 1}, which have names", ids.max())
