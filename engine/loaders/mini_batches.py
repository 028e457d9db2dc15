"""Mini-batches of neighbor samples on a device that keeps its graph: those of an epoch, drawn ahead, or of any seeds,
drawn when asked for.
"""

import os
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from enum import Enum
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, TypeAlias, TypedDict, TypeVar, cast

import numpy as np

from csaw.engine.loaders.tensors import after_default_streams, span_of, tensors_of
from csaw.engine.plan.contracts import Array
from csaw.engine.runs.job import Job, open_backend, prepare
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.batch_loop import Batches
from csaw.engine.schedule.device_threads import DeviceThread, aside
from csaw.partition import GraphStore
from csaw.partition.base.arguments import whole
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from torch import Tensor

Arrays = dict[str, Array]
EPOCHS = 1 << 20  # most passes over one stream
IN_FLIGHT = 8  # mini-batches drawn together: threads share them, and the first one waits for all
COUNTS = {
    "n_id": "node_counts",
    "batch": "node_counts",
    "row": "edge_counts",
    "col": "edge_counts",
    "e_id": "edge_counts",
    "input_id": "seed_counts",
    "y": "seed_counts",
    "probability": "seed_counts",
    "time": "edge_counts",
    "relation": "edge_counts",
    "seed_time": "seed_counts",
}
"""Arrays of several mini-batches, one after the other, and the array that has the number of entries of each."""
ON_HOST = (*sorted(set(COUNTS.values())), "hop_nodes", "hop_edges", "input_id")


class MiniBatch(TypedDict, total=False):
    """The arrays of a mini-batch, by the names of samples, as loaders take them."""

    n_id: "Tensor"
    row: "Tensor"
    col: "Tensor"
    e_id: "Tensor"
    batch: "Tensor"
    time: "Tensor"
    relation: "Tensor"
    seed_time: "Tensor"
    input_id: np.ndarray
    y: np.ndarray
    probability: np.ndarray
    hop_nodes: list[int]
    hop_edges: list[int]
    number: int


def cut(arrays: Arrays, vertices: int, first: int = 0) -> Iterator[MiniBatch]:
    """The arrays of each mini-batch of a batch, as views, without the counts: as ``tensors_of`` makes them,
    ``hop_nodes`` and ``hop_edges`` as lists of int, and ``input_id`` in host memory; and its ``number``, from ``first``
    on.
    """
    counted = on_host({name: arrays[name] for name in ON_HOST})
    held = {**tensors_of(arrays, vertices), **counted}
    ends = {name: np.concatenate([[0], np.cumsum(counted[name])]) for name in set(COUNTS.values())}
    hop_nodes, hop_edges = counted["hop_nodes"].tolist(), counted["hop_edges"].tolist()
    for number in range(counted["node_counts"].size):
        spans = {name: slice(int(end[number]), int(end[number + 1])) for name, end in ends.items()}
        views = {name: held[name][spans[count]] for name, count in COUNTS.items() if name in held}
        hops = {"hop_nodes": hop_nodes[number], "hop_edges": hop_edges[number]}
        yield cast(MiniBatch, views | hops | {"number": first + number})


def on_host(arrays: Arrays) -> dict[str, np.ndarray]:
    """int64 arrays in host memory.

    Those of a GPU are copied together, because each copy waits for all that the GPU has been asked to do.
    """
    if all(isinstance(array, np.ndarray) for array in arrays.values()):
        return arrays
    import cupy

    values = cupy.concatenate([array.ravel() for array in arrays.values()]).get()
    parts = np.split(values, np.cumsum([array.size for array in arrays.values()])[:-1])
    return {name: part.reshape(array.shape) for (name, array), part in zip(arrays.items(), parts, strict=True)}


def checked_epoch(epoch: object, epochs: int) -> int:
    """The number of one of so many ``epochs``. OptionError unless it is an integer from 0 to ``epochs`` - 1."""
    return int(whole(0, epochs - 1)("epoch", epoch))


class EpochBatches:
    """The mini-batches of epoch after epoch; the next ones are drawn while the caller works on the last.

    ``nodes``: dense ids of the seeds, int64 [n], None for all vertices. ``share``: number of this process, and of all
    processes that divide each epoch. ``options``: those of the algorithm and of a run. ``epochs``: how many
    there are. ``seeds``: how many an epoch has. ``per_epoch``: mini-batches of an epoch, of all processes together.
    ``first``, ``last``: those of this process.
    """

    epochs = EPOCHS
    algo = "minibatch"

    def __init__(
        self,
        store: GraphStore,
        nodes: np.ndarray | None,
        *,
        share: tuple[int, int],
        on_device: bool,
        **options: OptionValue,
    ) -> None:
        if nodes is not None and "sources" in options:
            raise OptionError(
                "sources: expected either input_nodes or sources (the same seeds by original ids), found both; "
                "give only one"
            )
        sources = {} if nodes is None else {"sources": store.original_ids(nodes)}
        asked: Values = {"in_flight": IN_FLIGHT, **options, **sources}
        job = prepare(store, self.algo, measure=True, **asked, ids="dense", epochs=EPOCHS)
        self.per_epoch = job.plan.request.instances // EPOCHS
        self.first, self.last = span_of(self.per_epoch, *share)
        self.seeds = job.sources.places
        self.stream = Stream(job, on_device=on_device)

    def draw(self, epoch: int) -> Generator[list[MiniBatch], None, None]:
        """Yield the mini-batches of this process in an epoch, in order, those that were drawn together in a list: views
        of the arrays of all of them.

        OptionError where there is no such epoch.
        """
        begin = checked_epoch(epoch, self.epochs) * self.per_epoch
        with closing(self.stream.draw(begin + self.first, begin + self.last)) as batches:
            for batch in batches:
                yield list(cut(batch.arrays(), self.stream.job.store.vertices, batch.first))

    def close(self) -> None:
        self.stream.close()


class SeededBatches:
    """Draws the mini-batch of any seeds.

    The device is opened at the first one, again in each process that the object gets into. In time, all seeds have the
    time ``start_time``.
    """

    def __init__(self, store: GraphStore, *, on_device: bool, **options: OptionValue) -> None:
        if options.get("time_strategy") is not None and options.get("start_time") is None:
            raise OptionError(
                "start_time: expected a time for all seeds with time_strategy, found none; to give each seed a "
                "time, use NeighborLoader"
            )
        self.job: Job = prepare(store, "minibatch", measure=True, **options, ids="dense", epochs=1)
        if len(self.job.devices) > 1:
            raise OptionError("device: a sampler draws on one device; name one, such as cuda:0")
        self.on_device = on_device and bool(self.job.devices)
        self._opened: dict[
            int, tuple[DeviceThread, weakref.finalize]
        ] = {}  # by process, each with what closes it if this is dropped

    def draw(self, number: int, seeds: np.ndarray) -> MiniBatch:
        """The arrays of mini-batch ``number`` with these seeds: dense ids, int64 [n]."""
        here = os.getpid()
        if here not in self._opened:
            device = self.job.devices[0] if self.job.devices else None
            thread = DeviceThread(partial(open_backend, self.job, device), self.job.sources)
            dropped = weakref.finalize(self, aside, partial(_close, thread, here))
            dropped.atexit = False  # threads end before
            self._opened[here] = thread, dropped
        arrays = self._opened[here][0].do(self._drawn, number, seeds).result()
        after_default_streams()
        return arrays

    def _drawn(self, batches: Batches, number: int, seeds: np.ndarray) -> MiniBatch:
        positions, times = np.arange(seeds.size), self.job.sources.times
        columns = [seeds, positions] if times is None else [seeds, positions, times.at(positions)]
        sources = np.stack(columns, axis=-1)[None]
        batch = batches.begin_from(number, sources)
        batches.run(batch)
        batches.backend.wait()
        found = batches.in_graph(batch)
        drawn = found.on_device() if self.on_device else found.arrays(ALL)
        [arrays] = cut(drawn, self.job.store.vertices)
        return arrays

    def close(self) -> None:
        """Give back the device, its threads and memory."""
        if opened := self._opened.pop(os.getpid(), None):
            thread, dropped = opened
            dropped.detach()
            thread.close()

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_opened": {}}


def _close(thread: DeviceThread, process: int) -> None:
    if os.getpid() == process:  # the threads of another process are not in its copy
        thread.close()


# The base of loaders: each `for` loop over one is another epoch, drawn ahead by a thread while the model trains.

# Items of an iterator, made by a thread before they are asked for.

Item = TypeVar("Item")


class End(Enum):
    """The mark after the last item."""

    END = 0


class Ahead(Generic[Item]):
    """``items`` in order, up to ``most`` of which a thread makes while the caller works on another; it begins at once.

    An error comes when its item is asked for. ``items`` is closed, in the thread, when this is.
    """

    def __init__(self, items: Generator[Item, None, None], most: int) -> None:
        self.items, self.thread = items, ThreadPoolExecutor(1)
        self.waiting: deque[Future[Item | End]] = deque(self.thread.submit(next, items, End.END) for _ in range(most))

    def __iter__(self) -> Iterator[Item]:
        while (item := self.waiting.popleft().result()) is not End.END:
            self.waiting.append(self.thread.submit(next, self.items, End.END))
            yield item

    def close(self) -> None:
        """Make no more items, and end the thread."""
        for future in self.waiting:
            future.cancel()
        try:
            self.thread.submit(self.items.close)
        except RuntimeError:  # Python is about to end, and has ended the thread
            self.items.close()
        self.thread.shutdown()


Drawn = TypeVar("Drawn")  # a mini-batch as it was drawn
Made = TypeVar("Made")  # a mini-batch as the caller gets it

AHEAD = 2  # mini-batches with their features, made while the model trains
EARLY = 8  # mini-batches of an epoch that are left when the next one is begun


class Epochs(Protocol[Drawn]):
    """Draws the mini-batches of epoch after epoch, those ``first`` to ``last`` - 1 of each."""

    epochs: int
    first: int
    last: int

    def draw(self, epoch: int) -> Generator[list[Drawn], None, None]:
        """Yield the mini-batches of an epoch, those that were drawn together in a list."""

    def close(self) -> None:
        """Give back the graph, threads and devices."""


Begun: TypeAlias = tuple[int, Ahead[list[Drawn]]]  # the number of the next epoch, and its lists
HANDOVER = Lock()  # of all loaders: several threads may loop over one, and each holds it for a moment


class EpochLoader(ABC, Generic[Drawn, Made]):
    """``drawn`` draws the mini-batches ``first`` to ``last`` - 1 of an epoch: its ``draw`` yields lists of them, and it
    has so many ``epochs``.

    One thread draws the next list while another one finishes the mini-batches of the last, in order and only those of a
    ``for`` loop, because that calls what users give. Before the last mini-batches of an epoch the next one is begun:
    its first list is drawn, and stays in memory until it is asked for or the loader is closed or dropped.
    """

    drawn: Epochs[Drawn]
    _epoch = 0
    _begun: Begun[Drawn] | None = None

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied, because it has threads; create it in the "
            "process that reads it"
        )

    def __len__(self) -> int:
        """Number of mini-batches of this process in an epoch."""
        return self.drawn.last - self.drawn.first

    def __iter__(self) -> Iterator[Made]:
        with HANDOVER:
            epoch, self._epoch = self._epoch, self._epoch + 1
        return self._handed_out(epoch)

    def _handed_out(self, epoch: int) -> Generator[Made, None, None]:
        with closing(self._begun_or_new(epoch)) as lists, closing(Ahead(self._made(lists), AHEAD)) as made:
            for number, one in enumerate(made):
                if number == max(0, len(self) - EARLY) and self._epoch == epoch + 1 < self.drawn.epochs:
                    self._leave_begun((epoch + 1, self._draw(epoch + 1)))
                after_default_streams()
                yield one

    def _begun_or_new(self, epoch: int) -> Ahead[list[Drawn]]:
        begun = self._exchanged(None)
        if begun and begun[0] == epoch:
            return begun[1]
        if begun:
            begun[1].close()
        return self._draw(epoch)

    def _draw(self, epoch: int) -> Ahead[list[Drawn]]:
        return Ahead(self.drawn.draw(epoch), 1)

    def _leave_begun(self, begun: Begun[Drawn] | None = None) -> None:
        """Close the epoch that is begun, which another one may replace."""
        if before := self._exchanged(begun):
            before[1].close()

    def _exchanged(self, begun: Begun[Drawn] | None) -> Begun[Drawn] | None:
        """The epoch that was begun before; of several threads one gets it."""
        with HANDOVER:
            before, self._begun = self._begun, begun
        return before

    def _made(self, lists: Ahead[list[Drawn]]) -> Generator[Made, None, None]:
        for several in lists:
            yield from map(self._finished, several)

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next ``for`` loop draws, from 0 on.

        OptionError where it is set to anything else.
        """
        return self._epoch

    @epoch.setter
    def epoch(self, number: int) -> None:
        self._epoch = checked_epoch(number, self.drawn.epochs)

    def close(self) -> None:
        """Give back the graph, threads and devices."""
        self._leave_begun()
        self.drawn.close()

    @abstractmethod
    def _finished(self, drawn: Drawn) -> Made:
        """The mini-batch that the caller gets for one that was drawn."""
