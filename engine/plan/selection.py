"""How neighbors are selected: which method suits a bias, and what follows from it."""

import math

from csaw.engine import hooks
from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.engine.user_code import is_own
from csaw.partition.errors import BiasError, OptionError
from csaw.partition.shown import quoted

SELECTS = ("uniform", "alias", "rejection", "its", "keys")
COLLISIONS = ("bipartite", "repeated", "updated")
EXTREME_CHANCE = 2.0**-20  # of a coin, or of its other side, from which 32 bits are too few
HOPELESS = 2.0**-20  # of trials by rejection that accept: rows that accept fewer are drawn from as a whole
LARGEST = 1e260  # of a bound: times any float32 and any number of edges it is a float64


def choose_select(algorithm: Algorithm, weighted: bool, forced: str | None) -> str:
    """The cheapest exact method for the bias (C-SAW, section II-B), or ``forced`` where it applies."""
    bias = hooks.edge_bias(algorithm, weighted)
    update = hooks.others(algorithm, weighted)["update"]
    if bias.constant is not None and not 0.0 <= bias.constant < math.inf:
        raise BiasError(f"{algorithm.name()}.edge_bias is {bias.constant}; a bias must be a finite number, 0 or more")
    constant = bias.constant is not None and bias.constant > 0
    if isinstance(algorithm, Walk):
        by_edge = not (update and "weight" in update.reads)
        can = {
            "uniform": constant and by_edge,
            "alias": bias.static and by_edge,
            "rejection": algorithm.bias_range is not None and not bias.static and by_edge,
            "its": True,
            "keys": False,
        }
    else:
        assert isinstance(algorithm, Traversal)
        if algorithm.geometric is not None:
            coin(algorithm)
        pooled = algorithm.visited_once or algorithm.each_edge_once or algorithm.induced or algorithm.collective
        whole = algorithm.replace and not pooled and not algorithm.clocks
        can = {
            "uniform": constant and not (algorithm.collective and (algorithm.replace or algorithm.geometric)),
            "alias": bias.static and whole and min(algorithm.sizes(), default=0) >= 0,
            "rejection": False,
            "its": not algorithm.collective,
            "keys": not algorithm.replace and not algorithm.clocks,
        }
    chosen = forced or next(method for method in SELECTS if can[method])
    if not can[chosen]:
        usable = ", ".join(method for method in SELECTS if can[method])
        raise OptionError(f"--select {forced} cannot draw {algorithm.name()} with this bias; it can use {usable}")
    if chosen == "rejection":
        bounds(algorithm)
    return chosen


def return_apart(algorithm: Algorithm, select: str) -> bool:
    """Whether a rejection walk draws the return edge apart: what its bias has above the others' bound."""
    if select != "rejection":
        return False
    _, high, back = bounds(algorithm)
    return back > high


def may_be_hopeless(algorithm: Algorithm, select: str) -> bool:
    """Whether there can be rows of which a trial by rejection hardly ever accepts anything; a user's own bounds may not hold."""
    if select != "rejection":
        return False
    low, high, back = bounds(algorithm)
    return min(low, back) < HOPELESS * high or is_own(type(algorithm))


def bounds(algorithm: Algorithm) -> tuple[float, float, float]:
    """What ``bias_range`` says: low, high, back; OptionError where that bounds nothing."""
    found = algorithm.bias_range()  # type: ignore[attr-defined]
    try:
        low, high, back = (float(bound) for bound in found)
    except (TypeError, ValueError):
        low = high = back = math.nan
    if not (0.0 <= low <= high and 1.0 / LARGEST <= high <= LARGEST and 0.0 <= back <= LARGEST):
        raise OptionError(
            f"{algorithm.name()}.bias_range: expected numbers (low, high, back) with 0 <= low <= high, high from {1 / LARGEST:g} to {LARGEST:g} "
            f"and back from 0 to {LARGEST:g}, found {found!r}"
        )
    return low, high, back


def coin(algorithm: Traversal) -> tuple[int, int]:
    """(limit, rest) of the coins that ``geometric`` flips: a word of 32 bits below ``limit`` is a success, and of those equal to it rest / 2^64.

    Chances that are not extreme are those of 32 bits: what 2^-32 more or less cannot be seen in, and as they always were.
    """
    chance = algorithm.geometric()  # type: ignore[misc]
    if not (isinstance(chance, (int, float)) and 0.0 <= chance < 1.0):
        raise OptionError(
            f"{algorithm.name()}.geometric: expected a chance of at least 0 and below 1, found {quoted(chance)}"
        )
    scaled = float(chance) * 2.0**32
    limit = int(scaled)
    return limit, int((scaled - limit) * 2.0**64) if min(chance, 1.0 - chance) < EXTREME_CHANCE else 0


def tries(size: int) -> int:
    """How often a pool of several vertices is tried for ``size`` distinct edges before it is listed; smaller ones are listed at once."""
    return 4 * size + 64
