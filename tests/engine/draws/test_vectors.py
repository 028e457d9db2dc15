"""Draws with NumPy are those of compiled code."""

import numpy as np
import pytest

from csaw.engine.draws import random, vectors
from csaw.engine.draws.addresses import SOURCE_SLOT

LAST = np.uint64(2**64 - 1)


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_words_are_those_of_the_compiled_generator(seed):
    draw = np.random.default_rng(seed).integers(0, 2**32, (3, 50)).astype(np.uint64)
    found = vectors.words64(np.uint64(seed), draw[0] << np.uint64(20), draw[1], draw[2])
    expected = [random.draw64(np.uint64(seed), a << np.uint64(20), b, c) for a, b, c in draw.T]
    assert found.tolist() == [int(one) for one in expected]


@pytest.mark.parametrize(
    ("bound", "count"),
    [(1, 1), (2, 1), (2, 2), (5, 5), (100, 1), (100, 60), (1000, 1000), (10**12, 500), (40_000, 20_000), (2**62, 9)],
)
@pytest.mark.parametrize("seed", range(5))
def test_different_numbers_are_those_of_the_compiled_code(bound, count, seed):
    address = np.uint64(seed), LAST, SOURCE_SLOT
    found = vectors.distinct_below(*address, bound, count)
    assert found.tolist() == random.distinct_below(*address, bound, count).tolist()
    assert np.unique(found).size == count
