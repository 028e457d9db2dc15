"""The declarations of a user's own class: the type and the values of each attribute, and which can stand together.

All of it is checked here, before anything is planned.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import LARGEST, MOST_STEPS, Algorithm, MiniBatches, Option, Traversal, Walk
from csaw.engine.api.hook_errors import placed, users_code
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

LAYOUTS = {Walk: ("walks",), Traversal: ("subgraphs", "hops"), MiniBatches: ("batches",)}
STARTS = {
    Walk: ("all", "random", "connected", "edges"),
    Traversal: ("all", "random", "connected", "distinct", "every", "clusters"),
    MiniBatches: ("all",),
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
RULES = (
    "visited_once",
    "revisits",
    "collective",
    "induced",
    "each_edge_once",
    "shares_draws",
    "unique",
    "clocks",
    "frontier_replace",
    "replace",
)
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
# The rules of a traversal at their defaults, and beside which other rules each of them may be something else.
DEFAULTS = {
    name: getattr(Traversal, name) for name in (*RULES[2:], "layout", "draws_from", "total", "geometric", "pool_size")
}
BESIDE: dict[str, tuple[str, ...]] = {
    "collective": ("each_edge_once", "draws_from", "unique", "total", "replace", "pool_size"),
    "induced": (),
    "each_edge_once": ("collective",),
    "shares_draws": (),
    "unique": ("collective", "total", "geometric", "layout", "pool_size", "frontier_replace"),
    "clocks": (),
    "pool_size": ("frontier_replace", "collective", "unique", "replace", "total", "geometric"),
    "frontier_replace": ("pool_size", "unique", "replace", "geometric"),
    "replace": ("layout", "draws_from", "geometric", "collective", "pool_size", "frontier_replace"),
    "layout": ("replace", "unique"),
    "draws_from": ("collective", "replace"),
    "total": ("collective", "unique", "pool_size"),
    "geometric": ("replace", "unique", "pool_size", "frontier_replace"),
}


@dataclass(frozen=True)
class Demand:
    """The consequences of a declaration: other attributes, and ``sizes``, a test of them with its words."""

    attributes: dict[str, object]
    sizes: Callable[[tuple[int, ...]], bool] = lambda sizes: True
    said: str = ""


def _at_least_0(sizes: tuple[int, ...]) -> bool:
    return min(sizes, default=0) >= 0


def _has_update(algorithm: Any) -> bool:
    return type(algorithm).update is not Traversal.update


DEMANDS: dict[str, tuple[Callable[[Any], bool], Demand]] = {
    "clocks = True": (lambda a: a.clocks, Demand({"visited_once": False}, lambda sizes: sizes == (1,), "(1,)")),
    "layout = 'hops'": (lambda a: a.layout == "hops", Demand({"visited_once": False})),
    "shares_draws = True": (lambda a: a.shares_draws, Demand({"visited_once": False})),
    "draws_from": (
        lambda a: a.draws_from != "edges",
        Demand({"visited_once": False, "collective": True}, _at_least_0, "numbers from 0 on"),
    ),
    "draws_from = 'vertices'": (lambda a: a.draws_from == "vertices", Demand({"replace": True})),
    "each_edge_once = True": (lambda a: a.each_edge_once, Demand({"sources_from": "every"})),
    "sources_from = 'every'": (
        lambda a: a.sources_from == "every",
        Demand({"visited_once": False, "collective": True}, lambda sizes: len(sizes) == 1, "one number"),
    ),
    "sources_from = 'clusters'": (
        lambda a: a.sources_from == "clusters",
        Demand({"ends_induced": True}, lambda sizes: sizes == (), "()"),
    ),
    "induced = True": (
        lambda a: a.induced,
        Demand({"sources_from": "distinct", "visited_once": True}, lambda sizes: sizes == (-1,), "(-1,)"),
    ),
    "update": (
        _has_update,  # an edge of its own leads to each vertex of the frontier
        Demand(
            {"layout": "subgraphs", "draws_from": "edges", "shares_draws": False, "induced": False, "clocks": False}
        ),
    ),
    "total": (lambda a: a.total is not None, Demand({"collective": True, "visited_once": True})),
    "collective = True and replace = True": (
        lambda a: a.collective and a.replace and a.draws_from == "edges",
        Demand({"replace": False}),
    ),
    "depth = None": (
        lambda a: a.is_unlimited,
        Demand({"visited_once": True, "layout": "subgraphs"}),
    ),
    "geometric": (
        lambda a: a.geometric is not None,
        Demand({}, lambda sizes: set(sizes) <= {-1}, "-1 at each depth, because vertices draw their own sizes"),
    ),
    "replace = True": (
        lambda a: a.replace and a.geometric is None,
        Demand({}, _at_least_0, "numbers from 0 on, because -1 selects each edge once"),
    ),
}


def check_declarations(algorithm: Algorithm) -> None:
    """OptionError if a user's own class declares something that the engine cannot use, or that contradicts itself."""
    base = next(kind for kind in (MiniBatches, Traversal, Walk) if isinstance(algorithm, kind))
    _check_options(algorithm)
    refuse_misspelled(algorithm, {*dir(base), *HOOKS})
    _refuse_unused(algorithm, Walk if base is Walk else Traversal)
    _check_types(algorithm, base)
    check_pool(algorithm)
    if isinstance(algorithm, MiniBatches):
        _refuse_other_rules(algorithm)
    elif isinstance(algorithm, Traversal):
        _check_rules(algorithm)
    if isinstance(algorithm, Traversal):
        _check_sizes(algorithm)
    _check_returned(algorithm)


def _refuse(algorithm: Algorithm, name: str, expected: str, found: object, why: str = "") -> NoReturn:
    raise OptionError(f"{algorithm.name()}.{name}: expected {expected}, found {quoted(found)}{'; ' * bool(why)}{why}")


def _value(algorithm: Algorithm, name: str) -> Any:
    """An attribute, which may be a property of the user's; None where there is none."""
    with users_code(f"{algorithm.name()}.{name} failed:"):
        return getattr(algorithm, name, None)


def _check_options(algorithm: Algorithm) -> None:
    """OptionError if an option has a value that it does not take, which an __init__ of the user's may have given it."""
    known = algorithm.options()
    missing = [name for name, declared in known.items() if not _is_set(algorithm, name, declared)]
    if missing:
        raise OptionError(
            f"{algorithm.name()}: {', '.join(missing)} not set; its __init__ must pass the options on to "
            "super().__init__"
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
            _refuse(algorithm, hook, f"a method{' or None' * (hook in OPTIONAL)}", defined)


def _check_types(algorithm: Algorithm, base: type[Algorithm]) -> None:
    """OptionError if an attribute has another type or value than all of its kind have."""
    if not isinstance(_value(algorithm, "paper"), str):
        _refuse(algorithm, "paper", "text", _value(algorithm, "paper"))
    for name, words in {"layout": LAYOUTS[base], "sources_from": STARTS[base], **WORDS}.items():
        if hasattr(base, name) and _value(algorithm, name) not in words:
            _refuse(algorithm, name, f"one of {', '.join(map(repr, words))}", _value(algorithm, name))
    for name in (*RULES, "ends_induced", "shuffle", "drop_last", "disjoint", "draws_seeds"):
        if hasattr(base, name) and not isinstance(_value(algorithm, name), bool):
            _refuse(algorithm, name, "True or False", _value(algorithm, name))
    walks = base is Walk or bool(_value(algorithm, "clocks"))
    for name, (low, high, none) in COUNTS.items():
        if not (hasattr(base, name) or (walks and name == "walk_length")):
            continue
        value = _value(algorithm, name)
        if value is None and none:
            continue
        if not _is_whole(value, low, high):
            _refuse(algorithm, name, f"an integer from {low:,} to {high:,}", value)
    sized = _value(algorithm, "sized_by")
    if (
        sized != ""
        and getattr(algorithm.options().get(sized) if isinstance(sized, str) else None, "kind", None) is not int
    ):
        _refuse(algorithm, "sized_by", "the name of an option that is an integer, or ''", sized)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _check_rules(algorithm: Traversal) -> None:
    """OptionError if rules of a traversal exclude each other, or leave out what they need."""
    declared = [name for name, default in DEFAULTS.items() if getattr(algorithm, name) != default]
    for name in declared:
        for other in declared:
            if other != name and other not in BESIDE[name]:
                raise OptionError(
                    f"{algorithm.name()}: {_said(algorithm, name)} and {_said(algorithm, other)} cannot stand together"
                )
    for rule, (applies, demand) in DEMANDS.items():
        if not applies(algorithm):
            continue
        for name, wanted in demand.attributes.items():
            if getattr(algorithm, name) != wanted:
                _refuse(algorithm, name, f"{wanted!r} beside {rule}", getattr(algorithm, name))
    if algorithm.clocks and "source" in hooks.edge_bias(algorithm, weighted=True).reads:
        raise OptionError(
            f"{algorithm.name()}.edge_bias: e.source is not known beside clocks = True, where walkers have "
            "no source of their own"
        )


def _said(algorithm: Algorithm, name: str) -> str:
    return name if name == "geometric" else f"{name} = {getattr(algorithm, name)!r}"


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
        _refuse(algorithm, "sizes", "a tuple of integers, -1 or more", found)
    for rule, (applies, demand) in DEMANDS.items():
        if applies(algorithm) and not demand.sizes(tuple(found)):
            _refuse(algorithm, "sizes", f"{demand.said} beside {rule}", found)
    if algorithm.is_unlimited and not found:
        _refuse(algorithm, "sizes", "a number for each hop to plan for beside depth = None", found)


def _check_returned(algorithm: Algorithm) -> None:
    """OptionError if a method that says something of the whole algorithm fails, or returns something else."""
    for name in ("geometric", "bias_range", "expected_steps"):
        if _value(algorithm, name) is not None:
            with users_code(f"{algorithm.name()}.{name} failed:"):
                found = getattr(algorithm, name)()
            if name == "expected_steps" and not (isinstance(found, (int, float)) and found >= 0):
                _refuse(algorithm, name, "a number from 0 on", found)


def _refuse_other_rules(algorithm: MiniBatches) -> None:
    """OptionError if mini-batches declare a rule of other traversals, which they do not follow."""
    for rule in (*RULES[:-1], "draws_from", "total", "geometric", "pool_size", "sources_from", "ends_induced"):
        if getattr(algorithm, rule) != getattr(MiniBatches, rule):
            raise OptionError(
                f"{algorithm.name()}.{rule}: expected {getattr(MiniBatches, rule)}, as in all "
                f"mini-batches, found {quoted(getattr(algorithm, rule))}; remove it, or derive the class "
                "from Traversal"
            )
    if _has_update(algorithm):
        raise OptionError(f"{algorithm.name()}.update: mini-batches never call it; derive the class from Traversal")
    if algorithm.is_unlimited:
        _refuse(algorithm, "depth", "a number", None, "mini-batches have as many hops as sizes")
    for name, wanted in (("epochs", 1), ("shuffle", False), ("drop_last", False)) if algorithm.draws_seeds else ():
        if getattr(algorithm, name) != wanted:
            _refuse(algorithm, name, f"{wanted!r} beside draws_seeds = True", getattr(algorithm, name))


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
        said = "walk_length: expected an integer beside clocks = True, the steps of an instance, found None"
    elif algorithm.frontier_replace and not pooled:
        said = "frontier_replace: expected False without pool_size, found True"
    elif algorithm.frontier_replace and algorithm.frontier_size > MOST_PICKS:
        said = (
            f"frontier_size: expected at most {MOST_PICKS:,} beside frontier_replace, found {algorithm.frontier_size:,}"
        )
    elif pooled and algorithm.sources_from not in POOL_STARTS:
        words = ", ".join(map(repr, POOL_STARTS))
        said = f"sources_from: expected one of {words} beside pool_size, found {quoted(algorithm.sources_from)}"
    if said:
        error = OptionError(f"{algorithm.name()}.{said}")
        raise placed(error, type(algorithm).vertex_bias) if own else error
