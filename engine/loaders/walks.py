"""Walks as PyTorch datasets: those of a sample store by number, those that are drawn while a model trains, and pairs of
a vertex and one that is near it on a walk, from which embeddings are learned.

See Mikolov et al., NeurIPS 2013, and Perozzi et al., KDD 2014.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.datasets.given import opened, to_sample
from csaw.engine.api import registry
from csaw.engine.api.registry import Algo
from csaw.engine.loaders.pyg_arguments import READERS
from csaw.engine.loaders.tensors import needed, share_of, span_of, vertices_of
from csaw.engine.runs.job import prepare
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.samples import NOTHING, Samples
from csaw.engine.stores import open_samples
from csaw.partition import GraphStore
from csaw.partition.base import arguments
from csaw.partition.base.arguments import is_misread
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.base.python_names import in_python, reading
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.versions import drawn_from
from csaw.partition.ingestion.objects import Foreign

needed("torch")

import torch
from torch.utils import data

MOST = 2**63 - 1  # what int64 holds
PASSES = 1 << 20  # most of them over one stream
TOGETHER = 1 << 14  # walks drawn at a time, if a batch has fewer: drawing few of them does not keep threads busy


def _samples(name: str, value: object) -> object:
    return value if isinstance(value, Samples) else arguments.path("a sample store, or an open one")(name, value)


class WalkDataset(data.Dataset):
    """Indexes the walks of a stored sample.

        DataLoader(WalkDataset("walks.zarr"), batch_size=128, shuffle=True)

    Item i is walk i: an int64 tensor [walk_length + 1], -1 after a dead end. A data loader reads all walks of a batch
    together.

    Args:
        samples: a finished sample store of walks, or its path.
        graph: the graph that was sampled, as :func:`csaw.graph` takes it: vertices are then dense ids 0 .. V - 1, which
            index an embedding table. None: vertices as in the store, which are the ids of the input unless it was drawn
            with ``ids="dense"`` or its ids are strings.

    Raises:
        OptionError: the store has no walks or is of another graph, or, without ``graph``, has ids that are negative or
            do not fit int64.
        StoreError: a file has changed.
    """

    @in_python({"samples": _samples, "graph": arguments.graph})
    def __init__(self, samples: Samples | str | Path, graph: GraphStore | str | Path | Foreign | None = None) -> None:
        self.samples = samples if isinstance(samples, Samples) else open_samples(samples)
        if not self.samples.layout.has_limit:
            raise OptionError(
                f"{self.samples.path}: expected a sample of walks with a limit of steps, found the layout "
                f"{self.samples.layout}; use csaw sample --algo deepwalk or another walk"
            )
        self.vertex_ids = None if graph is None else self._ids_of(graph)
        self.by_number = graph is not None or self.samples.ids != "original"
        if not self.by_number and self.samples.vertex_dtype.kind == "i" and self.samples.fill != NOTHING:
            raise OptionError(
                f"{self.samples.path}: expected ids of at least 0, because -1 marks the end of a walk, found a "
                "graph with negative ids; pass graph= to get dense ids, or sample with --ids dense"
            )

    def _ids_of(self, graph: GraphStore | str | Path | Foreign) -> np.ndarray | None:
        wanted = self.samples.manifest.get("graph", {}).get("fingerprint")
        store = opened(drawn_from(graph, wanted) if isinstance(graph, str | Path) else graph)
        if wanted != store.fingerprint:
            raise OptionError(
                f"{self.samples.path} was drawn from a graph other than {store.path}; pass the one that was sampled"
            )
        return store.vertex_ids()

    def __len__(self) -> int:
        return self.samples.instances

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.from_numpy(self._held(self.samples.walks[index][None]))[0]

    def __getitems__(self, indices: list[int]) -> list[torch.Tensor]:
        """The walks of a batch, read together; a data loader asks for them so."""
        return list(torch.from_numpy(self._held(self.samples.walks[np.asarray(indices)])).unbind())

    def _held(self, walks: np.ndarray) -> np.ndarray:
        if self.by_number:
            return self.samples.dense(walks, self.vertex_ids)
        if walks.dtype == np.uint64 and (beyond := walks[walks != self.samples.fill]).max(initial=0) > MOST:
            raise OptionError(
                f"{self.samples.path}: vertex {beyond.max()} does not fit an int64 tensor; pass graph= to get "
                "dense ids, or sample with --ids dense"
            )
        held = walks.astype(np.int64)
        held[walks == walks.dtype.type(self.samples.fill)] = NOTHING
        return held


class WalkStream(data.IterableDataset):
    """Walks that are drawn while a model trains, without a store.

        DataLoader(WalkStream("graph.zarr", "node2vec", p=0.5), batch_size=None)

    It yields int64 tensors [walks_per_batch, walk_length + 1] of dense ids 0 .. V - 1, with -1 after a dead end.
    Instances are divided into consecutive shares, one for each rank and worker of its data loader: together they are
    the sample that :func:`csaw.sample` stores, each walk once. ``set_epoch(e)`` makes the next pass draw different
    walks: the instances e n .. (e + 1) n - 1 of the same request, if a pass has n. ``len()`` is the number of batches
    of this rank, without workers.

    Args:
        graph: the graph to sample, as :func:`csaw.graph` takes it: a path, a name, or an object such as a PyTorch
            Geometric Data object, whose edges walks follow from source to target. It stays in memory between passes, in
            worker processes if they are persistent.
        algo: the name of an algorithm of walks, or ``FILE.py:CLASS``.
        walks_per_batch: number of walks in a batch. The last batch of a share may have fewer, and so may all batches if
            memory is short.
        rank: number of this process among those that train together; None, that of ``torch.distributed`` if it has been
            initialized, otherwise 0.
        world: number of processes that train together; None, that of ``torch.distributed``, otherwise 1.
        on_device: leave walks in the memory of the GPU that drew them.
        transform: called with each batch; its result is yielded instead, as with :class:`SkipGrams`.
        **options: as for :func:`csaw.sample`, without ``ids``. A random order of ``sources`` mixes the walks of a
            batch. In worker processes, ``device`` is "cpu" and the processors are divided, unless options override
            this.

    Raises:
        OptionError: the algorithm draws no walks, or there is no such share.
        CsawError: as for :func:`csaw.stream`.
    """

    @in_python(READERS | {"graph": arguments.graph})
    def __init__(
        self,
        graph: str | Path | GraphStore | Foreign,
        algo: Algo = "deepwalk",
        *,
        walks_per_batch: int = 1024,
        rank: int | None = None,
        world: int | None = None,
        on_device: bool = False,
        transform: Callable[[torch.Tensor], object] | None = None,
        **options: OptionValue,
    ) -> None:
        if "ids" in options:
            raise OptionError(
                "ids: a stream of walks has dense ids, 0 to V - 1; the graph store's original_ids(walks) returns "
                "the ids of the input"
            )
        self.algo, options = registry.named(algo, options)
        self.graph = to_sample(graph)
        self.options = options | {"ids": "dense"}
        self.walks_per_batch, self.on_device, self.transform = walks_per_batch, on_device, transform
        self.rank, self.world = share_of(rank, world)
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()  # workers that stay see it, too
        job = prepare(self.graph, self.algo, **self.options)
        if not job.plan.sample_layout.has_limit:
            raise OptionError(
                f"--algo {job.plan.request.algorithm}: expected a walk with a limit of steps, found an algorithm that "
                f"draws {job.plan.sample_layout}"
            )
        self.instances: int = job.plan.request.instances
        self.vertices: int = job.store.vertices
        self._opened: dict[int, Stream] = {}  # by process; a copy of another one's must not be closed here

    def set_epoch(self, epoch: int) -> None:
        """Let the next pass draw the walks of another pass.

        Args:
            epoch: number of the pass, from 0 on.
        """
        self._epoch.fill_(arguments.whole(0, PASSES - 1)("epoch", epoch))

    def __len__(self) -> int:
        first, last = span_of(self.instances, self.rank, self.world)
        return math.ceil((last - first) / self.walks_per_batch)

    def __iter__(self) -> Iterator[object]:
        worker = data.get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        first, last = span_of(self.instances, self.rank * workers + number, self.world * workers)
        begin = int(self._epoch) * self.instances
        for batch in self._stream(workers if worker else 0).draw(begin + first, begin + last):
            for some in vertices_of(batch["walks"], self.vertices).split(self.walks_per_batch):
                yield some if self.transform is None else self.transform(some)

    def _stream(self, workers: int) -> Stream:
        """The stream of this process, which keeps its graph between passes.

        ``workers``: processes that share the machine, 0 for one that has it alone.
        """
        here = os.getpid()
        if here not in self._opened:
            alone: Values = {"device": "cpu", "threads": max(1, processors() // workers)} if workers else {}
            at_a_time = self.walks_per_batch * math.ceil(TOGETHER / self.walks_per_batch)
            asked = alone | {"in_flight": at_a_time} | self.options | {"instances": self.instances * PASSES}
            asked.pop("num_walks", None)  # which says how many walks one pass has
            self._opened[here] = Stream(prepare(self.graph, self.algo, **asked), on_device=self.on_device)
        return self._opened[here]

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_opened": {}}


needed("torch")

import torch
from torch import Tensor

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class Pairs(NamedTuple):
    """Skip-grams as int64 tensors.

    Attributes:
        center: vertices [n].
        context: vertices [n].
        negative: vertices [n, negatives], or None without negatives.
    """

    center: Tensor
    context: Tensor
    negative: Tensor | None = None


class SkipGrams:
    """Makes skip-grams from a batch of walks.

    Use it as the ``transform`` of a WalkStream, or as the ``collate_fn`` of a data loader.

        pairs = SkipGrams(window=5, negatives=5, vertices=V)
        DataLoader(WalkDataset("walks.zarr"), batch_size=128, shuffle=True, collate_fn=pairs)

    Calling it returns :class:`Pairs` on the device of the walks. A pair appears as often as it occurs in the walks;
    pairs are sorted by distance.

    Args:
        window: largest number of steps between center and context, on either side. All contexts of a center count;
            word2vec draws a smaller window for some.
        negatives: number of vertices to draw for each pair, independently and with PyTorch's generator. They may be
            neighbors of the center, as in word2vec.
        vertices: number of vertices in the graph, from which negatives are drawn uniformly; needed if there are
            negatives and no ``noise``.
        noise: unnormalized probabilities of negatives, a tensor [V], such as ``degrees**0.75``.

    Raises:
        OptionError: a number is out of range, or ``noise`` is not a probability.
    """

    @reading(READERS)
    def __init__(
        self, window: int = 5, negatives: int = 0, *, vertices: int | None = None, noise: Tensor | None = None
    ) -> None:
        if negatives and noise is None and vertices is None:
            raise OptionError(
                "vertices: expected the graph's number of vertices, because negatives are drawn from them, found None"
            )
        self.window, self.negatives, self.vertices = window, negatives, vertices
        self.sums = None if noise is None else _running_sums(noise)

    def __call__(self, walks: Tensor | Sequence[Tensor]) -> Pairs:
        """Return the pairs of walks.

        Args:
            walks: an int64 tensor [n, steps + 1], or a sequence of tensors [steps + 1]. Entries of -1 are no
                vertices.

        Returns:
            Centers, contexts and negatives.

        Raises:
            OptionError: walks are of different lengths, have numbers below -1, or are no such tensors.
        """
        held = _stacked(walks) if isinstance(walks, Sequence) and not isinstance(walks, str) else walks
        if not isinstance(held, torch.Tensor) or held.ndim != 2 or held.dtype not in INTEGERS:
            raise _others(walks)
        held = held.long()
        if held.numel() and (least := int(held.min())) < NOTHING:
            raise OptionError(
                f"walks: expected vertices of at least 0, or -1 for none, found {least}; ids of the input may be "
                "negative: pass graph= to WalkDataset, or draw with ids='dense'"
            )
        near = [
            (held[:, :-d].reshape(-1), held[:, d:].reshape(-1))
            for d in range(1, min(self.window, held.shape[1] - 1) + 1)
        ]
        kept = [(a[both], b[both]) for a, b in near for both in [(a >= 0) & (b >= 0)]]
        none = held.new_empty(0)
        center = torch.cat([one for a, b in kept for one in (a, b)] or [none])
        context = torch.cat([one for a, b in kept for one in (b, a)] or [none])
        return Pairs(center, context, self._drawn(center) if self.negatives else None)

    def _drawn(self, center: Tensor) -> Tensor:
        """int64 [n, negatives] on the device of ``center``."""
        size = (center.numel(), self.negatives)
        if self.sums is None:
            assert self.vertices is not None
            return torch.randint(self.vertices, size, device=center.device)
        sums = self.sums.to(center.device)
        # A draw below the last sum; entries whose sums equal that of their left neighbor have no chance and are never
        # found.
        below = torch.rand(size, dtype=torch.float64, device=center.device) * sums[-1]
        return torch.searchsorted(sums, below, right=True).clamp_(max=int(torch.searchsorted(sums, sums[-1])))


def _stacked(walks: Sequence[Tensor]) -> Tensor:
    """Walks as one tensor. OptionError where they are of different lengths, or others than tensors."""
    if not len(walks) or not all(isinstance(walk, torch.Tensor) for walk in walks):
        raise _others(walks)
    if len(lengths := {tuple(walk.shape) for walk in walks}) > 1:
        found = " and ".join(str(list(shape)) for shape in sorted(lengths)[:2])
        raise OptionError(f"walks: expected tensors of equal length, found {found}; pad the shorter ones with -1")
    return torch.stack(list(walks))


def _others(walks: object) -> OptionError:
    found = f"a tensor {list(walks.shape)} of {walks.dtype}" if isinstance(walks, torch.Tensor) else quoted(walks)
    return OptionError(
        f"walks: expected integers as a tensor [walks, steps + 1], or a sequence of tensors [steps + 1], found {found}"
    )


def _running_sums(noise: Tensor) -> Tensor:
    try:
        chances = torch.tensor(0.0) if is_misread(noise) else torch.as_tensor(noise, dtype=torch.float64)
    except Exception:  # noqa: BLE001 - of PyTorch or of the object, whose reasons name no argument
        chances = torch.tensor(0.0)
    if (
        chances.is_sparse
        or chances.ndim != 1
        or not bool((torch.isfinite(chances) & (chances >= 0)).all())
        or not float(chances.sum()) > 0
    ):
        raise OptionError(
            "noise: expected a tensor [vertices] of finite numbers of at least 0, with at least one above 0"
        )
    whole = bool(torch.isfinite(chances.sum()))
    return (chances if whole else chances / chances.max()).cumsum(0)
