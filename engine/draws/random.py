"""Philox4x32-10 (Salmon et al., SC 2011): a draw is a function of its address, which addresses.py explains, and nothing
else.
"""

import math

import numpy as np
from numba import int64, uint32, uint64

from csaw.engine.draws import LEAST_BIAS
from csaw.engine.draws.addresses import FRONTIER_DRAWS, HOOK_DRAWS, ORDER_DRAWS, POOL_DRAWS, SOURCE_SLOT
from csaw.engine.draws.portable import LN2_HIGH, LN2_LOW, exponential, halves, log_of
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import empty, full

LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)


@njit(inline="always")
def philox(seed, instance, slot, draw):
    """Four words of 32 bits, each in a uint64, at one address (all arguments uint64)."""
    c0, c1, c2, c3 = draw & LOW, slot & LOW, instance & LOW, instance >> SHIFT
    k0, k1 = seed & LOW, seed >> SHIFT
    for _ in range(10):
        p0 = uint64(0xD2511F53) * c0
        p1 = uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        k0 = (k0 + uint64(0x9E3779B9)) & LOW
        k1 = (k1 + uint64(0xBB67AE85)) & LOW
    return c0, c1, c2, c3


@njit(inline="always")
def draw64(seed, instance, slot, draw):
    """64 random bits at one address."""
    w0, w1, _, _ = philox(seed, instance, slot, draw)
    return (w0 << SHIFT) | w1


@njit(inline="always")
def below(word, bound):
    """``floor(word / 2^64 * bound)`` for a bound below 2^32: an index whose chance is off by
    less than 2^-32 / bound.
    """
    return ((word >> SHIFT) * bound + (((word & LOW) * bound) >> SHIFT)) >> SHIFT


@njit(inline="always")
def below_wide(word, bound):
    """``floor(word / 2^64 * bound)`` for any 64-bit bound: the high half of the product."""
    a, b = word >> SHIFT, word & LOW
    c, d = bound >> SHIFT, bound & LOW
    middle = a * d + ((b * d) >> SHIFT)
    other = b * c + (middle & LOW)
    return a * c + (middle >> SHIFT) + (other >> SHIFT)


@njit(inline="always")
def fraction(word):
    """A float64 in [0, 1) with 53 random bits."""
    return float(word >> uint64(11)) * 2.0**-53


@njit(inline="always")
def fraction_of(high, low):
    """``fraction`` of a word by its halves, in a form that vector registers compute: both parts and their sum are
    exact.
    """
    return float(uint32(high)) * 2.0**-32 + float(uint32(low >> uint64(11))) * 2.0**-53


@njit(inline="always")
def is_bias(bias):
    """Whether a number can be a bias: 0, or a finite one from LEAST_BIAS on."""
    return bias == 0.0 or (bias >= LEAST_BIAS and bias < np.inf)


@njit
def neg_log(word):
    """``-log(u)`` for u in (0, 1) from 64 random bits, from + - * / alone: the same bits on every device."""
    return neg_log_of(float(word >> uint64(12)) + 0.5)


@njit(inline="always")
def neg_log_of(x):
    """``-log(x 2^-52)`` for a normal float x above 0, in a form that vector registers compute."""
    mantissa, scale = halves(x)
    rest, scale = log_of(mantissa, scale)
    scale -= 52.0
    return -((scale * LN2_HIGH + rest) + scale * LN2_LOW)


@njit(inline="always")
def triangle(n):
    """1 + 2 + ... + n, of n below 2^32."""
    return (n >> 1) * (n + 1) if n % 2 == 0 else n * ((n + 1) >> 1)


@njit
def triangular(word, count):
    """A number below ``count``, which is below 2^32, with bias count - k for number k."""
    target = int64(below_wide(word, uint64(triangle(count))))
    from_end = int64((math.sqrt(8.0 * float(target) + 1.0) - 1.0) / 2.0)
    while triangle(from_end) > target:
        from_end -= 1
    while triangle(from_end + 1) <= target:
        from_end += 1
    return count - 1 - from_end


@njit(inline="always")
def geometric(word, scale):
    """A number from 0 on with bias exp(-k / scale) for number k.

    Such a number modulo n has the same biases among the numbers below n, because each n numbers have the biases of the
    n before them times exp(-n / scale).
    """
    return int64(neg_log(word) * scale)


@njit
def hook_word(seed, instance, step, site):
    """Return the random word that ``e.random()`` and ``e.random_vertex()`` read at their call site."""
    return draw64(uint64(seed), uint64(instance), uint64(step), HOOK_DRAWS + uint64(site))


@njit
def distinct(words, bound, out):
    """Distinct integers below ``bound`` to ``out``, one a word, every subset equally likely (Floyd: Bentley, CACM
    30(9), 1987).
    """
    count = words.size
    capacity = 4
    while capacity < 2 * count:
        capacity *= 2
    mask = uint64(capacity - 1)
    taken = full(capacity, -1, np.int64)
    for j in range(count):
        top = bound - count + j
        value = np.int64(below_wide(words[j], uint64(top + 1)))
        for candidate in (value, top):
            cell = (uint64(candidate) * uint64(0x9E3779B97F4A7C15)) & mask
            while taken[cell] != -1 and taken[cell] != candidate:
                cell = (cell + uint64(1)) & mask
            if taken[cell] == -1:
                taken[cell] = candidate
                out[j] = candidate
                break


@njit
def distinct_below(seed, instance, slot, bound, count):
    """``count`` distinct integers below ``bound``, every subset equally likely."""
    words, out = empty(count, np.uint64), empty(count, np.int64)
    for j in range(count):
        words[j] = draw64(uint64(seed), uint64(instance), uint64(slot), uint64(j))
    distinct(words, bound, out)
    return out


@njit(inline="always")
def pool_word(seed, instance, slot, number):
    """64 random bits of a number that is drawn from a pool of several vertices."""
    w0, w1, w2, w3 = philox(seed, instance, slot, POOL_DRAWS + (number >> uint64(1)))
    return (w2 << SHIFT) | w3 if number & uint64(1) else (w0 << SHIFT) | w1


@njit(inline="always")
def frontier_word(seed, instance, depth, number):
    """64 random bits of a pick from a pool of vertices that wait, which may be picked again."""
    w0, w1, w2, w3 = philox(seed, instance, depth, FRONTIER_DRAWS + (number >> uint64(1)))
    return (w2 << SHIFT) | w3 if number & uint64(1) else (w0 << SHIFT) | w1


@njit
def draw_subsets(seed, instance, slot, bound, first, out):
    """out[i] [size]: distinct numbers below bound[i], every subset equally likely, by the words from number ``first``
    on.
    """
    words = empty(out.shape[1], np.uint64)
    for i in range(instance.size):
        for j in range(words.size):
            words[j] = pool_word(seed, uint64(instance[i]), uint64(slot[i]), uint64(first + j))
        distinct(words, bound[i], out[i])


@njit
def words(seed, instance, slot, draw):
    """The four words as an array, for known-answer tests."""
    w = philox(uint64(seed), uint64(instance), uint64(slot), uint64(draw))
    return np.array([uint32(w[0]), uint32(w[1]), uint32(w[2]), uint32(w[3])], np.uint32)


@njit
def order_words(seed, first, counts):
    """uint64 [sum of counts]: 64 random bits for each of counts[i] edges of instance first + i, for their order."""
    total, at = 0, 0
    for count in counts:
        total += count
    out = empty(total, np.uint64)
    for i in range(counts.size):
        for j in range(counts[i]):
            out[at] = draw64(seed, uint64(first + i), SOURCE_SLOT, ORDER_DRAWS + uint64(j))
            at += 1
    return out


@njit
def uniform_vertices(seed, first, instances, size, vertices):
    """[instances, size] vertices, each drawn independently: the sources of a frontier."""
    out = np.empty((instances, size), np.int64)
    for i in range(instances):
        for j in range(size):
            word = draw64(seed, uint64(first + i), SOURCE_SLOT, uint64(j))
            out[i, j] = np.int64(below_wide(word, uint64(vertices)))
    return out


# Draws of many instances at once, each by random words of its own.


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
