"""What loaders share: each ``for`` loop over one is another epoch, drawn ahead by a thread while the model trains."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Any, Generic, TypeVar

from csaw.engine.loaders.ahead import ahead
from csaw.engine.loaders.mini_batches import checked_epoch

Made = TypeVar("Made")

AHEAD = 2  # mini-batches with their features, made while the model trains


class EpochLoader(ABC, Generic[Made]):
    """``drawn`` has what this process draws of each epoch: mini-batches ``first`` to ``last`` - 1."""

    drawn: Any
    _epoch = 0

    def __len__(self) -> int:
        """Number of mini-batches of this process in an epoch."""
        return self.drawn.last - self.drawn.first

    def __iter__(self) -> Iterator[Made]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        return ahead(self._made(epoch), AHEAD)

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next ``for`` loop draws, from 0 on. OptionError where it is set to anything else."""
        return self._epoch

    @epoch.setter
    def epoch(self, number: int) -> None:
        self._epoch = checked_epoch(number)

    def close(self) -> None:
        """Give back the graph, threads and devices."""
        self.drawn.close()

    @abstractmethod
    def _made(self, epoch: int) -> Generator[Made, None, None]:
        """The mini-batches of an epoch, in order."""
