"""Hop counts from many sources on a GPU, a word of 64 after the other: twin of engine/analytics/cpu/hops.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.threaded_gpus import in_order, on_each
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.source_words import CHUNK, WORD, one_table, search_levels
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.plan.contracts import Array

PULL_SHARE = 8
"""A level pulls if its frontier has more than one of this many of the entries that are left.

Early pulls do not end before a row does: with one of 64, 64 sources of R-MAT
scale 24 took 61 ms on an H200 in place of 31."""
SETTLE_BLOCKS = 8  # of a multiprocessor: each ends with atomics on the same counters


def compute(network: DeviceNetwork, sources: np.ndarray) -> np.ndarray:
    """Count the vertices at each distance from each source, along directions: int64 [sources, levels], on the host.

    At distance 0 is the source itself. State: 24 bytes a vertex. A graph that does not fit is read once a level,
    without the blocks that no source has reached at the level before. Of several GPUs, each takes the next word when it
    is done with one.
    """
    words = [sources[i : i + WORD] for i in range(0, sources.size, WORD)]
    networks = network.among(len(words), backward=network.can_have_incoming)
    states = dict(zip(networks, on_each(networks, lambda one, _: _State(one.vertices)), strict=True))
    found = in_order(networks, words, lambda one, word: _search(one, word, states[one]))
    return one_table(list(found), [word.size for word in words])


class _State:
    """The state of a search, as cpu/kernels/reach.py describes it, on the GPU."""

    def __init__(self, vertices: int) -> None:
        self.vertices, self.chunks = vertices, -(-vertices // CHUNK)
        self.seen, self.front, self.following = (cupy.zeros(vertices, np.uint64) for _ in range(3))
        self.active, self.touched = (cupy.zeros(self.chunks, np.uint8) for _ in range(2))
        self.found = cupy.zeros(WORD + 2, np.uint64)

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
        self.active[at // CHUNK] = 1
        return np.bitwise_or.reduce(own)


def _search(network: DeviceNetwork, sources: np.ndarray, state: _State) -> np.ndarray:
    """Search from a word of sources: int64 [levels, 64], how many vertices each reaches at each level."""
    kernels, full = network.kernels("reach"), state.begin(sources)
    backward = network.incoming if network.can_have_incoming else None
    degrees = network.degrees
    back_degrees = degrees if backward is None else backward.degrees

    def advance(entries: int, rest: int) -> np.ndarray:
        if backward is not None and entries > rest // PULL_SHARE:
            block = next(backward.blocks())
            rows = (block.first, block.last, block.indptr, block.indices)
            kernels.over("pull", network.vertices, *rows, state.front, state.following, state.touched, state.seen, full)
        else:
            _push(network, state)
        state.found.fill(0)
        given = (degrees, back_degrees, state.front, state.following, state.active, state.touched, state.seen)
        blocks = min(state.chunks, SETTLE_BLOCKS * network.gpu.processors)
        kernels.launch("settle", blocks, BLOCK, state.chunks, state.vertices, *given, full, state.found)
        return state.found.get().astype(np.int64)

    return search_levels(sources, int(degrees[cupy.asarray(sources)].sum()), network.edges, advance)


def _push(network: DeviceNetwork, state: _State) -> None:
    """Push along the rows of active vertices, block by block."""
    wanted = None if network.resident else any_active(state.active.get(), CHUNK)
    for block in network.blocks(wanted=wanted):
        given = (block.indptr, block.indices, state.front, state.following, state.active, state.touched)
        kernels = network.kernels("reach")
        kernels.over("push", block.last - block.first, block.first, block.last, *given)
        network.long_rows.launch(kernels, "push_long", block, *given)
