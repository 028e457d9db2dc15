"""Computations of measures by name: where the function of each device is, who can share the work, and its memory.

A computation NAME is the function ``NAME(network, **options)`` of a module of engine/analytics/cpu, and its twin in
engine/analytics/cuda if GPUs have one. Modules are imported when a function is called for, so that commands that
measure nothing load neither kernels nor CuPy.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from csaw.engine.plan.footprint import Footprint

# Memory. Each device declares the works that need more than two rows, without their kernels: WORKS in
# engine/analytics/cpu/footprints.py and in engine/analytics/cuda/footprints.py.

Bytes: TypeAlias = Callable[[Any, Footprint], int]
"""Returns bytes of memory, by the network of a work and by what the measure keeps, which is part of them."""


class Work(NamedTuple):
    """The memory of a work that needs more than what is kept and two rows.

    suffices: bytes that are enough for certain. whole: bytes from which on all rows that it reads are in memory, for
    works that can read blocks. all_rows: whether it is refused if memory does not hold all rows. more: what it takes
    in addition to all rows, for works on a GPU that need them.
    """

    suffices: Bytes
    whole: Bytes | None = None
    all_rows: bool = False
    more: Footprint | None = None


class Enough(NamedTuple):
    """Memory that is enough for a measure for certain: ``bytes()``.

    ``has_rows``: whether these bytes include all rows that the measure reads.
    """

    bytes: Callable[[], int]
    has_rows: bool = False

    def __call__(self) -> int:
        return self.bytes()


# Names.


class Computation(NamedTuple):
    """The modules of a computation on a CPU and on a GPU, "" where that has none, and who can share it.

    ``divided``: the workers of a cluster divide it. ``shared``: several GPUs share it; ``pays``: they do where
    ``NAME_pays(network)`` beside the function says so, since it is quicker or the graph is spread over them.
    ``both_ways``: one GPU does it alone where it has the rows of both directions in memory in turn. ``spread``: it
    goes through a graph whose rows are spread over GPUs.
    """

    cpu: str
    cuda: str = ""
    divided: bool = False
    shared: bool = False
    pays: bool = False
    both_ways: bool = False
    spread: bool = False

    def module(self, device: str) -> str:
        """The name of the module of a device, cpu or cuda."""
        return self.cpu if device == "cpu" else self.cuda


COMPUTATIONS = {
    "arriving_sums": Computation("sums", "sums", shared=True, spread=True),
    "betweenness": Computation("searches", "betweenness", divided=True, shared=True, both_ways=True, spread=True),
    "bfs": Computation("searches", "bfs", pays=True, spread=True),
    "clustering": Computation("triangles", "triangles", spread=True),
    "components": Computation("components", "components", pays=True, spread=True),
    "core": Computation("components", "components", pays=True, spread=True),
    "diameter": Computation("searches"),
    "edge_triangles": Computation("triangles"),
    "hops": Computation("searches", "hops", divided=True, shared=True, spread=True),
    "masked_product": Computation("triangles", "triangles"),
    "matched_triangles": Computation("patterns", "patterns"),
    "neighbor_sums": Computation("sums", "sums", shared=True, spread=True),
    "ordered_sums": Computation("sums", "sums"),
    "pagerank": Computation("sums", "sums", shared=True, spread=True),
    "patterns": Computation("patterns", "patterns"),
    "predecessors": Computation("searches", "bfs", spread=True),
    "rounds": Computation("rounds", "rounds", pays=True, spread=True),
    "sketches": Computation("searches", "hops"),
    "spectrum": Computation("sums", "sums"),
    "sssp": Computation("searches", "sssp", pays=True, spread=True),
    "strong_components": Computation("components", "components", spread=True),
    "support_list": Computation("common_neighbors", "common_neighbors"),
    "triangle_list": Computation("common_neighbors", "common_neighbors"),
    "triangles": Computation("triangles", "triangles", divided=True, shared=True, spread=True),
    "wedges": Computation("triangles"),
}

DIVIDED = frozenset(name for name, one in COMPUTATIONS.items() if one.divided)
SHARED = frozenset(name for name, one in COMPUTATIONS.items() if one.shared)
PAYS = frozenset(name for name, one in COMPUTATIONS.items() if one.pays)
BOTH_WAYS = frozenset(name for name, one in COMPUTATIONS.items() if one.both_ways)
SPREAD = frozenset(name for name, one in COMPUTATIONS.items() if one.spread)


def function(device: str, name: str) -> Callable[..., Any]:
    """Return the function that computes ``name`` on a device, cpu or cuda."""
    found: Callable[..., Any] = getattr(_module(device, COMPUTATIONS[name].module(device)), name)
    return found


def pays(name: str) -> Callable[..., bool]:
    """Return the function that says of a network, and perhaps of more, whether several GPUs share ``name``."""
    found: Callable[..., bool] = getattr(_module("cuda", COMPUTATIONS[name].cuda), f"{name}_pays")
    return found


def lacking(device: str, wanted: tuple[str, ...]) -> list[str]:
    """Return the names among ``wanted`` that a device has no function for."""
    return [name for name in wanted if not COMPUTATIONS[name].module(device)]


def works(device: str) -> dict[str, Work]:
    """Return the computations on a device that need more than two rows beside what is kept."""
    found: dict[str, Work] = _module(device, "footprints").WORKS
    return found


def _module(device: str, name: str) -> ModuleType:
    return import_module(f"csaw.engine.analytics.{device}.{name}")
