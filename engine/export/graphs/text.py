"""Text: rows ``source target``, with the weight and the number of the edge in the input where the store has them, below
a header as SNAP's files have it.

An undirected edge is
one row."""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.graph_rows import Edges
from csaw.engine.export.tables import columns_of, packed, plain_words, write_edges
from csaw.partition.base.version import VERSION

SUFFIXES = (".txt", ".txt.gz")
HOLDS = ("ids", "edge_ids", "direction")
NAMES = {"weight": "Weight", "edge_id": "EdgeId"}


def write(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store, columns = edges.store, [NAMES[name] for name in columns_of(edges)]
    words = plain_words(edges.words)
    header = (
        (
            f"# {'Directed' if store.directed else 'Undirected'} graph, written by csaw {VERSION}, fingerprint "
            f"{store.fingerprint}\n"
        )
        + "# "
        + "\t".join(["FromNodeId", "ToNodeId", *columns])
        + "\n"
    )
    with packed(file, name) as out:
        out.write(header.encode())
        write_edges(edges, out, update, [b"", *[b"\t"] * (1 + len(columns)), b"\n"], words)
