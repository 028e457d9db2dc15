"""Draws of many addresses at a time with NumPy, which loads no compiler: see random.py for what they are."""

import numpy as np

from csaw.engine.draws.addresses import PHILOX_KEYS, PHILOX_MULTIPLIERS

LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


def words64(seed: int, instance: np.ndarray, slot: np.ndarray, draw: np.ndarray) -> np.ndarray:
    """uint64 [n]: 64 random bits at each address, as ``draw64`` gives them."""
    instance, slot, draw = (np.asarray(one).astype(np.uint64) for one in (instance, slot, draw))
    c0, c1, c2, c3 = draw & LOW, slot & LOW, instance & LOW, instance >> SHIFT
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p0, p1 = (np.uint64(by) * c for by, c in zip(PHILOX_MULTIPLIERS, (c0, c2), strict=True))
        k0, k1 = (np.uint64(key) for key in keys)
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        keys = [(key + by) & 0xFFFFFFFF for key, by in zip(keys, PHILOX_KEYS, strict=True)]
    words: np.ndarray = (c0 << SHIFT) | c1
    return words
