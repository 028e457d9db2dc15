"""CSV: a header, and rows ``source,target``, with ``weight``, ``edge_id`` and further columns where the store has them;
times are numbers with decimals or dates, as the input has them, floats have the fewest digits that give them again.

An undirected edge is one row.
"""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.graph_rows import Edges
from csaw.engine.export.tables import columns_of, csv_words, names_of_ends, packed, write_edges

SUFFIXES = (".csv", ".csv.gz")
HOLDS = ("ids", "edge_ids", "edge_columns")


def write(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    further = columns_of(edges)
    columns = [*names_of_ends(edges.words, ("source", "target"), further), *further]
    with packed(file, name) as out:
        out.write(",".join(columns).encode() + b"\n")
        write_edges(edges, out, update, [b"", *[b","] * (len(columns) - 1), b"\n"], csv_words(edges.words))
