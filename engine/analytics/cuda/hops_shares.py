"""Hop counts on several GPUs over which a graph is spread: all of them search from the same word of sources.

Each GPU goes along its own rows alone. Pushing, it gives words to any vertices, in its own memory; then the owner of a
vertex takes them there, from the chunks that were touched. Pulling, it reads the words of all vertices, and copies
those of the others first. So a word crosses the link once a level at most, and no row does.
"""

from collections.abc import Sequence

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.reach_state import PULL_SHARE, ReachState
from csaw.engine.analytics.cuda.several_gpus import Seat, addresses, copy_range, meet, rows_of, seated
from csaw.engine.analytics.source_words import CHUNK, search_levels


def searched(network: DeviceNetwork, words: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Search from each word: int64 [levels, 64] of each, how many vertices each source reaches at each level.

    An undirected graph is pulled in large levels.
    """
    ranges, degrees = network.shares, network.degrees
    entries = [int(degrees[cupy.asarray(word)].sum()) for word in words]
    with seated(network.among(len(ranges)), ranges) as seats:
        shares = [_Share(seat) for seat in seats]
        for share in shares:
            share.meet(shares)
        return [_search(network, shares, word, size) for word, size in zip(words, entries, strict=True)]


def _search(network: DeviceNetwork, shares: "list[_Share]", sources: np.ndarray, entries: int) -> np.ndarray:
    for share in shares:
        share.begin(sources)
    meet([share.seat for share in shares])  # before one copies what another begins with

    def advance(entries: int, rest: int) -> np.ndarray:
        pulls = not network.directed and entries > rest // PULL_SHARE
        for share in shares:
            if pulls:
                share.pull(shares)
            else:
                share.push()
        meet([share.seat for share in shares])
        for share in shares:
            share.settle()
        return np.sum([share.found() for share in shares], 0)

    return search_levels(sources, entries, network.edges, advance)


class _Share:
    """One GPU's part: it knows which sources have reached its own vertices, and what it gave to any."""

    def __init__(self, seat: Seat) -> None:
        seat.use()
        self.seat, self.state = seat, ReachState(seat.network)
        self.rows = next(rows_of(seat.network, seat.first, seat.last))

    def meet(self, shares: "list[_Share]") -> None:
        """Learn where all GPUs have what they give, and their flags."""
        self.seat.use()
        given = ([one.state.following for one in shares], [one.state.touched for one in shares])
        self.everywhere = (len(shares), *map(addresses, given))

    def begin(self, sources: np.ndarray) -> None:
        self.seat.use()
        self.full = self.state.begin(sources)

    def push(self) -> None:
        self.seat.use()
        self.state.touched.fill(0)
        self.state.push(self.rows)

    def pull(self, shares: "list[_Share]") -> None:
        """Pull to own vertices, after all GPUs have begun, or the host has read what the level before found."""
        self.seat.use()
        self.state.touched.fill(0)
        for other in shares:
            if other is not self:
                copy_range(other.state.front, self.state.front, other.seat.first, other.seat.last)
        self.state.pull(self.rows, self.full)

    def settle(self) -> None:
        """Take what was given to own vertices."""
        self.seat.use()
        state, (first, last) = self.state, (self.seat.first, self.seat.last)
        given = (state.network.degrees, state.front, *self.everywhere, state.active, state.seen, self.full)
        state.settle("settle_share", -(-last // CHUNK) - first // CHUNK, first, last, *given)

    def found(self) -> list[int]:
        self.seat.use()
        return self.state.counters.read()
