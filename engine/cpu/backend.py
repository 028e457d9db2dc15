"""The CPU backend: a class of batches for each kind."""

from collections.abc import Mapping
from typing import ClassVar

from csaw.engine.batches.backend import ANYWHERE, Begin, Late
from csaw.engine.cpu.runner import CpuSelector
from csaw.engine.plan.batch_kind import BatchKind

HERE = "csaw.engine.cpu.batches"


class CpuBackend(CpuSelector):
    """Draws a plan's batches on the CPU."""

    batches: ClassVar[Mapping[BatchKind, Begin]] = {
        **ANYWHERE,
        BatchKind.WALKS: Late(f"{HERE}.walks", "Walks"),
        BatchKind.UNLIMITED_WALKS: Late(f"{HERE}.walks", "UnlimitedWalks"),
        BatchKind.CLOCK_WALKS: Late(f"{HERE}.walks", "ClockWalks"),
        BatchKind.WHOLE_MINIBATCHES: Late(f"{HERE}.hops", "WholeMiniBatches"),
        BatchKind.WHOLE_IN_TIME: Late(f"{HERE}.hops", "WholeMiniBatches"),
        BatchKind.LAYERS: Late(f"{HERE}.layers", "HostLayers"),
        BatchKind.BUDGETS: Late(f"{HERE}.budgets", "HostBudgets"),
        BatchKind.BUDGETS_IN_TIME: Late(f"{HERE}.budgets", "HostBudgetsInTime"),
        BatchKind.HOP_TABLES: Late(f"{HERE}.hops", "HopTables"),
        BatchKind.HOP_TABLES_BY_RELATION: Late(f"{HERE}.hops", "HopTablesByRelation"),
        BatchKind.HOP_TABLES_IN_TIME: Late(f"{HERE}.hops", "HopTablesInTime"),
    }
