"""Batches that draw on any backend, and how a backend begins one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.contracts import Array, Batch
from csaw.engine.schedule.backend import Backend
from csaw.engine.sources.seeds import Excluded

Begin = Callable[..., Batch]
"""Makes a batch of a backend, the number of the first instance, and the sources: one of the kind of the backend."""


@dataclass(frozen=True)
class Late:
    """A class of batches by the module that it is in, which is imported when a batch is begun."""

    module: str
    name: str

    def found(self) -> Begin:
        batch: Begin = getattr(import_module(self.module), self.name)
        return batch

    def __call__(self, backend: Backend, first: int, sources: np.ndarray) -> Batch:
        return self.found()(backend, first, sources)


HERE = "csaw.engine.batches"
ANYWHERE: Mapping[BatchKind, Begin] = {
    BatchKind.CLUSTERS: Late(f"{HERE}.induced", "ClusterSets"),
    BatchKind.MINIBATCHES: Late(f"{HERE}.minibatches", "MiniBatches"),
    BatchKind.MINIBATCHES_BY_RELATION: Late(f"{HERE}.relations", "MiniBatchesByRelation"),
    BatchKind.MINIBATCHES_IN_TIME: Late(f"{HERE}.in_time", "MiniBatchesInTime"),
    BatchKind.MINIBATCHES_BY_RELATION_IN_TIME: Late(f"{HERE}.in_time", "MiniBatchesByRelationInTime"),
    BatchKind.NEIGHBORS_BY_RELATION: Late(f"{HERE}.relations", "NeighborsByRelation"),
    BatchKind.NEIGHBORS_BY_RELATION_IN_TIME: Late(f"{HERE}.in_time", "NeighborsByRelationInTime"),
    BatchKind.IN_TIME: Late(f"{HERE}.in_time", "InTime"),
    BatchKind.SHARED_DRAWS_IN_TIME: Late(f"{HERE}.in_time", "SharedDrawsInTime"),
    BatchKind.SHARED_DRAWS_BY_RELATION_IN_TIME: Late(f"{HERE}.in_time", "SharedDrawsByRelationInTime"),
    BatchKind.POOLS_IN_TIME: Late(f"{HERE}.in_time", "PoolsInTime"),
    BatchKind.SHARED_DRAWS_BY_RELATION: Late(f"{HERE}.relations", "SharedDrawsByRelation"),
    BatchKind.SHARED_DRAWS: Late(f"{HERE}.collective", "SharedDraws"),
    BatchKind.SUBGRAPHS_BY_RELATION: Late(f"{HERE}.relations", "SubgraphsByRelation"),
    BatchKind.SUBGRAPHS_BY_RELATION_IN_TIME: Late(f"{HERE}.in_time", "SubgraphsByRelationInTime"),
    BatchKind.UNIQUE: Late(f"{HERE}.collective", "Unique"),
    BatchKind.UNIQUE_BY_RELATION: Late(f"{HERE}.collective", "UniqueByRelation"),
    BatchKind.POOLS: Late(f"{HERE}.collective", "Pools"),
    BatchKind.BUDGETS: Late(f"{HERE}.budgets", "Budgets"),
    BatchKind.BUDGETS_IN_TIME: Late(f"{HERE}.budgets", "BudgetsInTime"),
    BatchKind.FRONTIERS: Late(f"{HERE}.traversals", "Traversals"),
    BatchKind.LINKS: Late(f"{HERE}.links", "Links"),
    BatchKind.LINKS_IN_TIME: Late(f"{HERE}.links", "LinksInTime"),
}
"""The classes of batches that need nothing of a backend beyond its contract."""


EXCLUDING: Mapping[BatchKind, Late] = {
    BatchKind.MINIBATCHES: Late(f"{HERE}.excluded", "Excluding"),
    BatchKind.MINIBATCHES_IN_TIME: Late(f"{HERE}.excluded", "ExcludingInTime"),
}
"""The classes of batches that leave out edges."""


class BatchBackend(Backend):
    """A backend that has a class of batches for each kind.

    ``batches``: the class of each kind that it draws, called with the backend, the number of the batch's first
    instance, and its sources.
    """

    batches: ClassVar[Mapping[BatchKind, Begin]]

    def begin(self, first: int, sources: Array, excluded: Excluded | None = None) -> Batch:
        if excluded is not None:
            return EXCLUDING[self.plan.kind].found()(self, first, sources, excluded)
        batch = self.batches[self.plan.kind](self, first, sources)
        return self.induce(batch, len(sources)) if self.plan.induced and not self.plan.request.target else batch

    def induce(self, batch: Batch, instances: int) -> Batch:
        from csaw.engine.batches.induced import Induced

        return Induced(self, batch, instances)
