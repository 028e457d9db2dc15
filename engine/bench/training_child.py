"""Epochs of a graph neural network with one loader, in a process: ``training_child.py TOOL SETTINGS.json``.

Epochs follow each other, first all without a model and then all with it, as those of a training do. Prints JSON: for
each epoch ``alone``, the seconds of its mini-batches with their features and without a model, and ``edges`` in them;
``seconds`` of the epoch, and of these ``waiting`` for mini-batches.

Every interpreter that has the tool may run this file, so csaw is imported only to measure csaw. A loader yields
mini-batches as the tool has them. A model takes of them the features of the vertices, labels of the seeds, and for each
layer of GraphSAGE the edges (source, target), numbered in the mini-batch, with the number of vertices that they lead
to, which are the first ones; for each layer of a GCN its sparse matrix; for a transformer the features by type and the
edges by relation. Features are in the memory of the device that
trains.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, NamedTuple, TypedDict, TypeVar, cast

from csaw.partition.base.plain_data import Values

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch_geometric.data import Data, HeteroData

    from csaw.partition import GraphStore


PAPER = "paper"  # the type of the seeds, in a graph of several types


class Settings(TypedDict):
    """The settings of a training."""

    graph: str  # path or spec
    csr: str  # .npz of its rows, for tools other than csaw
    gpu: int | None
    threads: int
    epochs: int
    mini_batches: int
    seeds: int  # of each mini-batch
    fanout: list[int]
    layer_sizes: list[int]  # of LADIES
    num_samples: list[int]  # of each type, of HGT
    features: int  # float32 of each vertex
    hidden: int
    classes: int


class Batch(NamedTuple):
    """A mini-batch for a model: features of vertices, labels of the seeds, and the layers, one for each hop."""

    x: "Tensor"
    labels: "Tensor"
    layers: list


class TypedBatch(NamedTuple):
    """A mini-batch of a graph of several types: features by type, labels of the seeds, and edges by relation."""

    x: "dict[str, Tensor]"
    labels: "Tensor"
    edges: "dict[tuple[str, str, str], Tensor]"


Loader = Callable[[], Iterable]  # an epoch of mini-batches, as the tool has them
Features = Callable[[int], "tuple[Tensor, Tensor]"]  # of so many vertices, and their labels
Seeds = Callable[[int], "Tensor"]  # of a graph of so many vertices
Ready = Callable[[], object]  # returns when the device is done


def csaw(how: Settings, x: Features, seeds: Seeds) -> Loader:
    from csaw.engine.loaders import NeighborLoader

    store, options = opened(how)
    values, labels = x(store.vertices)
    named = {"x": values, "y": labels}
    loader = NeighborLoader(store, how["fanout"], seeds(store.vertices), features=named, **options)
    return lambda: loader


def ladies(how: Settings, x: Features, seeds: Seeds) -> Loader:
    from csaw.engine.loaders import LayerLoader

    store, options = opened(how)
    values, labels = x(store.vertices)
    loader = LayerLoader(store, how["layer_sizes"], seeds(store.vertices), features=values, labels=labels, **options)
    return lambda: loader


def hgt(how: Settings, x: Features, seeds: Seeds) -> Loader:
    from csaw.engine.loaders import HGTLoader

    store, options = opened(how)
    assert store.types is not None
    named = {}
    for name in store.types.names:
        first, last = store.types.span(name)
        values, labels = x(last - first)
        named[name] = {"x": values} | ({"y": labels} if name == PAPER else {})
    first, last = store.types.span(PAPER)
    nodes = (PAPER, seeds(last - first))
    loader = HGTLoader(store, how["num_samples"], nodes, features=named, **options)
    return lambda: loader


def opened(how: Settings) -> "tuple[GraphStore, Values]":
    """The graph store, and the options of csaw's loaders."""
    from csaw.engine.bench.graphs import given
    from csaw.engine.devices.devices import place

    device = "cpu" if how["gpu"] is None else f"cuda:{how['gpu']}"
    gpus = place(device)
    store = given(how["graph"]).open(gpus[0] if gpus else None).store
    return store, {"batch_size": how["seeds"], "shuffle": True, "device": device, "threads": how["threads"]}


def pyg(how: Settings, x: Features, seeds: Seeds) -> Loader:
    import numpy as np
    import torch
    import torch_geometric.typing as found
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    if not (found.WITH_PYG_LIB or found.WITH_TORCH_SPARSE):
        raise ImportError("its NeighborLoader needs pyg-lib or torch-sparse, and neither is installed")
    csr = np.load(how["csr"])
    degrees = np.diff(csr["indptr"])
    edge_index = torch.from_numpy(
        np.stack([csr["indices"].astype(np.int64), np.repeat(np.arange(degrees.size), degrees)])
    )
    values, labels = x(degrees.size)
    data = Data(x=values, y=labels, edge_index=edge_index)
    loader = NeighborLoader(
        data, how["fanout"], seeds(degrees.size), batch_size=how["seeds"], shuffle=True, num_workers=how["threads"] // 2
    )
    return lambda: loader


def dgl(how: Settings, x: Features, seeds: Seeds) -> Loader:
    import dgl as library
    import numpy as np

    csr = np.load(how["csr"])
    indptr, indices = csr["indptr"].astype(np.int64), csr["indices"].astype(np.int64)
    graph = library.graph(("csc", (indptr, indices, [])))
    values, labels = x(indptr.size - 1)
    loader = library.dataloading.DataLoader(
        graph,
        seeds(indptr.size - 1),
        library.dataloading.NeighborSampler(how["fanout"]),
        batch_size=how["seeds"],
        shuffle=True,
        num_workers=how["threads"] // 2,
    )

    def batch_of(drawn: tuple) -> Batch:
        inputs, outputs, blocks = drawn
        layers = [(*block.edges(), block.num_dst_nodes()) for block in blocks]
        return Batch(values[inputs.to(values.device)], labels[outputs.to(values.device)], layers)

    return lambda: map(batch_of, loader)


def of_types(batch: "HeteroData") -> TypedBatch:
    return TypedBatch(batch.x_dict, batch[PAPER].y[: batch[PAPER].batch_size], batch.edge_index_dict)


def of_pyg(batch: "Data") -> Batch:
    """Features, labels and layers of a Data object: a layer leaves out the hops that it needs no more."""
    source, target = batch.edge_index
    layers = []
    for kept in range(len(batch.num_sampled_edges), 0, -1):
        edges, nodes = sum(batch.num_sampled_edges[:kept]), sum(batch.num_sampled_nodes[:kept])
        layers.append((source[:edges], target[:edges], nodes))
    return Batch(batch.x, batch.y[: batch.batch_size], layers)


Layer = TypeVar("Layer")


class Model(Generic[Layer]):
    """A network in plain PyTorch, by the layers of a mini-batch: every loader trains it."""

    inputs = 1  # of a layer, in features of a vertex

    def __init__(self, how: Settings, device: "torch.device") -> None:
        import torch

        sizes = [how["features"], *[how["hidden"]] * (len(how["fanout"]) - 1), how["classes"]]
        self.torch, self.device = torch, device
        self.layers = [torch.nn.Linear(self.inputs * a, b, device=device) for a, b in pairwise(sizes)]
        self.optimizer = torch.optim.Adam([p for layer in self.layers for p in layer.parameters()])

    def train(self, batch: Batch) -> None:
        x, labels, layers = batch
        for number, layer in enumerate(layers):
            x = self.apply(self.layers[number], x, layer)
            x = x.relu() if number + 1 < len(layers) else x
        loss = self.torch.nn.functional.cross_entropy(x, labels.to(x.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def apply(self, linear: "torch.nn.Linear", x: "Tensor", layer: Layer) -> "Tensor":
        """The features behind a layer."""
        raise NotImplementedError

    @staticmethod
    def edges(layers: list[Layer]) -> int:
        """Sampled edges of a mini-batch."""
        raise NotImplementedError


class GraphSage(Model[tuple["Tensor", "Tensor", int]]):
    """GraphSAGE with mean aggregation (Hamilton et al., NeurIPS 2017)."""

    inputs = 2  # a vertex's own features, and the mean of its neighbors'

    def apply(self, linear: "torch.nn.Linear", x: "Tensor", layer: tuple["Tensor", "Tensor", int]) -> "Tensor":
        source, target, size = layer
        return linear(self.torch.cat([x[:size], self.mean(x, source, target, size)], 1))

    @staticmethod
    def edges(layers: list[tuple["Tensor", "Tensor", int]]) -> int:
        """Sampled edges of a mini-batch: its first layer has those of all hops."""
        return layers[0][0].numel()

    def mean(self, x: "Tensor", source: "Tensor", target: "Tensor", size: int) -> "Tensor":
        """The mean over the edges that lead to each of the first ``size`` vertices, 0 without one."""
        source, target = source.to(x.device), target.to(x.device)
        total = x.new_zeros((size, x.shape[1])).index_add_(0, target, x[source])
        degree = x.new_zeros(size).index_add_(0, target, x.new_ones(target.numel()))
        return total / degree.clamp_(min=1)[:, None]


class Gcn(Model["Tensor"]):
    """A graph convolutional network (Kipf and Welling, ICLR 2017)."""

    def apply(self, linear: "torch.nn.Linear", x: "Tensor", layer: "Tensor") -> "Tensor":
        return layer @ linear(x)

    @staticmethod
    def edges(layers: list["Tensor"]) -> int:
        return sum(layer.values().numel() for layer in layers)


class Hgt(Model[dict]):
    """A heterogeneous graph transformer of two layers, as PyTorch Geometric has it (Hu et al., WWW 2020)."""

    def __init__(self, how: Settings, device: "torch.device") -> None:
        import torch

        self.torch, self.device, self.how = torch, device, how
        self.network: torch.nn.ModuleList | None = None

    def _begin(self, x: "dict[str, Tensor]", edges: "dict[tuple[str, str, str], Tensor]") -> "torch.nn.ModuleList":
        """Make the network for these types of vertices and edges."""
        from torch_geometric.nn import HGTConv

        hidden, kinds = self.how["hidden"], (list(x), list(edges))
        layers = [HGTConv(size, hidden, kinds, heads=4) for size in (self.how["features"], hidden)]
        network = self.torch.nn.ModuleList([*layers, self.torch.nn.Linear(hidden, self.how["classes"])])
        self.optimizer = self.torch.optim.Adam(network.to(self.device).parameters())
        return network

    def train(self, batch: TypedBatch) -> None:  # type: ignore[override]  # its loader yields no other
        x, labels, edges = batch
        self.network = self.network or self._begin(x, edges)
        edges = {relation: ends.to(self.device) for relation, ends in edges.items()}
        *layers, last = self.network
        for layer in layers:
            x = layer(x, edges)
        found = last(x[PAPER][: labels.numel()])
        loss = self.torch.nn.functional.cross_entropy(found, labels.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @staticmethod
    def edges(layers: "dict[tuple[str, str, str], Tensor]") -> int:  # type: ignore[override]
        return sum(ends.shape[1] for ends in layers.values())


Inputs = Callable[..., Batch]  # of a mini-batch as the tool has it

TOOLS: dict[str, tuple[Callable[[Settings, Features, Seeds], Loader], type[Model], Inputs]] = {
    "csaw": (csaw, GraphSage, of_pyg),
    "ladies": (ladies, Gcn, lambda batch: Batch(batch.x, batch.y, batch.adjs)),
    "hgt": (hgt, Hgt, cast(Inputs, of_types)),  # which its model takes
    "pyg": (pyg, GraphSage, of_pyg),
    "dgl": (dgl, GraphSage, lambda batch: batch),
}


class Waited:
    """Goes through a loader and adds up the seconds that it takes to hand out mini-batches."""

    def __init__(self, loader: Iterable[object], ready: Ready) -> None:
        self.loader, self.ready, self.seconds = loader, ready, 0.0

    def __iter__(self) -> Iterator[object]:
        items, end = iter(self.loader), object()
        while True:
            self.ready()
            began = time.perf_counter()
            item = next(items, end)
            self.seconds += time.perf_counter() - began
            if item is end:
                return
            yield item


def alone(loader: Loader, inputs: Inputs, model: Model, ready: Ready) -> dict[str, float]:
    """One epoch without a model."""
    began = time.perf_counter()
    edges = sum(model.edges(inputs(batch)[2]) for batch in loader())
    ready()
    return {"alone": time.perf_counter() - began, "edges": edges}


def trained(loader: Loader, inputs: Inputs, model: Model, ready: Ready) -> dict[str, float]:
    """One epoch with a model."""
    began = time.perf_counter()
    waited = Waited(loader(), ready)
    for batch in waited:
        model.train(inputs(batch))
    return {"seconds": time.perf_counter() - began, "waiting": waited.seconds}


def main() -> None:
    tool, settings = sys.argv[1:]
    sys.path.pop(0)  # this folder, whose files would hide packages of the same name
    with open(settings) as file:
        how = json.load(file)
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(how["threads"])
    device = torch.device("cpu" if how["gpu"] is None else f"cuda:{how['gpu']}")

    def features(vertices: int) -> "tuple[Tensor, Tensor]":
        return torch.rand((vertices, how["features"]), device=device), torch.randint(
            how["classes"], (vertices,), device=device
        )

    def seeds(vertices: int) -> "Tensor":
        return torch.randperm(vertices)[: how["seeds"] * how["mini_batches"]]

    make_loader, model_of, inputs = TOOLS[tool]
    loader = make_loader(how, features, seeds)
    ready = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    model = model_of(how, device)
    without, with_model = (
        [run(loader, inputs, model, ready) for _ in range(how["epochs"])] for run in (alone, trained)
    )
    print(json.dumps([a | b for a, b in zip(without, with_model, strict=True)]))


if __name__ == "__main__":
    main()
