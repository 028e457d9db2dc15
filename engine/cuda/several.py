"""Work that the GPUs of a network share: each in threads of its own, in which it is the current GPU."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import cupy

from csaw.engine.contracts import Array
from csaw.engine.cuda.graphs.node import copied
from csaw.engine.schedule import parts

if TYPE_CHECKING:
    from csaw.engine.cuda.network import DeviceNetwork

Part = TypeVar("Part")
Result = TypeVar("Result")


def on_each(networks: "Sequence[DeviceNetwork]", work: "Callable[[DeviceNetwork, int], Result]") -> list[Result]:
    """``work(network, number)`` on all GPUs at the same time; what each returned. All that was queued there is done, so that other GPUs may read it."""
    return parts.on_each(networks, _there(work))


def in_order(
    networks: "Sequence[DeviceNetwork]", shares: Iterable[Part], work: "Callable[[DeviceNetwork, Part], Result]"
) -> Iterator[Result]:
    """``work(network, part)`` of each of ``shares``, in their order, by whichever GPU is idle. What was queued for a result is done when it comes."""
    return parts.in_order(networks, shares, _there(work))


def _there(work: "Callable[[DeviceNetwork, Part], Result]") -> "Callable[[DeviceNetwork, Part], Result]":
    def run(network: "DeviceNetwork", part: Part) -> Result:
        with cupy.cuda.Device(network.gpu.number) as gpu:
            gpu.use()  # which a new thread has not done, even of the first GPU
            found = work(network, part)
            cupy.cuda.get_current_stream().synchronize()
            return found

    return run


def add(total: Array, found: Array) -> None:
    """Add an array of any GPU to one of the current GPU."""
    if found.device == total.device:
        total += found
    else:
        total += copied(found)
        cupy.cuda.get_current_stream().synchronize()  # before the other GPU has its memory back
