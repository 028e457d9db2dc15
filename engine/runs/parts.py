"""The instances that each of several processes draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, overload

from csaw.engine.runs.job import Job

Span = tuple[int, int]


@dataclass(frozen=True)
class Parts(Sequence[tuple[int, int]]):
    """The consecutive instances of one process in each epoch, as pairs of the first one and the one after the last.

    They are computed when asked for: a stream may have millions of epochs.

    The instances first .. last - 1 are cut into epochs of ``each`` instances (default: None, one epoch of all), the
    last of which may have fewer, and process ``rank`` of ``world`` has its share of each one, so that all processes are
    in the same epoch.
    """

    first: int
    last: int
    each: int | None = None
    rank: int = 0
    world: int = 1

    @classmethod
    def of(cls, job: Job, rank: int, world: int) -> Self:
        order = job.sources.order
        return cls(0, job.plan.request.instances, None if order is None else order.batches_per_epoch, rank, world)

    @property
    def _starts(self) -> range:
        return range(self.first, self.last, self.each or max(1, self.last - self.first))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> Span: ...

    @overload
    def __getitem__(self, number: slice) -> list[Span]: ...

    def __getitem__(self, number: int | slice) -> Span | list[Span]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        begin = self._starts[number]
        size = min(self._starts.step, self.last - begin)
        return begin + size * self.rank // self.world, begin + size * (self.rank + 1) // self.world

    @property
    def instances(self) -> int:
        """Number of instances of all parts: every epoch but the last has as many."""
        if not self._starts:
            return 0
        (start, end), (low, high) = self[0], self[-1]
        return (len(self) - 1) * (end - start) + high - low
