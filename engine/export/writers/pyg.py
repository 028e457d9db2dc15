"""PyTorch Geometric's arrays in an .npz, by the names of :mod:`csaw.engine.samples.pyg`: all instances as one batch; no
torch needed.

String ids are ``original_id_offsets`` int64 [vertices + 1] and ``original_id_text`` uint8, UTF-8: that of node k is the
text from ``original_id_offsets[n_id[k]]`` to before the next offset. It is made in memory.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.common import OF_DRAWN
from csaw.engine.samples import Samples
from csaw.partition.graph.store import GraphStore

SUFFIXES = (".npz",)
IS_BINARY = True
NUMBERS_EDGES = True
LACKS = (OF_DRAWN,)


def write_samples(
    samples: Samples,
    file: IO[bytes],
    name: str,
    update: Callable[[int], None],
    threads: int,
    graph: GraphStore | None = None,
) -> None:
    batch = samples.pyg(graph=graph, threads=threads)
    words = batch.pop("original_id", None)
    if words is not None:
        batch |= {"original_id_offsets": words.offsets, "original_id_text": words.text}
    np.savez(file, **batch)
    update(samples.instances)
