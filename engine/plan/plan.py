"""What a run depends on, and how it will be done: plain data, computed before anything is sampled."""

from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.engine.plan.detectors import choose_detector
from csaw.engine.plan.gpu_memory import on_devices
from csaw.engine.plan.hop_tables import why_not_grouped
from csaw.engine.plan.host_memory import on_host
from csaw.engine.plan.limits import Limits, Shape
from csaw.engine.plan.machine import available_bytes, default_threads
from csaw.engine.plan.needs import Needs, find_needs
from csaw.engine.plan.options import Policy, RunOptions
from csaw.engine.plan.selection import choose_select, tries
from csaw.engine.sources import Sources
from csaw.partition.errors import BudgetError, OptionError

LARGEST_SAMPLE = 1 << 50  # bytes
GROUP_BYTES = 32 << 20  # of a sample store's chunk: the unit that is committed
FRONTIER_BYTES = 150  # of an entry of a frontier, while its neighbors are selected
TURNS = 4  # of each GPU where there are several: the last ones wait for a fraction of one
UNITS_AT_ONCE, UNIT_BYTES = 8, 256 << 20  # partitions that should fit a GPU, and bytes of one that need not be larger
INTERPRETER_BYTES = 256 << 20  # Python, Numba and the compiled kernels: not part of --memory


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
    needs: Needs  # what it reads of its graph, wherever it runs
    layout: str
    sizes: tuple[int, ...]  # neighbors to select at each depth of a traversal
    device: str  # cpu | cuda:0
    graph_layout: str  # what a step reads: csr | entries | table | alias | ctps
    membership: str  # how "is there an edge" is answered: search | filter, then search | hash
    residency: str  # resident | pooled: over several GPUs | streamed: from host memory | disk
    threads: int
    transit: str  # parents whose rows are near each other draw together: auto, hop by hop | on | off
    detect: str  # how a repeated candidate is found: see detectors.py
    batch: int  # instances in flight
    graph_bytes: int
    fixed_bytes: int
    scratch_edges: int  # candidates that selection on a GPU has room for at a time
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
        shown = {k: v for k, v in asdict(self).items() if k not in ("request", "needs", "sizes")}
        return shown | {"select": self.select}


def make_plan(
    store,
    algorithm: Algorithm,
    sources: Sources,
    devices: tuple[Any, ...] = (),
    *,
    name: str,
    weighted: bool,
    options: RunOptions,
) -> Plan:
    """The plan for one run, on the CPU or on GPUs (``devices``); refuses what cannot work, with the numbers and the way out."""
    sizes = algorithm.sizes() if isinstance(algorithm, Traversal) else (1,)
    layout = "subgraphs" if algorithm.layout == "hops" and min(sizes, default=0) < 0 else algorithm.layout
    method = choose_select(algorithm, weighted, options.select)
    needs = find_needs(store, algorithm, sources, weighted=weighted, select=method, collision=options.collision)
    row, in_flight = _instance_bytes(store, algorithm, sizes, layout, sources, needs)
    limit = options.memory or available_bytes()
    least, room = _least_bytes(store, algorithm, sizes, layout, sources), max(limit, available_bytes())
    _refuse_sizes(least, sources.instances, room // 4 if layout == "hops" else room)
    request = Request(
        store.fingerprint, name, algorithm.parameters(), options.edge_bias, weighted, options.seed, sources.instances,
        sources.digest(), method, options.collision, max(1, min(sources.instances, GROUP_BYTES // row)), options.ids,
    )  # fmt: skip
    most = _share(sources.instances, len(devices), request.group_size)
    shape = Shape(store, algorithm, request, needs, in_flight, most, options.detect)
    policy = options.policy
    if not devices and not (policy.batching and policy.balancing):
        raise OptionError(
            "--no-batching and --no-balancing compare launches on GPUs; leave them out, or pass --device cuda"
        )
    free = min((gpu.free_bytes for gpu in devices), default=0)
    limits = Limits(
        limit, options.gpu_memory or free * 9 // 10, options.batch_size, options.layout, options.residency, policy
    )
    fit = on_devices(shape, devices, limits) if devices else on_host(shape, limits)
    detector = choose_detector(algorithm, method, options.collision, fit["graph_layout"], bool(devices), options.detect)
    plan = Plan(
        request, needs, layout, sizes, "cuda:" + ",".join(str(gpu.number) for gpu in devices) if devices else "cpu",
        threads=options.threads or default_threads(), transit=options.transit_parallel, detect=detector, output_bytes=sources.instances * row, host_bytes=limits.host_bytes // 2,
        policy=policy, **fit,
    )  # fmt: skip
    reason = why_not_grouped(plan, algorithm, store.id_dtype, sources.frontier_size)
    if reason and options.transit_parallel == "on":
        raise OptionError(f"--transit-parallel on: {reason}; auto and off always work")
    return replace(plan, transit="off") if reason else plan


def _share(instances: int, devices: int, group: int) -> int:
    """The most instances that a device should take at a time: of several GPUs each has some turns, in whole groups."""
    return instances if devices <= 1 else -(-instances // (TURNS * devices * group)) * group


def transfer_units(plan: Plan, store: Any) -> int:
    """How many units a streamed graph is best moved in: some fit at once, and each is worth the start of its transfer."""
    if plan.residency not in ("streamed", "disk"):
        return len(store.partitions)
    return max(1, -(-plan.graph_bytes * UNITS_AT_ONCE // max(plan.capacity, 1)), -(-plan.graph_bytes // UNIT_BYTES))


def _instance_bytes(
    store, algorithm: Algorithm, sizes: tuple[int, ...], layout: str, sources: Sources, needs: Needs
) -> tuple[int, int]:
    """Bytes of an instance's sample, exact for walks and hops and else an estimate; and what it takes while it is sampled."""
    item = needs.edge.id
    if isinstance(algorithm, Walk):
        row = item * (algorithm.walk_length + 1) + 8 * 5
        return row, row
    mean = max(1, store.edges // max(store.vertices, 1))
    assert isinstance(algorithm, Traversal)
    width = entries = widest = 0 if needs.everywhere else sources.frontier_size
    if algorithm.clocks:
        widest, entries = width, width + algorithm.walk_length  # type: ignore[attr-defined]
        sizes = ()
    for size in sizes:
        widest = max(widest, width)
        if algorithm.collective:
            width = max(size, 0)
            widest = max(widest, tries(width) if needs.in_pools else 0)
        else:
            width = min(width * (mean if size < 0 else size), store.edges)
        entries += width
    row = max(1, entries * (item if layout == "hops" else 3 * item + 24))
    return row, row + widest * FRONTIER_BYTES


def _least_bytes(store, algorithm: Algorithm, sizes: tuple[int, ...], layout: str, sources: Sources) -> int:
    """Bytes that an instance takes in a sample at least."""
    item = np.dtype(store.id_dtype).itemsize
    if isinstance(algorithm, Walk):
        return item * (algorithm.walk_length + 1)
    if layout == "hops":
        return item * sum(accumulate(sizes, mul, initial=sources.frontier_size))
    return 8  # where its edges begin


def _refuse_sizes(each: int, instances: int, memory: int) -> None:
    """BudgetError about instances that memory cannot hold one of, or that no disk holds all of.

    ``memory`` is a quarter of what there is for hops, whose cells are there in each of selection's arrays, the hop and its copy for the disk.
    """
    if each > memory:
        raise BudgetError(
            f"an instance takes {each:,} bytes, with room for every neighbor that it may have, and {memory:,} are allowed; ask for fewer "
            f"neighbors (--fanout) or steps, or raise --memory"
        )
    if each * instances > LARGEST_SAMPLE:
        raise BudgetError(
            f"{instances:,} instances take {each * instances:,} bytes or more, and a sample is at most {LARGEST_SAMPLE:,}; "
            f"ask for fewer (--instances, --num-walks), or draw several samples with seeds of their own"
        )
