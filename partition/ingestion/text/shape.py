"""How the rows of a file are read."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.columns import Columns

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
    colon: bool = False  # of lists: behind the vertex
    before: int = 1  # of lists: numbers before the neighbors of a line
    weighted_lists: bool = False
    warnings: list[str] = field(default_factory=list)
