"""Rows of a graph store in pieces, in order, for exports of graphs and of lists."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from csaw.partition import GraphStore
from csaw.partition.arrays.words import Words
from csaw.partition.base.parallel import Crew
from csaw.partition.base.quoting import counted
from csaw.partition.errors import StoreError
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import INDICES

# The ids that vertices of a graph had where it was made, for files that others read.


class OriginalIds:
    """The original ids of the vertices of ``store``."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store

    @property
    def words(self) -> Words | None:
        """The string ids by dense id; None where ids are numbers."""
        ids = self.store.stored_ids()
        return ids if isinstance(ids, Words) else None

    def original(self, dense: np.ndarray) -> np.ndarray:
        """The original ids of vertices that are numbers; of strings the dense ids."""
        ids = self.store.stored_ids()
        return dense if ids is None or isinstance(ids, Words) else np.asarray(ids)[dense]

    @property
    def id_dtype(self) -> np.dtype:
        """The type of what ``original`` gives."""
        ids = self.store.stored_ids()
        return np.dtype(np.int64) if not isinstance(ids, np.ndarray) else ids.dtype


# The edges of a graph store in pieces, in order: what exports of graphs are made of.
#
# Memory holds some pieces, and arrays of the number of vertices.

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
                f"{self.store.path} is marked as undirected, but at least {abs(balance):,} of its edges have no "
                "reverse edge; make it again with csaw partition --undirected"
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
            f"{counted(alone, 'vertex has', 'vertices have')} no edge, which rows of edges cannot show; "
            "matrix-market, metis, graphml and npz can"
        )
        if alone
        else "",
        "ids": "rows are numbered in the order of dense ids; export with --format ids writes the original id of each"
        if store.stored_ids() is not None and not numbered
        else "",
        "names": (
            "some ids begin like numbers, and rows of text cannot mark them as words; read it with --id-type string"
        )
        if names
        else "",
        "edge_ids": "the format has no place for them" if edges.has_edge_ids else "",
        "edge_columns": f"the format has no place for {further}; csv, parquet and arrow have all numbers of edges"
        if (further := ", ".join(column.name for column in store.further_columns if column not in edges.further))
        else "",
        "direction": (
            "edges are written once, and the format cannot mark them as undirected; read it with --undirected"
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


# Rows about the vertices of a graph, such as its triangles, in pieces, in order: what lists on disk are made of.

ROWS = 1 << 18  # of a piece
CELL_BYTES = 48  # of a cell of a piece, as a number and as text, about
LIST_WORK = 1 << 28  # bytes that pieces may take together


class Column(NamedTuple):
    """A column: its name, what it says, and whether it holds vertices, by dense ids, or else counts, int64."""

    name: str
    what: str
    is_vertex: bool


class Listed(OriginalIds):
    """Rows of ``columns``, of which those of vertices come first, about a graph.

    ``title``: what the rows are, in words. ``pieces``: arrays, one a column, with what is done once they are written.
    ``threads`` make files' rows of them.
    """

    def __init__(
        self,
        store: GraphStore,
        title: str,
        columns: Sequence[Column],
        pieces: Iterable[tuple[int, Sequence[np.ndarray]]],
        threads: int,
    ) -> None:
        super().__init__(store)
        self.title, self.columns, self.pieces, self.threads = title, columns, pieces, threads
        self.rows = 0
        """Rows that ``map`` has handed on."""

    @property
    def ends(self) -> int:
        """Number of columns that hold vertices."""
        return sum(column.is_vertex for column in self.columns)

    def map(self, work: Callable[[list[np.ndarray]], Made]) -> Iterator[tuple[int, Made]]:
        """Yield what is done at the end of each piece, and its result of ``work``, in order."""

        def made(done: int, arrays: list[np.ndarray]) -> tuple[int, int, Made]:
            return done, arrays[0].size, work(arrays)

        with Crew(self.threads, LIST_WORK) as crew:
            for done, rows, found in crew.in_order(made, self._equal(), ROWS * CELL_BYTES * len(self.columns)):
                self.rows += rows
                yield done, found

    def _equal(self) -> Iterator[tuple[int, list[np.ndarray]]]:
        """Yield the rows in pieces of ROWS, whatever those that they come in, so that files do not depend on these."""
        kept: list[Sequence[np.ndarray]] = []
        count = done = 0
        for done, arrays in self.pieces:
            first, rows = 0, arrays[0].size
            while count + rows - first >= ROWS:
                last = first + ROWS - count
                yield done, _joined([*kept, [array[first:last] for array in arrays]])
                kept, count, first = [], 0, last
            if first < rows:
                kept.append([array[first:] for array in arrays])
                count += rows - first
        yield done, _joined(kept) if kept else [np.empty(0, np.int64) for _ in self.columns]

    def originals(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the columns with original ids in place of dense ones; of strings the dense ids."""
        return [
            self.original(array) if column.is_vertex else array
            for column, array in zip(self.columns, arrays, strict=True)
        ]


def _joined(pieces: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Put each column's pieces together."""
    return [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
