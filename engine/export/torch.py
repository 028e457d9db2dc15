"""PyTorch: the arrays of pyg.py as tensors in a dict, which ``torch.load(OUT, weights_only=True)`` gives back; string ids as a list."""

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from csaw.engine.export.pyg import arrays_of
from csaw.engine.samples import Samples
from csaw.partition.errors import MissingDependencyError

SUFFIXES = (".pt",)


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "a .pt file needs PyTorch: pip install torch; or export to .npz, which holds the same arrays"
        ) from error

    def tensor(array: np.ndarray) -> Any:
        if array.dtype.kind == "U":
            return array.tolist()
        small = array.dtype.kind == "u" and array.max(initial=0) < 2**63  # torch indexes by signed integers alone
        return torch.from_numpy(array.astype(np.int64) if small else array)

    torch.save({key: tensor(array) for key, array in arrays_of(samples, update).items()}, file)
