"""Items of an iterator, made by a thread before they are asked for."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from typing import Generic, TypeVar

Item = TypeVar("Item")


class End(Enum):
    """The mark after the last item."""

    END = 0


class Ahead(Generic[Item]):
    """``items`` in order, up to ``most`` of which a thread makes while the caller works on another; it begins at once.

    An error comes when its item is asked for. ``items`` is closed, in the thread, when this is.
    """

    def __init__(self, items: Generator[Item, None, None], most: int) -> None:
        self.items, self.thread = items, ThreadPoolExecutor(1)
        self.waiting: deque[Future[Item | End]] = deque(self.thread.submit(next, items, End.END) for _ in range(most))

    def __iter__(self) -> Iterator[Item]:
        while (item := self.waiting.popleft().result()) is not End.END:
            self.waiting.append(self.thread.submit(next, self.items, End.END))
            yield item

    def close(self) -> None:
        """Make no more items, and end the thread."""
        for future in self.waiting:
            future.cancel()
        try:
            self.thread.submit(self.items.close)
        except RuntimeError:  # Python is about to end, and has ended the thread
            self.items.close()
        self.thread.shutdown()
