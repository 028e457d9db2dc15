"""The graph that a loader samples: a graph store, or the edges of PyTorch Geometric's Data as a store in memory."""

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard, Union

import numpy as np

from csaw.datasets.given import opened
from csaw.engine.loaders.pyg_arguments import edge_times
from csaw.engine.loaders.tensors import needed
from csaw.engine.plan.rates import available_bytes
from csaw.partition import GraphStore
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import empty
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.given_arrays import array_of, weights_of
from csaw.partition.graph.in_memory import InMemory, rows_of_edges
from csaw.partition.ingestion.objects import Foreign

needed("torch")

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Data
    from torch_geometric.sampler import SamplerOutput
    from torch_geometric.sampler.base import SubgraphType

GraphData: TypeAlias = Union["Data", GraphStore, str, Path, Foreign]


class Sampled(NamedTuple):
    """A graph to sample from.

    ``order``: int64 tensor [edges], the column of ``edge_index`` that each entry of the store's rows is; None for a
    graph store.
    """

    store: GraphStore
    order: Tensor | None

    @property
    def stays_on_device(self) -> bool:
        """Whether mini-batches stay on the GPU that drew them: where they come from a store,
        or the data are on a GPU.
        """
        return self.order is None or self.order.is_cuda


def graph_of(
    data: GraphData, weight_attr: str | None = None, *, time_attr: str | None = None, self_loops: bool = False
) -> Sampled:
    """The graph to sample for ``data``, with the edge weights that its attribute ``weight_attr`` has (default: None,
    without weights), and the times of ``time_attr``, of edges or nodes (default: None, without times).

    ``self_loops``: of a Data object, add an edge of weight 1 from each vertex to itself where there is none; their
    numbers follow those of the columns of ``edge_index``.

    Of a Data object the row of a vertex holds the sources of the edges that lead to it: messages go along edges, so
    these are the vertices that it needs to know, and PyTorch Geometric's loaders sample them. Of any other graph that
    :func:`csaw.graph` takes it is the row that this has. OptionError for data of another kind.
    """
    if not is_data(data):
        if weight_attr is not None:
            raise OptionError(
                "weight_attr: it is only for Data objects; pass weighted=True to use the weights of a graph store"
            )
        if self_loops:
            raise OptionError(
                "self_loops: the rows of a graph store are sampled as they are; add the loops to its input"
            )
        if time_attr not in (None, TIME.name):
            raise OptionError(
                f"time_attr: expected {TIME.name!r}, the times of a graph store's edges, found {quoted(time_attr)}"
            )
        return Sampled(opened(data), None)
    source, target = _edges_of(data)
    require_room("data", int(data.num_nodes))
    weights = None if weight_attr is None else _weights_of(data, weight_attr, source.size)
    if self_loops:
        missing = np.setdiff1d(np.arange(data.num_nodes), source[source == target])
        source, target = np.append(source, missing), np.append(target, missing)
        weights = None if weights is None else np.append(weights, np.ones(missing.size, np.float32))
    indptr, indices, order = rows_of_edges(target, source, data.num_nodes)
    columns = None if time_attr is None else {TIME.name: edge_times(data, time_attr, source)[order]}
    held = InMemory("edge_index", indptr, indices, None if weights is None else weights[order], edge_columns=columns)
    return Sampled(held, torch.from_numpy(order).to(data.edge_index.device))


def require_room(where: str, vertices: int) -> None:
    """BudgetError unless the rows of a graph of so many ``vertices`` can be made in memory."""
    need, free = 24 * vertices, available_bytes()  # offsets of rows, and twice those of sorting
    if need > free:
        raise BudgetError(
            f"{where}: rows of {vertices:,} vertices take {need:,} bytes while they are made, and {free:,} are free; "
            "number only the vertices that have edges"
        )


def is_data(graph: object) -> "TypeGuard[Data]":
    """Whether a graph is a Data object of PyTorch Geometric. OptionError for its other graphs."""
    known = sys.modules.get("torch_geometric.data")  # there is no object of a module that has not been imported
    if known is None or isinstance(graph, known.Data):
        return known is not None
    if isinstance(graph, known.TemporalData | known.HeteroData | known.FeatureStore | known.GraphStore):
        raise OptionError(
            f"data: this loader does not take {type(graph).__name__}; expected a PyTorch Geometric Data object or "
            "another graph of one type. NeighborLoader, LinkNeighborLoader and HGTLoader take HeteroData, and "
            "EventLoader TemporalData"
        )
    return False


def _edges_of(data: "Data") -> tuple[np.ndarray, np.ndarray]:
    """int64 [edges] twice: sources and targets of the edges."""
    edges = data.edge_index
    if edges is None or edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype != torch.int64:
        found = "none" if edges is None else f"{edges.dtype} {list(edges.shape)}"
        way = "; leave out ToSparseTensor, which replaced it by adj_t" if "adj_t" in data else ""
        raise OptionError(f"data.edge_index: expected an int64 tensor [2, edges], found {found}{way}")
    held = np.ascontiguousarray(edges.cpu().numpy())
    if held.size and not 0 <= int(held.min()) <= int(held.max()) < data.num_nodes:
        raise OptionError(
            f"data.edge_index: expected vertices from 0 to {data.num_nodes - 1}, found {held.min()} to "
            f"{held.max()}; set data.num_nodes"
        )
    return held[0], held[1]


def _weights_of(data: "Data", name: str, edges: int) -> np.ndarray:
    """float32 [edges]: an attribute of each edge, in the order of edge_index."""
    if name not in data:
        raise OptionError(f"weight_attr: data has no attribute {quoted(name)}; it has {', '.join(sorted(data.keys()))}")
    return weights_of("weight_attr", array_of("weight_attr", data[name]).reshape(-1), edges)


# Types of subgraphs of a mini-batch beside the drawn edges: with their reverses, or all edges among its nodes.

SUBGRAPHS = ("directional", "bidirectional", "induced")


def finisher(
    subgraph_type: "str | SubgraphType", store: GraphStore, *, disjoint: bool
) -> "Callable[[SamplerOutput], SamplerOutput]":
    """Return a function that makes a SamplerOutput of drawn edges one of ``subgraph_type``.

    ``subgraph_type``: a name or a member of PyTorch Geometric's SubgraphType.

    OptionError for another one.
    """
    name = getattr(subgraph_type, "value", subgraph_type)
    if name not in SUBGRAPHS:
        raise OptionError(f"subgraph_type: expected {', '.join(SUBGRAPHS)}, found {quoted(subgraph_type)}")
    if name == "induced" and disjoint:
        raise OptionError("subgraph_type: induced subgraphs are not disjoint; leave out disjoint=True")
    if name == "induced":
        return Induced(store)
    return (lambda out: out.to_bidirectional()) if name == "bidirectional" else (lambda out: out)


class Induced:
    """Replaces the edges of a SamplerOutput by all edges among its nodes, in order of their targets.

    The rows of the graph and 4 bytes a vertex stay in memory.
    """

    def __init__(self, store: GraphStore) -> None:
        held = store if isinstance(store, InMemory) else store.load()
        self.indptr, self.indices = held.indptr, held.indices
        self.place = np.full(store.vertices, -1, np.int32)  # of each vertex in the mini-batch

    def __call__(self, out: "SamplerOutput") -> "SamplerOutput":
        found = induced_edges(self.indptr, self.indices, out.node.cpu().numpy(), self.place)
        out = copy.copy(out)
        out.row, out.col, out.edge = (torch.from_numpy(one).to(out.node.device) for one in found)
        out.num_sampled_nodes = out.num_sampled_edges = None  # edges belong to no hop
        return out


@njit(nogil=True)
def induced_edges(
    indptr: np.ndarray, indices: np.ndarray, nodes: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges among ``nodes`` [n], vertices: int64 arrays with the node of each neighbor, the node whose row has it,
    and its position in the rows.

    ``place`` [V] is -1, and is so again afterwards. Of a vertex that is there twice, the first node has all edges.
    """
    for node in range(nodes.size - 1, -1, -1):
        place[nodes[node]] = node
    count = 0
    for node in range(nodes.size):
        if place[nodes[node]] == node:
            for position in range(indptr[nodes[node]], indptr[nodes[node] + 1]):
                count += place[indices[position]] >= 0
    row, col, edge = empty(count, np.int64), empty(count, np.int64), empty(count, np.int64)
    at = 0
    for node in range(nodes.size):
        if place[nodes[node]] == node:
            for position in range(indptr[nodes[node]], indptr[nodes[node] + 1]):
                if place[indices[position]] >= 0:
                    row[at], col[at], edge[at] = place[indices[position]], node, position
                    at += 1
    for node in range(nodes.size):
        place[nodes[node]] = -1
    return row, col, edge
