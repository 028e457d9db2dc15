"""Layers of vertices for training: those of an epoch, drawn ahead, and the matrices between them (Zou et al., NeurIPS
2019; Chen et al., ICLR 2018).
"""

import threading
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.bases import LayerEntries
from csaw.engine.api.registry import Algo
from csaw.engine.loaders.mini_batches import EPOCHS, checked_epoch
from csaw.engine.loaders.tensors import float32_of, int64_of, needed, span_of, vertices_of
from csaw.engine.plan.instance_bytes import LARGEST_SAMPLE
from csaw.engine.runs.job import prepare
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.schedule.batch_loop import FinishedBatch
from csaw.engine.sources.seeds import SeedOrder
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

needed("torch")

import torch
from torch import Tensor

# PyTorch 2.11 and some versions after it warn that sparse tensors are not checked, even where the argument says so; the
# switch that ends that is one for all threads.
WARNS = (2, 11) <= tuple(map(int, torch.__version__.split(".")[:2])) < (2, 15)
SWITCHING = threading.Lock()
OWN = {"frontier_size", "ids", "instances", "sources"}  # options that follow from arguments of the loader
VERTEX_BYTES = 24  # of a vertex of a layer in a stored sample, at most
UNITS = 2.0**36  # of the largest value of a sum: 2^26 values stay below 2^62


@dataclass(frozen=True)
class Layers:
    """A mini-batch of layers, from the layer that a network reads to the seeds.

    Attributes:
        n_ids: int64 tensors, the different vertices of each layer; the last layer is the seeds, in order.
        adjs: sparse float32 matrices [vertices of layer k + 1, vertices of layer k], so that ``adjs[k] @ h`` with a row
            of ``h`` for each vertex of layer k is the aggregation for those of layer k + 1.
        x: features of the vertices ``n_ids[0]``, if the loader has features.
        y: labels of the seeds, if the loader has labels.
    """

    n_ids: list[Tensor]
    adjs: list[Tensor]
    x: Tensor | None = None
    """The features of the vertices ``n_ids[0]``, where the loader has features."""
    y: Tensor | None = None
    """The labels of the seeds, where the loader has labels."""

    @property
    def batch_size(self) -> int:
        return int(self.n_ids[-1].numel())


class EpochLayers:
    """The samples of layers of epoch after epoch; the next ones are drawn while the caller works on the last.

    ``nodes``: dense ids of the seeds, int64 [n], None for all vertices. ``share``: number of this process, and of all
    processes that divide each epoch. ``options``: those of the sampler and of a run. ``row_normalized``: whether rows
    of matrices are divided by their sums. ``epochs``: how many there are. ``per_epoch``: mini-batches of an epoch, of
    all processes together. ``first``, ``last``: those of this process.
    """

    def __init__(
        self,
        store: GraphStore,
        sampler: Algo,
        nodes: np.ndarray | None,
        *,
        batch_size: int,
        shuffle: bool,
        drop_last: bool,
        share: tuple[int, int],
        on_device: bool,
        row_normalized: bool,
        **options: OptionValue,
    ) -> None:
        sampler, options = registry.named(sampler, options)
        _check(sampler, batch_size, options)
        sources = {} if nodes is None else {"sources": store.original_ids(different(nodes))}
        count = store.vertices if nodes is None else nodes.size
        self.seeds = seeds = _order(count, batch_size, shuffle, drop_last, int(options.get("seed", 0)))
        self.per_epoch = seeds.batches_per_epoch
        # No request may ask for a sample that is larger than any disk, so there are fewer epochs of large layers.
        most = LARGEST_SAMPLE // (VERTEX_BYTES * (1 + sum(max(0, size) for size in options["layer_sizes"])))
        instances = max(1, min(max(1, self.per_epoch) * EPOCHS, most))
        job = prepare(
            store,
            sampler,
            measure=True,
            **options | sources,
            ids="dense",
            frontier_size=seeds.size,
            instances=instances,
        )
        self.epochs = instances // max(1, self.per_epoch)
        self.first, self.last = span_of(self.per_epoch, *share)
        self.sources = job.sources.in_turn(seeds)
        self.layers, self.vertices, self.row_normalized = len(job.plan.sizes), store.vertices, row_normalized
        self.stream = Stream(replace(job, sources=self.sources), on_device=on_device)

    def draw(self, epoch: int) -> Generator[list[Layers], None, None]:
        """Yield the mini-batches of this process in an epoch, in order, those that were drawn together in a list.

        OptionError where there is no such epoch.
        """
        begin = checked_epoch(epoch, self.epochs) * self.per_epoch
        with closing(self.stream.draw(begin + self.first, begin + self.last)) as batches:
            for batch in batches:
                rows = self.seeds.positions(batch.first, batch.first + batch.instances)
                seeds = [self.sources.at(row[row >= 0]) for row in rows]
                yield list(cut(batch, seeds, self.layers, self.vertices, row_normalized=self.row_normalized))

    def close(self) -> None:
        self.stream.close()


def _check(sampler: str, batch_size: int, options: Collection[str]) -> None:
    """Raise OptionError for arguments of a loader that cannot be."""
    for name in OWN.intersection(options):
        raise OptionError(f"{name}: input_nodes and batch_size determine it; leave it out")
    if not issubclass(registry.find(sampler), LayerEntries):
        raise OptionError(f"sampler: expected a sampler of layers, such as ladies or fastgcn, found {quoted(sampler)}")
    if not (isinstance(batch_size, int) and batch_size > 0):
        raise OptionError(f"batch_size: expected an integer from 1, found {quoted(batch_size)}")


def _order(count: int, batch_size: int, shuffle: bool, drop_last: bool, seed: int) -> SeedOrder:
    """Return the order of ``count`` seeds in mini-batches."""
    if drop_last and count < batch_size:
        raise OptionError(
            f"drop_last: there are {count} seeds, fewer than batch_size {batch_size}, so no mini-batch is left; "
            "lower batch_size"
        )
    return SeedOrder(count, min(batch_size, max(count, 1)), shuffle, drop_last, seed)


def different(nodes: np.ndarray) -> np.ndarray:
    """The ``nodes``; OptionError where a vertex is there twice, because a layer holds it once."""
    values, counts = np.unique(nodes, return_counts=True)
    if (counts > 1).any():
        raise OptionError(f"input_nodes: expected different vertices, found {values[counts > 1][0]} more than once")
    return nodes


class Levels:
    """Lists of different vertices: for each mini-batch its seeds, in their order, and after them its layers, each
    ascending.

    ``seeds``: int64 tensors, those of each mini-batch. ``level``, ``vertex``: int64 [n], numbers of lists and vertices
    in them, which may be there more than once.
    """

    def __init__(self, seeds: list[np.ndarray], level: Tensor, vertex: Tensor, layers: int, vertices: int) -> None:
        self.vertices, device = vertices, vertex.device
        sizes = torch.tensor([one.size for one in seeds])
        number = torch.arange(len(seeds)).repeat_interleave(sizes)
        at = torch.arange(number.numel()) - (sizes.cumsum(0) - sizes)[number]
        number, at, own = (
            ((layers + 1) * number).to(device),
            at.to(device),
            torch.from_numpy(np.concatenate(seeds)).to(device),
        )
        self.keys, order = torch.cat([number * vertices + own, (level * vertices + vertex).unique()]).sort()
        self.begin = searched(self.keys, vertices * torch.arange((layers + 1) * len(seeds) + 1, device=device))
        last = number.numel() - 1
        self.places = torch.where(
            order > last, torch.arange(order.numel(), device=device), (self.begin[number] + at)[order.clamp(max=last)]
        )
        self.listed = torch.empty_like(self.keys)
        self.listed[self.places] = self.keys % vertices

    def find(self, level: Tensor, vertex: Tensor) -> Tensor:
        """Places of vertices in ``listed``, which is all lists one after the other; list k begins at ``begin[k]``."""
        return self.places[searched(self.keys, level * self.vertices + vertex)]


def cut(
    batch: FinishedBatch, seeds: list[np.ndarray], layers: int, vertices: int, *, row_normalized: bool
) -> Iterator[Layers]:
    """The mini-batches of a batch, with the ``seeds`` and the number of ``layers`` of each.

    ``vertices``: those of the graph.

    All are made together, because a GPU is waited for several times, and their tensors are views: who keeps one keeps
    the memory of all.
    """
    arrays = batch.on_device()
    src, dst, picked = (vertices_of(arrays[name], vertices) for name in ("src", "dst", "vertices"))
    weight, first = float32_of(arrays["weight"]), (layers + 1) * torch.arange(len(seeds), device=src.device)
    level = first.repeat_interleave(int64_of(arrays["counts"])) + int64_of(arrays["depth"])
    in_layer = first.repeat_interleave(int64_of(arrays["vertex_counts"])) + int64_of(arrays["layer"])
    levels = Levels(seeds, in_layer, picked, layers, vertices)
    row, column = levels.find(level, src), levels.find(level + 1, dst) - levels.begin[level + 1]
    row, column, values = entries(row, column, weight, int(levels.listed.numel()))
    if row_normalized:
        values = with_sums_of_one(row, values, levels.listed.numel())
    at = torch.stack([row - levels.begin[searched(levels.begin, row, right=True) - 1], column])
    begins, ends = torch.stack([levels.begin, searched(row, levels.begin)]).tolist()
    for number in range(0, len(begins) - 1, layers + 1):
        n_ids = [levels.listed[begins[k] : begins[k + 1]] for k in range(number, number + layers + 1)]
        spans = [slice(ends[k], ends[k + 1]) for k in range(number, number + layers)]
        adjs = [
            _sparse(at[:, span], values[span], (a.numel(), b.numel()))
            for span, (a, b) in zip(spans, pairwise(n_ids), strict=True)
        ]
        yield Layers(n_ids[::-1], adjs[::-1])


def searched(ordered: Tensor, wanted: Tensor, *, right: bool = False) -> Tensor:
    """``torch.searchsorted``.

    On a CPU by this thread alone: those of PyTorch wait for each other while others are busy, 3 ms instead of 0.05.
    """
    if ordered.is_cuda:
        return torch.searchsorted(ordered, wanted, right=right)
    return torch.from_numpy(np.searchsorted(ordered.numpy(), wanted.numpy(), side="right" if right else "left"))


def entries(row: Tensor, column: Tensor, values: Tensor, columns: int) -> tuple[Tensor, Tensor, Tensor]:
    """The entries of a sparse matrix of so many ``columns``, in order: rows, columns, and values.

    Those that are there more than once are added up.
    """
    cells, of_value = (row * columns + column).unique(return_inverse=True)
    return cells // columns, cells % columns, summed(values, of_value, cells.numel())


def _sparse(at: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    if not WARNS:
        return torch.sparse_coo_tensor(at, values, shape, is_coalesced=True, check_invariants=False)
    with SWITCHING, torch.sparse.check_sparse_tensor_invariants(False):
        return torch.sparse_coo_tensor(at, values, shape, is_coalesced=True, check_invariants=False)


def summed(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """The sums of positive ``values`` by group, float32 [groups]: of integers in proportion to them, so that the same
    bits come of any order, on any device.

    A group of one keeps its value.
    """
    largest = values.new_zeros(groups).scatter_reduce_(0, group, values, "amax").double()
    parts = (values.double() / largest[group] * UNITS).round().long()
    sums = torch.zeros(groups, dtype=torch.int64, device=values.device).index_add_(0, group, parts)
    return (sums.double() * largest / UNITS).to(values.dtype)


def with_sums_of_one(row: Tensor, values: Tensor, rows: int) -> Tensor:
    """Return the values of entries in these rows, divided by the sums of their rows.

    LADIES does so to keep the variance of layers bounded (Zou et al., algorithm 1).
    """
    return values / summed(values, row, rows)[row]
