"""Every number of a request, compared with the arrays: sizes and depths need no law.

What each option bounds, of samples of every algorithm:

    instances, group_size, ids   the attributes of the store
    algorithm, induced, target   the layout, and which arrays there are
    weighted                     whether the graph has weights
    metapath                     the bias, which says what relation each step follows
    sources                      their kind and number, which the algorithm's own options say, too
    walk_length                  columns of walks, steps of walks without columns, depths
    num_walks, epochs            instances, of samples that take their sources in turn
    frontier_size, pool_size     sources of each instance
    seeds_per_batch              seeds of each mini-batch, of which an epoch has so many
    fanout, depth, neighbor_size, layer_sizes
                                 columns of hops, depths, edges of a depth, vertices of a layer
    subgraph_nodes               draws of each instance
    num_negatives                negatives of each link
    clusters_per_batch           clusters of each instance: see induced.py
    target                       vertices of each instance

Of induced subgraphs these bound the number of vertices that an instance can have met, and how far they are from its
sources: see induced.py.
"""

from collections.abc import Iterator
from itertools import accumulate
from operator import mul
from typing import NamedTuple, cast

import numpy as np

from csaw.engine.api.algorithm import Algorithm, MiniBatches, Traversal, Walk
from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.rules import ENDS, SOURCES, SOURCES_AND_TARGETS, STEPS, BudgetLayers
from csaw.engine.api.starts import SourceKind, sources_each
from csaw.engine.plan.by_relation import needs_relations
from csaw.engine.plan.metapath import is_followed
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import has_relations
from csaw.engine.samples.layouts import SUBGRAPHS, Arrays, drawn_layout
from csaw.engine.samples.layouts.layout import EDGE_WEIGHT, SEED_TIME, TIME
from csaw.engine.samples.stored import PartOf
from csaw.engine.sources.digest import SourcesDigest
from csaw.engine.sources.seeds import order_of
from csaw.engine.sources.sources import kind_of_sources
from csaw.engine.sources.turns import Turns
from csaw.engine.verify.checks import Check, Checks
from csaw.engine.verify.induced import most_hops
from csaw.partition.graph.store import GraphStore

NAME = "request"
NO_BOUND = float("inf")


class Number(NamedTuple):
    """A number that a request asks for, and the one that is there."""

    name: str
    asked: object
    found: object


class Asked:
    """Compares the request of ``samples`` with what is there: the store and its arrays at once, the numbers of each
    instance as :meth:`add` is given them.
    """

    def __init__(self, samples: Samples, store: GraphStore, algorithm: Algorithm) -> None:
        self.samples, self.store, self.algorithm = samples, store, algorithm
        self.request = samples.manifest["request"]
        self.target, self.induced = int(self.request.get("target", 0)), bool(self.request.get("induced", False))
        self.whole = self.induced or self.target > 0
        """Whether an instance ends as a set of vertices with edges among them, rather than as it was drawn."""
        self.digest = SourcesDigest.parse(str(self.request.get("sources", "")))
        source = samples.source
        self.said = source.of[0].source.attributes if isinstance(source, PartOf) else source.attributes
        """Attributes of the store: of a virtual sample, those of all instances."""
        self.wrong = [one for one in self._of_store() if one.asked != one.found]
        self.instances = 0
        arrays = {one.name for one in self._of_arrays_there()}
        self.fits = not arrays & {one.name for one in self.wrong}
        """Whether the arrays are those that the request asks for, so that their contents can be looked at."""
        self.bounds = dict(self._of_instances()) if self.fits else {}
        self.beyond = dict.fromkeys(self.bounds, 0)

    def _of_store(self) -> Iterator[Number]:
        """Numbers that depend on no instance."""
        request, said = self.request, self.said
        for name in ("instances", "group_size"):
            yield Number(name, request.get(name, said[name]), said[name])
        held = {"names": "original"}.get(said["ids"], said["ids"])
        yield Number("ids", request.get("ids", held), held)
        yield Number("weighted", bool(request.get("weighted")) and self.store.weighted, bool(request.get("weighted")))
        metapath = request.get("metapath")
        if metapath is not None and not is_followed(metapath, request.get("edge_bias"), self.store.types):
            yield Number("metapath", "the one that edge_bias follows", metapath)
        visited = self._visited()
        yield Number("visited", visited, self.samples.manifest.get("visited", visited))
        yield from self._of_arrays_there()
        yield from self._of_sources()

    def _visited(self) -> str | None:
        """Which vertices an instance visits, where the layout leaves that open."""
        a = self.algorithm
        if not isinstance(a, Traversal) or a.layout != SUBGRAPHS:
            return None
        if a.clocks or a.induced:
            return STEPS if a.clocks else SOURCES
        return ENDS if a.sources_from == "every" else SOURCES_AND_TARGETS

    def _of_arrays_there(self) -> Iterator[Number]:
        """The layout, and the arrays where it is the right one."""
        layout = self._layout()
        yield Number("layout", layout, str(self.samples.layout))
        if layout == str(self.samples.layout) and self.samples.source.attributes["instances"]:
            yield from self._of_arrays()  # without instances, they have no columns

    def _layout(self) -> str:
        """The layout of such samples."""
        a = self.algorithm
        ends = self.whole or a.ends_induced
        return str(SUBGRAPHS if ends else drawn_layout(a, a.sizes() if isinstance(a, Traversal) else ()))

    def _of_arrays(self) -> Iterator[Number]:
        """The arrays that such samples have, and their columns."""
        a, arrays = self.algorithm, self.samples.arrays
        if isinstance(a, Walk):
            if not self.whole and a.walk_length is not None:
                yield Number("walk_length", a.walk_length, arrays["walks"].shape[1] - 1)
            yield Number("times of steps", a.timed and not self.whole, "times" in arrays)
            return
        assert isinstance(a, Traversal)
        sizes = list(a.sizes())
        name = "hops" if hasattr(a, "fanout") else "sizes"
        if not self.whole and not self.samples.layout.fits(arrays, sizes):
            yield Number(name, sizes, "other arrays")
        if isinstance(a, LinksWithNegatives):
            yield Number("num_negatives", a.num_negatives, arrays["negatives"].shape[1])
            yield Number("times of links", a.negative_time is not None, TIME in arrays)
        in_time = a.time_strategy is not None and not self.whole
        yield Number("times of sources", in_time, SEED_TIME in arrays)
        by_relation = needs_relations(a, self.store)
        yield Number("relations of edges", by_relation, has_relations(arrays))
        yield Number("metapath", False, by_relation and "metapath" in self.request)
        no_bias = a.time_strategy is not None or isinstance(a.rule, BudgetLayers)
        yield Number("edge_bias", False, no_bias and self.request.get("edge_bias") is not None)
        if self.samples.layout == SUBGRAPHS:
            ends = self.whole or a.ends_induced
            yield Number("vertices", ends or a.draws_from != "edges", "vertices" in arrays)
            yield Number("weights of edges", not ends and a.draws_from != "edges", EDGE_WEIGHT in arrays)

    def _of_sources(self) -> Iterator[Number]:
        """The kind and the number of sources, as far as the request says both."""
        a, kind = self.algorithm, self.digest.kind
        if kind is None or not self.digest.width:
            return
        by_itself = SourceKind[a.sources_from.upper()]
        at_random = self.target > 0 and not a.sized_by
        given = None if kind is by_itself else "all"
        if kind is not SourceKind.LIST:
            yield Number("kind of sources", str(kind_of_sources(by_itself, given, at_random)), str(kind))
        width = self.width()
        if width is not None:
            yield Number("sources of an instance", width, self.digest.width)
        turns = Turns.of(self.store.stored.growth, self._rounds()) if kind is SourceKind.ALL else None
        grown = () if turns is None or isinstance(a, MiniBatches) else tuple(turns.bounds[1:].tolist())
        yield Number("vertices of earlier versions", str(grown), str(self.digest.grown))
        each = self._instances_of_a_round()
        if each is not None and self._rounds() > 1:
            name, times = ("epochs" if isinstance(a, MiniBatches) else "num_walks"), self._rounds()
            yield Number(f"instances of {times:,} {name}", each * times, self.said["instances"])

    def width(self) -> int | None:
        """Sources of an instance, as a request counts them; None where the list of sources is not known."""
        a = self.algorithm
        if self.digest.kind is SourceKind.EVERY:
            return self.store.vertices
        if not isinstance(a, MiniBatches):
            return sources_each(a)
        count = self._listed()
        return None if count is None or a.draws_seeds else int(order_of(a, None, count, 0).size)

    def _listed(self) -> int | None:
        """The number of sources of the list that instances take in turn, where it is known."""
        return self.store.vertices if self.digest.kind is SourceKind.ALL else self.digest.count

    def _rounds(self) -> int:
        """How often all sources are taken."""
        a = self.algorithm
        return int(a.epochs if isinstance(a, MiniBatches) else getattr(a, "num_walks", 1))

    def _instances_of_a_round(self) -> int | None:
        """Instances that take each source once; None where they do not."""
        a, count = self.algorithm, self._listed()
        if count is None or self.digest.kind not in (SourceKind.ALL, SourceKind.LIST):
            return None
        if isinstance(a, MiniBatches):
            return None if a.draws_seeds else int(order_of(a, None, count, 0).batches_per_epoch)
        return max(1, count // sources_each(a))

    def _of_instances(self) -> Iterator[tuple[str, float]]:
        """The most that each instance can have of something that arrays count."""
        a = self.algorithm
        if self.target:
            yield "vertices", self.target
        if self.samples.layout == SUBGRAPHS:
            yield "depths", self._depths()
            if (self.whole or a.ends_induced) and not self.target:  # whose instances are several that are joined
                yield "vertices", most_met(a, self.sources())
        if not self.target and self.samples.layout == SUBGRAPHS and self.sources() is not None:
            yield "sources", float(cast(int, self.sources()))
        if isinstance(a, Traversal) and a.draws_from != "edges" and "layer" in self.samples:
            yield "layers", len(a.sizes())

    def sources(self) -> int | None:
        """Sources that each instance has in a store of subgraphs; None where instances differ."""
        a, kind = self.algorithm, self.digest.kind
        if kind is None or not self.digest.width or kind is SourceKind.CLUSTERS or isinstance(a, MiniBatches):
            return None
        if kind is SourceKind.EVERY:  # all vertices, which are not listed, but those that were drawn are
            assert isinstance(a, Traversal)
            return int(a.sizes()[0]) if a.draws_from == "vertices" and self.ends_induced else 0
        return self.digest.width

    @property
    def ends_induced(self) -> bool:
        """Whether an instance ends as an induced subgraph, by its algorithm or because the request says so."""
        return self.induced or self.algorithm.ends_induced

    def _depths(self) -> float:
        """Depths at which edges are drawn; one where an instance ends as an induced subgraph."""
        return 1 if self.ends_induced else most_hops(self.algorithm)

    def add(self, arrays: Arrays) -> None:
        """Count the instances of a group that have more, or another number, than was asked for."""
        for name, most in self.bounds.items():
            self.beyond[name] += _beyond(name, most, arrays, self.algorithm)

    def judge(self, checks: Checks) -> None:
        """Add the check of all numbers."""
        wrong = [f"{one.name}: expected {_said(one.asked)}, found {_said(one.found)}" for one in self.wrong]
        wrong += [
            f"{name}: {count:,} with another number than {_said(self.bounds[name])}"
            if name == "sources"
            else f"{name}: {count:,} beyond {_said(self.bounds[name])}"
            for name, count in self.beyond.items()
            if count
        ]
        checks.add(
            Check(NAME, not wrong, None, "; ".join(wrong) or "the numbers of the request are those of the arrays")
        )


def _said(value: object) -> str:
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _beyond(name: str, most: float, arrays: Arrays, algorithm: Algorithm) -> int:
    """How many instances, or edges or vertices of them, are beyond a bound."""
    if name == "sources":
        return int((arrays["source_counts"] != most).sum())
    if name == "vertices":
        return int((arrays["vertex_counts"] > most).sum())
    if name == "depths":
        return int(((arrays["depth"] < 0) | (arrays["depth"] >= most)).sum())
    layers = np.repeat(np.arange(arrays["vertex_counts"].size), arrays["vertex_counts"])
    layer = arrays["layer"].astype(np.int64)
    outside = (layer < 1) | (layer > most)
    wanted = np.append(0, cast(Traversal, algorithm).sizes())
    cells = np.bincount((layers * wanted.size + layer)[~outside], minlength=arrays["vertex_counts"].size * wanted.size)
    return int(outside.sum() + (cells.reshape(-1, wanted.size) > wanted).sum())


def most_met(algorithm: Algorithm, sources: int | None) -> float:
    """The most vertices that an instance can have met; infinity where nothing bounds them."""
    if isinstance(algorithm, Walk):
        return NO_BOUND if algorithm.walk_length is None else algorithm.walk_length + 1
    assert isinstance(algorithm, Traversal)
    sizes = algorithm.sizes()
    if algorithm.is_unlimited or algorithm.shares_draws or algorithm.geometric or min(sizes, default=0) < 0:
        return NO_BOUND
    if algorithm.sources_from == SourceKind.EVERY:
        return sum(sizes) * (1 if algorithm.draws_from == "vertices" else 2)
    if sources is None:
        return NO_BOUND
    if algorithm.clocks:
        return NO_BOUND if algorithm.walk_length is None else sources + algorithm.walk_length
    if algorithm.collective:
        return sources + sum(sizes)
    if algorithm.pool_size is not None:
        return sources + algorithm.frontier_size * sum(sizes)
    return sum(accumulate((sources, *sizes), mul))
