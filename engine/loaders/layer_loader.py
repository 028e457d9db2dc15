"""Layers of vertices and the matrices between them, for graph convolutional networks.

LADIES and FastGCN train by them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from csaw.engine.api.registry import Algo, named
from csaw.engine.loaders.graphs import GraphData, graph_of, is_data
from csaw.engine.loaders.inputs import as_tensor, gathered, input_nodes_of, vertices_in
from csaw.engine.loaders.layers import EpochLayers, Layers
from csaw.engine.loaders.mini_batches import EpochLoader
from csaw.engine.loaders.pyg_arguments import READERS, without_others
from csaw.engine.loaders.tensors import needed, share_of
from csaw.partition.base.python_names import in_python

needed("torch")

from torch import Tensor

IN_FLIGHT = 8  # mini-batches drawn together: threads share them, and the first one waits for all


class LayerLoader(EpochLoader[Layers, Layers]):
    """Layers of vertices that LADIES or FastGCN draws, with the weighted adjacency matrices between them.

        for batch in LayerLoader(data, layer_sizes=[512, 512], batch_size=512, input_nodes=data.train_mask):
            h = batch.x
            for adj, layer in zip(batch.adjs, model):
                h = adj @ layer(h)

    Each ``for`` loop over it is another epoch; ``loader.epoch`` is its number, which you can set. It yields
    :class:`csaw.engine.loaders.Layers`: ``n_ids`` and ``adjs`` in the order in which a network reads them, ``x`` of the
    vertices ``n_ids[0]``, ``y`` of the seeds ``n_ids[-1]``, and ``batch_size``. Mini-batches depend only on the request
    and the epoch, to the last bit of their matrices. Tensors are on the device of ``data``; for a graph store, on the
    device that drew them. Threads make mini-batches ahead while the model trains.

    Args:
        data: a PyTorch Geometric Data object, from whose edges a graph is made in memory, in which the sources of edges
            to a vertex are its neighbors; or another graph that :func:`csaw.graph` accepts, whose rows are sampled.
        layer_sizes: number of vertices to draw for each layer, starting next to the seeds.
        input_nodes: seeds, which must be different: a list, an array or a tensor of vertex numbers (for a graph store,
            dense ids 0 .. V - 1), or a mask with a bool for each vertex. None, all vertices.
        sampler: "ladies", which draws from the neighbors of the previous layer; "fastgcn", which draws from all
            vertices; or a custom algorithm that draws layers.
        batch_size: seeds of a mini-batch.
        shuffle: draw the order of the seeds in each epoch.
        drop_last: leave out a smaller last mini-batch.
        normalize: the matrix A whose product is estimated: "symmetric", w / sqrt(d(v) d(u)) for an edge of weight w
            between vertices with d(v) and d(u) edges, as in GCN; "row", w / d(v); "none", w. None takes the sampler's
            default, which is "symmetric" for ladies and fastgcn. With the option ``edge_bias``, leave it out: A(v, u)
            is then the square root of the bias.
        row_normalized: divide each row of a sampled matrix by its sum, as LADIES does. None does it for all samplers
            except fastgcn, whose paper does not. Without it, a matrix between two layers is an unbiased estimate of the
            rows of A: its entry for an edge v -> u is A(v, u) c / (n q(u)), where c of n draws, each with probability
            q(u), yielded u.
        self_loops: for a Data object, add an edge from each vertex to itself if there is none, as GCN does; None adds
            them. Rows of a graph store are not changed.
        weight_attr: the attribute of a Data object with edge weights. None, all are 1.
        features: for a graph store, an array [V, ...] whose rows are ``x``: a NumPy array or memory map, a tensor, or
            an array on a GPU. A Data object already has them.
        labels: the same for ``y``.
        transform: called with each mini-batch.
        seed: number that all draws follow from.
        rank: number of this process among those that train together, from 0 on.
        world: number of processes that train together. Each gets a part of every epoch's mini-batches; the sizes of
            parts differ by at most one.
        **options: options of the sampler, such as ``replace`` of ladies (True, as in the paper; without it the estimate
            is biased), and of a run, such as ``device``, ``threads``, ``memory`` and ``in_flight``, the number of
            mini-batches drawn together (8); ``weighted=True`` to use the weights of a graph store.

    Raises:
        OptionError: the data cannot be sampled this way.
        CsawError: as for :func:`csaw.stream`.
    """

    @in_python(READERS, seeds_per_batch="batch_size", algo="sampler")
    def __init__(
        self,
        data: GraphData,
        layer_sizes: Sequence[int],
        input_nodes: object = None,
        *,
        sampler: Algo = "ladies",
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        normalize: str | None = None,
        row_normalized: bool | None = None,
        self_loops: bool | None = None,
        weight_attr: str | None = None,
        features: object = None,
        labels: object = None,
        transform: Callable[[Layers], Layers] | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        **options: object,
    ) -> None:
        options = without_others(options, "LayerLoader")
        held = data if is_data(data) else None
        self.graph = graph_of(data, weight_attr, self_loops=held is not None if self_loops is None else self_loops)
        self.transform = transform
        if row_normalized is None:
            row_normalized = named(sampler, {})[0] != "fastgcn"
        self.features = self._held("features", getattr(held, "x", None) if features is None else features)
        self.labels = self._held("labels", getattr(held, "y", None) if labels is None else labels)
        asked = {
            "layer_sizes": layer_sizes,
            **({} if normalize is None else {"normalize": normalize}),
            "seed": seed,
            "in_flight": IN_FLIGHT,
            "weighted": weight_attr is not None,
        }
        self.drawn = EpochLayers(
            self.graph.store,
            sampler,
            vertices_in(input_nodes_of(input_nodes, self.graph.store.vertices)),
            batch_size=batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            share=share_of(rank, world),
            on_device=self.graph.stays_on_device,
            row_normalized=row_normalized,
            **asked | options,
        )

    def _held(self, name: str, values: object) -> Tensor | None:
        return None if values is None else as_tensor(name, values, self.graph.store.vertices)

    def _finished(self, one: Layers) -> Layers:
        """A mini-batch on the device of the data, with features and labels."""
        if self.graph.order is not None:
            device = self.graph.order.device
            one = Layers([ids.to(device) for ids in one.n_ids], [adj.to(device) for adj in one.adjs])
        x = None if self.features is None else gathered(self.features, one.n_ids[0])
        y = None if self.labels is None else gathered(self.labels, one.n_ids[-1])
        one = replace(one, x=x, y=y)
        return one if self.transform is None else self.transform(one)
