"""Pieces of work side by side, with results in the order of the pieces: what is made of them does not depend on the number of threads."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[..., Any], pieces: Iterable[tuple]) -> Iterator[Any]:
    """Yield ``work(*piece)`` of each piece, on all processors. Kernels, reads and hashes release the interpreter meanwhile.

    Two pieces for each thread are in work or wait to be taken, so memory is bounded.
    """
    threads = processors()
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future] = deque()
        try:
            for piece in pieces:
                waiting.append(pool.submit(work, *piece))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()
