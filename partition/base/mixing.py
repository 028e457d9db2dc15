"""Hashes of numbers in kernels: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""

from typing import Any

import numpy as np

from csaw.partition.base.compile import inner

GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, between a word and the next


@inner
def mixed(word: Any) -> Any:
    """The word, uint64, with its bits mixed."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
