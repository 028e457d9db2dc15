"""The contract of a backend, which runs a plan's kernels on the CPU or on a GPU.

Batches, the scheduler and workers use nothing else of it.

Selection counts, in the order of TALLY (all but draws for inverse transform without replacement alone):

    draws       random words: one a candidate, fewer where bipartite region search uses the rest of a word again; by
                rejection, trials, on a streamed graph also those made before an earlier question is answered
    collisions  candidates that were already selected
    searches    the detector's work: words of a bitmap read, or entries of a list compared (C-SAW, figure 12)
    iterations  candidates, each a search in the CTPS: the turns of C-SAW's selection loop (figure 11, per pick)
    conflicts   bits set while another lane of a warp sets one of the same word: atomics that wait for each other; none
                on the CPU
    rebuilt     entries of the CTPS that updated sampling computed again

All but conflicts, and draws of a streamed graph, are the same on every device, with the same detector.
"""

import threading
from abc import ABC, abstractmethod
from functools import cached_property
from types import ModuleType

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.plan.contracts import (
    Array,
    Batch,
    ByFirstTime,
    Frontier,
    Graph,
    IncomingBias,
    Members,
    OpenLinks,
    Partitions,
    Store,
    TimedFrontier,
    TimedLinks,
)
from csaw.engine.plan.plan import Plan
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.schedule.specialization import Specialization
from csaw.engine.sources.seeds import Excluded
from csaw.partition.base.flags import set_count
from csaw.partition.errors import BiasError, OptionError

# The contract of a backend.

ALL = slice(None)
VERTICES_AT_A_TIME = 1 << 20  # vertices whose degrees are computed together
TALLY = ("draws", "collisions", "searches", "iterations", "conflicts", "rebuilt")


class OverBudget(MemoryError):
    """A batch needs more memory than the run may use."""


class Crowded(OverBudget):
    """It would not, if those that are drawn already were written."""


class Backend(Specialization, ABC):
    """A plan's kernels, its graph in memory, and the threads or the device that draw batches.

    Another thread sets ``stop`` to end a batch early.
    """

    graph: Graph
    xp: ModuleType
    """NumPy, or its equivalent on a GPU."""
    failures: tuple[type[Exception], ...] = ()
    """Exceptions that a device raises once it has failed."""

    def __init__(self, plan: Plan, store: Store, algorithm: Algorithm) -> None:
        super().__init__(plan, store, algorithm)
        self.stop = threading.Event()
        # Before anything is drawn: time to find or compile kernels; time to load the graph and build its layout.
        self.kernels_seconds = self.loading_seconds = 0.0
        self.kept_bytes = 0  # of batches that are drawn already, until all that are written together are
        self.incoming_bias: IncomingBias | None = None  # once a batch has made it
        self.members: Members | None = None  # likewise
        self.biases_upto: Array | None = None  # of negatives, likewise
        self.first_times: ByFirstTime | None = None  # of vertices, likewise

    # Batches

    @abstractmethod
    def begin(self, first: int, sources: Array, excluded: Excluded | None = None) -> Batch:
        """Begin a batch of n instances from number ``first`` on.

        ``sources``: what Sources.take gives, dense ids [n] for walks, [n, 2] with the times of start edges, [n,
        frontier size] for traversals, and [n, frontier size, 2] for mini-batches. ``excluded``: edges that mini-batches
        do not select.

        On a streamed graph it is a WaitingBatch. MemoryError if the batch does not fit.
        """

    @abstractmethod
    def induce(self, batch: Batch, instances: int) -> Batch:
        """A batch that ends ``batch``, of so many ``instances``, as the subgraphs of the vertices that each has met."""

    def wait(self) -> None:
        """Wait until all work queued so far is done."""

    def claim(self, size: int) -> None:
        """OverBudget if a batch that is about to take ``size`` bytes takes more than the run may use.

        A GPU finds out by itself.
        """

    def release(self) -> None:
        """Give back unused memory, before a batch is tried again with fewer instances."""

    def close(self) -> None:
        """Give back threads and memory."""

    @abstractmethod
    def to_host(self, arrays: dict[str, Array]) -> dict[str, np.ndarray]:
        """Copy arrays to host memory; arrays that are there already are returned as they are.

        Any thread may call this.
        """

    def as_stored(self, arrays: dict[str, Array], identifiers: Identifiers) -> GroupArrays | None:
        """Copy arrays like ``to_host``, with the ids of a sample store, or let them come as they are written.

        None where the host has to convert them.
        """
        return None

    # Counts

    @property
    def partitions(self) -> Partitions:
        """The graph of a streamed run, whose partitions are loaded and evicted."""
        assert isinstance(self.graph, Partitions)
        return self.graph

    @property
    @abstractmethod
    def tally(self) -> np.ndarray:
        """[6]: integer counts so far, in the order of TALLY."""

    def kernel_seconds(self) -> tuple[float, float]:
        """Return the seconds in kernels of a streamed run, and the deviation of multiprocessors' work by its mean."""
        return 0.0, 0.0

    @cached_property
    def isolated(self) -> int:
        """Vertices without a neighbor."""
        cuts = range(0, self.store.vertices, VERTICES_AT_A_TIME)
        spans = ((first, min(first + VERTICES_AT_A_TIME, self.store.vertices)) for first in cuts)
        return sum(set_count(self.xp, self.graph.degrees(self.xp.arange(*span)) == 0) for span in spans)

    @cached_property
    def row_begins(self) -> np.ndarray:
        """int64 [vertices + 1], in host memory: where the row of each vertex begins among all edges."""
        return self.store.read_indptr()

    # Costs of reading rows where they are, for the scheduler

    @abstractmethod
    def bytes_in_place(self, entries: int, picks: int, edges: float) -> float:
        """Cost of serving ``entries`` without loading their partitions, as bytes a copy moves in the same time.

        ``picks``: neighbors to select for all of them. ``edges``: total length of their rows.
        """

    @abstractmethod
    def bytes_of_picks(self, picks: int) -> float:
        """Return the cost of ``picks`` walkers' steps, one pick each, without loading their partitions.

        The cost is in bytes that a copy moves in the same time.
        """

    # Selection, for batches of traversals

    @abstractmethod
    def select_neighbors(self, f: Frontier, entries: Array) -> None:
        """Select neighbors of the frontier entries numbered ``entries``: write them to ``f.out``, and their number to
        ``f.found``.
        """

    @abstractmethod
    def select_in_time(self, f: TimedFrontier, entries: Array) -> None:
        """Select neighbors like ``select_neighbors``, among the edges of each before ``f.now``; write the time of the
        edge to each to ``f.time``.
        """

    @abstractmethod
    def list_in_time(self, f: TimedFrontier, entries: Array, size: int) -> None:
        """Write the neighbors behind the edges of each entry before ``f.now`` whose random number, which all entries
        share, is below ``size`` / their number; -1 lists all.

        They are in the order of time, with cells between them that stay as they are. ``f.time`` gets the time of the
        edge to each, ``f.found`` the number of edges before ``f.now``.
        """

    @abstractmethod
    def geometric_sizes(self, instance: Array, slot: Array, most: Array) -> Array:
        """int64 [n]: the number of neighbors that coins say each frontier entry asks for, at most ``most``."""

    @abstractmethod
    def update_frontier(self, depth: int, *edges: Array) -> Array:
        """int64 [n]: the vertices that the algorithm's ``update`` has follow sampled edges; -1: none.

        ``edges``: int64 [n] each: the instance, the slot of the edge's end, the source, the previous vertex (-1: none)
        and both ends.
        """

    @abstractmethod
    def race_pool(self, depth: int, *entries: Array) -> Array:
        """float64 [n]: times at which vertices that wait arrive, exponential with rate ``vertex_bias``; -1: never.

        ``entries``: int64 [n] each: the instance, the slot, the source, the previous vertex (-1: none) and the vertex.
        """

    @abstractmethod
    def draw_pool(self, depth: int, size: int, begins: Array, *entries: Array) -> Array:
        """int64 [pools, size]: numbers of ``entries``, those of pool i from begins[i] up to begins[i + 1], drawn by
        ``vertex_bias`` with replacement; -1 where none can be.

        ``entries``: int64 [n] each: the instance, the source, the previous vertex and the vertex.
        """

    @abstractmethod
    def draw_numbers(self, instance: Array, slot: Array, bound: Array, tries: int) -> Array:
        """int64 [n, tries]: random numbers below ``bound`` [n], which may repeat."""

    def draw_subsets(self, instance: Array, slot: Array, bound: Array, size: int, first: int) -> Array:
        """int64 [n, size]: distinct random numbers below ``bound`` [n], for pools of several vertices.

        ``instance``, ``slot`` [n]: where the draws are. ``first``: number of draws used before.
        """
        from csaw.engine.draws.random import draw_subsets

        out = np.empty((instance.size, size), np.int64)
        draw_subsets(np.uint64(self.seed), instance, slot, bound, first, out)
        return out

    @abstractmethod
    def weigh_rows(self, vertex: Array, start: Array, entries: Array, out: Array, biases: Array) -> None:
        """Write the neighbors of some entries to ``out``, and the biases of the edges to them to ``biases``.

        The entries are numbered ``entries``, and their rows are in memory.

        ``vertex``, ``start`` [n]: the vertex of each entry, and the first cell of its neighbors, of which there are as
        many as it has edges.
        """

    @abstractmethod
    def list_rows(self, vertex: Array, start: Array, entries: Array, out: Array) -> None:
        """Write neighbors to ``out`` like ``weigh_rows``, without biases."""

    def list_members(self, met: Array, entries: Array, vertices: Array, degree: Array) -> tuple[Array, Array]:
        """Return edges from some members of sets of vertices to members of the same set.

        They are in order of member and place in its row.

        ``met``: instance * vertices of the graph + vertex of each member, int64, ascending. ``entries``: numbers in
        ``met`` of the members whose edges are wanted, ascending, with their ``vertices`` and ``degree``; their rows are
        in memory. Returns the number of edges of each entry, int64, and the neighbors that these lead to, ids.
        """
        xp, upto, dtype = self.xp, self.xp.cumsum(degree), np.dtype(self.store.id_dtype)
        out = xp.empty(int(upto[-1]) if upto.size else 0, dtype)
        self.list_rows(vertices, upto - degree, xp.flatnonzero(degree), out)
        row = xp.repeat(xp.arange(entries.size), degree)
        wanted = (met[entries] // self.store.vertices * self.store.vertices)[row] + out.astype(np.int64)
        at = xp.minimum(xp.searchsorted(met, wanted), met.size - 1)
        kept = xp.flatnonzero(met[at] == wanted)
        return xp.bincount(row[kept], minlength=entries.size), out[kept]

    @abstractmethod
    def select_shared(
        self, instance: Array, vertex: Array, start: Array, entries: Array, depth: int, size: int, out: Array
    ) -> None:
        """Write the neighbors whose random number is below ``size`` / degree, like ``list_rows``.

        The cells of others stay as they are. -1 lists all.
        """

    @abstractmethod
    def race_numbers(self, instance: Array, slot: Array, number: Array, rate: Array) -> Array:
        """float64 [n]: times at which members of pools of several vertices arrive, exponential with ``rate`` [n].

        ``number``: of each in its pool.
        """

    @abstractmethod
    def add_scaled(self, sums: Array, at: Array, biases: Array, shift: int) -> None:
        """Add ``biases`` [n] times 2^shift, whole, 1 at least if above 0, to ``sums``, int64 [V], at ids ``at`` [n]."""

    def ends_of(self, edges: Array) -> tuple[Array, Array]:
        """The vertex whose row has each of the ``edges``, and the edge's place in that row, int64 [n] each."""
        return self.graph.ends_of(edges)

    @abstractmethod
    def draw_negatives(self, f: OpenLinks, entries: Array, bounds: np.ndarray, upto: Array) -> None:
        """Draw the negatives of the links numbered ``entries``, whose sources have their rows in memory: see
        engine/cpu/kernels/links.py.

        ``bounds``: int64, where the vertices of each type begin, and the end of the last. ``upto``: int64 [V + 1], the
        biases of all vertices below one; empty if all are the same.
        """

    def draw_negatives_in_time(
        self, f: TimedLinks, entries: Array, bounds: np.ndarray, first_times: ByFirstTime
    ) -> None:
        """Draw them as of the time of each link, on a CPU: see engine/cpu/kernels/links_in_time.py."""
        raise NotImplementedError

    def candidates(self, size: int) -> int:
        """Most neighbors of one row that can take part in a collective selection of ``size``."""
        return size


NO_BIAS = (
    "is negative, NaN or infinite, or below 1e-300; a bias must be 0, or a finite number from 1e-300 on; where it "
    "divides by a degree, which may be 0, take max(e.dst_degree, 1); where an exponential is too small, add to its "
    "argument"
)


def check_bias(store: Store, bad: Array) -> None:
    """Raise the error that a kernel has noted in ``bad`` (three integers: code, a, b); return if the code is 0.

    code 1  BiasError: the bias of edge a -> b is none; with b = -1, the vertex bias of a
    code 2  OptionError: a hook at vertex a returned b, which is no vertex
    """
    failed, src, dst = (int(number) for number in bad)
    if failed == 2:
        [src] = store.original_ids(np.asarray([src], store.id_dtype))
        raise OptionError(
            f"update or dead_end at {src}: expected a vertex below e.vertices = {store.vertices}, or -1 for none, "
            f"found {dst}"
        )
    if failed and dst < 0:
        [src] = store.original_ids(np.asarray([src], store.id_dtype))
        raise BiasError(f"the vertex bias of {src} {NO_BIAS}")
    if failed:
        src, dst = store.original_ids(np.asarray([src, dst], store.id_dtype))
        raise BiasError(f"the bias of edge {src} -> {dst} {NO_BIAS}")
