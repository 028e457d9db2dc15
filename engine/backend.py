"""What a plan means for kernels, whatever runs them.

The interface that a scheduler sees, and that every backend offers:

    graph.load(k), graph.evict(k), graph.loaded         partitions in memory
    begin(first, sources) -> batch                      instances in progress, with
    batch.wants()                                       what partitions they wait for
    batch.advance()                                     everything that the loaded ones allow
    batch.edges(), batch.dead_ends()                    counts, once it is done
    batch.arrays(rows)                                  the samples in host memory, of tables only some rows; may be called in any thread
    wait()                                              all that was begun is done
    release()                                           memory that nothing uses is given back
    tally, stop, close()                                what selection counted so far; an end before the end

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
from functools import cached_property
from typing import Any

import numpy as np

from csaw.engine import hooks
from csaw.engine.algorithm import Walk
from csaw.engine.plan.methods import Method
from csaw.engine.plan.plan import Plan
from csaw.engine.random import draw_subsets
from csaw.engine.user_code import is_own
from csaw.partition.errors import BiasError, OptionError

ALL = slice(None)
TALLY = ("draws", "collisions", "searches", "iterations", "conflicts", "rebuilt")
WEIGHT = hooks.Hook(
    "edge_bias",
    f"{hooks.INLINED}def edge_bias({', '.join(hooks.ARGUMENTS)}):\n    return weight\n",
    frozenset({"weight"}),
)


class Backend:
    """A plan's kernels and what they are specialised on; ``needs`` are the plan's. ``stop`` set by another thread ends a batch early."""

    graph: Any
    xp: Any  # NumPy or its like on a GPU
    failures: tuple[type[Exception], ...] = ()  # what a device raises that does not work any more

    def __init__(self, plan: Plan, store: Any, algorithm: Any) -> None:
        self.plan, self.store, self.algorithm, self.seed = plan, store, algorithm, plan.request.seed
        self.needs = plan.needs
        self.select, self.weighted = plan.select, plan.request.weighted
        self.streamed = plan.residency.streams
        self.params = hooks.params(algorithm)
        self.bias = hooks.edge_bias(algorithm, self.weighted)
        self.others = hooks.others(algorithm, self.weighted)
        self.stop = threading.Event()

    @cached_property
    def isolated(self) -> int:
        """Vertices without a neighbor."""
        return int((self.graph.degrees(self.xp.arange(self.store.vertices)) == 0).sum())

    def wait(self) -> None:
        """Until all that was begun is done."""

    def release(self) -> None:
        """Give back memory that nothing uses, before trying again with less."""

    @property
    def tally(self) -> Any:
        """Counts so far: an integer for each name of TALLY."""
        raise NotImplementedError

    def kernel_seconds(self) -> tuple[float, float]:
        """Time in kernels of a streamed graph, and its deviation between streams that run side by side."""
        return 0.0, 0.0

    def close(self) -> None:
        """Give back threads and memory."""

    def candidates(self, size: int) -> int:
        """How many of a row take part in a collective selection of ``size``."""
        return size

    def draw_subsets(self, instance: Any, slot: Any, bound: Any, size: int, first: int) -> Any:
        """[n, size] distinct numbers below ``bound`` for the pools of several vertices at ``slot``."""
        out = np.empty((instance.size, size), np.int64)
        draw_subsets(np.uint64(self.seed), instance, slot, bound, first, out)
        return out

    def begin(self, first: int, sources: Any) -> Any:
        """A batch of instances from ``first`` on; sources [n] for walks, [n, frontier size] otherwise."""
        raise NotImplementedError

    def hooks(self) -> list[hooks.Hook]:
        """The algorithm's own functions, to be compiled into the kernels."""
        return [self.bias, *(hook for hook in self.others.values() if hook is not None)]

    @property
    def checks_vertices(self) -> bool:
        """Whether hooks of a user's own say where a walk goes."""
        return is_own(type(self.algorithm)) and bool(self.others["update"] or self.others["dead_end"])

    @property
    def weighs_members(self) -> bool:
        """Whether this plan's hash tables of rows hold weights too."""
        return self.plan.membership == "hash" and self.needs.weighs_members

    def constants(self) -> dict[str, Any]:
        """What kernels of any backend are specialised on."""
        undirected, a = not self.store.directed, self.algorithm
        constants: dict[str, Any] = {
            "UNDIRECTED": undirected,
            "SIMPLE": not self.store.multigraph,
            "WEIGHTED": self.weighted,
            "HAS_UPDATE": self.others["update"] is not None,
            "HAS_DEAD_END": self.others["dead_end"] is not None,
            "UNIFORM": (self.bias.constant or 0) > 0 and self.select in (Method.UNIFORM, Method.KEYS),
            "NEIGHBOR_WEIGHTS": "weight" in self.bias.reads and self.weighted,
            "SELECT": self.select.value,
            "COLLISION": self.plan.collision.value,
        }
        if isinstance(a, Walk):
            constants |= {"EXTREME": self.needs.may_be_hopeless, "CHECKED": self.checks_vertices}
        else:
            each_edge_once = a.each_edge_once and undirected
            constants |= {
                "REPLACE": bool(a.replace),
                "POOLED": bool(a.visited_once or a.induced or each_edge_once),
                "INDUCED": bool(a.induced),
                "EACH_EDGE_ONCE": bool(each_edge_once),
                "COLLECTIVE": bool(a.collective),
                "DETECT": self.plan.detect,
                "KEYED": bool(a.collective) and self.select is Method.KEYS,
            }
        return constants


def check_bias(store: Any, bad: Any) -> None:
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
