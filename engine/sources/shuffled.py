"""The random words by which epochs of mini-batches are shuffled, or seeds are drawn.

The module is loaded when they are drawn, because it brings Numba.
"""

import numpy as np
from numba import uint64

from csaw.engine.draws.random import draw64, fraction, philox
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copied, empty

SHUFFLE_SLOT = np.uint64(0xFFFFFFFE)  # below the slot whose draws choose sources, and above all slots of samples
NORM_SLOT = np.uint64(0xFFFFFFFD)  # below that


@njit
def shuffle_words(seed, epoch, out):
    """Fill out[i] with 64 random bits of position i in an epoch, at the address (seed, i, SHUFFLE_SLOT, epoch)."""
    for i in range(out.size):
        out[i] = draw64(seed, uint64(i), SHUFFLE_SLOT, epoch)


@njit
def draw_positions(seed, batch, chance):
    """The positions that a mini-batch draws, ascending: position i with chance[i], by 64 random bits at the address
    (seed, i // 2, NORM_SLOT, batch).
    """
    out, found = empty(chance.size, np.int64), 0
    for pair in range((chance.size + 1) // 2):
        w0, w1, w2, w3 = philox(seed, uint64(pair), NORM_SLOT, batch)
        for half in range(min(2, chance.size - 2 * pair)):
            word = (w0 << uint64(32)) | w1 if half == 0 else (w2 << uint64(32)) | w3
            if fraction(word) < chance[2 * pair + half]:
                out[found] = 2 * pair + half
                found += 1
    return copied(out[:found])
