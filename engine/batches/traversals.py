"""A batch of traversals in progress: a frontier for each depth, with entries in order of (instance, slot).

The slot of an entry is its number in the order in which its instance was sampled, sources first; it is part of the
address of the entry's random numbers. The backend owns the arrays (``backend.xp`` is NumPy or CuPy) and selects the
neighbors; this module decides their order.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import ModuleType

import numpy as np

from csaw.engine.api.rules import Waiting
from csaw.engine.api.termination import Unending
from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.engine.plan.choices import Method
from csaw.engine.plan.contracts import Array
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.samples.layouts.hops import Hops
from csaw.engine.schedule.backend import ALL, Backend
from csaw.engine.schedule.schedule import crowds
from csaw.partition.base.flags import any_set, set_count
from csaw.partition.errors import BudgetError, OptionError

# Arrays in order: where equal elements begin, how many they are, and which are the first. `xp`: NumPy or CuPy.


def counts(xp: ModuleType, local: Array, instances: int) -> Array:
    """int64 [instances]: how many elements each has of ``local``, their instances in order.

    On a GPU, bincount waits where many are of the same instance.
    """
    return xp.diff(begins(xp, local, instances))


def begins(xp: ModuleType, local: Array, instances: int) -> Array:
    """int64 [instances + 1]: where the elements of each begin in ``local``, their instances in order."""
    return xp.searchsorted(local, xp.arange(instances + 1))


def distinct(xp: ModuleType, local: Array, vertex: Array, vertices: int) -> tuple[Array, Array]:
    """The distinct pairs of instance and vertex, in order. ``vertices``: number of vertices of the graph."""
    key = xp.sort(local * vertices + vertex)
    key = key[xp.flatnonzero(fresh(xp, key))]
    owner = key // vertices
    return owner, key - owner * vertices


def fresh(xp: ModuleType, values: Array) -> Array:
    """Whether each of sorted ``values`` differs from the one before it."""
    first = xp.full(values.size, True)
    xp.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def in_pieces(xp: ModuleType, sizes: Array, most: int) -> Iterator[slice]:
    """Yield consecutive elements whose ``sizes`` add up to about ``most``, or one of a larger size."""
    upto = xp.cumsum(sizes)
    total = int(upto[-1]) if upto.size else 0
    marks = xp.searchsorted(upto, xp.arange(most, max(total, most), most)).tolist()
    for low, high in pairwise(sorted({0, *marks, upto.size})):
        yield slice(low, high)


def rank(xp: ModuleType, values: Array) -> Array:
    """int64 [n]: how many equal values come before each."""
    order = xp.argsort(values, kind="stable")
    place = xp.arange(values.size)
    begin = xp.flatnonzero(fresh(xp, values[order]))
    out = xp.empty(values.size, np.int64)
    out[order] = place - xp.repeat(begin, xp.diff(xp.append(begin, values.size)))
    return out


# A batch of traversals in progress.

MOST_PICKS = 1 << 24  # of a vertex by chance
EDGE_BYTES = 128  # of an edge of a subgraph while its batch is put in order, at most


class Traversals:
    """A batch of the instances from number ``first`` on.

    ``sources``: the vertices that they start from [instances, frontier size].
    """

    comes_back = False  # whether entries return to partitions that they have left, at the same depth
    trying = False  # whether entries only look up the edges at ``offset`` of their rows: see collective.py
    offset: Array
    edge_bytes = EDGE_BYTES  # of an edge while a batch is put in order, at most

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        self.backend, self.first, self.algorithm, self.rule = backend, first, backend.algorithm, backend.rule
        xp = self.xp = backend.xp
        self.instances, width = sources.shape
        self.sizes: Sequence[int] = (
            Unending(backend.plan.sizes) if backend.traversal.is_unlimited else backend.plan.sizes
        )
        self.hops = isinstance(backend.plan.drawn_layout, Hops)
        self.dtype = np.dtype(backend.store.id_dtype)
        self.none = self.dtype.type(np.iinfo(self.dtype).max)  # all ones: no vertex
        self.sources = xp.asarray(sources, np.int64)
        self.sampled: list[tuple[Array, ...]] = []  # for each depth: instance, src, dst
        self.tables = [self.sources.astype(self.dtype)]
        self.slots = xp.full(self.instances, width, np.int64)  # the next free slot of each instance
        self.visits = Visits(xp, backend.store.vertices, self.sources)
        self.samples: dict[str, Array] = {}  # once all is done
        self.depth, self.dead, self.found_edges = -1, 0, 0
        local = xp.repeat(xp.arange(self.instances), width)
        slot = xp.tile(xp.arange(width, dtype=np.int64), self.instances)
        self.waiting = FrontierPool(backend, first, self.sources, self.rule.waiting) if self.rule.waiting else None
        self._enter(*self._expanding(local, slot, self.sources.ravel(), xp.full(local.size, -1, np.int64)))

    def _expanding(self, *entries: Array) -> tuple[Array, ...]:
        """The entries that expand at the next depth: these, or those that are selected once these are in the pool."""
        return entries if self.waiting is None else self.waiting.select(self.depth + 1, *entries)

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with these frontier entries."""
        self.depth += 1
        self._hold(local, slot, vertex, previous)
        self.pending = self.xp.zeros(0, np.int64)
        if self.depth >= len(self.sizes):
            return
        size = self.sizes[self.depth]
        self._reserve(self._capacities(size))
        if size != 0:
            self.dead += self._without_edges()

    def _without_edges(self) -> int:
        """How many of the entries are vertices without edges."""
        return set_count(self.xp, (self.vertex >= 0) & (self.degree == 0))

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Make these the entries for which neighbors are selected."""
        self.local, self.slot, self.vertex, self.previous = local, slot, vertex, previous
        self.instance = local + self.first
        self.seen, self.seen_from, self.seen_to = self.visits.seen, self.visits.ptr[local], self.visits.ptr[local + 1]
        self.source = self.sources[local, 0]
        self.degree = self.xp.where(vertex >= 0, self.backend.graph.degrees(vertex), 0)

    def _reserve(self, capacity: Array) -> None:
        """Give every entry room for ``capacity`` neighbors: a number for each entry."""
        xp, self.capacity = self.xp, capacity
        if self.hops:
            self.start, total = self._places_in_hop(self.sizes[self.depth])
        else:
            upto = xp.cumsum(capacity)
            self.start = upto - capacity
            total = int(upto[-1]) if upto.size else 0
            held = sum(local.size for local, *_ in self.sampled) + (self.waiting.size if self.waiting else 0)
            self.backend.claim(self.edge_bytes * (total + held))
        self.out = xp.full(total, self.none, self.dtype)
        self.edge = xp.empty(total if self.backend.places else 0, np.int64)  # number of the edge to each neighbor
        self.keys = xp.empty(total if self.backend.select is Method.KEYS else 0, np.float64)
        self.found = xp.zeros(capacity.size, np.int64)
        self.pending = xp.flatnonzero(capacity)
        if self.backend.streamed:
            self.backend.partitions.leave()  # reading in place may suit one depth and not the next

    def _places_in_hop(self, size: int) -> tuple[Array, int]:
        """Where the cells of each entry begin in the table of a hop, and how many it has."""
        return self.xp.arange(self.vertex.size, dtype=np.int64) * size, self.vertex.size * size

    def _capacities(self, size: int) -> Array:
        """The largest number of neighbors that each entry can add."""
        if size < 0 and not self.rule.coins:
            return self.degree
        if self.rule.together:
            size = self.backend.candidates(size)
        wanted = self.xp.full(self.vertex.size, size, np.int64)
        if self.rule.coins:
            most = self.xp.full(self.vertex.size, MOST_PICKS) if self.rule.replace else self.degree
            wanted = self.backend.geometric_sizes(self.instance, self.slot, most)
            if self.rule.replace and any_set(wanted == MOST_PICKS):
                raise OptionError(
                    f"{self.algorithm.name()}.geometric with replacement asks for {MOST_PICKS:,} neighbors of a "
                    "vertex; expected fewer: lower the probability"
                )
        if self.rule.replace:
            return self.xp.where(self.degree > 0, wanted, 0)
        return self.xp.minimum(wanted, self.degree)

    def wants(self) -> np.ndarray:
        """Partitions that entries wait for: see schedule/schedule.py."""
        return crowds(self.xp, self.backend.partitions, self.needs())

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading the needed rows in place, as bytes that are copied in the same time: of this step and of the
        rest of the batch, of which only this depth is known.
        """
        entries = self.pending
        picks, edges = int(self.capacity[entries].sum()), int(self.degree[entries].sum())
        return (self.backend.bytes_in_place(entries.size, picks, edges),) * 2

    def needs(self) -> tuple[Array, ...]:
        """Return the vertex whose row each pending entry needs.

        For second-order biases there is a second array with the previous vertex, whose row it needs too.
        """
        here = self.vertex[self.pending]
        if not self.backend.needs.second_order:
            return (here,)
        previous = self.previous[self.pending]
        return here, self.xp.where(previous < 0, here, previous)

    def _ready(self) -> Array:
        """Take the pending entries whose rows are loaded; the others stay pending."""
        if not self.backend.streamed:
            ready, self.pending = self.pending, self.pending[:0]
            return ready
        readable = [self.backend.partitions.can_read(vertices) for vertices in self.needs()]
        mask = readable[0] & readable[-1]
        ready, self.pending = self.pending[mask], self.pending[~mask]
        return ready

    def advance(self) -> None:
        """Select for every entry whose row is loaded; at the end of a depth, go on to the next."""
        while self.depth < len(self.sizes):
            if self._is_over():
                self.depth = len(self.sizes)
                break
            self._select(self._ready())
            if self.pending.size:
                return
            self._next_depth()
        if not self.samples:
            self.samples = self._samples()
            self._drop()

    def _is_over(self) -> bool:
        """Whether no entry is left to go on from."""
        return not self.vertex.size and not self.hops

    def _drop(self) -> None:
        """Give back the host memory of all but the samples. That of a GPU lasts until its kernels have ended."""
        if self.hops or self.xp is not np:
            return
        self.found_edges, self.sampled, nothing = self.edges(), [], np.zeros(0, np.int64)
        self.out = self.edge = self.keys = self.found = self.start = self.capacity = self.visits.seen = nothing
        self._hold(nothing, nothing, nothing, nothing)
        self.waiting = None

    def _select(self, entries: Array) -> None:
        """Select neighbors of these entries."""
        self.backend.select_neighbors(self, entries)

    def _next_depth(self) -> None:
        """Put the edges that were found in order, and make the next frontier of them."""
        if self.hops:
            return self._next_hop()
        entry, cell = self._found_cells()
        if self.rule.together and self.sizes[self.depth] >= 0:
            entry, cell = self._smallest_keys(entry, cell)
        dst = self.out[cell].astype(np.int64)
        return self._settle(self.local[entry], self.previous[entry], self._vertices_of(entry), dst)

    def _vertices_of(self, entry: Array) -> Array:
        """The vertices that the edges of these entries, which are kept, begin at."""
        return self.vertex[entry]

    def _found_cells(self) -> tuple[Array, Array]:
        """The entry and the cell of each neighbor that was found, in order."""
        xp = self.xp
        entry = xp.repeat(xp.arange(self.vertex.size), self.found)
        order = xp.arange(entry.size) - xp.repeat(xp.cumsum(self.found) - self.found, self.found)
        return entry, self.start[entry] + order

    def _settle(self, local: Array, previous: Array, src: Array, dst: Array) -> None:
        """Keep these edges, in order of instance, as the sample of this depth, and go on to the next.

        ``previous``: the vertices before ``src`` on the paths of their instances; -1: none.
        """
        xp = self.xp
        self.sampled.append((local, src, dst))
        if self.depth + 1 == len(self.sizes):
            self.depth += 1
            return None
        slot = self._new_slots(local)
        if self.backend.others["update"] is not None:
            source = self.sources[local, 0]
            then = self.backend.update_frontier(self.depth, local + self.first, slot, source, previous, src, dst)
            local, slot, src, dst = (array[then >= 0] for array in (local, slot, src, then))
        keep = xp.arange(dst.size)
        if self.rule.once:  # what edges lead to is new, unless they may lead back or update goes elsewhere
            are_new = self.rule.only_new and not self.backend.others["update"]
            keep = self.visits.first(local, dst, are_new)
        entries = self._expanding(local[keep], slot[keep], dst[keep], src[keep])
        if self.rule.total is not None:
            under = xp.flatnonzero(self.visits.counts(entries[0]) < self.rule.total)
            entries = tuple(array[under] for array in entries)
        return self._enter(*entries)

    def _next_hop(self) -> None:
        xp, size = self.xp, self.sizes[self.depth]
        width = self.tables[-1].shape[1] * size
        self.tables.append(self.out.reshape(self.instances, width))
        if self.depth + 1 == len(self.sizes):
            self.depth += 1
            return None
        parent, vertex = (xp.where(t == self.none, -1, t.astype(np.int64)).ravel() for t in self.tables[-2:])
        first = sum(t.shape[1] for t in self.tables[:-1])
        slot = xp.tile(xp.arange(first, first + width, dtype=np.int64), self.instances)
        previous = xp.repeat(parent, size)
        return self._enter(xp.repeat(xp.arange(self.instances), width), slot, vertex, previous)

    def _smallest_keys(self, entry: Array, cell: Array) -> tuple[Array, Array]:
        """Return the neighbors with the smallest keys of all pools of an instance together.

        Equal keys are in order of entry and neighbor.
        """
        xp = self.xp
        order = xp.lexsort((self.out[cell], entry, self.keys[cell], self.local[entry]))
        entry, cell = entry[order], cell[order]
        local = self.local[entry]
        keep = xp.arange(local.size) - begins(xp, local, self.instances)[local] < self.sizes[self.depth]
        return entry[keep], cell[keep]

    def _new_slots(self, local: Array) -> Array:
        """The slots of newly sampled vertices, in order. ``local``: the instance of each within the batch, sorted."""
        xp = self.xp
        count = xp.bincount(local, minlength=self.instances)
        slot = xp.arange(local.size) - xp.repeat(xp.cumsum(count) - count, count) + self.slots[local]
        self.slots += count
        return slot

    def _samples(self) -> dict[str, Array]:
        """The arrays of a sample store, in order of instance."""
        if self.hops:
            return {f"hop_{i}": table for i, table in enumerate(self.tables)}
        xp, kept = self.xp, self.sources[:, :0] if self.rule.everywhere else self.sources
        sampled = self.sampled or [(xp.zeros(0, np.int64),) * 3]
        local, src, dst = (xp.concatenate([s[i] for s in sampled]) for i in range(3))
        depth = xp.concatenate([xp.full(s[0].size, depth, np.int64) for depth, s in enumerate(sampled)])
        order = xp.argsort(local, kind="stable")
        return {
            "counts": counts(xp, local[order], self.instances),
            "src": src[order].astype(self.dtype),
            "dst": dst[order].astype(self.dtype),
            "depth": depth[order],
            "source_counts": xp.full(self.instances, kept.shape[1], np.int64),
            "sources": kept.ravel().astype(self.dtype),
        }

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self._of(rows))

    def stored(self, rows: slice, identifiers: Identifiers) -> GroupArrays | None:
        """Copy them as a sample store has them; None where the host has to convert ids."""
        return self.backend.as_stored(self._of(rows), identifiers)

    def _of(self, rows: slice) -> dict[str, Array]:
        return {name: table[rows] for name, table in self.samples.items()} if self.hops else self.samples

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        if self.hops:
            return sum(set_count(self.xp, table != self.none) for table in self.tables[1:])
        return self.found_edges + sum(s[0].size for s in self.sampled)

    def dead_ends(self) -> int:
        return self.dead


# The vertices of a batch that wait, and the selection of those that expand at a depth (C-SAW, figure 2).
#
# An entry is a vertex that has entered the pool of its instance: (instance, slot, vertex, previous vertex). Entries
# are kept in order of (instance, slot), which no schedule changes. An entry that is selected twice, with replacement,
# expands twice: the second time at a slot of its own, counted from the last slot down, so that it draws other
# neighbors.

LAST_SLOT = int(SOURCE_SLOT) - 1
MOST_DEPTHS = 1 << 28  # in which entries have keys of their own
Entries = tuple[Array, ...]


class FrontierPool:
    """The pools of the instances from number ``first`` on, with these ``sources`` [instances, pool size]."""

    def __init__(self, backend: Backend, first: int, sources: Array, rule: Waiting) -> None:
        self.backend, self.xp, self.first, self.sources, self.rule = backend, backend.xp, first, sources, rule
        self.instances = len(sources)
        self.waiting: Entries = (self.xp.zeros(0, np.int64),) * 4
        self.repeated = self.xp.zeros(self.instances, np.int64)  # expansions of each instance beyond one of an entry

    @property
    def size(self) -> int:
        """Number of entries that wait."""
        return int(self.waiting[0].size)

    def select(self, depth: int, *arriving: Array) -> Entries:
        """Let entries in, and take out those that expand at this depth: local instance, slot, vertex, previous vertex.

        Pools of which none can be selected are emptied: their instances have ended.
        """
        xp = self.xp
        pool = [xp.concatenate(both) for both in zip(self.waiting, arriving, strict=True)]
        order = xp.argsort(pool[0], kind="stable")
        local, slot, vertex, previous = pool = [array[order] for array in pool]
        chosen = (self._drawn if self.rule.replace else self._earliest)(depth, self.rule.expanding, pool)
        going = xp.zeros(self.instances, bool)
        going[local[chosen]] = True
        left = going[local]
        left[chosen] = False
        rest = xp.flatnonzero(left)
        self.waiting = tuple(array[rest] for array in pool)
        slots = self._slots(local[chosen], slot[chosen], chosen) if self.rule.replace else slot[chosen]
        return local[chosen], slots, vertex[chosen], previous[chosen]

    def _earliest(self, depth: int, size: int, pool: list[Array]) -> Array:
        """Numbers of the ``size`` entries of each pool that arrive first, in order."""
        xp, (local, slot, vertex, previous) = self.xp, pool
        if depth >= MOST_DEPTHS:
            raise BudgetError(f"{self.backend.algorithm.name()} has {depth:,} depths, more than a pool supports")
        source = self.sources[local, 0]
        times = self.backend.race_pool(depth, local + self.first, slot, source, previous, vertex)
        able = xp.flatnonzero(times >= 0)
        able = able[xp.lexsort((able, times[able], local[able]))]
        owner = local[able]
        return xp.sort(able[xp.arange(able.size) - begins(xp, owner, self.instances)[owner] < size])

    def _drawn(self, depth: int, size: int, pool: list[Array]) -> Array:
        """Numbers of ``size`` entries drawn from each pool with replacement, in order, each as often as it is drawn."""
        xp, (local, _, vertex, previous) = self.xp, pool
        bounds, source = begins(xp, local, self.instances), self.sources[local, 0]
        picks = self.backend.draw_pool(depth, size, bounds, local + self.first, source, previous, vertex).ravel()
        return xp.sort(picks[xp.flatnonzero(picks >= 0)])

    def _slots(self, local: Array, slot: Array, chosen: Array) -> Array:
        """The slot at which each chosen entry expands: its own the first time."""
        xp = self.xp
        again = xp.flatnonzero(~fresh(xp, chosen))
        owner = local[again]
        number = xp.arange(again.size) - begins(xp, owner, self.instances)[owner]
        slot[again] = LAST_SLOT - self.repeated[owner] - number
        self.repeated += xp.bincount(owner, minlength=self.instances)
        return slot


# The vertices that each instance of a batch has met.


class Visits:
    """The vertices met so far, at first the ``sources`` [instances, frontier size]. ``xp``: NumPy or CuPy.

    Those of instance i are seen[ptr[i]] .. seen[ptr[i + 1] - 1], ascending.
    """

    def __init__(self, xp: ModuleType, vertices: int, sources: Array) -> None:
        self.xp, self.vertices = xp, vertices
        self.instances, width = sources.shape
        self.seen = xp.sort(sources, axis=1).ravel()
        self.ptr = xp.arange(self.instances + 1, dtype=np.int64) * width

    def counts(self, local: Array) -> Array:
        """How many vertices these instances have met."""
        return self.xp.diff(self.ptr)[local]

    def first(self, local: Array, dst: Array, are_new: bool) -> Array:
        """Numbers of the vertices ``dst`` that are new to their instances ``local``, of equal ones the first; they are
        met from now on.

        ``are_new``: whether nothing met before is among them.
        """
        xp = self.xp
        key = local * self.vertices + dst  # below 2^63: instances in flight hold a vertex each, at least
        order = xp.argsort(key, kind="stable")
        new = order[fresh(xp, key[order])]
        owner = xp.repeat(xp.arange(self.instances), xp.diff(self.ptr))
        known = owner * self.vertices + self.seen
        if not are_new:
            new = new[~xp.isin(key[new], known)]
        seen = xp.sort(xp.concatenate([known, key[new]]))
        self.seen = seen % self.vertices
        self.ptr[1:] += xp.cumsum(xp.bincount(local[new], minlength=self.instances))
        return xp.sort(new)
