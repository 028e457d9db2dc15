"""A batch of walks on a GPU."""

from typing import Any

import cupy
import numpy as np

from csaw.engine.cuda.launch import BLOCK, WARP, struct


class Walks:
    """Walkers ``first .. first + len(sources)``; ``walks`` [n, L + 1] as they are stored."""

    def __init__(self, backend: Any, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.length = backend, first, backend.algorithm.walk_length
        self.source = cupy.asarray(sources, backend.store.id_dtype)
        self.walks = cupy.empty((sources.size, self.length + 1), backend.store.id_dtype)
        self.lengths = cupy.empty(sources.size, np.int32)
        self.counts = cupy.zeros(2, np.uint64)  # edges, walks that ended early

    def advance(self) -> None:
        backend, n = self.backend, self.source.size
        seed, kernels = np.uint64(backend.seed), backend.kernels
        output = struct(walkers=n, length=self.length, walks=self.walks, steps=self.lengths)
        head, tail = (output, self.first, kernels.params), (seed, self.source)
        if backend.ends_early:
            self.walks.data.memset_async(255, self.walks.nbytes)  # PREFILLED in walk.cu
        block = WARP if n <= WARP * WARP * kernels.device.processors else BLOCK  # few walkers: spread them out
        blocks = min(
            -(-n // block), 2048 // block * kernels.device.processors
        )  # a lane that is done takes its next walker
        if backend.select == "rejection":
            bounds = tuple(float(b) for b in backend.algorithm.bias_range())
            kernels.launch("walk_by_rejection", blocks, block, *head, *bounds, *tail, backend.counts)
        elif backend.select in ("uniform", "alias"):
            kernels.launch("walk_by_edge", blocks, block, *head, *tail)
        else:
            kernels.launch("walk_by_row", min(n, 1 << 20), WARP, *head, *tail, backend.bad)
            backend.check()
        kernels.launch(
            "count_walks",
            min(-(-n // BLOCK), kernels.device.processors),
            BLOCK,
            output,
            self.counts[:1],
            self.counts[1:],
        )

    def arrays(self) -> dict[str, np.ndarray]:
        return self.backend.to_host({"walks": self.walks, "lengths": self.lengths})

    def edges(self) -> int:
        return int(self.counts[0])

    def dead_ends(self) -> int:
        return int(self.counts[1])
