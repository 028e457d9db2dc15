"""How the rows of a file are read."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.columns import Columns
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.row_checks import Arrow

if TYPE_CHECKING:
    from csaw.partition.ingestion.text.row_checks import RowCheck

EDGES, MATRIX_MARKET, METIS, ADJACENCY = "edges", "matrix-market", "metis", "adjacency"


@dataclass
class Shape:
    """How to read the rows of a file."""

    format: str = EDGES
    newline: int = 10
    columns: int = 0  # that each row must have; 0 is any number from those that are read
    read: Columns = field(default_factory=Columns)
    further: tuple[EdgeColumn, ...] = ()
    strings: bool = False
    separator: bytes | None = None  # None: blanks, commas and semicolons as they come
    header_line: str | None = None
    undirected: bool = False
    says_direction: bool = False
    declared: dict[str, int] = field(default_factory=dict)
    skip: int = 0  # bytes before the rows
    skip_lines: int = 0
    empty: bool = False  # no rows, with a header or without
    only: bytes | None = None  # the text of its only line that is no comment
    is_own: bool = False  # csaw wrote it, and names its columns in a comment
    exact: bool = False  # ``declared`` must hold: Matrix Market
    names: list[str] | None = None  # of the columns
    checks: "tuple[RowCheck, ...]" = ()
    first: tuple[int, int, int] | None = None  # the first row, if it is three numbers
    offset: int = 0  # is added to the ids of targets
    most_sources: int = 0  # the largest source that may be there, if the file says how many there are
    colon: bool = False  # of lists: behind the vertex
    before: int = 1  # of lists: numbers before the neighbors of a line
    weighted_lists: bool = False
    warnings: list[str] = field(default_factory=list)


# The line that says how a file is read.

FEW = 8  # columns that are all named
NO_ROWS = "no rows"


def text_read_as(shape: Shape, options: IngestOptions) -> str:
    """``3 columns, source target weight, directed, ids int``, of a text."""
    if shape.empty:
        return NO_ROWS
    begins = {
        EDGES: columns_of(shape, options),
        MATRIX_MARKET: f"Matrix Market, {columns_of(shape, options)}",
        METIS: f"METIS, lines of neighbors{', with weights' * (shape.read.weight >= 0)}",
        ADJACENCY: "adjacency lists, a vertex and its neighbors in each line",
    }
    ids = "string" if shape.strings else "int"
    header = f", header in line {shape.skip_lines}" if shape.header_line is not None else ""
    return (
        ", ".join([begins[shape.format], direction_of(shape.undirected, options), f"ids {ids}{_offset(shape)}"])
        + header
    )


def direction_of(undirected: bool, options: IngestOptions) -> str:
    """``directed`` or ``undirected``."""
    way = undirected if options.directed is None else not options.directed
    return ("undirected" if way else "directed") + ", reversed" * options.reverse


def columns_of(shape: Shape, options: IngestOptions) -> str:
    """``3 columns, source target weight``."""
    count = shape.columns or max(shape.read.last + 1, len(shape.names or ()))
    few = f"{count} columns" if shape.columns or shape.names else f"at least {count} columns"
    arrow = next((check for check in shape.checks if isinstance(check, Arrow)), None)
    mark = f" with {arrow.mark.decode()!r} between them" if arrow else ""
    return f"{few}{mark}, {roles(shape.read, count, shape.names, options)}"


def roles(read: Columns, count: int, names: list[str] | None, options: IngestOptions) -> str:
    """The role of each column, in order: those that are not read are in brackets, and only their number if there are
    many.
    """
    known = {read.source: "source", read.target: "target", read.weight: "weight"}
    known |= {place: column.name for place, column in zip(read.further, options.further, strict=True)}
    places = range(count) if count <= FEW else sorted(place for place in known if place >= 0)
    said = [known.get(place) or f"({names[place] if names else 'not read'})" for place in places]
    if count > FEW:
        said = [f"{role} (column {place + 1})" for role, place in zip(said, places, strict=True)]
    return " ".join(said)


def _offset(shape: Shape) -> str:
    return f", {shape.offset} added to targets" if shape.offset else ""
