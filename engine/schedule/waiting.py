"""The partitions that a batch waits for, how many instances wait for each, and how many come to each."""

from types import ModuleType

import numpy as np

from csaw.engine.plan.contracts import Array, Partitions


def rows_of(count: np.ndarray) -> np.ndarray:
    """Return the waits of instances where one partition at a time serves them.

    They are like ``crowds``, each partition needed with itself.

    ``count`` [partitions]: instances that each would serve; one that either of two serves is counted at both.
    """
    part = np.flatnonzero(count)
    return np.stack([part, part, count[part]], axis=1)


def crowds(xp: ModuleType, graph: Partitions, needs: tuple[Array, ...]) -> np.ndarray:
    """Return the waits of instances, int64 [m, 3].

    Each is a partition, the other one it is needed with, and how many wait for both.

    ``needs`` is the vertex whose row each of them needs, and the one whose row it needs beside that, if any: arrays of
    ``xp`` (NumPy or its like on a GPU).
    """
    parts, numbers = graph.loaded.size, [graph.partition_of(vertices) for vertices in needs]
    pairs = numbers[0].astype(np.int64) * parts + numbers[-1]
    if parts * parts <= COUNTED:
        found = xp.bincount(pairs, minlength=parts * parts)
        count = found if xp is np else found.get()
        pair = np.flatnonzero(count)
        return np.stack([pair // parts, pair % parts, count[pair]], axis=1)
    pairs, count = xp.unique(pairs, return_counts=True)
    both = xp.stack([pairs // parts, pairs % parts, count], axis=1)
    return both if xp is np else both.get()


COUNTED = 1 << 16  # pairs of partitions that are counted in an array of all; more are found by sorting
AGING = 0.998  # a round: half is left after 350


class Arrivals:
    """How often instances come to each partition, counted while it is not in memory.

    What is known of one in memory ages, so that a partition where many began and few return is evicted in the end.
    Biased walks of 1,000 steps over 8 partitions of which 4 fit need 721 transfers with AGING, 1,473 without it, 1,017
    if the partition that was loaded longest ago is evicted, and 2,799 in order (R-MAT 19 x 2).
    """

    def __init__(self, parts: int) -> None:
        self.waiting = np.zeros(parts)
        self.came, self.served = np.zeros(parts), np.zeros(parts)

    def see(self, waiting: np.ndarray, loaded: np.ndarray) -> None:
        """Count the instances that came since the last call.

        ``waiting`` [partitions]: the instances that wait for each; ``loaded``: whether each was in memory since then.
        """
        away = loaded == 0
        served = self.waiting[~away].sum() if self.waiting.any() else waiting.sum()
        self.came[~away] *= AGING
        self.came[away] += np.maximum(waiting - self.waiting, 0)[away]
        self.served[away] += served
        self.waiting = waiting.astype(float)

    def rates(self) -> np.ndarray:
        """Instances that come to each partition for each one that is served: float64 [partitions]."""
        return self.came / np.maximum(self.served, 1)
