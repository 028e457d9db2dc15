"""A network whose rows are spread over several GPUs: each has those of the vertices that it owns, and no others.

In a work that the GPUs share, each goes through its own rows. Any other work goes through all rows: blocks of those
that other GPUs have are copied from there, over the link between them.
"""

import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

import cupy
from cupy import ndarray as Array

from csaw.engine.analytics.computations import SPREAD
from csaw.engine.analytics.cuda.copies import HostRows
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import on_each
from csaw.engine.analytics.rows_in_memory import Block, Wanted
from csaw.engine.analytics.spread import BLOCK_SHARE, Range, Spread
from csaw.engine.cuda.graphs.edge_arrays import made
from csaw.engine.cuda.graphs.node import fetch, reach_each_other
from csaw.engine.cuda.graphs.resident import Staging
from csaw.engine.cuda.memory import on_device
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore, Partition
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.views import Recut

log = logging.getLogger(__name__)
STAGED = 1 << 26  # entries at most that pass through page-locked memory at a time, but for a longer row


class PooledNetwork(DeviceNetwork):
    """A graph spread over several GPUs, as one of them sees it: the one ``number``, the first where a caller makes it.

    It is made as a DeviceNetwork is, with at least one of ``others`` and the residency POOLED. All GPUs must be able to
    read each other's memory.

    Raises:
        BudgetError: The memory of a GPU does not hold its share of the rows, room for blocks of others' rows, and what
            is kept of all vertices.
    """

    pooled: ClassVar[bool] = True
    number = 0

    @cached_property
    def spread(self) -> Spread:
        """Who owns which vertices."""
        return Spread.of_store(self.store, self.offsets, 1 + len(self.others))

    @cached_property
    def loading(self) -> Lock:
        """Held by the thread that has rows read."""
        return Lock()

    def require_least(self) -> None:
        self.spread.require_room(self.store, self.memory, self.kept_bytes)

    @property
    def _fits(self) -> bool:
        return self.spread.bytes_of_rows(self.store) <= self.budget

    def set_aside(self, kept: Footprint) -> None:
        if kept == self.kept:
            return
        super().set_aside(kept)
        for way, other in self.made_networks().items():
            if isinstance(other, PooledNetwork) and not other._fits:  # of_store places it again
                other.let_go()
                self.relatives.remove(other)
                del vars(self)[way]
        for one in vars(self).get("everywhere", (self,))[1:]:
            one.kept, one.cut = kept, self.cut

    @property
    def resident(self) -> bool:
        return False

    @cached_property
    def indptr(self) -> Array:
        """int64 [V + 1]: where each row begins among those of this GPU; below 0 before its own ones."""
        return on_device(self.offsets - self.offsets[self.own[0]])

    @property
    def own(self) -> Range:
        """The vertices of this GPU."""
        return self.spread.ranges[self.number]

    @cached_property
    def shares(self) -> list[Range]:
        return self.spread.ranges

    @cached_property
    def level_ranges(self) -> list[Range]:
        return self.spread.ranges

    def compute(self, what: str, **options: Any) -> Any:
        """Compute ``what``; raises OptionError for what needs all rows in reach of one GPU."""
        if what not in SPREAD:
            raise OptionError(
                f"--residency {Residency.POOLED}: {what} of {self.store.path} needs all rows within reach of one "
                f"GPU; pass --residency {Residency.HOST}"
            )
        return super().compute(what, **options)

    # Rows

    @cached_property
    def cut(self) -> Recut:
        """The store in blocks of one GPU's rows each, of which two fit the memory beside a share.

        They are a part of a share even where there is room for more, since one is copied while another is in use.
        """
        edge, share = self.edge_bytes, self.spread.entries
        fitting = (self.budget - share * edge) // (2 * edge)
        most = max(min(fitting, share // BLOCK_SHARE), self.store.max_degree, 1)
        return Recut(self.store, self.spread.begins(self.offsets, most))

    @cached_property
    def _stored(self) -> Recut:
        """The store in its own partitions, cut where another GPU's rows begin, and after STAGED entries."""
        begins = {part.first_vertex for part in self.store.partitions} | {first for first, _ in self.spread.ranges}
        begins |= {v for v, _ in self.spread.begins(self.offsets, max(STAGED, self.store.max_degree))}
        return Recut(self.store, [(v, int(self.offsets[v])) for v in sorted(begins) if v < self.vertices])

    def _read_whole(self, weights: bool) -> Block:
        """Read the own rows, at the places that ``indptr`` says, as a block of all vertices."""
        columns, (first, last) = (WEIGHT,) if weights else (), self.own
        begin, end = self.offsets[[first, last]].tolist()
        arrays, staging = made(cupy.empty, end - begin, self.store, columns), Staging(self._stored, columns)
        for part in self._stored.partitions:
            if first <= part.first_vertex < last:
                span = slice(part.first_edge - begin, part.first_edge - begin + part.edges)
                staging.upload(part, {name: array[span] for name, array in arrays.items()})
        return Block(0, self.vertices, self.indptr, arrays["indices"], arrays.get(WEIGHT.array))

    def load(self, weights: bool) -> None:
        """Have every GPU read its rows, with weights if they are wanted, unless they are in memory.

        Rows of relatives are given back where there is no room for both.
        """
        with self.loading:
            if all(True in one.held or (not weights and one.held) for one in self.everywhere):
                return
            for other in self.relatives:
                if other is not self.everywhere[0] and not self._fit_beside():
                    other.let_go()
            on_each(self.everywhere, lambda one, _: one.whole(weights))

    def take_turn(self) -> None:
        """Do nothing: ``load`` has relatives give back their rows, where these do not fit beside them."""

    def _fit_beside(self) -> bool:
        """Whether there is memory for these rows beside those of all relatives that are in memory."""
        held = [other for other in self.relatives if other.has_rows and other is not self.everywhere[0]]
        pooled = [other for other in held if isinstance(other, PooledNetwork)]
        rows = sum(one.spread.bytes_of_rows(one.store) for one in (self, *pooled))
        return len(pooled) == len(held) and self.kept_bytes + rows <= self.memory

    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        """Go through all rows, GPU after GPU: the own ones as one block, those of others as blocks that are copied."""
        self.load(weights)
        parts = [self.cut.partitions[number] for number in self.numbers(wanted)]
        for number, (first, last) in enumerate(self.spread.ranges):
            if number != self.number:
                if theirs := [part for part in parts if first <= part.first_vertex < last]:
                    yield from self._passing(self.everywhere[number].whole(weights), int(self.offsets[first]), theirs)
            elif wanted is None or wanted(first, last):
                _, _, indptr, indices, heavy = self.whole(weights)
                yield Block(first, last, indptr[first : last + 1], indices, heavy)

    def _passing(self, there: Block, base: int, parts: Sequence[Partition]) -> Iterator[Block]:
        """Yield the rows of ``parts``, which another GPU has after entry ``base`` of all.

        A block is good until the next is asked for.
        """
        for part, (indices, *heavy) in PeerCopies(there, base, parts):
            begin = int(self.offsets[part.first_vertex] - self.offsets[self.own[0]])
            indptr = self.indptr[part.first_vertex : part.last_vertex + 1] - begin
            yield Block(part.first_vertex, part.last_vertex, indptr, indices, heavy[0] if heavy else None)

    def _stays(self, block: Block) -> bool:
        return (block.first, block.last) == self.own

    def close(self) -> None:
        super().close()
        vars(self).pop("everywhere", None)  # networks that refer to each other

    def let_go(self) -> None:
        for one in vars(self).get("everywhere", (self,)):
            one.held.clear()
            one.classed.clear()

    @cached_property
    def host_copy(self) -> HostRows | None:
        """All rows in page-locked host memory, for works that go by way of it; None where it has no room for them."""
        return HostRows.within(self.store, self.host.budget, None)

    # Other GPUs

    @cached_property
    def everywhere(self) -> tuple["PooledNetwork", ...]:
        """The networks of all GPUs, in the order of their vertices."""
        reach_each_other((self.gpu, *self.others))
        shared = (self.spread, self.loading, self.host, self.cut, self._stored)
        every = (self, *(self._of_gpu(number) for number in range(1, len(shared[0].ranges))))
        for one in every[1:]:
            one.host, one.cut, one.relatives = self.host, self.cut, self.relatives
            one.everywhere = every
        return every

    def _of_gpu(self, number: int) -> "PooledNetwork":
        other = self.without_rows()
        assert isinstance(other, PooledNetwork)
        other.gpu, other.others, other.number = self.others[number - 1], (), number
        return other

    def among(self, parts: int, *, backward: bool = False, weights: bool = False) -> tuple[DeviceNetwork, ...]:
        if parts < 2:
            return (self,)
        self.load(weights)
        if backward and isinstance(self.incoming, PooledNetwork) and self.incoming is not self:
            for there, back in zip(self.everywhere, self.incoming.everywhere, strict=True):
                there.incoming = back
        return self.everywhere

    # Other directions

    def keep_both_directions(self) -> bool:
        """Have every GPU read its rows of both directions, which stay until rows are given back, if they fit together.

        Returns whether they do. Rows of other networks of the graph are given back.
        """
        both = {self, self.incoming}
        pooled = [one for one in both if isinstance(one, PooledNetwork)]
        rows = sum(one.spread.bytes_of_rows(one.store) for one in pooled)
        if len(pooled) < len(both) or self.kept_bytes + rows > self.memory:
            return False
        for other in self.relatives:
            if other not in both:
                other.let_go()
        for one in pooled:
            one.load(False)
        return True

    def of_store(self, store: GraphStore, gpu_memory: int) -> DeviceNetwork:
        """A network of another store, pooled as this one is, or, where it does not fit so, in blocks."""
        try:
            other = self._of_store(PooledNetwork, store, gpu_memory, Residency.POOLED)
        except BudgetError as error:
            log.info("%s is read in blocks: %s", store.path, error)
            other = self.in_blocks(store, gpu_memory)
        self.share_in_turn(other)
        return other

    def in_blocks(self, store: GraphStore, gpu_memory: int) -> DeviceNetwork:
        """A network of a store that each GPU reads in blocks if it must; rows of all relatives are given back."""
        for one in (self, *self.relatives):
            one.let_go()
        return self._of_store(DeviceNetwork, store, gpu_memory, None)


# Rows that another GPU has, a part after the other: one is copied from there while kernels read the one before.


class PeerCopies:
    """The entries of ``parts``, with their weights where ``there`` has weights, through two slots of the current GPU.

    ``there``: rows in the memory of another GPU. ``base``: the number, among all entries, of the first one there.
    """

    def __init__(self, there: Block, base: int, parts: Sequence[Partition]) -> None:
        self.there = [array for array in (there.indices, there.weights) if array is not None]
        self.base, self.parts = base, parts
        largest = max((part.edges for part in parts), default=0)
        self.slots = [[cupy.empty(largest, array.dtype) for array in self.there] for _ in range(2)]
        self.used: list[cupy.cuda.Event | None] = [None, None]  # when kernels are done with a slot
        self.stream = cupy.cuda.Stream(non_blocking=True)
        # The memory of the slots may have been given back by work that is queued still.
        self.stream.wait_event(cupy.cuda.get_current_stream().record())

    def __iter__(self) -> Iterator[tuple[Partition, list[Array]]]:
        """Yield each part with its arrays, which are good until the next is asked for."""
        coming = [self._begin(0)] if self.parts else []
        try:
            for turn, part in enumerate(self.parts):
                cupy.cuda.get_current_stream().wait_event(coming.pop())
                if turn + 1 < len(self.parts):
                    coming.append(self._begin(turn + 1))
                yield part, [array[: part.edges] for array in self.slots[turn % 2]]
                self.used[turn % 2] = cupy.cuda.get_current_stream().record()
        finally:
            self.stream.synchronize()  # a copy may be under way, if the caller stops here

    def _begin(self, turn: int) -> "cupy.cuda.Event":
        """Begin to copy a part, once kernels are done with the one before in its slot. Returns when it has arrived."""
        part, used = self.parts[turn], self.used[turn % 2]
        begin = part.first_edge - self.base
        if used is not None:
            self.stream.wait_event(used)
        if part.edges:
            with self.stream:
                for array, slot in zip(self.there, self.slots[turn % 2], strict=True):
                    fetch(array[begin : begin + part.edges], slot[: part.edges])
        return self.stream.record()
