"""A graph store as Python and notebooks show it."""

from pathlib import Path
from typing import Any

from csaw.partition.base.notebook import counted, html_facts, line
from csaw.partition.base.quoting import near
from csaw.partition.graph.edge_columns import EdgeColumn

IDS = {"identity": "numbers from 0", "string": "strings", "int64": "integers", "uint64": "integers"}


class ShownGraph:
    """Gives a graph store its ``repr`` and its table in notebooks; see GraphStore for the attributes."""

    path: Path
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    multigraph: bool
    max_degree: int
    id_kind: str
    fingerprint: str
    partitions: list[Any]  # Partition, which stands in a file that imports this

    @property
    def further_columns(self) -> tuple[EdgeColumn, ...]:
        """The edge columns beside weights and edge ids."""
        raise NotImplementedError

    def __repr__(self) -> str:
        kinds = ("undirected", "directed")[self.directed], ("unweighted", "weighted")[self.weighted]
        columns = " and ".join(column.name for column in self.further_columns)
        more = "repeated edges" if self.multigraph else "", f"edges with {columns}" if columns else ""
        return line(
            "csaw graph",
            near(self.path),
            [counted(self.vertices, "vertex", "vertices"), counted(self.edges, "stored edge"), *kinds, *more],
        )

    def _repr_html_(self) -> str:
        facts = [
            ("vertices", f"{self.vertices:,}"),
            ("stored edges", f"{self.edges:,}"),
            ("directed", ("no", "yes")[self.directed]),
            ("weighted", ("no", "yes")[self.weighted]),
            *[("edge column", column.text) for column in self.further_columns],
            ("repeated edges", ("no", "yes")[self.multigraph]),
            ("largest degree", f"{self.max_degree:,}"),
            ("vertex ids", IDS[self.id_kind]),
            ("partitions", f"{len(self.partitions):,}"),
            ("fingerprint", self.fingerprint),
        ]
        return html_facts(f"csaw graph {near(self.path)}", facts)
