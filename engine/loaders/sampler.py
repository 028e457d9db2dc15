"""A sampler of neighbors for PyTorch Geometric's NodeLoader and LinkLoader."""

from collections.abc import Sequence

import numpy as np

from csaw.engine.loaders.graphs import GraphData, Sampled, graph_of
from csaw.engine.loaders.induced import finisher
from csaw.engine.loaders.mini_batches import Arrays, SeededBatches
from csaw.engine.loaders.optional import needed
from csaw.engine.loaders.others_arguments import READERS, without_others
from csaw.partition.base.python_names import in_python
from csaw.partition.errors import OptionError

needed("torch_geometric.sampler")

import torch
from torch_geometric import sampler as pyg
from torch_geometric.sampler.neighbor_sampler import edge_sample


class NeighborSampler(pyg.BaseSampler):
    """Samples neighbors with csaw where PyTorch Geometric takes a sampler of one's own.

        NodeLoader(data, NeighborSampler(data, [25, 10]), batch_size=1024)

    The sampler draws the same law as :class:`csaw.engine.loaders.NeighborLoader`, which draws ahead and is faster. It
    can be used by one thread of a process at a time.

    Args:
        data: a Data object, or another graph that :func:`csaw.graph` takes, whose rows are sampled.
        num_neighbors: neighbors that a vertex selects, one number for each hop; -1 selects all.
        replace: draw with replacement.
        disjoint: give each seed nodes of its own.
        subgraph_type: "directional", "bidirectional" or "induced", as for PyTorch Geometric's NeighborLoader.
        weight_attr: the attribute with edge weights to draw by.
        seed: number that all draws follow from. Call k in a process draws mini-batch k; in worker processes the draws
            follow from PyTorch's seed of the worker too.
        **options: those of a run, such as ``device`` and ``threads``; ``weighted=True`` to use the weights of a graph
            store, and ``time_strategy`` with ``start_time``, one time for all seeds.

    Raises:
        OptionError: the data cannot be sampled, such as HeteroData and times.
        CsawError: as of :func:`csaw.engine.prepare`.
    """

    @in_python(READERS, seeds_per_batch="batch_size", fanout="num_neighbors")
    def __init__(
        self,
        data: GraphData,
        num_neighbors: Sequence[int],
        *,
        replace: bool = False,
        disjoint: bool = False,
        subgraph_type: str = "directional",
        weight_attr: str | None = None,
        seed: int = 0,
        **options: object,
    ) -> None:
        options = without_others(options, "NeighborSampler")
        self.graph = graph_of(data, weight_attr)
        self.finished = finisher(subgraph_type, self.graph.store, disjoint=disjoint)
        asked = algorithm_options(num_neighbors, replace, disjoint, weight_attr) | options
        self.disjoint, self.num_nodes = disjoint, self.graph.store.vertices
        self.drawn = SeededBatches(self.graph.store, on_device=self.graph.stays_on_device, seed=seed, **asked)
        self.calls = 0

    def sample_from_nodes(self, index: pyg.NodeSamplerInput, **_: object) -> pyg.SamplerOutput:
        """Return a SamplerOutput of the neighbors of seeds.

        Args:
            index: the seeds, a NodeSamplerInput.

        Returns:
            Nodes and edges of the mini-batch.
        """
        refuse_time(index.time)
        out = self._sample(index.node)
        out.metadata = (index.input_id, None)
        return self.finished(out)

    def sample_from_edges(
        self, index: pyg.EdgeSamplerInput, neg_sampling: pyg.NegativeSampling | None = None
    ) -> pyg.SamplerOutput:
        """Return a SamplerOutput of the neighbors of both ends of edges.

        Args:
            index: the edges, an EdgeSamplerInput.
            neg_sampling: how many negative edges to add; their ends have neighbors in it, too.

        Returns:
            Nodes and edges of the mini-batch.
        """
        refuse_time(index.time)
        return self.finished(
            edge_sample(index, self._sample, self.num_nodes, self.disjoint, node_time=None, neg_sampling=neg_sampling)
        )

    @property
    def edge_permutation(self) -> torch.Tensor | None:
        """The columns of ``edge_index`` that the sampler's edges are, an int64 tensor [edges].

        None for a graph store.
        """
        return self.graph.order

    def close(self) -> None:
        """Give back the device, its threads and memory."""
        self.drawn.close()

    def _sample(self, seeds: torch.Tensor, times: None = None) -> pyg.SamplerOutput:
        nodes = seeds.cpu().numpy()
        if nodes.dtype.kind not in "iu":
            raise OptionError(f"seeds: expected vertices, a tensor of integers, found {seeds.dtype}")
        if nodes.size and not 0 <= int(nodes.min()) <= int(nodes.max()) < self.num_nodes:
            raise OptionError(
                f"seeds: expected vertices from 0 to {self.num_nodes - 1}, found {nodes.min()} to {nodes.max()}"
            )
        arrays = self.drawn.draw(_first_number() + self.calls, nodes.astype(np.int64))
        self.calls += 1
        return output_of(arrays, self.graph)


def output_of(arrays: Arrays, graph: Sampled) -> pyg.SamplerOutput:
    """The tensors of a mini-batch as a SamplerOutput: edges as positions in the rows of the store.

    On the device of the data.
    """

    def placed(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if graph.order is None else tensor.to(graph.order.device)

    return pyg.SamplerOutput(
        node=placed(arrays["n_id"]),
        row=placed(arrays["row"]),
        col=placed(arrays["col"]),
        edge=placed(arrays["e_id"]),
        batch=placed(arrays["batch"]) if "batch" in arrays else None,
        num_sampled_nodes=arrays["hop_nodes"],
        num_sampled_edges=arrays["hop_edges"],
    )


def algorithm_options(
    num_neighbors: Sequence[int], replace: bool, disjoint: bool, weight_attr: str | None
) -> dict[str, object]:
    """The options of the algorithm minibatch for arguments of PyTorch Geometric."""
    weighted = weight_attr is not None
    return {"fanout": num_neighbors, "replace": replace, "disjoint": disjoint, "weighted": weighted}


def refuse_time(time: object) -> None:
    """OptionError where times are given."""
    if time is not None:
        raise OptionError(
            "time: temporal sampling is that of csaw's NeighborLoader; use that, or leave out input_time and time_attr"
        )


def _first_number() -> int:
    """The number of a process's first mini-batch: worker processes begin at random numbers,
    other ones in every epoch.
    """
    worker = torch.utils.data.get_worker_info()
    return 0 if worker is None else int(np.random.SeedSequence(worker.seed).generate_state(1, np.uint64)[0] >> 2)
