"""A plan as kernels of any backend see it: the hooks compiled into them, and the constants they are specialised on."""

from functools import cached_property
from typing import Any, TypeAlias

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.hook_scope import INLINED
from csaw.engine.api.termination import is_unlimited
from csaw.engine.api.user_code import is_own
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.methods import Method
from csaw.engine.plan.plan import Plan
from csaw.engine.schedule.time_rules import neighbor_constants, time_constants

WEIGHT = hooks.Hook(
    "edge_bias",
    f"{INLINED}def edge_bias({', '.join(hooks.ARGUMENTS)}):\n    return weight\n",
    frozenset({"weight"}),
)
"""The bias of algorithms that draw by weight alone."""
Constants: TypeAlias = dict[str, Any]
"""Numbers and truths that kernels are specialised on, by name."""


class Specialization:
    """A plan's hooks and constants; ``needs`` are the plan's, ``params`` the values of the algorithm's options."""

    def __init__(self, plan: Plan, store: Store, algorithm: Algorithm) -> None:
        self.plan, self.store, self.seed = plan, store, plan.request.seed
        self.algorithm: Any = algorithm  # Any: its options are attributes, and its class may be a user's own
        self.needs = plan.needs
        self.select, self.weighted = plan.select, plan.needs.weighted
        self.streamed = plan.residency.streams
        self.params = hooks.params(algorithm)
        with hooks.TREES:
            self.bias = hooks.edge_bias(algorithm, self.weighted, self.needs.edge_columns)
            self.others = hooks.others(algorithm, self.weighted, self.needs.edge_columns)

    def hooks(self) -> list[hooks.Hook]:
        """The algorithm's own functions, to be compiled into the kernels."""
        return [self.bias, *(hook for hook in self.others.values() if hook is not None)]

    @property
    def checks_vertices(self) -> bool:
        """Whether a user's own hooks decide where a walk goes, so that kernels must check their vertices."""
        return is_own(type(self.algorithm)) and bool(self.others["update"] or self.others["dead_end"])

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
        """The constants that kernels of any backend are specialised on, by name."""
        undirected, a = not self.store.directed, self.algorithm
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
                "CHECKED": self.checks_vertices,
                "READS_PATH": self.needs.reads_path,
                "ASKS_BACK": self.needs.asks_back,
            } | time_constants(a, self.needs.edge_columns)
        else:
            each_edge_once = a.each_edge_once and undirected
            constants |= {
                "REPLACE": bool(a.replace),
                "PLACED": a.layout == "batches",
                "POOLED": bool(a.only_new or a.induced or each_edge_once),
                "INDUCED": bool(a.induced),
                "EACH_EDGE_ONCE": bool(each_edge_once),
                "COLLECTIVE": bool(a.collective or a.unique),
                "DETECT": self.plan.detect,
                "KEYED": bool(a.collective or a.unique) and self.select is Method.KEYS,
            } | neighbor_constants(a, self.needs.edge_columns)
        return constants
