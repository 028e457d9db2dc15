"""R-MAT graphs (Chakrabarti et al., SDM 2004), by default with the probabilities of Graph500.

Edge i is a function of (seed, i), the same on any machine.

Edge i reads Philox4x32-10 with key = seed and counter = (block of four levels, 0, i): 32 bits a level choose the
quadrant. With noise, as in GTgraph (Bader and Madduri 2006), a level has other chances than the one before it, by the
words of the counter (level, 1, i): each chance is multiplied by a number between 1 - noise and 1 + noise, all as
likely, and all four are divided by their sum. So does the generator of Gunrock, which has its code from GTgraph; in
GTgraph's own, with the same 5 %, both branches for b raise it. The time of edge i is drawn by the counter (0, 2, i).
"""

import numpy as np
from numba import uint32, uint64

from csaw.datasets.spec import Integers
from csaw.partition.base.compile import njit

LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
WEIGHT_KEY = np.uint64(0x57454947)  # gives weights other random numbers than edges
WORDS = 2.0**32


def edges(
    scale: int,
    edge_factor: int,
    seed: int,
    first: int,
    count: int,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    noise: float = 0.0,
    d: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the edges first .. first + count - 1, uint32 [count] each; ``d``: what a, b and c leave of 1."""
    count = max(0, min(count, (edge_factor << scale) - first))
    src, dst = np.empty(count, np.uint32), np.empty(count, np.uint32)
    below_a, below_b, below_c = (np.uint64(min(x, 1.0) * WORDS) for x in (a, a + b, a + b + c))
    if noise:
        _noisy_edges(scale, np.uint64(seed), first, a, b, c, 1 - a - b - c if d is None else d, noise, src, dst)
    else:
        _edges(scale, np.uint64(seed), first, below_a, below_b, below_c, src, dst)
    return src, dst


def symmetric_weights(src: np.ndarray, dst: np.ndarray, seed: int, kind: int | Integers = 1) -> np.ndarray:
    """Return a float32 weight for each edge, the same for u-v and v-u: a multiple of 1/256 in (0, 1].

    ``kind`` 5: the same number is brought to [1, 5). A range: an integer of it.
    """
    weights = np.empty(src.size, np.float32)
    if isinstance(kind, Integers):
        count = np.uint64(kind.high - kind.low + 1)
        _whole_weights(src, dst, np.uint64(seed), np.uint64(kind.low), count, weights)
        return weights
    _weights(src, dst, np.uint64(seed), weights)
    return from_one_to_five(weights) if kind == 5 else weights


def edge_times(seed: int, first: int, count: int, times: Integers) -> np.ndarray:
    """Return the times of the edges first .. first + count - 1: int64 [count], integers of the range."""
    drawn = np.empty(count, np.int64)
    _times(np.uint64(seed), first, times.low, np.uint64(times.high - times.low + 1), drawn)
    return drawn


def from_one_to_five(weights: np.ndarray) -> np.ndarray:
    """Multiples of 1/256 in (0, 1] as multiples of 1/64 in [1, 5), in place; arrays on a GPU too.

    Every step is exact.
    """
    weights *= 4
    weights += 1 - 1 / 64
    return weights


@njit(inline="always")
def _philox(c0, c1, c2, c3, k0, k1):
    for _ in range(10):
        p0, p1 = uint64(0xD2511F53) * c0, uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        k0, k1 = (k0 + uint64(0x9E3779B9)) & LOW, (k1 + uint64(0xBB67AE85)) & LOW
    return c0, c1, c2, c3


@njit(nogil=True)
def _edges(scale, seed, first, below_a, below_b, below_c, src, dst):
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(src.size):
        edge = uint64(first + i)
        s = d = uint32(0)
        w0 = w1 = w2 = w3 = uint64(0)
        for level in range(scale):
            if level & 3 == 0:
                w0, w1, w2, w3 = _philox(uint64(level >> 2), uint64(0), edge & LOW, edge >> SHIFT, k0, k1)
            word, w0, w1, w2 = w0, w1, w2, w3
            s = (s << uint32(1)) | uint32(word >= below_b)
            d = (d << uint32(1)) | uint32((below_a <= word < below_b) or word >= below_c)
        src[i], dst[i] = s, d


@njit(nogil=True)
def _noisy_edges(scale, seed, first, a, b, c, d, noise, src, dst):
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(src.size):
        edge = uint64(first + i)
        s = t = uint32(0)
        w0 = w1 = w2 = w3 = uint64(0)
        of_a, of_b, of_c, of_d = a, b, c, d
        for level in range(scale):
            if level & 3 == 0:
                w0, w1, w2, w3 = _philox(uint64(level >> 2), uint64(0), edge & LOW, edge >> SHIFT, k0, k1)
            word, w0, w1, w2 = w0, w1, w2, w3
            below_a, below_b = _below(of_a), _below(of_a + of_b)
            below_c = _below(of_a + of_b + of_c)
            s = (s << uint32(1)) | uint32(word >= below_b)
            t = (t << uint32(1)) | uint32((below_a <= word < below_b) or word >= below_c)
            n0, n1, n2, n3 = _philox(uint64(level), uint64(1), edge & LOW, edge >> SHIFT, k0, k1)
            of_a, of_b = _varied(of_a, noise, n0), _varied(of_b, noise, n1)
            of_c, of_d = _varied(of_c, noise, n2), _varied(of_d, noise, n3)
            total = of_a + of_b + of_c + of_d
            of_a, of_b, of_c, of_d = of_a / total, of_b / total, of_c / total, of_d / total
        src[i], dst[i] = s, t


@njit(inline="always")
def _below(chance):
    return uint64(min(chance, 1.0) * WORDS)


@njit(inline="always")
def _varied(chance, noise, word):
    return chance * (1.0 + noise * (2.0 * (np.float64(word) / WORDS) - 1.0))


@njit(nogil=True)
def _weights(src, dst, seed, weights):
    k0, k1 = seed & LOW, (seed >> SHIFT) ^ WEIGHT_KEY
    for i in range(src.size):
        u, v = uint64(min(src[i], dst[i])), uint64(max(src[i], dst[i]))
        word = _philox(uint64(0), uint64(0), u, v, k0, k1)[0]
        weights[i] = np.float32((word >> uint64(24)) + uint64(1)) / np.float32(256.0)


@njit(nogil=True)
def _whole_weights(src, dst, seed, low, count, weights):
    k0, k1 = seed & LOW, (seed >> SHIFT) ^ WEIGHT_KEY
    for i in range(src.size):
        u, v = uint64(min(src[i], dst[i])), uint64(max(src[i], dst[i]))
        word = _philox(uint64(0), uint64(0), u, v, k0, k1)[0]
        weights[i] = np.float32(low + (word * count >> SHIFT))


@njit(nogil=True)
def _times(seed, first, low, count, drawn):
    """``count``: of integers in the range, at most 2^32. Each is drawn by 64 bits, as a fraction of 1."""
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(drawn.size):
        edge = uint64(first + i)
        upper, lower, _, _ = _philox(uint64(0), uint64(2), edge & LOW, edge >> SHIFT, k0, k1)
        drawn[i] = low + np.int64((upper * count + (lower * count >> SHIFT)) >> SHIFT)


@njit(nogil=True)
def scrambled(ids, scale):
    """Replaces ids below 2^scale by their images under a fixed bijection of that range."""
    mask = (uint64(1) << uint64(scale)) - uint64(1)
    half = uint64((scale + 1) // 2)
    for i in range(ids.size):
        x = uint64(ids[i])
        for factor in (uint64(0x9E3779B97F4A7C15), uint64(0xBF58476D1CE4E5B9), uint64(0x94D049BB133111EB)):
            x = (x * factor + uint64(1)) & mask  # odd factors and shifted exclusive or can be undone
            x ^= x >> half
        ids[i] = x
