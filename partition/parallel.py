"""Work on pieces by a few threads, results in the order of the pieces. Kernels, reads and writes let go of the interpreter meanwhile."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

THREADS = max(
    2, min(4, os.cpu_count() or 1)
)  # each holds a few pieces: part of what the ingest takes beside its memory


def in_order(work: Callable[..., Any], pieces: Iterable[tuple]) -> Iterator[Any]:
    """``work(*piece)`` of each; one more than there are threads waits, so that none of them does."""
    with ThreadPoolExecutor(THREADS) as threads:
        waiting: deque[Future] = deque()
        for piece in pieces:
            waiting.append(threads.submit(work, *piece))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
