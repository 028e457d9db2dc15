"""In which form a step reads the graph."""

from enum import StrEnum
from typing import Self

ALIAS_IDS = 3  # vertex ids that take as much room as an edge's entry of an alias table


class GraphLayout(StrEnum):
    """A form of the graph: the name that ``--layout`` takes, and what kernels, plans and graphs ask of it."""

    code: int
    """LAYOUT in the kernels' text: see graph.cuh."""
    keeps_rows: bool
    """Whether sampling reads neighbors from the rows themselves."""
    grouping_pays: float
    """Picks in a hop per edge of the graph from which grouping parents pays (measured: docs/tuning.md); infinite where no parents are grouped."""

    CSR = "csr", 0, True, 0.05
    """Rows of neighbors and weights as they are stored."""
    ENTRIES = "entries", 1, False, float("inf")
    """Each edge with offset and length of its target's row: a uniform step reads one line of memory."""
    TABLE = "table", 2, False, 0.075
    """An alias table for each row, of entries that consist of vertex ids."""
    ALIAS = "alias", 3, False, float("inf")
    """The same with offset and length of both targets' rows: a weighted step reads one line of memory."""
    CTPS = "ctps", 4, True, 0.004
    """Rows with running sums of their biases, made once for the whole graph: a pick is a search."""

    def __new__(cls, name: str, code: int, keeps_rows: bool, grouping_pays: float) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.code, made.keeps_rows, made.grouping_pays = code, keeps_rows, grouping_pays
        return made

    @property
    def has_alias_tables(self) -> bool:
        """Whether a pick reads an alias table."""
        return self in (GraphLayout.TABLE, GraphLayout.ALIAS)

    @property
    def has_sums(self) -> bool:
        """Whether a pick searches in running sums."""
        return self is GraphLayout.CTPS

    def built_bytes(self, id_bytes: int) -> int:
        """Bytes that are built of each edge beside its row, in a graph whose vertex ids take ``id_bytes``."""
        sizes = {"csr": 0, "entries": 16, "table": ALIAS_IDS * id_bytes, "alias": 32, "ctps": 8}
        return sizes[self.value]
