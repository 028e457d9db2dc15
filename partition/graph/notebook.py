"""A graph store as Python and notebooks show it."""

from typing import Any

from csaw.partition.base.notebook import counted, html_facts, line

IDS = {"identity": "numbers from 0", "string": "strings", "int64": "integers", "uint64": "integers"}


class ShownGraph:
    """Gives a graph store its ``repr`` and its table in notebooks."""

    def __repr__(self: Any) -> str:
        kinds = ("undirected", "directed")[self.directed], ("unweighted", "weighted")[self.weighted]
        repeats = "repeated edges" if self.multigraph else ""
        return line("csaw graph", self.path, [counted(self.vertices, "vertex", "vertices"), counted(self.edges, "stored edge"), *kinds, repeats])  # fmt: skip

    def _repr_html_(self: Any) -> str:
        facts = [
            ("vertices", f"{self.vertices:,}"),
            ("stored edges", f"{self.edges:,}"),
            ("directed", ("no", "yes")[self.directed]),
            ("weighted", ("no", "yes")[self.weighted]),
            ("repeated edges", ("no", "yes")[self.multigraph]),
            ("largest degree", f"{self.max_degree:,}"),
            ("vertex ids", IDS[self.id_kind]),
            ("partitions", f"{len(self.partitions):,}"),
            ("fingerprint", self.fingerprint),
        ]
        return html_facts(f"csaw graph {self.path}", facts)
