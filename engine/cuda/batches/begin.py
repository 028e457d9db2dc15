"""The kind of batch that draws a plan's samples on a GPU."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.batches.clusters import ClusterSets
from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.batches.pools import Pools
from csaw.engine.batches.shared_draws import SharedDraws
from csaw.engine.batches.traversals import Traversals
from csaw.engine.batches.unique import Unique
from csaw.engine.cuda.batches.clock_walks import ClockWalks
from csaw.engine.cuda.batches.hops import Hops
from csaw.engine.cuda.batches.layers import DeviceLayers
from csaw.engine.cuda.batches.minibatches import DeviceMiniBatches
from csaw.engine.cuda.batches.rounds import UnlimitedWalks
from csaw.engine.cuda.batches.trees import Trees
from csaw.engine.cuda.batches.walks import Walks
from csaw.engine.plan.contracts import Batch

if TYPE_CHECKING:
    from csaw.engine.cuda.backend import CudaBackend


def begun(backend: "CudaBackend", first: int, sources: np.ndarray) -> Batch:
    """Begin a batch of the instances from number ``first`` on, before they end as induced subgraphs."""
    if isinstance(backend.algorithm, Walk):
        return (UnlimitedWalks if backend.unlimited else Walks)(backend, first, sources)
    if backend.needs.clusters:
        return ClusterSets(backend, sources)
    if backend.algorithm.clocks:
        return ClockWalks(backend, first, sources)
    if backend.plan.drawn_layout == "batches":
        return (DeviceMiniBatches if backend.whole_minibatches else MiniBatches)(backend, first, sources)
    if backend.algorithm.shares_draws:
        return SharedDraws(backend, first, sources)
    if backend.algorithm.draws_from != "edges":
        return DeviceLayers(backend, first, sources)
    if backend.algorithm.unique:
        return Unique(backend, first, sources)
    by_hop = Hops if backend.in_tables else Pools if backend.needs.in_pools else Traversals
    return (Trees if backend.tree_span else by_hop)(backend, first, sources)
