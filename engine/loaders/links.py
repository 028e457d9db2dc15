"""Mini-batches of links: which links one has, their negatives, and the seeds that all their ends are.

Links follow each other as the seeds of other mini-batches do. The negatives of link i in epoch e are drawn at the
addresses of instance ``e * links + i``, so they depend neither on the mini-batch that has the link nor on the process.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from csaw.engine.loaders.mini_batches import EPOCHS, IN_FLIGHT, EpochBatches
from csaw.engine.loaders.non_edges import NONE, NonEdges
from csaw.engine.loaders.non_edges_in_time import NonEdgesInTime
from csaw.engine.loaders.pyg_arguments import MOST_SEEDS
from csaw.engine.loaders.tensors import needed, span_of
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.runs.job import prepare
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.sources.given_columns import IDS
from csaw.engine.sources.given_sources import TIMES
from csaw.engine.sources.seeds import Excluded, SeedOrder
from csaw.engine.sources.sources import MOST_EPOCHS
from csaw.partition import GraphStore
from csaw.partition.base.arguments import unboxed
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import place_behind
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.given_arrays import array_of

needed("torch_geometric.sampler")

from torch_geometric.sampler import NegativeSampling

KEPT = 4 * IN_FLIGHT  # mini-batches whose links are kept until they are finished; others are drawn again


def sampling_of(given: object, ratio: float | None) -> NegativeSampling | None:
    """The negatives that ``neg_sampling`` or ``neg_sampling_ratio`` asks for; None for none. OptionError otherwise."""
    if ratio:
        if given is not None:
            raise OptionError("neg_sampling and neg_sampling_ratio exclude each other; give only neg_sampling")
        given = {"mode": "binary", "amount": ratio}
    try:
        sampling = NegativeSampling.cast(given)
    except Exception as error:  # of PyTorch Geometric, which checks little
        raise _no_sampling(given) from error
    if sampling is None:
        return None
    amount = unboxed(sampling.amount)
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount <= MOST_SEEDS:
        raise _no_sampling(given)
    sampling = copy(sampling)  # the caller's may change
    sampling.amount = amount
    return sampling


def _no_sampling(given: object) -> OptionError:
    return OptionError(
        "neg_sampling: expected None, 'binary', 'triplet', or a NegativeSampling or a mapping with mode and amount, "
        f"a number above 0, for triplet an integer, found {quoted(given)}"
    )


def weights_of_ends(name: str, given: object, vertices: int, span: tuple[int, int]) -> np.ndarray | None:
    """float64 [V]: a weight of each vertex as an end of negatives, 0 of those outside of ``span``, to which ``given``
    has weights; None where all are the same. OptionError for anything else.
    """
    first, last = span
    if given is None and last - first == vertices:
        return None
    held = np.ones(last - first) if given is None else array_of(f"neg_sampling: {name}", given)
    if held.shape != (last - first,) or held.dtype.kind not in "iuf":
        raise OptionError(
            f"neg_sampling: {name}: expected a number for each of {last - first:,} vertices, found {held.dtype} "
            f"{list(held.shape)}"
        )
    weights = np.zeros(vertices)
    weights[first:last] = held
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.max(initial=0.0) > 0:
        raise OptionError(f"neg_sampling: {name}: expected finite numbers of at least 0, with at least one above 0")
    return weights


@dataclass(frozen=True)
class Links:
    """The links of a loader, and the negatives that each mini-batch adds to its own.

    ends: int64 [2, n], sources and targets. times: int64 [n], or None. kept: int64, the numbers of those that an epoch
    has. non_edges: the pairs that negatives are drawn from, in time as of the time of each link; None without
    ``sampling``.
    """

    ends: np.ndarray
    times: np.ndarray | None
    kept: np.ndarray
    sampling: NegativeSampling | None
    non_edges: NonEdges | NonEdgesInTime | None
    disjoint: bool
    seed: int
    parallel: np.ndarray | None = None
    """int64 [2, n], of loaders that leave out the links themselves: how many edges lead from the source of each to its
    target, or the other way round, or more."""

    def negatives(self, links: int) -> int:
        """The number of negatives of a mini-batch with so many links."""
        return 0 if self.sampling is None else math.ceil(links * self.sampling.amount)

    def count_ends(self, links: int) -> int:
        """The number of ends of so many links and their negatives. OptionError beyond what a mini-batch can have."""
        each = 1 if self.sampling is not None and self.sampling.is_triplet() else 2
        ends = 2 * links + each * self.negatives(links)
        if ends > MOST_SEEDS:
            raise OptionError(
                f"batch_size: expected at most {MOST_SEEDS:,} ends of links and negatives together, found {ends:,}"
            )
        return ends

    def batch(self, positions: np.ndarray, epoch: int) -> "BatchLinks":
        """The links of a mini-batch: the kept ones at these ``positions``, and its negatives."""
        numbers = self.kept[positions]
        source, target = self.ends[:, numbers]
        of_link = NONE if self.times is None else self.times[numbers]
        if self.sampling is not None and self.non_edges is not None:
            links, more = epoch * self.ends.shape[1] + numbers, self.negatives(numbers.size)
            given = NONE if self.sampling.is_binary() else source
            sources, targets = self.non_edges.drawn(self.seed, links, given, more, of_link)
            source = np.append(source, sources) if self.sampling.is_binary() else source
            target = np.append(target, targets)
        ends = np.append(source, target)
        times = None
        if self.times is not None:  # a negative has the time of its link
            times = np.append(np.resize(of_link, source.size), np.resize(of_link, target.size))
        if self.disjoint:
            return BatchLinks(numbers, ends, np.arange(ends.size), times)
        return BatchLinks(numbers, *np.unique(ends, return_inverse=True), times)

    def excluded(self, numbers: list[np.ndarray]) -> Excluded:
        """The edges that mini-batches with these links leave out: those between the ends of a link, in either
        direction.
        """
        assert self.parallel is not None
        every = np.concatenate(numbers)
        local = np.repeat(np.arange(len(numbers)), [one.size for one in numbers])
        (source, target), (there, back) = self.ends[:, every], self.parallel[:, every]
        rows = np.stack([np.tile(local, 2), np.append(source, target), np.append(target, source)])
        (of, row, end), first = np.unique(rows, axis=1, return_index=True)
        return Excluded(of, row, end, np.append(there, back)[first])


class BatchLinks(NamedTuple):
    """The links of a mini-batch: ``numbers`` of them, int64; the seeds that their ends are, int64 vertices; the place
    of each end among them, sources before targets, and each time links before negatives; and the seeds' times.
    """

    numbers: np.ndarray
    seeds: np.ndarray
    places: np.ndarray
    times: np.ndarray | None


class LinkBatches(EpochBatches):
    """The mini-batches of links, epoch after epoch: drawn by seeds that follow from their numbers.

    ``order``: which of the links that are kept a mini-batch has. ``links`` gives those of a mini-batch by its number.
    """

    def __init__(
        self,
        store: GraphStore,
        links: Links,
        order: SeedOrder,
        *,
        share: tuple[int, int],
        on_device: bool,
        **options: OptionValue,
    ) -> None:
        self.seeds, self.per_epoch = order.count, order.batches_per_epoch
        self.first, self.last = span_of(self.per_epoch, *share)
        ends = links.count_ends(order.size)
        most = ends if links.disjoint else min(ends, store.vertices)
        # A plan needs to know how many seeds there are, not which.
        some: OptionValue = store.original_ids(np.zeros(most, np.int64))
        sources = some if links.times is None else {IDS: some, TIMES: np.zeros(most, np.int64)}
        asked: Values = {"in_flight": IN_FLIGHT, **options, "sources": sources, "seeds_per_batch": most}
        instances = self.per_epoch * EPOCHS
        planned = min(instances, MOST_EPOCHS)
        job = prepare(store, "minibatch", measure=True, **asked, seed=links.seed, ids="dense", instances=planned)
        plan = replace(job.plan, request=replace(job.plan.request, instances=instances))
        self.links: Callable[[int], BatchLinks] = lru_cache(KEPT)(partial(_links_of, links, order))
        excluded = None
        if links.parallel is not None:
            plan = replace(plan, kind=BatchKind.MINIBATCHES if links.times is None else BatchKind.MINIBATCHES_IN_TIME)
            excluded = partial(_excluded_by, links, self.links)
        made = job.sources.made_by(partial(_seeds_of, self.links), excluded)
        self.stream = Stream(replace(job, plan=plan, sources=made), on_device=on_device)


def _links_of(links: Links, order: SeedOrder, number: int) -> BatchLinks:
    positions = order.positions(number, number + 1)[0]
    return links.batch(positions[positions >= 0], number // order.batches_per_epoch)


def _excluded_by(links: Links, drawn: Callable[[int], BatchLinks], first: int, last: int) -> Excluded:
    return links.excluded([drawn(number).numbers for number in range(first, last)])


@njit(nogil=True)
def edges_between(
    indptr: np.ndarray, indices: np.ndarray, source: np.ndarray, target: np.ndarray, out: np.ndarray
) -> None:
    """Write how many edges lead from each source to its target, in sorted rows."""
    for i in range(source.size):
        row = indices[indptr[source[i]] : indptr[source[i] + 1]]
        out[i] = place_behind(row, target[i]) - place_behind(row, target[i] - 1)


def _seeds_of(links: Callable[[int], BatchLinks], first: int, last: int) -> np.ndarray:
    """int64 [n, seeds, 2 or 3]: each seed's vertex, its place, and its time if it has one; -1 where there are fewer."""
    made = [links(number) for number in range(first, last)]
    timed = made[0].times is not None
    out = np.full((len(made), max(one.seeds.size for one in made), 3 if timed else 2), -1, np.int64)
    for row, one in zip(out, made, strict=True):
        row[: one.seeds.size, 0], row[: one.seeds.size, 1] = one.seeds, np.arange(one.seeds.size)
        if one.times is not None:
            row[: one.seeds.size, 2] = one.times
    return out
