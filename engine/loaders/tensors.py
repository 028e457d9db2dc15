"""Arrays of NumPy and CuPy as tensors, and the shares of the processes of a data-parallel job."""

from typing import Any

import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.loaders.optional import needed
from csaw.engine.samples import NOTHING
from csaw.partition.errors import OptionError
from csaw.partition.shown import quoted


def signed(ids: Array, fill: int) -> Array:
    """Vertices as int64, where PyTorch looks them up: NOTHING in place of ``fill``. NumPy or CuPy, as ``ids`` is."""
    out = ids.astype(np.int64)
    out[ids == ids.dtype.type(fill)] = NOTHING
    return out


def tensor_of(array: Array) -> Any:
    """The array as a tensor on its device, which shares its memory."""
    torch = needed("torch")
    if isinstance(array, np.ndarray):
        return torch.from_numpy(array)
    import cupy

    cupy.cuda.get_current_stream().synchronize()  # what it was made of is free from now on
    return torch.from_dlpack(array)


def share_of(rank: int | None, world: int | None) -> tuple[int, int]:
    """The share of this process: as given, or that of ``torch.distributed``; OptionError unless 0 <= rank < world."""
    if (rank is None) != (world is None):
        raise OptionError(f"rank and world: expected both or neither, found rank={quoted(rank)} and world={quoted(world)}")  # fmt: skip
    if rank is None or world is None:
        distributed = needed("torch.distributed")
        ready = distributed.is_available() and distributed.is_initialized()
        return (distributed.get_rank(), distributed.get_world_size()) if ready else (0, 1)
    if not (isinstance(rank, int) and isinstance(world, int) and 0 <= rank < world):
        raise OptionError(f"rank and world: expected 0 <= rank < world, found rank={quoted(rank)} and world={quoted(world)}")  # fmt: skip
    return rank, world


def span_of(count: int, share: int, shares: int) -> tuple[int, int]:
    """First and last number, plus one, of a share of 0 .. count - 1; the shares follow each other, and none has more than one beyond another."""
    return count * share // shares, count * (share + 1) // shares
