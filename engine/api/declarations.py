"""The declarations of a custom class: the type and the values of each attribute, and what its rule makes of them.

All of it is checked here, before anything is planned.
"""

from collections.abc import Iterable
from difflib import get_close_matches

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import LARGEST, MOST_STEPS, Algorithm, MiniBatches, Option, Traversal, Walk
from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.hook_language import placed, users_code
from csaw.engine.api.rules import DEFAULTS, TRUTHS, Clocks, MiniBatch, refuse
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

LAYOUTS = {
    Walk: ("walks",),
    Traversal: ("subgraphs", "hops"),
    MiniBatches: ("batches",),
    LinksWithNegatives: ("links",),
}
STARTS = {
    Walk: ("all", "random", "connected", "edges"),
    Traversal: ("all", "random", "connected", "distinct", "every", "clusters"),
    MiniBatches: ("all",),
    LinksWithNegatives: ("links",),
}
HOOKS = {
    "dead_end": Walk,
    "law": Walk,
    "bias_range": Walk,
    "expected_steps": Walk,
    "vertex_bias": Traversal,
    "geometric": Traversal,
    "sizes": Traversal,
}
WORDS = {"draws_from": ("edges", "neighbors", "vertices"), "visits": ("", "uniform", "degree", "strength")}
OPTIONAL = ("bias_range", "expected_steps", "geometric")
COUNTS = {  # least, most, and whether there may be none
    "walk_length": (0, MOST_STEPS, True),
    "num_walks": (1, LARGEST, False),
    "frontier_size": (1, LARGEST, False),
    "pool_size": (1, LARGEST, True),
    "total": (1, LARGEST, True),
    "seeds_per_batch": (1, 2**31 - 1, False),
    "epochs": (1, 2**32 - 1, False),
}


def check_declarations(algorithm: Algorithm) -> None:
    """OptionError if a user's own class declares something that the engine cannot use, or that contradicts itself."""
    base = next(kind for kind in (MiniBatches, LinksWithNegatives, Traversal, Walk) if isinstance(algorithm, kind))
    _check_options(algorithm)
    refuse_misspelled(algorithm, {*dir(base), *HOOKS})
    if type(algorithm).rule is not Algorithm.rule:
        raise OptionError(f"{algorithm.name()}.rule: csaw creates it from the other attributes; choose another name")
    _refuse_unused(algorithm, Walk if base is Walk else Traversal)
    _check_types(algorithm, base)
    check_pool(algorithm)
    if isinstance(algorithm, Traversal):
        _check_rule(algorithm)
        _check_sizes(algorithm)
    _check_returned(algorithm)


def _value(algorithm: Algorithm, name: str) -> object:
    """An attribute, which may be a property of the user's; None where there is none."""
    with users_code(f"{algorithm.name()}.{name} failed:"):
        return getattr(algorithm, name, None)


def _check_options(algorithm: Algorithm) -> None:
    """OptionError if an option has a value that it does not take, which an __init__ of the user's may have given it."""
    known = algorithm.options()
    missing = [name for name, declared in known.items() if not _is_set(algorithm, name, declared)]
    if missing:
        raise OptionError(
            f"{algorithm.name()}: {', '.join(missing)} not set; __init__ must pass the options to super().__init__"
        )
    for name, declared in known.items():
        setattr(algorithm, name, declared.check(name, _value(algorithm, name)))


def _is_set(algorithm: Algorithm, option: str, declared: Option) -> bool:
    value = getattr(algorithm, option, declared)
    return not isinstance(value, Option) and (value is not None or bool(declared.none))


def _refuse_unused(algorithm: Algorithm, kind: type) -> None:
    """OptionError if the class has a hook that algorithms of its kind never call, although its author expects that."""
    for hook, base in HOOKS.items():
        defined = getattr(type(algorithm), hook, None)
        if kind is not base and defined is not None:
            raise OptionError(
                f"{algorithm.name()}.{hook}: a {kind.__name__} never calls it; it is a hook of a {base.__name__}"
            )
        if kind is base and not callable(defined) and (defined is not None or hook not in OPTIONAL):
            refuse(algorithm, hook, f"a method{' or None' * (hook in OPTIONAL)}", defined)


def _check_types(algorithm: Algorithm, base: type[Algorithm]) -> None:
    """OptionError if an attribute has another type or value than all of its kind have."""
    if not isinstance(_value(algorithm, "paper"), str):
        refuse(algorithm, "paper", "text", _value(algorithm, "paper"))
    for name, words in {"layout": LAYOUTS[base], "sources_from": STARTS[base], **WORDS}.items():
        if hasattr(base, name) and _value(algorithm, name) not in words:
            refuse(algorithm, name, f"one of {', '.join(map(repr, words))}", _value(algorithm, name))
    for name in (
        "visited_once",
        "revisits",
        *TRUTHS,
        "ends_induced",
        "shuffle",
        "drop_last",
        "disjoint",
        "draws_seeds",
    ):
        if hasattr(base, name) and not isinstance(_value(algorithm, name), bool):
            refuse(algorithm, name, "True or False", _value(algorithm, name))
    walks = base is Walk or bool(_value(algorithm, "clocks"))
    for name, (low, high, none) in COUNTS.items():
        if not (hasattr(base, name) or (walks and name == "walk_length")):
            continue
        value = _value(algorithm, name)
        if value is None and none:
            continue
        if not _is_whole(value, low, high):
            refuse(algorithm, name, f"an integer from {low:,} to {high:,}", value)
    sized = _value(algorithm, "sized_by")
    if (
        sized != ""
        and getattr(algorithm.options().get(sized) if isinstance(sized, str) else None, "kind", None) is not int
    ):
        refuse(algorithm, "sized_by", "the name of an option that is an integer, or ''", sized)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _check_rule(algorithm: Traversal) -> None:
    """OptionError if no rule has what a class declares, or its hooks or its depth are none that the rule can use."""
    rule, updates = algorithm.rule, type(algorithm).update is not Traversal.update
    if updates and isinstance(rule, MiniBatch):
        raise OptionError(f"{algorithm.name()}.update: mini-batches never call it; derive the class from Traversal")
    if updates and not rule.takes_update:  # an edge of its own leads to each vertex of the frontier
        name = rule.takes[0]
        refuse(algorithm, name, f"{DEFAULTS[name]!r} with update", getattr(algorithm, name))
    if algorithm.is_unlimited and isinstance(rule, MiniBatch):
        refuse(algorithm, "depth", "a number", None, "mini-batches have as many hops as sizes")
    if algorithm.is_unlimited and not rule.once:
        refuse(algorithm, "visited_once", "True with depth = None", False)
    if isinstance(rule, Clocks) and "source" in hooks.edge_bias(algorithm, weighted=True).reads:
        raise OptionError(
            f"{algorithm.name()}.edge_bias: e.source is not available with clocks = True, because walkers have no "
            "separate sources"
        )


def _check_sizes(algorithm: Traversal) -> None:
    """OptionError if ``sizes`` are none, or others than the rules of the traversal ask for."""
    if type(algorithm).sizes is Traversal.sizes:
        raise OptionError(
            f"{type(algorithm).__name__}: expected a method 'def sizes(self)', the number of neighbors that a vertex "
            "draws at each depth, such as (10, 5)"
        )
    with users_code(f"{algorithm.name()}.sizes failed:"):
        found = algorithm.sizes()
    if not (isinstance(found, (tuple, list)) and all(_is_whole(n, -1, LARGEST) for n in found)):
        refuse(algorithm, "sizes", "a tuple of integers, -1 or more", found)
    if expected := algorithm.rule.misfit(tuple(found)):
        refuse(algorithm, "sizes", expected, found)
    if algorithm.is_unlimited and not found:
        refuse(algorithm, "sizes", "a number for each hop to plan for with depth = None", found)


def _check_returned(algorithm: Algorithm) -> None:
    """OptionError if a method that says something of the whole algorithm fails, or returns something else."""
    for name in ("geometric", "bias_range", "expected_steps"):
        if _value(algorithm, name) is not None:
            with users_code(f"{algorithm.name()}.{name} failed:"):
                found = getattr(algorithm, name)()
            if name == "expected_steps" and not (isinstance(found, (int, float)) and found >= 0):
                refuse(algorithm, name, "a number from 0 on", found)


# Names of a user's own class that are nearly those of hooks and rules.

ALIKE = 0.8  # how alike two names are where one of them is misspelled


def refuse_misspelled(algorithm: Algorithm, names: Iterable[str]) -> None:
    """OptionError about an attribute that nothing in its file reads and that is called nearly as one of ``names``."""
    known, kind = {name for name in names if not name.startswith("_")}, type(algorithm)
    own = (name for one in kind.__mro__ if one.__module__ == kind.__module__ for name in vars(one))
    for name in (one for one in own if not one.startswith("_") and one not in known | algorithm.options().keys()):
        alike = get_close_matches(name, known, 1, ALIKE)
        if alike and f".{name}" not in algorithm.file_text:
            raise OptionError(
                f"{algorithm.name()}.{name}: nothing reads it; did you mean {alike[0]}? If not, choose another name"
            )


# Rules of a traversal that selects vertices by ``vertex_bias``: from a pool, or one of its walkers with clocks.

MOST_PICKS = 1 << 24  # of a depth from a pool, with replacement
POOL_STARTS = ("all", "random", "connected", "distinct")  # sources that a pool may begin with


def check_pool(algorithm: Algorithm) -> None:
    """OptionError, with the line of vertex_bias if the class has one, where nothing would call that, or a pool has what
    it cannot use.
    """
    if not isinstance(algorithm, Traversal):
        return
    own, pooled = type(algorithm).vertex_bias is not Traversal.vertex_bias, algorithm.pool_size is not None
    said = None
    if own and not pooled and not algorithm.clocks:
        said = (
            "vertex_bias: only a Traversal with pool_size, from which it selects frontier_size vertices at each depth, "
            "or with clocks = True calls it"
        )
    elif algorithm.clocks and getattr(algorithm, "walk_length", None) is None:
        said = "walk_length: expected an integer with clocks = True, the number of steps of an instance, found None"
    elif algorithm.frontier_replace and not pooled:
        said = "frontier_replace: expected False without pool_size, found True"
    elif algorithm.frontier_replace and algorithm.frontier_size > MOST_PICKS:
        said = (
            f"frontier_size: expected at most {MOST_PICKS:,} with frontier_replace, found {algorithm.frontier_size:,}"
        )
    elif pooled and algorithm.sources_from not in POOL_STARTS:
        words = ", ".join(map(repr, POOL_STARTS))
        said = f"sources_from: expected one of {words} with pool_size, found {quoted(algorithm.sources_from)}"
    if said:
        error = OptionError(f"{algorithm.name()}.{said}")
        raise placed(error, type(algorithm).vertex_bias) if own else error
