"""A batch of links, each with negatives: vertices that its source has no edge to.

Links that are given come as two vertices. Others are edges of the graph, which an instance draws at the address of its
sources, or takes in turn. The row of the source decides everything else, so on a streamed graph a link waits for one
partition.
"""

import numpy as np

from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.engine.plan.contracts import Array, ByFirstTime, Store
from csaw.engine.plan.footprint import PIECE
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.schedule.backend import ALL, Backend
from csaw.engine.schedule.schedule import crowds
from csaw.partition.base.flags import any_set, set_count
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import BEFORE_ALL, NO_TIME, TIME
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.views import OfRelation

EXPONENT_UNITS = 61  # bits of the sum of all biases by degree
MOST_UNITS = 40  # bits behind the point of one, which a float64 below 2^13 has


class Links:
    """The links from number ``first`` on.

    ``sources``: int64 [instances, 2], both ends of each; [instances, 1], numbers of edges; or [instances, 0], for edges
    that are drawn.
    """

    comes_back = False  # whether a link waits for a partition twice

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        self.backend, self.first, self.xp = backend, first, backend.xp
        self.instances, width = sources.shape
        assert isinstance(backend.algorithm, LinksWithNegatives)
        self.algorithm = backend.algorithm
        dtype = np.dtype(backend.store.id_dtype)
        self.none = dtype.type(np.iinfo(dtype).max)
        xp = self.xp
        if width == 2:
            self.source, target = xp.ascontiguousarray(xp.asarray(sources, np.int64).T)
            self.place = xp.full(self.instances, -1, np.int64)
        else:
            self.source, self.place = backend.ends_of(self._edges(sources, width))
            target = xp.full(self.instances, -1, np.int64)
        self.links = xp.empty((self.instances, 2), dtype)
        self.links[:, 0], self.links[:, 1] = self.source.astype(dtype), target.astype(dtype)
        self.negatives = xp.full((self.instances, self.algorithm.num_negatives), self.none, dtype)
        self.pending = xp.arange(self.instances)
        if backend.streamed:
            backend.partitions.leave()

    def _edges(self, sources: Array, width: int) -> Array:
        """The numbers of the edges that are links, int64 [instances]."""
        xp, edges = self.xp, self.backend.store.edges
        if width:
            return xp.asarray(sources, np.int64)[:, 0]
        slot = xp.full(self.instances, int(SOURCE_SLOT), np.int64)
        number = xp.arange(self.first, self.first + self.instances)
        return self.backend.draw_numbers(number, slot, xp.full(self.instances, edges, np.int64), 1)[:, 0]

    def wants(self) -> np.ndarray:
        """Partitions that links wait for: see schedule/schedule.py."""
        return crowds(self.xp, self.backend.partitions, self.needs())

    def needs(self) -> tuple[Array, ...]:
        """The vertex whose row each pending link needs."""
        return (self.source[self.pending],)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        """Cost of reading the rows in place, as bytes that are copied in the same time: of this step, and of all."""
        edges = int(self.backend.graph.degrees(self.source[self.pending]).sum())
        return (self.backend.bytes_in_place(self.pending.size, self.pending.size, edges),) * 2

    def advance(self) -> None:
        """Draw the negatives of every link whose source has its row in memory."""
        ready, self.pending = self.pending, self.pending[:0]
        if self.backend.streamed:
            can = self.backend.partitions.can_read(self.source[ready])
            ready, self.pending = ready[can], ready[~can]
        self._draw(ready)
        if not self.pending.size:
            self._refuse_full()

    def _draw(self, ready: Array) -> None:
        """Draw the negatives of the links numbered ``ready``."""
        self.backend.draw_negatives(self, ready, self._bounds(), self._upto())

    def _bounds(self) -> np.ndarray:
        """Where the vertices of each type begin, and the end of the last."""
        types = self.backend.store.stored.types
        return np.array([0, self.backend.store.vertices] if types is None else types.bounds, np.int64)

    def _upto(self) -> Array:
        """The biases of all vertices below one; empty if all are the same."""
        if self.backend.biases_upto is None:
            by_degree = self.algorithm.negative_bias == "degree"
            made = units_upto(self.backend.store) if by_degree else np.zeros(0, np.int64)
            self.backend.biases_upto = self.xp.asarray(made)
        return self.backend.biases_upto

    def _refuse_full(self) -> None:
        """OptionError where a source has an edge to every vertex that could be a negative."""
        full = self.negatives[:, 0] == self.none
        if self.algorithm.skip_full or not any_set(full):
            return
        place = int(self.xp.flatnonzero(full)[0])
        store = self.backend.store
        [source] = store.original_ids(np.asarray([int(self.source[place])], store.id_dtype))
        raise OptionError(
            f"link {self.first + place:,}: expected a vertex that {source} has no edge to, found none: it has an edge "
            f"to every vertex that could be a negative{self._as_of(place)}; pass --skip-full to leave such links "
            "without negatives"
        )

    def _as_of(self, place: int) -> str:
        """The time of a link in words, where it has one."""
        return ""

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host({name: array[rows] for name, array in self.on_device().items()})

    def stored(self, rows: slice, identifiers: Identifiers) -> GroupArrays | None:
        """Copy them as a sample store has them; None where the host has to convert ids."""
        return self.backend.as_stored({name: array[rows] for name, array in self.on_device().items()}, identifiers)

    def on_device(self) -> dict[str, Array]:
        return {"links": self.links, "negatives": self.negatives}

    def edges(self) -> int:
        return self.instances

    def dead_ends(self) -> int:
        """Links without a negative."""
        return set_count(self.xp, self.negatives[:, 0] == self.none)


class LinksInTime(Links):
    """The same, with negatives as of the time of each link.

    ``sources``: as of others, but of links that are given int64 [instances, 2, 2], each end with the time of the link.
    ``time`` int64 [instances]: the time of each link; that of an edge is filled in once its row is in memory.
    """

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        given = sources.ndim == 3
        self.time = np.ascontiguousarray(sources[:, 0, 1]) if given else np.full(len(sources), np.int64(NO_TIME))
        super().__init__(backend, first, np.ascontiguousarray(sources[:, :, 0]) if given else sources)

    def _draw(self, ready: Array) -> None:
        if self.backend.first_times is None:
            by_degree = np.diff(self._upto())  # of none where all are as likely
            stored = self.backend.store.stored
            whole = stored.store if isinstance(stored, OfRelation) else stored
            self.backend.first_times = by_first_time(whole, self._bounds(), by_degree)
        self.backend.draw_negatives_in_time(self, ready, self._bounds(), self.backend.first_times)

    def _as_of(self, place: int) -> str:
        return f", those with an edge by the time {self.time[place]}"

    def on_device(self) -> dict[str, Array]:
        return super().on_device() | {"time": self.time}


# The bias of negatives by degree.


def units_upto(store: Store) -> np.ndarray:
    """int64 [V + 1]: the biases of all vertices below one, each the number of edges that lead to it to the power of
    0.75, in whole units.

    Square roots are the same on every machine, and so are the units: the sum of all is below 2^61.
    """
    degree = edges_to(store).astype(np.float64)
    shift = min(MOST_UNITS, EXPONENT_UNITS - int(store.edges).bit_length())
    units = np.sqrt(degree * np.sqrt(degree)) * 2.0**shift
    return np.append(0, np.cumsum(units.astype(np.int64)))


def edges_to(store: Store) -> np.ndarray:
    """int64 [V]: the number of edges that lead to each vertex."""
    if not store.directed:
        return np.diff(store.read_indptr())
    found = np.zeros(store.vertices, np.int64)
    for part in store.partitions:
        ends = np.empty(part.edges, store.id_dtype)
        store.read_edges(part.number, {INDICES: ends})
        found += np.bincount(ends.astype(np.int64), minlength=store.vertices)
    return found


# The times from which vertices may be negatives.


def first_times(store: GraphStore) -> tuple[np.ndarray, np.ndarray]:
    """int64 [V]: the time of the first edge of each vertex, whichever end of it the vertex is; and bool [V]: whether it
    has an edge at all.

    Edges that are before all times, because they have none, count only where a vertex has no others.
    """
    first, has_edge = np.full(store.vertices, np.iinfo(np.int64).max), np.zeros(store.vertices, bool)
    is_timed = np.zeros(store.vertices, bool)
    for part in store.partitions:
        offsets = store.read_offsets(part.number)
        for begin in range(0, part.edges, PIECE):
            count = min(PIECE, part.edges - begin)
            ends, times = np.empty(count, store.id_dtype), np.empty(count, np.int64)
            store.read_edges(part.number, {INDICES: ends, TIME.array: times}, begin)
            degrees = np.diff(np.clip(offsets, begin, begin + count))
            for vertices in (np.repeat(np.arange(part.first_vertex, part.last_vertex), degrees), ends.astype(np.int64)):
                known = times != BEFORE_ALL
                has_edge[vertices], is_timed[vertices[known]] = True, True
                np.minimum.at(first, vertices[known], times[known])
    first[has_edge & ~is_timed] = BEFORE_ALL
    return first, has_edge


def by_first_time(store: GraphStore, bounds: np.ndarray, units: np.ndarray) -> ByFirstTime:
    """The vertices by the time of their first edge, with their biases ``units``, int64 [V]; empty if all are the same.

    ``bounds``: where the vertices of each type begin, and the end of the last.
    """
    first, has_edge = first_times(store)
    number = np.repeat(np.arange(bounds.size - 1, dtype=np.int32), np.diff(bounds))
    vertex = np.lexsort((first, ~has_edge, number))  # stable, so that vertices of one time ascend
    place = np.empty(vertex.size, store.id_dtype)
    place[vertex] = np.arange(vertex.size)
    known = np.add.reduceat(np.append(has_edge, False), bounds[:-1], dtype=np.int64)
    known[np.diff(bounds) == 0] = 0
    upto = np.append(0, np.cumsum(units[vertex])) if units.size else units
    return ByFirstTime(vertex.astype(store.id_dtype), first[vertex], known, place, upto)
