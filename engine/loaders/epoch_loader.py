"""What loaders share: each ``for`` loop over one is another epoch, drawn ahead by a thread while the model trains."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from copy import copy
from typing import Any, Generic, TypeVar

from csaw.engine.loaders.ahead import Ahead
from csaw.engine.loaders.mini_batches import EPOCHS, checked_epoch

Made = TypeVar("Made")

AHEAD = 2  # mini-batches with their features, made while the model trains
EARLY = 8  # mini-batches of an epoch that are left when the next one is begun


class EpochLoader(ABC, Generic[Made]):
    """``drawn`` has what this process draws of each epoch: mini-batches ``first`` to ``last`` - 1."""

    drawn: Any
    _epoch = 0
    _begun: tuple[int, Ahead[Any]] | None = None  # the number of the next epoch, and its mini-batches

    def __len__(self) -> int:
        """Number of mini-batches of this process in an epoch."""
        return self.drawn.last - self.drawn.first

    def __iter__(self) -> Iterator[Made]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        return self._handed_out(epoch)

    def _handed_out(self, epoch: int) -> Generator[Made, None, None]:
        """The mini-batches of an epoch. Before the last ones, the next epoch is begun, so that its first ones are there when it is asked for."""
        with closing(self._begun_or_new(epoch)) as made:
            for number, one in enumerate(made):
                if number == max(0, len(self) - EARLY) and self._epoch == epoch + 1 < EPOCHS:
                    self._begun = self._epoch, self._begin(self._epoch)
                yield one

    def _begun_or_new(self, epoch: int) -> Ahead[Made]:
        (number, made), self._begun = self._begun or (epoch, None), None
        if made is not None and number != epoch:
            made.close()
            made = None
        return made or self._begin(epoch)

    def _begin(self, epoch: int) -> Ahead[Made]:
        """Begin to make the mini-batches of an epoch. Threads hold a copy, so that nothing is left where the loader is dropped."""
        maker = copy(self)
        maker._begun = None
        return Ahead(maker._made(epoch), AHEAD)

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next ``for`` loop draws, from 0 on. OptionError where it is set to anything else."""
        return self._epoch

    @epoch.setter
    def epoch(self, number: int) -> None:
        self._epoch = checked_epoch(number)

    def close(self) -> None:
        """Give back the graph, threads and devices."""
        if self._begun:
            self._begun[1].close()
            self._begun = None
        self.drawn.close()

    @abstractmethod
    def _made(self, epoch: int) -> Generator[Made, None, None]:
        """The mini-batches of an epoch, in order."""
