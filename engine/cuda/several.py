"""Work that the GPUs of a network share: each in threads of its own, in which it is the current GPU."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import cupy

from csaw.engine.contracts import Array
from csaw.engine.cuda.graphs.node import fetch
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


@contextmanager
def exchange() -> Iterator[None]:
    """Copies between GPUs, which are done at the end. On the default stream, a copy would wait for all that both GPUs have to do, and hold up what comes after it there."""
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.wait_event(
        cupy.cuda.get_current_stream().record()
    )  # memory here may have been given back by work that is queued still
    with stream:
        yield
    stream.synchronize()


def add(total: Array, found: Array) -> None:
    """Add an array of any GPU to one of the current GPU, of the same shape."""
    here = found
    if found.device != total.device:
        here = cupy.empty(found.shape, found.dtype)
        with exchange():
            fetch(found, here)
    total += here
