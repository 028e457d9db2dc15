"""The seeds of loaders, as users give them: numbers of vertices, or a mask of all vertices."""

import numpy as np

from csaw.engine.loaders.optional import needed
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

needed("torch")

import torch
from torch import Tensor


def input_nodes_of(given: object, vertices: int) -> Tensor | None:
    """The seeds that ``input_nodes`` names, in host memory: int64 [n] numbers below ``vertices``, or a bool for each
    vertex, of which those that are true are seeds. None for None.

    OptionError for anything else. PyTorch would cut off fractions, and take the bools of a list as numbers.
    """
    if given is None:
        return None
    held = _array_of(given)
    is_mask = held.dtype.kind == "b"
    if held.ndim != 1 or held.dtype.kind not in "biu" or _mixed(given, held) or (is_mask and held.size != vertices):
        found = f"{held.size:,} bools" if is_mask and held.ndim == 1 else quoted(given)
        raise OptionError(
            f"input_nodes: expected integers, numbers of vertices, or a mask, a bool for each of {vertices:,} "
            f"vertices, found {found}"
        )
    if is_mask:
        return torch.from_numpy(held)
    if (outside := held[(held < 0) | (held >= vertices)]).size:
        raise OptionError(
            f"input_nodes: expected numbers of vertices from 0 to {vertices - 1}, found {quoted(int(outside[0]))}"
        )
    return torch.from_numpy(held.astype(np.int64))


def vertices_in(nodes: Tensor | None) -> np.ndarray | None:
    """int64 [n]: the numbers of vertices that seeds are, of which a mask has those that are true."""
    if nodes is None:
        return None
    return (nodes.nonzero()[:, 0] if nodes.dtype == torch.bool else nodes).numpy()


def _array_of(given: object) -> np.ndarray:
    """The entries of a list, an array or a tensor; one of no dimension where they are none."""
    if isinstance(given, np.ma.MaskedArray):  # whose mask NumPy would drop
        return np.array(None)
    try:
        held = given.detach().cpu().numpy() if isinstance(given, Tensor) else np.array(given)
    except (TypeError, ValueError, RuntimeError):  # lists of different lengths, and types that NumPy has not
        return np.array(None)
    return held if held.size or held.ndim != 1 else held.astype(np.int64)


def _mixed(given: object, held: np.ndarray) -> bool:
    """Whether a list has both bools and numbers, of which NumPy makes numbers."""
    return isinstance(given, list | tuple) and held.dtype.kind != "b" and any(isinstance(one, bool) for one in given)
