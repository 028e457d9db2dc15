"""The plan of a run: how to carry out a request here, as plain data that is computed before anything is sampled."""

from dataclasses import asdict, dataclass, field

from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.choices import Collision, GraphLayout, Method, Residency
from csaw.engine.plan.host_memory import IDS_SHARE
from csaw.engine.plan.limits import Request
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.options import Policy
from csaw.engine.plan.rates import Rates
from csaw.engine.samples.layouts import SUBGRAPHS, SampleLayout
from csaw.partition.base.plain_data import Record

# Fields that reports and manifests leave out, because others say the same or nobody but the run reads them.
UNSHOWN = frozenset(
    ("request", "needs", "sizes", "sorts_steps", "drawn_layout", "kind", "tree_edges", "piece_edges", "paths_bytes")
)


@dataclass(frozen=True)
class Plan:
    """How a request is carried out here; changing it changes no byte of the sample."""

    request: Request
    needs: Needs  # what the run reads of its graph, on any device
    drawn_layout: SampleLayout  # the form in which batches draw
    induced: bool  # whether samples end as the subgraphs of the vertices that were met
    sorts_steps: bool  # whether walks that are joined take steps that may be no edges, which are then looked up
    sizes: tuple[int, ...]  # neighbors to select at each depth of a traversal
    device: str  # cpu | cuda:0
    graph_layout: GraphLayout  # the form of the graph that a step reads
    membership: str  # how to find out whether an edge exists: search | filter, then search | hash
    residency: Residency
    threads: int
    transit: str  # group parents by the place of their rows: auto (decided for each hop) | on | off
    kind: BatchKind  # how instances of a batch are drawn
    tree_edges: int  # to reserve for an instance, if a block of a GPU takes it through all depths; else 0
    detect: str  # detector of repeated candidates: see choices.py
    batch: int  # instances in flight
    graph_bytes: int
    fixed_bytes: int
    fixed: dict[str, int]  # what fixed_bytes consist of: see PARTS in footprint.py
    pieces: int  # partitions of a streamed graph, as they are brought into memory; 0 if nothing is streamed
    piece_edges: int  # most edges of a piece of several rows: larger partitions are to be split
    piece_bytes: int  # of memory that the largest piece takes
    paths_bytes: int  # for steps on their way to disk, if walks in flight are kept there; else 0
    scratch_edges: int  # candidates that fit in a GPU's scratch memory at a time
    batch_bytes: int
    budget_bytes: int
    output_bytes: int
    # Estimates of transfers, bytes and seconds, for each way to bring a streamed graph: see streaming.py; empty if
    # nothing is streamed.
    strategies: dict[str, Record]
    expected: Record  # estimates of the run's seconds, and of what the quickest strategy moves: see costs.py
    refused: dict[str, str]  # faster residencies, and the reason why each was refused
    host_bytes: int  # for partitions in host memory, beside those on a GPU
    policy: Policy
    rates: Rates  # of the machine, which the plan counts on
    bias: str | None = None  # how the bias of a walk is drawn by, where it depends on more than the edge
    larger: dict[str, Record] = field(default_factory=dict)  # what larger budgets would be expected to take
    ways: dict[str, float | str] = field(default_factory=dict)  # where the run could take place: seconds, or why not

    @property
    def sample_layout(self) -> SampleLayout:
        """The form in which samples are handed out and stored."""
        return SUBGRAPHS if self.induced or self.request.target else self.drawn_layout

    @property
    def lists_members(self) -> bool:
        """Whether the edges among the vertices of an instance are looked up."""
        return self.induced or self.sorts_steps

    @property
    def at_a_time(self) -> int:
        """Instances of the sample that a device draws at a time: of a target those of a group, for ``batch`` counts
        base instances.
        """
        return min(self.batch, self.request.group_size) if self.request.target else self.batch

    @property
    def capacity(self) -> int:
        """Bytes of memory for partitions that are loaded and evicted."""
        return self.budget_bytes - self.fixed_bytes - self.batch_bytes

    def keeps_ids(self, id_bytes: int) -> bool:
        """Whether original ids of so many bytes are kept in memory, rather than read from disk as they are written."""
        if id_bytes == 0 or self.request.ids == "dense":
            return True
        return self.fixed["ids"] > 0 if "ids" in self.fixed else id_bytes <= self.host_bytes // (2 * IDS_SHARE)

    @property
    def select(self) -> Method:
        return self.request.select

    @property
    def collision(self) -> Collision:
        return self.request.collision

    def as_dict(self) -> Record:
        """Plain data for reports and manifests."""
        shown = {name: value for name, value in asdict(self).items() if name not in UNSHOWN}
        return shown | {"sample_layout": self.sample_layout, "select": self.select}
