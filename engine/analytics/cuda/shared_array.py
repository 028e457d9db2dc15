"""Arrays of the vertices on several GPUs, of which each GPU finds the numbers of its own vertices, a range.

All GPUs have the numbers of all vertices: duplicate-all (engine/analytics/spread.py). What a GPU finds of its own ones
the others hear after a step, by copies or by kernels that read or write the numbers where they are.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Self

import cupy
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.several_gpus import Counters, Seat, addresses, copy_range, step, then_step
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.cuda.graphs.node import copied, fetch

PAIR = 2  # numbers of a vertex that is told by itself; of one among all, one


class SharedArray:
    """An array of the vertices on each of the GPUs that have ``seats``: ``arrays``, in their order.

    Its methods queue work on all GPUs, unless they take a seat.
    """

    def __init__(self, seats: Sequence[Seat], arrays: Sequence[Array]) -> None:
        self.seats, self.arrays = seats, arrays
        self.told: list[tuple[Array, Array] | None] = [None] * len(seats)
        """Of each GPU the own vertices that others hear of, with their numbers; None: all."""

    @classmethod
    def made(cls, seats: Sequence[Seat], make: Callable[[Seat], Array]) -> Self:
        """Make the array of each GPU there."""
        return cls(seats, step(seats, make))

    @classmethod
    def copied(cls, seats: Sequence[Seat], array: Array) -> Self:
        """Copy an array of the first GPU to the others, once what is queued on the first is done."""

        def copy(seat: Seat) -> Array:
            seat.wait_for(seats[0])
            there = cupy.empty(array.shape, array.dtype)
            copy_range(array, there, 0, array.size)
            return there

        return cls(seats, [array, *step(seats[1:], copy)])

    def on(self, seat: Seat) -> Array:
        """The numbers of all vertices on a GPU."""
        return self.arrays[seat.number]

    def own(self, seat: Seat) -> Array:
        """The numbers of a GPU's own vertices."""
        return self.on(seat)[seat.first : seat.last]

    def fill(self, value: float) -> None:
        """Let all numbers be ``value``."""
        step(self.seats, lambda seat: self.on(seat).fill(value))

    def addresses(self, *, but: Seat | None = None) -> Array:
        """uint64 on the current GPU: where all GPUs have the numbers, or all but one."""
        return addresses([self.on(seat) for seat in self.seats if seat is not but])

    # What GPUs hear of each other

    def tell(self, before: Sequence[Array], exchange: Exchange | None) -> None:
        """Choose what others hear of own vertices: those that are not as ``before`` (selective), or all (broadcast).

        None: whichever are fewer bytes. ``before``: the own numbers of each GPU.
        """

        def choose(seat: Seat) -> tuple[Array, Array] | None:
            changed = self.own(seat) != before[seat.number]
            vertices = cupy.flatnonzero(changed) + seat.first
            few = exchange is Exchange.SELECTIVE or PAIR * vertices.size < changed.size
            return (vertices, self.on(seat)[vertices]) if few else None

        self.told = [None] * len(self.seats) if exchange is Exchange.BROADCAST else step(self.seats, choose)

    def exchange(self) -> None:
        """Let each GPU hear what the others tell of their own vertices, once all that is queued there is done."""
        then_step(self.seats, self._hear)

    def _hear(self, seat: Seat) -> None:
        for other, told in zip(self.seats, self.told, strict=True):
            if other is seat:
                continue
            if told is None:
                copy_range(self.on(other), self.on(seat), other.first, other.last)
            elif told[0].size:
                vertices, numbers = map(copied, told)
                self.on(seat)[vertices] = numbers

    def reduce(self, combine: Callable[..., object]) -> None:
        """Combine own numbers by a function of CuPy with those that the other GPUs have of the same vertices."""

        def gather(seat: Seat) -> None:
            own, heard = self.own(seat), cupy.empty_like(self.own(seat))
            for other in self.seats:
                if other is not seat and own.size:
                    fetch(self.on(other)[seat.first : seat.last], heard)
                    combine(own, heard, out=own)

        then_step(self.seats, gather)

    # What the host, or the first GPU, learns

    def gathered(self) -> Array:
        """Copy the own numbers of the other GPUs to the first, and return its array."""
        first, *others = self.seats
        for other in others:
            first.wait_for(other)
            copy_range(self.on(other), self.on(first), other.first, other.last)
        return self.on(first)

    def any(self) -> bool:
        """Wait for all GPUs, and say whether an own number of one of them is not 0."""
        largest = self._largest

        def ask(seat: Seat) -> None:
            own = self.own(seat)
            if own.size:
                largest[seat.number].there[0] = own.max()
            largest[seat.number].ask()

        step(self.seats, ask)
        return any(step(self.seats, lambda seat: largest[seat.number].read()[0]))

    @cached_property
    def _largest(self) -> list[Counters]:
        """A number on each GPU for ``any``; not asked for within a step, since it makes another GPU current."""
        return step(self.seats, lambda _: Counters(1))
