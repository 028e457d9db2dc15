"""Batches that draw on any backend, and how a backend begins one."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from csaw.engine.batches.collective import Pools, SharedDraws, Unique
from csaw.engine.batches.in_time import InTime, MiniBatchesInTime, PoolsInTime, SharedDrawsInTime
from csaw.engine.batches.induced import ClusterSets, Induced
from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.batches.traversals import Traversals
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.contracts import Array, Batch
from csaw.engine.schedule.backend import Backend

ANYWHERE: Mapping[BatchKind, Callable[[Backend, int, np.ndarray], Batch]] = {
    BatchKind.CLUSTERS: ClusterSets,
    BatchKind.MINIBATCHES: MiniBatches,
    BatchKind.WHOLE_IN_TIME: MiniBatchesInTime,
    BatchKind.MINIBATCHES_IN_TIME: MiniBatchesInTime,
    BatchKind.IN_TIME: InTime,
    BatchKind.SHARED_DRAWS_IN_TIME: SharedDrawsInTime,
    BatchKind.POOLS_IN_TIME: PoolsInTime,
    BatchKind.SHARED_DRAWS: SharedDraws,
    BatchKind.UNIQUE: Unique,
    BatchKind.POOLS: Pools,
    BatchKind.FRONTIERS: Traversals,
}
"""The classes of batches that need nothing of a backend beyond its contract."""


class BatchBackend(Backend):
    """A backend that has a class of batches for each kind.

    ``batches``: the class of each kind that it draws, called with the backend, the number of the batch's first
    instance, and its sources.
    """

    batches: ClassVar[Mapping[BatchKind, Callable[[Any, int, np.ndarray], Batch]]]

    def begin(self, first: int, sources: Array) -> Batch:
        batch = self.batches[self.plan.kind](self, first, sources)
        return self.induce(batch, len(sources)) if self.plan.induced and not self.plan.request.target else batch

    def induce(self, batch: Batch, instances: int) -> Batch:
        return Induced(self, batch, instances)
