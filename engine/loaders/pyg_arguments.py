"""The times of edges and of seeds, as arguments of PyTorch Geometric's NeighborLoader name them."""

import sys
import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.api.option import NONE
from csaw.engine.loaders.tensors import needed
from csaw.engine.samples.layouts.layout import SEED_TIME, TIME
from csaw.engine.sources.given_columns import IDS
from csaw.engine.sources.given_sources import TIMES, known_times
from csaw.partition import GraphStore
from csaw.partition.base.arguments import (
    Reader,
    flag,
    function,
    graph,
    integers,
    mapping,
    maybe,
    of_each,
    simple,
    text,
    whole,
)
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import NO_TIME
from csaw.partition.graph.given_arrays import refuse_masked

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data
    from torch_geometric.data.storage import NodeStorage

STRATEGIES = ("uniform", "last")


class Timed(NamedTuple):
    """The arguments of a loader that are about times: those of PyTorch Geometric's."""

    time_attr: str | None
    input_time: object
    temporal_strategy: str

    def check(self, subgraph_type: object, weight_attr: str | None, given: Values, data: object = None) -> bool:
        """Whether mini-batches are drawn in time. OptionError for arguments that contradict each other, or the options
        that are ``given`` beside them, or that draw a Data or HeteroData object in time whose times no argument names.
        """
        pyg = sys.modules.get("torch_geometric.data")  # there is no object of a module that has not been imported
        is_data = pyg is not None and isinstance(data, pyg.Data | pyg.HeteroData)
        if self.time_attr is None and is_data and given.get("time_strategy") not in (None, NONE):
            raise OptionError(
                "time_strategy: expected time_attr instead, the attribute of data with the times of edges or nodes; "
                "temporal_strategy then determines which edges are selected"
            )
        if self.time_attr is not None and "time_strategy" in given:
            raise OptionError(
                "time_strategy: expected none with time_attr, because temporal_strategy determines it; leave it out"
            )
        if self.time_attr is not None and weight_attr is not None and given.get("bias") != NONE:
            raise OptionError(
                "weight_attr: expected none with time_attr, because edges are drawn by their times, not their "
                "weights; leave it out"
            )
        if self.temporal_strategy not in STRATEGIES:
            raise OptionError(
                f"temporal_strategy: expected {' or '.join(STRATEGIES)}, found {quoted(self.temporal_strategy)}"
            )
        if self.time_attr is None and (self.input_time is not None or self.temporal_strategy != STRATEGIES[0]):
            name = "input_time" if self.input_time is not None else "temporal_strategy"
            raise OptionError(f"{name}: expected time_attr with it, the attribute with the times of edges or nodes")
        if self.time_attr is not None and getattr(subgraph_type, "value", subgraph_type) == "induced":
            raise OptionError(
                "subgraph_type: expected directional or bidirectional with time_attr, found induced, which has "
                "edges of any time"
            )
        return self.time_attr is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of times in mini-batches."""
        return self.time_attr or TIME, SEED_TIME

    def options(
        self,
        data: "Data | NodeStorage | GraphStore",
        store: GraphStore,
        nodes: np.ndarray | None,
        given: Values,
        first: int = 0,
    ) -> Values:
        """The options of an algorithm in time: its strategy, and where seeds have times of their own, seeds with these.

        data: what has the times of nodes; of HeteroData the nodes of the seeds' type, the first of which is the vertex
        ``first``. nodes: the seeds, None for all vertices. given: options that may have times of seeds already.
        """
        chosen: Values = {"time_strategy": self.temporal_strategy}
        if "start_time" in given or "sources" in given:
            if self.input_time is not None:
                name = "start_time" if "start_time" in given else "sources"
                raise OptionError(f"input_time and {name} exclude each other; give only one of them")
            return chosen
        seeds = np.arange(store.vertices) if nodes is None else nodes
        return chosen | {
            "sources": {IDS: store.original_ids(seeds), TIMES: self._of_seeds(data, seeds - first)},
        }

    def _of_seeds(self, data: "Data | NodeStorage | GraphStore", seeds: np.ndarray) -> np.ndarray:
        """int64: the time of each seed."""
        if self.input_time is not None:
            return known_times("input_time", int64_times("input_time", self.input_time, seeds.size, "seeds"))
        assert self.time_attr is not None
        if isinstance(data, GraphStore) or self.time_attr not in data or not data.is_node_attr(self.time_attr):
            raise OptionError(
                "input_time: expected a time for each seed, found none, although time_attr names times of edges; "
                "give input_time, or start_time for all seeds"
            )
        times = int64_times("time_attr", data[self.time_attr], int(data.num_nodes or 0), "nodes")
        return known_times("time_attr", times[seeds])


OWN = (
    *("n_id", "e_id", "edge_index", "input_id", "batch_size", "num_nodes"),
    *("num_sampled_nodes", "num_sampled_edges"),
)
"""Names that all mini-batches of neighbors have."""


def refuse_features(taken: Collection[str], **given: Mapping[str, object] | None) -> None:
    """OptionError where an array that is ``given`` has a name that is ``taken`` by what a mini-batch has, or by an
    array of another argument.
    """
    seen = dict.fromkeys(taken, "of what mini-batches have")
    for argument, arrays in given.items():
        if wrong := [name for name in arrays or {} if name in seen]:
            raise OptionError(
                f"{argument}: expected a name other than those {seen[wrong[0]]}, found {quoted(wrong[0])}; give the "
                "array another name"
            )
        seen |= dict.fromkeys(arrays or {}, f"in {argument}")


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
    refuse_masked(argument, given)
    try:
        held = needed("torch").as_tensor(given).detach().cpu().numpy()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:  # of PyTorch, whose reasons name no argument
        kind = f"{given.dtype} {list(given.shape)}" if isinstance(given, np.ndarray) else quoted(given)
        raise OptionError(f"{argument}: expected an integer for each of {count:,} {of}, found {kind}") from error
    if held.dtype.kind not in "iu" or held.size != count:
        raise OptionError(
            f"{argument}: expected an integer for each of {count:,} {of}, found {held.dtype} {list(held.shape)}"
        )
    times = held.reshape(-1).astype(np.int64)
    if held.dtype == np.uint64 and (times < 0).any():
        raise OptionError(f"{argument}: expected integers from {NO_TIME} to {2**63 - 1}, found {held.max()}")
    return times


def times_at(edges: "Tensor", drawn: "Tensor", times: "Tensor") -> "Tensor":
    """int64: the time of each of ``edges``, which are some of those ``drawn``, in any order and any of them twice.

    ``times``: of the edges that were drawn. OptionError where one of ``edges`` was not.
    """
    if edges is drawn:  # as they mostly are: a GPU is not waited for
        return times
    known, order = drawn.sort()
    places = needed("torch").searchsorted(known, edges.contiguous()).clamp(max=max(known.numel() - 1, 0))
    if edges.numel() and not (known.numel() and bool((known[places] == edges).all())):
        raise OptionError(
            "transform_sampler_output: expected only edges that were drawn, whose times are known, found another one"
        )
    return times[order[places]]


# Arguments of PyTorch's and PyTorch Geometric's loaders that csaw's have not.
#
# Scripts that are written for those pass them on. Values that ask for nothing are taken, what is about worker processes
# is ignored with a warning, and what would change the mini-batches is refused.

ANYTHING = ("filter_per_worker", "is_sorted", "pin_memory_device", "share_memory")  # no mini-batch depends on them
WORKERS: Mapping[str, object] = {
    "num_workers": 0,
    "persistent_workers": False,
    "prefetch_factor": None,
    "multiprocessing_context": None,
    "worker_init_fn": None,
    "timeout": 0,
    "in_order": True,
}
"""Arguments about worker processes, with the values that ask for none."""
MOST_SEEDS = 2**31 - 1  # of a mini-batch
UNNEEDED = (
    "csaw draws mini-batches in threads of this process, ahead of the model and in order, and needs no worker processes"
)


READERS: dict[str, Reader[object]] = {
    **dict.fromkeys(("shuffle", "drop_last", "replace", "disjoint", "on_device"), flag),
    **{name: maybe(flag) for name in ("self_loops", "row_normalized", "weighted")},
    **{name: whole(1, MOST_SEEDS) for name in ("batch_size", "walks_per_batch", "window")},
    "negatives": whole(0, MOST_SEEDS),
    "vertices": maybe(whole(1)),
    **dict.fromkeys(("subgraph_type", "temporal_strategy", "normalize", "sampler", "algo", "device"), simple),
    "seed": whole(0, 2**64 - 1),
    "rank": maybe(whole()),
    "world": maybe(whole(1)),
    "num_neighbors": of_each(integers("one for each hop")),
    "num_samples": of_each(integers("one for each layer")),
    "layer_sizes": integers("one for each layer"),
    **{name: maybe(text) for name in ("weight_attr", "time_attr")},
    **{name: maybe(function("batch")) for name in ("transform", "transform_sampler_output")},
    "edge_features": maybe(mapping("arrays")),
    "data": graph,
}
"""Readers of the arguments of loaders."""


class Refusal(NamedTuple):
    """The value of an argument that may be given, and what to do in place of giving another one."""

    neutral: object
    advice: str


DECIDED: Mapping[str, str] = {
    "seeds_per_batch": "batch_size is the number of seeds of a mini-batch",
    "epochs": "each for loop is another epoch, and loader.epoch its number",
    "ids": "the ids of a loader are dense",
    "instances": "the seeds and batch_size determine the number of mini-batches",
}
"""Options of a run of mini-batches that follow from a loader's own arguments, each with the way to say it."""
OF_NEIGHBORS = {"fanout": "num_neighbors is the number of neighbors that a vertex selects"}
TAKEN = ("algo", "graph", "measure", "nodes", "on_device", "share", "store")
"""Names inside of loaders, which are options of none."""
UNTIMED = "temporal sampling is that of NeighborLoader; leave it out"
SEEDED = "seed= decides all draws, and input_nodes, batch_size and shuffle which seeds a mini-batch has; leave it out"
REFUSED: Mapping[str, Refusal] = {
    "input_time": Refusal(None, UNTIMED),
    "time_attr": Refusal(None, UNTIMED),
    "temporal_strategy": Refusal("uniform", UNTIMED),
    "neighbor_sampler": Refusal(None, "csaw is the sampler; for another one use PyTorch Geometric's NodeLoader"),
    "directed": Refusal(True, 'use subgraph_type="induced"'),
    "sample_direction": Refusal("forward", "csaw samples the sources of the edges to a vertex; turn the edges round"),
    "custom_cls": Refusal(None, "mini-batches are Data objects; change them in transform"),
    "induced": Refusal(False, 'subgraph_type="induced" of NeighborLoader gives all edges among the nodes'),
    "input_id": Refusal(None, "input_id counts the seeds; look up your numbers by batch.input_id"),
    "collate_fn": Refusal(None, "change mini-batches in transform"),
    "dataset": Refusal(None, SEEDED),
    "generator": Refusal(None, SEEDED),
    "sampler": Refusal(None, SEEDED),
    "batch_sampler": Refusal(None, SEEDED),
}


def without_others(options: Values, loader: str) -> Values:
    """The ``options`` of a ``loader`` without the arguments that only PyTorch's and PyTorch Geometric's have.

    Warns once about those that ask for something which csaw does not need. OptionError for those that would change
    the mini-batches, and for those that the loader decides.
    """
    refuse_decided(options, DECIDED)
    if unknown := [name for name in TAKEN if name in options]:
        raise OptionError(f"{unknown[0]} is not an option of {loader}; leave it out")
    for name, (neutral, advice) in REFUSED.items():
        if name in options and not is_same(options[name], neutral):
            raise OptionError(f"{name}: expected {neutral!r}, found {quoted(options[name])}; {advice}")
    asked = {
        name: options[name] for name, none in WORKERS.items() if name in options and not is_same(options[name], none)
    }
    said = [f"{loader} ignores {_listed(asked)}: {UNNEEDED}"] if asked else []
    if not is_same(options.get("pin_memory", False), False):
        said.append("pin_memory=True is ignored: mini-batches are not pinned; call pin_memory() in transform")
    if said:
        warnings.warn("; ".join(said), stacklevel=5)  # of the caller: in_python puts two functions around the loader
    return {name: value for name, value in options.items() if name not in {*ANYTHING, *WORKERS, *REFUSED, "pin_memory"}}


def refuse_decided(options: Values, decided: Mapping[str, str]) -> None:
    """OptionError for the first of the ``options`` that a loader has ``decided``, by name with the reason."""
    for name, reason in decided.items():
        if name in options:
            raise OptionError(f"{name}: expected none, because {reason}; leave it out")


def is_same(value: object, neutral: object) -> bool:
    """Whether a value is the neutral one; arrays and other objects are not, and are not compared."""
    return value is neutral or (isinstance(value, bool | int | float | str) and value == neutral)


def _listed(asked: Values) -> str:
    return ", ".join(f"{name}={quoted(value)}" for name, value in asked.items())
