"""An array of samples, wherever it is: read when it is sliced."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from csaw.partition.errors import CsawError

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
