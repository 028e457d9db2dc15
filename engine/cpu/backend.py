"""The CPU backend: kernels specialised for one plan, a graph in host memory, threads.

The interface that a scheduler sees, and that every backend offers:

    graph.load(k), graph.evict(k), graph.loaded     partitions in memory
    begin(first, sources) -> batch                  instances in progress, with
    batch.wants()                                   what partitions they wait for
    batch.advance()                                 everything that the loaded ones allow
    batch.arrays(), batch.edges(), batch.dead_ends()    the samples
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from csaw.engine import hooks
from csaw.engine.algorithm import Walk
from csaw.engine.cpu.clock_walks import ClockWalks
from csaw.engine.cpu.host import HostGraph
from csaw.engine.cpu.specialize import specialize
from csaw.engine.cpu.traversals import Traversals
from csaw.engine.cpu.walks import Walks
from csaw.engine.plan import Plan

WEIGHT = hooks.Hook(
    "edge_bias", f"@njit\ndef edge_bias({', '.join(hooks.ARGUMENTS)}):\n    return weight\n", frozenset({"weight"})
)


class CpuBackend:
    """Runs a plan's batches; ``stop`` set by another thread ends the current one early with KeyboardInterrupt."""

    def __init__(self, plan: Plan, store, algorithm) -> None:
        self.plan, self.algorithm, self.seed = plan, algorithm, plan.request.seed
        self.select, self.layout, self.streamed = plan.select, plan.layout, plan.residency != "resident"
        self.params = hooks.params(algorithm)
        self.bias = hooks.edge_bias(algorithm, plan.request.weighted)
        self.second_order = "is_neighbor" in self.bias.reads
        self.by_table = self._selects_by_table()
        self.threads = ThreadPoolExecutor(plan.threads)
        self.stop = threading.Event()
        self.tally = np.zeros(3, np.int64)
        self.kernels = specialize(self._files(), self._constants(store), self._hooks())
        self.graph = self._load_graph(store)
        self.begin(
            0, np.empty(0 if isinstance(algorithm, Walk) else (0, 1), np.int64)
        ).advance()  # compile before the clock runs

    def begin(self, first: int, sources: np.ndarray):
        """A batch of instances from ``first`` on; sources [n] for walks, [n, frontier size] otherwise."""
        if isinstance(self.algorithm, Walk):
            return Walks(self, first, sources)
        return (ClockWalks if self.algorithm.clocks else Traversals)(self, first, sources)

    def in_slices(self, todo: np.ndarray, size: int, task: Callable) -> None:
        """``task(slice, bad, tally)`` in threads over slices of ``todo``; the result does not depend on the cut."""
        pieces = [todo[i : i + size] for i in range(0, todo.size, size)] or [todo]  # an empty one compiles the kernel
        bads, tallies = np.zeros((len(pieces), 3), np.int64), np.zeros((len(pieces), 3), np.int64)

        def guarded(piece: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            if not self.stop.is_set():
                task(piece, bad, tally)

        try:
            list(self.threads.map(guarded, pieces, bads, tallies))
        except KeyboardInterrupt:
            self.stop.set()
            raise
        self.graph.check(bads)
        self.tally += tallies.sum(axis=0)

    def close(self) -> None:
        self.stop.set()
        self.threads.shutdown(cancel_futures=True)

    def _selects_by_table(self) -> bool:
        """Whether a traversal's picks are independent draws from whole rows."""
        if isinstance(self.algorithm, Walk) or self.algorithm.clocks:
            return False
        pooled = self.algorithm.visited_once or self.algorithm.each_edge_once
        return (
            self.algorithm.replace and not pooled and self.select in ("uniform", "alias") and min(self.plan.sizes) >= 0
        )

    def _files(self) -> tuple[str, ...]:
        if isinstance(self.algorithm, Walk):
            return ("weigh.py", "walk.py")
        return (
            ("weigh.py", "clocks.py") if self.algorithm.clocks else ("weigh.py", "walk.py", "select.py", "traverse.py")
        )

    def _hooks(self) -> list[hooks.Hook]:
        others = hooks.others(self.algorithm, self.plan.request.weighted)
        return [self.bias, *(hook for hook in others.values() if hook is not None)]

    def _constants(self, store) -> dict[str, object]:
        others = hooks.others(self.algorithm, self.plan.request.weighted)
        table = self.select == "alias" or (self.select == "rejection" and self.plan.request.weighted)
        constants: dict[str, object] = {
            "STREAMED": self.streamed,
            "UNDIRECTED": not store.directed,
            "SIMPLE": not store.multigraph,
            "TABLE": table,
            "WEIGHTED": self.plan.request.weighted,
            "MEMBERSHIP": self.second_order,
            "HAS_UPDATE": others["update"] is not None,
            "HAS_DEAD_END": others["dead_end"] is not None,
            "UNIFORM": self.bias.constant is not None and self.bias.constant > 0 and self.select in ("uniform", "keys"),
            "NEIGHBOR_WEIGHTS": "weight" in self.bias.reads and self.plan.request.weighted,
            "SELECT": self.select,
            "COLLISION": self.plan.collision,
        }
        if not isinstance(self.algorithm, Walk):
            a = self.algorithm
            constants |= {
                "REPLACE": bool(a.replace),
                "POOLED": bool(a.visited_once or a.induced or (a.each_edge_once and not store.directed)),
                "INDUCED": bool(a.induced),
                "EACH_EDGE_ONCE": bool(a.each_edge_once and not store.directed),
                "COLLECTIVE": bool(a.collective),
            }
        return constants

    def _load_graph(self, store) -> HostGraph:
        weighted, rejection = self.plan.request.weighted, self.select == "rejection"
        table_kernels = self.kernels
        if rejection and weighted:
            table_kernels = specialize(
                ("weigh.py",), {"TABLE": True, "NEIGHBOR_WEIGHTS": True, "UNDIRECTED": not store.directed}, [WEIGHT]
            )
        apart = rejection and self.algorithm.bias_range()[2] > self.algorithm.bias_range()[1]
        graph = HostGraph(
            store, self.kernels, table_kernels, self.params, self.threads,
            weights=weighted and ("weight" in self.bias.reads or rejection),
            strength=apart and weighted,
            bloom=self.second_order and not self.streamed,
            streamed=self.streamed,
        )  # fmt: skip
        if not self.streamed:
            graph.load_all()
        return graph


def default_threads() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
