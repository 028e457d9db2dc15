"""An array of samples, wherever it is: read when it is sliced."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

SCATTERED = 64  # rows that are further apart than this are read one by one


class Array:
    """An array with the slices of NumPy, of which ranges of rows are brought when they are asked for."""

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

    def check(self, index: int) -> None:
        """Compare a file with its checksum, unless this has been done."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows = self[key[0]]
            return rows[key[1:]] if isinstance(key[0], int | np.integer) else rows[(slice(None), *key[1:])]
        if isinstance(key, int | np.integer):
            row = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= row < len(self):
                raise IndexError(f"row {key} of {len(self)}")
            return self._range(row, row + 1)[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self._range(start, max(start, stop)) if step == 1 else self[np.arange(start, stop, step)]
        rows = np.asarray(key)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        rows = np.where(rows < 0, rows + len(self), rows)
        if rows.size and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"rows {rows.min()} to {rows.max()} of {len(self)}")
        return self._gather(rows)

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
