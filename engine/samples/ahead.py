"""Pieces of a sample, worked on by several threads and handed on in order: what export is made of.

A file of the store is compared with its checksum as a whole, which takes as long as anything that is done with it. So threads check files some way ahead
of the pieces that need them, and work on pieces meanwhile; a piece whose file is not checked yet waits for it, or checks it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.arrays import Rows
from csaw.engine.samples.layout import RAGGED_WALKS

PIECE = 1 << 22  # bytes of ids in a piece, unless an instance has more
AHEAD = 2  # pieces, and files to check, for each thread: some are done while their turn has not come
EDGES = {"subgraphs": ("instance_ptr", "src"), "batches": ("edge_ptr", "row"), RAGGED_WALKS: ("walk_ptr", "walks")}
"""Of each layout whose instances differ in size, the array of the bounds of their edges, and one of the edges; of walks that of vertices."""
Span = tuple[int, int]
Work = Callable[[int, int], Any]


def in_order(samples: Samples, names: list[str], spans: Iterable[Span], work: Work, threads: int) -> Iterator[tuple[int, Any]]:  # fmt: skip
    """The end of each span of instances and what ``work(start, stop)`` has made of it, in order.

    ``names`` are the arrays that it reads. At most ``AHEAD`` results for each thread are kept for their turn. The first error ends all.
    """
    checks, upto = _checks(samples, names), 0
    waiting: deque[tuple[int, Future]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for start, stop in spans:
            wanted = -(-len(checks) * stop // samples.instances) + AHEAD * threads
            for rows, chunk in checks[upto:wanted]:
                pool.submit(rows.check, chunk)  # an error comes again, in its turn, from the piece that needs the file
            upto = max(upto, wanted)
            waiting.append((stop, pool.submit(work, start, stop)))
            if len(waiting) > AHEAD * threads:
                yield _taken(waiting)
        while waiting:
            yield _taken(waiting)
    finally:
        pool.shutdown(cancel_futures=True)


def _taken(waiting: deque[tuple[int, Future]]) -> tuple[int, Any]:
    stop, made = waiting.popleft()
    return stop, made.result()


def _checks(samples: Samples, names: list[str]) -> list[tuple[Rows, int]]:
    """Files of the arrays, in about the order in which instances need them."""
    arrays = [samples[name] for name in names]
    files = [((chunk + 1) / rows.chunks, rows, chunk) for rows in arrays for chunk in range(rows.chunks)]
    return [(rows, chunk) for _, rows, chunk in sorted(files, key=lambda file: file[0])]


def groups(samples: Samples) -> Iterator[Span]:
    """First and last instance of each group, the last one exclusive."""
    for start in range(0, samples.instances, samples.group_size):
        yield start, min(start + samples.group_size, samples.instances)


def group_bytes(samples: Samples) -> int:
    """Bytes of a group in the store, on average, and at least 1."""
    return max(1, samples.nbytes * samples.group_size // max(samples.instances, samples.group_size))


def pieces(samples: Samples) -> Iterator[Span]:
    """Spans of instances of about PIECE bytes each, none of them in two groups."""
    for start, stop in groups(samples):
        cuts = _cuts_of_edges(samples, start, stop) if samples.layout in EDGES else _cuts(samples, start, stop)
        yield from zip(cuts, [*cuts[1:], stop], strict=True)


def _cuts(samples: Samples, start: int, stop: int) -> list[int]:
    names = samples.hop_names() if samples.layout == "hops" else ["walks"]
    row_bytes = sum(samples[name].shape[1] * samples[name].dtype.itemsize for name in names)
    return list(range(start, stop, max(1, PIECE // max(row_bytes, 1))))


def _cuts_of_edges(samples: Samples, start: int, stop: int) -> list[int]:
    """Where as many edges have been as a piece has."""
    pointer, array = EDGES[samples.layout]
    bounds = samples.bounds(pointer, array, start, stop)
    each = max(1, PIECE // (2 * samples[array].dtype.itemsize))
    marks = np.arange(bounds[0], max(bounds[-1], bounds[0] + 1), each)
    return np.unique(start + np.minimum(np.searchsorted(bounds, marks), stop - start - 1)).tolist()
