"""The order in which mini-batches take their seeds from the list of sources, epoch after epoch."""

from dataclasses import dataclass, field

import numpy as np

from csaw.engine.api.algorithm import MiniBatches
from csaw.partition.errors import OptionError


@dataclass(frozen=True)
class SeedOrder:
    """Which positions of a list of ``count`` sources are the seeds of each mini-batch.

    An epoch takes each position once, in the order of the list, or with ``shuffle`` in a random order that depends on
    ``seed`` and the epoch alone: that of one 64-bit word a position, drawn at the address (seed, position,
    SHUFFLE_SLOT, epoch); equal words in the order of the list.
    """

    count: int
    size: int  # seeds of a mini-batch, at most ``count``; the last one of an epoch may have fewer
    shuffle: bool
    drop_last: bool
    seed: int
    _kept: tuple[int, np.ndarray] = field(default=(-1, np.zeros(0, np.int64)), repr=False, compare=False)

    @classmethod
    def of(cls, algorithm: MiniBatches, count: int, seed: int) -> "SeedOrder":
        """The order of an algorithm's seeds. OptionError if an epoch has no mini-batch."""
        if algorithm.drop_last and count < algorithm.seeds_per_batch:
            raise OptionError(
                f"--drop-last: an epoch has {count:,} seeds, fewer than --seeds-per-batch "
                f"{algorithm.seeds_per_batch:,}, and no mini-batch is left; "
                f"lower --seeds-per-batch"
            )
        return cls(count, min(algorithm.seeds_per_batch, count), algorithm.shuffle, algorithm.drop_last, seed)

    @property
    def batches_per_epoch(self) -> int:
        return self.count // self.size if self.drop_last else -(-self.count // self.size)

    def positions(self, first: int, last: int) -> np.ndarray:
        """int64 [last - first, size]: positions in the list of the seeds of the mini-batches first .. last - 1; -1
        where one has fewer.
        """
        out = np.full((last - first) * self.size, -1, np.int64)
        number = first
        while number < last:
            epoch, batch = divmod(number, self.batches_per_epoch)
            beyond = min(batch + last - number, self.batches_per_epoch)
            low, high = batch * self.size, min(beyond * self.size, self.count)
            to = (number - first) * self.size
            out[to : to + high - low] = self._of_epoch(epoch)[low:high] if self.shuffle else np.arange(low, high)
            number += beyond - batch
        return out.reshape(-1, self.size)

    def _of_epoch(self, epoch: int) -> np.ndarray:
        """The permutation of an epoch, kept until another epoch is asked for: an epoch has many mini-batches."""
        kept = self._kept
        if kept[0] != epoch:
            kept = (epoch, self.permutation(epoch))
            object.__setattr__(self, "_kept", kept)
        return kept[1]

    def permutation(self, epoch: int) -> np.ndarray:
        """int64 [count]: the positions in the order in which the epoch takes them with ``shuffle``."""
        from csaw.engine.sources.shuffled import shuffle_words

        words = np.empty(self.count, np.uint64)
        shuffle_words(np.uint64(self.seed), np.uint64(epoch), words)
        return np.argsort(words, kind="stable")
