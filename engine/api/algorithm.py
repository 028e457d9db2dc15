"""Algorithms declare C-SAW's bias functions and sizes once, compiled for every backend (C-SAW, section III).

An algorithm is a class with options and up to four hooks, written in the subset of Python that Numba compiles:

    edge_bias(self, e)    unnormalized chance of an edge; 0 means never       (default ``e.weight``)
    vertex_bias(self, v)  unnormalized chance that a waiting vertex expands   (default: its degree): of the pool of a
                          traversal with ``pool_size``, or of the walkers of one with ``clocks``
    update(self, e)       vertex that follows a selected edge, or -1 for none (default ``e.dst``): where a walk goes on,
                          or what enters the frontier of a traversal
    dead_end(self, v)     vertex that follows one without a possible edge     (walks only; default -1: the walk ends)

Hooks may read e.src e.dst e.weight e.src_degree e.dst_degree e.prev e.depth e.instance e.source e.vertices,
e.is_neighbor(a, b), e.column("name", a), e.random(), e.random_vertex(), and edge columns by their names, such as
e.time; those of a TemporalWalk also e.previous_time and e.start_time. A vertex v has the same, with v.id for the vertex
and v.degree, apart from dst, dst_degree and the numbers of edges.

``e.prev`` is the vertex before ``e.src`` on the instance's path, -1 at the source. ``e.path(i)`` in a hook of a walk is
the vertex i steps back: path(0) is e.src, path(1) is e.prev; -1 before the source. ``e.weight`` is a 64-bit float, 1 in
an unweighted run. An edge column is a 64-bit integer or a 64-bit float, as its dtype is; the graph store lists its
columns. ``x / 0`` is infinity or NaN, and of integers ``x // 0`` and ``x % 0`` are 0. ``e.column("pagerank", e.dst)``
is that vertex's number in a column of data given with ``--columns``; NaN for no vertex. On a streamed graph only
edge_bias may call is_neighbor, for e.prev or e.src: other rows may not be in memory, so csaw rejects such a run.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol

from csaw.engine.api.option import LARGEST, Option, checked, flag_of, option, options_of
from csaw.engine.api.rules import SelectionRule, Steps, rule_of
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import meant
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    import numpy as np


# The arguments of hooks: an edge, a vertex, and the vertex of a law.


class View(Protocol):
    """A place in an instance: its vertices and numbers, and functions of its graph."""

    prev: int
    source: int
    depth: int
    instance: int
    vertices: int

    def is_neighbor(self, a: int, b: int) -> bool: ...

    def column(self, name: str, vertex: int) -> float: ...

    def path(self, steps: int) -> int: ...

    def random(self) -> float: ...

    def random_vertex(self) -> int: ...


class EdgeView(View, Protocol):
    """An edge, for the hooks edge_bias and update; its columns are attributes by their names."""

    src: int
    dst: int
    weight: float
    src_degree: int
    dst_degree: int
    previous_time: int
    start_time: int

    def __getattr__(self, name: str) -> float: ...


class VertexView(View, Protocol):
    """A vertex, for the hooks vertex_bias and dead_end."""

    id: int
    degree: int


class LawView(Protocol):
    """A vertex, for the method law, which may ask for the degree of any vertex."""

    id: int
    prev: int
    source: int
    depth: int
    vertices: int

    def degree(self, vertex: int) -> int: ...

    def column(self, name: str, vertex: int) -> float: ...

    def path(self, steps: int) -> int: ...


# Columns of data of vertices: one number for each vertex, which hooks read as `e.column("name", vertex)`;
# engine/sources/given_columns.py reads them.
#
# Numbers are 64-bit floats everywhere, so that a bias has the same bits on every device. They lie in memory whole,
# whatever the residency of the graph.


@dataclass(frozen=True)
class VertexColumns:
    """``table`` float64 [columns, V]: row k is the column ``names[k]``, and entry v of it the number of the vertex with
    dense id v.
    """

    names: tuple[str, ...]
    table: "np.ndarray | None"

    @property
    def nbytes(self) -> int:
        return 0 if self.table is None else int(self.table.nbytes)

    @cached_property
    def digests(self) -> dict[str, str]:
        """By name, the SHA-256 of a column's numbers in the order of dense ids, as a request has it."""
        rows = () if self.table is None else self.table
        return {
            name: hashlib.sha256(row.astype("<f8").tobytes()).hexdigest()
            for name, row in zip(self.names, rows, strict=True)
        }

    def value(self, name: str, vertex: int) -> float:
        """The number of a vertex; NaN for what is no vertex. For the law in Python; kernels read ``table``."""
        assert self.table is not None
        row = self.table[self.names.index(name)]
        return float(row[vertex]) if 0 <= vertex < row.size else math.nan


NO_COLUMNS = VertexColumns((), None)

# The classes that algorithms are derived from.

__all__ = [
    "DEPTH_HELP",
    "LARGEST",
    "NONE",
    "Algorithm",
    "MiniBatches",
    "Option",
    "Traversal",
    "Walk",
    "every_hop",
    "option",
]

NONE = -1  # no vertex: no previous one, or the end of a walk
MOST_STEPS = 2**31 - 2  # of a walk
LENGTH_HELP = (
    "number of steps of a walk (L steps give L + 1 vertices); none: no limit, if the algorithm ends walks by itself"
)
DEPTH_HELP = "number of hops from the source; none: until nothing new is reached"
PLANNED_HOPS = 64  # of a traversal without a limit, which a plan counts on


def every_hop(size: int, depth: int | None) -> tuple[int, ...]:
    """Return the sizes of a traversal of ``depth`` hops that selects as many neighbors at each.

    Without a limit, they are those of the hops to plan for.
    """
    return (size,) * (PLANNED_HOPS if depth is None else depth)


class Algorithm:
    """Base of all algorithms.

    ``Algorithm(**values)`` checks the options and sets them as attributes; OptionError names a wrong one.
    """

    paper: ClassVar[str] = ""
    layout: ClassVar[str] = "subgraphs"  # walks | hops | subgraphs | batches | links: how its samples are stored
    ends_induced: ClassVar[bool] = False
    """Whether an instance ends as the subgraph of the vertices that it reached, as with ``--induced``."""
    sources_from: ClassVar[str] = "all"
    """Where instances start by default. ``all``: at all vertices, one each. ``random``: at vertices drawn
    independently. ``connected``: the same, from the vertices that have neighbors. ``edges``, only for walks: the same,
    in proportion to their number of edges. ``distinct``: a uniform set of frontier_size vertices per instance
    (pool_size if there is a pool). ``every``: each instance has all vertices. ``clusters``: all vertices of a uniform
    set of frontier_size clusters of the graph store; an instance ends as their induced subgraph. ``links``: at both
    ends of an edge that is drawn.
    """

    sized_by: ClassVar[str] = ""
    """The option with the number of vertices in an instance, which ``--target`` sets; empty if instances are joined
    until they have that many.
    """

    visits: ClassVar[str] = ""
    """How likely an instance visits each vertex of an undirected graph: ``uniform``; by its ``degree``; by its
    ``strength``, the sum of its weights; empty if no closed form is known. For walks, after they have mixed. ``csaw
    evaluate --estimate`` corrects visits by it.
    """

    vertex_columns: VertexColumns = NO_COLUMNS
    """The columns of data that hooks may read, set by the run."""

    in_units: Mapping[str, str] = MappingProxyType({})
    """For each option that is already a time in the units of a graph, those units; set when the algorithm is built."""

    lacks: ClassVar[Mapping[str, str]] = {}  # the reason, ", because ...", for each option that similar ones have

    file_digest: str = ""
    """The SHA-256 of the file of a custom algorithm, set when it is built; empty for built-in algorithms."""
    file_text: ClassVar[str] = ""
    """The text of that file, set when it is run."""

    def __init__(self, **values: object) -> None:
        self.refuse_unknown(values)
        for name, value in checked(type(self), values).items():
            setattr(self, name, value)

    @classmethod
    def name(cls) -> str:
        """The name on the command line: ``label`` if the class has one, otherwise the class name in kebab case."""
        return cls.__dict__.get("label") or "".join("-" + c.lower() if c.isupper() else c for c in cls.__name__)[1:]

    @classmethod
    def options(cls) -> dict[str, Option]:
        """All options, those of the base classes first."""
        return options_of(cls)

    @classmethod
    def refuse_unknown(cls, names: Iterable[str], hint: Callable[[str, list[str]], str] = meant) -> None:
        """Raise OptionError for the first name that is not an option; its message ends with a ``hint``."""
        known = cls.options()
        for name in names:
            if name not in known:
                flags = [flag_of(one) for one in known]
                raise OptionError(
                    f"{flag_of(name)} is not an option of {cls.name()}{cls.lacks.get(name, '')}; it has "
                    f"{', '.join(flags) or 'none'}{hint(flag_of(name), flags)}"
                )

    def parameters(self) -> Record:
        """The values of options, as plain data for the manifest, without those at a default that earlier requests do
        not have.
        """
        values = {name: (getattr(self, name), declared) for name, declared in self.options().items()}
        return {name: value for name, (value, one) in values.items() if not (one.is_later and value == one.default)}

    @cached_property
    def rule(self) -> SelectionRule:
        """The rule by which a depth selects, made once from the attributes of the class."""
        return rule_of(self) if isinstance(self, Traversal) else Steps()

    def edge_bias(self, e: EdgeView) -> float:
        return e.weight


class Walk(Algorithm):
    """Base of walks: an instance has one current vertex and selects one neighbor at each step.

    Its sample is the vertices in order.
    """

    layout = "walks"
    walk_length: int | None = option(80, help=LENGTH_HELP, low=0, high=MOST_STEPS, none="no limit")
    num_walks: int = option(1, help="number of walks from each source", low=1)

    timed: ClassVar[bool] = False
    """Whether a walk knows the times of its edges, which its sample contains, as for a TemporalWalk."""
    by_time: ClassVar[bool] = False
    """Whether steps are drawn from the order of a row by time, according to the options of ``temporal``."""

    bias_range: ClassVar[Callable[..., tuple[float, float, float]] | None] = None
    """``bias_range(self) -> (low, high, back)`` if edge_bias / e.weight is known to be in [low, high] on every edge
    except those to ``e.prev``, where it is ``back``. Selection is then by rejection, if edge_bias is written as
    e.weight times something else (as for node2vec) or the run is unweighted. Bounds may be up to 1e260, ``low`` and
    ``back`` may be 0. If edge_bias exceeds the bounds, the walk follows a different law, which ``csaw verify`` detects.
    """

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "edge_bias" in vars(cls) and "bias_range" not in vars(cls):
            cls.bias_range = None  # that of its base bounds another bias

    expected_steps: ClassVar[Callable[..., float] | None] = None
    """``expected_steps(self) -> number`` if ``update`` ends walks: the mean number of steps of a walk without a limit,
    or an estimate; infinite if these options never end one. It determines how much memory is taken first, and does not
    change the sample.
    """

    def update(self, e: EdgeView) -> int:
        return e.dst

    def dead_end(self, v: VertexView) -> int:
        return NONE

    def law(self, selected: Mapping[int, float], v: LawView) -> Mapping[int, float]:
        """The probability of each next vertex (NONE: the walk ends), given the probability of each selected one.

        The oracle of tests and verify.

        ``selected`` is empty at a dead end. ``v`` has id, prev, source, depth, vertices, ``degree(vertex)``,
        ``column("name", vertex)`` and ``path(i)``.
        """
        return selected or {NONE: 1.0}


class Traversal(Algorithm):
    """Base of traversals: at each depth, every frontier vertex selects the number of neighbors that ``sizes`` returns;
    these are the next frontier, or with ``pool_size`` wait until ``vertex_bias`` selects them.
    """

    # These make the rule by which a depth selects, in rules.py, which refuses those that do not stand together.
    visited_once: ClassVar[bool] = True  # a vertex enters an instance's frontier once
    revisits: ClassVar[bool] = False  # edges to vertices that were visited before may be selected too
    collective: ClassVar[bool] = False  # one pool of all frontier vertices' edges an instance, instead of one each
    induced: ClassVar[bool] = False  # keep the edges among an instance's sources, all of them
    each_edge_once: ClassVar[bool] = False  # for sources_from = "every": of an undirected edge's ends, only src <= dst
    draws_from: ClassVar[str] = "edges"
    """What a depth selects: ``edges`` of its frontier; or, for the whole frontier, ``sizes`` vertices in proportion to
    the sum of the biases of the edges to them: ``neighbors`` of the frontier, by the edges from it, or ``vertices`` of
    the graph, by all edges. A bias is then a squared entry of a matrix.
    """
    shares_draws: ClassVar[bool] = False
    """Whether a vertex has one random number per instance and depth, with which all frontier vertices decide on their
    edges to it; each keeps ``sizes`` edges on average. The selected vertices are the next frontier, each once.
    """
    unique: bool = False
    """Whether the edges that an instance selects at a depth lead to different vertices: if an edge leads to a vertex
    that this depth has already selected, another one is drawn, as long as there is one (NextDoor, EuroSys 2021, section
    6.3).
    """
    total: int | None = None
    """For collective traversals that visit a vertex once: an instance that has at least this many vertices after a
    depth, including its sources, draws at no further depth. At the first depth, its sources always draw.
    """
    clocks: ClassVar[bool] = False  # one frontier vertex moves at a time, chosen by vertex_bias
    pool_size: int | None = None
    """Number of vertices in an instance's initial pool, its sources (C-SAW, figure 2). At each depth, ``frontier_size``
    vertices of the pool, selected by ``vertex_bias``, leave it and select neighbors, and the vertices that ``update``
    returns enter it. The others wait. None: all vertices of a frontier select at once.
    """
    frontier_size: int = 1  # vertices of a pool that are selected at a depth; without a pool, sources of an instance
    frontier_replace: bool = False
    """Whether a pool's vertices are selected with replacement: one that is selected twice selects neighbors twice, but
    leaves once.
    """
    replace: bool = False
    if TYPE_CHECKING:
        walk_length: int | None
        """Of those with ``clocks``: the number of moves of an instance."""
    time_strategy: str | None = None  # of edges before a time, which bases.py declares; None: times do not count

    def vertex_bias(self, v: VertexView) -> float:
        """The unnormalized probability that a vertex of the pool is selected, or that a walker with a clock moves; 0:
        never.
        """
        return v.degree

    def update(self, e: EdgeView) -> int:
        """Return the vertex that enters the frontier of the next depth for a selected edge; -1: none.

        With ``visited_once`` it enters if it has not been there. The sample has the edge in any case.
        """
        return e.dst

    def sizes(self) -> tuple[int, ...]:
        """Return the number of neighbors that a frontier vertex (in a collective algorithm, the whole frontier) selects
        at each depth; -1 selects all.
        """
        raise NotImplementedError

    @property
    def is_unlimited(self) -> bool:
        """Whether hops continue until nothing new is reached: there is an option ``depth``, and it is None.

        The last of ``sizes`` applies to all further hops.
        """
        return getattr(self, "depth", 0) is None

    geometric: ClassVar[Callable[..., float] | None] = None
    """``geometric(self) -> probability``, if each vertex draws its size: the number of successes before the first
    failure.

    ``sizes`` has -1 for each depth then.
    """

    @property
    def only_new(self) -> bool:
        """Whether edges to vertices that were already visited cannot be selected."""
        return self.visited_once and not self.revisits


class MiniBatches(Traversal):
    """Base of mini-batches for graph neural networks: an instance is a mini-batch, which starts from the next seeds in
    the list of sources.

    Its sample has a node for each seed and for each vertex reached, numbered in the order in which they are reached,
    and the selected edges between them. A vertex that is reached again is the same node and is not expanded again.
    Instance number e * m + b is mini-batch b of epoch e, of m mini-batches each.
    """

    layout = "batches"
    revisits = True
    seeds_per_batch: int = option(1024, help="number of seeds in a mini-batch", low=1, high=2**31 - 1)
    epochs: int = option(1, help="number of passes over all sources", low=1, high=2**32 - 1)
    shuffle: bool = option(False, help="take the sources in random order, a different one in each epoch")
    drop_last: bool = option(False, help="drop the last mini-batch of an epoch if it has fewer seeds than the others")
    disjoint: bool = option(False, help="give each seed separate nodes, so that the samples of two seeds share none")
    draws_seeds: ClassVar[bool] = False
    """Whether the seeds of a mini-batch are drawn, each with a separate probability from the column ``norms``,
    ``seeds_per_batch`` of them on average; see engine/sources/seeds.py.
    """
    norms: str | None = None

    @property
    def frontier_size(self) -> int:  # type: ignore[override]
        return self.seeds_per_batch
