"""What a plan chooses, each under the name that an option takes and with the properties that plans and kernels read:
the method that draws a neighbor by its bias, the way to treat collisions, the layout of the graph in memory, and its
residency, the place where it is.
"""

from enum import StrEnum
from typing import Self

from csaw.engine.api.algorithm import Algorithm
from csaw.partition.errors import OptionError

ALIAS_IDS = 3  # an alias table's entry for an edge takes the room of this many vertex ids


class GraphLayout(StrEnum):
    """A layout, under the name that ``--layout`` takes, with the properties that plans, graphs and kernels read."""

    keeps_rows: bool
    """Whether sampling reads neighbors from the rows themselves."""
    entry_bytes: int
    """Bytes built for each edge beside its row, apart from vertex ids."""
    entry_ids: int
    """Vertex ids built for each edge beside its row."""
    grouping_pays: float
    """Picks per edge of the graph in a hop from which grouping pays (docs/contributing/tuning.md); infinity: never
    group.
    """

    CSR = "csr", True, 0, 0, 0.05
    """Rows of neighbors and weights as they are stored."""
    ENTRIES = "entries", False, 16, 0, float("inf")
    """Each edge with offset and length of its target's row: a uniform step reads one line of memory."""
    TABLE = "table", False, 0, ALIAS_IDS, 0.075
    """An alias table for each row, of entries that consist of vertex ids."""
    ALIAS = "alias", False, 32, 0, float("inf")
    """An alias table for each row, of entries with offset and length of both targets' rows: a weighted step reads one
    line of memory.
    """
    CTPS = "ctps", True, 8, 0, 0.004
    """Rows with running sums of their biases, made once for the whole graph: a pick is a search."""
    EVENTS = "events", False, 32, 0, 0.4
    """Each edge in the order by time of its row, with the range of its target's row that may follow it: a step of a
    walk in time reads one line of memory.
    """

    def __new__(cls, name: str, keeps_rows: bool, entry_bytes: int, entry_ids: int, grouping_pays: float) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.keeps_rows, made.grouping_pays = keeps_rows, grouping_pays
        made.entry_bytes, made.entry_ids = entry_bytes, entry_ids
        return made

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant LAYOUT: see engine/cuda/kernels/graph.cuh."""
        return list(GraphLayout).index(self)

    @property
    def needs_gpu(self) -> bool:
        """Whether no run on the CPU can read it."""
        return self in (GraphLayout.ENTRIES, GraphLayout.ALIAS, GraphLayout.EVENTS)

    @property
    def keeps_weights(self) -> bool:
        """Whether sampling reads weights from the rows themselves."""
        return self is GraphLayout.CSR

    @property
    def is_built(self) -> bool:
        """Whether it has to be built from the rows before sampling begins."""
        return self.built_bytes(1) > 0

    @property
    def has_alias_tables(self) -> bool:
        """Whether a pick reads an alias table."""
        return self in (GraphLayout.TABLE, GraphLayout.ALIAS)

    @property
    def has_sums(self) -> bool:
        """Whether a pick searches in running sums."""
        return self is GraphLayout.CTPS

    def built_bytes(self, id_bytes: int) -> int:
        """Bytes built for each edge beside its row, in a graph whose vertex ids take ``id_bytes``."""
        return self.entry_bytes + self.entry_ids * id_bytes


class Method(StrEnum):
    """A method of selection, the cheapest first, under the name that ``--select`` takes.

    It has the properties that plans and kernels read.
    """

    by_edge: bool
    """Whether a pick reads single edges, however long the row is."""
    exact_number: bool
    """Whether a pick takes the same number of reads each time."""

    UNIFORM = "uniform", True, True
    """Draw any neighbor: all biases are equal."""
    ALIAS = "alias", True, True
    """Draw from an alias table made beforehand (Walker 1977; Vose 1991)."""
    REJECTION = "rejection", True, False
    """Propose a neighbor by its weight, or any edge in a traversal, accept it by its bias (KnightKing, SOSP 2019)."""
    ITS = "its", False, False
    """Search the running sums of a row: inverse transform sampling (C-SAW, SC 2020, section IV)."""
    KEYS = "keys", False, False
    """Take the smallest exponential keys (Efraimidis and Spirakis 2006), for selection without replacement."""

    TIME = "time", True, False
    """Search the order of a row by time for the edges that may follow, and draw one by its place or its time."""

    def __new__(cls, name: str, by_edge: bool, exact_number: bool) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.by_edge, made.exact_number = by_edge, exact_number
        return made

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant SELECT."""
        return list(Method).index(self)

    @property
    def by_sums(self) -> bool:
        """Whether a pick searches in running sums of biases, and may meet a neighbor that is selected already."""
        return self is Method.ITS


class Collision(StrEnum):
    """The step to take when inverse transform sampling draws a neighbor that is already selected.

    See C-SAW, SC 2020, section IV-B.
    """

    BIPARTITE = "bipartite"
    """Remove the selected neighbor's region from the space and search again with the same random number."""
    REPEATED = "repeated"
    """Draw again with a new random number."""
    UPDATED = "updated"
    """Remove each selected neighbor from the sums, so that no later draw can hit it."""

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant COLLISION."""
        return list(Collision).index(self)


# Detectors of repeated candidates, for selection without replacement (C-SAW, section IV-B).
#
# The sample is the same with each of them.
#
# strided     a bitmap where neighboring candidates are far apart, so that lanes of a GPU that set bits at once seldom
#             share a word contiguous  a bitmap where neighboring candidates are side by side
# linear      a list of selected candidates, compared one by one
# none        the run cannot draw a candidate twice

DETECTORS = ("strided", "contiguous", "linear")
DETECTOR_CODES = {"strided": 0, "contiguous": 1, "linear": 2, "none": 0}  # DETECT in the kernels' text


def choose_detector(
    algorithm: Algorithm, select: Method, collision: Collision, layout: GraphLayout, gpu: bool, forced: str | None
) -> str:
    """Choose the detector of a run on graph layout ``layout``.

    OptionError if ``forced`` names one that this run cannot use.
    """
    if forced is not None and forced not in DETECTORS:
        raise OptionError(f"--detect {forced}: expected {', '.join(DETECTORS)}")
    reason = _needless(algorithm, select, collision)
    if reason and forced:
        raise OptionError(f"--detect {forced}: {reason}; leave out --detect")
    if reason:
        return "none"
    if layout.has_sums:
        if forced in ("strided", "contiguous"):
            raise OptionError(
                f"--detect {forced}: with --layout ctps, a thread compares its few picks with each other; "
                "use --layout csr, or --detect linear"
            )
        return "linear"
    if forced == "strided" and not gpu:
        raise OptionError(
            "--detect strided separates the threads of a GPU, but on the CPU a single thread selects; use "
            "contiguous or linear"
        )
    return forced or ("strided" if gpu else "contiguous")


def _needless(algorithm: Algorithm, select: Method, collision: Collision) -> str | None:
    """The reason why a run has no collisions to detect; None if it has some."""
    if algorithm.rule.by_steps:
        return f"{algorithm.name()} selects one neighbor at a time, so that none is drawn twice"
    if not select.by_sums:
        return f"this run selects by {select}, which draws no neighbor twice; --detect is for --select its"
    if algorithm.rule.replace:
        return "neighbors are drawn with replacement"
    if collision is Collision.UPDATED:
        return "--collision updated removes selected neighbors from the space, so that none is drawn twice"
    return None


class Residency(StrEnum):
    """One of four places, the fastest first. On the CPU a graph is resident or streamed from disk."""

    RESIDENT = "resident"
    """Whole, in the memory of each GPU or of the host."""
    POOLED = "pooled"
    """Spread over several GPUs, which read each other's memory."""
    HOST = "streamed"
    """In host memory; a GPU has room for some of its partitions."""
    DISK = "disk"
    """In the store; memory has room for some of its partitions."""

    @property
    def streams(self) -> bool:
        """Whether partitions are loaded and evicted while instances wait for them."""
        return self in (Residency.HOST, Residency.DISK)

    @property
    def from_store(self) -> bool:
        """Whether partitions are read from the store during the run."""
        return self is Residency.DISK

    @property
    def reads_over_bus(self) -> bool:
        """Whether a GPU can read single rows over the bus where they are, in host memory."""
        return self is Residency.HOST

    @property
    def on_cpu(self) -> bool:
        """Whether a run on the CPU can use it."""
        return self in (Residency.RESIDENT, Residency.DISK)

    @property
    def in_pieces(self) -> bool:
        """Whether each partition has arrays of its own on a GPU."""
        return self is not Residency.RESIDENT
