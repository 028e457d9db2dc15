"""Classes to derive algorithms from: bases of walks and of neighbors in time, mixins with biases that several
algorithms share, and NextDoor's shape of a sampler.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, overload

from csaw.engine.api.algorithm import LENGTH_HELP, MOST_STEPS, Algorithm, EdgeView, Traversal, VertexView, Walk
from csaw.engine.api.option import flag_of, option
from csaw.partition.errors import OptionError

# The base of walks in time: a walk knows the time of the edge that it came along, and its sample has all of them.


class TemporalWalk(Walk):
    """Base of walks along edges that have times, the edge column ``time`` of the graph.

        class Recent(TemporalWalk):
            def edge_bias(self, e):
                if e.depth == 0:
                    return 1.0
                return 1.0 / (e.time - e.previous_time) if e.time > e.previous_time else 0.0

    Hooks also read ``e.previous_time``, the time of the edge before, which is ``start_time`` at the source, and
    ``e.start_time``, that of the walk's first edge (at the source, ``start_time``, too). Both are 64-bit integers; at
    the source without a ``start_time`` they are the least one, -2^63, or with ``backward`` the largest, from which no
    difference may be taken.
    """

    timed: ClassVar[bool] = True
    backward: ClassVar[bool] = False
    """Whether walks go back in time, so that a walk without a ``start_time`` begins after all edges."""
    bounded_in_time: ClassVar[bool] = False
    """Whether there is a longest time between edges that follow each other, or a time after which none is taken."""
    exponential_in_time: ClassVar[bool] = False
    """Whether steps have an exponential bias of times, of which each edge then keeps an envelope."""
    walk_length: int = option(80, help=LENGTH_HELP.partition(";")[0], low=0, high=MOST_STEPS)
    start_time: int | None = option(
        None,
        kind=int,
        reads="time",
        help="time at which walks start, a number or a date as in the graph's input: the first edge must be able "
        "to follow an edge of that time",
        none="any edge may be the first",
    )


# Options of traversals whose vertices select among the edges before a time: neighbors in time, as mixins.

STRATEGIES = ("uniform", "last")
ROOT, PREVIOUS = "root", "previous"
BESIDE = ("start_time", "time_order", "time_against", "time_window")
"""The options that say nothing without a strategy."""


class InTime(Algorithm):
    """Mixin of traversals that may select in time: ``class Mine(InTime, Traversal)``.

    A vertex then selects among its edges whose time is at most that of its source, or less where ``time_order`` is
    strict, and not longer before it than ``time_window``: any of them, or the last by time.
    """

    time_strategy: str | None = option(
        None,
        kind=str,
        help="select only edges that are not later than the source's time: random ones (uniform), or the latest "
        "(last); among edges with the same time, those to larger dense ids count as later",
        choices=STRATEGIES,
        none="times do not count",
        is_later=True,
    )
    start_time: int | None = option(
        None,
        kind=int,
        reads="time",
        help="time of all sources, a number or a date as in the graph's input; no later edge is selected, and a "
        "file of sources has only ids",
        none="each line of --sources ends with a time",
        is_later=True,
    )
    time_order: str = option(
        "monotone",
        help="whether an edge must be earlier than the time that it is compared with (strict), or may be at the "
        "same time (monotone)",
        choices=("monotone", "strict"),
        is_later=True,
    )
    time_window: int | None = option(
        None,
        kind=int,
        reads="length",
        help="longest time from an edge to the time that it is compared with: a number, or for dates a length "
        "such as 7d",
        low=0,
        none="no limit",
        is_later=True,
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        if self.time_strategy is None:
            self._refuse_alone()
            return
        if getattr(self, "replace", False):
            self._refuse_replace()
        if getattr(self, "unique", False):
            raise OptionError("--time-strategy and --unique exclude each other; leave one out")

    def _refuse_replace(self) -> None:
        """OptionError where edges that are sure are to be drawn with replacement."""
        if self.time_strategy == "last":
            raise OptionError(
                "--time-strategy last and --replace exclude each other, because last draws nothing "
                "at random; leave one out"
            )
        if hasattr(self, "fanout") and min(getattr(self, "sizes", tuple)(), default=0) < 0:
            raise OptionError(
                "--replace: expected fanouts of at least 0 with --time-strategy, found -1, which takes each edge once"
            )

    def _refuse_alone(self) -> None:
        """OptionError for an option about times where no time counts."""
        for name, declared in self.options().items():
            if name in BESIDE and getattr(self, name) != declared.default:
                raise OptionError(f"{flag_of(name)}: expected --time-strategy {' or '.join(STRATEGIES)} with it")

    @property
    def against_previous(self) -> bool:
        """Whether an edge is compared with the edge before it, rather than with the time of the source."""
        return getattr(self, "time_against", ROOT) == PREVIOUS


AS_OF = ("until", "ever")
"""Until when an edge counts, of links whose negatives are drawn as of a time."""


class LinksWithNegatives(Traversal):
    """Base of links: an instance is a source, a destination, and ``num_negatives`` vertices of the destination's type
    that the source has no edge to, each drawn independently.
    """

    layout = "links"
    sources_from = "links"
    visited_once = False
    frontier_size = 2  # both ends of a link
    relation: str | None = option(
        None,
        kind=str,
        help="relation of the links, in a graph of several types: only its edges count",
        none="edges of any relation",
    )
    num_negatives: int = option(1, help="number of negatives of each link", low=1, high=2**31 - 1)
    negative_bias: str = option(
        "none",
        help="bias of a negative: none (all equally likely), or the number of edges that lead to it, to the power of "
        "0.75 (degree)",
        choices=("none", "degree"),
    )
    allow_self: bool = option(False, help="let a negative be the source itself, if it has no edge to itself")
    skip_full: bool = option(
        False,
        help="leave a link without negatives, instead of stopping with an error, if its source has an edge to every "
        "vertex that could be one",
    )

    negative_time: str | None = option(
        None,
        kind=str,
        help="draw negatives as of the time of their link, among vertices that have an edge by then, and without those "
        "to which the source has an edge by then (until), or at any time (ever)",
        choices=AS_OF,
        none="times do not count",
        is_later=True,
    )
    start_time: int | None = option(
        None,
        kind=int,
        reads="time",
        help="time of all links of a file, a number or a date as in the graph's input; the file then has only ids",
        none="each line of the file ends with a time; edges of the graph have their own",
        is_later=True,
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        if self.negative_time is None and self.start_time is not None:
            raise OptionError(f"--start-time: expected --negative-time {' or '.join(AS_OF)} with it")

    def sizes(self) -> tuple[int, ...]:
        return ()


def against_option() -> str:
    """Declare the option of traversals whose entries came along one edge each."""
    said = (
        "time with which edges are compared: that of their source (root), or that of the previous edge "
        "(previous), so that times decrease along every path"
    )
    return option(ROOT, help=said, choices=(ROOT, PREVIOUS), is_later=True)


# Biases that several algorithms share, as mixins with the options that choose them.


def unique_option() -> bool:
    """Declare the option of traversals that may select each vertex once at a depth."""
    said = (
        "select different vertices at a depth: if an edge leads to a vertex that is already selected, draw another edge"
    )
    return option(False, help=said, is_later=True)


def bias_option(default: str) -> str:
    """Declare the option of ChosenBias with another default."""
    said = "bias of an edge: its weight, the degree of the vertex that it leads to, or none (all equally likely)"
    return option(default, help=said, choices=("weight", "degree", "none"))


class ChosenBias(Algorithm):
    """Mixin of algorithms with an option that chooses the bias of an edge: ``class Mine(ChosenBias, Traversal)``."""

    bias: str = bias_option("weight")

    def edge_bias(self, e: EdgeView) -> float:
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0


def normalize_option(default: str) -> str:
    """Declare the option of MatrixEntries with another default."""
    said = (
        "normalization of the adjacency matrix: by the degrees of both ends (symmetric), by the degree of "
        "the row (row), or none"
    )
    return option(default, help=said, choices=("symmetric", "row", "none"))


class MatrixEntries(Algorithm):
    """Mixin of samplers that draw vertices.

    The bias of an edge is the square of its entry in the normalized adjacency matrix.

    An edge v -> u of weight w (1 in an unweighted run) has the entry w / sqrt(d(v) d(u)) where the matrix is symmetric,
    w / d(v) where its rows are normalized, and w where nothing is. d counts edges. Self loops count where the graph has
    them. With a bias of the user's own, the matrix is the one whose squared entries this bias is.
    """

    collective = True
    visited_once = False
    normalize: str = normalize_option("symmetric")

    def edge_bias(self, e: EdgeView) -> float:
        if self.normalize == "symmetric":
            return e.weight * e.weight / (e.src_degree * e.dst_degree) if e.dst_degree > 0 else 0.0
        if self.normalize == "row":
            return e.weight * e.weight / (e.src_degree * e.src_degree)
        return e.weight * e.weight


class LayerEntries(MatrixEntries):
    """Mixin of samplers of layers: ``class Mine(LayerEntries, Traversal)``."""

    lacks: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("time_strategy", *BESIDE),
        ", because it draws by the entries of one matrix, and the degrees in these would be others at each time: labor "
        "and layer draw in time, and csaw.evaluate(graph, until=T).store is the graph until a time",
    )

    layer_sizes: tuple[int, ...] = option(
        (512, 512), help="number of vertices to draw for each layer, separated by commas", low=0
    )
    frontier_size: int = option(512, help="number of sources in an instance, its batch", low=1)

    def sizes(self) -> tuple[int, ...]:
        return self.layer_sizes


# NextDoor's shape of a sampler (Jangda et al., EuroSys 2021, section 4.1), as classes to derive one's own from.
#
#     steps(self)                                   number of steps; None: until nothing new is met
#     sample_size(self, step)                       vertices that a transit draws at a step; without it 1, a walk
#     next(self, step, transits, random)            one vertex that is drawn from the edges of the transits, -1: none
#     step_transits(self, step, sample, i, random)  which vertex is transit; without it those of the step before
#     unique(self, step)                            whether the vertices of a step are different; without it no
#
# `next` draws one edge with `random.choice(transits.edges)`, each equally likely, or with
# `random.choice(transits.edges, self.bias)`, in proportion to a method `bias(self, e)`, which reads what any
# edge_bias reads. It returns the edge's `dst`. That of a walk may decide otherwise, by `random.random()`, and return
# `random.vertex()`, `transits[0]`, or -1, which ends the walk. translation.py makes a Walk or a Traversal of such a
# class, whose hooks are compiled.


class Edges:
    """Edges, of which ``random.choice`` draws one."""


class Roots:
    """The vertices where an instance starts, of which ``random.choice`` draws one."""


class Transits(Protocol):
    """The transits of a step, by number, with their edges and those of the whole graph."""

    edges: Edges
    graph: "Transits"

    def __getitem__(self, number: int) -> int: ...


class Sample(Protocol):
    """What an instance has sampled so far."""

    roots: Roots


class Random(Protocol):
    """What a step may draw."""

    @overload
    def choice(self, among: Roots, bias: Callable[[VertexView], float] = ...) -> int: ...

    @overload
    def choice(self, among: Edges, bias: Callable[[EdgeView], float] = ...) -> EdgeView: ...

    def random(self) -> float: ...

    def vertex(self) -> int: ...


class TransitSampling(Algorithm):
    """Base of both kinds of NextDoor's samplers."""

    collective: ClassVar[bool] = False
    visited_once: ClassVar[bool] = False
    """Whether edges to vertices that an instance has met before cannot be drawn."""
    draws_seeds: ClassVar[bool] = False
    """Whether an instance is a mini-batch whose seeds are drawn by a column of numbers, as of MiniBatches."""
    replace: bool = True
    """Whether the vertices of a step are drawn independently; False: along different edges."""

    def steps(self) -> int | None:
        raise NotImplementedError

    def sample_size(self, step: int) -> int:
        return 1

    def next(self, step: int, transits: "Transits", random: "Random") -> int:
        raise NotImplementedError

    def step_transits(self, step: int, sample: "Sample", i: int, random: "Random") -> int:
        raise NotImplementedError

    def unique(self, step: int) -> bool:
        return False


class IndividualSampling(TransitSampling):
    """Base of individual transit sampling: each transit of a step draws ``sample_size(step)`` of its own neighbors.

    A class without ``sample_size`` is a walk. If ``step_transits`` returns ``random.choice(sample.roots)``, one of
    several walkers of an instance moves at each step.
    """


class CollectiveSampling(TransitSampling):
    """Base of collective transit sampling: the transits of a step together draw ``sample_size(step)`` vertices from
    their combined neighborhood, or with ``random.choice(transits.graph.edges)`` from the whole graph.
    """

    collective = True


def equally_likely(self: Algorithm, e: "EdgeView") -> float:
    return 1.0
