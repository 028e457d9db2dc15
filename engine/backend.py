"""The contract of a backend: what runs a plan's kernels on the CPU or on a GPU. Batches, the scheduler and workers see nothing else of it.

Selection counts, in the order of TALLY (all but draws for inverse transform without replacement alone):

    draws       random words: one a candidate, fewer where bipartite region search uses the rest of a word again; by rejection, trials
    collisions  candidates that were taken already
    searches    what it took to find that out: words of a bitmap read, or entries of a list compared (C-SAW, figure 12)
    iterations  candidates, each a search in the CTPS: the turns of C-SAW's selection loop (figure 11, per pick)
    conflicts   bits set while another lane of a warp sets one of the same word: atomics that wait for each other; none on the CPU
    rebuilt     entries of the CTPS that updated sampling computed anew

All but conflicts are the same on every device, with the same detector.
"""

import threading
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.engine.algorithm import Algorithm
from csaw.engine.contracts import Array, Batch, Graph, Partitions, Store
from csaw.engine.plan.plan import Plan
from csaw.engine.random import draw_subsets
from csaw.engine.specialization import Specialization
from csaw.partition.errors import BiasError, OptionError

if TYPE_CHECKING:
    from csaw.engine.batches.traversals import Traversals

ALL = slice(None)
TALLY = ("draws", "collisions", "searches", "iterations", "conflicts", "rebuilt")


class Backend(Specialization, ABC):
    """A plan's kernels, its graph in memory, and threads or a device that draw batches. ``stop`` set by another thread ends a batch early."""

    graph: Graph
    xp: Any
    """NumPy, or what computes like it on a GPU."""
    failures: tuple[type[Exception], ...] = ()
    """What a device raises that does not work any more."""

    def __init__(self, plan: Plan, store: Store, algorithm: Algorithm) -> None:
        super().__init__(plan, store, algorithm)
        self.stop = threading.Event()
        self.kernels_seconds = self.loading_seconds = (
            0.0  # to find or compile kernels; to load the graph and build its layout
        )

    # Batches

    @abstractmethod
    def begin(self, first: int, sources: np.ndarray) -> Batch:
        """A batch of instances from number ``first`` on; ``sources`` are vertices, [n] for walks, [n, frontier size] otherwise.

        On a graph whose partitions come and go it is a WaitingBatch. MemoryError where it does not fit.
        """

    def wait(self) -> None:
        """Until everything that was begun is done."""

    def release(self) -> None:
        """Give back memory that nothing uses, before trying again with less."""

    def close(self) -> None:
        """Give back threads and memory."""

    @abstractmethod
    def to_host(self, arrays: dict[str, Array]) -> dict[str, np.ndarray]:
        """Copies of arrays in host memory, or the arrays themselves where they are there; may be called in any thread."""

    # Counts

    @property
    def partitions(self) -> Partitions:
        """The graph, where its partitions come and go."""
        assert isinstance(self.graph, Partitions)
        return self.graph

    @property
    @abstractmethod
    def tally(self) -> np.ndarray:
        """Counts so far: an integer for each name of TALLY."""

    def kernel_seconds(self) -> tuple[float, float]:
        """Time in kernels of a streamed graph, and its deviation between streams that run side by side."""
        return 0.0, 0.0

    @cached_property
    def isolated(self) -> int:
        """Vertices without a neighbor."""
        return int((self.graph.degrees(self.xp.arange(self.store.vertices)) == 0).sum())

    # Costs of reading rows where they are, for the scheduler

    @abstractmethod
    def bytes_in_place(self, entries: int, picks: int, edges: float) -> float:
        """Cost of serving ``entries`` without loading their partitions, as bytes that a copy moves in the same time.

        ``picks``: neighbors to select for all of them. ``edges``: total length of their rows.
        """

    @abstractmethod
    def bytes_of_picks(self, picks: int) -> float:
        """The same for one pick each of so many walkers."""

    # Selection, for batches of traversals

    @abstractmethod
    def select_neighbors(self, f: "Traversals", entries: Array) -> None:
        """Select neighbors of the frontier entries numbered ``entries`` into ``f.out``, and how many into ``f.found``."""

    @abstractmethod
    def geometric_sizes(self, instance: Array, slot: Array, most: Array) -> Array:
        """How many neighbors each frontier entry asks for by coins, at most ``most`` (int64 [n])."""

    @abstractmethod
    def draw_numbers(self, instance: Array, slot: Array, bound: Array, tries: int) -> Array:
        """int64 [n, tries] random numbers below ``bound``, which may repeat."""

    def draw_subsets(self, instance: Array, slot: Array, bound: Array, size: int, first: int) -> Array:
        """int64 [n, size] distinct random numbers below ``bound`` for the pools of several vertices at ``slot``; ``first``: draws used before."""
        out = np.empty((instance.size, size), np.int64)
        draw_subsets(np.uint64(self.seed), instance, slot, bound, first, out)
        return out

    def candidates(self, size: int) -> int:
        """How many of a row take part in a collective selection of ``size``."""
        return size


def check_bias(store: Store, bad: Array) -> None:
    """Raise the error that a kernel has noted in ``bad``: 1 and the edge of a bias that is none (of a vertex: it and -1), 2 and what was no vertex where."""
    failed, src, dst = (int(number) for number in bad)
    if failed == 2:
        [src] = store.original_ids(np.asarray([src], store.id_dtype))
        raise OptionError(
            f"update or dead_end of a walk at {src}: expected a vertex below e.vertices = {store.vertices}, or -1 to stop, found {dst}"
        )
    if failed and dst < 0:
        [src] = store.original_ids(np.asarray([src], store.id_dtype))
        raise BiasError(
            f"the vertex bias of {src} is negative, NaN or infinite; a bias must be a finite number, 0 or more"
        )
    if failed:
        src, dst = store.original_ids(np.asarray([src, dst], store.id_dtype))
        raise BiasError(
            f"the bias of edge {src} -> {dst} is negative, NaN or infinite; a bias must be a finite number, 0 or more"
        )
