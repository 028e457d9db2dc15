"""How an edge list or a table is read: checked once, for the command line and Python alike."""

from dataclasses import dataclass

import numpy as np

from csaw.partition.clusters import METHODS
from csaw.partition.columns import FLAGS, Wishes, wish_of
from csaw.partition.csr import FIRST, KEEP, SUM
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.shown import quoted

MOST_THREADS = 4096
POLICIES = {"keep": KEEP, "first": FIRST, "error": KEEP, "sum": SUM}
CHOICES = {
    "ids": ("auto", "int", "string"),
    "duplicates": tuple(POLICIES),
    "self_loops": ("keep", "drop"),
    "on_error": ("stop", "skip"),
    "balance": ("edges", "vertices"),
    "compression": (None, "lz4"),
    "method": METHODS,
    "partitioner": ("range", "random", "biased-random", "metis", "lp", "degree"),
}


@dataclass(frozen=True)
class IngestOptions:
    """How to read an edge list or a table, and how to lay out the store. The defaults suit the text files of SNAP.

    OptionError or BudgetError names the first option that is out of its range. Columns are named by their header, or numbered from 1.
    """

    directed: bool | None = None
    """Whether a row is an edge in one direction only. None: as the header says, otherwise yes."""
    reverse: bool = False
    """Whether to store each edge at the vertex that it leads to, so that the neighbors of a vertex are those with an edge to it."""
    ids: str = "auto"
    """Type of the vertex ids: ``int``, ``string``, or ``auto``: integers where the first rows have integers, otherwise strings."""
    weight_column: str | int = "auto"
    """Column of the weights; ``none`` reads none; ``auto``: the one that the header calls weight or, without a header, the third of three."""
    duplicates: str = "first"
    """What to do with a repeated edge: ``keep`` all, keep the ``first``, add their weights (``sum``), or raise an ``error``."""
    self_loops: str = "keep"
    """Whether to ``keep`` or ``drop`` edges from a vertex to itself."""
    on_error: str = "stop"
    """What to do on a malformed row: ``stop`` with an error, or ``skip`` and count it."""
    partitions: int | None = None
    """Number of partitions. None: as many as ``partition_bytes`` asks for."""
    partition_bytes: int | None = None
    """Largest size of a partition in bytes. None: an eighth of ``memory``, from 1 MiB to 256 MiB."""
    balance: str = "edges"
    """Whether partitions get equal numbers of ``edges`` or of ``vertices``."""
    compression: str | None = None
    """Compression of the arrays: None, or ``lz4``, which is smaller and loads half as fast."""
    memory: int | None = None
    """Bytes that sorting may use, at least 16 MiB. None: a quarter of the machine's memory."""
    overwrite: bool = False
    source_column: str | int | None = None  # a name, or a number from 1; None: by the header, else 1
    target_column: str | int | None = None  # the same, else 2
    clusters: int | None = None
    """Number of clusters that the vertices are sorted into, for ``cluster-gcn``. None: no clusters."""
    method: str = "metis"
    """How clusters are made: by ``metis``, by ``lp`` (label propagation), or ``random``."""
    cluster_seed: int = 0
    """Seed of the clusters, where their method draws anything."""
    partitioner: str = "range"
    """How vertices are put into partitions, see partitioners.py: by ``range`` of their ids; others number them anew, and original ids stay as they are."""
    partitioner_seed: int = 0
    """Seed of the partitioner, where it draws anything."""
    edge_ids: bool = False
    """Whether the store keeps the row of the input that each edge comes from, in 8 bytes an edge, for ``csaw.partition.read_edge_ids``."""
    skip_lines: int = 0  # of text, before anything is read: a first line "vertices edges"
    threads: int | None = None  # None: all processors

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise OptionError(
                    f"--{name.replace('_', '-')}: expected {', '.join(map(str, choices))}, found {getattr(self, name)!r}"
                )
        _ = self.wishes  # raises OptionError for a wish that no column can have
        _check_whole("--skip-lines", self.skip_lines, "at least 0", 0)
        _check_whole("--cluster-seed", self.cluster_seed, "at least 0", 0)
        _check_whole("--partitioner-seed", self.partitioner_seed, "at least 0", 0)
        for flag, value, said in (
            ("--partition-size", self.partition_bytes, "at least 1 byte"),
            ("--partitions", self.partitions, "at least 1"),
            ("--memory", self.memory, "at least 16MiB"),
            ("--threads", self.threads, "at least 1"),
            ("--clusters", self.clusters, "at least 1"),
        ):
            if value is not None:
                _check_whole(flag, value, said, 1)
        if self.threads is not None and self.threads > MOST_THREADS:
            raise OptionError(f"--threads: expected at most {MOST_THREADS}, found {self.threads}")
        if self.memory is not None and self.memory < 16 << 20:
            raise BudgetError(f"--memory: expected at least 16MiB, found {self.memory:,} bytes")

    @property
    def wishes(self) -> Wishes:
        """The columns to read."""
        given = (self.source_column, self.target_column, self.weight_column)
        source, target, weight = (wish_of(flag, wish) for flag, wish in zip(FLAGS, given, strict=True))
        return Wishes(source, target, weight or "none")


def _check_whole(flag: str, value: object, expected: str, least: int) -> None:
    """OptionError unless ``value`` is an integer, ``least`` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise OptionError(f"{flag}: expected an integer, {expected}, found {quoted(value)}")
    if value < least:
        raise OptionError(f"{flag}: expected {expected}, found {quoted(value)}")
