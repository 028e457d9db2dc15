"""NumPy: walks as they are stored, [instances, walk_length + 1]; edges as records (instance, src, dst, depth).

All string ids of a file are as wide as the longest, so long ones are refused.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.check import check_names
from csaw.engine.samples.edges import iter_edges
from csaw.engine.samples.sizes import edges_of
from csaw.partition.errors import OptionError
from csaw.partition.words import Words

SUFFIXES = (".npy",)
WIDEST = 1024  # characters of a string id
PIECE = 1 << 26  # bytes made at a time


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    if samples.layout == "walks":
        kind = _kind(samples, samples.walks.dtype)
        _header(file, samples.walks.shape, kind)
        for start, arrays in samples.iter_groups():
            walks = arrays["walks"]
            for rows in _pieces(len(walks), kind.itemsize * walks.shape[1]):
                file.write(_named(samples, walks[rows], kind).tobytes())
            update(start + len(walks))
        return
    vertex = _kind(samples, samples[{"hops": "hop_0", "subgraphs": "src"}[samples.layout]].dtype)
    record = np.dtype([("instance", "<i8"), ("src", vertex), ("dst", vertex), ("depth", "<i4")])
    total = sum(int(edges_of(arrays, samples.fill).sum()) for _, arrays in samples.iter_groups())
    _header(file, (total,), record)
    for done, edges in iter_edges(samples):
        for rows in _pieces(edges["src"].size, record.itemsize):
            table = np.empty(edges["src"][rows].size, record)
            for column, values in edges.items():
                table[column] = _named(samples, values[rows], vertex) if column in ("src", "dst") else values[rows]
            file.write(table.tobytes())
        update(done)


def _pieces(rows: int, row_bytes: int) -> list[slice]:
    step = max(1, PIECE // max(row_bytes, 1))
    return [slice(first, first + step) for first in range(0, rows, step)]


def _kind(samples: Samples, stored: np.dtype) -> np.dtype:
    """The element type of a vertex: the stored one, or a string as wide as the longest; OptionError where that is too wide."""
    if samples.words is None:
        return stored
    width = _width(samples.words)
    if width > WIDEST:
        raise OptionError(
            f"an .npy file gives every string id the room of the longest, which has {width:,} characters, and {WIDEST:,} is the most; "
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


def _named(samples: Samples, ids: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Stored ids, or the strings behind them; the empty string for fill."""
    if samples.words is None:
        return np.ascontiguousarray(ids)
    out = np.zeros(ids.shape, kind)
    present = ids != ids.dtype.type(samples.fill)
    check_names(samples.path, ids[present], len(samples.words))
    out[present] = samples.words[ids[present]]
    return out


def _header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype) -> None:
    description = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_2_0(file, {"shape": shape, "fortran_order": False, "descr": description})
