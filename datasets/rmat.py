"""R-MAT graphs (Chakrabarti et al., SDM 2004) with GTgraph's probabilities: edge i is a function of (seed, i), the same on any machine.

Edge i reads Philox key = seed, counter = (level block, 0, i): 32 bits a level choose the quadrant.
"""

import numpy as np
from numba import uint32, uint64

from csaw.partition.compile import njit

A, B, C, D = 0.57, 0.19, 0.19, 0.05
LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


@njit(inline="always")
def _philox(c0, c2, c3, k0, k1):
    c1 = uint64(0)
    for _ in range(10):
        p0, p1 = uint64(0xD2511F53) * c0, uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        k0, k1 = (k0 + uint64(0x9E3779B9)) & LOW, (k1 + uint64(0xBB67AE85)) & LOW
    return c0, c1, c2, c3


@njit(nogil=True)
def edges(scale, seed, first, count, below_a, below_b, below_c, src, dst):
    """Edges first .. first + count - 1 into uint32 ``src`` and ``dst``; thresholds are cumulative chances times 2^32."""
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(count):
        edge = uint64(first + i)
        s = d = uint32(0)
        w0 = w1 = w2 = w3 = uint64(0)
        for level in range(scale):
            if level & 3 == 0:
                w0, w1, w2, w3 = _philox(uint64(level >> 2), edge & LOW, edge >> SHIFT, k0, k1)
            word, w0, w1, w2 = w0, w1, w2, w3
            s = (s << uint32(1)) | uint32(word >= below_b)
            d = (d << uint32(1)) | uint32((below_a <= word < below_b) or word >= below_c)
        src[i], dst[i] = s, d


@njit(nogil=True)
def symmetric_weights(src, dst, seed, weights):
    """Multiples of 1/256 in (0, 1], the same for u-v and v-u."""
    k0, k1 = seed & LOW, (seed >> SHIFT) ^ uint64(0x57454947)
    for i in range(src.size):
        u, v = uint64(min(src[i], dst[i])), uint64(max(src[i], dst[i]))
        word = _philox(uint64(0), u, v, k0, k1)[0]
        weights[i] = np.float32((word >> uint64(24)) + uint64(1)) / np.float32(256.0)
