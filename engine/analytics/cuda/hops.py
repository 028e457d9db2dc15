"""Hop counts on GPUs, from a word of 64 sources after the other, or estimated from sketches: twin of
analytics/cpu/searches.py.

GPUs over which a graph is spread search from the same word. Each GPU goes along its own rows alone. Pushing, it gives
words to any vertices, in its own memory; then the owner of a vertex takes them there, from the chunks that were
touched. Pulling, it reads the words of all vertices, and copies those of the others first. So a word crosses the link
once a level at most, and no row does.
"""

from collections.abc import Sequence

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import (
    Counters,
    Seat,
    SharedArray,
    in_order,
    meet,
    on_each,
    seated,
    step,
    then_step,
)
from csaw.engine.analytics.passes import CHUNK_OF_WORDS, WORD, any_active, one_table, search_levels
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.sketches import FEW, SKETCH_SLOT, pairs_within
from csaw.engine.cuda.declarations import BLOCK

# The state of searches from a word of 64 sources, as engine/analytics/cpu/kernels/reach.py describes it.

PULL_SHARE = 8
"""A level pulls if its frontier has more than one of this many of the entries that are left.

Early pulls do not end before a row does: with one of 64, 64 sources of R-MAT
scale 24 took 61 ms on an H200 in place of 31."""
SETTLE_BLOCKS = 8  # of a multiprocessor: each ends with atomics on the same counters


class ReachState:
    """The words of all vertices, and the flags of chunks of them.

    ``counters`` uint64 [66]: what ``settle`` counts.
    """

    def __init__(self, network: DeviceNetwork) -> None:
        self.network, self.kernels = network, network.kernels("reach")
        vertices, self.chunks = network.vertices, -(-network.vertices // CHUNK_OF_WORDS)
        self.seen, self.front, self.following = (cupy.zeros(vertices, np.uint64) for _ in range(3))
        self.active, self.touched = (cupy.zeros(self.chunks, np.uint8) for _ in range(2))
        self.counters = Counters(WORD + 2)

    def begin(self, sources: np.ndarray) -> np.uint64:
        """Let each source reach itself; returns the word of all sources."""
        vertices, place = np.unique(sources, return_inverse=True)
        bits: Array = np.zeros(vertices.size, np.uint64)
        own = np.uint64(1) << np.arange(sources.size, dtype=np.uint64)
        np.bitwise_or.at(bits, place, own)
        for array in (self.front, self.seen, self.active):
            array.fill(0)
        at = cupy.asarray(vertices)
        self.front[at] = self.seen[at] = cupy.asarray(bits)
        self.active[at // CHUNK_OF_WORDS] = 1
        return np.bitwise_or.reduce(own)

    def push(self, block: Block) -> None:
        """Push along the rows of active vertices of a block."""
        given = (block.indptr, block.indices, self.front, self.following, self.active, self.touched)
        self.kernels.over("push", block.last - block.first, block.first, block.last, *given)
        self.network.long_rows.launch(self.kernels, "push_long", block, *given)

    def pull(self, block: Block, full: np.uint64) -> None:
        """Pull along the rows backward of a block to the vertices that not all of the sources ``full`` have reached."""
        rows = (block.first, block.last, block.indptr, block.indices)
        given = (self.front, self.following, self.touched, self.seen, full)
        self.kernels.over("pull", block.last - block.first, *rows, *given)

    def settle(self, kernel: str, chunks: int, *arguments: object) -> None:
        """End a level by one of the kernels that do, and ask for what it counts."""
        self.counters.clear()
        blocks = min(chunks, SETTLE_BLOCKS * self.network.gpu.processors)
        self.kernels.launch(kernel, blocks, BLOCK, *arguments, self.counters.there)
        self.counters.ask()


# Searches.


def hops(network: DeviceNetwork, sources: np.ndarray) -> np.ndarray:
    """Count the vertices at each distance from each source, along directions: int64 [sources, levels], on the host.

    At distance 0 is the source itself. State: 24 bytes a vertex. A graph that does not fit is read once a level,
    without the blocks that no source has reached at the level before. Of several GPUs, each takes the next word when it
    is done with one; those over which a graph is spread share each word.
    """
    words = [sources[i : i + WORD] for i in range(0, sources.size, WORD)]
    return one_table(_tables(network, words), [word.size for word in words])


def _tables(network: DeviceNetwork, words: list[np.ndarray]) -> list[np.ndarray]:
    if network.pooled:
        return _searched_spread(network, words)
    networks = network.among(len(words), backward=network.can_have_incoming)
    states = dict(zip(networks, on_each(networks, lambda one, _: ReachState(one)), strict=True))
    return list(in_order(networks, words, lambda one, word: _search(one, word, states[one])))


def _search(network: DeviceNetwork, sources: np.ndarray, state: ReachState) -> np.ndarray:
    """Search from a word of sources: int64 [levels, 64], how many vertices each reaches at each level."""
    full = state.begin(sources)
    backward = network.incoming if network.can_have_incoming else None
    degrees = network.degrees
    back_degrees = degrees if backward is None else backward.degrees

    def advance(entries: int, rest: int) -> np.ndarray:
        if backward is not None and entries > rest // PULL_SHARE:
            state.pull(next(backward.blocks()), full)
        else:
            wanted = None if network.resident else any_active(state.active.get(), CHUNK_OF_WORDS)
            for block in network.blocks(wanted=wanted):
                state.push(block)
        given = (degrees, back_degrees, state.front, state.following, state.active, state.touched, state.seen, full)
        state.settle("settle", state.chunks, state.chunks, network.vertices, *given)
        return np.array(state.counters.read())

    return search_levels(sources, int(degrees[cupy.asarray(sources)].sum()), network.edges, advance)


# On several GPUs.


def _searched_spread(network: DeviceNetwork, words: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Search from each word: int64 [levels, 64] of each, how many vertices each source reaches at each level.

    An undirected graph is pulled in large levels.
    """
    ranges, degrees = network.shares, network.degrees
    entries = [int(degrees[cupy.asarray(word)].sum()) for word in words]
    with seated(network.among(len(ranges)), ranges) as seats:
        shares = step(seats, _Share)
        front = SharedArray(seats, [share.front for share in shares])
        following = SharedArray(seats, [share.following for share in shares])
        touched = SharedArray(seats, [share.touched for share in shares])
        given = step(seats, lambda _: (len(seats), following.addresses(), touched.addresses()))

        def search(sources: np.ndarray, entries: int) -> np.ndarray:
            full = step(shares, lambda share: share.begin(sources))[0]
            meet(shares)  # before one copies what another begins with

            def advance(entries: int, rest: int) -> np.ndarray:
                pulls = not network.directed and entries > rest // PULL_SHARE
                if pulls:
                    front.exchange()
                step(shares, lambda share: share.advance(full, pulls))
                then_step(shares, lambda share: share.settle_own(full, given[share.seat.number]))
                return np.sum(step(shares, lambda share: share.counters.read()), 0)

            return search_levels(sources, entries, network.edges, advance)

        return [search(*one) for one in zip(words, entries, strict=True)]


class _Share(ReachState):
    """One GPU's part: it knows which sources have reached its own vertices, and what it gave to any."""

    def __init__(self, seat: Seat) -> None:
        super().__init__(seat.network)
        self.seat, self.rows = seat, seat.rows()

    def advance(self, full: np.uint64, pulls: bool) -> None:
        """Push along own rows, or pull to own vertices by the words of all."""
        self.touched.fill(0)
        if pulls:
            self.pull(self.rows, full)
        else:
            self.push(self.rows)

    def settle_own(self, full: np.uint64, everywhere: tuple[int, Array, Array]) -> None:
        """Take what was given to own vertices: ``everywhere`` says where all GPUs have what they give, and flags."""
        first, last = self.seat.first, self.seat.last
        given = (self.network.degrees, self.front, *everywhere, self.active, self.seen, full)
        self.settle("settle_share", -(-last // CHUNK_OF_WORDS) - first // CHUNK_OF_WORDS, first, last, *given)


# Estimates.


def sketches(network: DeviceNetwork, seed: int, run: int) -> np.ndarray:
    """Estimate how many pairs (u, v) have a path of so many edges or fewer from u to v: float64 [levels], on the host.

    ``run``: the number of an independent sketch. Along directions. The same numbers as on the CPU. State: 32 bytes a
    vertex. A graph that does not fit is read once for each number of edges.
    """
    vertices, kernels = network.vertices, network.kernels("sketches")
    registers, following = (cupy.empty((vertices, 2), np.uint64) for _ in range(2))
    kernels.over("begin", vertices, vertices, np.uint64(seed), SKETCH_SLOT, np.uint64(run), registers)
    few, found = cupy.asarray(FEW), cupy.empty(3, np.uint64)

    def join() -> tuple[int, bool]:
        nonlocal registers, following
        found.fill(0)
        for block in network.blocks():
            rows = (block.first, block.indptr, block.indices)
            network.classes(block).launch(kernels, "join", *rows, registers, following, few, found)
        registers, following = following, registers
        low, high, changed = found.get().tolist()
        return (high << 32) + low, changed > 0

    return pairs_within(network, join)
