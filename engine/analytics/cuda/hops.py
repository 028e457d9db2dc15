"""Hop counts from many sources on a GPU, a word of 64 after the other: twin of engine/analytics/cpu/hops.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda import hops_shares
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.reach_state import PULL_SHARE, ReachState
from csaw.engine.analytics.cuda.several_gpus import in_order, on_each
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.source_words import CHUNK, WORD, one_table, search_levels


def compute(network: DeviceNetwork, sources: np.ndarray) -> np.ndarray:
    """Count the vertices at each distance from each source, along directions: int64 [sources, levels], on the host.

    At distance 0 is the source itself. State: 24 bytes a vertex. A graph that does not fit is read once a level,
    without the blocks that no source has reached at the level before. Of several GPUs, each takes the next word when it
    is done with one; those over which a graph is spread share each word.
    """
    words = [sources[i : i + WORD] for i in range(0, sources.size, WORD)]
    return one_table(_tables(network, words), [word.size for word in words])


def _tables(network: DeviceNetwork, words: list[np.ndarray]) -> list[np.ndarray]:
    if network.pooled:
        return hops_shares.searched(network, words)
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
            wanted = None if network.resident else any_active(state.active.get(), CHUNK)
            for block in network.blocks(wanted=wanted):
                state.push(block)
        given = (degrees, back_degrees, state.front, state.following, state.active, state.touched, state.seen, full)
        state.settle("settle", state.chunks, state.chunks, network.vertices, *given)
        return np.array(state.counters.read())

    return search_levels(sources, int(degrees[cupy.asarray(sources)].sum()), network.edges, advance)
