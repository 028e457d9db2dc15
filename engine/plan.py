"""What a run depends on, and how it will be done: plain data, computed before anything is sampled."""

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from csaw.engine import hooks
from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.engine.sources import Sources
from csaw.partition.errors import BudgetError, OptionError

GROUP_BYTES = 32 << 20  # of a sample store's chunk: the unit that is committed
BATCH_BYTES = 256 << 20  # of samples in flight
INTERPRETER_BYTES = 256 << 20  # Python, Numba and the compiled kernels: not part of --memory
SELECTS = ("uniform", "alias", "rejection", "its", "keys")
COLLISIONS = ("bipartite", "repeated", "updated")


@dataclass(frozen=True)
class Request:
    """Everything the sample depends on. Equal requests give equal samples, bit for bit, on any machine."""

    fingerprint: str
    algorithm: str
    parameters: dict[str, Any]
    edge_bias: str | None
    weighted: bool
    seed: int
    instances: int
    sources: str
    select: str
    collision: str
    group_size: int
    ids: str

    def as_dict(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class Plan:
    """How a request is carried out here; changing it changes no byte of the sample."""

    request: Request
    layout: str
    sizes: tuple[int, ...]
    residency: str  # resident | disk
    threads: int
    batch: int  # instances in flight
    graph_bytes: int
    fixed_bytes: int
    batch_bytes: int
    budget_bytes: int
    output_bytes: int

    @property
    def select(self) -> str:
        return self.request.select

    @property
    def collision(self) -> str:
        return self.request.collision

    def as_dict(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if k not in ("request", "sizes")} | {"select": self.select}


def choose_select(algorithm: Algorithm, weighted: bool, forced: str | None) -> str:
    """The cheapest exact method for the bias (C-SAW, section II-B), or ``forced`` where it applies."""
    bias = hooks.edge_bias(algorithm, weighted)
    update = hooks.others(algorithm, weighted)["update"]
    constant = bias.constant is not None and bias.constant > 0
    if isinstance(algorithm, Walk):
        by_edge = not (update and "weight" in update.reads)
        can = {
            "uniform": constant and by_edge,
            "alias": bias.static and by_edge,
            "rejection": algorithm.bias_range is not None and not bias.static and by_edge,
            "its": True,
            "keys": False,
        }
    else:
        assert isinstance(algorithm, Traversal)
        pooled = algorithm.visited_once or algorithm.each_edge_once or algorithm.induced or algorithm.collective
        whole = algorithm.replace and not pooled and not algorithm.clocks
        can = {
            "uniform": constant and not algorithm.collective,
            "alias": bias.static and whole and min(algorithm.sizes(), default=0) >= 0,
            "rejection": False,
            "its": not algorithm.collective,
            "keys": not algorithm.replace and not algorithm.clocks,
        }
    if forced is None:
        return next(method for method in SELECTS if can[method])
    if not can[forced]:
        usable = ", ".join(method for method in SELECTS if can[method])
        raise OptionError(f"--select {forced} cannot draw {algorithm.name()} with this bias; possible are {usable}")
    return forced


def make_plan(
    store, algorithm: Algorithm, sources: Sources, *, name: str, edge_bias: str | None, weighted: bool, seed: int,
    select: str | None, collision: str, ids: str, memory: int | None, batch: int | None, threads: int,
) -> Plan:  # fmt: skip
    """The plan for one run; refuses what cannot work, with the numbers and the way out."""
    sizes = algorithm.sizes() if isinstance(algorithm, Traversal) else (1,) * algorithm.walk_length  # type: ignore[attr-defined]
    layout = "subgraphs" if algorithm.layout == "hops" and min(sizes, default=0) < 0 else algorithm.layout
    method = choose_select(algorithm, weighted, select)
    row = _instance_bytes(store, algorithm, sizes, layout, sources)
    group = max(1, min(sources.instances, GROUP_BYTES // row))
    request = Request(
        store.fingerprint, name, algorithm.parameters(), edge_bias, weighted, seed, sources.instances,
        sources.digest(), method, collision, group, ids,
    )  # fmt: skip
    budget = memory or available_bytes()
    per_edge, fixed = _graph_bytes(store, algorithm, method, weighted)
    graph = store.edges * per_edge
    in_flight = batch or max(1, min(sources.instances, max(group, min(BATCH_BYTES, budget // 4) // row)))
    residency = "resident" if fixed + graph + in_flight * row <= budget else "disk"
    if residency == "disk":
        in_flight = batch or max(1, min(sources.instances, budget // 4 // row))
        largest = max((p.edges for p in store.partitions), default=0) * per_edge
        slots = 2 if "is_neighbor" in hooks.edge_bias(algorithm, weighted).reads else 1
        need = fixed + slots * largest + in_flight * row
        if need > budget:
            raise BudgetError(
                f"{store.path}: {slots} partition(s) of {largest:,} bytes, {fixed:,} for offsets and {in_flight * row:,} for "
                f"samples in flight exceed the budget of {budget:,} bytes; raise --memory to {need:,}, or make "
                f"smaller partitions with csaw partition --partition-size"
            )
    return Plan(
        request,
        layout,
        sizes,
        residency,
        threads,
        in_flight,
        graph,
        fixed,
        in_flight * row,
        budget,
        sources.instances * row,
    )


def _instance_bytes(store, algorithm: Algorithm, sizes: tuple[int, ...], layout: str, sources: Sources) -> int:
    """Memory an instance takes while it is sampled, about; exact for walks and hops."""
    item = np.dtype(store.id_dtype).itemsize
    if isinstance(algorithm, Walk):
        return item * (algorithm.walk_length + 1) + 8 * 5
    mean = max(1, store.edges // max(store.vertices, 1))
    width = entries = sources.frontier_size
    assert isinstance(algorithm, Traversal)
    for size in sizes:
        if algorithm.clocks or algorithm.collective:
            width = max(size, 0)
        else:
            width = min(width * (mean if size < 0 else size), store.edges)
        entries += width
    return max(1, entries * (item if layout == "hops" else 3 * item + 24))


def _graph_bytes(store, algorithm: Algorithm, method: str, weighted: bool) -> tuple[int, int]:
    """Bytes an edge takes when loaded, and what is always there."""
    item = np.dtype(store.id_dtype).itemsize
    bias = hooks.edge_bias(algorithm, weighted)
    table = method == "alias" or (method == "rejection" and weighted)
    per_edge = 3 * item if table else item
    if weighted and ("weight" in bias.reads or method == "rejection") and (not table or method == "rejection"):
        per_edge += 4
    fixed = 8 * (store.vertices + 1) + 2 * store.vertices
    if "is_neighbor" in bias.reads:
        fixed += store.edges  # filters, 8 bits an edge
    return per_edge, fixed


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable"))
        return int(found.split()[1]) * 1024 * 9 // 10
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
