"""The random words by which epochs of mini-batches are shuffled; loaded when they are drawn, because it brings Numba."""

import numpy as np
from numba import uint64

from csaw.engine.random import draw64
from csaw.partition.compile import njit

SHUFFLE_SLOT = np.uint64(0xFFFFFFFE)  # below the slot whose draws choose sources, and above all slots of samples


@njit
def shuffle_words(seed, epoch, out):
    """Fill out[i] with 64 random bits of position i in an epoch, at the address (seed, i, SHUFFLE_SLOT, epoch)."""
    for i in range(out.size):
        out[i] = draw64(seed, uint64(i), SHUFFLE_SLOT, epoch)
