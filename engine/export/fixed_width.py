"""Ids as elements of NumPy arrays, all of one width."""

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.errors import OptionError

WIDEST = 1024  # characters of a string id


def kind_of(stored: np.dtype, words: Words | None) -> np.dtype:
    """The element type of a vertex: the stored one, or a string as wide as the longest.

    OptionError where that is too wide.
    """
    if words is None:
        return stored
    width = _width(words)
    if width > WIDEST:
        raise OptionError(
            f"in an .npy file, every string id takes the room of the longest one, which has {width:,} "
            f"characters, and {WIDEST:,} are allowed; "
            f"export to .parquet or .txt"
        )
    return np.dtype(f"<U{max(width, 1)}")


def _width(words: Words) -> int:
    """Characters of the longest word."""
    sizes = words.sizes()
    longest = int(sizes.max(initial=0))
    if longest > 4 * WIDEST:  # UTF-8 has at most four bytes a character
        return len(words[int(sizes.argmax())])
    return max(map(len, words), default=0)
