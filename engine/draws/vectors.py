"""Draws of many addresses at a time with NumPy, which loads no compiler: see random.py for what they are."""

import numpy as np

from csaw.engine.draws.addresses import PHILOX_KEYS, PHILOX_MULTIPLIERS

LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
FEW = 1 << 19  # numbers that NumPy draws sooner than the compiler loads
PIECE = 1 << 14  # draws whose words stay in the cache while they are made


def words64(seed: int | np.uint64, instance: np.ndarray, slot: np.ndarray, draw: np.ndarray) -> np.ndarray:
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


def numbers_below(words: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """int64 [n]: a number below each bound, the high half of the product with the word, as ``below_wide`` gives it."""
    bounds = bounds.astype(np.uint64)
    a, b, c, d = words >> SHIFT, words & LOW, bounds >> SHIFT, bounds & LOW
    middle = a * d + ((b * d) >> SHIFT)
    other = b * c + (middle & LOW)
    numbers: np.ndarray = (a * c + (middle >> SHIFT) + (other >> SHIFT)).astype(np.int64)
    return numbers


def distinct_below(seed: np.uint64, instance: np.uint64, slot: np.uint64, bound: int, count: int) -> np.ndarray:
    """int64 [count]: different numbers below ``bound``, every set equally likely, as ``distinct_below`` of random.py
    gives them.

    Draw j is a number up to bound - count + j, and becomes that number itself if it was chosen before: by an earlier
    draw of the same number, or by one that became it.
    """
    if count > FEW:
        from csaw.engine.draws import random

        return random.distinct_below(seed, instance, slot, bound, count)
    draws, first, words = np.arange(count), bound - count, np.empty(count, np.uint64)
    for begin in range(0, count, PIECE):
        piece = draws[begin : begin + PIECE]
        words[begin : begin + PIECE] = words64(
            seed, np.full_like(piece, instance, np.uint64), np.full_like(piece, slot), piece
        )
    numbers = numbers_below(words, first + draws + 1)
    order = np.argsort(numbers, kind="stable")
    chosen = np.zeros(count, bool)
    chosen[order[1:][numbers[order[1:]] == numbers[order[:-1]]]] = True
    later = np.flatnonzero((numbers >= first) & (numbers < first + draws))
    while (more := later[chosen[numbers[later] - first] & ~chosen[later]]).size:
        chosen[more] = True
    return np.where(chosen, first + draws, numbers)
