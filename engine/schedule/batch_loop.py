"""Drawing instances batch after batch: the only loop that takes sources, begins a batch, runs it and waits.

Batches become smaller when memory is short.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.contracts import Array, Batch, WaitingBatch
from csaw.engine.plan.instance_bytes import flags_of_size
from csaw.engine.plan.plan import Plan
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.samples.layouts import Arrays, SampleLayout
from csaw.engine.schedule.backend import ALL, Backend, Crowded, OverBudget
from csaw.engine.schedule.of_stages import OfRelations, OfStages, Relations
from csaw.engine.schedule.schedule import Counters, Schedule
from csaw.engine.sources.given_sources import CHANCES, LABELS
from csaw.engine.sources.seeds import Excluded
from csaw.engine.sources.sources import Sources
from csaw.partition.base.kernel_time import Lapse, Stopwatch
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BudgetError, CsawError, StoreError
from csaw.partition.graph.views import View

log = logging.getLogger(__name__)


SKIP_NONE = (
    BatchKind.WALKS,
    BatchKind.UNLIMITED_WALKS,
    BatchKind.HOP_TABLES,
    BatchKind.HOP_TABLES_IN_TIME,
    BatchKind.WHOLE_MINIBATCHES,
    BatchKind.WHOLE_IN_TIME,
)
"""The kinds whose batches on the CPU draw nothing for an instance whose sources are -1."""


class TooManyTogetherError(BudgetError):
    """Instances do not fit beside those that are drawn with them, and would without."""


class Drawn(Protocol):
    """The drawn samples of a batch, on a device or in host memory."""

    def arrays(self, rows: slice) -> Arrays:
        """Copy the arrays to host memory.

        Of walks and hops only the instances ``rows``; of subgraphs always all, ``rows`` is ignored.
        """

    def on_device(self) -> dict[str, Array]:
        """All arrays in the memory in which they were drawn."""


@dataclass(frozen=True)
class FinishedBatch:
    """The samples of ``instances`` consecutive instances, of which number ``first`` is the first one.

    ``edges`` is the number of sampled edges, ``dead_ends`` that of walks and frontier vertices that had no neighbor to
    go to and of walks that their algorithm ended.
    """

    first: int
    instances: int
    edges: int
    dead_ends: int
    drawn: Drawn

    def arrays(self, rows: slice = ALL) -> Arrays:
        """Copy the samples to NumPy arrays, by name; any thread may call this.

        ``rows``: instances to copy, counted from ``first`` (default: all). Arrays are those of :func:`draw_batches`.
        """
        return self.drawn.arrays(rows)

    def stored(self, rows: slice, identifiers: Identifiers) -> GroupArrays | None:
        """Copy ``rows`` with the ids of a sample store, if the device that has drawn them converts them; else None."""
        convert = getattr(self.drawn, "stored", None)
        found: GroupArrays | None = None if convert is None else convert(rows, identifiers)
        return found

    def __getitem__(self, name: str) -> Array:
        """One of ``arrays()`` by name; StoreError where the samples have no such array."""
        found = self.arrays()
        if name not in found:
            raise StoreError(f"this batch has no array {quoted(name)}; it has {', '.join(found)}")
        return found[name]

    @property
    def read_back(self) -> bool:
        """Whether copies are read from disk, each into memory of its own, so that few should be made at a time."""
        return bool(getattr(self.drawn, "read_back", False))

    def on_device(self) -> dict[str, Array]:
        """The arrays where they were drawn, without a copy: CuPy arrays on a GPU, NumPy arrays on the CPU; both support
        DLPack.

        Vertices are dense ids (rows of the graph store); an entry without a vertex has all bits set. Arrays that had to
        make room are in host memory.
        A stream of your own must have finished its work on them before the batch is dropped: the memory is used again.
        """
        return self.drawn.on_device()


@dataclass(frozen=True)
class InHostMemory:
    """Arrays that were copied from their device to host memory."""

    held: Arrays
    layout: SampleLayout

    def arrays(self, rows: slice) -> Arrays:
        return self.held if rows == ALL else self.layout.rows(self.held, rows)

    def on_device(self) -> dict[str, Array]:
        return self.held


@dataclass(frozen=True)
class WithSeeds:
    """Drawn mini-batches with what is known of their seeds, float64 [seeds] each: ``held`` in host memory, ``there``
    where the mini-batches were drawn.
    """

    drawn: Drawn
    held: Arrays
    there: dict[str, Array]

    def arrays(self, rows: slice) -> Arrays:
        return self.drawn.arrays(rows) | self.held

    def on_device(self) -> dict[str, Array]:
        return self.drawn.on_device() | self.there


class Batches:
    """Draws ranges of a job's instances on one backend. It owns the backend; ``close`` closes it.

    ``size``: number of instances of a batch, first as planned, and smaller once memory was short. ``spent``: time that
    the host spent in ``draw``. ``pace``: instances that are drawn from one time that they are kept to the next.
    """

    def __init__(self, backend: Backend, sources: Sources, stopped: Callable[[], bool] = lambda: False) -> None:
        plan = backend.plan
        self.backend, self.sources, self.flat = backend, sources, isinstance(backend.algorithm, Walk)
        self.stages, rows = backend.store.stages, backend.store.relation_rows
        self.relations = None if rows is None else Relations(rows, cast(View, backend.store), backend.xp)
        self.size, self.spent, self.pace = plan.batch, Lapse(), Pace(plan)
        self.wanted: np.ndarray | None = None  # the numbers of the instances that are drawn; None: of all
        self.drawn_bytes = self.before_bytes = 0  # of the unit under way, and of the one that is written meanwhile
        self.kept_edges = 0  # of groups that are drawn, those that were kept before
        # Both ends and the depth, and again in the copy that puts batches together to be written.
        self.kept_edge = 2 * (2 * plan.needs.edge.id + 8)
        try:
            self.schedule = (
                Schedule(backend.partitions, plan.capacity, plan.policy, stopped) if backend.streamed else None
            )
        except BaseException:
            self._close_backend()
            raise

    def begin(self, first: int, last: int) -> Batch:
        """The backend's batch of the instances first .. last - 1, before anything of it is drawn."""
        excluded = None if self.sources.excluded is None else self.sources.excluded(first, last)
        sources = self.sources.take(first, last, self.flat, self.backend.xp)
        if self.wanted is not None:
            sources = np.array(sources)
            sources[~self._is_wanted(first, last)] = -1
        return self.begin_from(first, sources, excluded)

    def _is_wanted(self, first: int, last: int) -> np.ndarray:
        """bool [last - first]: which of these instances are drawn."""
        assert self.wanted is not None
        found = np.zeros(last - first, bool)
        found[self.wanted[(self.wanted >= first) & (self.wanted < last)] - first] = True
        return found

    @property
    def can_leave_out(self) -> bool:
        """Whether a batch draws nothing for instances without a source, so that ``wanted`` may say which are drawn."""
        plan = self.backend.plan
        skips = plan.device == "cpu" and plan.kind in SKIP_NONE and not plan.paths_bytes
        as_numbered = not plan.request.target  # base instances have numbers of their own
        return skips and as_numbered and not plan.induced and self.stages is None and self.relations is None

    def begin_from(self, first: int, sources: Array, excluded: Excluded | None = None) -> Batch:
        """The backend's batch of the instances from number ``first`` on that start from these sources, without the
        edges that are ``excluded``.
        """
        if self.stages is not None:
            sources = sources - sources.dtype.type(self.stages.first)
        if self.relations is not None:
            sources = self.relations.numbered(sources)
        return self.backend.begin(first, sources) if excluded is None else self.backend.begin(first, sources, excluded)

    def begin_unit(self, drawn: Sequence[FinishedBatch] = ()) -> None:
        """Begin instances that are kept together until all of them are ``drawn``: those that are so already count."""
        self.before_bytes, self.drawn_bytes = self.drawn_bytes, self.kept_edge * sum(batch.edges for batch in drawn)

    def draw(
        self, first: int, last: int, *, patient: bool = True, after: Sequence[FinishedBatch] | None = None
    ) -> list[FinishedBatch]:
        """Draw the instances first .. last - 1 and return their batches in order, each of at most ``size`` instances.

        ``after``: the batches of the unit under way that are drawn already, which come first in the list; by default a
        unit begins here.

        BudgetError where a single instance does not fit. Where batches do not fit beside those that are drawn already,
        they become smaller, or, unless ``patient``, TooManyTogetherError is raised.
        """
        watch = Stopwatch()
        if after is None:
            self.begin_unit()
        drawn, beside = list(after or ()), self.size
        while first < last:
            upto = min(first + min(self.size, beside), last)
            alone = patient and upto - first == 1  # then what was drawn before is written, some time
            self.backend.kept_bytes = self.drawn_bytes + (0 if alone else self.before_bytes)
            try:
                batch = self._attempt(first, upto)
            except Crowded as error:
                if alone or not patient:
                    raise self._too_many(first) from error
                beside = (upto - first) // 2
                continue
            if batch is None:  # batches that are drawn already move to host memory
                drawn = [kept(batch, self.backend.plan.sample_layout) for batch in drawn]
                self.backend.release()
                continue
            drawn.append(batch)
            self.drawn_bytes += self.kept_edge * batch.edges
            first = upto
        self.spent += watch.read()
        return drawn

    def draw_timed(self, first: int, last: int) -> tuple[FinishedBatch, float]:
        """Draw one batch; return it and the seconds that sampling took.

        The seconds to begin the batch and to compile do not count.

        MemoryError where it does not fit.
        """
        batch = self.begin(first, last)
        self.backend.wait()
        watch = Stopwatch()
        self._finish(batch)
        seconds = watch.read().drawn
        return replace(_finished(batch, first, last), drawn=self._as_in_graph(batch, first, last)), seconds

    @property
    def counters(self) -> Counters:
        """The counts of scheduling so far."""
        return Counters() if self.schedule is None else self.schedule.counters

    def close(self) -> None:
        """Free the backend's threads and memory, and those of the graph, to which the schedule refers too."""
        self.schedule = None
        self._close_backend()

    def _close_backend(self) -> None:
        with suppress(*self.backend.failures):  # a device that has failed cannot be closed
            self.backend.close()

    def run(self, batch: Batch) -> None:
        """Draw a batch that has begun to its end; a GPU's last kernels may still run."""
        if self.schedule is None:
            batch.advance()
        else:
            self.schedule.run(cast(WaitingBatch, batch))  # which a backend begins on a streamed graph

    def _finish(self, batch: Batch) -> None:
        self.run(batch)
        self.backend.wait()

    def in_graph(self, batch: Batch) -> Drawn:
        """Return a batch with the vertices of the graph, if others stand for them."""
        if self.stages is not None:
            return OfStages(batch, self.stages, self.backend.xp)
        return batch if self.relations is None else OfRelations(batch, self.relations)

    def _as_in_graph(self, batch: Batch, first: int, last: int) -> Drawn:
        """Return a batch with the vertices of the graph, with the labels of its seeds, if they have any, and with their
        chances.

        It has chances if seeds are drawn and samples are mini-batches.
        """
        drawn = self.in_graph(batch)
        known = {LABELS: self.sources.labels_of(first, last)}
        if self.backend.plan.sample_layout.keeps_seeds:
            known[CHANCES] = self.sources.chances_of(first, last)
        held = {name: array for name, array in known.items() if array is not None}
        if held and self.wanted is not None and self.sources.order is not None:
            seeds = (self.sources.order.positions(first, last) >= 0).sum(axis=1)
            drawn_ones = np.repeat(self._is_wanted(first, last), seeds)
            held = {name: array[drawn_ones] for name, array in held.items()}
        there = {name: self.backend.xp.asarray(array) for name, array in held.items()}
        return WithSeeds(drawn, held, there) if held else drawn

    def _attempt(self, first: int, last: int) -> FinishedBatch | None:
        """Draw one batch. None where the memory does not suffice; later batches then have half as many instances."""
        try:
            batch = self.begin(first, last)
            self._finish(batch)
            return replace(_finished(batch, first, last), drawn=self._as_in_graph(batch, first, last))
        except MemoryError as error:
            if isinstance(error, CsawError | Crowded):
                raise
            if last - first == 1:
                way = "raise --memory" if isinstance(error, OverBudget) else "free some memory"
                raise BudgetError(
                    f"instance {first} needs more memory than is free; ask for smaller ones "
                    f"({flags_of_size(self.backend.algorithm)}), or {way}"
                ) from error
        self.size = (last - first) // 2
        log.info("out of memory with %d instances in flight: going on with %d", last - first, self.size)
        return None

    def _too_many(self, first: int) -> TooManyTogetherError:
        return TooManyTogetherError(
            f"instance {first}, together with those before it, needs more memory than is free; ask for smaller "
            f"ones ({flags_of_size(self.backend.algorithm)}), or raise --memory"
        )


def kept(batch: FinishedBatch, layout: SampleLayout) -> FinishedBatch:
    """The same batch, with its arrays copied to host memory."""
    return replace(batch, drawn=InHostMemory(batch.arrays(), layout))


def _finished(batch: Batch, first: int, last: int) -> FinishedBatch:
    return FinishedBatch(first, last - first, batch.edges(), batch.dead_ends(), batch)


# How much a worker draws before it keeps it: as many instances as take KEEP_SECONDS, by the time of those before.
#
# A killed run loses no more than that, whatever its biases cost, and starts of runs that are killed every few minutes
# add up. What is expected of a run may be far off, most of all for biases that read rows of others; it only says how
# many instances come first.

# Of drawing, from one time that instances are kept to the next. To keep 32 MiB takes .1 s on a disk of 1 GB/s, so a
# hundredth of that goes into it at most.
KEEP_SECONDS = 20.0
FIRST_SECONDS = 0.25  # that the first instances are expected to take; a hundred times as much is no harm
GROWTH = 8  # times as many instances at most as before: the first ones may be quicker than others


class Pace:
    """The number of instances that a worker draws before it keeps them, ``size``.

    It is never less than ``least``: the threads of a CPU; on a GPU, which draws fewer in the same time, those expected
    first; and of a graph that is streamed what is drawn at a time, for it is read again for the next ones.
    """

    def __init__(self, plan: Plan) -> None:
        each = plan.expected["sampling_seconds"] / max(plan.request.instances, 1)
        first = max(1, plan.threads, int(FIRST_SECONDS / max(each, 1e-12)))
        self.least = plan.at_a_time if plan.residency.streams else plan.threads if plan.device == "cpu" else first
        self.size = max(first, self.least)

    def groups(self, group_size: int) -> int:
        """Groups of ``group_size`` instances to draw as a whole: one that is larger than ``size`` is kept in parts."""
        return max(1, self.size // group_size)

    def drew(self, instances: int, seconds: float) -> None:
        """Note the time that some instances have taken.

        A few that took little, at the end of a group, do not count: much of their time is that of beginning.
        """
        if seconds > KEEP_SECONDS or 2 * instances >= self.size:
            wanted = instances * KEEP_SECONDS / max(seconds, 1e-9)
            self.size = max(self.least, int(min(wanted, GROWTH * self.size)))
