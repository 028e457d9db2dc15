"""Kernels specialized for one plan, a graph in host memory, and threads, with which batches on the CPU are drawn.

``CpuRunner`` has these. After it come its threads for a user's own hooks, its memory that is used again, and
``CpuSelector``, which selects neighbors for frontiers of traversals.
"""

import math
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.hook_language import code_of, is_own, placed
from csaw.engine.api.hooks import Hook
from csaw.engine.api.rules import MiniBatch, Steps
from csaw.engine.batches.backend import BatchBackend
from csaw.engine.batches.integer_sums import scaled
from csaw.engine.cpu.graph import HostGraph
from csaw.engine.cpu.kernels.state import arrays_of
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.cpu.typed_hooks import check_own_hooks
from csaw.engine.plan.choices import Method
from csaw.engine.plan.contracts import ByFirstTime, Frontier, OpenLinks, Store, TimedFrontier, TimedLinks
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.selection import coin
from csaw.engine.schedule.backend import TALLY, Crowded, OverBudget
from csaw.engine.schedule.schedule import Stopped
from csaw.engine.schedule.specialization import WEIGHT, Constants, time_rules
from csaw.partition.base.kernel_time import Stopwatch
from csaw.partition.base.stages import LOADING, stage
from csaw.partition.errors import CsawError, OptionError

Made = TypeVar("Made")
FIRST_WORD = "hook_word(seed, instance, depth, 0)"  # in the text of a hook
LEAST_ROOM = 64 << 20  # bytes that a batch may take, however little memory is asked for: plans are estimates


class CpuRunner(BatchBackend):
    """Runs kernels in threads; setting ``stop`` ends the current batch with Stopped."""

    xp: ModuleType = np
    graph: HostGraph

    def __init__(self, plan: Plan, store: Store, algorithm: Algorithm) -> None:
        super().__init__(plan, store, algorithm)
        if is_own(type(algorithm)):
            check_own_hooks(self)
            self.threads: ThreadPoolExecutor = HookThreads(
                plan.threads, algorithm, [hook.name for hook in super().hooks()]
            )
        else:
            self.threads = ThreadPoolExecutor(plan.threads)
        self.tallied = np.zeros(len(TALLY), np.int64)
        self.recycled = Recycled()
        self.time_rules = time_rules(algorithm).numbers
        self.kernels = Kernels(self._constants(), self.hooks())
        watch = Stopwatch()
        with stage(LOADING):
            self.graph = self._load_graph()
        self.loading_seconds = watch.read().rest
        # Finds or compiles the kernels before sampling is timed.
        columns = 1 + (self.rule.layout == MiniBatch.layout) + self.needs.timed  # position of a seed, and time
        none = (0,) if isinstance(self.rule, Steps) else (0, 1, columns) if columns > 1 else (0, 1)
        self.begin(0, np.empty(none, np.int64)).advance()
        self.kernels_seconds = watch.read().whole - self.loading_seconds

    def claim(self, size: int) -> None:
        """OverBudget for more bytes than the plan leaves beside the graph: the system would grant them, and end the
        process once it uses more than there is.
        """
        plan = self.plan
        room = plan.batch_bytes if self.streamed else plan.budget_bytes - plan.fixed_bytes - plan.graph_bytes
        room = max(room, LEAST_ROOM)
        if size > room:
            raise OverBudget(f"{size:,} bytes for a batch")
        if size + self.kept_bytes > room:
            raise Crowded(f"{size:,} bytes for a batch, beside {self.kept_bytes:,} of those that are drawn already")

    def in_slices(self, todo: np.ndarray, size: int, task: Callable[..., None]) -> None:
        """Run ``task(slice, bad, tally)`` in threads over slices of ``todo`` of ``size`` elements.

        The slicing does not change the result.
        """
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

    def of_each(self, count: int, task: Callable[[int], Made]) -> list[Made]:
        """``task(number)`` of each number below ``count``, by threads."""
        found: dict[int, Made] = {}

        def run(some: np.ndarray, *_: np.ndarray) -> None:
            for number in some.tolist():
                found[number] = task(number)

        self.in_slices(np.arange(count), 1, run)
        return [found[number] for number in range(count)]

    @property
    def tally(self) -> np.ndarray:
        return self.tallied

    @cached_property
    def row_begins(self) -> np.ndarray:
        return self.graph.indptr

    def bytes_in_place(self, entries: int, picks: int, edges: float) -> float:
        """Return the cost of reading rows one by one, as in Backend; ``picks`` does not count."""
        each = 2 if self.needs.second_order else 1  # rows that an entry needs
        return each * (entries * self.plan.rates.row_bytes + edges * self.graph.edge_bytes)

    def bytes_of_picks(self, picks: int) -> float:
        return self.bytes_in_place(picks, picks, picks * self.graph.mean_row)

    def to_host(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return arrays

    def close(self) -> None:
        self.stop.set()
        self.graph.close()
        self.threads.shutdown(wait=False, cancel_futures=True)  # a hook may have no end

    def hooks(self) -> list[Hook]:
        """The algorithm's own functions; where a kernel draws the first word of ``update`` ahead, that reads it."""
        hooks = super().hooks()
        if not self._draws_ahead():
            return hooks
        return [
            replace(hook, source=hook.source.replace(FIRST_WORD, "graph.word")) if hook.name == "update" else hook
            for hook in hooks
        ]

    def _draws_ahead(self) -> bool:
        """Whether a kernel draws the first random word of ``update``, and so where to read it."""
        update = self.others["update"]
        draws = update is not None and FIRST_WORD in update.source
        return isinstance(self.algorithm, Walk) and self.select.exact_number and draws

    def _constants(self) -> Constants:
        layout = self.plan.graph_layout
        own = {
            "STREAMED": self.streamed,
            "TABLE": layout.has_alias_tables,
            "SUMS": layout.has_sums,
            "MEMBERSHIP": self.needs.second_order,
            "HASHED": self.plan.membership == "hash",
            "EVENTS": self._has_events(),
            "ALONG": self._has_events() and self.others["update"] is None and self.others["dead_end"] is None,
            "EVENT_WORDS": time_rules(self.algorithm).event_words,
            "MEMBER_WEIGHTS": self.weighs_members,
            "DRAWS_AHEAD": self._draws_ahead(),
            "ASKS_LATER": self.asks_later,
            "QUESTIONS": QUESTIONS,
            "LOGGED": self.plan.paths_bytes > 0,
            "PACKED": not self.disjoint and np.dtype(self.store.id_dtype).itemsize == 4,
            "UNLIMITED": self.unlimited,
            "TYPED": self.store.relation_rows is not None,
        }
        return self.constants() | own

    def _has_events(self) -> bool:
        """Whether the graph has its edges in the order by time, too."""
        return self.plan.fixed.get("events", 0) > 0

    def _load_graph(self) -> HostGraph:
        table_kernels = self.kernels
        if self.select is Method.REJECTION and self.weighted:
            table_kernels = Kernels({"STREAMED": self.streamed, "TABLE": True, "NEIGHBOR_WEIGHTS": True}, [WEIGHT])
        graph = HostGraph(
            self.store,
            self.kernels,
            table_kernels,
            self.params,
            self.threads,
            self.needs,
            layout=self.plan.graph_layout,
            membership=self.plan.membership,
            weighs_members=self.weighs_members,
            events=time_rules(self.algorithm) if self._has_events() else None,
            streamed=self.streamed,
            capacity=self.plan.capacity,
            columns=np.empty(0) if self.algorithm.vertex_columns.table is None else self.algorithm.vertex_columns.table,
        )
        if not self.streamed:
            graph.load_all()
        return graph


# Threads for kernels with a user's own hooks: what a hook raises there is an error that names it.

Given = ParamSpec("Given")
RAISED = (ArithmeticError, AssertionError, LookupError, ValueError)
"""Errors of compiled hooks: csaw's kernels raise nothing."""
OURS = "csaw.engine."


class HookThreads(ThreadPoolExecutor):
    """Threads that raise OptionError where one of the ``hooks`` of an ``algorithm``, by name, raises anything."""

    def __init__(self, threads: int, algorithm: Algorithm, hooks: Sequence[str]) -> None:
        super().__init__(threads)
        self._algorithm, self._hooks = algorithm, hooks

    def submit(self, work: Callable[Given, Made], /, *given: Given.args, **named: Given.kwargs) -> Future[Made]:
        def told() -> Made:
            try:
                return work(*given, **named)
            except CsawError:
                raise
            except RAISED as error:
                raise raised_by(self._algorithm, self._hooks, error) from error

        return super().submit(told)


def raised_by(algorithm: Algorithm, hooks: Sequence[str], error: Exception) -> OptionError:
    """The error for what a user's hook raised. Compiled code does not say which, nor where: with one, its line is
    named, of several the file.
    """
    kind = type(algorithm)
    own = [name for name in hooks if not getattr(getattr(kind, name, None), "__module__", OURS).startswith(OURS)]
    which = " or ".join(f"{algorithm.name()}.{name}" for name in own or hooks)
    said = OptionError(f"{which} raised {type(error).__name__}: {error}; check an index or other value before using it")
    if len(own) == 1:
        return placed(said, getattr(kind, own[0]))
    codes = filter(None, (code_of(getattr(kind, name)) for name in own))
    files = sorted({Path(code.co_filename).name for code in codes})
    return OptionError(f"{', '.join(files)}: {said}") if files else said


# Memory of samples that nobody holds any more, used again: the system clears fresh memory first, which can take a
# third of the time of short walks.

LARGEST = 2  # of the memory of a block, in place of that asked for


class Recycled:
    """Hands out arrays, and keeps the memory of those that were dropped for the next ones.

    It has no more blocks at a time than there were arrays, because one that fits nothing makes way for a new one.
    """

    def __init__(self) -> None:
        self.spares: dict[int, np.ndarray] = {}  # by identity

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """An array with any values in it. Its memory is used again once the array and all views of it are gone."""
        count, kind = math.prod(shape), np.dtype(dtype)
        block = self._block(max(count * kind.itemsize, 1))
        # All views have this array as their base. Of an array NumPy would name the array's own base instead.
        array = np.frombuffer(block.data, kind, count)
        weakref.finalize(array, self._keep, block).atexit = False
        return array.reshape(shape)

    def filled(self, shape: tuple[int, ...], value: object, dtype: DTypeLike) -> np.ndarray:
        """Such an array with ``value`` in it."""
        array = self.empty(shape, dtype)
        array[...] = value
        return array

    def _block(self, size: int) -> np.ndarray:
        spares = sorted(self.spares.values(), key=lambda block: block.size)
        fitting = [block for block in spares if size <= block.size <= LARGEST * size]
        taken = (fitting[:1] or spares[-1:])[:1]
        for block in taken:
            del self.spares[id(block)]
        return fitting[0] if fitting else np.empty(size, np.uint8)

    def _keep(self, block: np.ndarray) -> None:
        self.spares[id(block)] = block


# Selection of neighbors on the CPU, for the frontiers of traversals.

SLICE = 2048  # frontier entries of a task
POOLS = 64  # of vertices that wait, of a task
LINK_PICKS = 16384  # negatives of links, of a task
MEMBERS_EDGES = 1 << 18  # that a task looks up among an instance's members: makes up for a hash table of some thousand


class CpuSelector(CpuRunner):
    """Selects in threads, over slices of the frontier's entries."""

    def geometric_sizes(self, instance: np.ndarray, slot: np.ndarray, most: np.ndarray) -> np.ndarray:
        sizes = np.empty(slot.size, np.int64)
        limit, rest = (np.uint64(number) for number in coin(self.traversal))
        self.kernels.geometric_sizes(instance, slot, np.uint64(self.seed), limit, rest, most, sizes)
        return sizes

    def update_frontier(self, depth: int, *edges: np.ndarray) -> np.ndarray:
        kernel, then = self.kernels.update_frontier, np.empty(edges[0].size, np.int64)
        given = (self.graph.arrays, self.params, np.uint64(self.seed), depth, *edges, then)
        self.in_slices(np.arange(then.size), SLICE, lambda some, bad, _: kernel(some, *given, bad))
        return then

    def race_pool(self, depth: int, *entries: np.ndarray) -> np.ndarray:
        kernel, times = self.kernels.race_pool, np.empty(entries[0].size)
        given = (self.graph.arrays, self.params, np.uint64(self.seed), depth, *entries, times)
        self.in_slices(np.arange(times.size), SLICE, lambda some, bad, _: kernel(some, *given, bad))
        return times

    def draw_pool(self, depth: int, size: int, begins: np.ndarray, *entries: np.ndarray) -> np.ndarray:
        kernel, picks = self.kernels.draw_pool, np.empty((begins.size - 1, size), np.int64)
        room = np.empty(entries[0].size), np.empty(entries[0].size, np.int64)
        given = (self.graph.arrays, self.params, np.uint64(self.seed), depth, begins, *entries, *room, picks)
        self.in_slices(np.arange(len(picks)), POOLS, lambda some, bad, _: kernel(some, *given, bad))
        return picks

    def draw_numbers(self, instance: np.ndarray, slot: np.ndarray, bound: np.ndarray, tries: int) -> np.ndarray:
        out, seed = np.empty((instance.size, tries), np.int64), np.uint64(self.seed)
        draw = self.kernels.draw_numbers
        self.in_slices(np.arange(instance.size), SLICE, lambda todo, *_: draw(todo, seed, instance, slot, bound, out))
        return out

    def select_neighbors(self, f: Frontier, entries: np.ndarray) -> None:
        if self.needs.independent_picks:
            self._select_by_table(f, entries)
        elif f.trying:
            self._look_up(f, entries)
        elif self.plan.graph_layout.has_sums:
            self._select_by_sums(f, entries)
        else:
            self._select_from_rows(f, entries)

    def _select_by_table(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.select_by_table, (self.graph.arrays, np.uint64(self.seed), arrays_of(f))
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given))

    def select_in_time(self, f: TimedFrontier, entries: np.ndarray) -> None:
        kernel = self.kernels.select_in_time
        given = (self.graph.arrays, np.uint64(self.seed), arrays_of(f), f.now, f.time, self.time_rules)
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given))

    def list_in_time(self, f: TimedFrontier, entries: np.ndarray, size: int) -> None:
        kernel, given = (
            self.kernels.list_in_time,
            (self.graph.arrays, np.uint64(self.seed), arrays_of(f), f.now, f.time),
        )
        drawn = f.depth, size, self.time_rules
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given, *drawn))

    def _look_up(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.look_up, (self.graph.arrays, arrays_of(f), f.offset)
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, *given))

    def _select_by_sums(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, given = self.kernels.select_by_sums, (self.graph.arrays, np.uint64(self.seed), arrays_of(f))
        self.in_slices(entries, SLICE, lambda some, _, tally: kernel(some, *given, tally))

    def _select_from_rows(self, f: Frontier, entries: np.ndarray) -> None:
        kernel, bounds = self.kernels.select_neighbors, self.bounds_of_trials(f.depth)
        given = self.graph.arrays, self.params, np.uint64(self.seed), f.depth, bounds
        arrays = arrays_of(f)
        self.in_slices(entries, SLICE, lambda some, bad, tally: kernel(some, *given, arrays, bad, tally))

    def weigh_rows(
        self, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, out: np.ndarray, biases: np.ndarray
    ) -> None:
        graph, kernel = self.graph.arrays, self.kernels.weigh_rows
        self.in_slices(
            entries, SLICE, lambda some, bad, _: kernel(some, graph, self.params, vertex, start, out, biases, bad)
        )

    def list_rows(self, vertex: np.ndarray, start: np.ndarray, entries: np.ndarray, out: np.ndarray) -> None:
        graph, kernel = self.graph.arrays, self.kernels.list_rows
        self.in_slices(entries, SLICE, lambda some, *_: kernel(some, graph, vertex, start, out))

    def list_members(
        self, met: np.ndarray, entries: np.ndarray, vertices: np.ndarray, degree: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return edges among members, as in Backend, by a hash table of an instance's members in each thread."""
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

    def select_shared(
        self,
        instance: np.ndarray,
        vertex: np.ndarray,
        start: np.ndarray,
        entries: np.ndarray,
        depth: int,
        size: int,
        out: np.ndarray,
    ) -> None:
        graph, kernel, seed = self.graph.arrays, self.kernels.select_shared, np.uint64(self.seed)
        self.in_slices(
            entries, SLICE, lambda some, *_: kernel(some, graph, seed, instance, vertex, start, depth, size, out)
        )

    def ends_of(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        source, place = np.empty(edges.size, np.int64), np.empty(edges.size, np.int64)

        def task(piece: np.ndarray, *_: np.ndarray) -> None:
            some = slice(int(piece[0]), int(piece[0]) + LINK_PICKS) if piece.size else slice(0, 0)
            self.kernels.find_ends(self.graph.indptr, edges[some], source[some], place[some])

        self.in_slices(np.arange(0, edges.size, LINK_PICKS), 1, task)
        return source, place

    def draw_negatives(self, f: OpenLinks, entries: np.ndarray, bounds: np.ndarray, upto: np.ndarray) -> None:
        kernel, size = self.kernels.draw_negatives, max(1, LINK_PICKS // f.negatives.shape[1])
        given = (f.first, f.source, f.place, bounds, upto, bool(getattr(self.algorithm, "allow_self", False)))
        self.in_slices(
            entries,
            size,
            lambda some, *_: kernel(some, self.graph.arrays, np.uint64(self.seed), *given, f.links, f.negatives),
        )

    def draw_negatives_in_time(
        self, f: TimedLinks, entries: np.ndarray, bounds: np.ndarray, first_times: ByFirstTime
    ) -> None:
        kernel, size = self.kernels.draw_negatives_in_time, max(1, LINK_PICKS // f.negatives.shape[1])
        given = (f.first, f.source, f.place, bounds, *first_times, bool(getattr(self.algorithm, "allow_self", False)))
        ever = getattr(self.algorithm, "negative_time", None) == "ever"
        self.in_slices(
            entries,
            size,
            lambda some, *_: kernel(
                some, self.graph.arrays, np.uint64(self.seed), *given, ever, f.links, f.time, f.negatives
            ),
        )

    def add_scaled(self, sums: np.ndarray, at: np.ndarray, biases: np.ndarray, shift: int) -> None:
        np.add.at(sums, at.astype(np.int64), scaled(np, biases, shift))

    def race_numbers(self, instance: np.ndarray, slot: np.ndarray, number: np.ndarray, rate: np.ndarray) -> np.ndarray:
        times, seed, race = np.empty(number.size), np.uint64(self.seed), self.kernels.race_numbers
        self.in_slices(
            np.arange(number.size), SLICE, lambda some, *_: race(some, seed, instance, slot, number, rate, times)
        )
        return times
