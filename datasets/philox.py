"""Philox4x32-10 (Salmon et al., SC 2011), of which generated graphs are made."""

import numpy as np
from numba import uint64

from csaw.partition.base.compile import njit

LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


@njit(inline="always")
def philox(c0, c1, c2, c3, k0, k1):
    """Four words of 32 bits of a counter and a key, all uint64."""
    for _ in range(10):
        p0, p1 = uint64(0xD2511F53) * c0, uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        k0, k1 = (k0 + uint64(0x9E3779B9)) & LOW, (k1 + uint64(0xBB67AE85)) & LOW
    return c0, c1, c2, c3
