"""PyG's names in an .npz: ``edge_index`` [2, edges] counts in ``n_id``, the sampled vertices' own ids; no torch needed.

``instance`` and ``depth`` go with the edges; walks add ``walk`` [instances, walk_length + 1], -1 after the end. It is made in memory.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.npy import named
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import iter_edges

SUFFIXES = (".npz",)


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    np.savez(file, **arrays_of(samples, update))  # type: ignore[arg-type]


def arrays_of(samples: Samples, update: Callable[[int], None]) -> dict[str, np.ndarray]:
    """Everything by name; string ids as an array of strings."""
    pieces = []
    for done, edges in iter_edges(samples):
        pieces.append(edges)
        update(done)
    kinds: dict[str, np.dtype | str] = {
        "instance": "<i8",
        "src": _others(samples)[0].dtype,
        "dst": _others(samples)[0].dtype,
        "depth": "<i4",
    }
    pieces = pieces or [{column: np.zeros(0, kind) for column, kind in kinds.items()}]
    whole = {column: np.concatenate([p[column] for p in pieces]) for column in kinds}
    held = [whole["src"], whole["dst"], *_others(samples)]
    ids, number = np.unique(np.concatenate([part.ravel() for part in held]), return_inverse=True)
    fill = np.flatnonzero(ids == ids.dtype.type(samples.fill))
    absent = int(fill[0]) if fill.size else ids.size
    number = np.where(number == absent, -1, number - (number > absent)).astype(np.int64)
    size = whole["src"].size
    arrays = {
        "edge_index": number[: 2 * size].reshape(2, size),
        "n_id": named(samples, np.delete(ids, fill), samples.labels()),
        "instance": whole["instance"],
        "depth": whole["depth"],
    }
    if samples.layout == "walks":
        arrays["walk"] = number[2 * size :].reshape(samples.walks.shape)
    return arrays


def _others(samples: Samples) -> list[np.ndarray]:
    """Vertices that may be on no edge."""
    if samples.layout == "walks":
        return [samples.walks[:]]
    return [samples.hops[0][:] if samples.layout == "hops" else samples.sources[:]]
