"""The edges of a graph store in pieces, in order: what exports of graphs are made of.

Memory holds some pieces, and arrays of the number of vertices.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from csaw.engine.export.original_ids import OriginalIds
from csaw.partition.arrays.words import Words
from csaw.partition.base.notebook import counted
from csaw.partition.base.parallel import Crew
from csaw.partition.errors import StoreError
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import INDICES, GraphStore

Made = TypeVar("Made")
PIECE = 1 << 18  # edges of a piece
EDGE_BYTES = 128  # that a piece takes for each of its edges, about
WORK = 1 << 30  # bytes that pieces may take together
INTEGER_FIRST = re.compile(rb"[\s,;]*[-+]?[0-9]+(\.0*)?([\s,;]|$)")
NUMERIC = np.zeros(256, np.bool_)
NUMERIC[list(b"+-0123456789 \t\v\f,;")] = True
"""Bytes that a word begins with which INTEGER_FIRST matches."""


class Piece(NamedTuple):
    """Some edges.

    ``src`` int64 and ``dst``: dense ids; ``weights`` float32 and ``edge_ids`` int64, or None where the store has none;
    ``stop``: the edges up to the last of them; ``further``: their numbers in each of the columns that the format has.
    """

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    edge_ids: np.ndarray | None
    stop: int
    further: tuple[np.ndarray, ...]

    def where(self, some: np.ndarray) -> "Piece":
        """Return the edges where ``some``, bool, is true."""
        weights, edge_ids = (None if one is None else one[some] for one in (self.weights, self.edge_ids))
        further = tuple(one[some] for one in self.further)
        return Piece(self.src[some], self.dst[some], weights, edge_ids, self.stop, further)


class Edges(OriginalIds):
    """The edges of a store. ``threads`` read and work on pieces. ``holds``: what the format has room for."""

    def __init__(self, store: GraphStore, threads: int, holds: Sequence[str]) -> None:
        super().__init__(store.stored)
        self.threads = threads
        self.has_edge_ids = EDGE_ID in store.edge_columns
        self.further = tuple(store.further_columns) if "edge_columns" in holds else ()
        """Columns of the edges, beside weights and edge ids, that are written."""
        self.written = 0
        """Edges that the last ``map`` has handed on."""
        self.met = np.zeros(store.vertices, bool)
        """Vertices that have been an end of an edge."""

    def map(self, work: Callable[[Piece], Made], once: str = "") -> Iterator[tuple[int, Made]]:
        """Yield the number of stored edges up to the end of each piece, and its result of ``work``, in order.

        once: of an undirected graph take each edge once, in the "upper" triangle of its matrix, from the smaller dense
        id to the larger, or in the "lower" one (default: as it is stored, in both directions). StoreError where one of
        its edges has no opposite.
        """
        apart, balance, self.written = once and not self.store.directed, 0, 0

        def made(part: Partition, offsets: np.ndarray, first: int) -> tuple[Piece, int, Made]:
            piece = self._read(part, offsets, first)
            side = np.sign(piece.dst.astype(np.int64) - piece.src) if apart else None
            kept = piece if side is None else piece.where(side <= 0 if once == "lower" else side >= 0)
            return kept, 0 if side is None else int(side.sum()), work(kept)

        with Crew(self.threads, WORK) as crew:
            for piece, more, found in crew.in_order(made, self._spans(), PIECE * EDGE_BYTES):
                self.written, balance = self.written + piece.src.size, balance + more
                self.met[piece.src] = self.met[piece.dst] = True
                yield piece.stop, found
        if balance:
            raise StoreError(
                f"{self.store.path} says that it is undirected, and {abs(balance):,} of its edges or more "
                "have no opposite; make it again with csaw partition --undirected"
            )

    def _spans(self) -> Iterator[tuple[Partition, np.ndarray, int]]:
        for part in self.store.partitions:
            offsets = self.store.read_offsets(part.number)
            for first in range(0, part.edges, PIECE):
                yield part, offsets, first

    def _read(self, part: Partition, offsets: np.ndarray, first: int) -> Piece:
        stop = min(first + PIECE, part.edges)
        low, high = int(np.searchsorted(offsets, first, "right")) - 1, int(np.searchsorted(offsets, stop, "left"))
        counts = np.diff(np.clip(offsets[low : high + 1], first, stop))
        src = np.repeat(np.arange(part.first_vertex + low, part.first_vertex + high), counts)
        arrays = {INDICES: np.empty(stop - first, self.store.id_dtype)}
        written = (column for column in self.store.edge_columns if column in (WEIGHT, EDGE_ID, *self.further))
        arrays |= {column.array: np.empty(stop - first, column.dtype) for column in written}
        self.store.read_edges(part.number, arrays, first)
        weights, edge_ids = arrays.get(WEIGHT.array), arrays.get(EDGE_ID.array)
        further = tuple(arrays[column.array] for column in self.further)
        return Piece(src, arrays[INDICES], weights, edge_ids, part.first_edge + stop, further)

    @property
    def loops(self) -> int:
        """Edges from a vertex to itself, for which all edges are read."""
        return sum(count for _, count in self.map(lambda piece: int((piece.src == piece.dst).sum())))


def left_out(edges: Edges, holds: Sequence[str]) -> dict[str, str]:
    """Return the reason for each thing of its graph that a file lacks, by name.

    ``holds``: what its format has room for; ``numbers`` that it counts vertices from 1.
    """
    store = edges.store
    numbered = "numbers" in holds and _counts_from_1(store.stored_ids())
    alone = 0 if "vertices" in holds else store.vertices - int(edges.met.sum())
    names = "ids" in holds and "names" not in holds and edges.words is not None and _like_numbers(edges.words)
    reasons = {
        "vertices": (
            f"{counted(alone, 'vertex has', 'vertices have')} no edge, and rows of edges cannot say so; "
            "matrix-market, metis, graphml and npz can"
        )
        if alone
        else "",
        "ids": "rows are numbered in the order of dense ids; export with --format ids writes the original id of each"
        if store.stored_ids() is not None and not numbered
        else "",
        "names": (
            "some ids begin like numbers, and rows of text cannot say that they are words; read it with --ids string"
        )
        if names
        else "",
        "edge_ids": "the format has no place for them" if edges.has_edge_ids else "",
        "edge_columns": f"the format has no place for {further}; csv and parquet have all numbers of edges"
        if (further := ", ".join(column.name for column in store.further_columns if column not in edges.further))
        else "",
        "direction": (
            "edges are written once, and the format cannot say that they have no direction; read it with --undirected"
        )
        if not store.directed
        else "",
    }
    return {name: reason for name, reason in reasons.items() if reason and name not in holds}


def _counts_from_1(ids: np.ndarray | Words | None) -> bool:
    """Whether original ids are 1, 2, 3, ..."""
    return isinstance(ids, np.ndarray) and bool((np.asarray(ids) == np.arange(1, ids.size + 1)).all())


def _like_numbers(words: Words) -> bool:
    """Whether a word begins with what may be an integer, so that a reader may take the rows for rows of numbers."""
    begins = words.offsets[:-1][words.sizes() > 0]
    places = np.flatnonzero(NUMERIC[words.text[begins]])
    likely = np.searchsorted(words.offsets, begins[places], "right") - 1
    return any(INTEGER_FIRST.match(word) for word in words.encoded(likely))
