"""Turning rows of an edge list into text, as fast as gzip compresses it."""

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import copy

DIGITS = 20  # of the largest number
UNITS = [repr(k / 256).removeprefix("0").encode() for k in range(256)]
WIDTH = max(map(len, UNITS))
SPELLED = np.array([np.frombuffer(text.ljust(WIDTH), np.uint8) for text in UNITS])  # of 1/256, behind a whole number
LENGTHS = np.array([len(text) for text in UNITS])
NONE = np.empty(0, np.int64)


def rows_as_text(
    src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None = None
) -> memoryview:
    """The lines ``src TAB dst [TAB weight] [TAB time]`` of edges with ids and times from 0 on and weights that are
    multiples of 1/256.
    """
    out = np.empty(src.size * (4 * DIGITS + WIDTH + 4), np.uint8)
    units = NONE if weights is None else (weights.astype(np.float64) * 256).astype(np.int64)
    return out[: _write(src, dst, units, NONE if times is None else times, SPELLED, LENGTHS, out)].data


@njit(nogil=True)
def _write(src, dst, units, times, spelled, lengths, out):
    at = 0
    for i in range(src.size):
        at = _number(out, at, src[i])
        out[at] = 9
        at = _number(out, at + 1, dst[i])
        if units.size:
            out[at] = 9
            at = _number(out, at + 1, units[i] >> 8)
            part = units[i] & 255
            copy(spelled[part, : lengths[part]], out[at:])
            at += lengths[part]
        if times.size:
            out[at] = 9
            at = _number(out, at + 1, times[i])
        out[at] = 10
        at += 1
    return at


@njit(nogil=True)
def _number(out, at, value):
    end = at + 1
    rest = value // 10
    while rest:
        end += 1
        rest //= 10
    for k in range(end - 1, at - 1, -1):
        out[k] = 48 + value % 10
        value //= 10
    return end
