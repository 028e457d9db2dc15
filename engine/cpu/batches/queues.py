"""Walkers by the partition that they wait for, so that a round looks only at those whose partition has come."""

from itertools import pairwise

import numpy as np

MOST_ENTRIES = 2  # times the number of walkers, in a queue, before repeated ones are merged


class Queues:
    """A queue of walkers for each partition.

    ``counts`` [partitions]: the walkers that wait for each, as their owner keeps it right.

    A walker that either of two partitions serves is in two queues. What one of them has served stays in the other until
    that is taken.
    """

    def __init__(self, partitions: int, walkers: int) -> None:
        self.among = np.zeros(walkers, bool)  # scratch: walkers that were found
        self.walkers: list[list[np.ndarray]] = [[] for _ in range(partitions)]
        self.counts = np.zeros(partitions, np.int64)
        self.entries = [0] * partitions  # of each queue, with those that were served elsewhere

    def put(self, walkers: np.ndarray, partitions: np.ndarray) -> None:
        """Queue each walker at a partition."""
        if walkers.size == 0:
            return
        short = np.min_scalar_type(
            self.counts.size
        )  # numbers of 8 or 16 bits are sorted by their digits, five times as fast
        order = np.argsort(partitions.astype(short), kind="stable")
        walkers, partitions = walkers[order], partitions[order]
        begins = [0, *(1 + np.flatnonzero(partitions[1:] != partitions[:-1])).tolist()]
        for begin, end in pairwise([*begins, walkers.size]):
            number = int(partitions[begin])
            self.walkers[number].append(walkers[begin:end].copy())  # a part of an array would keep the whole
            self.entries[number] += end - begin
            if self.entries[number] > MOST_ENTRIES * self.among.size:
                self._put_back(number)
        self.counts += np.bincount(partitions, minlength=self.counts.size)

    def take(self, partitions: np.ndarray) -> np.ndarray:
        """Empty the queues of some partitions; return their walkers, each once and in ascending order."""
        for number in partitions.tolist():
            for walkers in self.walkers[number]:
                self.among[walkers] = True
            self.walkers[number], self.entries[number] = [], 0
        self.counts[partitions] = 0
        return self._found()

    def _put_back(self, number: int) -> None:
        """Keep each walker of a queue once."""
        for walkers in self.walkers[number]:
            self.among[walkers] = True
        self.walkers[number] = [self._found()]
        self.entries[number] = self.walkers[number][0].size

    def _found(self) -> np.ndarray:
        found = np.flatnonzero(self.among)  # a tenth of the time of sorting or hashing them
        self.among[found] = False
        return found
