"""The choice of a selection method for a bias, and the checks of the bounds and coins that algorithms declare."""

import ast
import math
from typing import NamedTuple, TypeGuard

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.hook_language import is_own
from csaw.engine.api.rules import (
    BudgetLayers,
    MiniBatch,
    NonNeighbors,
    SharedNumbers,
    SourceEdges,
    VertexLayer,
    WholeClusters,
)
from csaw.engine.draws import LEAST_BIAS
from csaw.engine.plan.bias_bounds import LARGEST, TRIALS, Bounds, derived_bounds
from csaw.engine.plan.choices import Method
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BiasError, OptionError
from csaw.partition.graph.store import GraphStore

EXTREME_CHANCE = 2.0**-20  # chances of a coin, or of its other side, below this need more than 32 bits
HOPELESS = 2.0**-20  # rows where fewer trials by rejection accept are drawn from as a whole
SUM_BITS = 61  # of the running sums of a row, and the least that the least weight of a graph may have of them
LEAST_BITS = 16


def choose_select(algorithm: Algorithm, weighted: bool, forced: Method | None, store: GraphStore) -> Method:
    """The cheapest exact method for the bias (C-SAW, section II-B), or ``forced``, on a graph.

    Running sums are integers, so that without replacement they suffice only where weights are not too far apart.
    OptionError if ``forced`` cannot draw this algorithm; BiasError if the bias is a constant that is none.
    """
    bias = hooks.edge_bias(algorithm, weighted)
    if bias.constant is not None and not (bias.constant == 0.0 or LEAST_BIAS <= bias.constant < math.inf):
        raise BiasError(
            f"{algorithm.name()}.edge_bias is {bias.constant}; "
            f"a bias must be 0, or a finite number from {LEAST_BIAS} on"
        )
    if isinstance(algorithm, Walk):
        can = _of_walk(algorithm, bias, weighted, forced)
    else:
        can = _of_traversal(algorithm, bias, weighted, forced, store)
    far_apart = Method.KEYS in can and weighted and "weight" in bias.reads and _far_apart(store)
    if far_apart:
        can -= {Method.ITS, Method.REJECTION}  # which draws what trials leave by such sums
    usable = [method for method in Method if method in can]
    chosen = forced or usable[0]
    if chosen not in can:
        in_time = getattr(algorithm, "time_strategy", None) is not None
        reason = " with --time-strategy, which searches the order of time" if in_time else " with this bias"
        if far_apart and forced is Method.ITS:
            least, largest = store.weight_range or (0, math.inf)
            reason = f" without replacement where weights are {least:g} to {largest:g}, too far apart for its sums"
        raise OptionError(f"--select {forced} cannot draw {algorithm.name()}{reason}; it can use {', '.join(usable)}")
    if chosen is Method.REJECTION and isinstance(algorithm, Walk):
        bounds(algorithm)
    return chosen


def _far_apart(store: GraphStore) -> bool:
    """Whether the edges that are left of a row, once some are taken, may weigh too little in the row's running sums.

    The largest bias of a row of d edges takes 61 - log2(d) bits there (engine/cpu/kernels/weigh.py).
    """
    least, largest = store.weight_range or (0, math.inf)  # of a store that does not say it
    return least == 0 or math.log2(largest) - math.log2(least) > SUM_BITS - LEAST_BITS - store.max_degree.bit_length()


def _of_walk(algorithm: Walk, bias: hooks.Hook, weighted: bool, forced: Method | None) -> set[Method]:
    """The methods that draw a step of this walk by its bias."""
    if algorithm.timed:
        return {Method.TIME if algorithm.by_time else Method.ITS}
    update = hooks.others(algorithm, weighted)["update"]
    by_edge = not (update and update.by_edge)
    can = {
        Method.UNIFORM: (bias.constant or 0) > 0 and by_edge,
        Method.ALIAS: (bias.static or bool(cases_of(algorithm))) and by_edge,
        Method.REJECTION: not bias.static
        and _is_bounded(algorithm, forced)
        and by_edge
        and "path" not in bias.reads
        and not bias.columns  # a proposal knows its vertex, not its edge
        and (not weighted or "weight" not in bias.reads or is_by_weight(bias)),
        Method.ITS: True,
    }
    return {method for method, possible in can.items() if possible}


def cases_of(algorithm: Algorithm, select: Method = Method.ALIAS) -> tuple[int, ...]:
    """The case of each depth of a walk whose bias at a depth depends only on the edge (see runs/by_depth.py); empty
    for all others, and for other methods.
    """
    cases: tuple[int, ...] = getattr(algorithm, "depth_cases", ()) if select is Method.ALIAS else ()
    return cases


def tables_of(algorithm: Algorithm, select: Method) -> int:
    """The alias tables that a run has, if it has any: one for each case of the depth."""
    return len(set(cases_of(algorithm, select))) or 1


def _is_bounded(algorithm: Walk, forced: Method | None) -> bool:
    """Whether a walk says between which bounds its bias is, or its text proves some: near each other, unless rejection
    is ``forced``.
    """
    if algorithm.bias_range is not None:
        return True
    derived = derived_bounds(algorithm)
    if derived is None:
        return False
    return derived.are_near or (forced is Method.REJECTION and _are_bounds(derived))


def proposes(algorithm: Algorithm, weighted: bool, store: GraphStore) -> bool:
    """Whether a walk along a metapath can be drawn by rejection, which it is although the bias of some edges is 0: most
    neighbors have the type that comes next.
    """
    if not isinstance(algorithm, Walk) or (derived := derived_bounds(algorithm)) is None:
        return False
    try:
        chosen = choose_select(algorithm, weighted, Method.REJECTION, store)
    except OptionError:
        return False
    return chosen is Method.REJECTION and 1.0 / TRIALS <= derived.high <= TRIALS


def drawn_by(algorithm: Algorithm, weighted: bool, select: Method) -> str | None:
    """How a bias that knows more than its edge is drawn by, in words; None for any other."""
    bias = hooks.edge_bias(algorithm, weighted)
    if bias.static or (isinstance(algorithm, Walk) and algorithm.timed):
        return None
    if isinstance(algorithm, Traversal):
        return _selected_by(algorithm, bias, weighted, select)
    assert isinstance(algorithm, Walk)
    if select is Method.ALIAS:
        tables = tables_of(algorithm, select)
        return f"from {tables} tables, by depth" if tables > 1 else None
    if select is Method.REJECTION:
        low, high, back = bounds(algorithm)
        times = " of the weight" if weighted and "weight" in bias.reads else ""
        times = (
            f" of {factor}" if (factor := getattr(algorithm, "static_factor", "")) else times
        )  # see runs/factored.py
        span = f"{low:g} to {high:g}" if low < high else f"{high:g}"
        way_back = f", {back:g} on the way back" if back != high else ""
        draws = "1 draw" if high == low else f"at most {high / low:.3g} draws" if low > 0 else ""
        most = f"; {draws} a step expected" if draws else ""
        return f"{span}{times}{way_back}{most}"
    return f"each step reads every neighbor: {_hindrance(algorithm, bias, weighted)}"


def _selected_by(algorithm: Traversal, bias: hooks.Hook, weighted: bool, select: Method) -> str:
    """How the bias of a traversal is drawn by."""
    if select is not Method.REJECTION:
        why = _hindrance(algorithm, bias, weighted)
        return f"each vertex reads all of its neighbors: {why}"
    derived = derived_bounds(algorithm)
    assert derived is not None
    span = f"{derived.low:g} to {derived.high:g}" if derived.low < derived.high else f"{derived.high:g}"
    by_weight = weighted and "weight" in bias.reads
    draws = derived.high / derived.low if derived.low > 0 else math.inf
    most = f"; at most {draws:.3g} draws a neighbor expected" if draws < math.inf else ""
    times = ", times the largest weight over the mean" if most and by_weight else ""
    of = " of the weight" if by_weight else ""
    way_back = f", {derived.back:g} on the way back" if derived.back < derived.low else ""
    return f"{span}{of}{way_back}{most}{times}; few neighbors are all read"


def _hindrance(algorithm: Walk | Traversal, bias: hooks.Hook, weighted: bool) -> str:
    """The reason why a bias is not drawn by rejection."""
    if bias.columns:
        why = (
            "and a draw knows its vertex, not its edge" if isinstance(algorithm, Walk) else "which has no known bounds"
        )
        return f"it reads e.{min(bias.columns)}, {why}"
    if algorithm.rule.together or algorithm.rule.unique:
        return "what several vertices select depends on each other"
    if "path" in bias.reads:
        return "it reads e.path"
    if weighted and "weight" in bias.reads and not is_by_weight(bias):
        return "it is not written as e.weight times a number of bounds"
    derived, of_walk = derived_bounds(algorithm), isinstance(algorithm, Walk)
    if (isinstance(algorithm, Walk) and algorithm.bias_range) or (derived is not None and derived.are_near):
        other = "update reads the edge" if of_walk else "weights of the graph are too far apart or not known"
        return f"--select asks for it, or {other}"
    if derived is None:
        return "no bounds; Walk.bias_range can declare some" if of_walk else "no bounds"
    return f"it is from {derived.low:g} to {derived.high:g}, too far apart"


def is_by_weight(bias: hooks.Hook) -> bool:
    """Whether the text of a bias says that it is the weight times what does not read the weight.

    Neighbors may then be proposed by weight.
    """
    with hooks.TREES:
        function = ast.parse(bias.source).body[-1]
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    elsewhere = _weights_in(function) - sum(_weights_in(value) for value in returned if value is not None)
    return elsewhere == 0 and all(_is_multiple(value) for value in returned)


def _weights_in(tree: ast.AST) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "weight" for node in ast.walk(tree))


def _is_multiple(value: ast.expr | None) -> bool:
    """Whether an expression is the weight times something else, or 0."""
    if isinstance(value, ast.IfExp):
        return _weights_in(value.test) == 0 and _is_multiple(value.body) and _is_multiple(value.orelse)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and _weights_in(value.left) == 0:
        return _is_multiple(value.right)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
        return _weights_in(value.right) == 0 and _is_multiple(value.left)
    return isinstance(value, ast.Name | ast.Constant) and ast.unparse(value) in ("weight", "0", "0.0")


def _of_traversal(
    algorithm: Algorithm, bias: hooks.Hook, weighted: bool, forced: Method | None, store: GraphStore
) -> set[Method]:
    """The methods that select this traversal's neighbors by their biases."""
    assert isinstance(algorithm, Traversal)
    rule = algorithm.rule
    if rule.coins:
        coin(algorithm)
    if algorithm.time_strategy is not None:
        return _in_time(algorithm, bias)
    if rule.unique or isinstance(rule, BudgetLayers):
        return {Method.KEYS}
    of_clusters = isinstance(rule, WholeClusters) and type(algorithm).edge_bias is not Algorithm.edge_bias
    keeps_all = isinstance(rule, SourceEdges) or of_clusters
    selects_none = isinstance(rule, NonNeighbors)
    if (isinstance(rule, SharedNumbers) or keeps_all or selects_none) and not (bias.constant or 0) > 0:
        why = "keeps all edges among its vertices" if keeps_all else "draws all neighbors with the same chance"
        why = "draws vertices that are no neighbors; see --negative-bias" if selects_none else why
        raise OptionError(f"{algorithm.name()}.edge_bias: expected a constant, because {algorithm.name()} {why}")
    if isinstance(rule, SharedNumbers | NonNeighbors):
        return {Method.UNIFORM}
    if isinstance(rule, VertexLayer):
        if not bias.static:
            raise OptionError(
                f"{algorithm.name()}.edge_bias: expected a bias that depends only on the edge, found one that "
                f"reads {', '.join(sorted(bias.reads - bias.columns - hooks.STATIC))}"
            )
        return {Method.ITS if rule.replace else Method.KEYS}
    # Alias tables know the vertex of a pick, and mini-batches also need its edge.
    whole = rule.replace and rule.whole_rows and not isinstance(rule, MiniBatch)
    can = {
        Method.UNIFORM: (bias.constant or 0) > 0,
        Method.ALIAS: bias.static and whole and min(algorithm.sizes(), default=0) >= 0,
        Method.REJECTION: _can_try(algorithm, bias, weighted, forced, store),
        Method.ITS: not rule.together,
        Method.KEYS: not rule.replace and not rule.by_steps,
    }
    return {method for method, possible in can.items() if possible}


def _can_try(algorithm: Traversal, bias: hooks.Hook, weighted: bool, forced: Method | None, store: GraphStore) -> bool:
    """Whether a vertex can propose any of its edges and accept it by its bias, rather than read them all."""
    selects = algorithm.rule.coins or max(algorithm.sizes(), default=0) > 0  # -1: all
    if bias.static or bias.columns or algorithm.rule.together or not selects:
        return False
    if weighted and "weight" in bias.reads and (store.weight_range is None or not is_by_weight(bias)):
        return False
    derived = derived_bounds(algorithm)
    return derived is not None and (derived.are_near or (forced is Method.REJECTION and _are_bounds(derived)))


def _are_bounds(derived: Bounds) -> bool:
    """Whether a bias can be accepted by its share of the highest one, however far the lowest is."""
    return 1.0 / LARGEST <= derived.high <= LARGEST


class TrialBounds(NamedTuple):
    """The bounds by which a traversal accepts edges at a depth."""

    low: float
    """The lowest bias, over the weight if it reads the weight."""
    high: float
    """The highest, likewise."""
    highest: float
    """The highest of all: of the heaviest edge."""


def bounds_of_trials(algorithm: Traversal, weighted: bool, store: GraphStore, depth: int) -> TrialBounds:
    """The bounds of the biases at a depth of a traversal by rejection."""
    derived = derived_bounds(algorithm, depth)
    assert derived is not None
    by_weight = weighted and "weight" in hooks.edge_bias(algorithm, weighted).reads
    heaviest = store.weight_range[1] if by_weight and store.weight_range else 1.0
    return TrialBounds(derived.lowest, derived.high, derived.high * heaviest)


def _in_time(algorithm: Traversal, bias: hooks.Hook) -> set[Method]:
    """The method of a traversal in time; OptionError where its edges are not equally likely, or where what a vertex
    selects depends on more than its own edges and a time.
    """
    a, name = algorithm, algorithm.name()
    if not (bias.constant or 0) > 0:
        raise OptionError(
            f"--time-strategy {a.time_strategy}: expected edges that are equally likely, found a bias of "
            f"{name} that reads {', '.join(sorted(bias.reads)) or 'nothing'}; pass --bias=none"
        )
    if not a.rule.can_select_in_time or type(a).update is not Traversal.update:
        raise OptionError(
            f"--time-strategy: {name} cannot select in time: expected a traversal whose vertices each select "
            "among their own edges and all continue, like neighbor and minibatch, or one that selects like labor, "
            "layer or hgt; see InTime"
        )
    if a.time_strategy == "last" and not a.rule.whole_rows:
        pooled, sure = "edges of several vertices at one time have no order", "the last edges need no shared number"
        why = pooled if a.rule.together else sure
        why = "a vertex divides its budget among all of its earlier edges" if isinstance(a.rule, BudgetLayers) else why
        raise OptionError(
            f"--time-strategy last: expected uniform for {name}, because {why}; neighbor selects the last edges of "
            "each vertex"
        )
    return {Method.TIME}


def from_whole_rows(algorithm: Algorithm) -> TypeGuard[Traversal]:
    """Whether each vertex of a traversal selects from all of its own neighbors, whatever was sampled before."""
    return isinstance(algorithm, Traversal) and algorithm.rule.whole_rows and algorithm.time_strategy is None


def return_apart(algorithm: Algorithm, select: Method) -> bool:
    """Whether a rejection walk draws the return edge apart, because its bias may exceed the bound of the others."""
    if select is not Method.REJECTION or not isinstance(algorithm, Walk):
        return False
    _, high, back = bounds(algorithm)
    return back > high


def may_be_hopeless(algorithm: Algorithm, select: Method) -> bool:
    """Whether there can be rows where trials by rejection are hardly ever accepted.

    Bounds that a user's own class declares may not hold; those that are derived do.
    """
    if select is not Method.REJECTION or not isinstance(algorithm, Walk):
        return False
    low, high, back = bounds(algorithm)
    if algorithm.bias_range is None:
        derived = derived_bounds(algorithm)
        return derived is None or derived.lowest < HOPELESS * high
    return min(low, back) < HOPELESS * high or is_own(type(algorithm))


def bounds(algorithm: Algorithm) -> tuple[float, float, float]:
    """The bounds (low, high, back) that ``bias_range`` declares, or that follow from the text of the bias.

    OptionError if declared ones bound nothing.
    """
    assert isinstance(algorithm, Walk)
    if algorithm.bias_range is None:
        derived = derived_bounds(algorithm)
        assert derived is not None
        return derived.low, derived.high, derived.back
    found = algorithm.bias_range()
    try:
        low, high, back = (float(bound) for bound in found)
    except (TypeError, ValueError):
        low = high = back = math.nan
    if not (0.0 <= low <= high and 1.0 / LARGEST <= high <= LARGEST and 0.0 <= back <= LARGEST):
        raise OptionError(
            f"{algorithm.name()}.bias_range: expected numbers (low, high, back) with 0 <= low <= high, "
            f"high from {1 / LARGEST:g} to {LARGEST:g} "
            f"and back from 0 to {LARGEST:g}, found {found!r}"
        )
    return low, high, back


def coin(algorithm: Traversal) -> tuple[int, int]:
    """(limit, rest) of the coins that ``geometric`` flips: a 32-bit word below ``limit`` is a success, one equal to it
    is with chance rest / 2^64.

    ``rest`` is 0 unless the chance is extreme: elsewhere 2^-32 more or less cannot be noticed, and samples stay as they
    were. OptionError if ``geometric`` returns no chance in [0, 1).
    """
    assert algorithm.geometric is not None
    chance = algorithm.geometric()
    if not (isinstance(chance, (int, float)) and 0.0 <= chance < 1.0):
        raise OptionError(
            f"{algorithm.name()}.geometric: expected a probability of at least 0 and below 1, found {quoted(chance)}"
        )
    scaled = float(chance) * 2.0**32
    limit = int(scaled)
    return limit, int((scaled - limit) * 2.0**64) if min(chance, 1.0 - chance) < EXTREME_CHANCE else 0


def tries(size: int) -> int:
    """Number of tries for ``size`` distinct edges of a pool of several vertices, before the pool is listed.

    Pools with fewer edges are listed at once.
    """
    return 4 * size + 64
