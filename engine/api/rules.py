"""Rules of selection: what a depth of an instance selects, as one object that the engine reads.

A class of algorithms declares its rule by attributes, such as ``collective = True``; ``rule_of`` makes the rule of
them, or refuses attributes that no rule has together. A new kind of traversal is one more class here.
"""

from ast import literal_eval
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from enum import Enum, auto
from typing import ClassVar, NoReturn, Protocol, TypeAlias

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

TRUTHS = ("collective", "induced", "each_edge_once", "shares_draws", "unique", "clocks", "frontier_replace", "replace")
DEFAULTS: dict[str, object] = (
    dict.fromkeys(TRUTHS, False)
    | {"layout": "subgraphs", "draws_from": "edges"}
    | dict.fromkeys(("total", "geometric", "pool_size"))
)
"""The attributes of a Traversal that declare its rule, as they are in most traversals."""
ANY = tuple(DEFAULTS)
APART = (("unique", "replace"), ("each_edge_once", "unique"))  # that no traversal has together
Demands: TypeAlias = Mapping[str, Mapping[str, object]]


# The vertices that an instance of subgraphs visits: its sources and the targets of its edges; both ends of its edges;
# its sources; the targets of its edges by depth, as walkers take steps.

SOURCES_AND_TARGETS, ENDS, SOURCES, STEPS = "sources and targets", "ends", "sources", "steps"
VISITED = (SOURCES_AND_TARGETS, ENDS, SOURCES, STEPS)


class Visiting(Enum):
    """How often a vertex enters the frontier of an instance."""

    AGAIN = auto()  # each time that it is met
    ONCE = auto()  # once: edges to vertices that were met before cannot be selected
    FIRST = auto()  # once, although such edges can be selected


class Picks(Enum):
    """How the picks of a depth depend on each other."""

    EDGES = auto()  # different edges
    INDEPENDENT = auto()  # with replacement
    VERTICES = auto()  # edges to different vertices (NextDoor, EuroSys 2021, section 6.3)


@dataclass(frozen=True)
class Waiting:
    """Vertices that wait until ``vertex_bias`` selects them (C-SAW, figure 2)."""

    start: int  # vertices that wait at first: the sources
    expanding: int  # vertices that are selected at a depth
    replace: bool  # whether these are selected with replacement


class Named(Protocol):
    """An algorithm, by the name that errors give to it."""

    @classmethod
    def name(cls) -> str: ...


class Declares(Named, Protocol):
    """A traversal: the attributes of its class that make its rule, as algorithm.py explains them."""

    layout: ClassVar[str]
    sources_from: ClassVar[str]
    visited_once: ClassVar[bool]
    revisits: ClassVar[bool]
    draws_from: ClassVar[str]
    each_edge_once: ClassVar[bool]
    geometric: ClassVar[Callable[..., float] | None]
    replace: bool
    unique: bool
    total: int | None
    pool_size: int | None
    frontier_size: int
    frontier_replace: bool


class SelectionRule:
    """Base of all rules. The fields of a rule are what its classes choose; all else is the same for all of its kind."""

    layout: ClassVar[str] = "subgraphs"  # the form of its samples
    together: ClassVar[bool] = False  # whether a frontier selects as a whole, instead of each of its vertices by itself
    by_steps: ClassVar[bool] = False  # whether walkers move one edge at a time, so that none is drawn twice
    takes_update: ClassVar[bool] = False  # whether the hook update may say what enters the frontier

    visits: Visiting = Visiting.AGAIN
    picks: Picks = Picks.EDGES
    coins: bool = False  # whether each vertex draws its own size, by geometric
    waiting: Waiting | None = None
    total: int | None = None  # vertices from which on an instance draws no further depth
    everywhere: bool = False  # whether the frontier is all vertices, so that none is listed as a source
    each_edge_once: bool = False  # whether only the direction src <= dst of an undirected edge counts

    declared_by: ClassVar[tuple[str, ...]] = ()  # conditions of which one holds for the attributes of a class
    takes: ClassVar[tuple[str, ...]] = ()  # attributes that are not as in most traversals, or need not be
    demands: ClassVar[Demands] = {}  # values that attributes must have, by the conditions under which they must
    fixed_sizes: ClassVar[tuple[int, ...] | None] = None  # sizes of depths, if there is no choice of them
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]  # a rule is a dataclass

    def misfit(self, sizes: tuple[int, ...]) -> str:
        """Say which ``sizes`` the rule expects, if these are others; otherwise nothing."""
        least = min(sizes, default=0)
        if self.fixed_sizes is not None:
            return "" if sizes == self.fixed_sizes else f"{self.fixed_sizes} with {self.declared_by[0]}"
        if self.everywhere and len(sizes) != 1:
            return "one number with sources_from = 'every'"
        if self.coins:
            own = "-1 at each depth, because vertices draw their sizes, with geometric"
            return own if set(sizes) - {-1} else ""
        if isinstance(self, VertexLayer) and least < 0:
            return "numbers of at least 0 with draws_from"
        all_once = "numbers of at least 0, because -1 selects each edge once, with replace = True"
        return all_once if self.replace and least < 0 else ""

    @property
    def once(self) -> bool:
        """Whether a vertex enters the frontier of an instance once."""
        return self.visits is not Visiting.AGAIN

    @property
    def only_new(self) -> bool:
        """Whether edges to vertices that were visited before cannot be selected."""
        return self.visits is Visiting.ONCE

    @property
    def visited(self) -> str:
        """The vertices that an instance of subgraphs visits, one of ``VISITED``."""
        return ENDS if self.everywhere else SOURCES_AND_TARGETS

    @property
    def replace(self) -> bool:
        """Whether picks are drawn with replacement."""
        return self.picks is Picks.INDEPENDENT

    @property
    def unique(self) -> bool:
        """Whether the edges of a depth lead to different vertices."""
        return self.picks is Picks.VERTICES

    @property
    def calls_vertex_bias(self) -> bool:
        """Whether the hook ``vertex_bias`` selects vertices that wait, or the walker that moves."""
        return self.waiting is not None

    @property
    def whole_rows(self) -> bool:
        """Whether each vertex selects from all of its own neighbors, whatever was sampled before."""
        return False

    @property
    def can_select_in_time(self) -> bool:
        """Whether the edges that a vertex may select can be those before a time."""
        return False


@dataclass(frozen=True)
class Steps(SelectionRule):
    """One walker moves along one edge at each step."""

    declared_by = ("layout = 'walks'",)
    layout = "walks"
    by_steps = True


BUDGETS = "budgets"  # the ``draws_from`` of an algorithm by budgets
OF_MINIBATCHES: dict[str, object] = {"visited_once": True, "revisits": True, "sources_from": "all"} | {
    name: value for name, value in DEFAULTS.items() if name not in ("layout", "replace", "draws_from")
}
"""The attributes of all mini-batches."""


@dataclass(frozen=True)
class BudgetLayers(SelectionRule):
    """A mini-batch draws vertices of each type, layer by layer, by what its vertices have given them, and ends with all
    edges among its vertices.
    """

    declared_by, takes = (f"draws_from = {BUDGETS!r}",), ANY
    demands: ClassVar[Demands] = {
        "": OF_MINIBATCHES | {"layout": "batches", "replace": False, "draws_seeds": False, "ends_induced": False}
    }
    layout = "batches"
    together = can_select_in_time = True
    visits = Visiting.FIRST


@dataclass(frozen=True)
class MiniBatch(SelectionRule):
    """Each vertex that is new in a mini-batch selects among its own edges."""

    declared_by, takes = ("layout = 'batches'",), ANY
    demands: ClassVar[Demands] = {
        "": OF_MINIBATCHES | {"draws_from": "edges", "ends_induced": False},
        "draws_seeds = True": {"epochs": 1, "shuffle": False, "drop_last": False},
    }
    layout = "batches"
    whole_rows = can_select_in_time = True
    visits = Visiting.FIRST
    picks: Picks = Picks.EDGES


@dataclass(frozen=True)
class NonNeighbors(SelectionRule):
    """An instance is a link, whose source selects vertices that it has no edge to."""

    declared_by, takes, fixed_sizes = ("layout = 'links'",), ("layout",), ()
    demands: ClassVar[Demands] = {
        "layout = 'links'": {"sources_from": "links", "visited_once": False, "ends_induced": False}
    }
    layout = "links"


@dataclass(frozen=True)
class WholeClusters(SelectionRule):
    """An instance is all vertices of some clusters, and selects nothing: how it would select says nothing."""

    declared_by, fixed_sizes = ("sources_from = 'clusters'",), ()
    takes = ("collective", "replace", "draws_from", "unique", "geometric", "shares_draws")
    demands: ClassVar[Demands] = {"sources_from = 'clusters'": {"ends_induced": True}}
    takes_update = True
    visits = Visiting.ONCE


@dataclass(frozen=True)
class VertexLayer(SelectionRule):
    """An instance selects vertices, by the sums of the biases of the edges to them."""

    declared_by, takes = ("draws_from",), ("draws_from", "collective", "replace")
    demands: ClassVar[Demands] = {
        "draws_from": {"visited_once": False, "collective": True},
        "draws_from = 'vertices'": {"replace": True},
    }
    together = True
    picks: Picks = Picks.EDGES
    everywhere: bool = False
    from_graph: bool = False  # whether by all edges of the graph, instead of those from the frontier


@dataclass(frozen=True)
class GraphEdges(SelectionRule):
    """An instance selects among all edges of the graph."""

    declared_by, takes = ("each_edge_once", "sources_from = 'every'"), ("each_edge_once", "collective", "unique")
    demands: ClassVar[Demands] = {
        "each_edge_once = True": {"sources_from": "every"},
        "sources_from = 'every'": {"visited_once": False, "collective": True},
    }
    together = everywhere = takes_update = True
    picks: Picks = Picks.EDGES
    each_edge_once: bool = False


@dataclass(frozen=True)
class Clocks(SelectionRule):
    """One walker of an instance moves at each step, chosen by ``vertex_bias``."""

    declared_by, takes, fixed_sizes = ("clocks = True",), ("clocks",), (1,)
    demands: ClassVar[Demands] = {"clocks = True": {"visited_once": False}}
    by_steps = calls_vertex_bias = True

    @property
    def visited(self) -> str:
        return STEPS


@dataclass(frozen=True)
class SharedNumbers(SelectionRule):
    """Frontier vertices decide on their edges to a vertex by one random number, which that vertex has at a depth."""

    declared_by, takes = ("shares_draws",), ("shares_draws",)
    demands: ClassVar[Demands] = {"shares_draws = True": {"visited_once": False}}
    can_select_in_time = True


@dataclass(frozen=True)
class SourceEdges(SelectionRule):
    """An instance keeps all edges among its sources."""

    declared_by, takes, fixed_sizes = ("induced = True",), ("induced",), (-1,)
    demands: ClassVar[Demands] = {"induced = True": {"sources_from": "distinct", "visited_once": True}}
    visits = Visiting.ONCE

    @property
    def visited(self) -> str:
        return SOURCES


@dataclass(frozen=True)
class HopTable(SelectionRule):
    """Each cell of a hop selects among the edges of its vertex, for cells of the next hop."""

    declared_by, takes = ("layout = 'hops'",), ("layout", "unique", "replace")
    demands: ClassVar[Demands] = {"layout = 'hops'": {"visited_once": False}}
    layout = "hops"
    whole_rows = True
    picks: Picks = Picks.EDGES

    @property
    def can_select_in_time(self) -> bool:
        return not self.unique


@dataclass(frozen=True)
class EdgePool(SelectionRule):
    """The vertices of a frontier select among all of their edges together."""

    declared_by, takes = ("collective", "total"), ("collective", "unique", "total", "replace", "pool_size")
    demands: ClassVar[Demands] = {
        "total": {"collective": True, "visited_once": True},
        "collective = True and replace = True": {"replace": False},
    }
    together = takes_update = True
    visits: Visiting = Visiting.ONCE
    picks: Picks = Picks.EDGES
    waiting: Waiting | None = None
    total: int | None = None

    @property
    def can_select_in_time(self) -> bool:
        return self.visits is not Visiting.FIRST and not (self.unique or self.waiting)


@dataclass(frozen=True)
class PerVertex(SelectionRule):
    """Each frontier vertex selects among its own edges."""

    takes = ("unique", "replace", "geometric", "pool_size", "frontier_replace")
    takes_update = True
    visits: Visiting = Visiting.ONCE
    picks: Picks = Picks.EDGES
    coins: bool = False
    waiting: Waiting | None = None

    @property
    def whole_rows(self) -> bool:
        return not self.only_new

    @property
    def can_select_in_time(self) -> bool:
        return self.visits is Visiting.AGAIN and not (self.unique or self.coins or self.waiting)


KINDS = SelectionRule.__subclasses__()  # in order: the first one that a class declares is its own
FIELDS: dict[str, Callable[[Declares], object]] = {  # of the attributes of a class
    "visits": lambda a: Visiting.AGAIN if not a.visited_once else Visiting.FIRST if a.revisits else Visiting.ONCE,
    "picks": lambda a: Picks.INDEPENDENT if a.replace else Picks.VERTICES if a.unique else Picks.EDGES,
    "coins": lambda a: a.geometric is not None,
    "waiting": lambda a: a.pool_size and Waiting(a.pool_size, a.frontier_size, a.frontier_replace),
    "total": lambda a: a.total,
    "everywhere": lambda a: a.sources_from == "every",
    "each_edge_once": lambda a: a.each_edge_once,
    "from_graph": lambda a: a.draws_from == "vertices",
}


def rule_of(algorithm: Declares) -> SelectionRule:
    """Make the rule that the attributes of an algorithm declare. OptionError where no rule has all of them."""
    if algorithm.layout == Steps.layout:
        return Steps()  # other attributes of a walk say nothing here, whatever they are called
    declared = [name for name, default in DEFAULTS.items() if getattr(algorithm, name) != default]

    def holds(condition: str) -> bool:
        name, _, value = condition.partition(" = ")
        return getattr(algorithm, name, None) == literal_eval(value) if value else not name or name in declared

    kind = next(kind for kind in KINDS if not kind.declared_by or any(map(holds, kind.declared_by)))
    if kind.takes is not ANY:
        _refuse_apart(algorithm, kind.takes, declared)
    for conditions, values in kind.demands.items():
        for name, value in values.items() if all(map(holds, conditions.split(" and "))) else ():
            if (found := getattr(algorithm, name)) != value and conditions:
                refuse(algorithm, name, f"{value!r} with {conditions}", found)
            elif found != value:
                why = "remove it, or derive the class from Traversal"
                refuse(algorithm, name, f"{value}, as in all mini-batches", found, why)
    return kind(**{field.name: FIELDS[field.name](algorithm) for field in fields(kind)})


def _refuse_apart(algorithm: Declares, takes: tuple[str, ...], declared: list[str]) -> None:
    """OptionError about the first two attributes of those ``declared`` that a rule does not have together."""
    head = next((name for name in takes if name in declared), "sources_from")
    apart = [(head, name) for name in declared if name not in takes]
    apart += [pair for pair in APART if set(pair) <= set(declared)]
    for pair in apart[:1]:
        in_order = sorted(pair, key=[*DEFAULTS, "sources_from"].index)
        one, other = (n if n == "geometric" else f"{n} = {getattr(algorithm, n)!r}" for n in in_order)
        raise OptionError(f"{algorithm.name()}: {one} and {other} cannot be combined")


def refuse(algorithm: Named, name: str, expected: str, found: object, why: str = "") -> NoReturn:
    """OptionError about an attribute of a class that is other than ``expected``."""
    raise OptionError(f"{algorithm.name()}.{name}: expected {expected}, found {quoted(found)}{'; ' * bool(why)}{why}")
