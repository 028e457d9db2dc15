"""GPUs that share a task, driven by one thread in short steps, or each by a separate thread; and arrays of the
vertices, of which each GPU finds the numbers of its own vertices, a range.

All GPUs have the numbers of all vertices: duplicate-all (engine/analytics/spread.py). What a GPU finds of its own ones
the others hear after a step, by copies or by kernels that read or write the numbers where they are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Protocol, Self, TypeVar

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.spread import Range
from csaw.engine.cuda.graphs.node import copied, fetch
from csaw.engine.cuda.memory import pinned
from csaw.partition.base import parallel as parts

# GPUs that share a work in short steps: one thread drives all, since to wake others would take longer than a step.

Result = TypeVar("Result")
TAKE_BLOCKS = 4  # of a multiprocessor, for lists of another GPU, whose lengths the host does not know


def reach_all(network: DeviceNetwork) -> bool:
    """Whether kernels of each of the network's GPUs reach the memory of all others."""
    gpus = (network.gpu, *network.others)
    return all(other.number in (one.number, *one.peers) for one in gpus for other in gpus)


def told_how(network: DeviceNetwork) -> bool:
    """Whether the user has said how GPUs that have all rows tell each other what changed.

    They must read each other's memory.
    """
    return bool(network.exchange and network.others and network.resident and reach_all(network))


class Seat:
    """A GPU among others: its ``network``, and the vertices that it owns, ``first`` up to before ``last``.

    Work for it is queued on a stream of its own. ``number``: its place among the seats, from 0 on.
    """

    def __init__(self, number: int, network: DeviceNetwork, own: Range) -> None:
        self.number, self.network, (self.first, self.last) = number, network, own
        self.device, self.stream = cupy.cuda.Device(network.gpu.number), network.stream

    @property
    def seat(self) -> Self:
        """Itself: steps take seats as they take shares of a work, which have one."""
        return self

    def rows(self) -> Block:
        """The rows of its vertices, which are in its memory."""
        return next(rows_of(self.network, self.first, self.last))

    def use(self) -> None:
        """Make this GPU and its stream current: kernels and copies from now on are queued here."""
        self.device.use()
        self.stream.use()

    def wait_for(self, other: "Seat") -> None:
        """Let work that is queued here from now on begin when all that is queued on ``other`` is done."""
        other.use()
        queued = other.stream.record()
        self.use()
        self.stream.wait_event(queued)


@contextmanager
def seated(networks: Sequence[DeviceNetwork], ranges: Sequence[Range]) -> Iterator[list[Seat]]:
    """Give each GPU a seat with one of ``ranges``, after what the caller has queued.

    At the end all that was queued is done, and the caller's GPU and stream are current again.
    """
    device, stream = cupy.cuda.Device(), cupy.cuda.get_current_stream()
    seats = [Seat(number, *one) for number, one in enumerate(zip(networks, ranges, strict=True))]
    queued = stream.record()
    try:
        for seat in seats:
            seat.use()
            seat.stream.wait_event(queued)
        yield seats
    finally:
        for seat in seats:
            seat.use()
            seat.stream.synchronize()
            cupy.cuda.Stream.null.use()
        device.use()
        stream.use()


class Seated(Protocol):
    """A share of a work, or a seat itself."""

    @property
    def seat(self) -> Seat: ...


One = TypeVar("One", bound=Seated)


def step(shares: Iterable[One], work: Callable[[One], Result]) -> list[Result]:
    """Call ``work(share)`` for each share with its GPU current, where it queues its part of a step."""
    found = []
    for share in shares:
        share.seat.use()
        found.append(work(share))
    return found


def then_step(shares: Sequence[One], work: Callable[[One], Result]) -> list[Result]:
    """Do a step that begins on each GPU when all that is queued on the others is done."""
    meet(shares)
    return step(shares, work)


def meet(shares: Sequence[Seated]) -> None:
    """Let work that is queued on any GPU from now on begin when all that is queued on the others is done."""
    queued = step(shares, lambda share: share.seat.stream.record())
    for number, share in enumerate(shares):
        share.seat.use()
        for event in queued[:number] + queued[number + 1 :]:
            share.seat.stream.wait_event(event)


def address_of(array: Array) -> np.uint64:
    """Where an array of a GPU whose memory the current one reaches begins."""
    return np.uint64(array.data.ptr)


def addresses(arrays: Sequence[Array | None]) -> Array:
    """uint64 on the current GPU: where arrays of GPUs that reach each other's memory begin; 0 in place of None."""
    return cupy.asarray(np.array([0 if one is None else one.data.ptr for one in arrays], np.uint64))


class Counters:
    """Numbers that kernels of a GPU add to, uint64 [count].

    The host asks all GPUs for theirs before it waits for the first of them.
    """

    def __init__(self, count: int) -> None:
        self.there, self.here = cupy.zeros(count, np.uint64), pinned((count,), np.dtype(np.uint64))

    def clear(self) -> None:
        self.there.fill(0)

    def ask(self) -> None:
        """Queue a copy of the numbers to the host."""
        self.there.get(out=self.here, blocking=False)

    def read(self) -> list[int]:
        """Wait for the copy that was asked for last, on the current stream, and return the numbers."""
        cupy.cuda.get_current_stream().synchronize()
        return self.here.tolist()


def copy_range(there: Array, here: Array, first: int, last: int) -> None:
    """Copy the elements first .. last - 1 of another GPU's array to those of an array of the current GPU."""
    if last > first:
        fetch(there[first:last], here[first:last])


# GPUs that share a work in large parts: a thread drives each, and it is the current GPU there.

Part = TypeVar("Part")


def on_each(networks: Sequence[DeviceNetwork], work: Callable[[DeviceNetwork, int], Result]) -> list[Result]:
    """Call ``work(network, number)`` on all GPUs at the same time, and return the results in order.

    All that was queued there is done then, so that other GPUs may read it.
    """
    return parts.on_each(networks, _there(networks, work))


def in_order(
    networks: Sequence[DeviceNetwork], shares: Iterable[Part], work: Callable[[DeviceNetwork, Part], Result]
) -> Iterator[Result]:
    """Call ``work(network, part)`` on each of ``shares`` by whichever GPU is idle; yield the results in order.

    All that was queued for a result is done when it comes.
    """
    return parts.in_order(networks, shares, _there(networks, work))


def _there(
    networks: Sequence[DeviceNetwork], work: Callable[[DeviceNetwork, Part], Result]
) -> Callable[[DeviceNetwork, Part], Result]:
    """Make ``work`` run on the GPU of its network, and wait for it there.

    One GPU alone goes on in the caller's thread, and nobody waits for it.
    """
    if len(networks) == 1:
        return work
    cupy.cuda.get_current_stream().synchronize()  # other GPUs may read what the caller has made

    def run(network: DeviceNetwork, part: Part) -> Result:
        with cupy.cuda.Device(network.gpu.number) as gpu:
            gpu.use()  # which a new thread has not done, even of the first GPU
            found = work(network, part)
            cupy.cuda.get_current_stream().synchronize()
            return found

    return run


@contextmanager
def exchange() -> Iterator[None]:
    """Queue copies between GPUs on a stream of their own, and wait for them at the end.

    On the default stream, a copy would wait for all that both GPUs have to do, and hold up what comes after it there.
    """
    stream = cupy.cuda.Stream(non_blocking=True)
    # Memory here may have been given back by work that is queued still.
    stream.wait_event(cupy.cuda.get_current_stream().record())
    with stream:
        yield
    stream.synchronize()


def here(array: Array) -> Array:
    """Return an array of any GPU, whose work on it is done, on the current one: itself or a copy."""
    if array.device.id == cupy.cuda.Device().id:
        return array
    copy = cupy.empty(array.shape, array.dtype)
    with exchange():
        fetch(array, copy)
    return copy


def rows_of(network: DeviceNetwork, first: int, last: int, *, weights: bool = False) -> Iterator[Block]:
    """Yield the rows of one of the network's ``shares``, first .. last - 1, with weights if they are wanted.

    Rows in memory come as one block, whose offsets count from the first row of all; others come block by block.
    """
    if network.resident:
        whole = next(network.blocks(weights=weights))
        yield Block(first, last, whole.indptr[first : last + 1], whole.indices, whole.weights if weights else None)
    else:
        yield from network.blocks(weights=weights, wanted=lambda low, high: first <= low and high <= last)


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
