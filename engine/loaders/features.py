"""Rows of features for the vertices of a mini-batch, wherever the features are: in memory, in a file that is mapped, on
a GPU.
"""

import warnings

import numpy as np

from csaw.engine.loaders.optional import needed
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

needed("torch")

import torch
from torch import Tensor


def as_tensor(name: str, values: object, rows: int) -> Tensor:
    """Features as a tensor that shares their memory: of a NumPy array or memory map, a tensor, or an array on a GPU
    (DLPack).

    OptionError unless they have ``rows`` rows.
    """
    try:
        if isinstance(values, np.ndarray):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nothing writes to it
                held = torch.from_numpy(values)
        else:
            held = values if isinstance(values, torch.Tensor) else torch.from_dlpack(values)
    except Exception as error:  # of PyTorch, or of the object's library
        raise OptionError(
            f"{name}: expected an array of numbers, a tensor, or an array on a GPU, found {quoted(values)}"
        ) from error
    if held.ndim == 0 or held.shape[0] != rows:
        raise OptionError(f"{name}: expected {rows:,} rows, found the shape {list(held.shape)}")
    return held


def gathered(values: Tensor, index: Tensor) -> Tensor:
    """The rows of a tensor that ``index``, an int64 tensor, names, in its order; on the device of the tensor."""
    return values.index_select(0, index.to(values.device))
