"""How the rows of a file are read."""

from dataclasses import dataclass, field

from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.columns import Columns


@dataclass
class Shape:
    """How to read the rows of a file."""

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
    empty: bool = False  # no rows at all
    is_own: bool = False  # csaw wrote it, and names its columns in a comment
    exact: bool = False  # ``declared`` must hold: Matrix Market
    warnings: list[str] = field(default_factory=list)
