"""Matrix Market: the matrix of V rows in which entry (i, j) is the weight of the edge from vertex i to vertex j,
counted from 1 in the order of dense ids.

A directed graph is ``general``; an undirected one ``symmetric``, of which the lower triangle is written. Without
weights it is a ``pattern``. A repeated edge is an entry for each time: readers add them up. (Boisvert, Pozo and
Remington, The Matrix Market exchange formats, NISTIR 5935, 1996.)
"""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.common import NUMBER, WEIGHT
from csaw.engine.export.graph_rows import Edges, Piece
from csaw.engine.export.tables import Rows, packed
from csaw.partition.base.version import VERSION

SUFFIXES = (".mtx", ".mtx.gz")
HOLDS = ("vertices", "direction", "numbers")


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store = edges.store
    entries = store.edges if store.directed else (store.edges + edges.loops) // 2
    field, symmetry = "real" if store.weighted else "pattern", "general" if store.directed else "symmetric"
    header = (
        f"%%MatrixMarket matrix coordinate {field} {symmetry}\n"
        f"% written by csaw {VERSION}, fingerprint {store.fingerprint}; row i is the vertex with the dense id i - 1\n"
        f"{store.vertices} {store.vertices} {entries}\n"
    )
    kinds = [NUMBER, NUMBER, *[WEIGHT] * store.weighted]
    rows = Rows([b"", *[b" "] * (len(kinds) - 1), b"\n"], kinds)

    def made(piece: Piece) -> memoryview:
        return rows.text(
            [piece.src + 1, piece.dst.astype("int64") + 1, *([] if piece.weights is None else [piece.weights])]
        )

    with packed(file, name) as out:
        out.write(header.encode())
        for done, some in edges.map(made, once="lower"):
            out.write(some)
            update(done)
