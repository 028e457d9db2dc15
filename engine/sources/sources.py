"""Where instances start: ``all``, ``random:N``, a list that the user gives, or what the algorithm asks for.

First what is required of sources that are given, then ``Sources``, the vertices of each instance.
"""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from math import gcd
from types import ModuleType

import numpy as np

from csaw.engine.api.algorithm import LARGEST, Algorithm, MiniBatches
from csaw.engine.api.rules import VertexLayer, WholeClusters
from csaw.engine.api.starts import SourceKind, sources_each
from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.engine.draws.vectors import distinct_below
from csaw.engine.sources.digest import SourcesDigest, digest_of
from csaw.engine.sources.given_sources import Listed, read_sources, source_times, times_asked
from csaw.engine.sources.link_ends import are_links, edge_numbers, edges_of, require_pairs, require_relation
from csaw.engine.sources.seeds import MOST_BATCHES, DrawnSeeds, Excluded, SeedOrder, order_of
from csaw.engine.sources.start_edges import StartEdges
from csaw.engine.sources.turns import Turns
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.clusters import Clusters

# The kind of a run's sources, the clusters that they may be, and the sets that they must be.

CHECKED = 1 << 20  # sources that are compared at a time


def kind_of_sources(by_itself: SourceKind, given: object, at_random: bool) -> SourceKind:
    """The kind of sources of an algorithm that has this one ``by_itself``, for what was given."""
    kind = by_itself
    if isinstance(given, str) and given == "all":
        kind = by_itself if by_itself is SourceKind.EVERY else SourceKind.ALL
    elif given is not None:
        kind = SourceKind.LIST
    return SourceKind.RANDOM if at_random and kind is SourceKind.ALL else kind


def refuse_given(algorithm: Algorithm, kind: SourceKind, instances: int | None) -> None:
    """OptionError where sources of this ``kind`` are given to an algorithm that draws from the whole graph; and where
    those that are drawn from edges are counted otherwise than by ``instances``.
    """
    by_itself = algorithm.sources_from
    if by_itself == SourceKind.EDGES and (
        kind != by_itself or not (instances or getattr(algorithm, "num_walks", 1) == 1)
    ):
        flag = "--num-walks" if kind == by_itself else "--sources"
        raise OptionError(f"{flag}: expected none with --start edge, which draws the start edges; pass --instances")
    if by_itself not in (SourceKind.EVERY, SourceKind.CLUSTERS) or kind == by_itself:
        return
    if by_itself == SourceKind.CLUSTERS:
        what = "clusters of"
    else:
        what = f"its {'vertices' if isinstance(algorithm.rule, VertexLayer) else 'edges'} from"
    raise OptionError(f"--sources: {algorithm.name()} draws {what} the whole graph; leave out --sources")


def instances_of(wanted: int | None, each: int, flag: str, rounds: int) -> int:
    """The number of instances of so many ``rounds`` of ``each``, or as many as are ``wanted``.

    OptionError where ``flag``, which says how many rounds, and ``wanted`` do not agree.
    """
    if wanted is not None and rounds != 1 and wanted != each * rounds:
        raise OptionError(
            f"--instances: expected {each * rounds:,}, which is {each:,} for each of {flag} {rounds:,}, found "
            f"{wanted:,}; leave out {flag} or --instances"
        )
    return wanted or each * rounds


def clusters_of(store: GraphStore, wanted: int) -> Clusters:
    """The clusters of a graph store. OptionError where it has none, or fewer than are ``wanted`` for an instance."""
    if store.clusters is None:
        raise OptionError(
            f"{store.path} has no clusters; make a store with clusters: csaw partition FILE OUT --num-clusters N"
        )
    if wanted > store.clusters.count:
        raise OptionError(
            f"--clusters-per-batch: expected at most the graph's {store.clusters.count} clusters, found {wanted}"
        )
    return store.clusters


def require_room(algorithm: Algorithm, store: GraphStore, size: int) -> None:
    """OptionError where a graph has fewer vertices than the ``size`` different ones that an instance draws."""
    if size > store.vertices:
        flag = "--pool-size" if algorithm.rule.waiting else "--frontier-size"
        raise OptionError(f"{flag}: expected at most the graph's {store.vertices} vertices, found {size}")


def are_sets(algorithm: Algorithm) -> bool:
    """Whether the sources of an instance are different vertices, because it meets each vertex once.

    A pool may begin with a vertex several times. Algorithms that begin with clusters take no vertices.
    """
    rule = algorithm.rule
    return rule.only_new and rule.waiting is None and not isinstance(rule, WholeClusters)


def require_sets(listed: np.ndarray | None, count: int, size: int, instances: int) -> None:
    """OptionError where an instance, which is a set of ``size`` vertices, might have one of its sources twice.

    ``listed``: int64, the dense ids of the ``count`` sources; None where all are different. ``instances``: those that
    take them in turn; 0 where they are drawn.
    """
    if size > count:
        raise OptionError(
            f"--sources: expected at least {size:,} vertices, because an instance starts at that many different "
            f"vertices, found {count:,}; give more sources, or ask for fewer in an instance (--frontier-size)"
        )
    if listed is None or np.unique(listed).size == count:  # a part of them has each once
        return
    if not instances:
        raise OptionError("--sources: expected different vertices, found one of them twice; give each once")
    sets, at_once = min(instances, count // gcd(size, count)), max(1, CHECKED // size)  # after which they begin again
    for first in range(0, sets, at_once):
        numbers = np.arange(first, min(first + at_once, sets))
        rows = np.sort(listed[(numbers[:, None] * size + np.arange(size)) % count], axis=1)
        if (twice := (rows[:, 1:] == rows[:, :-1]).any(axis=1)).any():
            raise OptionError(
                f"--sources: expected {size:,} different vertices for each instance, found one of them twice for "
                f"instance {first + int(twice.argmax()):,}; give each once"
            )


# Where instances start.

MANY = 1 << 16  # sources that a GPU counts faster than it is sent them
MOST_EPOCHS = 2**32 - 1  # their numbers are part of the address of what shuffles them
OF_TYPE = "type:"  # before the name of a type, all of whose vertices are sources
COUNT = re.compile(r"[0-9]{1,19}")
LISTED = 2**64 - 1  # number of the instance whose draws choose random:N


class Sources:
    """The sources of every instance, computed when they are needed.

    With a list of S sources, walk i starts at source i % S; of all vertices of a graph that has grown, where ``turns``
    says. Traversal i of frontier size m has sources i m .. i m + m - 1, modulo S. Mini-batches take them as their
    ``order`` says, which other algorithms have not. ``at_random``: each source is drawn from the list, or from all
    vertices, independently.
    """

    seeds: SeedOrder | None = None  # the order that :meth:`in_turn` has given
    turns: Turns | None = None  # of walks that take all vertices several times, where the graph has grown
    start_edges: StartEdges | None = None  # of walks that start at edges by their times
    made: Callable[[int, int], np.ndarray] | None = None  # what :meth:`made_by` has given
    excluded: Callable[[int, int], Excluded] | None = None

    def __init__(
        self,
        store: GraphStore,
        algorithm: Algorithm,
        given: object = None,
        instances: int | None = None,
        seed: int = 0,
        at_random: bool = False,
    ) -> None:
        self.vertices, self.seed = store.vertices, seed
        self.frontier_size = sources_each(algorithm)
        self.kind = kind_of_sources(SourceKind[algorithm.sources_from.upper()], given, at_random)
        refuse_given(algorithm, self.kind, instances)
        self.asked = given if isinstance(given, str) and given.startswith("random:") else None
        """The text that the list of sources follows from, with the seed; None for other sources."""
        self.at_random = at_random
        self.are_seeds, self.are_links = isinstance(algorithm, MiniBatches), are_links(algorithm)
        self.listed: np.ndarray | None = None
        """The dense ids of a list of sources, int64; None for other sources."""
        self.labels: np.ndarray | None = None
        """The labels of a list of seeds, float64; None where they have none."""
        self.edges = edges_of(store, algorithm) if self.are_links and self.kind is not SourceKind.LIST else 0
        """Edges that instances take as their links; 0 where they have given links, or none at all."""
        listed = self._listed(store, given, algorithm) if self.kind is SourceKind.LIST else None
        if listed is not None:
            self.listed, self.labels = listed.ids, listed.labels
            if self.are_links:
                require_pairs(listed.ids, given)
                require_relation(store, algorithm, listed.ids)
        self.times = None if self.edges else source_times(algorithm, None if listed is None else listed.times)
        """The times of the sources; None where the algorithm asks for none."""
        if self.kind is SourceKind.EVERY:
            self.frontier_size = store.vertices
        self._read_graph(store, algorithm)
        self.order = self._order(algorithm)
        rounds = int(getattr(algorithm, "num_walks", 1))
        self.instances = self._instances(instances, rounds)
        if self.kind is SourceKind.ALL and self.one_after_the_other:
            self.turns = Turns.of(store.stored.growth, rounds)
        self.are_sets = self._are_sets(algorithm)

    def _read_graph(self, store: GraphStore, algorithm: Algorithm) -> None:
        """Read what sources of this kind are drawn from. OptionError where the graph has none of it."""
        if self.kind is SourceKind.CONNECTED:
            self.connected = np.flatnonzero(np.diff(store.read_indptr()))
            if not self.connected.size:
                raise OptionError(f"{store.path} has no edge to start from; give vertices with --sources")
        if self.kind is SourceKind.EDGES:
            if not store.edges:
                raise OptionError(f"{store.path} has no edge to start from")
            self.indptr = store.read_indptr()
            self.start_edges = StartEdges.of(store, algorithm, self.indptr, self.seed)
        if self.kind is SourceKind.DISTINCT:
            require_room(algorithm, store, self.frontier_size)
        if self.kind is SourceKind.CLUSTERS:
            self.clusters = clusters_of(store, self.frontier_size)

    def _are_sets(self, algorithm: Algorithm) -> bool:
        """Whether an instance begins with several different vertices. OptionError where those given are not."""
        several = are_sets(algorithm) and self.frontier_size > 1 and self.times is None
        if several:
            require_sets(self.listed, self.places, self.frontier_size, self.instances * self.one_after_the_other)
        return several

    def _order(self, algorithm: Algorithm) -> SeedOrder | DrawnSeeds | None:
        if (
            not isinstance(algorithm, MiniBatches) or self._count == 0
        ):  # an empty list is refused with the number of instances
            return None
        order = order_of(algorithm, self.listed, self._count, self.seed)
        self.frontier_size, self.epochs = order.size, algorithm.epochs
        return order

    @property
    def _count(self) -> int:
        """Number of sources in the list."""
        return (2 * self.edges or self.vertices) if self.listed is None else self.listed.size

    def _instances(self, wanted: int | None, num_walks: int) -> int:
        if wanted is not None and not 1 <= wanted <= LARGEST:
            raise OptionError(f"--instances: expected 1 to {LARGEST}, found {quoted(wanted)}")
        if self._count == 0 or self.vertices == 0:
            raise OptionError("--sources: no source to start from; give a vertex of the graph")
        if not self.kind.in_turn:
            return wanted or self.edges or 1
        if self.at_random:
            return wanted or 1
        if self.order is not None:
            return self._mini_batches(wanted, self.order.batches_per_epoch)
        return instances_of(wanted, max(1, self._count // self.frontier_size), "--num-walks", num_walks)

    def instances_in(self, vertices: int, edges: int) -> int:
        """The number of instances that there would be by default in a graph of so many ``vertices`` and ``edges``."""
        if not self.kind.in_turn and self.edges:
            return edges
        if self.kind is not SourceKind.ALL or self.at_random:
            return self.instances
        if self.order is None:
            each, first = (max(1, count // self.frontier_size) for count in (self._count, vertices))
        elif isinstance(self.order, DrawnSeeds):
            each, first = self.order.batches_per_epoch, max(1, -(-vertices // self.order.wanted))
        else:
            each, first = (max(1, replace(self.order, count=n).batches_per_epoch) for n in (self._count, vertices))
        return self.instances // each * first

    def _mini_batches(self, wanted: int | None, each: int) -> int:
        """The number of mini-batches, ``each`` of them an epoch.

        OptionError beyond MOST_EPOCHS, or MOST_BATCHES where seeds are drawn.
        """
        if isinstance(self.order, DrawnSeeds) and (wanted or each) > MOST_BATCHES:
            raise OptionError(f"--instances: expected at most {MOST_BATCHES:,}, found {wanted or each:,}")
        if wanted is not None and wanted > each * MOST_EPOCHS:
            raise OptionError(
                f"--instances: expected at most {each * MOST_EPOCHS:,}, the mini-batches of "
                f"{MOST_EPOCHS:,} epochs, found {wanted:,}"
            )
        if wanted is None and each * self.epochs > LARGEST:
            raise OptionError(
                f"--epochs: expected at most {LARGEST // each:,}, because an epoch has {each:,} mini-batches and "
                f"at most {LARGEST:,} can be numbered, found {self.epochs:,}"
            )
        return instances_of(wanted, each, "--epochs", self.epochs)

    def _listed(self, store: GraphStore, given: object, algorithm: Algorithm) -> Listed:
        if isinstance(given, str) and given.startswith("random:"):
            return Listed(self._random(given, given.removeprefix("random:"), (0, self.vertices)))
        if isinstance(given, str) and given.startswith(OF_TYPE):
            return Listed(self._of_type(given, store))
        return read_sources(
            given, store, are_seeds=self.are_seeds, are_links=self.are_links, times=times_asked(algorithm)
        )

    def _random(self, given: str, count: str, span: tuple[int, int]) -> np.ndarray:
        """So many different vertices, of the dense ids from span[0] to before span[1]."""
        wanted, (first, last) = int(count) if COUNT.fullmatch(count) else 0, span
        if not 0 < wanted <= last - first:
            form = given.removesuffix(count) + "N"
            of = "the graph's" if last - first == self.vertices else "the type's"
            raise OptionError(
                f"--sources {form}: expected N from 1 to {of} {last - first} vertices, found {quoted(count)}"
            )
        return first + distinct_below(np.uint64(self.seed), np.uint64(LISTED), SOURCE_SLOT, last - first, wanted)

    def _of_type(self, given: str, store: GraphStore) -> np.ndarray:
        """All vertices of a type, or so many of them: ``type:NAME`` or ``type:NAME:N``."""
        name, several, count = given.removeprefix(OF_TYPE).partition(":")
        if store.stored.types is None:
            raise OptionError(f"--sources {given}: {store.path} has one type of vertices; pass --sources all")
        try:
            span = store.stored.types.span(name)
        except OptionError as error:
            raise OptionError(f"--sources {given}: {error}") from error
        return self._random(given, count, span) if several else np.arange(*span, dtype=np.int64)

    def take(self, first: int, last: int, flat: bool, xp: ModuleType = np) -> np.ndarray:
        """int64: dense source ids of n instances first .. last - 1, [n] if ``flat``, else [n, frontier size].

        ``xp``: whose array it is where vertices follow each other and are many: a GPU counts faster than it is sent
        numbers. Otherwise the array is NumPy's.

        Of mini-batches [n, frontier size, 2]: each seed's dense id and its position in the list of sources; -1 for both
        where there are fewer seeds. Where sources have times, these are behind it, in one place more; of
        walks [n, 2]. Of links [n, 2], both ends, with times [n, 2, 2]; or what :func:`edge_numbers` returns.
        """
        if self.made is not None:
            return self.made(first, last)
        if self.start_edges is not None:
            return self.start_edges.draw(first, last)
        if self.edges:
            return edge_numbers(first, last, self.edges, self.kind.in_turn, xp)
        if self.order is not None:
            return self._seeds(self.order.positions(first, last))
        if self.times is not None:
            frontiers, places = self._frontiers(first, last), self._places(first, last)
            return np.stack([frontiers, self.times.at(places)], axis=-1)
        if self.seeds is not None:
            positions = self.seeds.positions(first, last)
            return self.at(np.where(positions < 0, positions[:, :1], positions))
        if flat and self.kind.in_turn and not self.at_random:
            return self._in_turn(first, last - first, xp)
        frontiers = self._frontiers(first, last, xp)
        return frontiers[:, 0] if flat else frontiers

    def in_turn(self, seeds: SeedOrder) -> "Sources":
        """Return sources that each instance takes as mini-batches take seeds. Where an instance has fewer than others,
        its first one stands in the places that are left: a layer holds a vertex once.
        """
        made = copy(self)
        made.seeds = seeds
        return made

    def made_by(
        self, made: Callable[[int, int], np.ndarray], excluded: Callable[[int, int], Excluded] | None = None
    ) -> "Sources":
        """Return sources of mini-batches whose seeds ``made`` gives, as :meth:`take` does, for first and last, and
        between which vertices they select no edge.
        """
        other = copy(self)
        other.made, other.excluded = made, excluded
        return other

    def at(self, positions: np.ndarray) -> np.ndarray:
        """Return the dense ids of the sources at these positions of their list."""
        return positions if self.listed is None else self.listed[positions]

    def _seeds(self, positions: np.ndarray) -> np.ndarray:
        """int64 [..., 2]: the vertices at these ``positions`` of the list of sources, and the positions; -1 for both
        where there is none. [..., 3] with the times of those that have some.
        """
        seeds = np.empty((*positions.shape, 2 if self.times is None else 3), np.int64)
        seeds[..., 1] = positions
        seeds[..., 0] = self.at(positions)
        seeds[positions < 0] = -1
        if self.times is not None:
            seeds[..., 2] = self.times.at(positions)
        return seeds

    def labels_of(self, first: int, last: int) -> np.ndarray | None:
        """float64: the labels of the seeds of mini-batches first .. last - 1, one mini-batch after the other; None
        where seeds have none.
        """
        if self.labels is None or self.order is None:
            return None
        positions = self.order.positions(first, last)
        return self.labels[positions[positions >= 0]]

    def chances_of(self, first: int, last: int) -> np.ndarray | None:
        """float64: the chance of each seed of mini-batches first .. last - 1, one mini-batch after the other; None
        where seeds are not drawn.
        """
        return self.order.probabilities(first, last) if isinstance(self.order, DrawnSeeds) else None

    def _frontiers(self, first: int, last: int, xp: ModuleType = np) -> np.ndarray:
        """int64 [last - first, frontier size]: dense source ids, or numbers of clusters, of instances first .. last -
        1.
        """
        numbers = np.arange(first, last, dtype=np.int64)
        if self.kind is SourceKind.EVERY:
            return np.broadcast_to(np.arange(self.vertices, dtype=np.int64), (numbers.size, self.vertices))
        if self.kind.in_turn and not self.at_random:
            m = self.frontier_size
            return self._in_turn(first * m, (last - first) * m, xp).reshape(-1, m)
        return self._drawn(first, last)

    def _drawn(self, first: int, last: int) -> np.ndarray:
        """Return what ``_frontiers`` does, for kinds that draw."""
        from csaw.engine.draws.random import distinct_below, uniform_vertices

        seed, m = np.uint64(self.seed), self.frontier_size
        if self.kind.without_repeats or self.are_sets:
            among = self.clusters.count if self.kind is SourceKind.CLUSTERS else self.places
            drawn = np.sort([distinct_below(seed, np.uint64(i), SOURCE_SLOT, among, m) for i in range(first, last)])
        else:
            drawn = uniform_vertices(seed, first, last - first, m, self.places)
        if self.kind is SourceKind.EDGES:
            return np.searchsorted(self.indptr, drawn, side="right") - 1
        return self.connected[drawn] if self.kind is SourceKind.CONNECTED else self.at(drawn)

    def _places(self, first: int, last: int) -> np.ndarray:
        """int64 [last - first, frontier size]: places in the list of the sources of instances that take it in turn."""
        m = self.frontier_size
        return (np.arange(first, last, dtype=np.int64)[:, None] * m + np.arange(m)) % self._count

    def _in_turn(self, first: int, size: int, xp: ModuleType) -> np.ndarray:
        """int64 [size]: sources one after the other, in runs of the list, which begins again at its end."""
        count = self._count
        if self.listed is None and self.turns is None and size >= MANY and xp is not np:
            # Not ``% count``: an operator with a number makes CuPy import SciPy, which takes .4 s.
            return xp.remainder(xp.arange(first, first + size, dtype=np.int64), count)
        if self.turns is not None:
            return self.turns.at(np.arange(first, first + size, dtype=np.int64))
        at = first % count

        def run(begin: int, end: int) -> np.ndarray:
            return np.arange(begin, end, dtype=np.int64) if self.listed is None else self.listed[begin:end]

        if at + size <= count:
            return run(at, at + size)
        if size <= count:
            return np.concatenate([run(at, count), run(0, at + size - count)])
        around = np.concatenate([run(at, count), run(0, at)])
        return np.tile(around, -(-size // count))[:size]  # np.resize would append one copy at a time

    @property
    def one_after_the_other(self) -> bool:
        """Whether a batch takes neighboring places of the list of sources."""
        return self.kind.in_turn and not self.at_random and self.order is None and self.seeds is None

    @property
    def places(self) -> int:
        """Vertices among which a source is drawn."""
        if self.kind is SourceKind.EDGES:
            return int(self.indptr[-1])
        return self.connected.size if self.kind is SourceKind.CONNECTED else self._count

    @property
    def width(self) -> int:
        """Vertices that an instance starts from; of clusters their mean number."""
        each = -(-self.vertices // self.clusters.count) if self.kind is SourceKind.CLUSTERS else 1
        return self.frontier_size * each

    def digest(self) -> SourcesDigest:
        """Return what identifies the sources in a request."""
        if self.kind is SourceKind.CLUSTERS:
            return SourcesDigest(self.kind, self.frontier_size, self.clusters.digest, self.clusters.count)
        if self.listed is None:
            grown = () if self.turns is None else tuple(self.turns.bounds[1:].tolist())
            return SourcesDigest(self.kind, self.frontier_size, grown=grown)
        counted = self.order is not None or self.are_links or (self.times and self.times.listed is not None)
        count = self.listed.size if counted else None
        labels = "" if self.labels is None else digest_of(self.labels)
        times = "" if self.times is None or self.times.listed is None else digest_of(self.times.listed)
        return SourcesDigest(self.kind, self.frontier_size, digest_of(self.listed), count, labels, times)
