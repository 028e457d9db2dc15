"""The CUDA backend: a class of batches for each kind."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from csaw.engine.batches.backend import ANYWHERE
from csaw.engine.cuda.batches.clock_walks import ClockWalks
from csaw.engine.cuda.batches.hops import Hops
from csaw.engine.cuda.batches.hops_in_time import HopsInTime
from csaw.engine.cuda.batches.layers import DeviceLayers
from csaw.engine.cuda.batches.minibatches import DeviceMiniBatches
from csaw.engine.cuda.batches.rounds import UnlimitedWalks
from csaw.engine.cuda.batches.trees import Trees
from csaw.engine.cuda.batches.walks import Walks
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.cuda.selector import CudaSelector
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.contracts import Batch

Begin = Callable[[CudaRunner, int, np.ndarray], Batch]


class CudaBackend(CudaSelector):
    """Draws a plan's batches on one GPU."""

    batches: ClassVar[Mapping[BatchKind, Begin]] = {
        **ANYWHERE,
        BatchKind.WALKS: Walks,
        BatchKind.UNLIMITED_WALKS: UnlimitedWalks,
        BatchKind.CLOCK_WALKS: ClockWalks,
        BatchKind.WHOLE_MINIBATCHES: DeviceMiniBatches,
        BatchKind.LAYERS: DeviceLayers,
        BatchKind.TREES: Trees,
        BatchKind.HOP_TABLES: Hops,
        BatchKind.HOP_TABLES_IN_TIME: HopsInTime,
    }
