"""Seeds and features of loaders, as users give them."""

import warnings
from collections.abc import Callable

import numpy as np

from csaw.engine.loaders.tensors import needed
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.given_arrays import refuse_masked

# The seeds of loaders, as users give them: numbers of vertices, or a mask of all vertices.

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
            f"input_nodes: expected vertex numbers, or a mask with a bool for each of {vertices:,} vertices, "
            f"found {found}"
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


def links_of(name: str, given: object, vertices: tuple[int, int]) -> np.ndarray:
    """int64 [2, n]: the sources and targets that an argument, ``name``, gives, which are numbers below ``vertices``.
    OptionError for anything else.
    """
    held = _array_of(given)
    rows = given if isinstance(given, list | tuple) else ()
    if held.ndim != 2 or len(held) != 2 or held.dtype.kind not in "iu" or any(_mixed(row, held) for row in rows):
        found = f"{held.dtype} {list(held.shape)}" if held.ndim else quoted(given)
        hint = "; only graphs of several types have links of an edge type" if isinstance(given, tuple) else ""
        raise OptionError(f"{name}: expected vertex numbers [2, links], sources and targets, found {found}{hint}")
    for row, count, ends in zip(held, vertices, ("sources", "targets"), strict=True):
        if (outside := row[(row < 0) | (row >= count)]).size:
            raise OptionError(
                f"{name}: expected numbers of vertices from 0 to {count - 1} as {ends}, found {quoted(int(outside[0]))}"
            )
    return held.astype(np.int64)


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


# Rows of features for the vertices of a mini-batch, wherever the features are: in memory, in a file that is mapped, on
# a GPU.


SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
"""Types of which PyTorch cannot select rows, each with one of the same bits of which it can."""


def as_tensor(name: str, values: object, rows: int) -> Tensor:
    """Features as a tensor that shares their memory: of a NumPy array or memory map, a tensor, or an array on a GPU
    (DLPack).

    OptionError unless they have ``rows`` rows that can be selected, none of them masked.
    """
    refuse_masked(name, values)
    try:
        held = _tensor_of(values)
        shape = list(held.shape)
    except Exception as error:  # of PyTorch, or of the object's library
        raise OptionError(
            f"{name}: expected an array of numbers, a tensor, or an array on a GPU, found {quoted(values)}"
        ) from error
    if not shape or shape[0] != rows:
        raise OptionError(f"{name}: expected {rows:,} rows, found the shape {shape}")
    require_rows(name, held, gathered)
    return held


def _tensor_of(values: object) -> Tensor:
    if isinstance(values, np.ndarray):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nothing writes to it
            return torch.from_numpy(values)
    return values if isinstance(values, torch.Tensor) else torch.from_dlpack(values)


def require_rows(name: str, values: "Tensor | np.ndarray", select: Callable[..., object]) -> None:
    """OptionError unless ``select`` finds rows of an array or a tensor, as it would for each mini-batch."""
    refuse_masked(name, values)
    try:
        select(values, torch.zeros(0, dtype=torch.int64, device=getattr(values, "device", None)))
        found = "a tensor without values (meta)" if getattr(values, "is_meta", False) else ""
    except Exception as error:  # noqa: BLE001 - of PyTorch, which has no rows of some types and layouts
        layout, said = getattr(values, "layout", torch.strided), str(error).splitlines()[0][:120]
        kind = str(getattr(values, "dtype", type(values).__name__))
        found = f"{kind if layout == torch.strided else layout} ({said}); convert it"
    if found:
        raise OptionError(f"{name}: expected a dense tensor or array whose rows can be selected, found {found}")


def gathered(values: Tensor, index: Tensor) -> Tensor:
    """The rows of a tensor that ``index``, an int64 tensor, names, in its order; on the device of the tensor."""
    index = index.to(values.device)
    if values.dtype in SIGNED:
        return values.view(SIGNED[values.dtype]).index_select(0, index).view(values.dtype)
    return values.index_select(0, index)
