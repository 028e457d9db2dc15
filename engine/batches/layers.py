"""A batch of samples of layers: at each depth, every instance draws vertices, and keeps the edges from its frontier to
them.

The chance of a vertex is the sum of the biases of edges to it: of those from the frontier (LADIES), or of all edges
(FastGCN, see IncomingBias). The bias of an edge is its squared entry in the matrix of which the layers are a
sample, so that these are squared norms of columns.

Of a depth at which n vertices were drawn, u with probability q(u), an edge v -> u whose bias is b has the weight
sqrt(b) c(u) / (n q(u)), where c(u) is the number of draws that gave u. So the sum of weight times x[u] over the edges
of v estimates that of entry times x[u] over all of its neighbors, and without bias if draws are with replacement. In
place of q(u), sums that are integers are compared, and the weights are of the chances by which vertices were in fact
drawn.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace as replaced
from types import ModuleType
from typing import NamedTuple

import numpy as np

from csaw.engine.batches.integer_sums import (
    BITS,
    LEAST_BITS,
    REST_BITS,
    finer,
    lightness,
    scaled,
    shifts,
    too_light,
)
from csaw.engine.batches.traversals import Traversals, begins, counts, distinct, fresh, in_pieces
from csaw.engine.plan.contracts import Array, IncomingBias
from csaw.engine.plan.footprint import LISTED_EDGES, RANGE
from csaw.engine.schedule.backend import Backend
from csaw.partition.base.flags import any_set
from csaw.partition.errors import BiasError

# The edges from the frontiers of a depth of layers: which vertices they lead to, with what chances, and which of them
# lead to those that were drawn.


# A batch of samples of layers.


@dataclass(frozen=True)
class Layer:
    """The vertices that were drawn at a depth, in order of instance and draw, with the chance of each in a draw."""

    local: Array
    vertex: Array
    probability: Array
    candidate: Array | None = None  # the number of each among the candidates, where they are of a frontier


@dataclass(frozen=True)
class Candidates:
    """The vertices that each instance may draw, in order of instance and vertex.

    Each has an integer in proportion to its chance.
    """

    local: Array
    vertex: Array
    upto: Array  # running sums of the integers; they overflow, and their differences within an instance are right
    sums: Array
    begin: Array  # int64 [instances + 1]: the first candidate of each instance
    total: Array  # int64 [instances]: the sum over each instance
    rates: Array | None = None  # float64: chances in the scale of the sums where these are not accurate enough


class Kept(NamedTuple):
    """Edges to vertices of a layer, in order: arrays [n].

    ``draw``: a draw of the layer that gave the vertex; ``times``: how many did.
    """

    local: Array
    src: Array
    dst: Array
    bias: Array
    draw: Array
    times: Array


class LayerEdges:
    """The edges of the rows of a batch's frontier whose biases are above 0."""

    def __init__(self, batch: Traversals) -> None:
        self.batch, self.backend, self.xp = batch, batch.backend, batch.xp
        self.instances, self.vertices = batch.instances, batch.backend.store.vertices
        xp = self.xp
        cell = xp.flatnonzero(batch.keys > 0.0)
        entry = xp.repeat(xp.arange(batch.capacity.size), batch.capacity)[cell]
        self._hold(entry, cell)

    def _hold(self, entry: Array, cell: Array) -> None:
        """Make these the edges.

        ``entry``: numbers of the vertices of the frontier that they begin at; ``cell``: their places in the batch's
        arrays.
        """
        batch = self.batch
        self.local, self.src = batch.local[entry], batch.vertex[entry]
        self.dst, self.bias = batch.out[cell].astype(np.int64), batch.keys[cell]

    def candidates(self) -> Candidates:
        """Return the vertices that the edges lead to, with the sums of the edges' biases.

        The sums are integers of a scale for each instance.
        """
        replace = self.batch.rule.replace
        owner, vertex, sums, light = self._sums()
        pools = self._pools(owner, vertex, sums)
        coarse = too_light(light, pools.total, replace)
        if not any_set(coarse):
            return pools
        at = self.xp.flatnonzero(coarse[owner])
        found, units, rate = finer(self.xp, *self._of(coarse), self.instances, self.vertices)
        assert found.size == at.size
        sums[at] = units
        rates = None if replace else sums.astype(np.float64)
        if rates is not None:
            rates[at] = rate
        return replaced(self._pools(owner, vertex, sums), rates=rates)

    def _pools(self, owner: Array, vertex: Array, sums: Array) -> Candidates:
        xp, upto = self.xp, self.xp.cumsum(sums)
        begin = begins(xp, owner, self.instances)
        ends = xp.concatenate([xp.zeros(1, np.int64), upto])[begin]
        return Candidates(owner, vertex, upto, sums, begin, xp.diff(ends))

    def _of(self, some: Array) -> tuple[Array, Array, Array]:
        """The edges of ``some`` instances, bool of each: their instances, their ends and their biases."""
        at = self.xp.flatnonzero(some[self.local])
        return self.local[at], self.dst[at], self.bias[at]

    def _sums(self) -> tuple[Array, Array, Array, Array]:
        """int64 [n]: the instances, in order; the different vertices of each, in order; and the sums of the biases of
        edges to them, as integers; then int64 [instances]: the sums of the lightness of these biases.
        """
        xp = self.xp
        largest = xp.zeros(self.instances, np.float64)
        xp.maximum.at(largest, self.local, self.bias)
        units = scaled(xp, self.bias, shifts(xp, largest, counts(xp, self.local, self.instances))[self.local])
        light = xp.append(xp.zeros(1, np.int64), xp.cumsum(lightness(units)))
        light = xp.diff(light[begins(xp, self.local, self.instances)])
        key = self.local * self.vertices + self.dst
        order = xp.argsort(key, kind="stable")
        key, upto = key[order], xp.cumsum(units[order])
        last = xp.flatnonzero(xp.concatenate([key[1:] != key[:-1], xp.ones(min(key.size, 1), bool)]))
        key, upto = key[last], upto[last]
        sums = xp.diff(xp.concatenate([xp.zeros(1, np.int64), upto]))
        return key // self.vertices, key % self.vertices, sums, light

    def to(self, layer: Layer) -> Kept:
        """The edges that lead to vertices of the layer."""
        kept, draw, times = self._matched(layer)
        return Kept(self.local[kept], self.src[kept], self.dst[kept], self.bias[kept], draw, times)

    def _matched(self, layer: Layer) -> tuple[Array, Array, Array]:
        """int64 [n]: the edges that lead to vertices of the layer, in order; the first draw that gave each of these
        vertices; and how many did.
        """
        xp = self.xp
        drawn = layer.local * self.vertices + layer.vertex
        order = xp.argsort(drawn, kind="stable")
        begin = xp.flatnonzero(fresh(xp, drawn[order]))
        drawn, times = drawn[order[begin]], xp.diff(xp.append(begin, order.size))
        wanted = self.local * self.vertices + self.dst
        at = xp.searchsorted(drawn, wanted)
        kept = xp.flatnonzero(xp.append(drawn, -1)[at] == wanted)
        at = at[kept]
        return kept, order[begin[at]], times[at]


# For each vertex of the graph, the sum of the biases of all edges to it: what layers of vertices of the whole graph
# are drawn by.
#
# Biases become integers of one scale, that of the largest, so that the sums are the same in any order. So there are
# two passes over the graph: one finds the largest bias, and one adds. If biases are so far apart that the rounding of
# light ones could be seen, a third adds them again in the smallest units that the sum allows for, and what is left of
# each beside its units, too. A pass goes from range to range of vertices, whose rows a streamed graph brings as for
# any frontier.


class Columns:
    """Sums in the making, of the rows of ``pending`` vertices next."""

    def __init__(self, backend: Backend) -> None:
        self.backend, self.xp = backend, backend.xp
        self.vertices, self.dtype = backend.store.vertices, np.dtype(backend.store.id_dtype)
        self.largest, self.least, self.shift, self.light = 0.0, float("inf"), 0, 0
        self.adding, self.done = False, False
        self.sums = self.xp.zeros(self.vertices, np.int64)
        self.rest: Array | None = None  # in the third pass: what is left of biases, in 2^-REST_BITS of a unit
        self._begin(0)

    def _begin(self, first: int) -> None:
        self.first = first
        self.pending = self.xp.arange(first, min(first + RANGE, self.vertices))

    def advance(self) -> IncomingBias | None:
        """Add up the rows that can be read; the sums once there are no more."""
        while not self.done:
            for vertices, degree in self._pieces(self._ready()):
                self._weigh(vertices, degree)
            if self.pending.size:
                return None
            self._next()
        xp, sums, rest = self.xp, self.sums, self.rest
        if rest is None:
            return IncomingBias(sums, xp.cumsum(sums))
        for one in (sums, rest):  # in place, as plans allow for two arrays
            xp.cumsum(one, out=one)
        rest >>= REST_BITS
        sums += rest
        rest[:1] = sums[:1]
        xp.subtract(sums[1:], sums[:-1], out=rest[1:])
        return IncomingBias(rest, sums)

    def _ready(self) -> Array:
        ready = self.pending
        if not self.backend.streamed:
            self.pending = ready[:0]
            return ready
        mask = self.backend.partitions.can_read(ready)
        self.pending = ready[~mask]
        return ready[mask]

    def _pieces(self, vertices: Array) -> Iterator[tuple[Array, Array]]:
        """Vertices with their degrees, so few at a time that their edges fit the memory."""
        degree = self.backend.graph.degrees(vertices)
        for some in in_pieces(self.xp, degree, LISTED_EDGES):
            yield vertices[some], degree[some]

    def _weigh(self, vertices: Array, degree: Array) -> None:
        xp, upto = self.xp, self.xp.cumsum(degree)
        total = int(upto[-1])
        out, biases = xp.empty(total, self.dtype), xp.empty(total, np.float64)
        self.backend.weigh_rows(vertices, upto - degree, xp.flatnonzero(degree), out, biases)
        if not self.adding:
            if total:
                self.largest = max(self.largest, float(biases.max()))
                self.least = min(self.least, float(xp.where(biases > 0.0, biases, np.inf).min()))
            return
        if self.rest is not None:
            value = xp.ldexp(biases, xp.asarray(self.shift, np.int32))
            biases[value < 1.0] = 0.0  # of which there is no unit
            value -= xp.floor(value)
            self.backend.add_scaled(self.rest, out, value, REST_BITS)
        elif math.ldexp(self.least, self.shift) < 2 << LEAST_BITS:
            self.light += int(lightness(scaled(xp, biases, self.shift)).sum())
        self.backend.add_scaled(self.sums, out, biases, self.shift)

    def _next(self) -> None:
        """Go on with the next range, the next pass, or to the end."""
        if self.first + RANGE < self.vertices:
            return self._begin(self.first + RANGE)
        if self.adding and self.rest is None:
            total = int(self.sums.sum())
            if too_light(np.array([self.light]), np.array([total]), True).any():
                self.shift += BITS - (total + self.backend.store.edges).bit_length()
                self.sums, self.rest = self.xp.zeros_like(self.sums), self.xp.zeros_like(self.sums)
                return self._begin(0)
        if self.adding or self.largest == 0.0:
            self.done = True
            return None
        self.adding = True
        [self.shift] = shifts(np, np.array([self.largest]), np.array([self.backend.store.edges])).tolist()
        return self._begin(0)


SPARE = 1.5  # candidates that are looked at for each that is drawn without replacement
LARGEST = float(np.finfo(np.float32).max)  # weight of an edge in a sample
LATER = 4.0  # times as late as before, where they were too few


def early(xp: ModuleType, pool: Array, times: Array, count: Array, size: Array | int, total: Array) -> Array:
    """The numbers of a few members of pools, in order, with the ``size`` that come first in each pool among them: those
    before a time, which is later where they are too few.

    ``pool`` [n]: the pool of each member, in order; ``times`` [n]: when it comes. ``count``, ``total`` [pools]: the
    members of each, and the sum of their rates.
    """
    # Of members whose rates add up to ``total``, at most t * total come before time t, on the average.
    until, later = xp.where(count > size, SPARE * size / total, np.inf), LATER
    while True:
        found: np.ndarray = xp.flatnonzero(times <= until[pool])
        few = counts(xp, pool[found], count.size) < xp.minimum(count, size)
        if not any_set(few):
            return found
        until, later = xp.where(few, later * until, until), later * later  # the heaviest may outweigh all others far


class Layers(Traversals):
    """A batch of the instances from number ``first`` on.

    ``sources``: the vertices that they start from [instances, frontier size].
    """

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        self.layers: list[Layer] = []
        self.columns: Columns | None = None  # while the sums that layers are drawn by are made
        if backend.needs.columns and backend.incoming_bias is None:
            self.columns = Columns(backend)
        super().__init__(backend, first, sources[:, :0] if backend.rule.everywhere else sources)

    # Waiting

    def advance(self) -> None:
        if self.columns is not None:
            found = self.columns.advance()
            if found is None:
                return
            self.backend.incoming_bias, self.columns = found, None
        super().advance()

    def needs(self) -> tuple[Array, ...]:
        if self.columns is not None:
            return (self.columns.pending,)
        return super().needs()

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        [vertices] = self.needs()
        edges = int(self.backend.graph.degrees(vertices).sum())
        return (self.backend.bytes_in_place(vertices.size, edges, edges),) * 2

    # Drawing

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with the frontier of these vertices, each once."""
        local, vertex = distinct(self.xp, local, vertex, self.backend.store.vertices)
        super()._enter(local, self.xp.zeros(local.size, np.int64), vertex, self.xp.full(local.size, -1, np.int64))

    def _is_over(self) -> bool:
        return False  # vertices of the whole graph are drawn without a frontier, too

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        self.local, self.vertex = local, vertex
        self.degree = self.backend.graph.degrees(vertex)

    def _without_edges(self) -> int:
        return int(self.vertex.size - self.pending.size)  # all others wait for their rows

    def _capacities(self, size: int) -> Array:
        return self.degree if size else self.xp.zeros_like(self.degree)

    def _reserve(self, capacity: Array) -> None:
        super()._reserve(capacity)
        self.keys = self.xp.empty(self.out.size, np.float64)

    def _select(self, entries: Array) -> None:
        self.backend.weigh_rows(self.vertex, self.start, entries, self.out, self.keys)

    def _next_depth(self) -> None:
        xp = self.xp
        edges = self._edges_to_layers()
        incoming = self.backend.incoming_bias
        layer = self._from_candidates(edges.candidates()) if incoming is None else self._from_graph(incoming)
        self.layers.append(layer)
        self._keep(edges.to(layer), layer)
        none = xp.zeros(layer.local.size, np.int64)
        self._enter(layer.local, none, layer.vertex, none)

    def _edges_to_layers(self) -> LayerEdges:
        """The edges from the frontier."""
        return LayerEdges(self)

    def _from_graph(self, incoming: IncomingBias) -> Layer:
        """Draw vertices of the whole graph, each instance as many as the depth asks for."""
        xp, upto = self.xp, incoming.upto
        total = int(upto[-1]) if upto.size else 0
        live = xp.arange(self.instances if total else 0)
        target = self._numbers(live, xp.full(live.size, total, np.int64))
        vertex = xp.searchsorted(upto, target.ravel(), side="right")
        local = xp.repeat(live, target.shape[1])
        return Layer(local, vertex, incoming.sums[vertex].astype(np.float64) / float(total))

    def _from_candidates(self, pools: Candidates) -> Layer:
        """Draw neighbors of the frontier."""
        if self.rule.replace:
            live = self.xp.flatnonzero(pools.total)
            index = self._find(pools, live, self._numbers(live, pools.total[live])).ravel()
        else:
            index = self._earliest(pools)
        owner = pools.local[index]
        return Layer(owner, pools.vertex[index], self._chances(pools, index, owner), index)

    def _chances(self, pools: Candidates, index: Array, owner: Array) -> Array:
        """float64 [n]: the chance in a draw of the candidates ``index`` of the instances ``owner``."""
        given = pools.sums if pools.rates is None else pools.rates
        found: np.ndarray = given[index].astype(np.float64) / pools.total[owner].astype(np.float64)
        return found

    def _find(self, pools: Candidates, live: Array, target: Array) -> Array:
        """The candidate of instance live[i] whose share of the sums has target[i, j]."""
        xp, first = self.xp, pools.begin[live]
        low, high = (xp.broadcast_to(end[:, None], target.shape).copy() for end in (first, pools.begin[live + 1] - 1))
        before = (pools.upto[first] - pools.sums[first])[:, None]
        for _ in range(int(xp.diff(pools.begin).max()).bit_length() if live.size else 0):
            middle = (low + high) >> 1
            beyond = pools.upto[middle] - before > target
            low, high = xp.where(beyond, low, middle + 1), xp.where(beyond, middle, high)
        return low

    def _numbers(self, live: Array, bound: Array) -> Array:
        """int64 [n, size of the layer]: independent random numbers below ``bound`` of the instances ``live``."""
        slot = self.xp.full(live.size, self.depth, np.int64)
        return self.backend.draw_numbers(live + self.first, slot, bound, self.sizes[self.depth])

    def _earliest(self, pools: Candidates) -> Array:
        """The candidates that come first in each instance, at exponential times: successive
        draws without replacement.
        """
        xp, local = self.xp, pools.local
        number = xp.arange(local.size) - pools.begin[local]
        slot = xp.full(local.size, self.depth, np.int64)
        times = self.backend.race_numbers(
            local + self.first, slot, number, pools.sums if pools.rates is None else pools.rates
        )
        few = self._early(pools, times)
        order = few[xp.lexsort((times[few], local[few]))]  # of equal times, the lower number
        owner = local[order]
        return order[xp.arange(order.size) - begins(xp, owner, self.instances)[owner] < self.sizes[self.depth]]

    def _early(self, pools: Candidates, times: Array) -> Array:
        """A few candidates, in order, with those that come first in each instance among them."""
        total = self.xp.maximum(pools.total, 1).astype(np.float64)
        return early(self.xp, pools.local, times, self.xp.diff(pools.begin), self.sizes[self.depth], total)

    def _keep(self, kept: Kept, layer: Layer) -> None:
        """Keep the edges to vertices of the layer, with their weights."""
        drawn = counts(self.xp, layer.local, self.instances)
        weight, beyond = self._weights(kept, layer, drawn)
        if beyond is not None:
            one = Kept(*(column[beyond : beyond + 1] for column in kept))
            found = math.sqrt(float(one.bias[0])) * int(one.times[0])
            found /= int(drawn[one.local][0]) * float(layer.probability[one.draw][0])
            raise BiasError(
                f"the weight in the sample of edge {int(one.src[0])} -> {int(one.dst[0])} (dense ids) is {found:.3g}; "
                f"expected at most {LARGEST:.3g}, the largest number of 32 bits: scale the weights of the graph down"
            )
        self.sampled.append((kept.local, kept.src, kept.dst, weight))

    def _weights(self, kept: Kept, layer: Layer, drawn: Array) -> tuple[Array, int | None]:
        """float32 [n]: the weights of kept edges; and the number of the first that is beyond LARGEST, or None.

        ``drawn``: how many vertices each instance has drawn.
        """
        share = drawn[kept.local].astype(np.float64) * layer.probability[kept.draw]
        weight = np.sqrt(kept.bias) * kept.times.astype(np.float64) / share
        beyond = np.flatnonzero(weight > LARGEST)
        return (weight, int(beyond[0])) if beyond.size else (weight.astype(np.float32), None)

    def edges(self) -> int:
        if self.rule.everywhere:  # no frontier: the vertices are the sample
            return 0
        return super().edges()

    def _samples(self) -> dict[str, Array]:
        """The arrays of a sample store, in order of instance."""
        xp = self.xp
        arrays = super()._samples()
        local, weight = (xp.concatenate([s[i] for s in self.sampled] or [xp.zeros(0, np.float32)]) for i in (0, 3))
        owner, vertex, chance = (
            xp.concatenate([getattr(one, name) for one in self.layers] or [xp.zeros(0, np.int64)])
            for name in ("local", "vertex", "probability")
        )
        layer = xp.concatenate(
            [xp.full(one.local.size, number, np.int64) for number, one in enumerate(self.layers, 1)]
            or [xp.zeros(0, np.int64)]
        )
        order = xp.argsort(owner, kind="stable")
        return arrays | {
            "weight": weight[xp.argsort(local, kind="stable")],
            "vertex_counts": counts(xp, owner[order], self.instances),
            "vertices": vertex[order].astype(self.dtype),
            "layer": layer[order],
            "probability": chance.view(np.int64)[order].view(np.float64),  # as a GPU takes other columns
        }
