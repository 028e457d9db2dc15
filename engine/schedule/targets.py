"""Instances of a number of vertices (``--target``): base instances, drawn round by round, are joined until each has
reached that many, and cut there. One that reaches nothing new is left out.

See plan/target.py for the numbers of base instances. An instance's sample follows from its base instances in the order
of j alone, so that no byte depends on how many of them are drawn together, or on the device. They are joined in host
memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from csaw.engine.api.starts import SourceKind
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.target import ROUNDS, fruitless, number_of
from csaw.engine.samples.array import all_ones
from csaw.engine.samples.layouts import SUBGRAPHS, Arrays
from csaw.engine.schedule.backend import ALL, Backend
from csaw.engine.schedule.batch_loop import Batches, FinishedBatch, InHostMemory
from csaw.engine.sources.sources import Sources
from csaw.partition.base.kernel_time import Stopwatch
from csaw.partition.errors import BudgetError, CsawError

Columns = tuple[np.ndarray, ...]
SPARE = 1.1  # times the base instances that an instance still needs by what it has met so far, which are drawn next
FEWEST = 64  # of them; rounds of no more are drawn for many instances together


def batches_of(backend: Backend, sources: Sources, stopped: Callable[[], bool] = lambda: False) -> Batches:
    """Return the object that draws a plan's instances on a backend."""
    kind = Targets if backend.plan.request.target else Batches
    return kind(backend, sources, stopped)


class Targets(Batches):
    """Draws ranges of instances that are joined from base instances.

    A base instance is drawn as a job without a target draws its own.
    """

    def draw(
        self, first: int, last: int, *, patient: bool = True, after: Sequence[FinishedBatch] | None = None
    ) -> list[FinishedBatch]:
        """Draw the instances first .. last - 1 and return their batches in order, behind those of ``after``.

        BudgetError where a base instance or a single instance does not fit.

        What base instances took is put together at once, so that none of them waits for others: ``patient`` changes
        nothing.
        """
        before, watch = self.spent, Stopwatch()
        joined, dead_ends = Joined(self, last - first), 0
        for round_ in range(ROUNDS):
            for low, high in _runs(joined.left()):
                dead_ends += self._draw_round(joined, first, low, high, round_)
        found = self._finished(first, joined.samples(), last - first, dead_ends)
        self.spent = before + watch.read()
        return [*(after or ()), *found]

    def _draw_round(self, joined: "Joined", first: int, low: int, high: int, round_: int) -> int:
        """Draw a round of the instances ``low`` to before ``high`` as far as they need it; returns its dead ends."""
        begin, end, dead_ends = number_of(first + low, round_), number_of(first + high, round_), 0
        start = begin - (low << round_)
        while begin < end:
            few = 1 << round_ <= FEWEST
            upto = min(end, begin + (self.size if few else min(self.size, joined.wanted((begin - start) >> round_))))
            self.drawn_bytes = 0
            for batch in super().draw(begin, upto):
                joined.add(batch.arrays(), batch.first, (np.arange(batch.instances) + (batch.first - start)) >> round_)
                dead_ends += batch.dead_ends
            begin = upto
            while begin < end and joined.ended[at := (begin - start) >> round_]:
                begin = start + ((at + 1) << round_)
        return dead_ends

    def _finished(self, first: int, arrays: Arrays, instances: int, dead_ends: int) -> list[FinishedBatch]:
        """The batch of these arrays, or smaller ones where memory is short."""
        if self.backend.plan.lists_members:
            try:
                arrays = self._among(arrays, instances)
            except MemoryError as error:
                if isinstance(error, CsawError):
                    raise
                if instances == 1:
                    raise BudgetError(
                        f"the edges among the vertices of instance {first} need more memory than is free; lower "
                        "--target, or free some memory"
                    ) from error
                self.backend.release()
                half = instances // 2
                low, high = SUBGRAPHS.cut(arrays, [0, half, instances])
                return [
                    *self._finished(first, low, half, dead_ends),
                    *self._finished(first + half, high, instances - half, 0),
                ]
        return [FinishedBatch(first, instances, arrays["src"].size, dead_ends, InHostMemory(arrays, SUBGRAPHS))]

    def _among(self, arrays: Arrays, instances: int) -> Arrays:
        """The samples with all edges among their vertices; or with those of their own steps that are edges."""
        batch = self.backend.induce(Met(self.backend, arrays), instances)
        self.run(batch)
        self.backend.wait()
        among = batch.arrays(ALL)
        return among if self.backend.plan.induced else _steps_along(arrays, among)


class Joined:
    """The instances of a batch while their base instances come in, those of each in order."""

    def __init__(self, batches: Targets, instances: int) -> None:
        plan, store = batches.backend.plan, batches.backend.store
        target, cells = plan.request.target, max(2, 1 << (2 * plan.request.target - 1).bit_length())
        self.layout, self.dtype = plan.drawn_layout, np.dtype(store.id_dtype)
        self.most, self.shift = (
            fruitless(batches.backend.algorithm, batches.sources),
            np.uint64(64 - (cells.bit_length() - 1)),
        )
        self.tables, self.met = np.full((instances, cells), -1, np.int64), np.empty((instances, target), np.int64)
        self.size, self.tried, self.barren = np.zeros((3, instances), np.int64)
        self.seed, self.as_sets = np.uint64(plan.request.seed), batches.sources.kind is SourceKind.EVERY
        self.ended = np.zeros(instances, np.bool_)
        self.edges: list[Columns] = []  # of each batch: instance, src, dst, depth
        self.sources: list[Columns] = []  # instance, source

    def left(self) -> np.ndarray:
        """The instances that still need base instances, ascending."""
        return np.flatnonzero(~self.ended)

    def wanted(self, instance: int) -> int:
        """About how many base instances the instance still needs."""
        size, tried = int(self.size[instance]), int(self.tried[instance])
        return max(FEWEST, int(SPARE * (self.met.shape[1] - size) * tried / max(size, 1)))

    def add(self, arrays: Arrays, first: int, row: np.ndarray) -> None:
        """Join the base instances from number ``first`` on. ``row`` [b]: the instance of each."""
        from csaw.engine.schedule.join_kernels import join

        edges, counts, sources, source_counts = self._parts(arrays, row.size)
        if not self.layout.joins_in_order:
            edges = self._shuffled(edges, counts, first)
        kept_sources, kept_edges = np.empty((2, row.size), np.int64)
        join(
            row,
            source_counts,
            sources,
            counts,
            edges[0],
            edges[1],
            self.shift,
            self.most,
            self.tables,
            self.met,
            self.size,
            self.tried,
            self.barren,
            self.ended,
            kept_sources,
            kept_edges,
        )
        taken = _first_of(counts, kept_edges)
        self.edges.append((np.repeat(row, kept_edges), *(column[taken] for column in edges)))
        self.sources.append((np.repeat(row, kept_sources), sources[_first_of(source_counts, kept_sources)]))

    def _parts(self, arrays: Arrays, bases: int) -> tuple[Columns, np.ndarray, np.ndarray, np.ndarray]:
        """Of base instances of any layout: src, dst and depth of their edges and the number of these; sources and the
        number of these.
        """
        found = self.layout.edges(arrays, all_ones(self.dtype))
        counts = np.bincount(found["instance"], minlength=bases)
        edges = tuple(np.ascontiguousarray(found[name]) for name in ("src", "dst", "depth"))
        return edges, counts, *self.layout.sources(arrays)

    def _shuffled(self, edges: Columns, counts: np.ndarray, first: int) -> Columns:
        """The edges of base instances, those that a vertex has selected together in random order: they have none of
        their own, and a cut must not prefer some.
        """
        from csaw.engine.draws.random import order_words

        (src, _, depth), instance = edges, np.repeat(np.arange(counts.size), counts)
        other = (np.diff(instance) != 0) | (np.diff(depth) != 0)
        if not self.as_sets:
            other |= src[1:] != src[:-1]
        run = np.concatenate([[0], np.cumsum(other)])[: src.size]
        order = np.lexsort((order_words(self.seed, first, counts), run))
        return tuple(column[order] for column in edges)

    def samples(self) -> Arrays:
        """The arrays of a sample store, in order of instance; the vertices of an instance ascend."""
        instances, self.tables = self.size.size, self.tables[:0]
        owner, src, dst, depth = _in_order(self.edges)
        source_owner, sources = _in_order(self.sources)
        place = np.arange(self.met.shape[1])
        vertices = [np.sort(row[place < size]) for row, size in zip(self.met, self.size, strict=True)]
        return {
            "counts": np.bincount(owner, minlength=instances),
            "src": src,
            "dst": dst,
            "depth": depth.astype(np.int64),
            "source_counts": np.bincount(source_owner, minlength=instances),
            "sources": sources,
            "vertex_counts": self.size,
            "vertices": np.concatenate(vertices).astype(self.dtype),
        }


@dataclass(frozen=True)
class Met:
    """A batch that is drawn already: the vertices and sources of instances, for what finds the edges among them."""

    backend: Backend
    held: Arrays
    comes_back = False

    def advance(self) -> None:
        """Nothing is left to draw."""

    def wants(self) -> np.ndarray:
        return np.empty((0, 3), np.int64)

    def needs(self) -> tuple[Array, ...]:
        return (self.backend.xp.empty(0, np.int64),)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        return 0.0, 0.0

    def edges(self) -> int:
        return 0

    def dead_ends(self) -> int:
        return 0

    def arrays(self, rows: slice) -> Arrays:
        return self.held

    def on_device(self) -> dict[str, Array]:
        names = ("vertex_counts", "vertices", "source_counts", "sources")
        return {name: self.backend.xp.asarray(self.held[name]) for name in names}


def _steps_along(arrays: Arrays, among: Arrays) -> Arrays:
    """Samples without the steps that are no edges. ``among``: the same with all edges among their vertices."""
    from csaw.engine.schedule.join_kernels import are_among

    instances, kept = arrays["counts"].size, np.empty(arrays["src"].size, np.bool_)
    owner = np.repeat(np.arange(instances), arrays["counts"])
    bounds = np.concatenate([[0], np.cumsum(among["counts"])])
    are_among(owner, arrays["src"], arrays["dst"], bounds, among["src"], among["dst"], kept)
    edges = {name: arrays[name][kept] for name in ("src", "dst", "depth")}
    return arrays | edges | {"counts": np.bincount(owner[kept], minlength=instances)}


def _in_order(batches: list[Columns]) -> list[np.ndarray]:
    """The columns of all batches, of which the first is the instance, in order of instance.

    Rows of an instance stay in order.
    """
    columns = [np.concatenate(column) for column in zip(*batches, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]


def _first_of(sizes: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Places of the first ``kept`` elements of each of several runs of elements, which have ``sizes``."""
    begin = np.cumsum(sizes) - sizes
    return np.repeat(begin - (np.cumsum(kept) - kept), kept) + np.arange(int(kept.sum()))


def _runs(numbers: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers, each as its first one and the one after its last."""
    for run in np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1):
        if run.size:
            yield int(run[0]), int(run[-1]) + 1
