"""Mini-batches of links with their negatives, as PyTorch Geometric's LinkNeighborLoader gives them, whose negatives are
never edges.
"""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.engine.loaders.graphs import GraphData
from csaw.engine.loaders.hetero import NumNeighbors, SampledTypes, fanout_of, numbers_in_types
from csaw.engine.loaders.inputs import as_tensor
from csaw.engine.loaders.link_graph import LinkGraph, edge_type_of
from csaw.engine.loaders.links import LinkBatches, Links, edges_between, sampling_of, weights_of_ends
from csaw.engine.loaders.mini_batches import MiniBatch
from csaw.engine.loaders.neighbor_loader import GraphLoader, algorithm_options
from csaw.engine.loaders.non_edges import NonEdges
from csaw.engine.loaders.non_edges_in_time import Ends, NonEdgesInTime
from csaw.engine.loaders.pyg_arguments import (
    OF_NEIGHBORS,
    OWN,
    READERS,
    Timed,
    int64_times,
    is_same,
    refuse_decided,
    without_others,
)
from csaw.engine.loaders.tensors import needed, share_of
from csaw.engine.plan.rates import available_bytes
from csaw.engine.sources.given_sources import known_times
from csaw.engine.sources.seeds import SeedOrder
from csaw.partition.base.arguments import flag, mapping, maybe, real, text
from csaw.partition.base.plain_data import Values
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.edge_columns import BEFORE_ALL
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.ingestion.time_value import times_of

needed("torch")
pyg_data = needed("torch_geometric.data")
LinkLoader = needed("torch_geometric.loader").LinkLoader

import torch
from torch_geometric.sampler import HeteroSamplerOutput

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data
    from torch_geometric.sampler import NegativeSampling
    from torch_geometric.sampler.base import SubgraphType

OF_LINKS = "edge_label_index has the links, and edge_label_time their times"
DECIDED = OF_NEIGHBORS | dict.fromkeys(
    ("sources", "input_nodes", "input_time", "start_time", "time_strategy"), OF_LINKS
)
"""Options of a run of mini-batches that a loader of links decides by itself, each with the reason."""
BYTES = 56  # of an edge while rows are made, measured as 49
BYTES_IN_TIME = 96  # measured as 83
TIMES = ("until", "ever")  # when an edge to a vertex counts: until the time of the link, or at any time
NAMES = (
    *("edge_label_index", "edge_label", "edge_label_time", "seed_time"),
    *("src_index", "dst_pos_index", "dst_neg_index"),
)
"""Names that mini-batches of links have beside those of neighbors."""


def refuse_excluding(
    is_asked: bool,
    replace: bool,
    weight_attr: str | None,
    subgraph_type: object,
    num_neighbors: object,
    options: Values,
) -> None:
    """OptionError for arguments with which links cannot be excluded, where that ``is_asked``."""
    wrong = {
        "replace": replace,
        "weight_attr": weight_attr is not None,
        **{name: not _draws_uniformly(name, value) for name, value in options.items()},
        "subgraph_type": getattr(subgraph_type, "value", subgraph_type) == "induced",
        "num_neighbors": isinstance(num_neighbors, Mapping),
    }
    for name, is_wrong in wrong.items():
        if is_asked and is_wrong:
            raise OptionError(
                f"exclude_links and {name} exclude each other: links can be left out only of neighbors that are "
                "drawn uniformly without replacement, from all edges of a vertex together"
            )


def check_negative_time(given: object, is_timed: bool, are_drawn: bool) -> None:
    """OptionError unless ``negative_time`` says which edges count, where negatives are drawn in time and only there."""
    if is_timed and are_drawn and given not in TIMES:
        raise OptionError(
            f"negative_time: expected 'until' or 'ever' with neg_sampling and edge_label_time, found {quoted(given)}; "
            "'until' draws vertices without an edge by the time of the link, and 'ever' those without one at any time"
        )
    if given is not None and not (is_timed and are_drawn):
        raise OptionError(
            "negative_time: expected neg_sampling, time_attr and edge_label_time with it; leave it out, or give them"
        )


def _draws_uniformly(name: str, value: object) -> bool:
    """Whether an option of a run keeps all edges of a vertex equally likely, where weights are not asked for."""
    if name == "bias":
        return isinstance(value, str) and value in ("none", "weight")
    return value is None or name not in ("weighted", "edge_bias") or (name == "weighted" and is_same(value, False))


class LinkNeighborLoader(GraphLoader[MiniBatch]):
    """PyTorch Geometric's LinkNeighborLoader, drawn by csaw, with negatives that are never edges.

        for batch in LinkNeighborLoader(data, [10, 5], neg_sampling="binary", batch_size=512, shuffle=True):
            z = model(batch.x, batch.edge_index)
            scores = (z[batch.edge_label_index[0]] * z[batch.edge_label_index[1]]).sum(1)
            loss = binary_cross_entropy_with_logits(scores, batch.edge_label)

    Mini-batches are Data objects, or of several types HeteroData, with the attributes of PyTorch Geometric's, drawn as
    :class:`NeighborLoader` draws them from the ends of their links. Negatives:

    - "triplet": ``amount`` targets for each link, uniform over the vertices that its source has no edge to.
    - "binary": ``amount`` pairs for each link, uniform over all pairs without an edge from the first to the second.

    A vertex and itself are no negative. Neither is a pair that is an edge of the graph, a link of ``edge_label_index``
    or one of ``known_edges``. Edges have the direction that data gives them: if v -> u is an edge and u -> v is not,
    u -> v may be drawn. With times, ``negative_time`` says from when on edges count, and both ends of a negative are
    there by the time of its link: they have an edge by then, or with times of nodes their own time is not later.
    Negatives depend only on the seed, the epoch and the number of the link; if ``amount`` is an integer, the size of
    mini-batches does not matter.

    Links that are also edges of data are sampled like all other edges, so a model sees what it shall predict. With
    ``exclude_links=True``, a mini-batch has no edge between the ends of any of its links, in either direction; its
    nodes select among their other edges, as many as without this. Or keep links and edges apart with
    ``RandomLinkSplit(disjoint_train_ratio=0.3)``.

    Args:
        data: as for :class:`NeighborLoader`. With ``neg_sampling``, the rows of a graph store are also loaded into host
            memory.
        num_neighbors: neighbors that a vertex selects, as for :class:`NeighborLoader`; -1 selects all.
        edge_label_index: links, integers [2, n]: sources and targets. None, all edges. Of several types an edge type,
            or a tuple of one and of links between nodes of its types.
        edge_label: a label of each link [n]. With binary negatives, which have the label 0, labels from 0 on are raised
            by 1.
        edge_label_time: the time of each link, if ``time_attr`` is given. A negative has the time of its link.
        replace: draw with replacement.
        disjoint: give each end of a link separate nodes.
        subgraph_type: "directional", "bidirectional" or "induced", as for :class:`NeighborLoader`.
        temporal_strategy: "uniform" or "last", as for :class:`NeighborLoader`.
        neg_sampling: None, "binary", "triplet", a NegativeSampling of PyTorch Geometric, or a mapping such as
            ``{"mode": "triplet", "amount": 5}``. With ``src_weight`` and ``dst_weight``, the chance of a pair is in
            proportion to the weights of its ends ("triplet" has only ``dst_weight``).
        neg_sampling_ratio: the same as ``{"mode": "binary", "amount": ...}``.
        time_attr: the attribute with integer times of edges or of nodes, as for :class:`NeighborLoader`.
        weight_attr: the attribute with edge weights to draw by.
        negative_time: which edges count for negatives in time: "until", those that are there by the time of the link;
            "ever", all. It has no default.
        known_edges: further pairs [2, m] that are no negatives, such as the links of a test set.
        exclude_links: select no edge between the ends of a link of the mini-batch.
        skip_full: leave out links whose source has an edge to every other vertex, which is an error otherwise if
            negatives are triplets. ``skipped`` is their number.
        batch_size: number of links in a mini-batch.
        shuffle: draw the order of the links in each epoch.
        drop_last: drop a smaller last mini-batch.
        transform: called with each mini-batch.
        transform_sampler_output: called with each SamplerOutput before features are gathered.
        features: as for :class:`NeighborLoader`.
        edge_features: as for :class:`NeighborLoader`.
        seed: number that all draws follow from.
        rank: number of this process among those that train together, from 0 on.
        world: number of processes that train together. Each gets a part of every epoch's mini-batches; the sizes of
            parts differ by at most one.
        **options: ``time_order`` and ``time_window`` in time, and options of a run, as for :class:`NeighborLoader`.

    Raises:
        OptionError: csaw does not support something that would change mini-batches, or there is no negative to
            draw.
        CsawError: as for :func:`csaw.stream`.
    """

    drawn: LinkBatches

    @in_python(
        READERS
        | {
            "features": maybe(mapping("arrays")),
            **dict.fromkeys(("skip_full", "exclude_links"), flag),
            "negative_time": maybe(text),
            "neg_sampling_ratio": maybe(real),
        },
        fanout="num_neighbors",
        seeds_per_batch="batch_size",
    )
    def __init__(
        self,
        data: GraphData,
        num_neighbors: NumNeighbors,
        edge_label_index: object = None,
        edge_label: object = None,
        edge_label_time: object = None,
        replace: bool = False,
        subgraph_type: "str | SubgraphType" = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        neg_sampling: "str | Mapping[str, object] | NegativeSampling | None" = None,
        neg_sampling_ratio: float | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        *,
        negative_time: str | None = None,
        known_edges: object = None,
        exclude_links: bool = False,
        skip_full: bool = False,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        transform: "Callable[[Data], object] | None" = None,
        transform_sampler_output: Callable[..., object] | None = None,
        features: Mapping[str, object] | None = None,
        edge_features: Mapping[str, object] | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        **options: object,
    ) -> None:
        options = without_others(options, "LinkNeighborLoader")
        refuse_decided(options, DECIDED)
        refuse_excluding(exclude_links, replace, weight_attr, subgraph_type, num_neighbors, options)
        timed = Timed(time_attr, None, temporal_strategy)
        is_timed = timed.check(subgraph_type, weight_attr, options)
        if is_timed != (edge_label_time is not None):
            raise OptionError("time_attr and edge_label_time: expected both or neither; give the other one, too")
        sampling, disjoint = sampling_of(neg_sampling, neg_sampling_ratio), disjoint or is_timed
        check_negative_time(negative_time, is_timed, sampling is not None)
        self._open(data, weight_attr, time_attr, subgraph_type, disjoint, features, edge_features)
        self.transform = transform
        edge_type, given = edge_type_of(edge_label_index, self.graph)
        self.seen = LinkGraph(self.graph, self.data, edge_type, time_attr)
        edges = self.seen.edges() if given is None or sampling is not None else None
        ends = self._links(given, edges)
        label = None if edge_label is None else self._label(edge_label, ends.shape[1], sampling)
        times = self._times(edge_label_time, ends.shape[1]) if is_timed else None
        known = np.zeros((2, 0), np.int64) if known_edges is None else self.seen.dense("known_edges", known_edges)
        non_edges: NonEdges | NonEdgesInTime | None = None
        if sampling is not None and edges is not None:
            true = [edges, known] if given is None else [edges, known, ends]
            non_edges = self._non_edges(sampling, true, times, negative_time == "ever")
        kept = self._kept(ends[0], times, sampling, non_edges, skip_full)
        self.skipped = ends.shape[1] - kept.size
        parallel = self._parallel(ends) if exclude_links else None
        links = Links(ends, times, kept, sampling, non_edges, disjoint, seed, parallel)
        given_times = None if edge_label_time is None else torch.as_tensor(edge_label_time)
        self.filter = self._filter(ends, edge_type, label, given_times, sampling, transform_sampler_output)
        self.drawn = LinkBatches(
            self.graph.store,
            links,
            order_of_links(kept.size, batch_size, shuffle, drop_last, seed),
            share=share_of(rank, world),
            on_device=self.graph.stays_on_device,
            **algorithm_options(fanout_of(num_neighbors, self.graph), replace, disjoint, weight_attr)
            | ({"time_strategy": temporal_strategy} if is_timed else {})
            | options,
        )
        self._refuse_features([*OWN, *NAMES, *["batch"] * disjoint, *(timed.names if is_timed else ())])

    def _filter(
        self,
        ends: np.ndarray,
        edge_type: tuple[str, str, str] | None,
        label: "Tensor | None",
        times: "Tensor | None",
        sampling: "NegativeSampling | None",
        transform: Callable[..., object] | None,
    ) -> Any:
        """PyTorch Geometric's loader, which makes Data objects of what csaw draws."""
        links = torch.from_numpy(ends)
        index = links if edge_type is None else (edge_type, links)
        return LinkLoader(self.data, self.permuted, index, label, times, sampling, transform_sampler_output=transform)

    @property
    def dataset(self) -> range:
        """The positions of the links of an epoch, as PyTorch Geometric's loader has them for progress bars."""
        return range(self.drawn.seeds)

    def _parallel(self, ends: np.ndarray) -> np.ndarray:
        """int64 [2, n]: how many edges lead from the source of each link to its target, and back; or more."""
        if isinstance(self.graph, SampledTypes):
            raise OptionError("exclude_links: expected a graph of one type, found several; leave it out")
        store = self.graph.store
        if not store.multigraph:
            return np.ones_like(ends)
        held, found = store if isinstance(store, InMemory) else store.load(), np.empty_like(ends)
        for out, (source, target) in zip(found, (ends, ends[::-1]), strict=True):
            edges_between(held.indptr, held.indices, source, target, out)
        return found

    def _links(self, given: object, edges: np.ndarray | None) -> np.ndarray:
        """int64 [2, n]: the links that ``edge_label_index`` has, or all ``edges``. OptionError where there are none."""
        name = "edge_label_index"
        ends = edges if given is None and edges is not None else self.seen.dense(name, given)
        if not ends.size:
            raise OptionError(f"{name}: expected at least one link, found none")
        return ends

    def _label(self, given: object, links: int, sampling: "NegativeSampling | None") -> "Tensor":
        if sampling is not None and sampling.is_triplet():
            raise OptionError(
                'edge_label: expected none with triplets, which have no labels; leave it out, or use mode="binary"'
            )
        label = as_tensor("edge_label", given, links)
        try:
            label.min() + 1  # as PyTorch Geometric does to binary labels
        except Exception as error:  # of PyTorch, which has no smallest of some types and layouts
            raise OptionError(f"edge_label: expected a dense tensor of numbers, found {label.dtype}") from error
        return label

    def _times(self, given: object, links: int) -> np.ndarray:
        """int64 [n]: the time of each link, in the units of the graph."""
        name, store = "edge_label_time", self.graph.store
        times = int64_times(name, given, links, "links")
        units = "1" if store.stored.time is None else store.stored.time.units
        return known_times(name, times_of(name, times, units))

    def _non_edges(
        self, sampling: "NegativeSampling", true: list[np.ndarray], times: np.ndarray | None, ever: bool
    ) -> NonEdges | NonEdgesInTime:
        """The pairs that negatives are drawn from: those that are none of the ``true`` ones, int64 [2, n] each: edges,
        pairs that are known, and links, if these are not all edges. In time, edges and links are true from their
        ``times`` on, or where ``ever`` always; known pairs are always.
        """
        vertices, (of_sources, of_targets) = self.graph.store.vertices, self.seen.spans()
        each = BYTES if times is None else BYTES_IN_TIME
        need, free = each * (sum(pairs.shape[1] for pairs in true) + vertices), available_bytes()
        if need > free:
            raise BudgetError(
                f"neg_sampling: rows of all edges take {need:,} bytes while they are made, and {free:,} are free; "
                "leave it out, and give negatives of your own as edge_label_index with edge_label"
            )
        source, target = np.concatenate(true, axis=1)
        source_given = sampling.src_weight if sampling.is_binary() else None
        weights = [
            weights_of_ends("src_weight", source_given, vertices, of_sources),
            weights_of_ends("dst_weight", sampling.dst_weight, vertices, of_targets),
        ]
        if times is None:
            return NonEdges.of(source, target, vertices, *weights)
        since, are_there = self.seen.first_times()
        true_from = np.full(source.size, BEFORE_ALL)
        if not ever:
            edges = true[0].shape[1]
            true_from[:edges] = self.seen.edge_times(true[0], since)
            if len(true) == 3:
                true_from[source.size - times.size :] = times
        ends = (Ends.of(since, are_there, one) for one in weights)
        return NonEdgesInTime.of(source, target, true_from, *ends)

    def _kept(
        self,
        source: np.ndarray,
        times: np.ndarray | None,
        sampling: "NegativeSampling | None",
        non_edges: NonEdges | NonEdgesInTime | None,
        skip_full: bool,
    ) -> np.ndarray:
        """int64: the numbers of the links that have negatives. OptionError where one has none, unless it is skipped."""
        if sampling is None or non_edges is None:
            return np.arange(source.size)
        is_binary = sampling.is_binary()
        if isinstance(non_edges, NonEdges):
            are_free = np.full(source.size, not non_edges.is_empty) if is_binary else non_edges.are_free(source)
        else:
            assert times is not None
            are_free = non_edges.have_pairs(times) if is_binary else non_edges.are_free(source, times)
        if not skip_full and not are_free.all():
            first = int(np.argmin(are_free))
            vertex = source[first] - self.seen.spans()[0][0]
            by = "" if times is None else f" by the time {times[first]}"
            found = (
                f"expected a pair of vertices without an edge{by}, found none"
                if is_binary
                else f"vertex {vertex} has an edge to every vertex that could be drawn{by}"
            )
            raise OptionError(
                f"neg_sampling: {found}, so {np.count_nonzero(~are_free):,} links have no negative; pass "
                "skip_full=True to leave them out"
            )
        if not are_free.any():
            raise OptionError("skip_full: expected a link that has a negative, found none; leave out neg_sampling")
        return np.flatnonzero(are_free)

    def _finished(self, arrays: MiniBatch) -> "Data":
        """The Data object of a mini-batch."""
        links, out = self.drawn.links(arrays["number"]), self._output_of(arrays)
        device = arrays["row"].device if self.graph.order is None else self.graph.order.device
        count, sampling = links.numbers.size, self.filter.neg_sampling
        given = self.filter.input_data[torch.tensor(links.numbers)]
        is_triplet, numbers = sampling is not None and sampling.is_triplet(), links.places
        if isinstance(self.graph, SampledTypes):
            numbers = numbers_in_types(links.seeds, self.graph.types)[numbers]
        places = torch.tensor(numbers, device=device)
        if out.batch is not None:  # the link of each end: of pairs, sources come before targets
            ends = places.numel() if is_triplet else places.numel() // 2
            if isinstance(out, HeteroSamplerOutput):
                out.batch = {name: one % ends % count for name, one in out.batch.items()}
            else:
                out.batch = out.batch % ends % count
        if is_triplet:
            negatives = places[2 * count :].view(-1, count).t().contiguous().squeeze(-1)
            out.metadata = (given.input_id, places[:count], places[count : 2 * count], negatives, given.time)
            return self._gathered(out, arrays)
        label, time, negative = given.label, given.time, places.numel() // 2 - count
        if sampling is not None:
            label = torch.ones(count) if label is None else label
            label = torch.cat([label, label.new_zeros((negative, *label.shape[1:]))])
            time = None if time is None else time.repeat(1 + math.ceil(sampling.amount))[: count + negative]
        label, time = (None if one is None else one.to(device) for one in (label, time))
        out.metadata = (given.input_id, places.view(2, -1), label, time)
        return self._gathered(out, arrays)


def order_of_links(links: int, size: int, shuffle: bool, drop_last: bool, seed: int) -> SeedOrder:
    """The order in which mini-batches of ``size`` take links. OptionError if an epoch has no mini-batch."""
    if drop_last and links < size:
        raise OptionError(
            f"drop_last: an epoch has {links:,} links, fewer than batch_size {size:,}, so no mini-batch is left; lower "
            "batch_size"
        )
    return SeedOrder(links, min(size, links), shuffle, drop_last, seed)
