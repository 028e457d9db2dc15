"""Inputs and result of memory planning: the request, which is everything that a sample depends on, the shape of its
run, the limits set on it, and the fields of the plan that follow.
"""

from dataclasses import asdict, dataclass, field
from typing import Protocol

from csaw.engine.api.algorithm import Algorithm, Traversal
from csaw.engine.plan.choices import Collision, GraphLayout, Method, Residency
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.options import Policy
from csaw.engine.plan.rates import Rates
from csaw.engine.samples.layouts import SampleLayout
from csaw.engine.sources.sources import Sources
from csaw.partition.base.plain_data import Record, Values
from csaw.partition.errors import OptionError


@dataclass(frozen=True)
class Request:
    """Everything the sample depends on. Equal requests give equal samples, bit for bit, on any machine."""

    fingerprint: str
    algorithm: str
    parameters: Values
    edge_bias: str | None
    weighted: bool
    seed: int
    instances: int
    sources: str
    select: Method
    collision: Collision
    group_size: int
    ids: str
    induced: bool = False
    target: int = 0  # distinct vertices of an instance; 0: as many as the algorithm meets
    columns: dict[str, str] = field(default_factory=dict)  # digests of the columns of data of vertices, by name
    code: str = ""  # SHA-256 of the file of an algorithm that csaw does not ship
    metapath: str = ""  # types and relations in turn, which ``edge_bias`` follows

    def as_dict(self) -> Values:
        """Return plain data for a manifest.

        Those that have a default are in it only where they are there, as in the manifests of versions that did not know
        them.
        """
        shown = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {k: v for k, v in shown.items() if v or k not in LATER}


LATER = ("induced", "target", "columns", "code", "metapath")  # of a request, which not every manifest has


class Gpu(Protocol):
    """A GPU, as far as plans know one."""

    @property
    def number(self) -> int:
        """Its number on this machine."""

    @property
    def name(self) -> str: ...

    @property
    def free_bytes(self) -> int:
        """Bytes of its memory that are free."""

    @property
    def peers(self) -> tuple[int, ...]:
        """The numbers of the GPUs whose memory it can read."""


@dataclass(frozen=True)
class Shape:
    """The properties of a run that decide how it is drawn, and how much memory it takes."""

    store: Store
    algorithm: Algorithm
    request: Request
    """The request; with a target, ``instances`` counts the base instances that it is expected to take."""
    needs: Needs
    drawn_layout: SampleLayout
    """The form in which batches draw: see Plan."""
    row: int
    """Bytes of an instance in flight: of its sample, and of what drawing it needs."""
    sample: int
    """Bytes of its sample, out of these."""
    most: int
    """Most instances that one device may draw at a time."""
    on_gpu: bool
    detect: str | None
    """The detector of repeated candidates that the user asked for, if any."""
    sources: Sources

    @property
    def traversal(self) -> Traversal:
        """The algorithm of a run that is known to be a traversal."""
        assert isinstance(self.algorithm, Traversal)
        return self.algorithm

    @property
    def sizes(self) -> tuple[int, ...]:
        """Neighbors to select at each depth of a traversal."""
        return self.traversal.sizes()

    @property
    def by_steps(self) -> bool:
        """Whether instances go on step by step, each at its own pace, as walkers do."""
        return self.algorithm.rule.by_steps


@dataclass(frozen=True)
class Limits:
    """The memory that a run may use, in bytes, and the choices that the user made (None: free to choose)."""

    memory: int
    """Of the host."""
    gpu_memory: int
    """Of each GPU."""
    batch: int | None
    layout: GraphLayout | None
    residency: Residency | None
    policy: Policy
    rates: Rates
    """Of the machine."""
    cache_bytes: int
    """Bytes of the machine's memory beside the run's, in which the system keeps files that were read."""


@dataclass(frozen=True)
class MemoryPlan:
    """Result of memory planning: residency, layout, batch and their bytes.

    Plan has the same fields, explained there.
    """

    graph_layout: GraphLayout
    membership: str
    residency: Residency
    batch: int
    batch_bytes: int
    graph_bytes: int
    fixed_bytes: int = field(init=False)
    budget_bytes: int
    fixed: dict[str, int]
    pieces: int = 0
    piece_edges: int = 0
    piece_bytes: int = 0
    scratch_edges: int = 0
    strategies: dict[str, Record] = field(default_factory=dict)
    expected: Record = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    paths_bytes: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed_bytes", sum(self.fixed.values()))


def refuse_far(shape: Shape, option: str) -> None:
    """OptionError if a hook may ask for an edge of a vertex whose row is in no loaded partition.

    ``option``: the one that sets the memory.
    """
    if shape.needs.asks_far:
        raise OptionError(
            f"{shape.algorithm.name()} cannot sample a streamed graph, on which only edge_bias may call "
            f"e.is_neighbor, only for e.prev or e.src, and not with clocks; raise {option} so that the whole "
            "graph fits"
        )
