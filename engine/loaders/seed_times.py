"""The times of edges and of seeds, as arguments of PyTorch Geometric's NeighborLoader name them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from csaw.engine.loaders.mini_batches import in_graph
from csaw.engine.loaders.optional import needed
from csaw.engine.sources.given_columns import IDS
from csaw.engine.sources.given_sources import TIMES
from csaw.engine.sources.source_times import NO_TIME
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from torch_geometric.data import Data

STRATEGIES = ("uniform", "last")


class Timed(NamedTuple):
    """The arguments of a loader that are about times: those of PyTorch Geometric's."""

    time_attr: str | None
    input_time: Any
    temporal_strategy: str

    def check(self, subgraph_type: object) -> bool:
        """Whether mini-batches are drawn in time. OptionError for arguments that contradict each other."""
        if self.temporal_strategy not in STRATEGIES:
            raise OptionError(
                f"temporal_strategy: expected {' or '.join(STRATEGIES)}, found {quoted(self.temporal_strategy)}"
            )
        if self.time_attr is None and (self.input_time is not None or self.temporal_strategy != STRATEGIES[0]):
            name = "input_time" if self.input_time is not None else "temporal_strategy"
            raise OptionError(f"{name}: expected time_attr beside it, the attribute with the times of edges or nodes")
        if self.time_attr is not None and getattr(subgraph_type, "value", subgraph_type) == "induced":
            raise OptionError(
                "subgraph_type: expected directional or bidirectional beside time_attr, found induced, which has edges "
                "of any time"
            )
        return self.time_attr is not None

    def options(self, data: "Data | GraphStore", store: GraphStore, nodes: np.ndarray | None, given: Values) -> Values:
        """The options of the algorithm minibatch: its strategy, and where seeds have times of their own, seeds with
        these and nodes of their own.

        nodes: the seeds, None for all vertices. given: options that may have times of seeds already.
        """
        chosen: Values = {"time_strategy": self.temporal_strategy}
        if "start_time" in given or "sources" in given:
            if self.input_time is not None:
                name = "start_time" if "start_time" in given else "sources"
                raise OptionError(f"input_time: expected no {name} beside it, found both; give one of them")
            return chosen | ({} if "start_time" in given else {"disjoint": True})
        seeds = np.arange(store.vertices) if nodes is None else in_graph(store, nodes)
        return chosen | {
            "disjoint": True,
            "sources": {IDS: store.original_ids(seeds), TIMES: self._of_seeds(data, seeds)},
        }

    def _of_seeds(self, data: "Data | GraphStore", seeds: np.ndarray) -> np.ndarray:
        """int64: the time of each seed."""
        if self.input_time is not None:
            return int64_times("input_time", self.input_time, seeds.size, "seeds")
        assert self.time_attr is not None
        if isinstance(data, GraphStore) or not data.is_node_attr(self.time_attr):
            raise OptionError(
                "input_time: expected a time for each seed, found none, and time_attr names times of edges; give "
                "input_time, or start_time for all seeds"
            )
        return int64_times("time_attr", data[self.time_attr], int(data.num_nodes or 0), "nodes")[seeds]


def edge_times(data: "Data", name: str, source: np.ndarray) -> np.ndarray:
    """int64 [edges]: the time of each edge of a Data object, or that of its ``source`` where the attribute ``name`` is
    one of nodes: a neighbor is then drawn only if its own time is not later.
    """
    if name not in data:
        raise OptionError(f"time_attr: data has no attribute {quoted(name)}; it has {', '.join(sorted(data.keys()))}")
    if data.is_node_attr(name):
        return int64_times("time_attr", data[name], int(data.num_nodes or 0), "nodes")[source]
    return int64_times("time_attr", data[name], source.size, "edges")


def int64_times(argument: str, given: object, count: int, of: str) -> np.ndarray:
    """int64: a time for each of so many seeds, nodes or edges. OptionError, which begins with the ``argument``, for
    anything else.
    """
    held = needed("torch").as_tensor(given).detach().cpu().numpy()
    if held.dtype.kind not in "iu" or held.size != count:
        raise OptionError(
            f"{argument}: expected an integer for each of {count:,} {of}, found {held.dtype} {list(held.shape)}"
        )
    times = held.reshape(-1).astype(np.int64)
    if held.dtype == np.uint64 and (times < 0).any():
        raise OptionError(f"{argument}: expected integers from {NO_TIME} to {2**63 - 1}, found {held.max()}")
    return times
