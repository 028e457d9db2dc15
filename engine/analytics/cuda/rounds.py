"""Rounds of a measure of the user's own on a GPU, in its memory or streamed: twin of engine/analytics/cpu/rounds.py.

What changed is pushed along rows by all threads, or by one block while there is little, which needs no launch for each
round. What is pulled has as many threads for a row as it has work for.
"""

from collections.abc import Callable
from functools import cached_property

import cupy
import numpy as np

from csaw.engine.analytics.cuda import directions
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.typed_rounds import compiled, typed
from csaw.engine.analytics.own_hooks import Hooked
from csaw.engine.analytics.passes import any_active
from csaw.engine.analytics.rounds import (
    CHUNK,
    BestRounds,
    CombinedRounds,
    Rounds,
    Settled,
    added,
    is_real,
    refuse_fault,
)
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.api.option import LARGEST
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device
from csaw.engine.cuda.structs import struct
from csaw.engine.plan.contracts import Array
from csaw.partition.errors import BudgetError

FEW, FEW_THREADS = 4096, 1024  # entries of rows that one block pushes along in the time of some launches; its threads
PULL_SHARE = 15
THREADS = 1 << 18  # of the kernel over all vertices that counts: each warp adds to the counters once
WEIGHED_BYTES = 64  # for each edge while rows with weights are made by sorting
COUNTED = 4  # numbers that kernels count in a round; two faults come after them


def compute(network: DeviceNetwork, *, measure: Hooked, backward: Callable[[], DeviceNetwork]) -> Rounds:
    """Run the rounds of a measure over a network; ``backward()`` is the one with the rows of the other direction.

    State: 16 bytes a vertex for values, 8 for what each passes along, and some flags. A graph that does not fit is
    streamed: a round reads the blocks that it needs.
    """
    return (_Best if measure.keeps_best else _Combined)(network, measure, backward).run()


class _State:
    """The values of vertices and their flags, as a measure begins.

    ``found``: numbers of a round, int64: four that kernels count, then a vertex at which ``edge`` gave NaN and one at
    which ``vertex`` or ``start`` did, or -1.
    """

    following: Array

    def __init__(self, network: DeviceNetwork, measure: Hooked, backward: Callable[[], DeviceNetwork]) -> None:
        self.network, self.measure, self.backward = network, measure, backward
        self.weighted, params = measure.reads_weights, measure.parameters_of(network)
        made = typed(measure, params)
        gpu, self.types = network.gpu, made.types
        self.kernels = network.loaded.of(
            made.name, gpu, lambda: Kernels(compiled(measure, made.unit, gpu.architecture), gpu)
        )
        self.values, self.active = cupy.empty(network.vertices, made.types.value), self._flags()
        most = np.inf if is_real(made.types.value) else LARGEST
        least, most = np.array([most, -most], made.types.value).view(np.int64).tolist()
        self.fresh = on_device(np.array([0, 0, least, most, -1, -1]))
        self.begin_round(0)
        given = (self.kernels.params, network.degrees, self.values, self.active, self.faults[1:])
        self.kernels.over("begin", network.vertices, network.vertices, *given)
        self.read("start")

    def _flags(self) -> Array:
        return cupy.zeros(self.network.vertices, np.uint8)

    def begin_round(self, number: int) -> None:
        """Let kernels count the numbers of the round ``number``."""
        self.number, self.found = number, self.fresh.copy()

    @property
    def faults(self) -> Array:
        return self.found[COUNTED:]

    def round_over(self, block: Block, changed: Array, active: Array, sent: Array = None) -> np.ndarray:
        """The struct of a round over the rows of a block, with arrays as kernels/rounds.cuh names them."""
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
        for hook, fault in zip(("edge", at_vertices), found[COUNTED:].tolist(), strict=True):
            refuse_fault(self.measure, self.network, hook, fault, self.number)
        return found[:COUNTED]


class _Best(_State, BestRounds[DeviceNetwork]):
    """Rounds of a measure whose values are the best of all that has come."""

    def __init__(self, network: DeviceNetwork, measure: Hooked, backward: Callable[[], DeviceNetwork]) -> None:
        super().__init__(network, measure, backward)
        self.following = self.values.copy()
        self.active, self.reached = self._flags(), self.active
        self.few, self.pull_share = FEW, PULL_SHARE

    def settle(self) -> Settled:
        vertices, flags = self.network.vertices, (self.reached, self.active)
        given = (*flags, self.network.degrees, self.values, self.following, self.found)
        self.kernels.over("settle", min(vertices, THREADS), vertices, *given)
        self.active, self.reached = flags
        found = self.read("vertex")
        return Settled(*found[:2].tolist(), *found[2:].view(self.types.value).tolist())

    def push(self, number: int) -> None:
        self.begin_round(number)
        for block in self.network.blocks(weights=self.weighted, wanted=any_active(self.active)):
            self._over(self.network, block, "push")

    def pull(self, number: int, bound: float) -> None:
        rows = self.backward()
        self.begin_round(number)
        for block in rows.blocks():
            self._over(rows, block, "pull_best", self.types.value.type(bound))

    def _over(self, rows: DeviceNetwork, block: Block, kernel: str, *more: object) -> None:
        """Launch a kernel over the rows of a block of ``rows``, and the one for those that are long."""
        given = (self.kernels.params, *more, self.round_over(block, self.reached, self.active))
        self.kernels.over(kernel, block.last - block.first, block.last, *given)
        rows.long_rows.launch(self.kernels, f"{kernel}_long", block, *given)

    @cached_property
    def _queues(self) -> tuple[Array, Array]:
        return cupy.empty(self.network.vertices, np.uint32), cupy.empty(self.network.vertices, np.uint32)

    def push_few(self, number: int, last: int) -> tuple[int, Settled]:
        changed, (queue, room) = cupy.flatnonzero(self.active), self._queues
        queue[: changed.size] = changed.astype(np.uint32)
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


class _Combined(_State, CombinedRounds[DeviceNetwork]):
    """Rounds in which vertices combine all that comes to them, and make a value of it."""

    def __init__(self, network: DeviceNetwork, measure: Hooked, backward: Callable[[], DeviceNetwork]) -> None:
        super().__init__(network, measure, backward)
        self.following, self.changed = cupy.empty_like(self.values), self._flags()
        self.sent = cupy.empty(network.vertices, self.types.combined) if measure.sends_alike else None
        self.rows = _with_weights(network) if self.weighted and network.directed else self.backward()

    def pull(self, number: int, total: float, some: bool) -> tuple[int, int]:
        network, rows = self.network, self.rows
        wanted = any_active(self.active) if some and not rows.resident else None
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
        for block in rows.blocks(weights=self.weighted, wanted=wanted):
            now = self.round_over(block, self.changed, self.active if some else None, self.sent)
            rows.classes(block).launch(self.kernels, "pull", *given, now)
        changed, entries, *_ = self.read("vertex").tolist()
        return changed, entries

    def mark(self) -> None:
        network = self.network
        self.active.fill(0)
        if self.rows is not network:
            self.rows.forget_blocks()
        for block in network.blocks(wanted=any_active(self.changed)):
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


def _with_weights(network: DeviceNetwork) -> DeviceNetwork:
    """The network of a directed graph with its edges reversed, which keep their weights.

    Where the GPU has no memory to make it, the host makes it, and it is streamed from there, or kept in what is left.
    """
    if network.resident and WEIGHED_BYTES * network.edges <= network.spare + network.edges * network.edge_bytes:
        return network.of_rows(directions.incoming_with_weights(network.whole(True)), directed=True)
    from csaw.engine.analytics.cpu.rounds import incoming_with_weights

    own = network.rows_bytes if network.resident else 0
    back = network.of_store(incoming_with_weights(network.host).store, network.gpu_memory - own)
    try:
        back.require_least()
    except BudgetError as error:
        if not own:
            raise
        raise BudgetError(
            f"{network.store.path}: a measure that reads e.weight and has a hook vertex, or a sum, needs the rows of a "
            f"directed graph with their edges reversed, too, and beside them {back.budget:,} bytes are allowed; pass "
            f"--residency streamed, or {network.advice(own + back.least_bytes)}"
        ) from error
    return back
