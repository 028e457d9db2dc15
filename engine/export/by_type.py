"""Nodes and edges of a batch by type and relation, as PyTorch Geometric's HeteroData has them. Needs PyTorch."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class ByType(NamedTuple):
    """How the nodes of a batch fall into types and its edges into relations.

    Attributes:
        number: int64 [nodes], the number of each node among those of its type.
        num_sampled_nodes: of each type, how many nodes each hop has.
        num_sampled_edges: of each relation, how many edges each hop has.
        node_order: int64 [nodes], the nodes type by type.
        edge_order: int64 [edges], the edges relation by relation.
    """

    number: Tensor
    num_sampled_nodes: list[list[int]]
    num_sampled_edges: list[list[int]]
    node_order: Tensor
    edge_order: Tensor

    @classmethod
    def of(
        cls,
        node_type: Tensor,
        edge_type: Tensor,
        hop_nodes: Sequence[int],
        hop_edges: Sequence[int],
        kinds: tuple[int, int],
    ) -> "ByType":
        """Split nodes and edges, hop after hop, of ``kinds`` types and relations; waits for a GPU once."""
        types, relations = kinds
        nodes, edges = _counted(node_type, hop_nodes, types), _counted(edge_type, hop_edges, relations)
        counts = torch.cat([nodes, edges]).tolist()
        of_nodes, of_edges = _by_hop(counts[: nodes.numel()], types), _by_hop(counts[nodes.numel() :], relations)
        order = node_type.argsort(stable=True)
        starts = torch.tensor([0, *(sum(one) for one in of_nodes)], device=order.device).cumsum(0)
        number = torch.empty_like(order)
        number[order] = torch.arange(order.numel(), device=order.device) - starts[node_type[order]]
        return cls(number, of_nodes, of_edges, order, edge_type.argsort(stable=True))

    def of_nodes(self, values: Tensor) -> tuple[Tensor, ...]:
        """Values of all nodes, for each type those of its nodes."""
        return values[self.node_order].split([sum(one) for one in self.num_sampled_nodes])

    def of_edges(self, values: Tensor) -> tuple[Tensor, ...]:
        """Values of all edges, for each relation those of its edges."""
        return values[self.edge_order].split([sum(one) for one in self.num_sampled_edges])


def _counted(kind: Tensor, hops: Sequence[int], kinds: int) -> Tensor:
    """How many elements of each hop are of each kind, int64 [hops kinds]; ``hops``: how many each hop has."""
    of = torch.arange(len(hops), device=kind.device).repeat_interleave(
        torch.tensor(hops, dtype=torch.int64, device=kind.device)
    )
    return torch.bincount(of * kinds + kind, minlength=len(hops) * kinds)


def _by_hop(counts: list[int], kinds: int) -> list[list[int]]:
    """The numbers of each kind, hop by hop."""
    return [counts[kind::kinds] for kind in range(kinds)]
