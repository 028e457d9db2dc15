"""A batch of walks in progress on the CPU."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.backend import ALL
from csaw.engine.plan.methods import Method
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.selection import bounds
from csaw.engine.schedule.crowds import crowds, rows_of

if TYPE_CHECKING:
    from csaw.engine.cpu.backend import CpuBackend

SLICE = 8192  # walkers of a task: enough to keep 64 lanes full, few enough to share among threads


class Walks:
    """Walkers of instances ``first .. first + len(sources) - 1``; see kernels/walk.py for the state arrays."""

    comes_back = True  # an instance may return to a partition that it has left

    def __init__(self, backend: "CpuBackend", first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.length = backend, first, backend.algorithm.walk_length
        self.source = sources.astype(np.int64)
        self.at = self.source.copy()
        self.prev = np.full(sources.size, -1, np.int64)
        self.step = np.zeros(sources.size, np.int64)
        self.alive = np.full(sources.size, self.length > 0, np.uint8)
        # Walkers that have not ended; of these, `asking` wait with questions, and `walking` with none.
        self.waiting = np.flatnonzero(self.alive)
        self.walking, self.asking = self.waiting, self.waiting[:0]
        self.questions = self._no_questions(sources.size if backend.asks_later else 0)
        self.out = backend.recycled.empty((sources.size, self.length + 1), backend.graph.store.id_dtype)
        if (
            self.length == 0
        ):  # otherwise kernels write the sources, so that threads share the first touch of this memory
            self.out[:, 0] = sources

    def _no_questions(self, walkers: int) -> tuple[np.ndarray, ...]:
        """The arrays trials, asked, candidates, coins and sure of kernels/questions.py."""
        return (
            np.zeros(walkers, np.uint32), np.zeros(walkers, np.uint8),
            np.zeros((walkers, QUESTIONS), self.backend.graph.store.id_dtype), np.zeros((walkers, QUESTIONS)), np.full(walkers, -1, np.int64),
        )  # fmt: skip

    def wants(self) -> np.ndarray:
        """The partitions that walkers wait for: see schedule/crowds.py."""
        if self.backend.needs.partitions_at_once == 1:
            graph, parts = self.backend.graph, self.backend.graph.loaded.size
            needs = [self.at[self.walking], *self._answers()] if self.backend.asks_later else [self.at[self.waiting]]
            return rows_of(
                np.sum([np.bincount(graph.partition_of(vertices), minlength=parts) for vertices in needs], axis=0)
            )
        return crowds(np, self.backend.graph, self.needs())

    def _answers(self) -> list[np.ndarray]:
        """For each asking walker, the vertices whose rows answer its first question: one array, or two on an undirected graph."""
        previous, candidate = self.prev[self.asking], self.questions[2][self.asking, 0].astype(np.int64)
        return [previous] if self.backend.store.directed else [previous, candidate]

    def needs(self) -> tuple[np.ndarray, ...]:
        """The vertex whose row each waiting walker needs; for second-order walks that cannot ask later also its previous vertex, whose row it needs too."""
        if self.backend.asks_later:
            return (np.concatenate([self.at[self.walking], self._shortest_answers()]),)
        here = self.at[self.waiting]
        if not self.backend.needs.second_order:
            return (here,)
        previous = self.prev[self.waiting]
        return here, np.where(previous < 0, here, previous)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading rows one by one, for one step of each waiting walker and for all their steps, as bytes read in order in the same time."""
        rest = int((self.length - self.step[self.waiting]).sum())
        return self.backend.bytes_of_picks(self.waiting.size), self.backend.bytes_of_picks(rest)

    def advance(self) -> None:
        """Take every walker on until it is done or needs a row that is not in memory."""
        if self.backend.asks_later:
            self._advance_asking()
            return
        todo = self.waiting
        if self.backend.streamed:
            readable = [self.backend.graph.can_read(vertices) for vertices in self.needs()]
            todo = todo[readable[0] & readable[-1]]
        self.backend.in_slices(todo, SLICE, self._task)
        self.waiting = self.waiting[self.alive[self.waiting].view(bool)]

    def _advance_asking(self) -> None:
        """Answer the questions that can be answered now, then take every walker without one on."""
        graph = self.backend.graph
        can_answer = np.logical_or.reduce([graph.can_read(vertices) for vertices in self._answers()])
        self.backend.in_slices(self.asking[can_answer], SLICE, self._answer)
        self._sort_out()
        self.backend.in_slices(self.walking[graph.can_read(self.at[self.walking])], SLICE, self._task)
        self._sort_out()

    def _sort_out(self) -> None:
        self.waiting = self.waiting[self.alive[self.waiting].view(bool)]
        asks = self.questions[1][self.waiting] > 0
        self.walking, self.asking = self.waiting[~asks], self.waiting[asks]

    def _shortest_answers(self) -> np.ndarray:
        """For each asking walker, the vertex with the shortest row that answers its first question."""
        answers = np.stack(self._answers())
        shortest = np.argmin(self.backend.graph.degrees(answers), axis=0)
        return np.take_along_axis(answers, shortest[None], axis=0)[0]

    def _answer(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        backend.kernels.answer_questions(
            todo, self.first, backend.graph.arrays, backend.params, bounds(backend.algorithm), np.uint64(backend.seed), self.length,
            self.source, self.at, self.prev, self.step, self.alive, *self.questions, self.out, bad,
        )  # fmt: skip

    def _task(self, todo: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
        backend = self.backend
        kernels, graph = backend.kernels, backend.graph.arrays
        seed, length = np.uint64(backend.seed), self.length
        state = (self.source, self.at, self.prev, self.step, self.alive)
        if backend.select is Method.REJECTION:
            within, asked = bounds(backend.algorithm), self.questions
            kernels.walk_by_rejection(
                todo, self.first, graph, backend.params, within, seed, length, *state, *asked, self.out, bad, tally
            )
        elif backend.select.exact_number:
            kernels.walk_by_edge(todo, self.first, graph, backend.params, seed, length, *state, self.out, bad)
        else:
            kernels.walk_by_row(todo, self.first, graph, backend.params, seed, length, *state, self.out, bad)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return {"walks": self.out[rows], "lengths": self.step[rows]}

    on_device = arrays

    def edges(self) -> int:
        return int(self.step.sum())

    def dead_ends(self) -> int:
        return int((self.step < self.length).sum())
