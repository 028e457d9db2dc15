"""How an edge list or a table is read: checked once, for the command line and Python alike."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from csaw.partition.base.arguments import flag, maybe, whole
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.clusters import METHODS
from csaw.partition.graph.csr import FIRST, KEEP, SUM
from csaw.partition.graph.edge_columns import TIME, EdgeColumn, distinct
from csaw.partition.ingestion.columns import EDGE_COLUMN, FLAGS, TIME_COLUMN, Wishes, wish_of
from csaw.partition.ingestion.conditions import Condition, conditions_of
from csaw.partition.ingestion.time_column import FORMATS, MOST_DECIMALS, TimeColumn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# The options by which the edges of an object become a graph.


class GraphOptions(TypedDict, total=False):
    """How the edges of an object become a graph; :func:`csaw.graph` explains each."""

    directed: bool | None
    duplicates: str | None
    self_loops: str
    reverse: bool
    vertex_ids: "ArrayLike | None"
    time: "ArrayLike | str | None"
    source_column: str | int | None
    target_column: str | int | None


def known(how: GraphOptions) -> GraphOptions:
    """OptionError for what is no option of a graph in memory."""
    names = GraphOptions.__annotations__
    if unknown := sorted(how.keys() - names.keys()):
        raise OptionError(f"{unknown[0]}: expected weights, {', '.join(names)}")
    return how


# How an edge list or a table is read.

MOST_THREADS = 4096
LEAST_MEMORY = 16 << 20
POLICIES = {"keep": KEEP, "first": FIRST, "error": KEEP, "sum": SUM}
CHOICES = {
    "format": ("auto", "edges", "matrix-market", "metis", "adjacency"),
    "id_type": ("auto", "int", "string"),
    "duplicates": tuple(POLICIES),
    "self_loops": ("keep", "drop"),
    "on_error": ("stop", "skip"),
    "balance": ("edges", "vertices"),
    "compression": (None, "lz4"),
    "clustering": METHODS,
    "time_format": FORMATS,
    "partitioner": ("range", "random", "biased-random", "metis", "lp", "degree"),
}
READERS = {
    **dict.fromkeys(("reverse", "overwrite", "edge_ids"), flag),
    "directed": maybe(flag),
    **{name: whole() for name in ("skip_lines", "clustering_seed", "partitioner_seed")},
    **{name: maybe(whole(1)) for name in ("partition_bytes", "partitions", "memory", "num_clusters")},
    "threads": maybe(whole(1, MOST_THREADS)),
    "target_offset": maybe(whole()),
    "time_decimals": whole(0, MOST_DECIMALS),
}
"""Readers of the options that are truths and integers."""


@dataclass(frozen=True)
class IngestOptions:
    """How to read an edge list or a table, and how to lay out the store. The defaults suit SNAP's text files.

    OptionError or BudgetError names the first option that is out of range. Columns are named as in the header, or
    numbered from 1.
    """

    directed: bool | None = None
    """Whether a row is an edge in one direction only. None: from the header, otherwise True."""
    reverse: bool = False
    """Whether to store each edge at the vertex that it leads to, so that the neighbors of a vertex are its
    in-neighbors.
    """
    format: str = "auto"
    """Format of text files: rows of ``edges``, a ``matrix-market`` file, a ``metis`` graph, or ``adjacency`` lists
    (lines with a vertex and its neighbors); ``auto`` looks at the first lines, and raises an error if they are
    ambiguous.
    """
    id_type: str = "auto"
    """Type of vertex ids: ``int``, ``string``, or ``auto``: integers if the first rows have integers, otherwise
    strings.
    """
    weight_column: str | int = "auto"
    """Column of the weights; ``none`` reads none; ``auto`` is the column called weight or, without a header, the third
    of three.
    """
    duplicates: str | None = None
    """What to do with repeated edges: ``keep`` all, keep the ``first``, add their weights (``sum``; an edge without a
    weight counts 1, and the graph gets weights), or raise an ``error``. None: ``keep`` with a ``time_column``, because
    repeats at other times are different edges, otherwise ``first``.
    """
    self_loops: str = "keep"
    """Whether to ``keep`` or ``drop`` edges from a vertex to itself."""
    on_error: str = "stop"
    """What to do with malformed rows: ``stop`` with an error, or ``skip`` and count them."""
    partitions: int | None = None
    """Number of partitions. None: from ``partition_bytes``."""
    partition_bytes: int | None = None
    """Largest size of a partition in bytes. None: an eighth of ``memory``, from 1 MiB to 256 MiB."""
    balance: str = "edges"
    """Whether partitions get equal numbers of ``edges`` or of ``vertices``."""
    compression: str | None = None
    """Compression of the arrays: None, or ``lz4``, which is smaller and takes longer to load."""
    memory: int | None = None
    """Bytes that sorting may use, at least 16 MiB. None: a quarter of the machine's memory."""
    overwrite: bool = False
    """Whether to replace a graph store at the same path."""
    source_column: str | int | None = None
    """Column of the sources: a name, or a number from 1. None: from the header, otherwise the first."""
    target_column: str | int | None = None
    """Column of the targets. None: from the header, otherwise the second."""
    num_clusters: int | None = None
    """Number of clusters that the vertices are sorted into, for ``cluster-gcn``. None: no clusters."""
    clustering: str = "metis"
    """How to make clusters: ``metis``, ``lp`` (label propagation), or ``random``."""
    clustering_seed: int = 0
    """Seed of the clusters, if their method is random."""
    partitioner: str = "range"
    """How to assign vertices to partitions, see partitioners.py: by ``range`` of their ids; other methods renumber
    them, but original ids stay the same.
    """
    partitioner_seed: int = 0
    """Seed of the partitioner, if it is random."""
    edge_ids: bool = False
    """Whether to store which row of the input each edge comes from, in 8 bytes an edge, for
    ``csaw.partition.read_edge_ids``.
    """
    edge_columns: tuple[str, ...] = ()
    """Further columns of the edges, which hooks read as ``e.NAME``: each ``NAME:DTYPE``, ``NAME:DTYPE:UNITS`` or either
    with ``=COLUMN`` behind it, the name or number of the column of the input (default: the one called NAME).
    """
    time_column: str | int | None = None
    """Column of the times of edges: a name, or a number from 1. They become the edge column ``time``, int64, and each
    row also keeps its order by time.
    """
    time_format: str = "numbers"
    """Whether times are ``numbers``, dates of ISO 8601 (``iso``), which count from 1970-01-01 in UTC, or numbers that
    do: seconds (``unix``), or integers of shorter units (``unix-ms``, ``unix-us``, ``unix-ns``).
    """
    time_decimals: int = 0
    """Decimals of a time, or of a second of a date, that are kept: with 3, integers count thousandths."""
    target_offset: int | None = None
    """Number that is added to the id of each target, so that both sides of a bipartite graph, numbered from 1 each,
    stay apart. None: what the header of a KONECT file says, otherwise 0.
    """
    where: tuple[str, ...] = ()
    """Conditions such as ``year >= 2023`` on columns of tables, also those of folders ``year=2023``; rows that do not
    fulfill all of them are left out.
    """
    skip_lines: int = 0  # of text, before anything is read: a first line "vertices edges"
    threads: int | None = None  # None: all processors

    def __post_init__(self) -> None:
        if self.duplicates is None:
            object.__setattr__(self, "duplicates", "first" if self.time_column is None else "keep")
        for name, choices in CHOICES.items():
            if not isinstance(value := getattr(self, name), str | None) or value not in choices:
                raise OptionError(
                    f"--{name.replace('_', '-')}: expected {', '.join(map(str, choices))}, found {quoted(value)}"
                )
        for name, read in READERS.items():
            said = "--partition-size" if name == "partition_bytes" else f"--{name.replace('_', '-')}"
            object.__setattr__(self, name, read(said, getattr(self, name)))
        object.__setattr__(self, "edge_columns", texts(self.edge_columns))
        object.__setattr__(self, "where", tuple(one.text for one in conditions_of(self.where)))
        _ = self.wishes, self.further  # raises OptionError for a wish that no column can have
        for name, is_said in (
            ("--time-format", self.time_format != "numbers"),
            ("--time-decimals", self.time_decimals),
        ):
            if is_said and self.time_column is None:
                raise OptionError(f"{name}: expected --time-column with it, found none")
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise BudgetError(f"--memory: expected at least 16MiB, found {self.memory:,} bytes")

    @property
    def policy(self) -> str:
        """The fate of repeated edges, once it is decided."""
        return self.duplicates or "first"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that rows must fulfill."""
        return conditions_of(self.where)

    @property
    def wishes(self) -> Wishes:
        """The columns to read."""
        given = (self.source_column, self.target_column, self.weight_column)
        source, target, weight = (wish_of(flag, wish) for flag, wish in zip(FLAGS, given, strict=True))
        asked = (text.partition("=") for text in self.edge_columns)
        further = [column if is_said else text.partition(":")[0] for text, is_said, column in asked]
        columns = tuple(wish_of(EDGE_COLUMN, wish) or "" for wish in further)
        return Wishes(source, target, weight or "none", columns, wish_of(TIME_COLUMN, self.time_column))

    @property
    def further(self) -> tuple[EdgeColumn, ...]:
        """The edge columns that the store keeps beside weights."""
        time = TimeColumn.of(self.time_format, self.time_decimals)  # OptionError for decimals that no such times have
        try:
            columns = distinct(EdgeColumn.parsed(text.partition("=")[0]) for text in self.edge_columns)
        except OptionError as error:
            raise OptionError(f"{EDGE_COLUMN}: {error}") from error
        if self.time_column is None:
            return columns
        if any(column.name.lower() == TIME.name for column in columns):
            raise OptionError(f"{EDGE_COLUMN} time: pass only one of {EDGE_COLUMN} time and {TIME_COLUMN}")
        return (*columns, time)


def texts(given: object) -> tuple[str, ...]:
    """One text, or several; OptionError for anything else."""
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, list | tuple) or not all(isinstance(text, str) for text in several):
        raise OptionError(f"{EDGE_COLUMN}: expected texts NAME[:DTYPE[:UNITS]][=COLUMN], found {quoted(given)}")
    return tuple(several)
