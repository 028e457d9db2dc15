"""The plan of a run: how to carry out a request here, as plain data that is computed before anything is sampled."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.termination import follows_edges, is_unlimited
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import expected
from csaw.engine.plan.detectors import choose_detector
from csaw.engine.plan.gpu_memory import on_devices
from csaw.engine.plan.hop_tables import why_not_grouped
from csaw.engine.plan.host_memory import IDS_SHARE, on_host
from csaw.engine.plan.instance_bytes import instance_bytes, least_bytes, refuse_sizes
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.limits import Limits, Shape
from csaw.engine.plan.machine import available_bytes
from csaw.engine.plan.methods import Collision, Method
from csaw.engine.plan.needs import Needs, find_needs
from csaw.engine.plan.options import Policy, RunOptions
from csaw.engine.plan.pieces import LARGE_PIECE
from csaw.engine.plan.rates import ASSUMED, Rates
from csaw.engine.plan.request import Request
from csaw.engine.plan.residency import Residency
from csaw.engine.plan.selection import choose_select
from csaw.engine.plan.target import base_vertices, target_row
from csaw.engine.sources.sources import Sources
from csaw.partition.base.parallel import processors
from csaw.partition.errors import OptionError

GROUP_BYTES = 32 << 20  # of a group, the chunk of a sample store that is committed as a whole
TURNS_PER_GPU = (
    4  # with several GPUs each draws this many batches, so that at the end it waits for a fraction of the work only
)
# Transfer units that should fit the memory at once, and the bytes of one that is large enough for a GPU.
UNITS_AT_ONCE, UNIT_BYTES = 8, 256 << 20
INTERPRETER_BYTES = 256 << 20  # Python, Numba and the compiled kernels: not part of --memory


@dataclass(frozen=True)
class Plan:
    """How a request is carried out here; changing it changes no byte of the sample."""

    request: Request
    needs: Needs  # what the run reads of its graph, on any device
    drawn_layout: str  # walks | ragged-walks | hops | subgraphs | batches: the form in which batches draw
    induced: bool  # whether samples end as the subgraphs of the vertices that were met
    sorts_steps: bool  # whether walks that are joined take steps that may be no edges, which are then looked up
    sizes: tuple[int, ...]  # neighbors to select at each depth of a traversal
    device: str  # cpu | cuda:0
    graph_layout: GraphLayout  # the form of the graph that a step reads
    membership: str  # how to find out whether an edge exists: search | filter, then search | hash
    residency: Residency
    threads: int
    transit: str  # group parents by the place of their rows: auto (decided for each hop) | on | off
    detect: str  # detector of repeated candidates: see detectors.py
    batch: int  # instances in flight
    graph_bytes: int
    fixed_bytes: int
    fixed: dict[str, int]  # what fixed_bytes consist of: see PARTS in limits.py
    pieces: int  # partitions of a streamed graph, as they are brought into memory; 0 if nothing is streamed
    piece_edges: int  # most edges of a piece of several rows: larger partitions are to be split
    piece_bytes: int  # of memory that the largest piece takes
    paths_bytes: int  # for steps on their way to disk, if walks in flight are kept there; else 0
    scratch_edges: int  # candidates that fit in a GPU's scratch memory at a time
    batch_bytes: int
    budget_bytes: int
    output_bytes: int
    strategies: dict[
        str, dict[str, Any]
    ]  # estimates of transfers, bytes and seconds, for each way to bring a streamed graph: see strategies.py; empty if nothing is streamed
    expected: dict[
        str, Any
    ]  # estimate of the run's seconds, and what the quickest strategy moves, by its name: see costs.py
    refused: dict[str, str]  # faster residencies, and the reason why each was refused
    host_bytes: int  # for partitions in host memory, beside those on a GPU
    policy: Policy
    rates: Rates  # of the machine, which the plan counts on
    ways: dict[str, float | str] = field(default_factory=dict)  # where the run could take place: seconds, or why not

    @property
    def sample_layout(self) -> str:
        """The form in which samples are handed out and stored: walks, hops or subgraphs."""
        return "subgraphs" if self.induced or self.request.target else self.drawn_layout

    @property
    def lists_members(self) -> bool:
        """Whether the edges among the vertices of an instance are looked up."""
        return self.induced or self.sorts_steps

    @property
    def at_a_time(self) -> int:
        """Instances of the sample that a device draws at a time: of a target those of a group, for ``batch`` counts base instances."""
        return min(self.batch, self.request.group_size) if self.request.target else self.batch

    @property
    def capacity(self) -> int:
        """Bytes of memory for partitions that are loaded and evicted."""
        return self.budget_bytes - self.fixed_bytes - self.batch_bytes

    def keeps_ids(self, id_bytes: int) -> bool:
        """Whether original ids of so many bytes are kept in memory, rather than read from disk as they are written."""
        if id_bytes == 0 or self.request.ids == "dense":
            return True
        return self.fixed["ids"] > 0 if "ids" in self.fixed else id_bytes <= self.host_bytes // IDS_SHARE

    @property
    def select(self) -> Method:
        return self.request.select

    @property
    def collision(self) -> Collision:
        return self.request.collision

    def as_dict(self) -> dict[str, Any]:
        shown = {
            k: v
            for k, v in asdict(self).items()
            if k not in ("request", "needs", "sizes", "sorts_steps", "piece_edges", "paths_bytes", "drawn_layout")
        }
        return shown | {"sample_layout": self.sample_layout, "select": self.select}


def make_plan(
    store: Store,
    algorithm: Algorithm,
    sources: Sources,
    devices: tuple[Any, ...] = (),
    *,
    name: str,
    weighted: bool,
    options: RunOptions,
    rates: Rates = ASSUMED,
) -> Plan:
    """Plan one run, on the CPU or on GPUs (``devices``), by the ``rates`` of the machine.

    OptionError, BiasError or BudgetError if the run cannot work; the message has the number, the limit and a way out.
    """
    sizes = algorithm.sizes() if isinstance(algorithm, Traversal) else (1,)
    layout = _sample_layout(algorithm, sizes)
    method = choose_select(algorithm, weighted, options.select)
    needs = find_needs(store, algorithm, sources, weighted=weighted, select=method, collision=options.collision)
    induced, target = options.induced or algorithm.ends_induced, sources.at_random and int(options.target)
    row, in_flight = instance_bytes(store, algorithm, sizes, layout, sources, needs, induced and not target)
    bases = sources.instances
    if target:
        bases *= -(-2 * target // base_vertices(algorithm, row, needs.edge.id))
        row = target_row(target, needs.edge.id)
    limits = _limits(devices, options, rates)
    least, room = least_bytes(store, algorithm, sizes, layout, sources), max(limits.host_bytes, available_bytes())
    refuse_sizes(least, sources.instances, room // 4 if layout == "hops" else room)
    request = Request(
        store.fingerprint, name, algorithm.parameters(), options.edge_bias, weighted, options.seed, sources.instances,
        sources.digest(), method, options.collision, max(1, min(sources.instances, GROUP_BYTES // row)), options.ids, induced, target or 0, algorithm.vertex_columns.digests, algorithm.file_digest,
    )  # fmt: skip
    most = _share(bases, len(devices), 1 if target else request.group_size)
    shape = Shape(store, algorithm, replace(request, instances=bases), needs, in_flight, most, options.detect)
    memory = on_devices(shape, devices, limits) if devices else on_host(shape, limits)
    threads, output = options.threads or processors(), sources.instances * row
    memory = replace(memory, expected=expected(shape, memory, rates, threads, len(devices), output))
    detector = choose_detector(algorithm, method, options.collision, memory.graph_layout, bool(devices), options.detect)
    plan = Plan(
        request, needs, layout, induced, bool(target) and isinstance(algorithm, Walk) and not follows_edges(algorithm), sizes, "cuda:" + ",".join(str(gpu.number) for gpu in devices) if devices else "cpu",
        threads=threads, transit=options.transit_parallel, detect=detector, output_bytes=output,
        host_bytes=limits.host_bytes // 2, policy=options.policy, rates=rates, **vars(memory),
    )  # fmt: skip
    return _grouped(plan, why_not_grouped(plan, algorithm, store.id_dtype, sources.frontier_size))


def _sample_layout(algorithm: Algorithm, sizes: tuple[int, ...]) -> str:
    if is_unlimited(algorithm):
        return "ragged-walks"
    return "subgraphs" if algorithm.layout == "hops" and min(sizes, default=0) < 0 else algorithm.layout


def _limits(devices: tuple[Any, ...], options: RunOptions, rates: Rates) -> Limits:
    """The limits of a run. OptionError if scheduling options are given that change nothing on the CPU."""
    policy = options.policy
    if not devices and not (policy.batching and policy.balancing):
        raise OptionError(
            "--no-batching and --no-balancing compare launches on GPUs; run without them, or pass --device cuda"
        )
    free = min((gpu.free_bytes for gpu in devices), default=0)
    return Limits(
        options.memory or available_bytes(), options.gpu_memory or free * 9 // 10, options.in_flight, options.layout, options.residency, policy, rates,
    )  # fmt: skip


def _grouped(plan: Plan, reason: str | None) -> Plan:
    """The plan, without grouping of parents if there is a ``reason`` against it. OptionError if the user asked for grouping."""
    if reason and plan.transit == "on":
        raise OptionError(f"--transit-parallel on: {reason}; use auto or off")
    return replace(plan, transit="off") if reason else plan


def _share(instances: int, devices: int, group: int) -> int:
    """Most instances that a device should draw at a time: with several GPUs, each draws several batches of whole groups."""
    return instances if devices <= 1 else -(-instances // (TURNS_PER_GPU * devices * group)) * group


def transfer_units(plan: Plan, store: Store) -> int:
    """Number of units to move a streamed graph in: small enough that several fit at once, large enough to be worth a transfer."""
    if not plan.residency.streams:
        return len(store.partitions)
    large = LARGE_PIECE if plan.device == "cpu" else UNIT_BYTES
    units = max(1, -(-plan.graph_bytes * UNITS_AT_ONCE // max(plan.capacity, 1)), -(-plan.graph_bytes // large))
    if plan.device == "cpu" and 2 * units > len(store.partitions):
        return len(store.partitions)
    return units
