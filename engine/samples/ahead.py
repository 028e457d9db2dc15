"""Pieces of a sample, worked on by several threads and handed on in order: what export is made of.

A file of the store is compared with its checksum as a whole, which takes as long as anything that is done with it. So
threads check files some way ahead of the pieces that need them, and work on pieces meanwhile; a piece whose file is not
checked yet waits for it, or checks it.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from csaw.engine.samples.array import Array
from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.base.parallel import ordered

PIECE = 1 << 22  # bytes of ids in a piece, unless an instance has more
AHEAD = 2  # pieces, and files to check, for each thread: some are done while their turn has not come
Span = tuple[int, int]
Made = TypeVar("Made")


def in_order(
    samples: OpenedSamples, names: list[str], spans: Iterable[Span], work: Callable[[int, int], Made], threads: int
) -> Iterator[tuple[int, Made]]:
    """The end of each span of instances and what ``work(start, stop)`` has made of it, in order.

    ``names`` are the arrays that it reads. At most ``AHEAD`` results for each thread are kept for their turn. The first
    error ends all.
    """
    checks = _checks(samples, names)

    def made(start: int, stop: int) -> tuple[int, Made]:
        return stop, work(start, stop)

    def begun() -> Iterator[Future[tuple[int, Made]]]:
        upto = 0
        for start, stop in spans:
            wanted = -(-len(checks) * stop // max(samples.instances, 1)) + AHEAD * threads
            for rows, chunk in checks[upto:wanted]:
                pool.submit(rows.check, chunk)  # an error comes again, in its turn, from the piece that needs the file
            upto = max(upto, wanted)
            yield pool.submit(made, start, stop)

    pool = ThreadPoolExecutor(threads)
    try:
        yield from ordered(begun(), AHEAD * threads)
    finally:
        pool.shutdown(cancel_futures=True)


def _checks(samples: OpenedSamples, names: list[str]) -> list[tuple[Array, int]]:
    """Files of the arrays, in about the order in which instances need them."""
    arrays = [samples[name] for name in names]
    files = [((chunk + 1) / rows.chunks, rows, chunk) for rows in arrays for chunk in range(rows.chunks)]
    return [(rows, chunk) for _, rows, chunk in sorted(files, key=lambda file: file[0])]


def groups(samples: OpenedSamples) -> Iterator[Span]:
    """First and last instance of each group, the last one exclusive."""
    for start in range(0, samples.instances, samples.group_size):
        yield start, min(start + samples.group_size, samples.instances)


def group_bytes(samples: OpenedSamples) -> int:
    """Bytes of a group in the store, on average, and at least 1."""
    return max(1, samples.nbytes * samples.group_size // max(samples.instances, samples.group_size))


def pieces(samples: OpenedSamples) -> Iterator[Span]:
    """Spans of instances of about PIECE bytes each, none of them in two groups."""
    for start, stop in groups(samples):
        cuts = samples.layout.cuts(samples.path, samples.arrays, (start, stop), PIECE)
        yield from zip(cuts, [*cuts[1:], stop], strict=True)
