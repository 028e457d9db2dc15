"""What a run depends on, and how it will be done: plain data, computed before anything is sampled."""

import os
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from csaw.engine import hooks
from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.engine.detectors import choose_detector
from csaw.engine.schedule import READ_BYTES, Policy
from csaw.engine.sources import Sources
from csaw.engine.tables import from_whole_rows, refuse_transit
from csaw.partition.errors import BudgetError, CsawError, OptionError

GROUP_BYTES = 32 << 20  # of a sample store's chunk: the unit that is committed
FRONTIER_BYTES = 150  # of an entry of a frontier, while its neighbors are selected
BATCH_BYTES = 256 << 20  # of samples in flight
DEVICE_BATCH_BYTES = 4 << 30  # the same on a GPU, with what sampling needs beside them
DEVICE_ROWS = 3  # bytes on a GPU for each of a sample: as drawn, in order of instance, and the batch before
TURNS = 4  # of each GPU where there are several: the last ones wait for a fraction of one
CTPS_PICKS = 32  # picks of a vertex that a GPU thread keeps apart: see hops.cu
BUS_BYTES, DISK_BYTES = 50e9, 1.5e9  # a second, where a plan says how long copies will take
UNITS_AT_ONCE, UNIT_BYTES = 8, 256 << 20  # partitions that should fit a GPU, and bytes of one that need not be larger
NEAR_BYTES = (
    64 << 30
)  # of a GPU's memory that random reads reach at full rate; over 100 GB they take twice as long (docs/benchmarks.md)
ALIAS_CHUNK = 1 << 27  # edges whose alias tables a GPU builds at a time
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
    device: str  # cpu | cuda:0
    graph_layout: str  # what a step reads: csr | entries | table | alias | ctps
    membership: str  # how "is there an edge" is answered: search | filter, then search | hash
    residency: str  # resident | pooled: over several GPUs | streamed: from host memory | disk
    threads: int
    transit: str  # neighbors of the same part of the graph together: auto | on | off
    detect: str  # how a repeated candidate is found: see detectors.py
    batch: int  # instances in flight
    graph_bytes: int
    fixed_bytes: int
    batch_bytes: int
    budget_bytes: int
    output_bytes: int
    expected: dict[str, float]  # what streaming takes: transfers, bytes, seconds; empty where nothing is streamed
    refused: dict[str, str]  # faster residencies, and why they cannot be
    host_bytes: int  # for partitions in host memory, beside those on a GPU
    policy: Policy

    @property
    def capacity(self) -> int:
        """Bytes for partitions that come and go."""
        return self.budget_bytes - self.fixed_bytes - self.batch_bytes

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
            "uniform": constant and not (algorithm.collective and (algorithm.replace or algorithm.geometric)),
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


def return_apart(algorithm: Algorithm, select: str) -> bool:
    """Whether a rejection walk draws the return edge apart: what its bias has above the others' bound."""
    if select != "rejection":
        return False
    _, high, back = algorithm.bias_range()  # type: ignore[attr-defined]
    return back > high


def starts_everywhere(algorithm: Algorithm, select: str, sources: str) -> bool:
    """Whether an instance picks from all edges of the graph by number: then nobody lists its sources."""
    if not isinstance(algorithm, Traversal) or not algorithm.collective or algorithm.visited_once or algorithm.induced:
        return False
    return select == "uniform" and sources.startswith("every")


def tries(size: int) -> int:
    """How often a pool of several vertices is tried for ``size`` distinct edges before it is listed; smaller ones are listed at once."""
    return 4 * size + 64


def make_plan(
    store, algorithm: Algorithm, sources: Sources, devices: tuple[Any, ...] = (), *, name: str, edge_bias: str | None, weighted: bool, seed: int,
    select: str | None, collision: str, ids: str, memory: int | None, batch: int | None, threads: int,
    gpu_memory: int | None = None, residency: str | None = None, graph_layout: str | None = None,
    transit: str = "auto", detect: str | None = None, policy: Policy | None = None,
) -> Plan:  # fmt: skip
    """The plan for one run, on the CPU or on GPUs (``devices``); refuses what cannot work, with the numbers and the way out."""
    sizes = algorithm.sizes() if isinstance(algorithm, Traversal) else (1,) * algorithm.walk_length  # type: ignore[attr-defined]
    layout = "subgraphs" if algorithm.layout == "hops" and min(sizes, default=0) < 0 else algorithm.layout
    method = choose_select(algorithm, weighted, select)
    row, in_flight = _instance_bytes(store, algorithm, sizes, layout, sources, method)
    request = Request(
        store.fingerprint, name, algorithm.parameters(), edge_bias, weighted, seed, sources.instances,
        sources.digest(), method, collision, max(1, min(sources.instances, GROUP_BYTES // row)), ids,
    )  # fmt: skip
    most = _share(sources.instances, len(devices), request.group_size)
    shape = Shape(store, algorithm, request, in_flight, most, detect)
    policy = policy or Policy()
    if not devices and not (policy.batching and policy.balancing):
        raise OptionError(
            "--no-batching and --no-balancing compare launches on GPUs; leave them out, or pass --device cuda"
        )
    host_budget = memory or available_bytes()
    smallest = min(devices, key=lambda gpu: gpu.free_bytes, default=None)
    if smallest is None:
        fit = _fit_host(shape, host_budget, batch, graph_layout, residency)
    else:
        fit = _fit_device(
            shape,
            devices,
            gpu_memory or smallest.free_bytes * 9 // 10,
            host_budget,
            batch,
            graph_layout,
            residency,
        )
    detector = choose_detector(algorithm, method, collision, fit["graph_layout"], bool(devices), detect)
    plan = Plan(
        request, layout, sizes, "cuda:" + ",".join(str(gpu.number) for gpu in devices) if devices else "cpu", threads=threads,
        transit=transit, detect=detector, expected=fit.pop("expected", {}), output_bytes=sources.instances * row, host_bytes=host_budget // 2,
        policy=policy, **fit,
    )  # fmt: skip
    if transit == "on":
        refuse_transit(plan, algorithm, store.id_dtype, sources.frontier_size)
    return plan


def _share(instances: int, devices: int, group: int) -> int:
    """The most instances that a device should take at a time: of several GPUs each has some turns, in whole groups."""
    return instances if devices <= 1 else -(-instances // (TURNS * devices * group)) * group


@dataclass(frozen=True)
class Shape:
    """What decides how much memory a run needs; ``row`` is bytes of an instance in flight, ``most`` how many a device takes at a time.

    ``detect`` is the detector of repeated candidates that was asked for, if any.
    """

    store: Any
    algorithm: Algorithm
    request: Request
    row: int
    most: int
    detect: str | None

    @property
    def table(self) -> bool:
        """Whether neighbors are taken from alias tables."""
        return self.request.select == "alias" or (self.request.select == "rejection" and self.request.weighted)

    @property
    def weights(self) -> bool:
        """Whether weights are read, by kernels or by what builds their tables."""
        bias = hooks.edge_bias(self.algorithm, self.request.weighted)
        return self.request.weighted and ("weight" in bias.reads or self.request.select == "rejection")

    @property
    def second_order(self) -> bool:
        return "is_neighbor" in hooks.edge_bias(self.algorithm, self.request.weighted).reads

    @property
    def weighs_members(self) -> bool:
        """Whether hash tables of rows hold the neighbors' weights too."""
        return self.request.weighted and return_apart(self.algorithm, self.request.select) and not self.store.multigraph

    @property
    def running_sums(self) -> bool:
        """Whether selection may search in running sums of biases that are made once for the whole graph."""
        a, r = self.algorithm, self.request
        if not from_whole_rows(a) or a.layout != "hops" or r.select != "its" or r.collision == "updated":
            return False
        return (
            hooks.edge_bias(a, r.weighted).static
            and min(a.sizes(), default=0) >= 0
            and max(a.sizes(), default=0) <= CTPS_PICKS
        )

    @property
    def asks_members(self) -> bool:
        """Whether any hook asks if an edge is there."""
        others = hooks.others(self.algorithm, self.request.weighted).values()
        return self.second_order or any(hook is not None and "is_neighbor" in hook.reads for hook in others)


def _fit_host(
    shape: Shape, budget: int, batch: int | None, graph_layout: str | None, forced: str | None
) -> dict[str, Any]:
    """Residency and batch in host memory."""
    store, row, instances = shape.store, shape.row, shape.request.instances
    only = "table" if shape.table else "csr"
    if graph_layout not in (None, only):
        raise OptionError(f"--layout {graph_layout}: on the CPU this run reads {only}; other layouts are for GPUs")
    if forced in ("streamed", "pooled"):
        raise OptionError(f"--residency {forced} is for GPUs; on the CPU a graph is resident, or streams from disk")
    item = np.dtype(store.id_dtype).itemsize
    per_edge = 3 * item if shape.table else item
    if shape.weights and (not shape.table or shape.request.select == "rejection"):
        per_edge += 4
    fixed = (
        8 * (store.vertices + 1) + 2 * store.vertices + (store.edges if shape.second_order else 0)
    )  # filters: 8 bits an edge
    graph = store.edges * per_edge
    in_flight = batch or max(1, min(instances, max(shape.request.group_size, min(BATCH_BYTES, budget // 4) // row)))
    residency = forced or ("resident" if fixed + graph + in_flight * row <= budget else "disk")
    if residency == "disk":
        in_flight = batch or max(1, min(instances, budget // 4 // row))
        largest = max((p.edges for p in store.partitions), default=0) * per_edge
        slots = 2 if shape.second_order else 1
        need = fixed + slots * largest + in_flight * row
        if need > budget:
            raise BudgetError(
                f"{store.path}: {slots} partition(s) of {largest:,} bytes, {fixed:,} for offsets and {in_flight * row:,} for "
                f"samples in flight exceed the budget of {budget:,} bytes; raise --memory to {need:,}, or make "
                f"smaller partitions with csaw partition --partition-size"
            )
    filters = shape.second_order and residency == "resident"
    return {
        "graph_layout": only, "membership": "filter" if filters else "search", "residency": residency, "batch": in_flight, "graph_bytes": graph, "fixed_bytes": fixed,
        "batch_bytes": in_flight * row, "budget_bytes": budget, "refused": {},
    }  # fmt: skip


def _fit_device(
    shape: Shape,
    devices: tuple[Any, ...],
    budget: int,
    host_budget: int,
    batch: int | None,
    forced: str | None,
    residency: str | None,
) -> dict[str, Any]:
    """Layout and batch in a GPU's memory: the widest layout that fits and is worth building; streamed where none fits."""
    if residency == "pooled":
        return _fit_pooled(shape, devices, budget, batch)
    if residency in ("streamed", "disk"):
        return _fit_streamed(shape, devices, budget, host_budget, batch, residency)
    store, row, instances = shape.store, shape.row * DEVICE_ROWS, shape.most
    possible = _layouts(shape)
    if forced is not None and forced not in possible:
        raise OptionError(f"--layout {forced} cannot serve this run; possible are {', '.join(possible)}")
    item = np.dtype(store.id_dtype).itemsize
    scratch = 16 * min(store.edges, ALIAS_CHUNK + store.max_degree) if shape.table else 0
    fixed = 16 * (store.vertices + 1) + scratch
    shared = item + (4 if shape.weights else 0)
    sizes = {"csr": 0, "entries": 16, "table": 3 * item, "alias": 32, "ctps": 8}
    table = 8 * store.edges + 32 * (store.vertices + 1)  # half-empty rows of 4-byte slots
    extra = {"search": 0, "filter": store.edges, "hash": 2 * table if shape.weighs_members else table}
    answers = () if not shape.asks_members else ("hash", "filter") if item == 4 else ("filter",)
    least = min(row, budget)
    ways = list(product(answers or ("search",), (forced,) if forced else possible))
    near = [(m, way) for m, way in ways if store.edges * sizes[way] + extra[m] <= NEAR_BYTES]
    for membership, layout in [*near, *ways]:
        graph = store.edges * (shared + sizes[layout]) + extra[membership]
        if fixed + graph + least <= budget:
            break
    else:
        too_large = f"{fixed + graph + least:,} bytes are needed on a GPU and {budget:,} are allowed"
        if residency == "resident" or forced is not None:
            raise BudgetError(f"{store.path}: {too_large}; raise --gpu-memory, or leave out --residency and --layout")
        try:
            fit = _fit_pooled(shape, devices, budget, batch)
        except CsawError as error:
            fit = _fit_streamed(shape, devices, budget, host_budget, batch)
            fit["refused"]["pooled"] = str(error)
        fit["refused"]["resident"] = too_large
        return fit
    in_flight = batch or max(1, min(instances, min(DEVICE_BATCH_BYTES, budget - fixed - graph) // row))
    return {
        "graph_layout": layout, "membership": membership, "residency": "resident", "batch": in_flight, "graph_bytes": graph,
        "fixed_bytes": fixed, "batch_bytes": in_flight * row, "budget_bytes": budget, "refused": {},
    }  # fmt: skip


def owners(store: Any, devices: int) -> list[int]:
    """Which of several GPUs holds each partition of a pooled graph: neighboring ones together, edges about equal."""
    return [
        min(devices - 1, (2 * p.first_edge + p.edges) * devices // max(2 * store.edges, 1)) for p in store.partitions
    ]


def _fit_pooled(shape: Shape, devices: tuple[Any, ...], budget: int, batch: int | None) -> dict[str, Any]:
    """The graph spread over GPUs that read each other's memory, a batch on each."""
    store, row, count = shape.store, shape.row * DEVICE_ROWS, len(devices)
    if count < 2:
        raise OptionError("--residency pooled spreads the graph over several GPUs; name them, as in --device cuda:0,1")
    for a, b in product(devices, devices):
        if a is not b and b.number not in a.peers:
            raise OptionError(
                f"--residency pooled: GPU {a.number} cannot read the memory of GPU {b.number} (nvidia-smi topo -p2p r); use --residency streamed"
            )
    per_edge = _piece_bytes(shape)
    held = np.bincount(owners(store, count), [p.edges for p in store.partitions], count)
    largest = max((p.edges for p in store.partitions), default=0)
    fixed = 16 * (store.vertices + 1) + (16 * largest if shape.table else 0)
    graph = int(held.max()) * per_edge
    need = fixed + graph + min(row, budget)
    if need > budget or held.min() == 0:
        raise BudgetError(
            f"{store.path}: its {len(store.partitions)} partitions, spread over {count} GPUs, take {need:,} bytes on one of them and {budget:,} are allowed; "
            f"raise --gpu-memory, name more GPUs, or make smaller partitions with csaw partition --partition-size"
        )
    in_flight = batch or max(1, min(shape.most, min(DEVICE_BATCH_BYTES, budget - fixed - graph) // row))
    return {
        "graph_layout": "table" if shape.table else "csr", "membership": "search", "residency": "pooled", "batch": in_flight,
        "graph_bytes": graph, "fixed_bytes": fixed, "batch_bytes": in_flight * row, "budget_bytes": budget, "refused": {},
    }  # fmt: skip


def _piece_bytes(shape: Shape) -> int:
    """Bytes of an edge of a partition on a GPU."""
    item = np.dtype(shape.store.id_dtype).itemsize
    return item + (4 if shape.weights else 0) + (3 * item if shape.table else 0)


def _fit_streamed(
    shape: Shape, devices: tuple[Any, ...], budget: int, host_budget: int, batch: int | None, forced: str | None = None
) -> dict[str, Any]:
    """Slots for partitions and a batch in a GPU's memory; the graph in host memory, or on disk where that is too small as well."""
    store, row, instances = shape.store, shape.row * DEVICE_ROWS, shape.most
    item = np.dtype(store.id_dtype).itemsize
    kept = item + (4 if shape.weights else 0)
    per_edge = _piece_bytes(shape)
    largest = max((p.edges for p in store.partitions), default=0)
    slots = 2 if shape.second_order else 1
    fixed = 16 * (store.vertices + 1) + (16 * largest if shape.table else 0)
    in_flight = batch or max(1, min(instances, min(DEVICE_BATCH_BYTES, budget // 4) // row))
    need = fixed + slots * largest * per_edge + in_flight * row
    if need > budget:
        raise BudgetError(
            f"{store.path}: {slots} partition(s) of {largest * per_edge:,} bytes, {fixed:,} for offsets and {in_flight * row:,} for "
            f"samples in flight are needed on {devices[0].name} and {budget:,} are allowed; raise --gpu-memory to {need:,}, make smaller partitions "
            f"with csaw partition --partition-size, or use --device cpu"
        )
    residency = forced or ("streamed" if store.edges * kept <= host_budget // 2 else "disk")
    room = (budget - fixed - in_flight * row) // max(largest * per_edge, 1)
    return {
        "graph_layout": "table" if shape.table else "csr", "membership": "search", "residency": residency, "batch": in_flight,
        "graph_bytes": store.edges * per_edge, "fixed_bytes": fixed, "batch_bytes": in_flight * row, "budget_bytes": budget, "refused": {},
        "expected": _expected(shape, room, in_flight, kept, residency),
    }  # fmt: skip


def transfer_units(plan: Plan, store: Any) -> int:
    """How many units a streamed graph is best moved in: some fit at once, and each is worth the start of its transfer."""
    if plan.residency not in ("streamed", "disk"):
        return len(store.partitions)
    return max(1, -(-plan.graph_bytes * UNITS_AT_ONCE // max(plan.capacity, 1)), -(-plan.graph_bytes // UNIT_BYTES))


def _expected(shape: Shape, room: int, in_flight: int, kept: int, residency: str) -> dict[str, float]:
    """About what streaming will take, if instances are spread evenly over partitions: copies of partitions to GPUs, bytes, seconds."""
    store, parts = shape.store, max(len(shape.store.partitions), 1)
    away = max(parts - room, 0) / parts  # of steps that lead out of what is loaded
    batches = -(-shape.request.instances // in_flight)
    walk = isinstance(shape.algorithm, Walk) or shape.algorithm.clocks  # type: ignore[attr-defined]
    steps = shape.algorithm.walk_length if walk else len(shape.algorithm.sizes())  # type: ignore[attr-defined]
    graph_bytes = store.edges * kept
    picks = in_flight * steps * away * READ_BYTES
    if residency == "streamed" and not shape.table and picks < steps * away**2 * graph_bytes:
        copied, read = min(room, parts) / parts * graph_bytes, batches * picks
    else:
        copied, read = batches * (steps * away**2 if walk else steps * away + 1) * graph_bytes, 0.0
    from_store = copied if residency == "disk" else graph_bytes
    seconds = (copied + read) / BUS_BYTES + from_store / DISK_BYTES
    return {
        "transfers": round(copied / max(graph_bytes, 1) * parts),
        "bytes": round(copied),
        "seconds": round(seconds, 3),
    }


def _layouts(shape: Shape) -> tuple[str, ...]:
    """Layouts that can serve a run on a GPU, the fastest first."""
    walk, wide = isinstance(shape.algorithm, Walk), np.dtype(shape.store.id_dtype).itemsize > 4
    if shape.table:
        return ("alias", "table") if walk and not wide else ("table",)
    if walk and shape.request.select in ("uniform", "rejection") and not wide:
        steps = shape.request.instances * shape.algorithm.walk_length  # type: ignore[attr-defined]
        return ("entries", "csr") if steps >= shape.store.edges // 8 else ("csr", "entries")
    if shape.running_sums:
        return ("ctps", "csr") if shape.detect is None else ("csr", "ctps")  # detectors are those of select.cu
    return ("csr",)


def _instance_bytes(
    store, algorithm: Algorithm, sizes: tuple[int, ...], layout: str, sources: Sources, select: str
) -> tuple[int, int]:
    """Bytes of an instance's sample, exact for walks and hops and else an estimate; and what it takes while it is sampled."""
    item = np.dtype(store.id_dtype).itemsize
    if isinstance(algorithm, Walk):
        row = item * (algorithm.walk_length + 1) + 8 * 5
        return row, row
    mean = max(1, store.edges // max(store.vertices, 1))
    assert isinstance(algorithm, Traversal)
    pools = algorithm.collective and select == "uniform"
    width = entries = widest = 0 if starts_everywhere(algorithm, select, sources.digest()) else sources.frontier_size
    for size in sizes:
        widest = max(widest, width)
        if algorithm.clocks or algorithm.collective:
            width = max(size, 0)
            widest = max(widest, tries(width) if pools else 0)
        else:
            width = min(width * (mean if size < 0 else size), store.edges)
        entries += width
    row = max(1, entries * (item if layout == "hops" else 3 * item + 24))
    return row, row + widest * FRONTIER_BYTES


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable"))
        return int(found.split()[1]) * 1024 * 9 // 10
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
