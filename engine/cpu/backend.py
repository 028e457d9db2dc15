"""The CPU backend: kernels specialised for one plan, a graph in host memory, threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.batches.clusters import ClusterSets
from csaw.engine.batches.induced import Induced
from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.batches.pools import Pools
from csaw.engine.batches.shared_draws import SharedDraws
from csaw.engine.batches.traversals import Traversals
from csaw.engine.batches.unique import Unique
from csaw.engine.cpu.batches.clock_walks import ClockWalks
from csaw.engine.cpu.batches.hops import HopTables
from csaw.engine.cpu.batches.layers import HostLayers
from csaw.engine.cpu.batches.minibatches import WholeMiniBatches
from csaw.engine.cpu.batches.rounds import UnlimitedWalks
from csaw.engine.cpu.batches.walks import Walks
from csaw.engine.cpu.graph import HostGraph
from csaw.engine.cpu.recycled import Recycled
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.cpu.typed_hooks import check_own_hooks
from csaw.engine.plan.contracts import Batch, Store
from csaw.engine.plan.hop_tables import in_tables
from csaw.engine.plan.methods import Method
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.selection import coin
from csaw.engine.schedule.backend import TALLY, Backend, Crowded, OverBudget
from csaw.engine.schedule.schedule import Stopped
from csaw.engine.schedule.specialization import WEIGHT
from csaw.partition.base.kernel_time import Stopwatch
from csaw.partition.base.stages import LOADING, stage

SLICE = 2048  # frontier entries of a task
LEAST_ROOM = 64 << 20  # bytes that a batch may take, however little memory is asked for: plans are estimates
MEMBERS_EDGES = (
    1 << 18
)  # edges that a task looks up among an instance's members: makes up for a hash table of some thousand


class CpuBackend(Backend):
    """Runs a plan's batches in threads; setting ``stop`` ends the current batch with Stopped."""

    xp: ModuleType = np
    graph: HostGraph

    def __init__(self, plan: Plan, store: Store, algorithm: Any) -> None:
        super().__init__(plan, store, algorithm)
        check_own_hooks(self)
        self.tallied = np.zeros(len(TALLY), np.int64)
        self.threads = ThreadPoolExecutor(plan.threads)
        self.recycled = Recycled()
        self.kernels = Kernels(self._constants(), self.hooks())
        watch = Stopwatch()
        with stage(LOADING):
            self.graph = self._load_graph()
        self.loading_seconds = watch.read().rest
        self.begin(
            0, np.empty(self._no_sources(), np.int64)
        ).advance()  # finds or compiles the kernels before sampling is timed
        self.kernels_seconds = watch.read().whole - self.loading_seconds

    def _no_sources(self) -> tuple[int, ...]:
        """The shape of the sources of no instance."""
        if isinstance(self.algorithm, Walk):
            return (0,)
        return (0, 1, 2) if self.plan.drawn_layout == "batches" else (0, 1)

    def begin(self, first: int, sources: np.ndarray) -> Batch:
        batch = self._begin(first, sources)
        return self.induce(batch, len(sources)) if self.plan.induced and not self.plan.request.target else batch

    def induce(self, batch: Batch, instances: int) -> Batch:
        return Induced(self, batch, instances)

    def _begin(self, first: int, sources: np.ndarray) -> Batch:
        if isinstance(self.algorithm, Walk):
            return (UnlimitedWalks if self.unlimited else Walks)(self, first, sources)
        if self.needs.clusters:
            return ClusterSets(self, sources)
        if self.algorithm.clocks:
            return ClockWalks(self, first, sources)
        if self.plan.drawn_layout == "batches":
            whole = (self.select is Method.UNIFORM or self.plan.graph_layout.has_sums) and not self.streamed
            return (WholeMiniBatches if whole else MiniBatches)(self, first, sources)
        if self.algorithm.shares_draws:
            return SharedDraws(self, first, sources)
        if self.algorithm.draws_from != "edges":
            return HostLayers(self, first, sources)
        if self.algorithm.unique:
            return Unique(self, first, sources)
        tables = in_tables(self.plan, self.algorithm)
        return (HopTables if tables else Pools if self.needs.in_pools else Traversals)(self, first, sources)

    def claim(self, size: int) -> None:
        """OverBudget for more bytes than the plan leaves beside the graph: the system would grant them, and end the process once it uses more than there is."""
        plan = self.plan
        room = plan.batch_bytes if self.streamed else plan.budget_bytes - plan.fixed_bytes - plan.graph_bytes
        room = max(room, LEAST_ROOM)
        if size > room:
            raise OverBudget(f"{size:,} bytes for a batch")
        if size + self.kept_bytes > room:
            raise Crowded(f"{size:,} bytes for a batch, beside {self.kept_bytes:,} of those that are drawn already")

    def in_slices(self, todo: np.ndarray, size: int, task: Callable) -> None:
        """Run ``task(slice, bad, tally)`` in threads over slices of ``todo`` of ``size`` elements; the slicing does not change the result."""
        pieces = [todo[i : i + size] for i in range(0, todo.size, size)] or [todo]  # an empty slice compiles the kernel
        bads, tallies = np.zeros((len(pieces), 3), np.int64), np.zeros((len(pieces), len(TALLY)), np.int64)

        def guarded(piece: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            if not self.stop.is_set():
                task(piece, bad, tally)

        try:
            list(self.threads.map(guarded, pieces, bads, tallies))
        except KeyboardInterrupt:
            self.stop.set()
            raise
        if self.stop.is_set():
            raise Stopped
        self.graph.check(bads)
        self.tallied += tallies.sum(axis=0)

    @property
    def tally(self) -> np.ndarray:
        return self.tallied

    def geometric_sizes(self, instance: np.ndarray, slot: np.ndarray, most: np.ndarray) -> np.ndarray:
        """int64 [n]: the number of neighbors that coins say each frontier entry asks for, at most ``most``."""
        sizes = np.empty(slot.size, np.int64)
        limit, rest = (np.uint64(number) for number in coin(self.algorithm))
        self.kernels.geometric_sizes(instance, slot, np.uint64(self.seed), limit, rest, most, sizes)
        return sizes

    def draw_numbers(self, instance: np.ndarray, slot: np.ndarray, bound: np.ndarray, tries: int) -> np.ndarray:
        """int64 [n, tries]: random numbers below ``bound`` [n], which may repeat."""
        out, seed = np.empty((instance.size, tries), np.int64), np.uint64(self.seed)
        draw = self.kernels.draw_numbers
        self.in_slices(np.arange(instance.size), SLICE, lambda todo, *_: draw(todo, seed, instance, slot, bound, out))
        return out

    def select_neighbors(self, f: Traversals, entries: np.ndarray) -> None:
        """Select neighbors of the frontier entries numbered ``entries``: write them to ``f.out``, and their number to ``f.found``."""
        graph, seed, kernels = self.graph.arrays, np.uint64(self.seed), self.kernels

        def by_table(entries: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            kernels.select_by_table(
                entries, graph, seed, f.instance, f.slot, f.vertex, f.start, f.capacity, f.found, f.out, f.edge
            )

        def by_sums(entries: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            kernels.select_by_sums(
                entries, graph, seed, f.instance, f.slot, f.vertex, f.start, f.capacity, f.found, f.out, tally
            )

        def from_rows(entries: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            kernels.select_neighbors(
                entries, graph, self.params, seed, f.depth, f.instance, f.slot, f.vertex, f.previous, f.source,
                f.seen_from, f.seen_to, f.seen, f.start, f.capacity, f.found, f.out, f.edge, f.keys, bad, tally,
            )  # fmt: skip

        def from_pools(entries: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            kernels.look_up(
                entries, graph, f.vertex, f.seen_from, f.seen_to, f.seen, f.start, f.capacity, f.offset, f.out
            )

        if self.needs.independent_picks:
            way = by_table
        elif f.trying:
            way = from_pools
        else:
            way = by_sums if self.plan.graph_layout.has_sums else from_rows
        self.in_slices(entries, SLICE, way)

    def weigh_rows(self, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, out: np.ndarray, biases: np.ndarray) -> None:  # fmt: skip
        graph, kernel = self.graph.arrays, self.kernels.weigh_rows
        self.in_slices(
            entries, SLICE, lambda some, bad, _: kernel(some, graph, self.params, vertex, start, out, biases, bad)
        )

    def list_rows(self, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, out: np.ndarray) -> None:
        graph, kernel = self.graph.arrays, self.kernels.list_rows
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, graph, vertex, start, out))

    def list_members(self, met: np.ndarray, entries: np.ndarray, vertices: np.ndarray, degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """As the backend's, by a hash table of an instance's members in each thread."""
        graph, kernel, upto = self.graph.arrays, self.kernels.list_members, np.cumsum(degree)
        total = int(upto[-1]) if upto.size else 0
        marks = np.searchsorted(upto, np.arange(MEMBERS_EDGES, total, MEMBERS_EDGES)).tolist()
        bounds = sorted({0, *marks, entries.size})
        counts, found = np.zeros(entries.size, np.int64), [np.empty(0, self.store.id_dtype)] * len(bounds)

        def task(pieces: np.ndarray, *_: np.ndarray) -> None:
            for k in pieces:
                some = slice(bounds[k], bounds[k + 1])
                out = np.empty(int(degree[some].sum()), self.store.id_dtype)
                found[k] = out[: kernel(entries[some], graph, met, self.store.vertices, counts[some], out)].copy()

        self.in_slices(np.arange(len(bounds) - 1), 1, task)
        return counts, np.concatenate(found)

    def select_shared(self, instance: np.ndarray, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, depth: int, size: int, out: np.ndarray) -> None:  # fmt: skip
        graph, kernel, seed = self.graph.arrays, self.kernels.select_shared, np.uint64(self.seed)
        self.in_slices(
            entries, SLICE, lambda some, *_: kernel(some, graph, seed, instance, vertex, start, depth, size, out)
        )

    def race_numbers(self, instance: np.ndarray, slot: np.ndarray, number: np.ndarray, rate: np.ndarray) -> np.ndarray:
        times, seed, race = np.empty(number.size), np.uint64(self.seed), self.kernels.race_numbers
        self.in_slices(
            np.arange(number.size), SLICE, lambda some, *_: race(some, seed, instance, slot, number, rate, times)
        )
        return times

    def bytes_in_place(self, entries: int, picks: int, edges: float) -> float:
        """Cost of serving ``entries`` by reading their rows one by one, as bytes read in order in the same time.

        ``picks``: unused here. ``edges``: total length of their rows.
        """
        each = 2 if self.needs.second_order else 1  # rows that an entry needs
        return each * (entries * self.plan.rates.row_bytes + edges * self.graph.edge_bytes)

    def bytes_of_picks(self, picks: int) -> float:
        """Cost of one pick each of ``picks`` walkers, as ``bytes_in_place``."""
        return self.bytes_in_place(picks, picks, picks * self.graph.mean_row)

    def to_host(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return arrays

    def close(self) -> None:
        self.stop.set()
        self.graph.close()
        self.threads.shutdown(wait=False, cancel_futures=True)  # a hook may have no end

    def _constants(self) -> dict[str, Any]:
        layout = self.plan.graph_layout
        own = {
            "STREAMED": self.streamed,
            "TABLE": layout.has_alias_tables,
            "SUMS": layout.has_sums,
            "MEMBERSHIP": self.needs.second_order,
            "ASKS_LATER": self.asks_later,
            "QUESTIONS": QUESTIONS,
            "LOGGED": self.plan.paths_bytes > 0,
            "PACKED": not getattr(self.algorithm, "disjoint", False) and np.dtype(self.store.id_dtype).itemsize == 4,
            "UNLIMITED": self.unlimited,
        }
        return self.constants() | own

    def _load_graph(self) -> HostGraph:
        table_kernels = self.kernels
        if self.select is Method.REJECTION and self.weighted:
            table_kernels = Kernels({"STREAMED": self.streamed, "TABLE": True, "NEIGHBOR_WEIGHTS": True}, [WEIGHT])
        graph = HostGraph(
            self.store, self.kernels, table_kernels, self.params, self.threads, self.needs,
            layout=self.plan.graph_layout,
            bloom=self.needs.second_order and not self.streamed and not getattr(self.algorithm, "clocks", False),
            streamed=self.streamed, capacity=self.plan.capacity,
            columns=np.empty(0) if self.algorithm.vertex_columns.table is None else self.algorithm.vertex_columns.table,
        )  # fmt: skip
        if not self.streamed:
            graph.load_all()
        return graph
