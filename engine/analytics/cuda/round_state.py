"""The state of vertices in rounds of a custom measure on a GPU, and what a round does to it.

What changed is pushed along rows by all threads, or by one block while there is little, which needs no launch for each
round. What is pulled has as many threads for a row as it has work for.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.typed_rounds import compiled, typed
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.rounds import (
    CHUNK,
    Asked,
    BestRounds,
    CombinedRounds,
    Settled,
    added,
    is_real,
    refuse_fault,
)
from csaw.engine.analytics.rows_in_memory import Block, Wanted
from csaw.engine.analytics.spread import Range
from csaw.engine.api.option import LARGEST
from csaw.engine.cuda.declarations import BLOCK, struct
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device

FEW, FEW_THREADS = 4096, 1024  # entries of rows that one block pushes along in the time of some launches; its threads
PULL_SHARE = 15
THREADS = 1 << 18  # of the kernel over all vertices that counts: each warp adds to the counters once
COUNTED = 4  # numbers that kernels count in a round; two faults come after them


class State:
    """The values of vertices and their flags, as a measure begins.

    ``found``: numbers of a round, int64: four that kernels count, then a vertex at
    which ``edge`` gave NaN and one at which ``vertex`` or ``start`` did, or -1: ``read("start")`` says so first.
    """

    def __init__(self, network: DeviceNetwork, asked: Asked) -> None:
        measure = asked.measure
        self.network, self.asked, self.measure, self.weighted = network, asked, measure, measure.reads_weights
        made = typed(measure, asked.params, network.id_dtype)
        gpu, self.types = network.gpu, made.types
        self.kernels = network.loaded.of(
            made.name, gpu, lambda: Kernels(compiled(measure, made.unit, gpu.architecture), gpu)
        )
        self.values, self.following = (cupy.empty(network.vertices, made.types.value) for _ in range(2))
        self.active = self._flags()
        most = np.inf if is_real(made.types.value) else LARGEST
        least, most = np.array([most, -most], made.types.value).view(np.int64).tolist()
        self.fresh = on_device(np.array([0, 0, least, most, -1, -1]))
        self.begin_round(0)
        given = (self.kernels.params, network.degrees, self.values, self.following, self.active, self.faults[1:])
        self.kernels.over("begin", network.vertices, network.vertices, *given)

    def _flags(self) -> Array:
        return cupy.zeros(self.network.vertices, np.uint8)

    def blocks_of(self, rows: DeviceNetwork, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        """Go through the rows of the vertices that this state is to find, here of all: blocks that are ``wanted``."""
        return rows.blocks(weights=weights, wanted=wanted)

    def skips_blocks(self, rows: DeviceNetwork) -> bool:
        """Whether it goes through the blocks that are wanted alone."""
        return not rows.resident

    def begin_round(self, number: int) -> None:
        """Let kernels count the numbers of the round ``number``."""
        self.number, self.found = number, self.fresh.copy()

    @property
    def faults(self) -> Array:
        return self.found[COUNTED:]

    def round_over(self, block: Block, changed: Array, active: Array, sent: Array = None) -> np.ndarray:
        """The struct of a round over the rows of a block, with arrays as analytics/cuda/kernels/rounds.cuh names
        them.
        """
        return struct(
            "Round",
            vertices=self.network.vertices,
            number=self.number,
            first=block.first,
            indptr=block.indptr,
            indices=block.indices,
            weights=block.weights if self.weighted else None,
            degrees=self.network.degrees,
            sent=sent,
            active=active,
            values=self.values,
            following=self.following,
            changed=changed,
            faults=self.faults,
            counters=self.found.view(np.uint64),
        )

    def read(self, at_vertices: str, *, several: bool = False) -> np.ndarray:
        """Wait for the round, or for ``several`` of which the first number is the last's; return what was counted.

        OptionError about a hook that gave NaN, ``edge`` or ``at_vertices``. Returns int64 [COUNTED].
        """
        found = self.found.get()
        self.number = int(found[0]) if several else self.number
        refuse_faults(self, at_vertices, [found])
        return found[:COUNTED]


def refuse_faults(state: State, at_vertices: str, found: Sequence[np.ndarray]) -> None:
    """OptionError about a hook that gave NaN, ``edge`` or ``at_vertices``, by what was found on one GPU or several."""
    for number, hook in enumerate(("edge", at_vertices), COUNTED):
        refuse_fault(state.asked, hook, max(int(one[number]) for one in found), state.number)


class Best(State, BestRounds[DeviceNetwork]):
    """Rounds of a measure whose values are the best of all that has come.

    ``backward()``: the network with the rows of the other direction.
    """

    def __init__(self, network: DeviceNetwork, asked: Asked, backward: Callable[[], DeviceNetwork]) -> None:
        super().__init__(network, asked)
        self.backward, self.active, self.reached = backward, self._flags(), self.active
        self.few, self.pull_share = FEW, PULL_SHARE

    def settle(self) -> Settled:
        self.begin_to_settle()
        self.turn_flags()
        return self.settled(self.read("vertex"))

    def begin_to_settle(self, own: Range | None = None) -> None:
        """Queue what ``settle`` does, of a range of vertices, or of all."""
        first, last = own or (0, self.network.vertices)
        state = (self.reached, self.active, self.network.degrees, self.values, self.following, self.found)
        self.kernels.over("settle", min(last - first, THREADS), first, last, *state)

    def turn_flags(self) -> None:
        """Let those that were reached be the active ones."""
        self.active, self.reached = self.reached, self.active

    def settled(self, found: np.ndarray) -> Settled:
        """Return what ``settle`` has counted, int64 [COUNTED]."""
        return Settled(*found[:2].tolist(), *found[2:].view(self.types.value).tolist())

    def blocks_to_push(self) -> Iterator[Block]:
        """Go through the rows of active vertices."""
        return self.network.blocks(weights=self.weighted, wanted=any_active(self.active))

    def push(self, number: int) -> None:
        self.begin_round(number)
        for block in self.blocks_to_push():
            self._over(self.network, block, "push")

    def pull(self, number: int, bound: float) -> None:
        rows = self.backward()
        self.begin_round(number)
        for block in self.blocks_of(rows):
            self._over(rows, block, "pull_best", self.types.value.type(bound))

    def _over(self, rows: DeviceNetwork, block: Block, kernel: str, *more: object) -> None:
        """Launch a kernel over the rows of a block of ``rows``, and the one for those that are long."""
        given = (self.kernels.params, *more, self.round_over(block, self.reached, self.active))
        self.kernels.over(kernel, block.last - block.first, block.last, *given)
        rows.long_rows.launch(self.kernels, f"{kernel}_long", block, *given)

    @cached_property
    def _queues(self) -> tuple[Array, Array]:
        queue = cupy.empty(self.network.vertices, self.network.id_dtype)
        return queue, cupy.empty_like(queue)

    def push_few(self, number: int, last: int) -> tuple[int, Settled]:
        changed, (queue, room) = cupy.flatnonzero(self.active), self._queues
        queue[: changed.size] = changed.astype(queue.dtype)
        self.begin_round(number)
        state = self.round_over(next(self.network.blocks(weights=self.weighted)), self.reached, self.active)
        given = (changed.size, last, self.few, self.kernels.params, state, self.values, queue, room, self.found)
        self.kernels.launch("push_few", 1, FEW_THREADS, *given)
        number, size, swapped, _ = self.read("vertex", several=True).tolist()
        self.reached[(room if swapped else queue)[:size]] = 1  # which settle makes the active ones
        self.begin_round(number)
        return number, self.settle()

    def passed_along(self, value: float) -> float:
        found, fault = cupy.empty(1, self.types.value), cupy.zeros(1, np.int64)
        given = (self.kernels.params, self.types.value.type(value), found, fault)
        self.kernels.launch("passed_along", 1, 1, self.network.vertices, *given)
        carried: float = found.get()[0].item()
        return carried


class Combined(State, CombinedRounds[DeviceNetwork]):
    """Rounds in which vertices combine all that comes to them along ``rows``, and make a value of it."""

    def __init__(self, network: DeviceNetwork, asked: Asked, rows: DeviceNetwork) -> None:
        super().__init__(network, asked)
        self.rows, self.changed = rows, self._flags()
        self.sent = cupy.empty(network.vertices, self.types.combined) if self.measure.sends_alike else None

    @property
    def _marks_in_turn(self) -> bool:
        in_turn = self.network.pooled and self.rows is not self.network and self.rows in self.network.relatives
        return in_turn or super()._marks_in_turn

    def pull(self, number: int, total: float, some: bool) -> tuple[int, int]:
        self.begin_to_pull(number, total, some)
        changed, entries, *_ = self.read("vertex").tolist()
        return changed, entries

    def begin_to_pull(self, number: int, total: float, some: bool) -> None:
        """Queue what ``pull`` does."""
        network, rows = self.network, self.rows
        wanted = any_active(self.active) if some and self.skips_blocks(rows) else None
        if wanted is not None:
            self.following[:] = self.values
            self.changed.fill(0)
        self.begin_round(number)
        given = (self.kernels.params, total)
        if self.sent is not None:
            state = (network.degrees, self.values, self.sent, self.faults)
            self.kernels.over("send", network.vertices, network.vertices, number, *given, *state)
        if rows is not network:  # each of them has all of the memory for its blocks
            network.forget_blocks()
        for block in self.blocks_of(rows, weights=self.weighted, wanted=wanted):
            now = self.round_over(block, self.changed, self.active if some else None, self.sent)
            rows.classes(block).launch(self.kernels, "pull", *given, now)

    def mark(self) -> None:
        network = self.network
        self.active.fill(0)
        if self.rows is not network:
            self.rows.forget_blocks()
        for block in self.blocks_of(network, wanted=any_active(self.changed)):
            given = (block.indptr, block.indices, self.changed, self.active)
            self.kernels.over("mark", block.last - block.first, block.first, block.last, *given)
            network.long_rows.launch(self.kernels, "mark_long", block, *given)

    def total(self, number: int) -> float:
        given = (number, self.kernels.params, self.network.degrees, self.values)
        return self._added("add_totals", self.types.total, *given)

    def moved(self) -> float:
        return self._added("add_changes", np.dtype(np.float64), self.values, self.following)

    def _added(self, kernel: str, kind: np.dtype, *given: object) -> float:
        sums = cupy.empty(-(-self.network.vertices // CHUNK), kind)
        self.kernels.launch(kernel, sums.size, BLOCK, self.network.vertices, CHUNK, *given, sums)
        return added(sums.get().tolist(), is_real(kind))
