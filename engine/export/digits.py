"""Compiled loops that write integers, four digits at a time from a table."""

import numpy as np

from csaw.partition.base.compile import njit

MINUS, ZERO = 45, 48
DIGITS = np.frombuffer("".join(f"{number:04d}" for number in range(10_001)).encode(), np.uint8)
E4, E8 = np.uint64(10**4), np.uint64(10**8)


@njit(inline="always")
def _four(value, skip, digits, out, at):
    """Write a number below 10^4 without its first ``skip`` digits; up to three bytes after it are no part of it."""
    cell = np.int64(value) * 4 + skip
    a, b, c, d = digits[cell], digits[cell + 1], digits[cell + 2], digits[cell + 3]
    out[at], out[at + 1], out[at + 2], out[at + 3] = a, b, c, d
    return at + 4 - skip


@njit(inline="always")
def _first(value, digits, out, at):
    """Write a number below 10^8, with which a number begins."""
    high = value // E4
    lead = high if high else value
    skip = (lead < np.uint64(1000)) + (lead < np.uint64(100)) + (lead < np.uint64(10))
    at = _four(lead, skip, digits, out, at)
    return _four(value - high * E4, 0, digits, out, at) if high else at


@njit(inline="always")
def _eight(value, digits, out, at):
    """Write a number below 10^8 in eight digits."""
    high = value // E4
    return _four(value - high * E4, 0, digits, out, _four(high, 0, digits, out, at))


@njit(inline="always")
def decimal(value, digits, out, at):
    """Write a uint64 in decimal at ``at``, of which 20 bytes are free; four digits at a time."""
    if value < E8:
        return _first(value, digits, out, at)
    high = value // E8
    if high < E8:
        at = _first(high, digits, out, at)
    else:
        at = _eight(high % E8, digits, out, _first(high // E8, digits, out, at))
    return _eight(value % E8, digits, out, at)


@njit
def number(value, digits, out, at):
    """``decimal`` that is compiled once: inlined at many places, it would take Numba a minute."""
    return decimal(value, digits, out, at)


@njit
def signed(value, digits, out, at):
    """Write an int64."""
    if value < 0:
        out[at] = MINUS
        return number(~np.uint64(value) + np.uint64(1), digits, out, at + 1)
    return number(np.uint64(value), digits, out, at)


@njit
def places(value, count, out, at):
    """Write the last ``count`` digits of a number."""
    for place in range(at + count - 1, at - 1, -1):
        out[place] = ZERO + value % np.uint64(10)
        value //= np.uint64(10)
    return at + count
