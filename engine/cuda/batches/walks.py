"""Batches of walks on a GPU: of single walkers, and of multidimensional walks, in rounds of walkers that run side by
side; see cuda/kernels/walk.cu and cuda/kernels/clocks.cu.
"""

from functools import cached_property

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.api.termination import limit_of, planned_steps
from csaw.engine.batches.walks import Questions, Rounds, WaitingWalks
from csaw.engine.cuda import arrays
from csaw.engine.cuda.compile import walk_kernel
from csaw.engine.cuda.declarations import BLOCK, HUB_BLOCK, WARP, record, struct
from csaw.engine.cuda.runner import ALL_PARTITIONS, CudaRunner
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.selection import bounds
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.schedule import crowds, rows_of
from csaw.engine.schedule.specialization import sources_and_starts, time_rules

# Lanes of a multiprocessor that keep its memory busy; more of them slow each other down (docs/contributing/tuning.md).
LANES = {"walk_by_edge": 768, "walk_by_rejection": 1024, "walk_by_time": 768}
SPREAD = 8  # warps of a multiprocessor to spread few walkers over
NO_VERTEX = {np.dtype(kind): kind(np.iinfo(kind).max) for kind in (np.uint32, np.uint64)}  # no vertex


class Walks(WaitingWalks):
    """Walkers of instances ``first .. first + len(sources) - 1``; ``walks`` [n, L + 1] as they are stored."""

    backend: CudaRunner

    def __init__(self, backend: CudaRunner, first: int, sources: Array, length: int | None = None) -> None:
        self.backend, self.first = backend, first
        self.length = limit_of(backend.algorithm) if length is None else length
        self.rules, timed = time_rules(backend.algorithm), backend.needs.timed
        sources, starts = sources_and_starts(sources, self.rules)
        self.source = cupy.asarray(sources, backend.store.id_dtype)
        self.places: Array = None  # of walks without a limit: see engine/batches/walks.py
        self.before = 0
        self.walks: Array = self._room(sources.size)
        self.times: Array = None
        self.clock: Array = None
        if timed:
            self.times = cupy.empty((sources.size, self.length), np.int64)
            backend.kernels.over("fill_times", -(-self.times.size // 2), self.times.size, self.times)
            self.clock = cupy.empty((sources.size, 2), np.int64)
            self.clock[...] = cupy.asarray(starts)
        self.lengths = cupy.empty(sources.size, np.int32)
        self.counts = cupy.zeros(2, np.uint64)  # edges, walks that ended early
        self.still = self.rest = 0  # walkers that waited when `wants` was asked, and the steps that they had left
        self.taken = cupy.zeros(1, np.uint64)  # number of walkers that lanes took after their first ones
        self.at: Array = None  # vertices where walkers wait for partitions
        self.previous: Array = None
        self.alive: Array = None
        self.queue: Array = None
        self.none = NO_VERTEX[self.source.dtype]
        nothing: Array = None
        self.questions = self._no_questions(sources.size) if backend.asks_later else Questions(*[nothing] * 5)
        if backend.streamed or backend.unlimited:
            # As bytes: CuPy compiles a kernel of its own, .2 s, for each other way to fill or copy an array.
            self.at, self.previous, self.alive = (
                cupy.empty_like(self.source),
                cupy.empty_like(self.source),
                cupy.empty(sources.size, np.uint8),
            )
            self.at.data.copy_from_device_async(self.source.data, self.source.nbytes)
            self.previous.data.memset_async(255, self.previous.nbytes)  # NO_VERTEX
            self.alive.data.memset_async(int(self.length > 0), self.alive.nbytes)
            self.lengths.fill(0)
        if backend.streamed and not backend.unlimited:
            self.walks.data.memset_async(255, self.walks.nbytes)
            self.walks[:, 0] = self.source

    def _room(self, walkers: int) -> Array:
        """An array for the walks of so many walkers."""
        return cupy.empty((walkers, self.length + 1), self.source.dtype)

    def _no_questions(self, walkers: int) -> Questions:
        kind = self.source.dtype
        return Questions(
            trials=cupy.zeros(walkers, np.uint32),
            asked=cupy.zeros(walkers, np.uint8),
            candidates=cupy.zeros((walkers, QUESTIONS), kind),
            coins=cupy.zeros((walkers, QUESTIONS), np.float64),
            sure=arrays.full(walkers, self.none, kind),
        )

    def wants(self) -> np.ndarray:
        """The partitions that walkers wait for: see schedule/schedule.py."""
        parts, n = self.backend.partitions.loaded.size, self.source.size
        counts = cupy.zeros(parts + 2, np.uint64)
        blocks = min(-(-n // BLOCK), 4 * self.backend.kernels.device.processors)
        output = self._output(slice(0, n), ALL_PARTITIONS)
        self.backend.kernels.launch("count_waiting", blocks, BLOCK, output, parts, counts)
        *waiting, self.still, self.rest = counts.get().tolist()
        if self.still == 0 and not self.backend.unlimited:
            self._count()
        if self.backend.needs.partitions_at_once == 1:
            return rows_of(np.array(waiting, np.int64))
        return crowds(cupy, self.backend.partitions, self.needs())

    def advance(self) -> None:
        backend = self.backend
        if backend.ends_early and not backend.streamed:
            self.walks.data.memset_async(255, self.walks.nbytes)  # PREFILLED in engine/cuda/kernels/walk.cu
        if backend.streamed:
            self._serve_loaded()
        else:
            self._launch(ALL_PARTITIONS, 1)
            self._count()

    def _count(self) -> None:
        """Count the edges of all walks, and the walks that ended early, once they are drawn."""
        self.counts.fill(0)
        n, kernels = self.source.size, self.backend.kernels
        blocks = min(-(-n // BLOCK), kernels.device.processors)
        kernels.launch(
            "count_walks", blocks, BLOCK, self._output(slice(0, n), ALL_PARTITIONS), self.counts[:1], self.counts[1:]
        )

    def _serve_loaded(self) -> None:
        """Advance all walkers whose partitions are loaded.

        If each partition has its own launch, repeat until no walker crosses from one to another: each time only the
        partitions that walkers wait for.
        """
        backend, loaded = self.backend, self.backend.graph.loaded
        if backend.asks_later:
            self._answer()
        if backend.plan.policy.balancing:
            backend.streams.run((), self._launch)
            return
        while serving := sorted({here for here, before, _ in self.wants().tolist() if loaded[here] and loaded[before]}):
            self.queue = backend.partitions.partition_of(self.at).astype(np.uint32)
            backend.streams.run(serving, self._launch)

    def _answer(self) -> None:
        """Answer the questions that rows in memory can answer."""
        backend, n = self.backend, self.source.size
        output, (_, high, _) = self._output(slice(0, n), ALL_PARTITIONS), bounds(backend.algorithm)
        backend.kernels.over(
            "answer_questions",
            n,
            output,
            self.first,
            backend.kernels.params,
            high,
            np.uint64(backend.seed),
            self.source,
            backend.bad,
        )

    def _launch(self, only: int, share: int) -> None:
        """Launch all walkers at once, or each alone without batching.

        ``only``: the partition to serve; ``share``: launches that share the GPU.
        """
        n, each = self.source.size, self.source.size if self.backend.plan.policy.batching else 1
        for low in range(0, n, max(each, 1)):
            self._launch_some(slice(low, low + each), only, share)

    def _output(self, rows: slice, only: int) -> np.ndarray:
        """The struct Output of engine/cuda/kernels/walk.cu for walkers ``rows``; ``only``: the partition to serve."""
        return struct(
            "Output",
            begin=rows.start,
            end=rows.stop,
            length=self.length,
            walks=self.walks,
            steps=self.lengths,
            places=self.places,
            before=self.before,
            at=self.at,
            previous=self.previous,
            alive=self.alive,
            queue=self.queue,
            only=only,
            taken=self.taken,
            **self.questions._asdict(),
            times=self.times,
            clock=self.clock,
            starts=self.rules.start,
            window=self.rules.window,
            last=self.rules.last,
            scale=self.rules.scale,
        )

    def _launch_some(self, rows: slice, only: int, share: int) -> None:
        backend, n = self.backend, rows.stop - rows.start
        if not backend.streamed:
            self.taken.fill(0)
        seed, kernels = np.uint64(backend.seed), backend.kernels
        head, tail = (self._output(rows, only), self.first, kernels.params), (seed, self.source)
        spread = -(-n // (SPREAD * kernels.device.processors))
        # Few walkers get small blocks, so that not even walkers of one warp wait for each other's memory.
        block = min(1 << (spread - 1).bit_length(), BLOCK)

        def blocks(name: str) -> int:
            """Number of blocks that run at once and are of use; a lane that is done takes the next walker."""
            most = min(kernels.resident(name, block), LANES[name] // block * kernels.device.processors)
            return min(-(-n // block), max(most // share, 1))

        name = walk_kernel(backend)
        if name == "walk_by_rejection":
            kernels.launch(
                name, blocks(name), block, *head, *bounds(backend.algorithm), *tail, backend.bad, backend.counts
            )
        elif name in LANES:
            kernels.launch(name, blocks(name), block, *head, *tail, backend.bad)
        else:
            kernels.launch(name, min(n, (1 << 20) // share), WARP, *head, *tail, backend.bad)
        if backend.select.by_sums or backend.needs.may_be_hopeless or backend.checks_vertices:
            backend.check()

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self._of(rows))

    def stored(self, rows: slice, identifiers: Identifiers) -> GroupArrays | None:
        """Copy them as a sample store has them; None where the host has to convert ids."""
        return self.backend.as_stored(self._of(rows), identifiers)

    def _of(self, rows: slice) -> dict[str, Array]:
        """The arrays of some walks, on the device."""
        return {name: array[rows] for name, array in self.on_device().items()}

    def on_device(self) -> dict[str, Array]:
        times = {} if self.times is None else {"times": self.times}
        return {"walks": self.walks, "lengths": self.lengths} | times

    def edges(self) -> int:
        return int(self.counts[0])

    def dead_ends(self) -> int:
        return int(self.counts[1])


# A batch of walks without a limit on a GPU: see engine/batches/walks.py.

LINE = 16  # steps: a round of a multiple of these is written in whole lines of memory


class UnlimitedWalks(Rounds, Walks):
    """Walkers of instances ``first .. first + len(sources) - 1``, which end by themselves.

    Once all have ended, ``walks`` [steps + walkers] has their vertices, one walk after the other.
    """

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.rounds = []
        self.upto: Array = cupy.zeros(0, np.int64)  # where walks end, once all have
        self.total = 0  # vertices of all walks
        super().__init__(backend, first, sources, -(-planned_steps(backend.algorithm) // LINE) * LINE)
        self.places = cupy.zeros(sources.size, np.int64)
        self._begin_round(cupy.arange(sources.size))

    def _room(self, walkers: int) -> Array:
        """Nothing yet: a round makes its own room."""
        return cupy.empty(0, self.source.dtype)

    def _begin_round(self, walkers: Array) -> None:
        self.walks = self._room_of_round(walkers)

    def _draw(self) -> None:
        if self.backend.streamed:
            self._serve_loaded()
        else:
            self._launch(ALL_PARTITIONS, 1)

    def _taken(self) -> Array:
        return self.lengths

    def _end(self) -> None:
        """Copy the steps of all rounds to where the walks follow each other."""
        vertices = self.lengths.astype(np.int64) + 1
        self.upto = cupy.cumsum(vertices)
        self.total = int(self.upto[-1])
        begins = self.upto - vertices
        out = cupy.empty(self.total, self.source.dtype)
        out[begins] = self.source
        for one in self.rounds:
            if one.walkers.size == 0:
                continue
            self.backend.kernels.over(
                "gather_round",
                one.vertices.size,
                one.walkers.size,
                one.vertices.shape[1],
                one.before,
                one.walkers,
                self.lengths,
                begins,
                one.vertices,
                out,
            )
        self.rounds.clear()
        self.walks = out

    @cached_property
    def ends(self) -> np.ndarray:
        """int64 [n + 1]: where walks begin, and where the last one ends, in host memory."""
        return np.append(0, self.backend.to_host({"ends": self.upto})["ends"])

    def _of(self, rows: slice) -> dict[str, Array]:
        first, last, _ = rows.indices(self.source.size)
        last = max(first, last)
        walks = self.walks[int(self.ends[first]) : int(self.ends[last])]
        return {"walks": walks, "lengths": self.lengths[first:last]}

    def edges(self) -> int:
        return self.total - self.source.size


EVENTS = {"time": np.float64, "src": None, "dst": None, "walker": np.uint32}  # None: dtype of vertex ids

UNCHECKED_ROUNDS = 6  # rounds, about as many as a batch takes, before the host first checks whether it is done
EVENT = record("Event")  # element of the array in which events are sorted by time
SPAN_EVENTS = 4  # mean number of events in a span of time


class ClockWalks:
    """Instances ``first ..``, each of [frontier size] walkers that share ``walk_length`` steps."""

    comes_back = True  # an instance may return to a partition that it has left

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.backend, self.first, self.length = backend, first, limit_of(backend.algorithm)
        self.dtype = np.dtype(backend.store.id_dtype)
        self.instances, self.walkers = sources.shape
        self.sources = cupy.asarray(sources, np.int64)
        n = self.sources.size
        self.state = {
            "at": self.sources.ravel().copy(),
            "prev": arrays.full(n, -1, np.int64),
            "moves": cupy.zeros(n, np.int64),
            "next": cupy.empty(n, np.float64),
            "rate": cupy.empty(n, np.float64),
            "queue": cupy.empty(n, np.int64),
        }
        self.looks = cupy.zeros(4 + self.instances, np.int64)  # counters that the host copies together
        self.tally, self.settled = self.looks[:4], self.looks[4:]
        self.capacity = self.length + self.length // 4 + 64
        self.events = self._room(self.capacity)
        self.count = cupy.zeros(self.instances, np.uint64)
        self.since, self.horizon = cupy.zeros(self.instances, np.float64), cupy.zeros(self.instances, np.float64)
        self.last, self.done = cupy.zeros(self.instances, np.int64), cupy.zeros(self.instances, np.int64)
        self.rounds = 0
        self.samples: dict[str, Array] = {}  # filled once all instances are drawn
        self.kept = np.zeros(self.instances, np.int64)  # events in each instance's sample

    def _room(self, capacity: int) -> dict[str, Array]:
        return {name: cupy.empty((self.instances, capacity), kind or self.dtype) for name, kind in EVENTS.items()}

    def _clocks(self) -> np.ndarray:
        return struct(
            "Clocks",
            first=self.first,
            instances=self.instances,
            walkers=self.walkers,
            length=self.length,
            capacity=self.capacity,
            **self.state,
            tally=self.tally.view(np.uint64),
            **self.events,
            count=self.count,
            since=self.since,
            horizon=self.horizon,
            last=self.last,
            settled=self.settled,
            done=self.done,
        )

    def wants(self) -> np.ndarray:
        """The partitions that walkers wait for: see schedule/schedule.py."""
        return crowds(cupy, self.backend.partitions, self.needs())

    def needs(self) -> tuple[Array]:
        """The vertices whose rows are needed: the places of walkers that move before their instance's horizon."""
        ahead = self.state["next"].reshape(self.instances, self.walkers) <= self.horizon[:, None]
        return (self.state["at"][cupy.flatnonzero(ahead & (self.done[:, None] == 0))],)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Return the cost of one event of each waiting walker, and of all events, without loading partitions.

        The cost is in bytes that a copy moves in the same time.
        """
        return self.backend.bytes_of_picks(int(wants[:, 2].sum())), self.backend.bytes_of_picks(
            self.instances * self.length
        )

    def advance(self) -> None:
        """Run rounds until all instances are drawn or rows are missing.

        Each round moves the horizon on, so that few surplus events are drawn.
        """
        backend, walkers = self.backend, self.instances * self.walkers
        kernels, seed = backend.kernels, np.uint64(backend.seed)
        if walkers == 0 or self.samples:
            return
        if self.rounds == 0:
            kernels.over("start_clocks", walkers, self._clocks(), kernels.params, seed, backend.bad)
        resident = kernels.device.processors * (32 if backend.selects_in_groups else 8)
        blocks, block = (walkers, WARP) if backend.selects_in_groups else (-(-walkers // BLOCK), BLOCK)
        settlers = HUB_BLOCK if self.walkers > BLOCK else WARP
        while True:
            if not self._waits():
                kernels.launch("settle_clocks", self.instances, settlers, self._clocks())
                self.rounds += 1
            self.tally.fill(0)
            kernels.over("find_clocks", walkers, self._clocks())
            if backend.streamed or self.rounds > UNCHECKED_ROUNDS:
                backend.check()
                looks = self.looks.get()
                queued, _, unfinished, full = looks[:4].tolist()
                if unfinished == 0:
                    break
                if full:
                    self._grow()
                if queued == 0:
                    return
            kernels.launch(
                "run_clocks", min(blocks, resident), block, self._clocks(), kernels.params, seed, backend.bad
            )
        self.kept = np.minimum(looks[4:], self.length)
        self.samples = self._samples(looks[4:])

    def _waits(self) -> bool:
        """Whether walkers that have to move before the horizon wait for their rows."""
        return self.backend.streamed and self.rounds > 0 and self.wants().size > 0

    def _grow(self) -> None:
        cupy.minimum(
            self.count, self.capacity, out=self.count
        )  # events beyond the capacity were counted but not written
        old, self.capacity = self.events, 2 * self.capacity
        self.events = self._room(self.capacity)
        for name, events in old.items():
            self.events[name][:, : events.shape[1]] = events

    def _samples(self, settled: np.ndarray) -> dict[str, Array]:
        """The samples: each instance's first ``length`` settled events by time, ties by walker.

        ``settled`` [n]: number of settled events.
        """
        kernels, clocks, slots = self.backend.kernels, self._clocks(), self.instances * self.capacity
        kept, spans = self.kept, max(self.capacity // SPAN_EVENTS, 1)
        held, place = cupy.zeros(self.instances * spans, np.uint32), cupy.empty(slots, np.uint32)
        event = cupy.empty(int(settled.sum()) * EVENT.itemsize, np.uint8)
        start = cupy.asarray(kept.cumsum() - kept)
        src, dst, depth = (cupy.empty(int(kept.sum()), kind) for kind in (self.dtype, self.dtype, np.int64))
        events = event.nbytes // EVENT.itemsize
        order = struct(
            "Order",
            spans=spans,
            held=held,
            place=place,
            event=event,
            events=events,
            start=start,
            src=src,
            dst=dst,
            depth=depth,
        )
        kernels.over("count_spans", slots, clocks, order)
        cupy.cumsum(held, dtype=held.dtype, out=held)
        kernels.over("fill_spans", slots, clocks, order)
        kernels.over("rank_spans", events, clocks, order)
        return {
            "counts": cupy.asarray(kept),
            "src": src,
            "dst": dst,
            "depth": depth,
            "source_counts": cupy.full(self.instances, self.walkers, np.int64),
            "sources": self.sources.ravel().astype(self.dtype),
        }

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        return int(self.kept.sum())

    def dead_ends(self) -> int:
        return int((self.kept < self.length).sum())
