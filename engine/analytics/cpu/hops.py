"""Hop counts from many sources, in host memory or from disk: 64 searches share every row that is read."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import reach as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.source_words import CHUNK, WORD, one_table, search_levels

WORD_BYTES = 24  # for each vertex, of the state of a word


def compute(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """Count the vertices at each distance from each source, along directions: int64 [sources, levels].

    At distance 0 is the source itself. State: 24 bytes a vertex for each word of 64 sources that is searched at the
    same time. Where there is memory for it, each thread has a word of its own; otherwise all share one, and a graph
    that does not fit is read once a level, without the blocks that no source has reached at the level before.
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
            work.tell(len(found), len(words), f"words of {WORD} sources")
    return one_table(found, [word.size for word in words])


def _spare(network: HostNetwork) -> int:
    """Bytes of memory beside the rows and the state of one word."""
    return network.budget - 2 * network.edges * network.edge_bytes if network.resident else 0


def _rows(network: HostNetwork) -> tuple[Block, Block | None]:
    """The rows, and those backward, or None where there is no memory for them."""
    return next(network.blocks()), next(network.incoming.blocks()) if network.can_have_incoming else None


def _search_alone(forward: Block, backward: Block | None, words: list[np.ndarray]) -> list[np.ndarray]:
    back = (forward.indptr, forward.indices[:0]) if backward is None else (backward.indptr, backward.indices)
    state = _state(forward.last)
    return [kernels.search(forward.indptr, forward.indices, *back, word, *state) for word in words]


def _state(vertices: int) -> tuple[np.ndarray, ...]:
    """Make ``seen``, ``front``, ``following``, ``active`` and ``touched`` of kernels/reach.py."""
    chunks = -(-vertices // CHUNK)
    return (*(np.zeros(vertices, np.uint64) for _ in range(3)), *(np.zeros(chunks, np.uint8) for _ in range(2)))


def _search_together(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """Search from one word of sources with all threads."""
    seen, front, following, active, touched = _state(network.vertices)
    full = np.uint64(kernels.begin(sources, front, active, seen))
    backward = next(network.incoming.blocks()) if network.has_incoming else None
    degrees = network.degrees
    back_degrees = degrees if backward is None else network.incoming.degrees

    def advance(entries: int, rest: int) -> np.ndarray:
        if backward is not None and entries > rest:
            network.over_rows(kernels.pull, backward, front, following, touched, seen, full)
        else:
            for block in network.blocks(wanted=any_active(active, CHUNK)):
                network.over_rows(kernels.push, block, front, following, active, touched, True)
        given = (degrees, back_degrees, front, following, active, touched, seen, full)
        return sum(network.each(kernels.settle, network.spans(active.size), *given))

    return search_levels(sources, int(degrees[sources].sum()), network.edges, advance)
