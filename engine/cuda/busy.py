"""How evenly the passes over a streamed graph keep a GPU's multiprocessors busy (C-SAW, figure 14)."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.cuda.declarations import MOST_PROCESSORS

if TYPE_CHECKING:
    from cupy import ndarray as Array

    from csaw.engine.cuda.launch import Kernels

MOST_PASSES = 256  # that are kept: half a MiB


class Busy:
    """The clocks of each multiprocessor's warps in the first passes of a run: kernels add them up, see
    cuda/kernels/busy.cuh.
    """

    def __init__(self, kernels: "Kernels") -> None:
        self.processors, self.clocks = kernels.device.processors, kernels.array("BUSY", MOST_PROCESSORS, np.uint64)
        self.passes: list[Array] = []

    def end_pass(self) -> None:
        """Keep the clocks of the launches since the last pass, once the current stream has done them."""
        if len(self.passes) < MOST_PASSES:
            self.passes.append(self.clocks.copy())
            self.clocks.fill(0)

    def deviation(self) -> float:
        """The mean of the passes' deviations between multiprocessors, each a share of their mean."""
        return deviation(np.stack([one.get() for one in self.passes]), self.processors) if self.passes else 0.0


def deviation(clocks: np.ndarray, processors: int) -> float:
    """The standard deviation between ``processors``, as a share of their mean, in the mean of all passes with work.

    ``clocks`` [passes, numbers]: of what may be numbered with gaps, so that the largest are those that are there.
    """
    busy = np.sort(clocks.astype(np.float64), axis=1)[:, -processors:]
    busy = busy[busy.any(axis=1)]
    return float(np.mean(busy.std(axis=1) / busy.mean(axis=1))) if len(busy) else 0.0
