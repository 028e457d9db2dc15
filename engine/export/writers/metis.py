"""METIS: the numbers of vertices and edges, then a line for each vertex with its neighbors, counted from 1 in the order
of dense ids, and with weights if they are positive integers.

The format is of undirected graphs without loops and repeated edges (METIS manual 5.1, section 4.1.1), so others are
refused.
"""

from collections.abc import Callable, Iterator
from typing import IO

import numpy as np

from csaw.engine.export.graph_rows import EDGE_BYTES, PIECE, WORK, Edges
from csaw.engine.export.tables import packed
from csaw.partition.base.parallel import Crew
from csaw.partition.base.version import VERSION
from csaw.partition.errors import OptionError
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import GraphStore

SUFFIXES = (".metis", ".graph")
HOLDS = ("vertices", "direction", "numbers")
LARGEST = 2**31 - 1  # weight: METIS's integers have 32 bits unless it is built for more


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store = edges.store
    if store.directed:
        raise OptionError(
            f"{store.path} is directed, but METIS files need undirected graphs; make the store with csaw "
            "partition --undirected"
        )
    if store.multigraph:
        raise OptionError(
            f"{store.path} has repeated edges, which METIS files cannot have; make the store with csaw "
            "partition --duplicates sum or first"
        )

    def made(part: Partition, offsets: np.ndarray, low: int, high: int) -> tuple[int, memoryview]:
        return part.first_edge + int(offsets[high]), _lines(edges, part, offsets, low, high)

    with packed(file, name) as out, Crew(edges.threads, WORK) as crew:
        out.write(
            (
                f"% written by csaw {VERSION}, fingerprint {store.fingerprint}; line i below the counts is the "
                "vertex with the dense id i - 1\n"
            ).encode()
        )
        out.write(f"{store.vertices} {store.edges // 2}{' 001' if store.weighted else ''}\n".encode())
        for done, lines in crew.in_order(made, _spans(edges), PIECE * EDGE_BYTES):
            out.write(lines)
            update(done)
    edges.written = store.edges // 2


def _spans(edges: Edges) -> Iterator[tuple[Partition, np.ndarray, int, int]]:
    """Ranges of whole rows of about PIECE edges."""
    for part in edges.store.partitions:
        offsets = edges.store.read_offsets(part.number)
        low, rows = 0, offsets.size - 1
        while low < rows:
            high = min(
                rows, low + PIECE, max(low + 1, int(np.searchsorted(offsets, offsets[low] + PIECE, "right")) - 1)
            )
            yield part, offsets, low, high
            low = high


def _lines(edges: Edges, part: Partition, offsets: np.ndarray, low: int, high: int) -> memoryview:
    from csaw.engine.export import kernels  # brings Numba

    store, bounds = edges.store, offsets[low : high + 1] - offsets[low]
    neighbors = np.empty(int(bounds[-1]), store.id_dtype)
    weights = np.empty(neighbors.size, np.float32) if store.weighted else None
    store.read_part(part.number, int(offsets[low]), neighbors, weights)
    owners = np.repeat(np.arange(part.first_vertex + low, part.first_vertex + high), np.diff(bounds))
    if (loops := owners == neighbors).any():
        vertex = store.original_ids(owners[loops][:1])[0]
        raise OptionError(
            f"{store.path} has an edge from vertex {vertex} to itself, which METIS files cannot have; make "
            "the store with csaw partition --self-loops drop"
        )
    room = neighbors.size * (21 + 11 * store.weighted) + bounds.size + 32
    out = np.empty(room, np.uint8)
    size = kernels.adjacency(bounds, neighbors, _integers(store, weights), kernels.DIGITS, out)
    return out[:size].data


def _integers(store: GraphStore, weights: np.ndarray | None) -> np.ndarray:
    """Weights as METIS has them; OptionError for one that it cannot have."""
    if weights is None:
        return np.zeros(0, np.uint64)
    wrong = ~((weights >= 1) & (weights <= LARGEST) & (weights == np.floor(weights)))
    if wrong.any():
        raise OptionError(
            f"{store.path} has an edge of weight {weights[wrong][0]}, but weights in METIS files are integers from "
            f"1 to {LARGEST:,}; make the store with such weights, or with csaw partition --weight-column none"
        )
    return weights.astype(np.uint64)
