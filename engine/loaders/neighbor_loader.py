"""Mini-batches for graph neural networks, as PyTorch Geometric's NeighborLoader gives them.

See Hamilton et al., NeurIPS 2017.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np

from csaw.engine.loaders.graphs import GraphData, Sampled, finisher, graph_of
from csaw.engine.loaders.hetero import (
    NumNeighbors,
    SampledTypes,
    fanout_of,
    refuse_for_types,
    typed_graph_of,
    typed_nodes_of,
    typed_output_of,
    typed_store,
)
from csaw.engine.loaders.inputs import as_tensor, gathered, input_nodes_of, require_rows, vertices_in
from csaw.engine.loaders.mini_batches import Drawn, EpochBatches, EpochLoader, MiniBatch, SeededBatches
from csaw.engine.loaders.pyg_arguments import (
    OF_NEIGHBORS,
    OWN,
    READERS,
    Timed,
    refuse_decided,
    refuse_features,
    times_at,
    without_others,
)
from csaw.engine.loaders.tensors import int64_of, needed, share_of
from csaw.engine.samples.layouts.layout import SEED_TIME, TIME
from csaw.engine.sources.given_sources import LABELS
from csaw.partition.base.arguments import mapping, maybe
from csaw.partition.base.plain_data import Values
from csaw.partition.base.python_names import in_python
from csaw.partition.errors import OptionError
from csaw.partition.ingestion.hetero_data import is_hetero

# A sampler of neighbors for PyTorch Geometric's NodeLoader and LinkLoader.

needed("torch_geometric.sampler")

import torch
from torch_geometric import sampler as pyg
from torch_geometric.sampler.neighbor_sampler import edge_sample


class NeighborSampler(pyg.BaseSampler):
    """Samples neighbors with csaw wherever PyTorch Geometric accepts a custom sampler.

        NodeLoader(data, NeighborSampler(data, [25, 10]), batch_size=1024)

    The sampler draws from the same law as :class:`csaw.engine.loaders.NeighborLoader`, which draws ahead and is faster.
    Only one thread of a process can use it at a time.

    Args:
        data: a Data object, or another graph that :func:`csaw.graph` takes, whose rows are sampled.
        num_neighbors: neighbors that a vertex selects, one number for each hop; -1 selects all.
        replace: draw with replacement.
        disjoint: give each seed separate nodes.
        subgraph_type: "directional", "bidirectional" or "induced", as for PyTorch Geometric's NeighborLoader.
        weight_attr: the attribute with edge weights to draw by.
        seed: seed of all draws. Call k in a process draws mini-batch k; in worker processes the draws also depend on
            PyTorch's seed of the worker.
        **options: options of a run, such as ``device`` and ``threads``; ``weighted=True`` to use the weights of a graph
            store; and ``time_strategy`` with ``start_time``, one time for all seeds.

    Raises:
        OptionError: the data are not supported, such as HeteroData and times.
        CsawError: as for :func:`csaw.engine.prepare`.
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
        asked = algorithm_options(fanout_of(num_neighbors, self.graph), replace, disjoint, weight_attr) | options
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


def output_of(arrays: MiniBatch, graph: Sampled) -> pyg.SamplerOutput:
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
    num_neighbors: object, replace: bool, disjoint: bool, weight_attr: str | None
) -> dict[str, object]:
    """The options of the algorithm minibatch for arguments of PyTorch Geometric."""
    weighted = weight_attr is not None
    return {"fanout": num_neighbors, "replace": replace, "disjoint": disjoint, "weighted": weighted}


def refuse_other_attributes(data: "Data | HeteroData") -> None:
    """OptionError for an attribute of nodes or edges of which PyTorch Geometric cannot select rows."""
    typed = isinstance(data, pyg_data.HeteroData)  # whose first store has attributes of the whole graph
    for store in [*data.node_stores, *data.edge_stores] if typed else data.stores:
        where = f"data[{store._key!r}]" if typed else "data"
        for name, held in store.items():
            if name not in ("edge_index", "num_nodes") and (store.is_node_attr(name) or store.is_edge_attr(name)):
                require_rows(f"{where}.{name}", held, partial(index_select, dim=data.__cat_dim__(name, held)))


def refuse_time(time: object) -> None:
    """OptionError where times are given."""
    if time is not None:
        raise OptionError(
            "time: for temporal sampling use csaw's NeighborLoader, or leave out input_time and time_attr"
        )


def _first_number() -> int:
    """The number of a process's first mini-batch: worker processes begin at random numbers,
    other ones in every epoch.
    """
    worker = torch.utils.data.get_worker_info()
    return 0 if worker is None else int(np.random.SeedSequence(worker.seed).generate_state(1, np.uint64)[0] >> 2)


needed("torch")

# A loader of mini-batches.

pyg_data = needed("torch_geometric.data")
NodeLoader = needed("torch_geometric.loader").NodeLoader
index_select = needed("torch_geometric.loader.utils").index_select

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric import loader
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.sampler.base import SubgraphType


class GraphLoader(EpochLoader[Drawn, "Data"]):
    """A loader whose mini-batches are Data objects with the attributes of their nodes and edges.

    ``filter`` is PyTorch Geometric's loader that gathers those of a Data object. ``transform`` is called at the end.
    """

    graph: "Sampled | SampledTypes"
    features_of: "Mapping[str, dict[str, Tensor]]" = MappingProxyType({})  # of each type
    data: "Data | HeteroData"
    filter: "loader.NodeLoader | loader.LinkLoader"
    transform: "Callable[[Data], object] | None"

    def _open(
        self,
        data: GraphData,
        weight_attr: str | None,
        time_attr: str | None,
        subgraph_type: "str | SubgraphType",
        disjoint: bool,
        features: Mapping[str, object] | None,
        edge_features: Mapping[str, object] | None,
    ) -> None:
        """Take the graph and the features that mini-batches are gathered from."""
        self.graph = self._graph_of(data, weight_attr, time_attr)
        if isinstance(data, pyg_data.Data | pyg_data.HeteroData):
            refuse_other_attributes(data)
        if isinstance(self.graph, SampledTypes):
            refuse_for_types(self.graph, subgraph_type, features, edge_features)
            self.data = self.graph.empty_data() if self.graph.order is None else data
            self.features_of = {
                name: self._held(cast("Mapping[str, object]", arrays), name)
                for name, arrays in (features or {}).items()
            }
            features = edge_features = None
        else:
            self.data = data if isinstance(data, pyg_data.Data) else pyg_data.Data(num_nodes=self.graph.store.vertices)
        self.with_edges = finisher(subgraph_type, self.graph.store, disjoint=disjoint)
        self.features, self.edge_features = self._held(features, "vertices"), self._held(edge_features, "edges")
        order = self.graph.order if isinstance(self.graph, Sampled) else None
        self.permuted = SimpleNamespace(edge_permutation=order)

    def _graph_of(self, data: GraphData, weight_attr: str | None, time_attr: str | None) -> "Sampled | SampledTypes":
        """The graph to sample."""
        if is_hetero(data):
            return typed_graph_of(data, weight_attr, time_attr)
        graph = graph_of(data, weight_attr, time_attr=time_attr)
        return graph if graph.store.types is None else typed_store(graph.store)

    def _held(self, arrays: Mapping[str, object] | None, of: str) -> "dict[str, Tensor]":
        """Features ``of`` all vertices, of edges, or of a type, as tensors."""
        if isinstance(self.graph, SampledTypes) and of in self.graph.types.names:
            first, last = self.graph.types.span(of)
            rows, said = last - first, f"features: {of}"
        else:
            rows, said = getattr(self.graph.store, of), "features" if of == "vertices" else "edge_features"
        return {name: as_tensor(f"{said}: {name}", values, rows) for name, values in (arrays or {}).items()}

    def _refuse_features(self, taken: Collection[str]) -> None:
        """OptionError for features whose names mini-batches have already, and where data has n_id or e_id."""
        refuse_features(taken, features=self.features, edge_features=self.edge_features)
        for arrays in self.features_of.values():
            refuse_features(taken, features=arrays)
        for argument, arrays, name in (
            ("features", self.features, "n_id"),
            ("edge_features", self.edge_features, "e_id"),
        ):
            if arrays and name in self.data:
                raise OptionError(
                    f"{argument}: expected data without {name}, by which they are gathered; rename this attribute"
                )

    def _output_of(self, arrays: MiniBatch) -> "pyg.SamplerOutput | pyg.HeteroSamplerOutput":
        """The tensors of a mini-batch as PyTorch Geometric has them."""
        graph = self.graph
        return typed_output_of(arrays, graph) if isinstance(graph, SampledTypes) else output_of(arrays, graph)

    def _gathered(self, out: "pyg.SamplerOutput | pyg.HeteroSamplerOutput", arrays: MiniBatch) -> "Data":
        """The Data object of a SamplerOutput that has its metadata, with features."""
        out = self.with_edges(out)
        if isinstance(out, pyg.HeteroSamplerOutput):
            return self._of_types(out, arrays)
        if self.data.edge_index is None:
            self.data.edge_index = out.row.new_empty((2, 0))  # for the type and the device
        batch = self.filter.filter_fn(out)
        if LABELS in arrays:
            batch[LABELS] = as_tensor(LABELS, arrays[LABELS], batch.batch_size)
        if TIME in arrays and self.graph.order is None:  # those of a Data object are gathered with its other attributes
            batch[TIME] = times_at(batch.e_id, arrays["e_id"], arrays[TIME])
        for name, values in self.features.items():
            batch[name] = gathered(values, batch.n_id)
        for name, values in self.edge_features.items():
            batch[name] = gathered(values, batch.e_id)
        return batch if self.transform is None else self.transform(batch)

    def _of_types(self, out: pyg.HeteroSamplerOutput, arrays: MiniBatch) -> "HeteroData":
        """The HeteroData of a SamplerOutput, with features, and of a graph store with the times of edges."""
        for edge_type, row in out.row.items():
            if "edge_index" not in self.data[edge_type]:
                self.data[edge_type].edge_index = row.new_empty((2, 0))
        batch = self.filter.filter_fn(out)
        for name, held in self.features_of.items():
            for feature, values in held.items():
                batch[name][feature] = gathered(values, batch[name].n_id)
        if TIME in arrays and self.graph.order is None:
            for store in (one for one in batch.edge_stores if "e_id" in one):  # reverses that were added have none
                store[TIME] = times_at(store.e_id, arrays["e_id"], arrays[TIME])
        return batch if self.transform is None else self.transform(batch)


class NodeSeedLoader(GraphLoader[MiniBatch]):
    """A loader whose mini-batches begin at nodes, of a graph of one type or of several."""

    drawn: EpochBatches
    timed: Timed

    def _seeds_of(self, given: object, sources: object) -> "tuple[object, np.ndarray | None]":
        """The seeds as PyTorch Geometric's loader takes them, and their dense ids; None for all vertices."""
        if isinstance(self.graph, SampledTypes):
            name, seeds, nodes = typed_nodes_of(given, self.graph, sources)
            return (name, seeds), nodes
        held = input_nodes_of(given, self.graph.store.vertices)
        return held, vertices_in(held)

    def _begin(
        self,
        data: GraphData,
        seeds: object,
        nodes: np.ndarray | None,
        share: tuple[int, int],
        asked: Values,
        options: Values,
        batches: type[EpochBatches] = EpochBatches,
    ) -> None:
        """Have ``batches`` drawn of these seeds, ``nodes`` by their dense ids, as arguments have ``asked`` and the
        ``options`` beside them say.
        """
        is_timed = self.timed.time_attr is not None
        if is_timed:
            first, held = 0, data if isinstance(data, pyg_data.Data) else self.graph.store
            if isinstance(self.graph, SampledTypes) and isinstance(seeds, tuple):
                first, held = self.graph.types.span(seeds[0])[0], self.data[seeds[0]]
            in_time = self.timed.options(held, self.graph.store, nodes, options, first)
            nodes = None if "sources" in in_time else nodes
            asked |= in_time
        self.drawn = batches(
            self.graph.store, nodes, share=share, on_device=self.graph.stays_on_device, **asked | options
        )
        taken = [*OWN, *self.timed.names] if is_timed or "time_strategy" in options else [*OWN]
        taken += ["batch"] * bool(asked.get("disjoint")) + [LABELS] * (self.drawn.stream.job.sources.labels is not None)
        self._refuse_features(taken)

    @property
    def dataset(self) -> range:
        """The positions of the seeds of an epoch, as PyTorch Geometric's loader has them for progress bars."""
        return range(self.drawn.seeds)

    def _finished(self, arrays: MiniBatch) -> "Data":
        """The Data object of a mini-batch."""
        out = self._output_of(arrays)
        position, known = int64_of(arrays["input_id"]), self.filter.input_data.input_id
        device = arrays["row"].device if self.graph.order is None else self.graph.order.device
        seed_time = arrays[SEED_TIME].to(device) if SEED_TIME in arrays else None
        out.metadata = (position if known is None else known[position], seed_time)
        return self._gathered(out, arrays)


class NeighborLoader(NodeSeedLoader):
    """PyTorch Geometric's NeighborLoader, drawn by csaw.

        for batch in NeighborLoader(data, num_neighbors=[25, 10], batch_size=1024, input_nodes=data.train_mask):
            loss = train(batch.x, batch.edge_index, batch.y[: batch.batch_size])

    Each ``for`` loop over it is another epoch; ``loader.epoch`` is its number, which you can set. Mini-batches depend
    only on the request and the epoch. They are Data objects with the attributes of ``data``: node attributes are
    gathered by ``n_id``, edge attributes by ``e_id``. ``edge_index`` goes from sampled neighbors to the vertices that
    they were drawn for, numbered in the mini-batch, seeds first. ``n_id`` and ``e_id`` are the nodes and edges of
    ``data`` (for a store, dense ids and positions in its rows). ``input_id``, ``batch_size``, ``num_sampled_nodes``,
    ``num_sampled_edges`` and, if disjoint, ``batch`` are as in PyTorch Geometric. If seeds have labels, these are
    ``y``, float64 [batch_size]. Tensors are on the device of ``data``; for a graph store, on the device that drew them.
    Threads make mini-batches ahead while the model trains.

    Args:
        data: a Data or HeteroData object, from whose edges a graph is made in memory, in which the sources of edges to
            a vertex are its neighbors; or another graph that :func:`csaw.graph` accepts, whose rows are sampled. If it
            has several types, mini-batches are HeteroData, and each node selects from every edge type by itself. A
            relation of a graph store is an edge type the other way round: paper-rev_writes-author is
            ``("author", "writes", "paper")``.
        num_neighbors: neighbors that a vertex selects, one number for each hop; -1 selects all. Of several types,
            numbers that count for each edge type, or a dict with numbers for each of them.
        input_nodes: seeds: a list, an array or a tensor of vertex numbers (for a graph store, dense ids 0 .. V - 1), or
            a mask with a bool for each vertex. None, all vertices. Of several types a node type, or a tuple of one and
            of seeds of this type.
        batch_size: number of seeds in a mini-batch.
        shuffle: draw the order of the seeds in each epoch.
        drop_last: drop a smaller last mini-batch.
        replace: draw with replacement.
        disjoint: give each seed separate nodes.
        subgraph_type: "directional", the drawn edges; "bidirectional", with their reverses; "induced", all edges among
            the nodes, for which the rows of a graph store are also loaded into host memory.
        weight_attr: the attribute with edge weights to draw by.
        time_attr: the attribute with integer times of edges or of nodes; for a graph store "time". Each vertex then
            selects only edges whose time, or that of the neighbor, is not later than that of its seed, and each seed
            has separate nodes. ``seed_time`` of a mini-batch has the times of its seeds.
        input_time: the time of each seed (default: None, the node times of the seeds).
        temporal_strategy: "uniform", random ones of these edges; or "last", the latest.
        transform: called with each mini-batch.
        transform_sampler_output: called with each SamplerOutput before features are gathered.
        features: for a graph store, arrays by name, such as ``{"x": np.load("x.npy", mmap_mode="r"), "y": labels}``,
            whose rows are gathered by ``n_id``: NumPy arrays and memory maps, tensors, or arrays on a GPU. Their names
            must not be those of the mini-batch, such as ``n_id``. If the store has several types, such arrays for each,
            such as ``{"paper": {"x": x}}``.
        edge_features: the same for edges, gathered by ``e_id``.
        seed: number that all draws follow from.
        rank: number of this process among those that train together, from 0 on.
        world: number of processes that train together. Each gets a part of every epoch's mini-batches; the sizes of
            parts differ by at most one.
        **options: ``sources`` instead of ``input_nodes``, seeds by their original ids, which may have labels and times
            (not with several types); in time, ``start_time``, one time for all seeds, ``time_order="strict"`` for only
            earlier edges, and ``time_window``, the longest time before; options of a run, such as ``device``,
            ``threads``, ``memory`` and ``in_flight``, the number of mini-batches drawn together (8);
            ``weighted=True`` to use the weights of a graph store. Arguments that only PyTorch Geometric's loader has
            are accepted if they request nothing, and ignored with a warning if they request worker processes, which
            csaw does not need.

    Raises:
        OptionError: csaw does not support something that would change mini-batches.
        CsawError: as for :func:`csaw.stream`.
    """

    @in_python(READERS | {"features": maybe(mapping("arrays"))}, seeds_per_batch="batch_size", fanout="num_neighbors")
    def __init__(
        self,
        data: GraphData,
        num_neighbors: NumNeighbors,
        input_nodes: object = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        disjoint: bool = False,
        subgraph_type: "str | SubgraphType" = "directional",
        weight_attr: str | None = None,
        time_attr: str | None = None,
        input_time: object = None,
        temporal_strategy: str = "uniform",
        transform: "Callable[[Data], object] | None" = None,
        transform_sampler_output: Callable[..., object] | None = None,
        features: Mapping[str, object] | None = None,
        edge_features: Mapping[str, object] | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        **options: object,
    ) -> None:
        options = without_others(options, "NeighborLoader")
        self.timed = Timed(time_attr, input_time, temporal_strategy)
        refuse_decided(options, OF_NEIGHBORS)
        is_timed = self.timed.check(subgraph_type, weight_attr, options, data)
        disjoint = disjoint or (is_timed and "start_time" not in options)
        self._open(data, weight_attr, time_attr, subgraph_type, disjoint, features, edge_features)
        self.transform = transform
        seeds, nodes = self._seeds_of(input_nodes, options.get("sources"))
        self.filter = NodeLoader(self.data, self.permuted, seeds, transform_sampler_output=transform_sampler_output)
        asked = algorithm_options(fanout_of(num_neighbors, self.graph), replace, disjoint, weight_attr)
        mini_batches = {"seeds_per_batch": batch_size, "shuffle": shuffle, "drop_last": drop_last, "seed": seed}
        self._begin(data, seeds, nodes, share_of(rank, world), asked | mini_batches, options)
