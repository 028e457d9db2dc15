"""GraphML: a node for each vertex, whose id is the original one, and an edge for each edge, with its weight and its
number in the input where the store has them.

An undirected edge is written once. (Brandes, Eiglsperger, Herman, Himsolt and Marshall, GraphML progress report, GD
2001.)
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.formats import BETWEEN, END, NODE, document
from csaw.engine.export.graph_rows import Edges
from csaw.engine.export.tables import Rows, columns_of, kind_of_ids, packed, write_edges, xml_words

SUFFIXES = (".graphml", ".graphml.gz")
HOLDS = ("ids", "names", "edge_ids", "vertices", "direction")
VERTICES = 1 << 18  # written at a time
KEYS = {"weight": ("edge", "float"), "edge_id": ("edge", "long")}


def write(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store, columns, words = edges.store, columns_of(edges), xml_words(edges.words)
    nodes = Rows(NODE, [kind_of_ids(edges.id_dtype, edges.words)], words)
    data = [f'"><data key="{column}">'.encode() for column in columns[:1]] + [
        f'</data><data key="{column}">'.encode() for column in columns[1:]
    ]
    around = [BETWEEN[0], BETWEEN[1], *data, b"</data></edge>\n" if columns else b'"/>\n']
    with packed(file, name) as out:
        said = {"fingerprint": store.fingerprint}
        out.write(document({column: KEYS[column] for column in columns}, said, directed=store.directed))
        for first in range(0, store.vertices, VERTICES):
            dense = np.arange(first, min(first + VERTICES, store.vertices))
            out.write(nodes.text([edges.original(dense)]))
        write_edges(edges, out, update, around, words)
        out.write(END)
