"""Batches of walks in progress on the CPU: of single walkers, and of multidimensional walks."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from csaw.engine.api.termination import limit_of, mean_steps, planned_steps
from csaw.engine.batches.walks import Questions, Rounds, WaitingWalks
from csaw.engine.cpu.kernels.clocks import AT, PREV, TURN
from csaw.engine.cpu.kernels.state import Walkers
from csaw.engine.cpu.paths import FIELDS, Paths
from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.plan.choices import Method
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.selection import bounds
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.schedule import crowds, rows_of
from csaw.engine.schedule.specialization import sources_and_starts, time_rules

# Walkers by the partition that they wait for, so that a round looks only at those whose partition has come.

MOST_ENTRIES = 2  # times the number of walkers, in a queue, before repeated ones are merged


class Queues:
    """A queue of walkers for each partition.

    ``counts`` [partitions]: the walkers that wait for each, as their owner keeps it right.

    A walker that either of two partitions serves is in two queues. What one of them has served stays in the other until
    that is taken.
    """

    def __init__(self, partitions: int, walkers: int) -> None:
        self.among = np.zeros(walkers, bool)  # scratch: walkers that were found
        self.walkers: list[list[np.ndarray]] = [[] for _ in range(partitions)]
        self.counts = np.zeros(partitions, np.int64)
        self.entries = [0] * partitions  # of each queue, with those that were served elsewhere

    def put(self, walkers: np.ndarray, partitions: np.ndarray) -> None:
        """Queue each walker at a partition."""
        if walkers.size == 0:
            return
        short = np.min_scalar_type(
            self.counts.size
        )  # numbers of 8 or 16 bits are sorted by their digits, five times as fast
        order = np.argsort(partitions.astype(short), kind="stable")
        walkers, partitions = walkers[order], partitions[order]
        begins = [0, *(1 + np.flatnonzero(partitions[1:] != partitions[:-1])).tolist()]
        for begin, end in pairwise([*begins, walkers.size]):
            number = int(partitions[begin])
            self.walkers[number].append(walkers[begin:end].copy())  # a part of an array would keep the whole
            self.entries[number] += end - begin
            if self.entries[number] > MOST_ENTRIES * self.among.size:
                self._put_back(number)
        self.counts += np.bincount(partitions, minlength=self.counts.size)

    def take(self, partitions: np.ndarray) -> np.ndarray:
        """Empty the queues of some partitions; return their walkers, each once and in ascending order."""
        for number in partitions.tolist():
            for walkers in self.walkers[number]:
                self.among[walkers] = True
            self.walkers[number], self.entries[number] = [], 0
        self.counts[partitions] = 0
        return self._found()

    def _put_back(self, number: int) -> None:
        """Keep each walker of a queue once."""
        for walkers in self.walkers[number]:
            self.among[walkers] = True
        self.walkers[number] = [self._found()]
        self.entries[number] = self.walkers[number][0].size

    def _found(self) -> np.ndarray:
        found = np.flatnonzero(self.among)  # a tenth of the time of sorting or hashing them
        self.among[found] = False
        return found


LOGGED_STEPS = 1 << 18  # most steps that a task notes in a log, if a walk has fewer
LARGEST_LOG = 1 << 31  # most steps of a log, whose first entry counts them in the type of a vertex id
LEAST_SLICE, SLICE = 512, 8192  # walkers of a task: enough to keep 64 lanes full, few enough to share among threads
# Short walks have more walkers a task, up to so many steps, while each thread has some tasks: calling a kernel takes as
# long as thousands of steps.
TASK_STEPS, TASKS = 1 << 19, 4


class Walks(WaitingWalks):
    """Walkers of instances ``first .. first + len(sources) - 1``; see cpu/kernels/walk.py for the state arrays."""

    backend: CpuRunner
    none = -1

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray, length: int | None = None) -> None:
        self.backend, self.first = backend, first
        self.length = limit_of(backend.algorithm) if length is None else length
        self.largest = max(SLICE, TASK_STEPS // mean_steps(backend.algorithm))
        rules = time_rules(backend.algorithm)
        sources, starts = sources_and_starts(sources, rules)
        self.source = sources = np.ascontiguousarray(sources, np.int64)
        filled, shape = backend.recycled.filled, sources.shape
        self.at, self.previous = filled(shape, sources, np.int64), filled(shape, -1, np.int64)
        self.step, self.alive = filled(shape, 0, np.int64), filled(shape, self.length > 0, np.uint8)
        self.alive[sources < 0] = 0  # instances that are left out
        self.still = int(self.alive.sum())  # walkers that have not ended,
        self.rest = self.still * self.length  # and the steps that they have left
        self.queues: Queues | None = None
        if backend.streamed and backend.needs.partitions_at_once == 1:
            graph, everyone = backend.graph, np.flatnonzero(self.alive.view(bool))
            self.queues = Queues(graph.loaded.size, sources.size)
            self.queues.put(everyone, graph.partition_of(self.at[everyone]))
        self.times = backend.recycled.empty((sources.size, self.length) if backend.needs.timed else (0, 0), np.int64)
        self.walkers = Walkers(
            self.source,
            self.at,
            self.previous,
            self.step,
            self.alive,
            clock=filled((sources.size if backend.needs.timed else 0, 2), starts, np.int64),
            times=self.times,
            rules=rules.numbers,
            scale=np.array([rules.scale]),
        )
        self.questions = self._no_questions(sources.size if backend.asks_later else 0)
        self.paths = self._paths(sources) if backend.plan.paths_bytes else None
        self.out: np.ndarray | tuple[np.ndarray, Array] = np.empty((1, FIELDS), backend.graph.store.id_dtype)
        if self.paths is None:
            self._make_room(sources)

    def _make_room(self, sources: np.ndarray) -> None:
        """Make ``out`` [n, length + 1]."""
        self.out = self.backend.recycled.empty((sources.size, self.length + 1), self.backend.graph.store.id_dtype)
        if self.length == 0:  # else kernels do, so that threads share the first touch of memory
            self.out[:, 0] = sources

    def _paths(self, sources: np.ndarray) -> Paths:
        store = self.backend.graph.store
        return Paths(sources, self.length, store.id_dtype, store.path.parent, self.backend.plan.paths_bytes)

    def _no_questions(self, walkers: int) -> Questions:
        return Questions(
            np.zeros(walkers, np.uint32),
            np.zeros(walkers, np.uint8),
            np.zeros((walkers, QUESTIONS), self.backend.graph.store.id_dtype),
            np.zeros((walkers, QUESTIONS)),
            np.full(walkers, -1, np.int64),
        )

    def wants(self) -> np.ndarray:
        """The partitions that walkers wait for: see schedule/schedule.py."""
        if self.queues is not None:
            return rows_of(self.queues.counts)
        return crowds(np, self.backend.graph, self.needs())

    def advance(self) -> None:
        """Take every walker on until it is done or needs a row that is not in memory."""
        if self.queues is not None:
            self._serve(self.queues)
            return
        todo = np.flatnonzero(self.alive.view(bool))  # six times as fast as on bytes
        if not self.backend.streamed:
            self._in_slices(todo, self._task)
            return  # nobody waits
        readable = [self.backend.graph.can_read(vertices) for vertices in self.needs()]
        self._in_slices(todo[readable[0] & readable[-1]], self._task)
        left = np.flatnonzero(self.alive.view(bool))
        self.still, self.rest = left.size, self._steps_left(left)

    def _serve(self, queues: Queues) -> None:
        """Advance the walkers whose partitions or rows are in memory, and queue them where they wait next."""
        graph = self.backend.graph
        alone = graph.rows.vertices.size > 0
        came = queues.take(np.arange(queues.counts.size) if alone else np.flatnonzero(graph.loaded))
        came = came[self.alive[came].view(bool)]  # the others ended after they were queued twice
        asks = self.asks(came)
        walking, asking = came[~asks], came[asks]
        walks, answered = graph.can_read(self.at[walking]), self._can_answer(asking)
        if not alone:  # the others wait in other queues
            walking, asking = walking[walks], asking[answered]
            for vertices in self.answers(asking):
                elsewhere = graph.partition_of(vertices)
                queues.counts -= np.bincount(elsewhere[~graph.can_read(vertices)], minlength=queues.counts.size)
            came, walks, answered = np.concatenate([walking, asking]), walks[walks], answered[answered]
        left = self._steps_left(came)
        if self.backend.asks_later:
            self._in_slices(asking[answered], self._answer)
            asking = asking[self.alive[asking].view(bool)]
            free = asking[~self.asks(asking)]
            walking, walks = np.concatenate([walking, free]), np.concatenate([walks, graph.can_read(self.at[free])])
        self._in_slices(walking[walks], self._task)
        on = came[self.alive[came].view(bool)]
        self.still, self.rest = self.still - came.size + on.size, self.rest - left + self._steps_left(on)
        self._queue(queues, on)

    def _queue(self, queues: Queues, walkers: np.ndarray) -> None:
        """Queue walkers where they wait: those with a question at each partition that can answer it."""
        asks, graph = self.asks(walkers), self.backend.graph
        queues.put(walkers[~asks], graph.partition_of(self.at[walkers[~asks]]))
        asking, parts = walkers[asks], [graph.partition_of(vertices) for vertices in self.answers(walkers[asks])]
        queues.put(asking, parts[0])
        if len(parts) == 2:
            other = parts[1] != parts[0]
            queues.put(asking[other], parts[1][other])

    def _steps_left(self, walkers: np.ndarray) -> int:
        return int((self.length - self.step[walkers]).sum())

    def _can_answer(self, asking: np.ndarray) -> np.ndarray:
        """Whether a row in memory answers each asking walker's first question."""
        return np.logical_or.reduce([self.backend.graph.can_read(vertices) for vertices in self.answers(asking)])

    def _in_slices(self, todo: np.ndarray, task: Callable[..., None]) -> None:
        """Run ``task(walkers, out, bad, tally)`` in threads over slices of walkers; ``out`` takes their steps."""
        if self.paths is None:
            # Few may be able to go on, of a streamed graph above all.
            share = -(-todo.size // self.backend.plan.threads)
            size = min(max(share, LEAST_SLICE), max(SLICE, min(share // TASKS, self.largest)))
            self.backend.in_slices(todo, size, lambda walkers, *rest: task(walkers, self.out, *rest))
            return
        paths = self.paths

        def logged(walkers: np.ndarray, *rest: np.ndarray) -> None:
            log = paths.log(self._steps_left(walkers))
            task(walkers, log, *rest)
            paths.note(log)

        least = min(64, 1 + LARGEST_LOG // (self.length + 1))
        self.backend.in_slices(todo, max(least, min(SLICE, LOGGED_STEPS // (self.length + 1))), logged)

    def _answer(self, todo: np.ndarray, out: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        backend.kernels.answer_questions(
            todo,
            self.first,
            backend.graph.arrays,
            backend.params,
            bounds(backend.algorithm),
            np.uint64(backend.seed),
            self.length,
            self.walkers,
            self.questions,
            out,
            bad,
        )

    def _task(self, todo: np.ndarray, out: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        kernels, graph = backend.kernels, backend.graph.arrays
        seed, length = np.uint64(backend.seed), self.length
        if backend.select is Method.REJECTION:
            given = bounds(backend.algorithm), seed, length, self.walkers, self.questions
            kernels.walk_by_rejection(todo, self.first, graph, backend.params, *given, out, bad, tally)
        elif backend.select.exact_number:
            kernels.walk_by_edge(todo, self.first, graph, backend.params, seed, length, self.walkers, out, bad)
        elif backend.select is Method.TIME:
            kernels.walk_by_time(todo, self.first, graph, backend.params, seed, length, self.walkers, out, bad)
        else:
            kernels.walk_by_row(todo, self.first, graph, backend.params, seed, length, self.walkers, out, bad)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        if self.paths is None:
            times = {"times": self.times[rows]} if self.backend.needs.timed else {}
            return {"walks": self.out[rows], "lengths": self.step[rows]} | times
        first, last, _ = rows.indices(self.step.size)
        return {"walks": self.paths.rows(first, last), "lengths": self.step[rows]}

    on_device = arrays

    @property
    def read_back(self) -> bool:
        """Whether ``arrays`` reads walks from disk."""
        return self.paths is not None

    def edges(self) -> int:
        return int(self.step.sum())

    def dead_ends(self) -> int:
        return int((self.step < self.length).sum())


# A batch of walks without a limit on the CPU: see engine/batches/walks.py.


class UnlimitedWalks(Rounds, Walks):
    """Walkers of instances ``first .. first + len(sources) - 1``, which end by themselves."""

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.rounds, self.before = [], 0
        self.places = backend.recycled.filled(sources.shape, 0, np.int64)
        super().__init__(backend, first, sources, planned_steps(backend.algorithm))
        self._place_steps(np.arange(sources.size))

    def _make_room(self, sources: np.ndarray) -> None:
        """Nothing yet: a round makes its own."""

    def _draw(self) -> None:
        Walks.advance(self)

    def _taken(self) -> np.ndarray:
        return self.step

    def _begin_round(self, walkers: np.ndarray) -> None:
        self.still, self.rest = walkers.size, walkers.size * (self.length - self.before)
        self._place_steps(walkers)
        if self.queues is not None:
            self._queue(self.queues, walkers)

    def _empty(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.backend.recycled.empty(shape, self.backend.store.id_dtype)

    def _place_steps(self, walkers: np.ndarray) -> None:
        """Make room for the steps of a round; steps that go to disk need none."""
        if self.paths is None:
            self.out = self._room_of_round(walkers).reshape(-1), self.places

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        """``walks``: the vertices of all walks, one after the other; ``lengths`` [n]: their steps."""
        first, last, _ = rows.indices(self.step.size)
        last = max(first, last)
        lengths = self.step[first:last]
        ends = np.cumsum(lengths + 1)
        places = ends - lengths - 1
        walks = np.empty(int(ends[-1]) if ends.size else 0, self.backend.store.id_dtype)
        if self.paths is not None:
            self.paths.fill(first, last, places, walks)
            return {"walks": walks, "lengths": lengths}
        walks[places] = self.source[first:last]
        for one in self.rounds:
            low, high = np.searchsorted(one.walkers, (first, last)).tolist()
            self.backend.kernels.gather_round(
                low, high, first, one.walkers, one.before, self.step, places, one.vertices, walks
            )
        return {"walks": walks, "lengths": lengths}

    on_device = arrays


class ClockWalks:
    """Instances ``first ..``, each of [frontier size] walkers that share ``walk_length`` steps; see
    cpu/kernels/clocks.py.
    """

    comes_back = True  # an instance may return to a partition that it has left

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.length = backend, first, limit_of(backend.algorithm)
        self.dtype = np.dtype(backend.graph.store.id_dtype)
        shape = sources.shape
        self.sources = sources
        self.walkers = np.zeros((*shape, 4), np.int64)
        self.walkers[:, :, AT], self.walkers[:, :, PREV] = sources, -1
        self.keys, self.heap = np.empty(shape, np.float64), np.empty(shape, np.int64)
        self.step, self.alive = np.zeros(shape[0], np.int64), np.full(shape[0], self.length > 0, np.uint8)
        self.src = np.empty((shape[0], self.length), self.dtype)
        self.dst = np.empty((shape[0], self.length), self.dtype)
        backend.in_slices(np.arange(shape[0]), 1, self._start)

    def _start(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        b = self.backend
        b.kernels.start_clocks(
            todo, self.first, b.graph.arrays, b.params, np.uint64(b.seed), self.walkers, self.keys, self.heap, bad
        )

    def wants(self) -> np.ndarray:
        return crowds(np, self.backend.graph, self.needs())

    def needs(self) -> tuple[np.ndarray]:
        """The vertex whose row each waiting instance needs: the place of the walker that moves next."""
        waiting = np.flatnonzero(self.alive)
        return (self.walkers[waiting, self.heap[waiting, 0], AT],)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Return the cost of reading rows one by one, for one step of each waiting instance and for all steps.

        The cost is in bytes read in order in the same time.
        """
        waiting, rest = int(wants[:, 2].sum()), int(((self.length - self.step) * self.alive).sum())
        return self.backend.bytes_of_picks(waiting), self.backend.bytes_of_picks(rest)

    def advance(self) -> None:
        todo = np.flatnonzero(self.alive)
        share = todo.size // (2 * self.backend.plan.threads)
        self.backend.in_slices(todo, min(max(share, 1), TURN), self._task)

    def _task(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        b = self.backend
        b.kernels.run_clocks(
            todo,
            self.first,
            b.graph.arrays,
            b.params,
            np.uint64(b.seed),
            self.length,
            self.walkers,
            self.keys,
            self.heap,
            self.step,
            self.alive,
            self.src,
            self.dst,
            bad,
        )

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        taken = np.arange(self.length) < self.step[:, None]
        return {
            "counts": self.step,
            "src": self.src[taken],
            "dst": self.dst[taken],
            "depth": np.broadcast_to(np.arange(self.length), taken.shape)[taken],
            "source_counts": np.full(len(self.step), self.sources.shape[1], np.int64),
            "sources": self.sources.ravel().astype(self.dtype),
        }

    on_device = arrays

    def edges(self) -> int:
        return int(self.step.sum())

    def dead_ends(self) -> int:
        return int((self.step < self.length).sum())
