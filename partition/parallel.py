"""A few threads work on pieces; results come in the order of the pieces. Kernels, reads and writes release the interpreter meanwhile."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

THREADS = max(
    2, min(4, os.cpu_count() or 1)
)  # each holds a few pieces: part of what the ingest takes beside its memory


def in_order(work: Callable[..., Any], pieces: Iterable[tuple]) -> Iterator[Any]:
    """Yield ``work(*piece)`` of each piece. One piece more than there are threads is queued, so that no thread waits."""
    with ThreadPoolExecutor(THREADS) as threads:
        waiting: deque[Future] = deque()
        for piece in pieces:
            waiting.append(threads.submit(work, *piece))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
