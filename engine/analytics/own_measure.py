"""The base of measures that users write: values of vertices that go along edges, round after round.

The steps are those of Gunrock (Wang et al., PPoPP 2016): what a vertex starts with, what goes along an edge, what a
vertex makes of all that has come, and when to stop.
"""

import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from csaw.engine.analytics import measure
from csaw.engine.analytics.computations import Work, pays
from csaw.engine.analytics.evaluation.start import LARGEST, start_vertex, vertex_of
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.rounds import COMBINES, FIELDS, Asked, Rounds, VertexOption, nothing, numbers, rewritten
from csaw.engine.api.hook_language import placed
from csaw.engine.api.hooks import Hook
from csaw.engine.api.option import Option, flag_of
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

OVER = ("edges", "reversed", "undirected")
KINDS = ("value", "rank", "label")
EARLIER = frozenset({"dst_value", "round", "total"})
"""What an edge may read that makes a value which it gave in an earlier round another one now."""
RULES = ("combine", "over", "kind", "rounds", "limit", "tolerance")
OF_VALUE = frozenset({"value", "vertices", "nothing"})
OF_SOURCE = OF_VALUE | {"src", "src_degree", "round", "total"}
ALIKE = 0.75  # how alike two names are where one of them is misspelled


class Measure(measure.Measure):
    """A number for each vertex, found in rounds.

    In a round, each vertex sends its value along its outgoing edges, the values that reach a vertex are combined, and
    the vertex gets a new value. All vertices see the values from before the round. The measure ends when no value
    changes. Options are class attributes made by ``option``; ``vertex_option`` makes one that is the id of a vertex.

    In addition to the fields below, a hook reads ``round``, ``vertices`` (their number) and ``nothing``. ``nothing`` is
    the value that changes nothing when it is combined: 2^63 - 1 for min and -(2^63 - 1) for max, infinities for floats,
    otherwise 0. With min, max and or, a vertex with this value sends nothing.
    """

    KEEPS: ClassVar = {"cpu": Footprint(80, ids=2, fixed=FIXED), "cuda": Footprint(112, ids=2, fixed=FIXED)}
    by_default = False
    combine: ClassVar[str] = "min"
    """How values that come to a vertex are combined: min, max, sum, or ``or`` (of the bits of integers)."""

    over: ClassVar[str] = "edges"
    """The edges that values go along: edges, as they are stored; reversed; or undirected, those of the simple
    undirected graph."""

    kind: ClassVar[str] = "value"
    """How to compare the numbers of a sample: by their distribution over visits (value), by the top-ranked vertices
    (rank), or not at all (label).
    """

    rounds: int | None = None
    """The largest number of rounds; None: until no value changes."""

    limit: int = 100_000
    """Without ``rounds``: the number of rounds after which values that still change are an error."""

    tolerance: float | None = None
    """The measure also ends when a round changes values by at most this, summed over all vertices."""

    # Hooks are compiled; the bodies here say what they do where a class does not have them.

    def start(self, v):  # type: ignore[no-untyped-def]
        """Return the initial value of a vertex; its type is the type of all values. Reads ``v.id``, ``v.degree``."""
        return v.id

    def edge(self, e):  # type: ignore[no-untyped-def]
        """Return the value that goes along an edge; by default the value of its source.

        Reads ``e.value``, ``e.src``, ``e.dst``, ``e.weight``, ``e.src_degree``, ``e.dst_degree``, ``e.dst_value`` and
        ``e.total``.
        """
        return e.value

    def vertex(self, v):  # type: ignore[no-untyped-def]
        """Return the value of a vertex after a round; by default, its value combined with the values that arrived.

        Reads ``v.id``, ``v.degree``, ``v.value``, ``v.combined`` and ``v.total``.
        """
        return v.value

    def total(self, v):  # type: ignore[no-untyped-def]
        """Return the amount that a vertex adds to ``v.total`` and ``e.total`` of the round. Reads ``v.id``,
        ``v.degree``, ``v.value``.
        """
        return 0.0

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        self._check()
        self.reads_weights = "weight" in self.hooks(real=True)["edge"].reads if self.has("edge") else False
        self.directions = ("undirected",) if self.over == "undirected" else ("incoming",)

    @classmethod
    def name(cls) -> str:
        return cls.__name__

    @classmethod
    def has(cls, hook: str) -> bool:
        """Whether the class overrides a hook."""
        return getattr(cls, hook) is not getattr(Measure, hook)

    def hooks(self, *, real: bool) -> dict[str, Hook]:
        """The hooks of the class, rewritten for values that are floats or integers."""
        known = vars(self).setdefault("_hooks", {})
        if real not in known:
            known[real] = {name: rewritten(self, name, real) for name in FIELDS if self.has(name)}
        return known[real]

    @cached_property
    def _reads(self) -> dict[str, frozenset[str]]:
        return {name: hook.reads for name, hook in self.hooks(real=True).items()}

    def reads(self, field: str) -> bool:
        """Whether a hook that makes values reads this field."""
        return any(field in self._reads.get(hook, ()) for hook in ("edge", "vertex"))

    @property
    def keeps_best(self) -> bool:
        """Whether a value is the best of all values that arrived at its vertex in any round.

        If so, a value that does not change need not be passed along again, and the order makes no difference.
        """
        best = self.combine != "sum" and not self.has("vertex") and self.tolerance is None
        return best and not EARLIER & self._reads.get("edge", frozenset())

    @property
    def sends_alike(self) -> bool:
        """Whether a vertex passes the same along each of its edges."""
        return self._reads.get("edge", frozenset()) <= OF_SOURCE

    @property
    def sends_by_value(self) -> bool:
        """Whether only its value decides what a vertex passes along."""
        return self._reads.get("edge", frozenset()) <= OF_VALUE

    def parameters_of(self, store: GraphStore, graph: Network) -> tuple[float, ...]:
        """The numbers of ``params[k]``: options, and the vertices that vertex options name.

        ``store`` has the ids, unlike those that are made of it; ``graph`` the vertex of largest degree, the default.
        """
        declared = self.options()

        def number(name: str) -> float:
            value, flag = getattr(self, name), flag_of(name)
            if isinstance(declared[name], VertexOption):
                return start_vertex(graph, None, flag) if value is None else vertex_of(store, value, flag)
            return value

        return tuple(map(number, numbers(self)))

    def kept_by(self) -> list[object]:
        rules = [getattr(self, rule) for rule in RULES]
        return [*super().kept_by(), rules, *(hook.source for hook in self.hooks(real=True).values())]

    def check(self, store: GraphStore) -> None:
        if self.reads_weights and not store.weighted:
            raise OptionError(
                f"{self.name()}: e.weight: expected a graph with weights, found none in {store.path}; count edges "
                "instead"
            )
        for name, one in self.options().items():
            if isinstance(one, VertexOption) and getattr(self, name) is not None:
                vertex_of(store, getattr(self, name), flag_of(name))

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("rounds",)

    def pays(self, network: Network) -> bool:
        graph = vars(network).get("undirected", network) if self.over == "undirected" else network
        both_ways = graph.directed and not self.keeps_best
        if both_ways and graph.resident and graph.would_be_in_turn:
            return False
        return pays("rounds")(graph, self)

    def works(self, network: Network) -> list[Work]:
        both_ways = network.directed and self.reads_weights and not self.keeps_best
        return [network.works()["rounds_both_ways"]] if both_ways else []

    def refuses_blocks(self, network: Network) -> bool:
        return self.needs_all_rows(network)

    def computed(self, network: Network) -> Rounds:
        """Return the values of all vertices, on the device of the network, and the number of rounds.

        OptionError about a graph without vertices, a hook that cannot be compiled or gives NaN, and values that do not
        stop changing.
        """
        graph = network.undirected if self.over == "undirected" else network
        if not graph.vertices:
            raise OptionError(f"{self.name()}: {network.store.path} has no vertices, so there is nothing to measure")
        if self.over == "reversed":
            graph = network.incoming
        asked = Asked(self, self.parameters_of(network.store, graph), network.store)
        found: Rounds = graph.compute("rounds", asked=asked, backward=lambda: self._backward(network, graph))
        return found

    def findings(self, network: Network) -> Findings:
        found = self.computed(network)
        values, name = found.values, self.name()
        none = nothing(self.combine, values.dtype.kind == "f") if self.combine in ("min", "max") else np.inf
        known = values[network.xp.isfinite(values) & (values != none)]
        finite, counts = map(on_host, network.xp.unique(known, return_counts=True))
        numbers = {f"smallest {name}": finite[0], f"largest {name}": finite[-1]} if finite.size else {}
        return {
            name: Column(on_host(values), found.method, self.kind, none=none),
            f"distribution of {name}": Distribution(finite, counts, name),
            **{said: Number(number.item()) for said, number in numbers.items()},
            f"rounds of {name}": Number(found.rounds),
        }

    def _backward(self, network: Network, graph: Network) -> Network:
        """The network whose rows hold the vertices that values come from."""
        return network if self.over == "reversed" else graph.incoming

    def _check(self) -> None:
        """Raise OptionError about a rule of the class that has a wrong value, or a hook that is misspelled."""
        for rule, known in (("combine", COMBINES), ("over", OVER), ("kind", KINDS)):
            if (value := getattr(self, rule)) not in known:
                raise OptionError(f"{self.name()}.{rule}: expected one of {', '.join(known)}, found {quoted(value)}")
        for rule, least in (("rounds", 0), ("limit", 1)):
            value = getattr(self, rule)
            if not (type(value) is int and value >= least) and not (rule == "rounds" and value is None):
                raise OptionError(
                    f"{self.name()}.{rule}: expected an integer of at least {least}, found {quoted(value)}"
                )
        if not isinstance(self.tolerance, int | float | None) or not (self.tolerance is None or self.tolerance >= 0):
            raise OptionError(
                f"{self.name()}.tolerance: expected a number of at least 0, found {quoted(self.tolerance)}"
            )
        self._check_names()
        self._check_rules()

    def _check_names(self) -> None:
        """Raise OptionError about an attribute that no method reads and that is called nearly as a hook or rule."""
        own = dict(_attributes(type(self)))
        read = {name for one in own.values() if inspect.isfunction(one) for name in one.__code__.co_names}
        for name in own.keys() - read - self.options().keys() - set(dir(Measure)):
            if not name.startswith("_") and (meant := get_close_matches(name, (*FIELDS, *RULES), 1, ALIKE)):
                said = f"{self.name()}.{name}: nothing reads it; did you mean {meant[0]}? If not, choose another name"
                raise placed(OptionError(said), own[name])

    def _check_rules(self) -> None:
        if not self.has("start"):
            raise OptionError(
                f"{self.name()}: expected a method 'def start(self, v)' that returns the initial value of a vertex"
            )
        if self.combine == "sum" and not self.has("vertex"):
            raise OptionError(
                f"{self.name()}: a sum needs a method 'def vertex(self, v)' that computes the new value from "
                "v.combined and v.value"
            )
        if self.over != "edges" and "weight" in self._reads.get("edge", ()):
            said = f"{self.name()}.edge: e.weight is of the edges as they are stored; take over = 'edges'"
            raise placed(OptionError(said), type(self).edge)
        if self.reads("round") and self.rounds is None and self.tolerance is None:
            raise OptionError(
                f"{self.name()}: a hook reads the number of the round, so the measure would never end; set rounds "
                "or tolerance"
            )


def _attributes(kind: type) -> Iterator[tuple[str, object]]:
    """The attributes that a custom class and its custom bases define."""
    for base in (base for base in kind.__mro__ if issubclass(base, Measure) and base is not Measure):
        yield from vars(base).items()


def vertex_option(*, help: str) -> int:
    """Declare an option that is the original id of a vertex, as a class attribute.

        source: int = vertex_option(help="vertex from which to measure distances")

    In hooks, ``self.source`` is the number of that vertex, as ``v.id`` is. The default is the vertex of largest degree.

    Args:
        help: what the option changes, for ``csaw evaluate --help``.

    Returns:
        The declaration, which stands for the value.
    """
    made: Option = VertexOption(None, f"{help} [default: {LARGEST}]", object, none=LARGEST)
    return cast("int", made)
