"""Work that the GPUs of a network share: each in threads of its own, in which it is the current GPU."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import cupy
import numpy as np

from csaw.engine.analytics.network import Block
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array
from csaw.partition.base import worker_pool as parts

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork

Part = TypeVar("Part")
Result = TypeVar("Result")


def on_each(networks: "Sequence[DeviceNetwork]", work: "Callable[[DeviceNetwork, int], Result]") -> list[Result]:
    """``work(network, number)`` on all GPUs at the same time; what each returned. All that was queued there is done, so that other GPUs may read it."""
    return parts.on_each(networks, _there(networks, work))


def in_order(
    networks: "Sequence[DeviceNetwork]", shares: Iterable[Part], work: "Callable[[DeviceNetwork, Part], Result]"
) -> Iterator[Result]:
    """``work(network, part)`` of each of ``shares``, in their order, by whichever GPU is idle. What was queued for a result is done when it comes."""
    return parts.in_order(networks, shares, _there(networks, work))


def _there(
    networks: "Sequence[DeviceNetwork]", work: "Callable[[DeviceNetwork, Part], Result]"
) -> "Callable[[DeviceNetwork, Part], Result]":
    """``work`` for threads, each with the GPU of its network. One GPU alone goes on in the caller's thread, and nobody waits for it."""
    if len(networks) == 1:
        return work
    cupy.cuda.get_current_stream().synchronize()  # other GPUs may read what the caller has made

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


def here(array: Array) -> Array:
    """An array of any GPU, whose work on it is done, on the current one: itself or a copy."""
    if array.device.id == cupy.cuda.Device().id:
        return array
    copy = cupy.empty(array.shape, array.dtype)
    with exchange():
        fetch(array, copy)
    return copy


def ranges(network: "DeviceNetwork", count: int) -> list[tuple[int, int]]:
    """The vertices in ``count`` ranges of about as many entries each, as (first, end); of whole blocks where not all rows are in memory."""
    wanted = network.edges * np.arange(1, count) // count
    if network.resident:
        cuts = cupy.searchsorted(network.indptr, cupy.asarray(wanted)).get()
    else:
        blocks = network.cut.partitions
        begins = np.array(
            [(part.first_edge, part.first_vertex) for part in blocks] + [(network.edges, network.vertices)]
        )
        cuts = begins[np.searchsorted(begins[:, 0], wanted), 1]
    return list(pairwise([0, *cuts.tolist(), network.vertices]))


def rows_of(network: "DeviceNetwork", first: int, last: int) -> Iterator[Block]:
    """The rows of one of ``ranges``: those in memory as a block whose offsets count from the first row of all, or block by block."""
    if network.resident:
        whole = next(network.blocks())
        yield Block(first, last, whole.indptr[first : last + 1], whole.indices, None)
    else:
        yield from network.blocks(wanted=lambda low, high: first <= low and high <= last)
