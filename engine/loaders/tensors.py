"""Arrays of NumPy and CuPy as tensors, and the shares of the processes of a data-parallel job."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.plan.contracts import Array
from csaw.engine.samples import NOTHING
from csaw.partition.base import libraries
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from torch import Tensor


needed = partial(libraries.needed, by="this loader")
"""A module of PyTorch or PyTorch Geometric; MissingDependencyError says what to install."""


# Arrays as tensors.

SIGNED, LOWER_BITS = 2**31, 2**32 - 1
# signed integers of mini-batches that a model reads on its device, beside n_id
EDGES = ("row", "col", "e_id", "batch", "time", "seed_time", "relation")


def tensors_of(arrays: dict[str, Array], vertices: int) -> "dict[str, Array | Tensor]":
    """The arrays of a batch of mini-batches, with those that a model reads as int64 tensors: once for all of them,
    because each conversion takes longer than a slice.

    ``vertices``: those of the graph.
    """
    return (
        arrays
        | {name: int64_of(arrays[name]) for name in EDGES if name in arrays}
        | {"n_id": vertices_of(arrays["n_id"], vertices)}
    )


def vertices_of(array: Array, vertices: int) -> "Tensor":
    """Dense ids (NumPy or CuPy) as an int64 tensor on their device, where PyTorch looks them up.

    They are signed, as samples have them, or unsigned, as they are drawn; -1 where all bits are set, which stand for
    nothing.

    ``vertices``: those of the graph, below 2^32 where ids have 32 bits.
    """
    narrow = array.dtype.itemsize == 4
    out = int64_of(array.view(np.int32 if narrow else np.int64))
    if narrow and vertices > SIGNED:
        out = out.where(out == NOTHING, out & LOWER_BITS)
    return out


def int64_of(array: Array) -> "Tensor":
    """Signed integers as an int64 tensor on their device.

    The memory of a GPU's array may be given back from now on, unless the tensor shares it.
    """
    torch = needed("torch")
    if isinstance(array, np.ndarray):
        # By this thread: those of PyTorch would wait for each other.
        return torch.from_numpy(owned(np.ascontiguousarray(array, np.int64)))
    return _given_back(torch.from_dlpack(array).to(torch.int64))


def owned(array: np.ndarray) -> np.ndarray:
    """The array itself where it can be written, as tensors can; otherwise a copy."""
    return array if array.flags.writeable else array.copy()


def float32_of(array: Array) -> "Tensor":
    """Floats of 32 bits as a tensor on their device. The memory of a GPU's array may be given back from now on."""
    torch = needed("torch")
    if isinstance(array, np.ndarray):
        return torch.from_numpy(owned(array))
    return _given_back(torch.from_dlpack(array).clone())


def _given_back(copy: "Tensor") -> "Tensor":
    """A copy of an array, which is done before the array's memory is used again: on the default stream, on which csaw
    draws, that follows of itself.

    A model that trains there is not waited for.
    """
    copying = needed("torch").cuda.current_stream(copy.device)
    if copying.cuda_stream:
        copying.synchronize()
    return copy


def after_default_streams() -> None:
    """Let what the caller does on its current streams come after the work of csaw's threads.

    They work on the default streams, where tensors are made.

    The host does not wait.
    """
    cuda = needed("torch").cuda
    if not cuda.is_initialized():
        return
    for number in range(cuda.device_count()):
        current, default = cuda.current_stream(number), cuda.default_stream(number)
        if current != default:
            current.wait_stream(default)


def share_of(rank: int | None, world: int | None) -> tuple[int, int]:
    """The share of this process: as given, or that of ``torch.distributed``; OptionError unless 0 <= rank < world."""
    if (rank is None) != (world is None):
        raise OptionError(
            f"rank and world: expected both or neither, found rank={quoted(rank)} and world={quoted(world)}"
        )
    if rank is None or world is None:
        distributed = needed("torch.distributed")
        ready = distributed.is_available() and distributed.is_initialized()
        return (distributed.get_rank(), distributed.get_world_size()) if ready else (0, 1)
    if rank >= world:
        raise OptionError(f"rank: expected 0 <= rank < world, which is {world}, found {rank}")
    return rank, world


def span_of(count: int, share: int, shares: int) -> tuple[int, int]:
    """First and last number, plus one, of a share of 0 .. count - 1; the shares follow each other, and none has more
    than one beyond another.
    """
    return count * share // shares, count * (share + 1) // shares
