"""Original ids: a line for each vertex in the order of dense ids.

Line i names row i of Matrix Market and METIS files.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.graph_rows import Edges
from csaw.engine.export.tables import Rows, kind_of_ids, packed, plain_words

SUFFIXES = ()
# A list of ids leaves nothing of itself out.
HOLDS = ("ids", "names", "vertices", "edge_ids", "edge_columns", "direction")
VERTICES = 1 << 18  # written at a time


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    rows = Rows([b"", b"\n"], [kind_of_ids(edges.id_dtype, edges.words)], plain_words(edges.words))
    vertices = edges.store.vertices
    with packed(file, name) as out:
        for first in range(0, vertices, VERTICES):
            out.write(rows.text([edges.original(np.arange(first, min(first + VERTICES, vertices)))]))
    update(edges.store.edges)
