"""Strings as UTF-8 text and offsets, so that a long string takes no room of the others.

Bytes that are not UTF-8 become surrogates in a ``str``, as with Python's ``surrogateescape``.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError

ERRORS = "surrogateescape"


class Words:
    """The string ids of a graph by dense id. Several of them are given as an array of ``str`` of dtype object.

    ``offsets`` int64 [n + 1] rise from 0 to the size of ``text``, uint8.
    """

    dtype = np.dtype(object)  # of what __array__ gives: a look at the dtype tells them from numbers

    def __init__(self, offsets: np.ndarray, text: np.ndarray) -> None:
        self.offsets, self.text = offsets, text

    @classmethod
    def of(cls, words: Iterable[object]) -> Self:
        """Make words from bytes, ``str``, or anything that ``str`` takes.

        OptionError for a ``str`` that UTF-8 cannot hold.
        """
        encoded = [word if isinstance(word, bytes) else _encoded(word) for word in words]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(encoded), np.uint8))

    def checked(self, path: Path) -> Self:
        """These words; StoreError naming ``path`` if the offsets do not fit the text."""
        ends = self.offsets
        if ends.size == 0 or ends[0] != 0 or ends[-1] != self.text.size or (ends[1:] < ends[:-1]).any():
            raise StoreError(
                f"{path}: expected offsets of string ids that increase from 0 to {self.text.size:,}, the bytes of "
                "their text; its bytes have changed; make the store again"
            )
        return self

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __iter__(self) -> Iterator[str]:
        return (str(word, "utf-8", ERRORS) for word in self.encoded())

    @overload
    def __getitem__(self, places: int | np.integer) -> str: ...

    @overload
    def __getitem__(self, places: np.ndarray | Sequence[int]) -> np.ndarray: ...

    def __getitem__(self, places: ArrayLike) -> str | np.ndarray:
        """A ``str`` for a number, an array of them for an array of numbers; equal ones are one object."""
        places = np.asarray(places)
        if places.ndim == 0:
            return next(iter(self.take(places[None])))
        used, number = np.unique(places, return_inverse=True)
        return np.asarray(self.take(used))[number.reshape(places.shape)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        out = np.empty(len(self), object)
        out[:] = list(self)
        return out

    def encoded(self, places: np.ndarray | None = None) -> Iterator[memoryview]:
        """The words as they are stored, in order or at ``places``."""
        text, starts, stops = self.text.data, self.offsets[:-1], self.offsets[1:]
        if places is not None:
            starts, stops = starts[places], stops[places]
        return (text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True))

    def sizes(self) -> np.ndarray:
        """The bytes of each word, int64 [n]."""
        return np.diff(self.offsets)

    def take(self, places: np.ndarray) -> "Words":
        """The words at ``places``, in that order."""
        return Words.of(map(bytes, self.encoded(places)))

    def find(self, wanted: Iterable[object]) -> list[int]:
        """The place of each wanted word; -1 where there is none."""
        keys = [_key(word) for word in wanted]
        places = dict.fromkeys(keys, -1)
        likely = np.flatnonzero(np.isin(self.sizes(), np.unique([len(key) for key in places if key is not None])))
        for place, word in zip(likely.tolist(), map(bytes, self.encoded(likely)), strict=True):
            if word in places:
                places[word] = place
        return [places[key] for key in keys]


def _encoded(word: object) -> bytes:
    key = _key(word)
    if key is None:
        raise OptionError(f"vertex id {quoted(word)}: expected valid UTF-8 text, found half of a surrogate pair")
    return key


def _key(word: object) -> bytes | None:
    """The bytes of a word; None for one that UTF-8 cannot hold."""
    try:
        return str(word).encode("utf-8", ERRORS)
    except UnicodeEncodeError:
        return None
