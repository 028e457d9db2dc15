"""CSV: a header, and rows ``source,target``, with ``weight`` and ``edge_id`` where the store has them.

An undirected edge is one row.
"""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.cells import csv_words
from csaw.engine.export.edges import Edges
from csaw.engine.export.tables import columns_of, names_of_ends, packed, write_edges

SUFFIXES = (".csv", ".csv.gz")
HOLDS = ("ids", "edge_ids")


def write(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    columns = [*names_of_ends(edges.words, ("source", "target")), *columns_of(edges)]
    with packed(file, name) as out:
        out.write(",".join(columns).encode() + b"\n")
        write_edges(edges, out, update, [b"", *[b","] * (len(columns) - 1), b"\n"], csv_words(edges.words))
