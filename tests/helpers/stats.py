"""The one way this suite judges a random result."""

import numpy as np
from scipy.stats import chisquare

SUITE_ALPHA = (
    1e-6  # chance that a correct program fails anywhere in the suite; seeds are fixed, so it fails always or never
)
TESTS = 2000  # an upper bound on calls of assert_drawn_from


def assert_drawn_from(counts, chances):
    """Fail if ``counts`` are unlikely under ``chances``. Impossible outcomes must have no count."""
    counts, chances = np.asarray(counts, float), np.asarray(chances, float)
    possible = chances > 0
    assert counts[~possible].sum() == 0, f"drew something impossible: {counts[~possible]}"
    expected = chances[possible] / chances[possible].sum() * counts.sum()
    assert expected.min() >= 5, f"too few draws: smallest expected count is {expected.min():.2f}"
    if possible.sum() > 1:
        p = chisquare(counts[possible], expected).pvalue
        assert p > SUITE_ALPHA / TESTS, f"p={p:.2g}; drew {counts[possible]}, expected {expected.round()}"
