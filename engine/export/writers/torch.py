"""PyTorch: what pyg.py writes as tensors in a dict, from which ``Data(**torch.load(OUT, weights_only=True))`` makes
PyG's batch.

Counts are ints and lists of them, as PyG's loaders give them; string ids, ``original_id``, are a list of ``str``.
"""

from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from csaw.engine.export.common import OF_DRAWN
from csaw.engine.samples import Samples
from csaw.partition.errors import MissingDependencyError
from csaw.partition.graph.store import GraphStore

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".pt",)
IS_BINARY = True
NUMBERS_EDGES = True
LACKS = (OF_DRAWN,)
LISTS = ("num_sampled_nodes", "num_sampled_edges")


def write_samples(
    samples: Samples,
    file: IO[bytes],
    name: str,
    update: Callable[[int], None],
    threads: int,
    graph: GraphStore | None = None,
) -> None:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "a .pt file needs PyTorch: pip install torch; or export to .npz, which holds the same arrays"
        ) from error

    def held(key: str, value: "np.ndarray | int | np.integer | Sequence[object]") -> "Tensor | int | list[object]":
        if isinstance(value, np.ndarray):
            return value.tolist() if key in LISTS else torch.from_numpy(np.require(value, requirements=["C", "W"]))
        return int(value) if isinstance(value, int | np.integer) else list(value)

    sink = _Sink(file)
    data = {key: held(key, value) for key, value in samples.pyg(graph=graph, threads=threads).items()}
    try:
        torch.save(data, cast("IO[bytes]", sink))
    except RuntimeError as error:
        raise sink.error or error from error
    update(samples.instances)


class _Sink:
    """The file, as PyTorch writes to it, which makes an error of its own of what the disk says."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.flush = file, file.flush
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self.file.write(data)
        except OSError as error:
            self.error = error
            raise
