"""The CPU backend: a class of batches for each kind."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from csaw.engine.batches.backend import ANYWHERE
from csaw.engine.cpu.batches.hops import HopTables, HopTablesInTime
from csaw.engine.cpu.batches.layers import HostLayers
from csaw.engine.cpu.batches.minibatches import WholeMiniBatches
from csaw.engine.cpu.batches.walks import ClockWalks, UnlimitedWalks, Walks
from csaw.engine.cpu.runner import CpuRunner, CpuSelector
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.contracts import Batch

Begin = Callable[[CpuRunner, int, np.ndarray], Batch]


class CpuBackend(CpuSelector):
    """Draws a plan's batches on the CPU."""

    batches: ClassVar[Mapping[BatchKind, Begin]] = {
        **ANYWHERE,
        BatchKind.WALKS: Walks,
        BatchKind.UNLIMITED_WALKS: UnlimitedWalks,
        BatchKind.CLOCK_WALKS: ClockWalks,
        BatchKind.WHOLE_MINIBATCHES: WholeMiniBatches,
        BatchKind.WHOLE_IN_TIME: WholeMiniBatches,
        BatchKind.LAYERS: HostLayers,
        BatchKind.HOP_TABLES: HopTables,
        BatchKind.HOP_TABLES_IN_TIME: HopTablesInTime,
    }
