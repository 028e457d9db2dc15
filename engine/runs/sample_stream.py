"""Samples without files: ``stream`` draws what ``sample`` would store, and hands it out batch by batch.

Before ``stream`` and its ``Stream`` come the instances of each of several processes, and batches that stay in the
memory of a GPU.
"""

import os
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NoReturn, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from csaw.engine.api.registry import Algo
from csaw.engine.plan.contracts import Array
from csaw.engine.runs.draw import JOB, AsStored, check_range
from csaw.engine.runs.job import Job, backends_of, prepare
from csaw.engine.runs.one_way import AGAIN, of_batch, warn
from csaw.engine.samples.array import all_ones
from csaw.engine.samples.identifiers import NOTHING, Identifiers, names_of
from csaw.engine.samples.layouts import VERTEX, SampleLayout, kind_of
from csaw.engine.schedule.backend import ALL, Backend
from csaw.engine.schedule.batch_loop import Batches, FinishedBatch, kept
from csaw.engine.schedule.device_threads import DeviceThreads, aside, failure
from csaw.engine.sources.seeds import SeedOrder
from csaw.partition import GraphStore
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import html_facts, line
from csaw.partition.errors import ClosedError, OptionError

if TYPE_CHECKING:
    import cupy

# The instances that each of several processes draws.

Span = tuple[int, int]


@dataclass(frozen=True)
class Parts(Sequence[tuple[int, int]]):
    """The consecutive instances of one process in each epoch, as pairs of the first one and the one after the last.

    They are computed when asked for: a stream may have millions of epochs.

    The instances first .. last - 1 are cut into epochs of ``each`` instances (default: None, one epoch of all), the
    last of which may have fewer, and process ``rank`` of ``world`` has its share of each one, so that all processes are
    in the same epoch.
    """

    first: int
    last: int
    each: int | None = None
    rank: int = 0
    world: int = 1

    @classmethod
    def of(cls, job: Job, rank: int, world: int) -> Self:
        order = job.sources.order
        each = order.batches_per_epoch if isinstance(order, SeedOrder) else None  # seeds that are drawn have no epochs
        return cls(0, job.plan.request.instances, each, rank, world)

    @property
    def _starts(self) -> range:
        return range(self.first, self.last, self.each or max(1, self.last - self.first))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> Span: ...

    @overload
    def __getitem__(self, number: slice) -> list[Span]: ...

    def __getitem__(self, number: int | slice) -> Span | list[Span]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        begin = self._starts[number]
        size = min(self._starts.step, self.last - begin)
        return begin + size * self.rank // self.world, begin + size * (self.rank + 1) // self.world

    @property
    def instances(self) -> int:
        """Number of instances of all parts: every epoch but the last has as many."""
        if not self._starts:
            return 0
        (start, end), (low, high) = self[0], self[-1]
        return (len(self) - 1) * (end - start) + high - low


# Finished batches in the memory of the GPU that drew them, with the ids of a sample store.


@dataclass(frozen=True)
class OnDevice:
    """Arrays of a batch in the memory of a GPU."""

    held: dict[str, Array]
    layout: SampleLayout

    def arrays(self, rows: slice) -> dict[str, Array]:
        return self.held if rows == ALL else self.layout.rows(self.held, rows)

    def on_device(self) -> dict[str, Array]:
        return self.held


class DeviceIdentifiers:
    """The conversion of dense ids to those of a store, in the memory of the GPU that has drawn them.

    The original ids are copied there once.
    """

    def __init__(self, identifiers: Identifiers) -> None:
        self.identifiers = identifiers
        self.tables: dict[int, Array] = {}

    def of(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """The arrays of a batch, with the ids and element types of a store.

        The device that holds them must be the current one.
        """
        return {name: self._converted(name, array) for name, array in arrays.items()}

    def _converted(self, name: str, array: Array) -> Array:
        if is_on_host(array):  # it had to make room on its device
            return self.identifiers.converted(name, array)
        table = self.identifiers.table_of(name)
        if table is None:
            return self._typed(name, array)
        found = self._on_device_of(array, table)[array.clip(None, table.size - 1)]
        found[array == array.dtype.type(all_ones(array.dtype))] = self.identifiers.fill
        return found

    def _typed(self, name: str, array: Array) -> Array:
        """The same as ``Identifiers`` does on the host."""
        dtype, fill = self.identifiers.type_of(name)
        if kind_of(name) != VERTEX:
            return array.astype(dtype, copy=False)
        if array.dtype.itemsize == dtype.itemsize:
            return array.view(dtype)
        out = array.astype(dtype)
        out[array == array.dtype.type(all_ones(array.dtype))] = fill
        return out

    def _on_device_of(self, array: "cupy.ndarray", table: np.ndarray) -> "cupy.ndarray":
        """The table of original ids on the GPU that holds ``array``."""
        device = array.device.id
        if device not in self.tables:
            from csaw.engine.cuda.memory import on_device

            self.tables[device] = on_device(table)
        return self.tables[device]


def is_on_host(array: Array) -> bool:
    """Whether an array is in host memory."""
    return isinstance(array, np.ndarray)


Finish = Callable[[Backend, FinishedBatch], FinishedBatch]
Finished = Generator[FinishedBatch, None, None]


READERS = {"on_device": arguments.flag, "rank": arguments.whole(), "world": arguments.whole(1)}


@reading(READERS)
def stream(
    graph: str | Path | GraphStore,
    algo: Algo = "deepwalk",
    *,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **given: OptionValue,
) -> "Stream":
    """Draw a sample without writing it, and iterate over its finished batches in order of instance.

        with stream("web.zarr", "node2vec", p=0.5, num_walks=10, seed=7, in_flight=4096) as walks:
            for batch in walks:
                train(batch["walks"])

    The graph is loaded when the first batch is requested.

    Args:
        graph: the graph store to sample, or its path.
        algo: the name of an algorithm, or ``FILE.py:CLASS``.
        on_device: on a GPU, leave the arrays in its memory, as CuPy arrays, which PyTorch, CuPy and JAX take by DLPack
            without a copy. By default they are NumPy arrays in host memory. On the CPU it changes nothing.
        rank: number of this process among those that train together, starting at 0.
        world: number of processes that train together. Each draws a part: consecutive instances, for mini-batches in
            each epoch. Together they draw all; the sizes of parts differ by at most one, for mini-batches by one per
            epoch.
        **given: as for :func:`prepare`. ``in_flight`` is the largest number of instances in a batch; by default as many
            as the memory allows.

    Returns:
        A :class:`Stream`.

    Raises:
        OptionError: ``rank`` or ``world`` is out of range, and as for :func:`prepare`.
        CsawError: as for :func:`prepare`.
    """
    require_share(rank, world)
    return Stream(prepare(graph, algo, measure=True, **given), on_device=on_device, rank=rank, world=world)


def require_share(rank: int, world: int) -> None:
    """OptionError unless 0 <= rank < world."""
    if rank >= world:
        raise OptionError(f"rank: expected 0 <= rank < world, which is {world}, found {rank}")


class Stream:
    """The batches of a job, drawn when they are requested.

    Each ``for`` loop over it starts again at the first instance. The next batch is drawn while the loop works on the
    last one, on the CPU by a thread, on several GPUs by one thread each. You may leave a loop at any point.
    ``draw(first, last)`` draws only the given instances.

    It yields a :class:`FinishedBatch` for each batch: ``batch["walks"]`` is an array by name, ``batch.arrays()`` has
    all of them, and ``batch.first`` and ``batch.instances`` tell which instances they are. The bytes are those that
    :func:`sample` stores for the same request: ``open_samples(out).group(start, stop)`` has the same arrays. A batch
    stays valid when later ones are drawn, but each batch that you keep takes memory.

    The graph stays in memory between loops. ``close``, leaving a ``with`` block, or deleting the stream releases
    threads, memory and devices.

    Args:
        job: what :func:`prepare` returned.
        on_device: on a GPU, leave the arrays in its memory, as CuPy arrays.
        rank: number of this process among those that share the instances, starting at 0.
        world: number of processes that share the instances.

    Raises:
        OptionError: ``job`` is not a job, or ``rank`` or ``world`` is out of range.
        ClosedError: while drawing: the stream was closed, which does not count as the end of the loop.
        BiasError: while drawing: a bias is negative or not finite.
        StoreError: while drawing: the graph has changed.
        BudgetError: while drawing: a single instance does not fit in memory.
        DeviceError: while drawing: a GPU fails.
    """

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a stream cannot be pickled or copied, because it has threads; call csaw.stream in the "
            "process that reads it"
        )

    @reading(READERS | {"job": JOB})
    def __init__(self, job: Job, *, on_device: bool = False, rank: int = 0, world: int = 1) -> None:
        require_share(rank, world)
        self.job = job
        self.parts = Parts.of(job, rank, world)
        """The instances of this process, as pairs of the first one and the one after the last: one pair for each epoch
        of mini-batches, otherwise, and where seeds are drawn, one pair.
        """
        self._on_device = on_device
        self._opened: _Opened | None = None
        self._opening = Lock()
        self.remedy = AGAIN  # against walks that die in edges of one direction; empty: they are meant so
        self._is_looked_at = False  # whether dead ends were counted, which the first batch shows

    def __len__(self) -> int:
        """Number of instances, not of batches: a batch is smaller where memory was short."""
        return self.parts.instances

    def __repr__(self) -> str:
        return line(
            "csaw stream",
            "of " + str(self.job.store.path),
            [
                f"{len(self):,} instances of {self.job.plan.request.algorithm}",
                f"up to {self.job.plan.batch:,} in a batch",
                f"seed {self.job.plan.request.seed}",
                f"on {self.job.plan.device}",
            ],
        )

    def _repr_html_(self) -> str:
        plan = self.job.plan
        facts = {
            "instances": f"{len(self):,}",
            "algorithm": plan.request.algorithm,
            **plan.request.parameters,
            "seed": plan.request.seed,
        }
        facts |= {"instances in a batch, at most": f"{plan.batch:,}", "device": plan.device}
        return html_facts(f"csaw stream of {self.job.store.path}", facts.items())

    def __iter__(self) -> Iterator[FinishedBatch]:
        return self._draw(self.parts)

    @reading({"vertices": arguments.ids})
    def names(self, vertices: ArrayLike) -> np.ndarray:
        """The ids of the input for vertices of a batch, which has numbers where the ids are strings.

        Args:
            vertices: vertices of any shape in host memory, such as ``batch["walks"]``.

        Returns:
            The same as :meth:`Samples.names` returns.

        Raises:
            OptionError: they are no integers.
            StoreError: a number is no vertex of the graph.
        """
        ids = self.job.written_ids
        return names_of(vertices, ids if isinstance(ids, Words) else None, NOTHING, self.job.store.path)

    @reading({"first": arguments.integer, "last": arguments.integer})
    def draw(self, first: int, last: int) -> Finished:
        """Draw the instances first .. last - 1 of the job, whatever process they belong to.

        Args:
            first: number of the first instance.
            last: one more than the number of the last instance.

        Yields:
            The finished batches, in order of instance.

        Raises:
            OptionError: the job does not have these instances.
        """
        check_range(self.job, first, last)
        return self._draw(Parts(first, last))

    def _draw(self, parts: Parts) -> Finished:
        if not parts.instances:
            return
        opened, size, first, last = self._open(), self.job.plan.at_a_time, parts[0][0], parts[-1][1]
        filled = (
            parts if parts[0][0] < parts[0][1] else parts[-1:]
        )  # an epoch with fewer instances may have one for a process that gets none of the others
        spans = ((begin, min(begin + size, end)) for start, end in filled for begin in range(start, end, size))
        try:
            with closing(opened.devices.draw(spans, partial(_drawn, opened.finish))) as drawn:
                for batch in drawn:
                    first = batch.first + batch.instances
                    self._look_at(batch)
                    yield batch
                    if opened.is_lost:
                        break
        except Exception as error:  # of threads that were ended, too
            if not opened.is_lost:
                if isinstance(error, opened.losses):
                    self.close()
                    raise failure(error, f"stream(...).draw({first}, {last}) continues where this ended") from error
                raise
        if opened.is_lost and first < last:
            why = "was closed while it was read" if opened.closed else "was read before this process was forked"
            raise ClosedError(f"{self!r} {why}; start another loop over it, which loads the graph again")

    def _look_at(self, batch: FinishedBatch) -> None:
        """Warn once if most walks of the first batch have met a dead end because edges were listed once."""
        if self.remedy and not self._is_looked_at:
            self._is_looked_at = True
            warn(of_batch(self.job, batch), self.remedy)

    def _open(self) -> "_Opened":
        with self._opening:  # several threads may draw
            if self._opened is None or self._opened.is_lost:
                self._opened = _Opened(self.job, on_device=self._on_device)
                weakref.finalize(self, aside, self._opened.close).atexit = False  # threads end before
            return self._opened

    def close(self) -> None:
        """Stop current work, and release threads, memory and devices.

        The stream can be used again; it then loads the graph again.
        """
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Opened:
    """The devices of a job with their graph, and what finishes their batches.

    It also has the types of errors that a device may have alone.
    """

    def __init__(self, job: Job, *, on_device: bool) -> None:
        self.finish, self.closed, self.process = _finisher(job, on_device=on_device), False, os.getpid()
        with ExitStack() as stack:
            units = -(-job.plan.request.instances // job.plan.at_a_time)
            backends, self.losses = stack.enter_context(backends_of(job, units))
            self.devices = stack.enter_context(DeviceThreads(backends, job.sources))
            self.stack = stack.pop_all()

    @property
    def is_lost(self) -> bool:
        """Whether it was closed, or is a copy in a process that was forked, which has no threads."""
        return self.closed or self.process != os.getpid()

    def close(self) -> None:
        if not self.is_lost:
            self.closed = True
            self.stack.close()


def _drawn(finish: Finish, batches: Batches, first: int, last: int) -> list[FinishedBatch]:
    """Draw a span in a device's thread and finish it there, while the caller works on another one."""
    return [finish(batches.backend, batch) for batch in batches.draw(first, last)]


def _finisher(job: Job, *, on_device: bool) -> Finish:
    """Return the function that gives the arrays of each drawn batch the ids and element types of a store."""
    identifiers, layout = job.identifiers, job.plan.sample_layout
    if not (on_device and job.devices):
        return lambda _, batch: kept(replace(batch, drawn=AsStored(batch.drawn, identifiers, layout)), layout)
    converted = DeviceIdentifiers(identifiers)

    def finish(backend: Backend, batch: FinishedBatch) -> FinishedBatch:
        drawn = OnDevice(converted.of(batch.on_device()), layout)
        backend.wait()  # the caller's stream knows nothing of this thread's
        return replace(batch, drawn=drawn)

    return finish
