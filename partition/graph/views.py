"""Views of a graph store, which copy no data.

A ``Recut`` has other partitions than those on disk: ranges of vertices, whose edges are read from whatever stored
partitions have them. A ``Filtered`` has only some edges: those of a relation, or of a window of time.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from csaw.partition.arrays.loader import AGAIN, StoredArray
from csaw.partition.arrays.uncompared import Uncompared
from csaw.partition.arrays.words import Words
from csaw.partition.base.parallel import heeding, ordered, processors
from csaw.partition.errors import StoreError
from csaw.partition.graph.attributes import TYPED, Attributes
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER, EdgeColumn
from csaw.partition.graph.original_ids import StoredIds
from csaw.partition.graph.parts import Partition, cuts_of, offsets_within
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import RELATION, Types

OFFSET_BYTES = 8
PIECE = 1 << 18  # stored edges that are looked at together, so that memory holds a few MiB beside the counts
THREADS = 8  # that look at pieces at a time
PACKED_PIECE = 1 << 21  # where chunks are compressed: of one with times, which is unpacked whenever a part is read

Item = TypeVar("Item")
Result = TypeVar("Result")


class View(GraphStore):
    """A graph with the vertices of ``store``, whose ids and clusters are read there."""

    def __init__(self, store: GraphStore, attributes: Attributes) -> None:
        super().__init__(store.path, attributes, store.checksums)
        self.store, self.id_dtype, self.clusters = store, store.id_dtype, store.clusters
        self.stages, self.relation_rows = store.stages, store.relation_rows

    @property
    def is_plain(self) -> bool:
        return self.store.is_plain

    @property
    def unpack_bytes(self) -> int:
        return self.store.unpack_bytes

    def read_clusters(self) -> np.ndarray:
        return self.store.read_clusters()

    @property
    def id_bytes(self) -> int:
        return self.store.id_bytes

    @property
    def ids_store(self) -> StoredIds:
        return self.store.ids_store

    def map_ids(self) -> None:
        self.store.map_ids()

    def stored_ids(self) -> np.ndarray | Words | None:
        return self.store.stored_ids()

    def dense_ids(self, originals: Iterable[int | str]) -> np.ndarray:
        return self.store.dense_ids(originals)

    @property
    def stored_edges(self) -> np.ndarray:
        """The number in the store of each edge, of a view of a graph of relations: see staged.py."""
        assert isinstance(self.store, View)
        return self.store.stored_edges


class RowsInMemory(View):
    """A view whose rows begin at other offsets than those on disk, which memory holds: 8 bytes a vertex.

    The order of its rows by time is found from the times whenever it is read.
    """

    is_plain = False  # files of the store have other rows: no reader takes any from them
    piece = PIECE

    @property
    def indptr(self) -> np.ndarray:
        """int64 [V + 1], where rows begin."""
        raise NotImplementedError

    def read_indptr(self) -> np.ndarray:
        return self.indptr.copy()  # a GPU that streams partitions writes their numbers into it

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        part = self.partitions[number]
        return offsets_within(self.indptr, part.first_vertex, part.last_vertex, out)

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        """Nothing is asked for: pieces are read in their order, which the system sees."""

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        if TIME_ORDER.array in arrays:
            self._read_order(number, arrays[TIME_ORDER.array], first)
            arrays = {name: array for name, array in arrays.items() if name != TIME_ORDER.array}
        self._read_rows(number, arrays, first)

    def _read_rows(self, number: int, arrays: Mapping[str, np.ndarray], first: int) -> None:
        """Fill arrays as ``read_edges`` does, but for the order of rows by time, which other rows do not have."""
        raise NotImplementedError

    def _read_order(self, number: int, out: np.ndarray, first: int) -> None:
        """Fill ``out`` with places by time, of edges of a partition from number ``first`` on: rows of a piece of edges
        at a time, of which all times are read.
        """
        from csaw.partition.graph.time_order import time_order  # brings Numba

        offsets, done = self.read_offsets(number), 0
        row = int(np.searchsorted(offsets, first, side="right")) - 1
        while done < out.size:
            begin = int(offsets[row])
            last = max(row + 1, int(np.searchsorted(offsets, begin + self.piece, side="right")) - 1)
            rows = offsets[row : last + 1] - begin
            times = np.empty(int(rows[-1]), TIME.dtype)
            self.read_edges(number, {TIME.array: times}, begin)
            found = time_order(rows, times)[first + done - begin :][: out.size - done]
            out[done : done + found.size] = found
            done, row = done + found.size, last


class Recut(View):
    """``store`` in partitions that begin at other vertices.

    ``begins``: first vertex and first edge of each partition, in order; the graph ends with the last one.
    """

    def __init__(self, store: GraphStore, begins: list[tuple[int, int]]) -> None:
        super().__init__(store, store.attributes)
        each = sum(self.edge_items.values())
        ends = [*begins[1:], (store.vertices, store.edges)]
        self.partitions = [
            Partition(number, vertex, last, edge, end - edge, OFFSET_BYTES * (last - vertex + 1) + each * (end - edge))
            for number, ((vertex, edge), (last, end)) in enumerate(zip(begins, ends, strict=True))
        ]
        self.first_edges = [part.first_edge for part in store.partitions]

    @property
    def stored(self) -> GraphStore:
        return self.store.stored

    def _spans(self, begin: int, count: int) -> Iterator[tuple[int, int, slice]]:
        """Edges begin .. begin + count - 1 of the graph in the store's partitions: (partition, its first edge wanted,
        the place of them among all wanted).
        """
        at, number = begin, max(bisect_right(self.first_edges, begin) - 1, 0)
        while at < begin + count:
            part = self.store.partitions[number]
            end = min(part.first_edge + part.edges, begin + count)
            if at < end:
                yield number, at - part.first_edge, slice(at - begin, end - begin)
            at, number = max(at, end), number + 1

    def read_indptr(self) -> np.ndarray:
        return self.store.read_indptr()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        part = self.partitions[number]
        offsets = np.zeros(part.last_vertex - part.first_vertex + 1, np.int64) if out is None else out
        for one in self.store.partitions:
            low, high = max(one.first_vertex, part.first_vertex), min(one.last_vertex, part.last_vertex)
            if low < high:
                rows = self.store.read_offsets(one.number)[low - one.first_vertex : high - one.first_vertex + 1]
                offsets[low - part.first_vertex : high - part.first_vertex + 1] = (
                    rows + one.first_edge - part.first_edge
                )
        return offsets

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        count = next((array.size for array in arrays.values()), 0)
        for part, edge, span in self._spans(self.partitions[number].first_edge + first, count):
            self.store.read_edges(part, {name: array[span] for name, array in arrays.items()}, edge)

    def read_uncompared(self, number: int, arrays: Mapping[str, np.ndarray]) -> list[Uncompared]:
        own, found = self.partitions[number], list[Uncompared]()
        for part, edge, span in self._spans(own.first_edge, own.edges):
            some = {name: array[span] for name, array in arrays.items()}
            if span.stop - span.start < self.store.partitions[part].edges:
                self.store.read_edges(part, some, edge)
            else:
                found += [one._replace(first=one.first + span.start) for one in self.store.read_uncompared(part, some)]
        return found

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        part = self.partitions[number]
        for at, edge, span in self._spans(part.first_edge + first, part.edges if count is None else count):
            self.store.read_ahead(at, names, edge, span.stop - span.start)


class Split(Recut):
    """``store`` with each partition of more than ``edges`` edges cut into pieces of at most that many, about equal
    ones, so that any memory has room for some; a row is never cut.
    """

    def __init__(self, store: GraphStore, edges: int) -> None:
        begins: list[tuple[int, int]] = []
        for part in store.partitions:
            cuts, offsets = [0], np.zeros(1, np.int64)
            if part.edges > edges:
                offsets = store.read_offsets(part.number)
                cuts = cuts_of(offsets, edges)
            begins += [(part.first_vertex + cut, part.first_edge + int(offsets[cut])) for cut in cuts]
        super().__init__(store, begins)


class Coalesced(Recut):
    """``store`` with neighboring partitions merged into at most ``count``, of about equal edges, so that each transfer
    is worth its start.
    """

    def __init__(self, store: GraphStore, count: int) -> None:
        firsts = np.array([p.first_edge for p in store.partitions] + [store.edges])
        cuts = np.searchsorted(firsts, np.linspace(0, store.edges, count + 1)[1:-1])
        cuts = np.unique([0, *np.clip(cuts, 1, None)])
        begins = [store.partitions[k] for k in cuts.tolist() if k < len(store.partitions)]
        super().__init__(store, [(part.first_vertex, part.first_edge) for part in begins])


# A part of the edges of a graph, as a view: edges are left out while they are read.
#
# Nothing is copied or written. A pass over a column counts the edges that each row keeps, and those that are kept
# before each piece of PIECE stored edges: by these counts, a place among the edges of the view is found again in the
# store.

LEAST_TIME = -(2**63)


class Window(NamedTuple):
    """The times from ``first`` to ``last``, both included, int64 in the units of a store; LEAST_TIME: no first one."""

    first: int
    last: int

    def holds(self, times: np.ndarray) -> np.ndarray:
        """Whether each time is in the window, bool."""
        found = times <= self.last
        return found if self.first == LEAST_TIME else found & (times >= self.first)


def span_of(store: GraphStore) -> tuple[int, int] | None:
    """The first and the last time of a graph's edges, by a pass over all times; None where it has no edges."""
    found: list[int] = []
    piece = _piece_of(store)
    for part in store.partitions:
        for first in range(0, part.edges, piece):
            times = _read(store, part, TIME.array, TIME.dtype, first, piece)
            found += [int(times.min()), int(times.max())]
    return (min(found), max(found)) if found else None


class KeptPiece(NamedTuple):
    """A piece of the stored edges of a partition: the number of its first one there, how many of all are kept, how many
    of these come before those that are wanted, and where these go.
    """

    first: int
    kept: int
    skipped: int
    out: slice


class Filtered(RowsInMemory):
    """The edges of ``store`` that have a certain property, among all of its vertices.

    Its offsets stay in memory until they are released.

    Raises:
        StoreError: a file of the store has changed.
    """

    column: EdgeColumn
    """The column by which edges are kept."""

    def __init__(self, store: GraphStore) -> None:
        self.store, self.piece = store, _piece_of(store)
        super().__init__(store, self._attributes())
        self.in_memory = store.in_memory

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Whether edges with these values in the column are kept, bool."""
        raise NotImplementedError

    @cached_property
    def _kept(self) -> tuple[np.ndarray, list[list[int]]]:
        """The offsets of all rows; and of each partition, edges that are kept before each of its pieces, and in all."""
        indptr = np.zeros(self.store.vertices + 1, np.int64)
        return indptr, [self._count(part, indptr) for part in self.store.partitions]

    @property
    def indptr(self) -> np.ndarray:
        return self._kept[0]

    @property
    def counts(self) -> list[list[int]]:
        return self._kept[1]

    def release_offsets(self) -> None:
        """Free the offsets of rows, 8 bytes a vertex, once they are known elsewhere; edges are read by the counts."""
        self._kept = np.zeros(0, np.int64), self.counts

    def release(self) -> None:
        """Free the counts; another pass over the times counts again when edges are read."""
        vars(self).pop("_kept", None)

    def _count(self, part: Partition, indptr: np.ndarray) -> list[int]:
        """Count what a partition keeps: into the offsets of its rows, and before each of its pieces."""
        offsets, counts = self.store.read_offsets(part.number), [0]
        ends = indptr[part.first_vertex + 1 : part.last_vertex + 1]
        before = indptr[part.first_vertex]
        ends[:] = before  # of rows before the first edge, or of all where there is none
        firsts = range(0, part.edges, self.piece)
        for first, upto in zip(firsts, self._in_threads(partial(self._upto, part), firsts), strict=True):
            low, high = np.searchsorted(offsets[1:], [first, first + upto.size], side="right")
            ends[low:high] = before + counts[-1] + upto[offsets[1 + low : 1 + high] - first - 1]
            counts.append(counts[-1] + int(upto[-1]))
        return counts

    def _upto(self, part: Partition, first: int) -> np.ndarray:
        """Edges of a piece of a partition that are kept, up to each of its edges."""
        return np.cumsum(self.holds(self._by(part, first)), dtype=np.int64)

    def _in_threads(self, work: Callable[[Item], Result], pieces: Sequence[Item]) -> Iterator[Result]:
        """Yield ``work(piece)`` of each piece in order; threads work on pieces whose chunks are not compressed."""
        threads = min(processors(), THREADS, len(pieces)) if self.piece == PIECE else 1
        if threads < 2:
            yield from map(work, pieces)
            return
        with ThreadPoolExecutor(threads) as pool:
            heard = heeding(work)
            yield from ordered((pool.submit(heard, piece) for piece in pieces), threads)

    def _attributes(self) -> Attributes:
        store = self.store
        each = sum(store.edge_items.values())
        partitions = []
        for part, counts in zip(store.partitions, self.counts, strict=True):
            nbytes = OFFSET_BYTES * (part.last_vertex - part.first_vertex + 1) + each * counts[-1]
            first_edge = int(self.indptr[part.first_vertex])
            partitions.append([part.first_vertex, part.last_vertex, first_edge, counts[-1], nbytes])
        return store.attributes | {
            "edges": int(self.indptr[-1]),
            "max_degree": int(np.diff(self.indptr).max(initial=0)),
            "partitions": partitions,
            "report": {},
        }

    def _read_rows(self, number: int, arrays: Mapping[str, np.ndarray], first: int) -> None:
        part, count = self.store.partitions[number], next((array.size for array in arrays.values()), 0)

        def read(piece: KeptPiece) -> None:
            values, kept = self._kept_in(part, piece)
            for name, out in arrays.items():
                found = values if name == self.column.array else self._read(part, name, out.dtype, piece.first)
                np.take(found, kept, out=out[piece.out])

        for _ in self._in_threads(read, self._pieces_of(number, first, count)):
            pass

    def kept_edges(self, number: int, first: int, count: int) -> np.ndarray:
        """int64 [count]: the numbers in the store of the edges of a partition from number ``first`` on."""
        part, found = self.store.partitions[number], np.empty(count, np.int64)
        for piece in self._pieces_of(number, first, count):
            found[piece.out] = self._kept_in(part, piece)[1] + (part.first_edge + piece.first)
        return found

    def _pieces_of(self, number: int, first: int, count: int) -> list[KeptPiece]:
        """The pieces with the edges of a partition from number ``first`` on, ``count`` of them."""
        counts, found = self.counts[number], list[KeptPiece]()
        begin = max(bisect_right(counts, first) - 1, 0)
        for piece, (low, high) in enumerate(pairwise(counts[begin:]), begin):
            if low >= first + count:
                break
            wanted = slice(max(low, first), min(high, first + count))
            if wanted.start < wanted.stop:
                out = slice(wanted.start - first, wanted.stop - first)
                found.append(KeptPiece(piece * self.piece, high - low, wanted.start - low, out))
        return found

    def _kept_in(self, part: Partition, piece: KeptPiece) -> tuple[np.ndarray, np.ndarray]:
        """The values of all edges of a piece in the column, and the places in it of those that are wanted."""
        values = self._by(part, piece.first)
        kept = np.flatnonzero(self.holds(values))
        if kept.size != piece.kept:
            raise StoreError(f"{self.path}: {self.column.name}s of edges have changed since they were counted; {AGAIN}")
        return values, kept[piece.skipped :][: piece.out.stop - piece.out.start]

    def _by(self, part: Partition, first: int) -> np.ndarray:
        """The values by which edges are kept, of a piece of a partition."""
        return self._read(part, self.column.array, self.column.dtype, first)

    def _read(self, part: Partition, name: str, dtype: np.dtype, first: int) -> np.ndarray:
        return _read(self.store, part, name, dtype, first, self.piece)

    def opened(self, number: int, name: str) -> StoredArray:
        """Raise StoreError: no file has these edges alone."""
        raise StoreError(f"{self.path}: no file has the {name} of some edges alone; read them with read_edges")


class OfRelation(Filtered):
    """The edges of one relation of a graph that has several."""

    column = RELATION

    def __init__(self, store: GraphStore, number: int) -> None:
        self.number = number
        super().__init__(store)

    def holds(self, values: np.ndarray) -> np.ndarray:
        found: np.ndarray = values == self.number
        return found


class Windowed(Filtered):
    """The edges of ``store``, which has times, whose time is in ``window``.

    Its fingerprint and its identity are those of the store with the window, not of a store that was made of these edges
    alone.
    """

    column = TIME

    def __init__(self, store: GraphStore, window: Window) -> None:
        self.window = window
        super().__init__(store)

    def _attributes(self) -> Attributes:
        said, window = super()._attributes(), [int(one) for one in self.window]
        said["fingerprint"] = hashlib.sha256(f"{self.store.fingerprint} {window}".encode()).hexdigest()[:32]
        said["window"] = window
        if self.store.types is not None:
            said[TYPED] = self._types(self.store.types).attributes
        return said

    def holds(self, values: np.ndarray) -> np.ndarray:
        return self.window.holds(values)

    def _types(self, types: Types) -> Types:
        """The types of the store, with the edges of each relation that are in the window."""
        edges = np.zeros(len(types.relations), np.int64)
        for part in self.store.partitions:
            for first in range(0, part.edges, self.piece):
                held = self.holds(self._by(part, first))
                numbers = self._read(part, RELATION.array, RELATION.dtype, first)
                edges += np.bincount(numbers[held], minlength=edges.size)
        return replace(types, edges=tuple(edges.tolist()))


def _piece_of(store: GraphStore) -> int:
    """The number of stored edges that are looked at together."""
    return PIECE if store.in_memory or not store.edges or store.is_plain else PACKED_PIECE


def _read(store: GraphStore, part: Partition, name: str, dtype: np.dtype, first: int, most: int) -> np.ndarray:
    """The elements of an array of a partition from number ``first`` on, at most so many."""
    out = np.empty(min(most, part.edges - first), dtype)
    store.read_edges(part.number, {name: out}, first)
    return out
