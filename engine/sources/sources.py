"""Where instances start: ``all``, ``random:N``, a list that the user gives, or what the algorithm asks for."""

import hashlib
from typing import Any

import numpy as np

from csaw.engine.api.algorithm import LARGEST, Algorithm, MiniBatches
from csaw.engine.sources.drawn_seeds import MOST_BATCHES, DrawnSeeds
from csaw.engine.sources.given_sources import Listed, read_sources
from csaw.engine.sources.seeds import SeedOrder
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.clusters import Clusters

MOST_EPOCHS = 2**32 - 1  # their numbers are part of the address of what shuffles them
LISTED = 2**64 - 1  # number of the instance whose draws choose random:N


def kind_of(digest: str) -> str:
    """The kind of sources that a digest names: all, random, distinct, every or clusters (see ``Algorithm.sources_from``), or list."""
    return digest.partition(" ")[0]


def digest_of(listed: np.ndarray) -> str:
    """What names a list of sources, or their labels, in the digest of a request."""
    return hashlib.sha256(listed.tobytes()).hexdigest()[:32]


class Sources:
    """The sources of every instance, computed when they are needed.

    With a list of S sources, walk i starts at source i % S; traversal i of frontier size m has sources i m .. i m + m - 1, modulo S. Mini-batches take them as
    their ``order`` says, which other algorithms have not. ``at_random``: each source is drawn from the list, or from all vertices, independently.
    """

    def __init__(
        self,
        store,
        algorithm: Algorithm,
        given: Any = None,
        instances: int | None = None,
        seed: int = 0,
        at_random: bool = False,
    ) -> None:
        self.vertices, self.seed = store.vertices, seed
        self.frontier_size = int(getattr(algorithm, "frontier_size", 1))
        self.kind = _kind(algorithm.sources_from, given, at_random)
        self.asked = given if isinstance(given, str) and given.startswith("random:") else None
        """The text that the list of sources follows from, with the seed; None for other sources."""
        self.at_random = at_random
        self.are_seeds = isinstance(algorithm, MiniBatches)
        self.listed: np.ndarray | None = None
        """The dense ids of a list of sources, int64; None for other sources."""
        self.labels: np.ndarray | None = None
        """The labels of a list of seeds, float64; None where they have none."""
        if self.kind == "list":
            self.listed, self.labels = self._listed(store, given)
        if self.kind == "every":
            self.frontier_size = store.vertices
        if self.kind == "connected":
            self.connected = np.flatnonzero(np.diff(store.read_indptr()))
            if not self.connected.size:
                raise OptionError(f"{store.path} has no edge to start from; give vertices with --sources")
        if self.kind == "distinct" and self.frontier_size > store.vertices:
            raise OptionError(
                f"--frontier-size: expected at most the graph's {store.vertices} vertices, found {self.frontier_size}"
            )
        if self.kind == "clusters":
            self.clusters = _clusters(store, self.frontier_size)
        self.order = self._order(algorithm)
        self.instances = self._instances(instances, int(getattr(algorithm, "num_walks", 1)))

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
        return self.vertices if self.listed is None else self.listed.size

    def _instances(self, wanted: int | None, num_walks: int) -> int:
        if wanted is not None and not 1 <= wanted <= LARGEST:
            raise OptionError(f"--instances: expected 1 to {LARGEST}, found {quoted(wanted)}")
        if self.kind in ("random", "connected", "distinct", "every", "clusters"):
            return wanted or 1
        if self._count == 0:
            raise OptionError("--sources: no source to start from; give a vertex of the graph")
        if self.at_random:
            return wanted or 1
        if self.order is not None:
            return self._mini_batches(wanted, self.order.batches_per_epoch)
        return wanted or max(1, self._count // self.frontier_size) * num_walks

    def _mini_batches(self, wanted: int | None, each: int) -> int:
        """The number of mini-batches, ``each`` of them an epoch. OptionError beyond MOST_EPOCHS, or MOST_BATCHES where seeds are drawn."""
        if isinstance(self.order, DrawnSeeds) and (wanted or each) > MOST_BATCHES:
            raise OptionError(f"--instances: expected at most {MOST_BATCHES:,}, found {wanted or each:,}")
        if wanted is not None and wanted > each * MOST_EPOCHS:
            raise OptionError(
                f"--instances: expected at most {each * MOST_EPOCHS:,}, the mini-batches of {MOST_EPOCHS:,} epochs, found {wanted:,}"
            )
        if wanted is None and each * self.epochs > LARGEST:
            raise OptionError(
                f"--epochs: expected at most {LARGEST // each:,}, because {LARGEST:,} mini-batches can be numbered and an epoch has {each:,}, found {self.epochs:,}"
            )
        return wanted or each * self.epochs

    def _listed(self, store, given: Any) -> Listed:
        if isinstance(given, str) and given.startswith("random:"):
            return self._random(given), None
        return read_sources(given, store, are_seeds=self.are_seeds)

    def _random(self, given: str) -> np.ndarray:
        from csaw.engine.draws.random import SOURCE_SLOT, distinct_below

        text = given.removeprefix("random:")
        wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
        if not 0 < wanted <= self.vertices:
            raise OptionError(
                f"--sources random:N: expected N from 1 to the graph's {self.vertices} vertices, found {quoted(text)}"
            )
        return distinct_below(np.uint64(self.seed), np.uint64(LISTED), SOURCE_SLOT, self.vertices, wanted)

    def take(self, first: int, last: int, flat: bool) -> np.ndarray:
        """int64: dense source ids of n instances first .. last - 1, [n] if ``flat``, else [n, frontier size].

        Of mini-batches [n, frontier size, 2]: each seed's dense id and its position in the list of sources; -1 for both where there are fewer seeds.
        """
        if self.order is not None:
            return self._seeds(self.order.positions(first, last))
        if flat and self.kind in ("all", "list") and not self.at_random:
            return self._in_turn(first, last - first)
        frontiers = self._frontiers(first, last)
        return frontiers[:, 0] if flat else frontiers

    def _seeds(self, positions: np.ndarray) -> np.ndarray:
        """int64 [..., 2]: the vertices at these ``positions`` of the list of sources, and the positions; -1 for both where there is none."""
        seeds = np.empty((*positions.shape, 2), np.int64)
        seeds[..., 1] = positions
        seeds[..., 0] = positions if self.listed is None else self.listed[positions]
        seeds[positions < 0] = -1
        return seeds

    def labels_of(self, first: int, last: int) -> np.ndarray | None:
        """float64: the labels of the seeds of mini-batches first .. last - 1, one mini-batch after the other; None where seeds have none."""
        if self.labels is None or self.order is None:
            return None
        positions = self.order.positions(first, last)
        return self.labels[positions[positions >= 0]]

    def chances_of(self, first: int, last: int) -> np.ndarray | None:
        """float64: the chance of each seed of mini-batches first .. last - 1, one mini-batch after the other; None where seeds are not drawn."""
        return self.order.probabilities(first, last) if isinstance(self.order, DrawnSeeds) else None

    def _frontiers(self, first: int, last: int) -> np.ndarray:
        """int64 [last - first, frontier size]: dense source ids, or numbers of clusters, of instances first .. last - 1."""
        from csaw.engine.draws.random import SOURCE_SLOT, distinct_below, uniform_vertices

        numbers = np.arange(first, last, dtype=np.int64)
        m = self.frontier_size
        if self.kind == "every":
            return np.broadcast_to(np.arange(self.vertices, dtype=np.int64), (numbers.size, self.vertices))
        if self.kind in ("distinct", "clusters"):
            bound = self.vertices if self.kind == "distinct" else self.clusters.count
            rows = [distinct_below(np.uint64(self.seed), np.uint64(i), SOURCE_SLOT, bound, m) for i in numbers]
            return np.sort(np.stack(rows), axis=1)
        if self.kind == "connected":
            places = uniform_vertices(np.uint64(self.seed), first, numbers.size, m, self.connected.size)
            return self.connected[places]
        if self.kind == "random":
            return uniform_vertices(np.uint64(self.seed), first, numbers.size, m, self.vertices)
        if self.at_random:
            assert self.listed is not None
            return self.listed[uniform_vertices(np.uint64(self.seed), first, numbers.size, m, self.listed.size)]
        count = self._count
        chosen = (numbers[:, None] * m + np.arange(m)) % count
        return chosen if self.listed is None else self.listed[chosen]

    def _in_turn(self, first: int, size: int) -> np.ndarray:
        """int64 [size]: one source an instance, starting the list again at its end. Copies runs of the list, because a GPU waits for it."""
        count = self._count
        at = first % count

        def run(begin: int, end: int) -> np.ndarray:
            return np.arange(begin, end, dtype=np.int64) if self.listed is None else self.listed[begin:end]

        if at + size <= count:
            return run(at, at + size)
        around = np.concatenate([run(at, count), run(0, at)])
        return np.resize(around, size)

    @property
    def places(self) -> int:
        """Vertices among which a source is drawn."""
        return self.connected.size if self.kind == "connected" else self._count

    @property
    def width(self) -> int:
        """Vertices that an instance starts from; of clusters their mean number."""
        return (
            self.frontier_size * -(-self.vertices // self.clusters.count)
            if self.kind == "clusters"
            else self.frontier_size
        )

    def digest(self) -> str:
        """A text that identifies the sources in a request; ``kind_of`` reads it."""
        if self.kind == "clusters":
            return f"clusters {self.clusters.digest} of {self.clusters.count} x {self.frontier_size}"
        if self.listed is None:
            return f"{self.kind} x {self.frontier_size}"
        size = "" if self.order is None else f"of {self.listed.size} "
        labelled = "" if self.labels is None else f" labelled {digest_of(self.labels)}"
        return f"list {digest_of(self.listed)} {size}x {self.frontier_size}{labelled}"


def order_of(algorithm: MiniBatches, listed: np.ndarray | None, count: int, seed: int) -> SeedOrder | DrawnSeeds:
    """The seeds of an algorithm's mini-batches. ``listed``: the list of ``count`` sources; None: all vertices."""
    if algorithm.draws_seeds:
        return DrawnSeeds.of(algorithm, listed, count, seed)
    return SeedOrder.of(algorithm, count, seed)


def _kind(kind: str, given: Any, at_random: bool) -> str:
    """The kind of sources of an algorithm that has this ``kind`` by itself, for what was given."""
    if isinstance(given, str) and given == "all":
        kind = "every" if kind == "every" else "all"
    elif given is not None:
        kind = "list"
    return "random" if at_random and kind == "all" else kind


def _clusters(store: Any, wanted: int) -> Clusters:
    """The clusters of a graph store. OptionError where it has none, or fewer than are ``wanted`` for an instance."""
    if store.clusters is None:
        raise OptionError(f"{store.path} has no clusters; make it with csaw partition --clusters N")
    if wanted > store.clusters.count:
        raise OptionError(
            f"--clusters-per-batch: expected at most the graph's {store.clusters.count} clusters, found {wanted}"
        )
    return store.clusters


def labels_in(digest: str) -> str | None:
    """What names the labels of seeds in the digest of their request; None where they have none."""
    return digest.partition(" labelled ")[2] or None


def listed_in(digest: str, vertices: int) -> int:
    """The number of sources that mini-batches take their seeds from, by the digest of their request. ``vertices``: those of the graph."""
    words = digest.split()
    return int(words[words.index("of") + 1]) if "of" in words else vertices
