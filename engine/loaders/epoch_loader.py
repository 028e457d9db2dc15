"""The base of loaders: each ``for`` loop over one is another epoch, drawn ahead by a thread while the model trains."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from enum import Enum
from typing import Generic, NoReturn, Protocol, TypeVar

from csaw.engine.loaders.mini_batches import checked_epoch
from csaw.engine.loaders.tensors import after_default_streams

# Items of an iterator, made by a thread before they are asked for.

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


Drawn = TypeVar("Drawn")  # a mini-batch as it was drawn
Made = TypeVar("Made")  # a mini-batch as the caller gets it

AHEAD = 2  # mini-batches with their features, made while the model trains
EARLY = 8  # mini-batches of an epoch that are left when the next one is begun


class Epochs(Protocol[Drawn]):
    """Draws the mini-batches of epoch after epoch, those ``first`` to ``last`` - 1 of each."""

    epochs: int
    first: int
    last: int

    def draw(self, epoch: int) -> Generator[list[Drawn], None, None]:
        """Yield the mini-batches of an epoch, those that were drawn together in a list."""

    def close(self) -> None:
        """Give back the graph, threads and devices."""


class EpochLoader(ABC, Generic[Drawn, Made]):
    """``drawn`` draws the mini-batches ``first`` to ``last`` - 1 of an epoch: its ``draw`` yields lists of them, and it
    has so many ``epochs``.

    One thread draws the next list while another one finishes the mini-batches of the last, in order and only those of a
    ``for`` loop, because that calls what users give. Before the last mini-batches of an epoch the next one is begun:
    its first list is drawn, and stays in memory until it is asked for or the loader is closed or dropped.
    """

    drawn: Epochs[Drawn]
    _epoch = 0
    _begun: tuple[int, Ahead[list[Drawn]]] | None = None  # the number of the next epoch, and its lists

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied: it holds threads; make it where it is read"
        )

    def __len__(self) -> int:
        """Number of mini-batches of this process in an epoch."""
        return self.drawn.last - self.drawn.first

    def __iter__(self) -> Iterator[Made]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        return self._handed_out(epoch)

    def _handed_out(self, epoch: int) -> Generator[Made, None, None]:
        with closing(self._begun_or_new(epoch)) as lists, closing(Ahead(self._made(lists), AHEAD)) as made:
            for number, one in enumerate(made):
                if number == max(0, len(self) - EARLY) and self._epoch == epoch + 1 < self.drawn.epochs:
                    self._leave_begun()
                    self._begun = self._epoch, self._draw(self._epoch)
                after_default_streams()
                yield one

    def _begun_or_new(self, epoch: int) -> Ahead[list[Drawn]]:
        if self._begun and self._begun[0] == epoch:
            lists, self._begun = self._begun[1], None
            return lists
        self._leave_begun()
        return self._draw(epoch)

    def _draw(self, epoch: int) -> Ahead[list[Drawn]]:
        return Ahead(self.drawn.draw(epoch), 1)

    def _leave_begun(self) -> None:
        if self._begun:
            self._begun[1].close()
            self._begun = None

    def _made(self, lists: Ahead[list[Drawn]]) -> Generator[Made, None, None]:
        for several in lists:
            yield from map(self._finished, several)

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next ``for`` loop draws, from 0 on.

        OptionError where it is set to anything else.
        """
        return self._epoch

    @epoch.setter
    def epoch(self, number: int) -> None:
        self._epoch = checked_epoch(number, self.drawn.epochs)

    def close(self) -> None:
        """Give back the graph, threads and devices."""
        self._leave_begun()
        self.drawn.close()

    @abstractmethod
    def _finished(self, drawn: Drawn) -> Made:
        """The mini-batch that the caller gets for one that was drawn."""
