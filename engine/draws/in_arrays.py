"""Draws of many instances at once, each by random words of its own."""

import numpy as np
from numba import int64, uint64

from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.engine.draws.portable import exponential
from csaw.engine.draws.random import SHIFT, below_wide, fraction, geometric, philox, triangular
from csaw.partition.base.compile import njit


@njit
def source_words(seed, first, words):
    """words[i] [2]: the random bits that choose the source of instance first + i."""
    for i in range(words.shape[0]):
        w0, w1, w2, w3 = philox(seed, uint64(first + i), SOURCE_SLOT, uint64(0))
        words[i, 0], words[i, 1] = (w0 << SHIFT) | w1, (w2 << SHIFT) | w3


@njit
def numbers_below(words, bounds):
    """int64 [n]: for each word a number below its bound."""
    out = np.empty(words.size, np.int64)
    for i in range(words.size):
        out[i] = int64(below_wide(words[i], uint64(bounds[i])))
    return out


@njit
def fractions(words):
    """float64 [n]: ``fraction`` of each word."""
    out = np.empty(words.size)
    for i in range(words.size):
        out[i] = fraction(words[i])
    return out


@njit
def triangulars(words, count):
    """int64 [n]: ``triangular`` of each word."""
    out = np.empty(words.size, np.int64)
    for i in range(words.size):
        out[i] = triangular(words[i], count)
    return out


@njit
def geometrics(words, scale):
    """int64 [n]: ``geometric`` of each word."""
    out = np.empty(words.size, np.int64)
    for i in range(words.size):
        out[i] = geometric(words[i], scale)
    return out


@njit
def lasting(apart, scale):
    """float64 [n]: e^(-a / scale) for each of the times ``apart``, uint64."""
    out = np.empty(apart.size)
    for i in range(apart.size):
        out[i] = exponential(-(float(apart[i]) / scale))
    return out
