"""A batch of multidimensional walks on a GPU: rounds of walkers that run side by side; see cuda/kernels/clocks.cu."""

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.api.termination import limit_of
from csaw.engine.cuda import arrays
from csaw.engine.cuda.constants import BLOCK, HUB_BLOCK, WARP
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.cuda.structs import record, struct
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.schedule import crowds

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
