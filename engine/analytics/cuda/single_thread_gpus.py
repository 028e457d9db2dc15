"""GPUs that do a work in short steps together, all driven by one thread: to wake a thread for each step would take longer than most steps."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.cuda.memory import pinned
from csaw.engine.plan.contracts import Array

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork

Ranges = Sequence[tuple[int, int]]
GRAIN = 32  # a range begins at a multiple, so that no two GPUs write a word of a bitmap


class Seat:
    """A GPU of a team: its ``network``, and the vertices that it owns, ``first`` .. ``last`` - 1. What it is given is queued on a stream of its own."""

    def __init__(self, network: "DeviceNetwork", own: tuple[int, int]) -> None:
        self.network, (self.first, self.last) = network, own
        self.device, self.stream = cupy.cuda.Device(network.gpu.number), network.stream

    def use(self) -> None:
        """Let what follows be queued here."""
        self.device.use()
        self.stream.use()

    def wait_for(self, other: "Seat") -> None:
        """Let what is queued here from now on begin when all that is queued there is done."""
        other.use()
        queued = other.stream.record()
        self.use()
        self.stream.wait_event(queued)


@contextmanager
def seated(networks: "Sequence[DeviceNetwork]", ranges: Ranges) -> Iterator[list[Seat]]:
    """The seats of some GPUs, after what the caller has queued; at the end all that was queued is done, and the caller's GPU and stream are current again."""
    device, stream = cupy.cuda.Device(), cupy.cuda.get_current_stream()
    seats, queued = [Seat(*one) for one in zip(networks, ranges, strict=True)], stream.record()
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


class Counters:
    """Numbers that kernels of a GPU add to, uint64 [count], and that the host reads without waiting for other GPUs' before it asks for them."""

    def __init__(self, count: int) -> None:
        self.there, self.here = cupy.zeros(count, np.uint64), pinned((count,), np.dtype(np.uint64))

    def clear(self) -> None:
        self.there.fill(0)

    def ask(self) -> None:
        """Queue their way to the host."""
        self.there.get(out=self.here, blocking=False)

    def read(self) -> list[int]:
        """Wait for what was asked for, on the current stream."""
        cupy.cuda.get_current_stream().synchronize()
        return self.here.tolist()


def ranges_of(network: "DeviceNetwork", count: int, most: int) -> list[tuple[int, int]]:
    """The vertices in ``count`` ranges of about as much work each, as (first, end), where a row is read to its entry ``most`` at the farthest."""
    work = cupy.cumsum(cupy.minimum(network.degrees, most) + 1)
    cuts: Any = []
    if network.vertices:
        cuts = cupy.searchsorted(work, work[-1] * cupy.arange(1, count) // count).get() // GRAIN * GRAIN
    return list(pairwise([0, *map(int, cuts), *[0] * (count - 1 - len(cuts)), network.vertices]))


def copy_range(there: Array, here: Array, first: int, last: int) -> None:
    """Copy elements first .. last - 1 from another GPU's array to one of the current GPU."""
    if last > first:
        fetch(there[first:last], here[first:last])
