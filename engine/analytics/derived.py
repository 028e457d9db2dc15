"""Graph stores made of a graph that does not fit memory: its simple undirected graph, or its edges reversed.

They are kept, and found again.
"""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NotRequired, TypedDict

import numpy as np

from csaw.datasets.resolve import made_once
from csaw.partition import GraphStore, IngestOptions, open_graph
from csaw.partition.base.cache import cache_dir
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.ingestion.pipeline import ingest_rows


class Kind(TypedDict):
    """The options of an ingest that make a kind of store."""

    directed: bool
    duplicates: str
    self_loops: NotRequired[str]
    reverse: NotRequired[bool]


KINDS: dict[str, Kind] = {
    "undirected": {"directed": False, "self_loops": "drop", "duplicates": "first"},
    "incoming": {"directed": True, "reverse": True, "duplicates": "keep"},
}
PIECE_EDGES = 1 << 20
LEAST_MEMORY = 16 << 20  # bytes, that ingest takes


def derived_store(store: GraphStore, kind: str, folder: Path | None, *, memory: int, threads: int) -> GraphStore:
    """Return the store of this ``kind``, undirected or incoming, that is made of ``store``.

    It stands in ``folder`` (default: the cache), where it is looked for first. ``memory``: bytes for making it.
    """
    if not store.edges:  # of which an ingest makes no graph
        none = np.empty(0, store.id_dtype)
        return InMemory(str(store.path), np.zeros(store.vertices + 1, np.int64), none, directed=KINDS[kind]["directed"])
    folder = cache_dir() / "networks" if folder is None else folder
    options = IngestOptions(
        id_type="int",
        weight_column="none",
        memory=max(memory, LEAST_MEMORY),
        threads=threads,
        **KINDS[kind],
    )

    def make(out: Path) -> GraphStore:
        return ingest_rows(str(store.path), _Rows(store), out, options)

    return open_graph(made_once(folder / f"{store.identity}-{kind}.zarr", str(store.path), make))


class _Rows:
    """The edges of a store in pieces, for an ingest."""

    weighted = False

    def __init__(self, store: GraphStore) -> None:
        self.store, self.vertices = store, store.vertices
        self.shape = SimpleNamespace(undirected=False, strings=False, header_line=None, declared={}, offset=0)
        self.counts = {"edges": 0}

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, None]]:
        for part in self.store.partitions:
            offsets = self.store.read_offsets(part.number)
            for first in range(0, part.edges, PIECE_EDGES):
                indices = np.empty(min(PIECE_EDGES, part.edges - first), self.store.id_dtype)
                self.store.read_part(part.number, first, indices)
                sources = np.searchsorted(offsets, np.arange(first, first + indices.size), side="right") - 1
                self.counts["edges"] += indices.size
                yield sources + part.first_vertex, indices.astype(np.int64), None
