"""The numbers that are weights of edges: 0, and what float32 holds as a positive number."""

import numpy as np

FLOAT32_END = 2.0**128 - 2.0**103  # numbers below this round to a finite float32
FLOAT32_NOTHING = 2.0**-150  # positive numbers up to this round to 0 in float32
LEAST_DOUBLE = 5e-324
"""Stands for a positive number that no double holds, and is refused as that would be."""


def are_weights(values: np.ndarray | float) -> np.ndarray:
    """Whether each number of an array, or a single one, is a weight."""
    low, high = (
        np.float64(FLOAT32_NOTHING),
        np.float64(FLOAT32_END),
    )  # which NumPy does not round to the type of the values
    return np.asarray((values == 0) | ((values > low) & (values < high)), np.bool_)
