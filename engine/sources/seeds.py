"""The order in which mini-batches take their seeds from the list of sources, epoch after epoch."""

from dataclasses import dataclass, field
from math import isqrt
from typing import NamedTuple

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
                f"{algorithm.seeds_per_batch:,}, so no mini-batch is left; lower --seeds-per-batch"
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


# Mini-batches whose seeds are drawn by the norms of their gradients: minimal variance sampling (Cong et al., KDD 2020,
# section 4.2).

MOST_BATCHES = 2**32  # whose numbers are part of the address of what draws their seeds
SPREAD = 6  # standard deviations above the mean number of seeds, which a plan counts on


@dataclass(frozen=True)
class DrawnSeeds:
    """Which positions of a list of sources are the seeds of each mini-batch: position i with chance[i], independently
    of all others.

    A chance is in proportion to the norm of the position's vertex, up to 1, and all together are ``wanted``, or the
    number of vertices with a norm above 0
    if that is smaller: min(1, norm / mu), which gives the estimate of the gradient its least variance (Theorem 4.1).
    """

    chance: np.ndarray
    wanted: int  # mean number of seeds
    seed: int
    _kept: tuple[int, int, np.ndarray] = field(default=(0, 0, np.zeros((0, 0), np.int64)), repr=False, compare=False)

    @classmethod
    def of(cls, algorithm: MiniBatches, listed: np.ndarray | None, count: int, seed: int) -> "DrawnSeeds":
        """Choose seeds among the vertices ``listed``, or all ``count``, by the column that ``norms`` names.

        OptionError where that is none of norms.
        """
        norms = norms_of(algorithm, count if listed is None else None, listed)
        return cls(chances(norms, algorithm.seeds_per_batch), algorithm.seeds_per_batch, seed)

    @property
    def size(self) -> int:
        """Seeds of a mini-batch to plan for."""
        return min(self.chance.size, self.wanted + SPREAD * (isqrt(self.wanted) + 1))

    @property
    def batches_per_epoch(self) -> int:
        """Mini-batches that together have as many seeds, on average, as there are sources; at least 1."""
        return max(1, -(-self.chance.size // self.wanted))

    def positions(self, first: int, last: int) -> np.ndarray:
        """int64 [last - first, n]: positions in the list of the seeds of the mini-batches first .. last - 1, ascending;
        -1 where one has fewer than n.
        """
        from csaw.engine.sources.shuffled import draw_positions

        if self._kept[:2] != (first, last):
            drawn = [
                draw_positions(np.uint64(self.seed), np.uint64(batch), self.chance) for batch in range(first, last)
            ]
            out = np.full((last - first, max((one.size for one in drawn), default=0) or 1), -1, np.int64)
            for row, one in zip(out, drawn, strict=True):
                row[: one.size] = one
            object.__setattr__(self, "_kept", (first, last, out))
        return self._kept[2]

    def probabilities(self, first: int, last: int) -> np.ndarray:
        """float64: the chance of each seed of these mini-batches, one mini-batch after the other."""
        positions = self.positions(first, last)
        return self.chance[positions[positions >= 0]]


def norms_of(algorithm: MiniBatches, count: int | None, listed: np.ndarray | None) -> np.ndarray:
    """float64: the norm of each of the vertices ``listed``, or of all ``count``; 1 where the algorithm names no column.

    OptionError for a column that is missing or has none.
    """
    columns, size = algorithm.vertex_columns, int(listed.size if listed is not None else count or 0)
    if algorithm.norms is None:
        return np.ones(size)
    if columns.table is None or algorithm.norms not in columns.names:
        given = f"the columns are {', '.join(columns.names)}" if columns.names else "give columns with --columns"
        raise OptionError(f"--norms: expected the name of a column, found {algorithm.norms}; {given}")
    column = columns.table[columns.names.index(algorithm.norms)]
    norms = np.asarray(column if listed is None else column[listed])
    if norms.size and (norms.min() < 0.0 or norms.max() == 0.0):
        raise OptionError(
            f"--norms: {algorithm.norms}: expected numbers of at least 0, at least one of them above 0, found "
            f"{norms.min():g} to {norms.max():g}"
        )
    return norms


def chances(norms: np.ndarray, wanted: int) -> np.ndarray:
    """float64: min(1, norm / mu), of the sum ``wanted``, or 1 for each norm above 0 where there are not more of these
    (Lemma 4.2).
    """
    order = np.argsort(norms, kind="stable")
    upto, certain = (
        np.cumsum(norms[order]),
        np.arange(norms.size)[::-1],
    )  # the sums of the smallest, and how many are larger
    smallest = (wanted - certain) * norms[order] < upto  # whether those up to here have chances below 1
    below = int(np.flatnonzero(smallest)[-1]) + 1 if smallest.any() else 0
    out = (norms > 0.0).astype(np.float64)
    if below and upto[below - 1] > 0.0:
        out[order[:below]] = norms[order[:below]] * ((wanted - (norms.size - below)) / upto[below - 1])
    return out


def order_of(algorithm: MiniBatches, listed: np.ndarray | None, count: int, seed: int) -> SeedOrder | DrawnSeeds:
    """The seeds of an algorithm's mini-batches. ``listed``: the list of ``count`` sources; None: all vertices."""
    if algorithm.draws_seeds:
        return DrawnSeeds.of(algorithm, listed, count, seed)
    return SeedOrder.of(algorithm, count, seed)


class Excluded(NamedTuple):
    """Pairs of vertices between which a mini-batch selects no edge.

    Attributes:
        local: int64 [n], the mini-batch of each, counted from the first of the batch.
        source: the vertex whose row has the edges.
        target: the vertex that they lead to.
        edges: how many there are.
    """

    local: np.ndarray
    source: np.ndarray
    target: np.ndarray
    edges: np.ndarray
