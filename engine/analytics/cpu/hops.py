"""Hop counts from many sources, in host memory or from disk: 64 searches at a time share every row that is read."""

import numpy as np

from csaw.engine.analytics.cpu.bfs import any_active, shared
from csaw.engine.analytics.cpu.kernels import reach as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.network import Block

WORD, CHUNK = 64, 512  # sources of a word, vertices of a flag
WORD_BYTES = 24  # for each vertex, of the state of a word


def compute(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """int64 [sources, levels]: how many vertices have each distance from each source, along directions; at distance 0 the source itself.

    State: 24 bytes a vertex for each word of sources that is searched at the same time. Where there is memory for it, each thread has a word of its own; otherwise all share one, and a graph that does not fit is read
    once a level, without the blocks that no source has reached at the level before.
    """
    words = [sources[i : i + WORD] for i in range(0, sources.size, WORD)]
    lanes = min(network.threads, len(words), 1 + _spare(network) // (WORD_BYTES * max(network.vertices, 1)))
    if network.resident and 2 * lanes >= network.threads:
        forward, backward = _rows(network)
        groups = network.over(
            lambda lane, _: _search_alone(forward, backward, words[lane::lanes]), [(i, i) for i in range(lanes)]
        )
        found = [groups[i % lanes][i // lanes] for i in range(len(words))]
    else:
        work = network.unfinished.work("hops", sources)
        found = work.parts()
        for word in words[len(found) :]:
            found.append(_search_together(network, word))
            work.note_parts(found)
    return one_table(found, [word.size for word in words])


def one_table(found: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """The tables [levels, 64] of words, as one of all sources by levels."""
    table: np.ndarray = np.zeros((sum(sizes), max((len(one) for one in found), default=1)), np.int64)
    for first, size, one in zip(np.cumsum([0, *sizes]), sizes, found, strict=False):
        table[first : first + size, : len(one)] = one[:, :size].T
    levels = 1 + int(np.flatnonzero(table.sum(0)).max(initial=0))  # the last level of a search finds nothing
    return table[:, :levels]


def _spare(network: HostNetwork) -> int:
    """Bytes beside the rows and the state of one word."""
    return network.room - 2 * network.edges * network.edge_bytes if network.resident else 0


def _rows(network: HostNetwork) -> tuple[Block, Block | None]:
    """The rows, and those backward unless there is no memory for them."""
    return next(network.blocks()), next(network.incoming.blocks()) if network.can_have_incoming else None


def _search_alone(forward: Block, backward: Block | None, words: list[np.ndarray]) -> list[np.ndarray]:
    back = (forward.indptr, forward.indices[:0]) if backward is None else (backward.indptr, backward.indices)
    state = _state(forward.last)
    return [kernels.search(forward.indptr, forward.indices, *back, word, *state) for word in words]


def _state(vertices: int) -> tuple[np.ndarray, ...]:
    """``seen``, ``front``, ``following``, ``active`` and ``touched`` of engine/analytics/cpu/kernels/reach.py."""
    chunks = -(-vertices // CHUNK)
    return (*(np.zeros(vertices, np.uint64) for _ in range(3)), *(np.zeros(chunks, np.uint8) for _ in range(2)))


def _search_together(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """One word of sources, by all threads."""
    seen, front, following, active, touched = _state(network.vertices)
    full = np.uint64(kernels.begin(sources, front, active, seen))
    backward = next(network.incoming.blocks()) if network.has_incoming else None
    degrees = network.degrees
    back_degrees = degrees if backward is None else network.incoming.degrees
    counts = [(np.arange(WORD) < sources.size).astype(np.int64)]
    entries, rest = int(degrees[sources].sum()), network.edges
    while entries:
        if backward is not None and entries > rest:
            network.over_rows(kernels.pull, backward, front, following, touched, seen, full)
        else:
            for block in network.blocks(wanted=any_active(active, CHUNK)):
                network.over_rows(kernels.push, block, front, following, active, touched, True)
        given = (degrees, back_degrees, front, following, active, touched, seen, full)
        found = shared(network, kernels.settle, network.spans(active.size), *given)
        entries, rest = int(found[64]), rest - int(found[65])
        counts.append(found[:64])
    return np.array(counts)
