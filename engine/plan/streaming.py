"""Runs whose graph is streamed: it is cut into pieces, the partitions that are brought into memory, so that memory of
any size has room for some; and the ways to bring rows to the instances that wait for them, what each is expected to
move, and the one that the plan takes.

Estimates are for instances spread evenly over partitions, of which a share ``held`` is in memory and ``away`` is not,
in graphs moved:

partitions  the partition that most instances wait for comes next. It was served longest ago, and walkers have come to
            it since; while it is served they gather elsewhere. So walks of L steps move L away^2 / (1 + away), and
            4 away - away^2 until such queues have formed, but not more than ``away`` a step. Where they ask later
            whether an edge exists, they move ASKING times that. A traversal moves ``away`` for each time that it reads
            rows, of the partitions that have some of them: first those of its sources. Where the rows of a depth cost
            less one by one, it reads them so.
pairs       the two partitions that a second-order step needs come together, for as many instances as wait for both:
            ASKING L away / (2 held).
rows        memory is filled with partitions, if the rows to read cost more than that; other rows are read one by one
            where they are.

A traversal meets a row as often as it has edges, and reads it once at a depth. Degrees d are taken to follow a law of
d^-2.5, by which n entries read n met_row / sqrt(1 + c / pi) edges, where they meet the longest row c times.

The share that is in memory at first is moved once, and no way loads more partitions than there are rows to read. Each
load to a GPU from host memory takes a round of the scheduler, and so does each step of a batch in place. Runs move what
is expected within a factor of 1.5, which a test holds; walks that often stay where they are move less. Traversals
move less, too, where rows one by one cost about as much as partitions. (For walks these
are fits to simulations of 16 and 48 partitions, 4 to 80 steps: docs/contributing/tuning.md.)
"""

from dataclasses import dataclass
from functools import partial
from math import pi, sqrt

import numpy as np

from csaw.engine.api.starts import sources_each
from csaw.engine.api.termination import planned_steps
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import drawn, expanding, loading_seconds, met_row, read_bytes
from csaw.engine.plan.limits import Limits, Request, Shape
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import counted

PARTITIONS, PAIRS, ROWS = "partitions", "pairs", "rows"
# more that second-order walks move, because a walker also waits for a row that tells whether an edge exists: 1.0 to 1.5
# times, by p and q
ASKING = 1.2
TRYING = (
    1.3  # times that picks by number read rows at each depth, and again where an edge is no use: 1.0 to 1.7, by graph
)

SAMPLED_BATCHES, SAMPLED_SOURCES = 8, 1 << 14  # whose partitions are looked up

Strategies = dict[str, Record]


@dataclass(frozen=True)
class Hop:
    """Rows that a batch reads at a time: how many, the edges of those that are not the same, and the share of the graph
    in the partitions that hold them.
    """

    rows: float
    edges: float
    share: float


@dataclass(frozen=True)
class Alone:
    """Rows that are read one by one: their cost, as bytes that are read in order, and their own bytes."""

    cost: float
    read: float

    def times(self, factor: float) -> "Alone":
        return Alone(self.cost * factor, self.read * factor)


def expected_strategies(
    shape: Shape, fitting: int, in_flight: int, kept: int, residency: Residency, in_place: float | None, limits: Limits
) -> Strategies:
    """Estimates of the loads, the bytes and the seconds of each way that suits a run.

    ``fitting``: partitions that are in memory at a time. ``in_flight``: instances of a batch. ``kept``: bytes of an
    edge.
    ``in_place``: cost of reading a row without loading its partition, as bytes copied; None if the run cannot do so.
    """
    parts, slots = max(len(shape.store.partitions), 1), shape.needs.partitions_at_once
    held = min(max(fitting, slots) / parts, 1.0)
    batches, graph = _batches(shape.request, in_flight), shape.store.edges * kept
    hops = _hops(shape, in_flight, batches)
    rows, passes = sum(hop.rows for hop in hops), _passes(shape)
    estimate = partial(_estimate, shape=shape, graph=graph, parts=parts, residency=residency, limits=limits)

    def one_by_one(hop: Hop) -> Alone:
        return _alone_cost(shape, hop, kept, residency, in_place)

    ways = {}
    if slots == 1:
        few = [hop for hop in hops if in_place is not None and one_by_one(hop).cost < hop.share * graph]
        few = [] if shape.by_steps or len(few) == len(hops) else few
        passed = passes * sum(hop.share for hop in hops if hop not in few) / max(len(hops), 1)
        read = [one_by_one(hop) for hop in few]
        ways[PARTITIONS] = held + batches * _alone(shape, passed, 1 - held), [each.times(batches) for each in read]
    if shape.needs.second_order:
        ways[PAIRS] = held + batches * ASKING * passes * (1 - held) / (2 * held), []
    found = {}
    for way, (moved, read) in ways.items():
        loads = min(moved, batches * rows * slots / parts) * parts
        found[way] = estimate(loads, loads, read)
    if in_place is not None:
        each = [one_by_one(hop).times(batches) for hop in hops]
        # What a traversal reads later is not known while it reads: it fills memory for the rows of one hop alone.
        filled = held if sum(one.cost for one in each) > graph * (1 if shape.by_steps else batches * len(hops)) else 0.0
        rounds, read = filled * parts + batches * passes, [one.times(1 - filled) for one in each]
        found[ROWS] = estimate(filled * parts, rounds, read)
    return found


def taken(ways: Strategies) -> Record:
    """The estimate of the quickest way that a run takes, with its name as ``strategy``; empty if there is none.

    Pairs are loaded only where a step needs two.
    """
    possible = {way: each for way, each in ways.items() if way != PAIRS or PARTITIONS not in ways}
    way = min(possible, key=lambda way: possible[way]["seconds"], default="")
    if not way:
        return {}
    each = possible[way]
    return {
        "strategy": way,
        "transfers": each["transfers"],
        "bytes": each["bytes"],
        "loading_seconds": each["seconds"],
    }


def _estimate(
    loads: float,
    rounds: float,
    alone: list[Alone],
    *,
    shape: Shape,
    graph: int,
    parts: int,
    residency: Residency,
    limits: Limits,
) -> Record:
    """``loads``: of partitions, in so many ``rounds`` of the scheduler, which a GPU waits for.

    ``alone``: rows that are read one by one beside them.
    """
    cost, read = sum(each.cost for each in alone), sum(each.read for each in alone)
    moved = loads / parts * graph
    waiting = rounds * limits.rates.round_bytes if residency is Residency.HOST else 0.0
    taking = loading_seconds(moved + cost + waiting, graph, shape, residency, limits)
    return {
        "transfers": round(loads),
        "bytes": round(moved + read),
        "seconds": float(f"{taking:.4g}"),
    }


def _batches(request: Request, in_flight: int) -> int:
    """Batches of a run, each of whole groups where it has room for one."""
    group = request.group_size
    return -(-request.instances // (in_flight // group * group if in_flight > group else in_flight))


def _alone(shape: Shape, passes: float, away: float) -> float:
    """Graphs that so many passes of a batch over its rows move."""
    if not shape.by_steps:
        return passes * away
    in_queues = passes * away * away / (1 + away) + 4 * away - away * away
    return min(in_queues, passes * away) * (ASKING if shape.needs.asks_later else 1.0)


def _passes(shape: Shape) -> float:
    """Times that an instance reads rows, one time after the other."""
    if shape.by_steps:
        return float(planned_steps(shape.algorithm))
    return len(shape.sizes) * (TRYING if shape.needs.in_pools and not shape.needs.everywhere else 1.0)


def _hops(shape: Shape, in_flight: int, batches: int) -> list[Hop]:
    """The hops of a batch; the steps of walks are one hop."""
    store = shape.store
    if shape.by_steps:
        rows = float(in_flight * planned_steps(shape.algorithm))
        return [Hop(rows, rows * met_row(store), 1.0)]
    traversal, hops = shape.traversal, list[Hop]()
    waiting = float(in_flight * sources_each(traversal))
    share, mean = _begun(shape, in_flight, batches), store.edges / max(store.vertices, 1)
    for size in shape.sizes:
        wide = min(expanding(traversal, waiting, in_flight), store.vertices)
        often = wide * store.max_degree / max(store.edges, 1)  # that the longest row is met
        edges = wide * (met_row(store) / sqrt(1 + often / pi) if hops else mean)
        hops.append(Hop(wide, edges, share))
        found = (in_flight if traversal.rule.together else wide) * drawn(shape, size)
        waiting, share = found if traversal.rule.waiting is None else waiting - wide + found, 1.0
    return hops


def _begun(shape: Shape, in_flight: int, batches: int) -> float:
    """The share of the graph's edges in partitions that hold sources of a batch, on average over a few batches."""
    sources, parts = shape.sources, shape.store.partitions
    if not sources.one_after_the_other or not parts:
        return 1.0
    begins, edges = np.array([part.first_vertex for part in parts]), np.array([part.edges for part in parts])
    size, shares = in_flight * sources_each(shape.algorithm), []
    for batch in np.linspace(0, batches - 1, min(batches, SAMPLED_BATCHES)).astype(np.int64).tolist():
        positions = batch * size + np.linspace(0, size - 1, min(size, SAMPLED_SOURCES)).astype(np.int64)
        holding = np.unique(np.searchsorted(begins, sources.at(positions % sources.places), "right") - 1)
        shares.append(edges[holding].sum() / max(edges.sum(), 1))
    return float(np.mean(shares))


def _alone_cost(shape: Shape, hop: Hop, kept: int, residency: Residency, in_place: float | None) -> Alone:
    """The cost of reading the rows of a hop one by one: whole rows from a disk, only the picked entries over the
    bus.
    """
    assert in_place is not None
    if residency.reads_over_bus:
        return Alone(hop.rows * in_place, hop.rows * read_bytes(shape))
    each = kept * (2 if shape.needs.second_order else 1)
    return Alone(hop.rows * (in_place - each * met_row(shape.store)) + hop.edges * each, hop.edges * each)


# Pieces that should fit at once: with fewer, each one that is brought takes the place of one that walkers come back to.
# With MORE_SLOTS, walks move a
# tenth fewer bytes than with SLOTS, but in more loads, which pays for pieces of LARGE_PIECE bytes or more
# (docs/contributing/tuning.md).
SLOTS, MORE_SLOTS, LARGE_PIECE = 4, 6, 16 << 20
MOST_PIECES = 1 << 11  # that a graph is cut into, or so: more would each cost more than their bytes


@dataclass(frozen=True)
class Cut:
    """The numbers that decide the size of pieces.

    edge: bytes of an edge in a piece. scratch: bytes of an edge while the tables of a piece are made, one piece at a
    time.
    together: pieces that a step needs at once. uniform: whether each piece takes the memory of the largest one.
    """

    store: Store
    edge: int
    scratch: int
    together: int
    uniform: bool

    @property
    def least_edges(self) -> int:
        """Edges of the largest piece where pieces are as small as they can be: those of the longest row."""
        return self.largest(self._fewest)

    @property
    def least_bytes(self) -> int:
        """Least memory for pieces."""
        return self._bytes(self.least_edges, self.together)

    @property
    def least(self) -> dict[str, int]:
        """The least memory for pieces, by what it holds in words."""
        row = ", as many as the longest row has" if self.least_edges == self.store.max_degree else ""
        return {f"{counted(self.together, 'piece')} of {self.least_edges:,} edges{row}": self.least_bytes}

    def most_edges(self, budget: int) -> int:
        """Most edges of a piece of several rows if pieces have ``budget`` bytes.

        Those of the largest partition where SLOTS such pieces fit, else as many as let SLOTS or MORE_SLOTS fit.
        """
        whole = self.store.largest_partition
        all_of_it = self.store.edges * self.edge + whole * self.scratch
        if min(self._bytes(whole, SLOTS), all_of_it) <= budget:
            return whole
        more, fewer = budget // self._bytes(1, MORE_SLOTS), budget // self._bytes(1, SLOTS)
        wanted = max(more, min(fewer, LARGE_PIECE // self.edge))
        return min(max(wanted, self.least_edges if self.uniform else self._fewest), whole)

    def largest(self, most: int) -> int:
        """Edges of the largest piece if those of several rows have at most ``most``: a row is never cut."""
        return min(max(most, self.store.max_degree), self.store.largest_partition)

    def scratch_bytes(self, largest: int) -> int:
        """Bytes for making the tables of the largest piece."""
        return largest * self.scratch

    @property
    def _fewest(self) -> int:
        return max(1, -(-self.store.edges // MOST_PIECES))

    def _bytes(self, edges: int, pieces: int) -> int:
        """Bytes of so many pieces of this many edges, and for making the tables of one."""
        return edges * (pieces * self.edge + self.scratch)
