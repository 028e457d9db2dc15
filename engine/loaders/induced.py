"""Types of subgraphs of a mini-batch beside the drawn edges: with their reverses, or all edges among its nodes."""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.loaders.optional import needed
from csaw.partition import GraphStore
from csaw.partition.base.compile import njit
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.in_memory import InMemory

needed("torch")

import torch

from csaw.partition.base.kernel_arrays import empty

if TYPE_CHECKING:
    from torch_geometric.sampler import SamplerOutput
    from torch_geometric.sampler.base import SubgraphType

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
def induced_edges(indptr, indices, nodes, place):
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
