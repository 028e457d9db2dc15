"""A batch of walks in progress on the CPU."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.engine.cpu.batches.queues import Queues
from csaw.engine.cpu.paths import FIELDS, Paths
from csaw.engine.plan.methods import Method
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.selection import bounds
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.waiting import crowds, rows_of

if TYPE_CHECKING:
    from csaw.engine.cpu.backend import CpuBackend

LOGGED_STEPS = 1 << 18  # most steps that a task notes in a log, if a walk has fewer
LARGEST_LOG = 1 << 31  # most steps of a log, whose first entry counts them in the type of a vertex id
LEAST_SLICE, SLICE = 512, 8192  # walkers of a task: enough to keep 64 lanes full, few enough to share among threads


class Walks:
    """Walkers of instances ``first .. first + len(sources) - 1``; see kernels/walk.py for the state arrays."""

    comes_back = True  # an instance may return to a partition that it has left

    def __init__(self, backend: "CpuBackend", first: int, sources: np.ndarray, length: int | None = None) -> None:
        self.backend, self.first = backend, first
        self.length: int = backend.algorithm.walk_length if length is None else length
        self.source = sources.astype(np.int64)
        self.at = self.source.copy()
        self.prev = np.full(sources.size, -1, np.int64)
        self.step = np.zeros(sources.size, np.int64)
        self.alive = np.full(sources.size, self.length > 0, np.uint8)
        self.still = int(self.alive.sum())  # walkers that have not ended,
        self.rest = self.still * self.length  # and the steps that they have left
        self.queues: Queues | None = None
        if backend.streamed and backend.needs.partitions_at_once == 1:
            graph, everyone = backend.graph, np.flatnonzero(self.alive)
            self.queues = Queues(graph.loaded.size, sources.size)
            self.queues.put(everyone, graph.partition_of(self.at[everyone]))
        self.questions = self._no_questions(sources.size if backend.asks_later else 0)
        self.paths = self._paths(sources) if backend.plan.paths_bytes else None
        self.out: Any = np.empty((1, FIELDS), backend.graph.store.id_dtype)
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

    def _no_questions(self, walkers: int) -> tuple[np.ndarray, ...]:
        """The arrays trials, asked, candidates, coins and sure of kernels/questions.py."""
        return (
            np.zeros(walkers, np.uint32), np.zeros(walkers, np.uint8),
            np.zeros((walkers, QUESTIONS), self.backend.graph.store.id_dtype), np.zeros((walkers, QUESTIONS)), np.full(walkers, -1, np.int64),
        )  # fmt: skip

    def wants(self) -> np.ndarray:
        """The partitions that walkers wait for: see schedule/crowds.py."""
        if self.queues is not None:
            return rows_of(self.queues.counts)
        return crowds(np, self.backend.graph, self.needs())

    def needs(self) -> tuple[np.ndarray, ...]:
        """The vertex whose row each waiting walker needs; for second-order walks that cannot ask later also its previous vertex, whose row it needs too."""
        waiting = np.flatnonzero(self.alive)
        if self.backend.asks_later:
            asks = self._asks(waiting)
            return (np.concatenate([self.at[waiting[~asks]], self._shortest_answers(waiting[asks])]),)
        here = self.at[waiting]
        if not self.backend.needs.second_order:
            return (here,)
        previous = self.prev[waiting]
        return here, np.where(previous < 0, here, previous)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading rows one by one, for one step of each waiting walker and for all their steps, as bytes read in order in the same time."""
        return self.backend.bytes_of_picks(self.still), self.backend.bytes_of_picks(self.rest)

    def advance(self) -> None:
        """Take every walker on until it is done or needs a row that is not in memory."""
        if self.queues is not None:
            self._serve(self.queues)
            return
        todo = np.flatnonzero(self.alive)
        if not self.backend.streamed:
            self._in_slices(todo, self._task)
            return  # nobody waits
        readable = [self.backend.graph.can_read(vertices) for vertices in self.needs()]
        self._in_slices(todo[readable[0] & readable[-1]], self._task)
        left = np.flatnonzero(self.alive)
        self.still, self.rest = left.size, self._steps_left(left)

    def _serve(self, queues: Queues) -> None:
        """Advance the walkers whose partitions are in memory, or whose rows are, and queue them where they wait next."""
        graph = self.backend.graph
        alone = graph.rows.vertices.size > 0
        came = queues.take(np.arange(queues.counts.size) if alone else np.flatnonzero(graph.loaded))
        came = came[self.alive[came].view(bool)]  # the others ended after they were queued twice
        asks = self._asks(came)
        walking, asking = came[~asks], came[asks]
        walks, answered = graph.can_read(self.at[walking]), self._can_answer(asking)
        if not alone:  # the others wait in other queues
            walking, asking = walking[walks], asking[answered]
            for vertices in self._answers(asking):
                elsewhere = graph.partition_of(vertices)
                queues.counts -= np.bincount(elsewhere[~graph.can_read(vertices)], minlength=queues.counts.size)
            came, walks, answered = np.concatenate([walking, asking]), walks[walks], answered[answered]
        left = self._steps_left(came)
        if self.backend.asks_later:
            self._in_slices(asking[answered], self._answer)
            asking = asking[self.alive[asking].view(bool)]
            free = asking[~self._asks(asking)]
            walking, walks = np.concatenate([walking, free]), np.concatenate([walks, graph.can_read(self.at[free])])
        self._in_slices(walking[walks], self._task)
        on = came[self.alive[came].view(bool)]
        self.still, self.rest = self.still - came.size + on.size, self.rest - left + self._steps_left(on)
        self._queue(queues, on)

    def _queue(self, queues: Queues, walkers: np.ndarray) -> None:
        """Queue walkers where they wait: those with a question at each partition that can answer it."""
        asks, graph = self._asks(walkers), self.backend.graph
        queues.put(walkers[~asks], graph.partition_of(self.at[walkers[~asks]]))
        asking, parts = walkers[asks], [graph.partition_of(vertices) for vertices in self._answers(walkers[asks])]
        queues.put(asking, parts[0])
        if len(parts) == 2:
            other = parts[1] != parts[0]
            queues.put(asking[other], parts[1][other])

    def _steps_left(self, walkers: np.ndarray) -> int:
        return int((self.length - self.step[walkers]).sum())

    def _asks(self, walkers: np.ndarray) -> np.ndarray:
        """Whether each of some walkers waits with a question."""
        return self.questions[1][walkers] > 0 if self.backend.asks_later else np.zeros(walkers.size, bool)

    def _answers(self, asking: np.ndarray) -> list[np.ndarray]:
        """For each asking walker, the vertices whose rows answer its first question: one array, or two on an undirected graph."""
        if not self.backend.asks_later:
            return [asking]  # nobody
        previous, candidate = self.prev[asking], self.questions[2][asking, 0].astype(np.int64)
        return [previous] if self.backend.store.directed else [previous, candidate]

    def _can_answer(self, asking: np.ndarray) -> np.ndarray:
        """Whether a row in memory answers each asking walker's first question."""
        return np.logical_or.reduce([self.backend.graph.can_read(vertices) for vertices in self._answers(asking)])

    def _shortest_answers(self, asking: np.ndarray) -> np.ndarray:
        """For each asking walker, the vertex with the shortest row that answers its first question."""
        answers = np.stack(self._answers(asking))
        shortest = np.argmin(self.backend.graph.degrees(answers), axis=0)
        return np.take_along_axis(answers, shortest[None], axis=0)[0]

    def _in_slices(self, todo: np.ndarray, task: Callable[..., None]) -> None:
        """Run ``task(walkers, out, bad, tally)`` in threads over slices of walkers; ``out`` takes their steps."""
        if self.paths is None:
            # Few may be able to go on, of a streamed graph above all.
            share = -(-todo.size // self.backend.plan.threads)
            size = min(max(share, LEAST_SLICE), SLICE)
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
            todo, self.first, backend.graph.arrays, backend.params, bounds(backend.algorithm), np.uint64(backend.seed), self.length,
            self.source, self.at, self.prev, self.step, self.alive, *self.questions, out, bad,
        )  # fmt: skip

    def _task(self, todo: np.ndarray, out: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        kernels, graph = backend.kernels, backend.graph.arrays
        seed, length = np.uint64(backend.seed), self.length
        state = (self.source, self.at, self.prev, self.step, self.alive)
        if backend.select is Method.REJECTION:
            within, asked = bounds(backend.algorithm), self.questions
            kernels.walk_by_rejection(
                todo, self.first, graph, backend.params, within, seed, length, *state, *asked, out, bad, tally
            )
        elif backend.select.exact_number:
            kernels.walk_by_edge(todo, self.first, graph, backend.params, seed, length, *state, out, bad)
        else:
            kernels.walk_by_row(todo, self.first, graph, backend.params, seed, length, *state, out, bad)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        if self.paths is None:
            return {"walks": self.out[rows], "lengths": self.step[rows]}
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
