"""A batch of multidimensional walks on a GPU: rounds of walkers that run side by side; see clocks.cu."""

from typing import Any

import cupy
import numpy as np

from csaw.engine.backend import ALL
from csaw.engine.cuda.launch import BLOCK, HUB_BLOCK, WARP, struct
from csaw.engine.schedule import crowds

EVENTS = {"time": np.float64, "src": None, "dst": None, "walker": np.uint32}  # None: the type of an id

AHEAD, AHEAD_GROWS = (
    1 / 64,
    2,
)  # share of the events that a round aims at: first looks are short, for walkers speed up on their way to hubs
SPAN_EVENTS = 20  # events that a span of time holds, about


class ClockWalks:
    """Instances ``first ..``, each of [frontier size] walkers that share ``walk_length`` steps."""

    comes_back = True  # to partitions where it has been

    def __init__(self, backend: Any, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.length = backend, first, backend.algorithm.walk_length
        self.dtype = np.dtype(backend.store.id_dtype)
        self.instances, self.walkers = sources.shape
        self.sources = cupy.asarray(sources, np.int64)
        n = self.sources.size
        self.state = {
            "at": self.sources.ravel().copy(), "prev": cupy.full(n, -1, np.int64), "moves": cupy.zeros(n, np.int64),
            "next": cupy.empty(n, np.float64), "rate": cupy.empty(n, np.float64),
        }  # fmt: skip
        self.capacity = self.length + self.length // 4 + 64
        self.events = self._room(self.capacity)
        self.count = cupy.zeros(self.instances, np.uint64)
        self.horizon = cupy.zeros(self.instances, np.float64)
        self.settled, self.done = cupy.zeros(self.instances, np.int64), cupy.zeros(self.instances, np.int64)
        self.ahead = 0.0
        self.samples: dict[str, Any] = {}  # once all is done

    def _room(self, capacity: int) -> dict[str, Any]:
        return {name: cupy.empty((self.instances, capacity), kind or self.dtype) for name, kind in EVENTS.items()}

    def _clocks(self) -> np.ndarray:
        return struct(
            first=self.first, instances=self.instances, walkers=self.walkers, length=self.length, capacity=self.capacity,
            **self.state, **self.events, count=self.count, horizon=self.horizon, settled=self.settled, done=self.done,
        )  # fmt: skip

    def wants(self) -> np.ndarray:
        """Partitions that walkers wait for: those that move before their instance's horizon."""
        ahead = self.state["next"].reshape(self.instances, self.walkers) <= self.horizon[:, None]
        waiting = cupy.flatnonzero(ahead & (self.done[:, None] == 0))
        here = self.backend.graph.partition_of(self.state["at"][waiting])
        return crowds(cupy, here, here, self.backend.graph.loaded.size)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """What one event of all that wait, and all events, take where their rows are, in bytes copied."""
        return self.backend.bytes_of_picks(int(wants[:, 2].sum())), self.backend.bytes_of_picks(
            self.instances * self.length
        )

    def advance(self) -> None:
        """Rounds that look further and further ahead, so that few events are drawn in vain; until all is done, or rows are missing."""
        backend, walkers = self.backend, self.instances * self.walkers
        kernels, seed = backend.kernels, np.uint64(backend.seed)
        if walkers == 0 or self.samples:
            return
        resident = kernels.device.processors * (32 if backend.selects_in_groups else 8)
        blocks, block = (walkers, WARP) if backend.selects_in_groups else (-(-walkers // BLOCK), BLOCK)
        if self.ahead == 0:
            kernels.over("start_clocks", walkers, self._clocks(), kernels.params, seed, backend.bad)
        while True:
            if not self._waits():
                self.ahead = min(AHEAD_GROWS * self.ahead, 1.05) if self.ahead else AHEAD
                settlers = HUB_BLOCK if self.walkers > BLOCK else WARP
                kernels.launch("settle_clocks", self.instances, settlers, self._clocks(), self.ahead)
                backend.check()
                if bool(self.done.all()):
                    break
            kernels.launch(
                "run_clocks", min(blocks, resident), block, self._clocks(), kernels.params, seed, backend.bad
            )
            if int(self.count.max()) > self.capacity:
                self._grow()
            elif self._waits():
                return
        self.settled = cupy.minimum(self.settled, self.length)
        self.samples = self._samples()

    def _waits(self) -> bool:
        """Whether walkers still have to move before the horizon, for which their rows must be loaded."""
        return self.backend.streamed and self.ahead > 0 and self.wants().size > 0

    def _grow(self) -> None:
        cupy.minimum(self.count, self.capacity, out=self.count)  # those beyond were asked for and not written
        old, self.capacity = self.events, 2 * self.capacity
        self.events = self._room(self.capacity)
        for name, events in old.items():
            self.events[name][:, : events.shape[1]] = events

    def _samples(self) -> dict[str, Any]:
        """The first ``length`` events of each instance in order of time, ties in order of walker."""
        kernels, slots = self.backend.kernels, self.instances * self.capacity
        buckets = max(self.capacity // SPAN_EVENTS, 1)
        held = cupy.zeros(self.instances * buckets, np.uint32)
        upto = self.settled.cumsum()
        total = int(upto[-1]) if self.instances else 0
        src, dst = cupy.empty(total, self.dtype), cupy.empty(total, self.dtype)
        depth, start = cupy.empty(total, np.int64), upto - self.settled
        given = {"buckets": buckets, "held": held, "start": start, "src": src, "dst": dst, "depth": depth}
        clocks, empty = self._clocks(), cupy.empty(0, np.uint32)
        kernels.over("count_spans", slots, clocks, struct(**self._order(given, empty, empty)))
        sums = cupy.cumsum(held, dtype=np.uint32)
        event = cupy.empty(int(sums[-1]) if slots else 0, np.uint32)
        order = struct(**self._order(given, sums, event))
        kernels.over("fill_spans", slots, clocks, order)
        kernels.over("rank_spans", self.instances * buckets * WARP, clocks, order)
        return {
            "counts": self.settled,
            "src": src,
            "dst": dst,
            "depth": depth,
            "source_counts": cupy.full(self.instances, self.walkers, np.int64),
            "sources": self.sources.ravel().astype(self.dtype),
        }

    @staticmethod
    def _order(given: dict[str, Any], upto: Any, event: Any) -> dict[str, Any]:
        """Members of the struct Order, in its order."""
        return {name: given[name] for name in ("buckets", "held")} | {"upto": upto, "event": event} | given

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def edges(self) -> int:
        return int(self.settled.sum())

    def dead_ends(self) -> int:
        return int((self.settled < self.length).sum())
