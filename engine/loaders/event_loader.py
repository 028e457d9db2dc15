"""Events in their order, with earlier neighbors of their ends, for models of graphs that change over time.

See TGN: Rossi et al., ICML workshop on graph representation learning 2020.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.loaders.graphs import require_room
from csaw.engine.loaders.mini_batches import EpochBatches, EpochLoader, MiniBatch
from csaw.engine.loaders.neighbor_loader import algorithm_options
from csaw.engine.loaders.pyg_arguments import (
    OF_NEIGHBORS,
    READERS,
    STRATEGIES,
    int64_times,
    refuse_decided,
    without_others,
)
from csaw.engine.loaders.tensors import needed, share_of
from csaw.engine.samples.layouts.layout import SEED_TIME, TIME
from csaw.engine.sources.given_columns import IDS
from csaw.engine.sources.given_sources import TIMES, known_times
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.in_memory import InMemory, rows_of_edges

needed("torch")
pyg_data = needed("torch_geometric.data")

import torch

if TYPE_CHECKING:
    from torch_geometric.data import Data, TemporalData


ALL = slice(None)
IN_ORDER = "events come in their order, each with its own time"
DECIDED = (
    OF_NEIGHBORS
    | dict.fromkeys(("shuffle", "sources", "start_time", "disjoint", "weighted"), IN_ORDER)
    | {
        "time_strategy": "temporal_strategy determines which neighbors are selected",
    }
)
"""Options of a run of mini-batches that a loader of events decides by itself, each with the reason."""


class EventLoader(EpochLoader[MiniBatch, "Data"]):
    """Successive events of a TemporalData, each with neighbors of both ends from earlier events.

        for batch in EventLoader(data, num_neighbors=[10], batch_size=200):
            z = model(batch.n_id, batch.edge_index, data.msg[batch.e_id], batch.edge_time)
            score = predict(z[batch.src_node], z[batch.dst_node])

    Mini-batches are Data objects in the order of the events; each ``for`` loop is another epoch, as for NeighborLoader.
    They have the attributes of their events, such as ``src``, ``dst``, ``t`` and ``msg``. ``n_id`` has the vertex of
    each node. The ends of the events come first; each is a separate node with separate neighbors. ``src_node`` and
    ``dst_node`` are their numbers, and ``batch`` is the end to which a node belongs. ``edge_index`` goes from neighbors
    to the nodes that they were drawn for, ``e_id`` is the event of each edge, and ``edge_time`` its time. It is earlier
    than ``seed_time``, the time of the end's event, for each of 2 n ends. An event is an edge of both its ends; an
    event of a vertex with itself counts twice, as in PyTorch Geometric. All events at earlier times count, wherever
    they are in the data; events at the same time do not.

    Args:
        data: a TemporalData with ``src``, ``dst`` and ``t``, integers.
        num_neighbors: neighbors that a vertex selects, one number for each hop; -1 selects all.
        batch_size: number of events in a mini-batch.
        events: a slice of the events to iterate over, such as the validation part; neighbors are drawn from earlier
            events of all data.
        drop_last: leave out a smaller last mini-batch.
        replace: draw with replacement.
        temporal_strategy: "last", the latest earlier neighbors, or "uniform", random ones.
        transform: called with each mini-batch.
        seed: number that all draws follow from.
        rank: number of this process among those that train together, from 0 on.
        world: number of processes that train together. Each gets a part of every epoch's mini-batches; the sizes of
            parts differ by at most one.
        **options: ``time_window``, the longest time before; ``time_order="monotone"`` to include events at the same
            time, even the event itself; options of a run, as for NeighborLoader.

    Raises:
        OptionError: the data are not a TemporalData, or have no such events.
        CsawError: as for :func:`csaw.stream`.
    """

    drawn: EpochBatches

    @in_python(READERS, seeds_per_batch="batch_size", fanout="num_neighbors")
    def __init__(
        self,
        data: "TemporalData",
        num_neighbors: Sequence[int],
        *,
        batch_size: int = 1,
        events: slice = ALL,
        drop_last: bool = False,
        replace: bool = False,
        temporal_strategy: str = "last",
        transform: "Callable[[Data], object] | None" = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        **options: object,
    ) -> None:
        options = {"time_order": "strict", **without_others(options, "EventLoader")}
        refuse_decided(options, DECIDED)
        if temporal_strategy not in STRATEGIES:
            raise OptionError(f"temporal_strategy: expected uniform or last, found {quoted(temporal_strategy)}")
        self.data, self.transform = data, transform
        src, dst, times = events_of(data)
        require_room("data.src and data.dst", int(data.num_nodes))
        indptr, indices, order = rows_of_edges(np.append(src, dst), np.append(dst, src), int(data.num_nodes))
        store = InMemory("events", indptr, indices, edge_columns={TIME: np.tile(times, 2)[order]})
        self.event = torch.from_numpy(order % max(times.size, 1)).to(data.src.device)
        self.first, count = span_of(events, times.size)
        ends = ends_in_batches(count, batch_size)
        places = self.first + np.where(ends < count, ends, ends - count + times.size)
        self.drawn = EpochBatches(
            store,
            None,
            share=share_of(rank, world),
            on_device=data.src.is_cuda,
            **algorithm_options(num_neighbors, replace, True, None),
            sources={IDS: np.append(src, dst)[places], TIMES: np.tile(times, 2)[places]},
            seeds_per_batch=2 * batch_size,
            drop_last=drop_last,
            time_strategy=temporal_strategy,
            seed=seed,
            **options,
        )

    def _finished(self, arrays: MiniBatch) -> "Data":
        """The Data object of a mini-batch."""
        device, ends = self.data.src.device, len(arrays["input_id"])
        first, count = self.first + int(arrays["input_id"][0]) // 2, ends // 2
        events = self.data[first : first + count]
        batch = pyg_data.Data(**events.to_dict())
        batch.n_id = arrays["n_id"].to(device)
        batch.edge_index = torch.stack([arrays["row"], arrays["col"]]).to(device)
        batch.e_id = self.event[arrays["e_id"].to(device)]
        batch.edge_time, batch.seed_time = arrays[TIME].to(device), arrays[SEED_TIME].to(device)
        batch.batch, batch.batch_size = arrays["batch"].to(device), ends
        batch.src_node, batch.dst_node = torch.arange(count, device=device), torch.arange(count, ends, device=device)
        batch.num_sampled_nodes, batch.num_sampled_edges = arrays["hop_nodes"], arrays["hop_edges"]
        return batch if self.transform is None else self.transform(batch)


def events_of(data: "TemporalData") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """int64 [events] three times: sources, targets and times. OptionError where data are none of events."""
    names = ("src", "dst", "t")
    missing = [name for name in names if getattr(data, name, None) is None]
    if missing or not isinstance(data, pyg_data.TemporalData):
        without = f" without {' and '.join(missing)}" if isinstance(data, pyg_data.TemporalData) else ""
        raise OptionError(
            "data: expected a TemporalData of PyTorch Geometric with src, dst and t, found "
            f"{type(data).__name__}{without}"
        )
    count = data.src.numel()
    if not count:
        raise OptionError("data: expected at least one event, found none")
    src, dst, times = (int64_times(f"data.{name}", data[name], count, "events") for name in names)
    if (least := min(int(src.min()), int(dst.min()))) < 0:
        raise OptionError(f"data.src and data.dst: expected vertices of at least 0, found {least}")
    return src, dst, known_times("data.t", times)


def span_of(events: slice, count: int) -> tuple[int, int]:
    """The first of some ``events`` of ``count``, and their number. OptionError where they are no successive ones."""
    try:
        first, last, step = events.indices(count)
    except (AttributeError, TypeError, ValueError):  # no slice, or one of other things than integers
        step = 0
    if step != 1:
        raise OptionError(
            f"events: expected a slice of integers without a step, such as slice(100, 200), found {quoted(events)}"
        )
    if last <= first:
        raise OptionError(f"events: expected at least one of the {count:,} events, found {quoted(events)}")
    return first, last - first


def ends_in_batches(events: int, size: int) -> np.ndarray:
    """int64 [2 events]: numbers of the ends of events, sources before all targets, in the order of mini-batches of so
    many events: of each first its sources, then its targets.
    """
    event = np.arange(events)
    chunk = event // size
    order = np.lexsort((np.tile(event, 2), np.repeat([0, 1], events), np.tile(chunk, 2)))
    return np.asarray(order, np.int64)
