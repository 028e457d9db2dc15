"""A plan as kernels of any backend see it: the hooks compiled into them, and the constants they are specialized on."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, MiniBatches, Traversal, Walk
from csaw.engine.api.bases import InTime, TemporalWalk
from csaw.engine.api.hook_language import is_own
from csaw.engine.api.hook_scope import INLINED
from csaw.engine.api.rules import BudgetLayers, Clocks, MiniBatch, SourceEdges, Steps
from csaw.engine.api.starts import BIASES
from csaw.engine.api.termination import is_unlimited
from csaw.engine.plan.choices import Method
from csaw.engine.plan.contracts import Array, Store
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.selection import TrialBounds, bounds_of_trials
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER, EdgeColumn

# The rules of walks and of neighbors in time as kernels read them: constants that they are specialized on, and numbers
# of the run.

LEAST, LARGEST = -(2**63), 2**63 - 1
OFF = dict.fromkeys(
    (
        "TIMED",  # walks know the times of their edges
        "BY_TIME",  # edges are taken from the order of rows by time
        "TIME_COLUMN",  # numbers of the edge columns time
        "TIME_ORDER",  # and time_order
        "HAS_START",
        "HAS_WINDOW",
        "HAS_LAST",
        "BACKWARD",
        "STRICT",
        "TIME_BIAS",
        "FAR",
        "PER_TIME",
        "FROM_EDGES",
        "FROM_TIMES",  # of start edges, each walk knows the time of its own
        "LATEST",  # of neighbors in time: the last ones before a time are selected
    ),
    0,
)
"""All constants of runs in time, with the values of others: those of CUDA's kernels, and a test compares the CPU's."""


class TimeRules(NamedTuple):
    """The numbers of a run in time, of which kernels read those that its constants ask for."""

    start: int
    """The time at which walks start."""
    window: int
    """The longest time between edges."""
    last: int
    """The time after which no edge is taken, or backward before which."""
    scale: float
    """The time in which an exponential bias changes by e."""
    bounded: bool
    """Whether there is a longest time between edges, or a last time."""

    exponential: bool
    """Whether steps have an exponential bias of times."""

    @property
    def event_words(self) -> int:
        """Words of 32 bits of an edge in the order by time on a CPU: see cpu/kernels/access.py."""
        return 8 if self.exponential else 4

    @property
    def numbers(self) -> np.ndarray:
        """int64 [3]: start, window, last."""
        return np.array(self[:3], np.int64)


def _columns(columns: Sequence[EdgeColumn]) -> dict[str, int]:
    """The numbers of the columns of times and, where it is read, of the order by time."""
    found = {"TIME_COLUMN": next(number for number, column in enumerate(columns) if column.name == TIME.name)}
    return found | ({"TIME_ORDER": columns.index(TIME_ORDER)} if TIME_ORDER in columns else {})


def time_constants(walk: Walk, columns: Sequence[EdgeColumn]) -> dict[str, int]:
    """The constants of a walk, of which all are 0 where it is none in time."""
    if not walk.timed:
        return OFF
    assert isinstance(walk, TemporalWalk)
    found = {"TIMED": 1, "HAS_START": int(walk.start_time is not None), "BACKWARD": int(walk.backward)}
    found |= _columns(columns)
    if walk.by_time:
        from csaw.engine.algorithms.temporal import Temporal

        assert isinstance(walk, Temporal)
        found |= {
            "BY_TIME": 1,
            "HAS_WINDOW": int(walk.time_window is not None),
            "HAS_LAST": int(walk.last_time is not None),
            "STRICT": int(walk.time_order == "strict"),
            "TIME_BIAS": BIASES.index(walk.time_bias),
            "FAR": int(walk.prefer == "far"),
            "PER_TIME": int(walk.per == "time"),
            "FROM_EDGES": int(walk.start == "edge"),
            "FROM_TIMES": int(walk.starts_by_time),
        }
    return OFF | found


def neighbor_constants(traversal: Traversal, columns: Sequence[EdgeColumn]) -> dict[str, int]:
    """The constants of a traversal in time: edges are taken back in time, from a time that each vertex knows. Links
    know where the times are.
    """
    if traversal.time_strategy is None:
        return OFF | (_columns(columns) if getattr(traversal, "negative_time", None) is not None else {})
    assert isinstance(traversal, InTime)
    return (
        OFF
        | {
            "BY_TIME": 1,
            "BACKWARD": 1,
            "HAS_START": 1,
            "HAS_WINDOW": int(traversal.time_window is not None),
            "STRICT": int(traversal.time_order == "strict"),
            "LATEST": int(traversal.time_strategy == "last"),
        }
        | _columns(columns)
    )


def time_rules(walk: Algorithm) -> TimeRules:
    """The numbers of a run; those of options that are not given stand for no limit."""
    start = getattr(walk, "start_time", None)
    window, last = getattr(walk, "time_window", None), getattr(walk, "last_time", None)
    backward = getattr(walk, "backward", False)
    return TimeRules(
        (LARGEST if backward else LEAST) if start is None else start,
        LARGEST if window is None else window,
        (LEAST if backward else LARGEST) if last is None else last,
        float(getattr(walk, "time_scale", 1.0)),
        getattr(walk, "bounded_in_time", False),
        getattr(walk, "exponential_in_time", False),
    )


def sources_and_starts(sources: Array, rules: TimeRules) -> tuple[Array, Array | int]:
    """The vertices [n] where walks start, and when: int64 [n, 1] where ``sources`` [n, 2] say it, or the start of all
    walks.
    """
    return (sources, rules.start) if sources.ndim == 1 else (sources[:, 0], sources[:, 1:])


# A plan as kernels see it.

WEIGHT = hooks.Hook(
    "edge_bias",
    f"{INLINED}def edge_bias({', '.join(hooks.ARGUMENTS)}):\n    return weight\n",
    frozenset({"weight"}),
)
"""The bias of algorithms that draw by weight alone."""
Constants: TypeAlias = dict[str, int | str]
"""Numbers and truths that kernels are specialized on, by name."""


class Specialization:
    """A plan's hooks and constants; ``needs`` are the plan's, ``params`` the values of the algorithm's options."""

    def __init__(self, plan: Plan, store: Store, algorithm: Algorithm) -> None:
        self.plan, self.store, self.seed, self.rule = plan, store, plan.request.seed, algorithm.rule
        self.algorithm = algorithm
        self.needs = plan.needs
        self.select, self.weighted = plan.select, plan.needs.weighted
        self.streamed = plan.residency.streams
        self.params = hooks.params(algorithm)
        with hooks.TREES:
            self.bias = hooks.edge_bias(algorithm, self.weighted, self.needs.edge_columns)
            self.others = hooks.others(algorithm, self.weighted, self.needs.edge_columns)

    @property
    def traversal(self) -> Traversal:
        """The algorithm of a run that is not of walks."""
        assert isinstance(self.algorithm, Traversal)
        return self.algorithm

    @property
    def disjoint(self) -> bool:
        """Whether each seed of a mini-batch has nodes of its own."""
        return isinstance(self.algorithm, MiniBatches) and self.algorithm.disjoint

    @property
    def against_previous(self) -> bool:
        """Whether neighbors in time are compared with the edge before them, rather than with their source."""
        return isinstance(self.algorithm, InTime) and self.algorithm.against_previous

    def hooks(self) -> list[hooks.Hook]:
        """The algorithm's own functions, to be compiled into the kernels."""
        return [self.bias, *(hook for hook in self.others.values() if hook is not None)]

    @property
    def checks_vertices(self) -> bool:
        """Whether a user's own hooks decide where a walk goes, so that kernels must check their vertices."""
        return is_own(type(self.algorithm)) and bool(self.others["update"] or self.others["dead_end"])

    @property
    def places(self) -> bool:
        """Whether the edge of each pick is noted beside its neighbor: in mini-batches, unless they list whole rows, and
        where trials may leave the rest to the whole row, which they tell what is taken.
        """
        lists_in_time = isinstance(self.rule, BudgetLayers) and self.needs.timed
        tried = self.select is Method.REJECTION and not isinstance(self.rule, Steps)
        return isinstance(self.rule, MiniBatch) or lists_in_time or tried

    def bounds_of_trials(self, depth: int) -> TrialBounds:
        """The bounds by which edges are accepted at a depth of a traversal; none where edges are selected otherwise."""
        if self.select is not Method.REJECTION:
            return TrialBounds(0.0, 0.0, 0.0)
        return bounds_of_trials(self.traversal, self.weighted, self.store.stored, depth)

    @property
    def asks_later(self) -> bool:
        """Whether walkers leave questions about edges for later: see Needs.asks_later."""
        return self.streamed and self.needs.asks_later

    @property
    def unlimited(self) -> bool:
        """Whether walks go on until they end by themselves."""
        return is_unlimited(self.algorithm)

    @property
    def weighs_members(self) -> bool:
        """Whether this plan's hash tables of rows hold weights too."""
        return self.plan.membership == "hash" and self.needs.weighs_members

    @cached_property
    def picks_numbers(self) -> bool:
        """Whether frontier entries pick by number alone from whole rows.

        Scratch memory then holds their picks and no candidates.
        """
        c = self.constants()
        return bool(c["UNIFORM"] and c["SELECT"] == Method.UNIFORM.value and not c.get("POOLED"))

    def constants(self) -> Constants:
        """The constants that kernels of any backend are specialized on, by name."""
        undirected, a, rule = not self.store.directed, self.algorithm, self.rule
        constants: Constants = {
            "UNDIRECTED": undirected,
            "SIMPLE": not self.store.multigraph,
            "SYMMETRIC_WEIGHTS": undirected and not self.store.stored.one_sided_weights,
            "WEIGHTED": self.weighted,
            "HAS_UPDATE": self.others["update"] is not None,
            "HAS_DEAD_END": self.others["dead_end"] is not None,
            "UNIFORM": (self.bias.constant or 0) > 0 and self.select in (Method.UNIFORM, Method.KEYS),
            "NEIGHBOR_WEIGHTS": self.weighted and any("weight" in hook.reads for hook in self.hooks()),
            "EDGE_COLUMNS": len(self.needs.edge_columns),
            "SELECT": self.select.value,
            "COLLISION": self.plan.collision.value,
        }
        if isinstance(a, Walk):
            constants |= {
                "EXTREME": self.needs.may_be_hopeless,
                "TABLES": self.needs.edge.tables,
                "CHECKED": self.checks_vertices,
                "READS_PATH": self.needs.reads_path,
                "ASKS_BACK": self.needs.asks_back,
            }
            constants |= time_constants(a, self.needs.edge_columns)
        else:
            assert isinstance(a, Traversal)
            each_edge_once = rule.each_edge_once and undirected
            constants |= {
                "REPLACE": rule.replace,
                "SUCCESSIVE": self.select is Method.ITS and not rule.replace and not isinstance(rule, Clocks),
                "PLACED": self.places,
                "POOLED": rule.only_new or each_edge_once,
                "INDUCED": isinstance(rule, SourceEdges),
                "EACH_EDGE_ONCE": each_edge_once,
                "COLLECTIVE": rule.together or rule.unique,
                "DETECT": self.plan.detect,
                "KEYED": (rule.together or rule.unique) and self.select is Method.KEYS,
            }
            constants |= neighbor_constants(a, self.needs.edge_columns)
        return constants
