"""GPUs that share a work in large parts: a thread drives each, and it is the current GPU there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import cupy

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array
from csaw.partition.base import worker_pool as parts

Part = TypeVar("Part")
Result = TypeVar("Result")


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
