"""Layouts of the graph in memory: the forms in which a step reads it."""

from enum import StrEnum
from typing import Self

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
