"""PyTorch: what pyg.py writes as tensors in a dict, from which ``Data(**torch.load(OUT, weights_only=True))`` makes
PyG's batch.

Counts are ints and lists of them, as PyG's loaders give them; string ids, ``original_id``, are a list of ``str``.
"""

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from csaw.engine.export.lacking import OF_DRAWN
from csaw.engine.samples import Samples
from csaw.partition.errors import MissingDependencyError
from csaw.partition.graph.store import GraphStore

SUFFIXES = (".pt",)
IS_BINARY = True
NUMBERS_EDGES = True
LACKS = (OF_DRAWN,)
LISTS = ("num_sampled_nodes", "num_sampled_edges")


def write(
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

    def held(key: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tolist() if key in LISTS else torch.from_numpy(np.ascontiguousarray(value))
        return int(value) if isinstance(value, int | np.integer) else list(value)

    torch.save({key: held(key, value) for key, value in samples.pyg(graph=graph, threads=threads).items()}, file)
    update(samples.instances)
