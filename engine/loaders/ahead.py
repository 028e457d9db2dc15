"""Items of an iterator, made by a thread before they are asked for."""

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, TypeVar

Item = TypeVar("Item")
END: Any = object()


def ahead(items: Generator[Item, None, None], most: int) -> Generator[Item, None, None]:
    """Yield ``items`` in order; a thread makes up to ``most`` of them while the caller works on another.

    An error comes when its item is asked for. ``items`` is closed, in the thread, when this generator is.
    """
    with ExitStack() as stack:
        thread = stack.enter_context(ThreadPoolExecutor(1))
        stack.callback(thread.submit, items.close)
        waiting: deque[Future[Item]] = deque(thread.submit(next, items, END) for _ in range(most))
        stack.callback(lambda: [future.cancel() for future in waiting])
        while (item := waiting.popleft().result()) is not END:
            waiting.append(thread.submit(next, items, END))
            yield item
