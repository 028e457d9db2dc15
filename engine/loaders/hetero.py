"""Graphs of several types for loaders: HeteroData of PyTorch Geometric, and their mini-batches by type and relation."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.export.by_type import ByType
from csaw.engine.loaders.graphs import require_room
from csaw.engine.loaders.inputs import input_nodes_of
from csaw.engine.loaders.pyg_arguments import int64_times
from csaw.engine.loaders.tensors import needed
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import BEFORE_ALL, TIME
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import Types
from csaw.partition.ingestion.hetero_data import Edges, edges_of, in_memory

if TYPE_CHECKING:
    from csaw.engine.loaders.graphs import Sampled
    from csaw.engine.loaders.mini_batches import MiniBatch

needed("torch_geometric.sampler")

import torch
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.sampler import HeteroSamplerOutput

EdgeType = tuple[str, str, str]
NumNeighbors = Sequence[int] | Mapping[EdgeType, Sequence[int]]


class SampledTypes(NamedTuple):
    """A graph of several types: of a HeteroData, in which the sources of edges to a node are its neighbors, or of a
    graph store.

    Attributes:
        store: the graph, whose relations are the edge types turned round: an edge of a mini-batch leads from the
            neighbor to the node that it was drawn for.
        order: int64 tensor [edges], the column of its edge type's ``edge_index`` that each stored edge is; None for a
            graph store.
        edge_types: those of mini-batches, by the numbers of the relations.
    """

    store: GraphStore
    order: Tensor | None
    edge_types: tuple[EdgeType, ...]

    @property
    def types(self) -> Types:
        assert self.store.types is not None
        return self.store.types

    @property
    def stays_on_device(self) -> bool:
        return self.order is None or self.order.is_cuda

    def empty_data(self) -> "HeteroData":
        """Data with the nodes of each type, and without edges."""
        data = HeteroData()
        for name, (first, last) in zip(self.types.names, pairwise(self.types.bounds), strict=True):
            data[name].num_nodes = last - first
        return data


def typed_graph_of(data: "HeteroData", weight_attr: str | None, time_attr: str | None = None) -> SampledTypes:
    """The graph to sample for a HeteroData, with the weights of the attribute ``weight_attr``, and the times of
    ``time_attr`` (None: without).

    OptionError where it has no such graph, or nothing has the attribute.
    """
    if weight_attr is not None and not any(weight_attr in store for store in data.edge_stores):
        raise OptionError(f"weight_attr: no edge type of data has the attribute {quoted(weight_attr)}")
    edges = edges_of(data, weight_attr, turned=True)
    require_room("data", edges.types.bounds[-1])
    columns = {} if time_attr is None else {TIME.name: _times_of(data, time_attr, edges)}
    store, order = in_memory(edges, "HeteroData", columns=columns)
    first = np.cumsum([0, *edges.types.edges])
    column = order - first[edges.relation[order]]
    device = next((store.edge_index.device for store in data.edge_stores), None)
    edge_types = tuple((one.target, one.name, one.source) for one in edges.types.relations)
    return SampledTypes(store, torch.from_numpy(column).to(device), edge_types)


def typed_store(store: GraphStore) -> SampledTypes:
    """A graph store of several types, to sample from its rows."""
    assert store.types is not None
    names = store.types.edge_types
    if twice := [one for one in names if names.count(one) > 1]:
        raise OptionError(
            f"data: two relations of {store.path} would be the edge type {quoted(twice[0])}; rename one of them"
        )
    return SampledTypes(store, None, names)


def _times_of(data: "HeteroData", name: str, edges: Edges) -> np.ndarray:
    """int64 [edges]: the time of each edge, of edge types that have the attribute ``name``; if none has, that of the
    neighbor, of node types that have it. What has none is before all times.
    """
    of_edges = any(name in store for store in data.edge_stores)
    if not of_edges and not any(name in store for store in data.node_stores):
        raise OptionError(f"time_attr: no edge type and no node type of data has the attribute {quoted(name)}")
    found, first = np.full(edges.source.size, BEFORE_ALL), np.cumsum([0, *edges.types.edges])
    for number, relation in enumerate(edges.types.relations):
        span, neighbors = slice(first[number], first[number + 1]), relation.target
        held = data[relation.target, relation.name, relation.source] if of_edges else data[neighbors]
        if name not in held:
            continue
        count = span.stop - span.start if of_edges else int(held.num_nodes)
        times = int64_times("time_attr", held[name], count, str(relation) if of_edges else f"{neighbors} nodes")
        ends = edges.target[span] - edges.types.span(neighbors)[0]
        found[span] = times if of_edges else times[ends]
    return found


def refuse_for_types(
    graph: SampledTypes, subgraph_type: object, features: object, edge_features: Mapping[str, object] | None
) -> None:
    """OptionError for arguments that graphs of several types cannot have."""
    if getattr(subgraph_type, "value", subgraph_type) == "induced":
        raise OptionError("subgraph_type: expected directional or bidirectional with several types, found induced")
    if edge_features or (features and graph.order is not None):
        name = "edge_features" if edge_features else "features"
        where = "" if graph.order is None else "; add them to the HeteroData object"
        raise OptionError(f"{name}: expected none with several types{where}")
    names, given = graph.types.names, features or {}
    held = given if isinstance(given, Mapping) else {"": given}
    if not all(name in names and isinstance(arrays, Mapping) for name, arrays in held.items()):
        raise OptionError(
            f"features: expected arrays by name for each type, such as {{{names[0]!r}: {{'x': x}}}}, found "
            f"{quoted(features)}; there are {', '.join(names)}"
        )


def fanout_of(num_neighbors: "NumNeighbors", graph: "Sampled | SampledTypes") -> object:
    """The option ``fanout`` of the algorithm minibatch. Of HeteroData, a list counts for all edge types, and a dict has
    one for each. OptionError where an edge type has none, or is not there.
    """
    given = num_neighbors
    if not isinstance(graph, SampledTypes):
        if isinstance(given, Mapping) and graph.store.types is None:
            raise OptionError(
                f"num_neighbors: expected a list of integers, one for each hop, found {quoted(given)}; a dict is for "
                "graphs of several types"
            )
        return given
    if not isinstance(given, Mapping):
        return {str(one): given for one in graph.types.relations}
    unknown = [one for one in given if one not in graph.edge_types]
    missing = [one for one in graph.edge_types if one not in given]
    if unknown or missing:
        found = f"no edge type {quoted(unknown[0])}" if unknown else f"nothing for {quoted(missing[0])}"
        raise OptionError(
            f"num_neighbors: expected numbers for each edge type, {', '.join(map(str, graph.edge_types))}; "
            f"found {found}"
        )
    relations = zip(graph.edge_types, graph.types.relations, strict=True)
    return {str(relation): given[edge_type] for edge_type, relation in relations}


def typed_nodes_of(given: object, graph: SampledTypes, sources: object = None) -> tuple[str, Tensor | None, np.ndarray]:
    """The node type of seeds, the seeds as PyTorch Geometric's loader takes them, and their dense ids.

    ``given``: a node type, or one with the numbers of nodes, or with a mask. OptionError for anything else, and for
    ``sources``, which may have several types.
    """
    if sources is not None:
        raise OptionError(
            "sources: expected none with several types; give seeds of one type as input_nodes, such as "
            "('paper', [0, 5]), and their times as input_time"
        )
    name, nodes = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(name, str) or name not in graph.types.names:
        raise OptionError(
            "input_nodes: expected a node type, or one with nodes, such as ('paper', mask), found "
            f"{quoted(given)}; there are {', '.join(graph.types.names)}"
        )
    first, last = graph.types.span(name)
    held = input_nodes_of(nodes, last - first)
    if held is None:
        return name, None, np.arange(first, last)
    return name, held, (held.nonzero()[:, 0] if held.dtype == torch.bool else held).numpy() + first


def numbers_in_types(seeds: np.ndarray, types: Types) -> np.ndarray:
    """int64 [n]: the number of each seed, a vertex, among those of its type."""
    kind = np.searchsorted(types.bounds, seeds, "right")
    out = np.empty_like(kind)
    for one in np.unique(kind):
        out[kind == one] = np.arange(np.count_nonzero(kind == one))
    return out


def typed_output_of(arrays: "MiniBatch", graph: SampledTypes) -> HeteroSamplerOutput:
    """The tensors of a mini-batch as a HeteroSamplerOutput, on the device of the data."""
    device, types = arrays["row"].device if graph.order is None else graph.order.device, graph.types
    n_id, relation = arrays["n_id"].to(device), arrays["relation"].to(device)
    row, col, column = arrays["row"].to(device), arrays["col"].to(device), arrays["e_id"].to(device)
    bounds = torch.tensor(types.bounds, device=device)
    kind = torch.bucketize(n_id, bounds[1:], right=True)
    names, edge_types = types.names, graph.edge_types
    by = ByType.of(kind, relation, arrays["hop_nodes"], arrays["hop_edges"], (len(names), len(edge_types)))
    columns = column if graph.order is None else graph.order[column]
    ends = [by.of_edges(values) for values in (by.number[row], by.number[col], columns)]
    rows, cols, numbers = (dict(zip(edge_types, one, strict=True)) for one in ends)
    seeds = by.of_nodes(arrays["batch"].to(device)) if "batch" in arrays else None
    return HeteroSamplerOutput(
        node=dict(zip(names, by.of_nodes(n_id - bounds[kind]), strict=True)),
        row=rows,
        col=cols,
        edge=numbers,
        batch=None if seeds is None else dict(zip(names, seeds, strict=True)),
        num_sampled_nodes=dict(zip(names, by.num_sampled_nodes, strict=True)),
        num_sampled_edges=dict(zip(edge_types, by.num_sampled_edges, strict=True)),
    )
