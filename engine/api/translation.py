"""NextDoor's samplers as the walks and traversals that csaw draws.

IndividualSampling                                 a Walk
IndividualSampling with sample_size                a Traversal whose vertices select with replacement
IndividualSampling with ``draws_seeds = True``     mini-batches whose seeds are drawn, as those of mvs are
IndividualSampling with step_transits              a Traversal with clocks: one of its roots moves at a step
CollectiveSampling                                 a Traversal that draws vertices from its frontier's neighbors,
                                                   or of the whole graph: a vertex is as likely as the sum of the
                                                   biases of the edges to it
CollectiveSampling, unique or ``replace = False``  a Traversal that selects edges of its frontier
"""

import ast
from typing import Any

from csaw.engine.api.algorithm import MOST_STEPS, Algorithm, MiniBatches, Traversal, Walk, every_hop
from csaw.engine.api.derived_law import law_by, readable
from csaw.engine.api.next_vertex import Choice, read_next, read_transits, written_method
from csaw.engine.api.transit_sampling import CollectiveSampling, IndividualSampling, TransitSampling
from csaw.engine.api.user_code import users_code
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

METHODS = ("steps", "next", "sample_size", "step_transits", "unique")
MOST_DEPTHS = 65535
MADE = {"walk_length", "depth", "sizes", "layout", "clocks", "collective", "draws_from", "update"}
MADE |= {"edge_bias", "vertex_bias"}
SEEDS = {"epochs": 1, "shuffle": False, "drop_last": False}  # where they are drawn anew for each mini-batch


def translated(kind: type[TransitSampling]) -> type[Algorithm]:
    """Make the Walk or the Traversal that draws what ``kind`` says. OptionError, with the line, where none does."""
    if sum(issubclass(kind, one) for one in (IndividualSampling, CollectiveSampling, Walk, Traversal)) != 1:
        raise OptionError(
            f"{kind.__name__}: expected a class of one of IndividualSampling, CollectiveSampling, Walk and Traversal"
        )
    for name in METHODS:
        if _has(kind, name):
            written_method(kind, name)
        elif name in ("steps", "next"):
            raise OptionError(f"{kind.__name__}.{name}: not defined; a class of {kind.__base__.__name__} has one")  # type: ignore[union-attr]
    choice = read_next(kind)
    makes = _collective if kind.collective else _individual
    if not kind.collective and not _has(kind, "sample_size"):
        makes = _of_roots if _has(kind, "step_transits") else _walk
    elif _has(kind, "step_transits"):
        line = written_method(kind, "step_transits")
        raise line.wrong(line.tree.lineno, "only a class of IndividualSampling without sample_size may choose a root")
    base, attributes = makes(kind, choice)
    if choice.update is not None and base is not Walk:
        raise written_method(kind, "next").wrong(
            choice.line, "only a walk may return anything but the dst of the edge; a walk has no sample_size"
        )
    _check_names(kind, "walk_length" if "walk_length" in attributes else "depth")
    attributes |= {"edge_bias": choice.bias, "__module__": kind.__module__, "__doc__": kind.__doc__}
    known = kind.options()
    _refuse_made(kind, attributes, base)
    return type(kind.__name__, (kind, base), {name: one for name, one in attributes.items() if name not in known})


def _has(kind: type[TransitSampling], name: str) -> bool:
    return getattr(kind, name) is not getattr(TransitSampling, name)


def _walk(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, Any]]:
    if _has(kind, "unique") or choice.from_graph:
        name = "next" if choice.from_graph else "unique"
        line = written_method(kind, name)
        raise line.wrong(line.tree.lineno, "a walk draws one vertex of its transit at a step; give a sample_size")
    attributes: dict[str, Any] = {"walk_length": property(_walk_length)}
    if choice.update is not None:
        attributes["update"] = choice.update
        found = readable(choice.update, "update", choice.edge)
        if found and not (hasattr(kind, "law") or hasattr(kind, "dead_end")):
            attributes["law"] = law_by(found, None)
    return Walk, attributes


def _of_roots(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, Any]]:
    def sizes(self: Any) -> tuple[int, ...]:
        return (1,)

    moves = {"clocks": True, "vertex_bias": read_transits(kind).bias}
    return Traversal, {
        "walk_length": property(_walk_length),
        "sizes": sizes,
        "unique": False,
        "replace": False,
        **moves,
    }


def _individual(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, Any]]:
    if choice.from_graph:
        line = written_method(kind, "next")
        raise line.wrong(line.tree.lineno, "only a class of CollectiveSampling may draw from transits.graph.edges")
    replace = property(lambda self: bool(kind.replace) and not self.unique)
    if kind.draws_seeds:
        return MiniBatches, {**_hops(kind), "visited_once": True, "replace": replace, **SEEDS}
    layout = "subgraphs" if kind.visited_once else "hops"
    return Traversal, {**_hops(kind), "layout": layout, "replace": replace}


def _collective(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, Any]]:
    drawn = "vertices" if choice.from_graph else "neighbors"

    def draws_from(self: Any) -> str:
        if (self.unique or not kind.replace) and choice.from_graph:
            raise OptionError(
                "vertices of the whole graph are drawn independently; expected replace = True, and none unique"
            )
        if kind.visited_once and kind.replace and not self.unique:
            raise OptionError("expected unique(step), or replace = False, beside visited_once = True")
        return "edges" if self.unique or not kind.replace else drawn

    replace = property(lambda self: self.draws_from != "edges")
    return Traversal, {**_hops(kind), "draws_from": property(draws_from), "replace": replace}


def _hops(kind: type[TransitSampling]) -> dict[str, Any]:
    """The sizes of the hops, and whether their vertices are different, by the user's methods."""

    def sizes(self: Any) -> tuple[int, ...]:
        steps = _depth(self)
        found = tuple(map(self.sample_size, range(1 if steps is None else steps)))
        for size in found:
            if not isinstance(size, int) or isinstance(size, bool):
                line = written_method(kind, "sample_size")
                raise line.wrong(line.tree.lineno, f"expected a number of vertices, found {quoted(size)}")
        return every_hop(found[0], None) if steps is None else found

    def unique(self: Any) -> bool:
        steps = range(_depth(self) or 1)
        with users_code(f"{self.name()}.unique failed:"):
            found = {bool(kind.unique(self, step)) for step in steps}
        if len(found) > 1:
            line = written_method(kind, "unique")
            raise line.wrong(line.tree.lineno, "expected the same answer for all steps, found both")
        return found.pop() if found else False

    return {"sizes": sizes, "unique": property(unique), "depth": property(_depth)}


def _walk_length(self: Any) -> int | None:
    return _counted(self, MOST_STEPS)


def _depth(self: Any) -> int | None:
    return _counted(self, MOST_DEPTHS)


def _counted(self: Any, most: int) -> int | None:
    """The number of steps that the user's method says. OptionError for whatever it raises, which a property hides."""
    with users_code(f"{self.name()}.steps failed:"):
        steps = self.steps()
    if steps is None or (isinstance(steps, int) and not isinstance(steps, bool) and 0 <= steps <= most):
        return steps
    line = written_method(type(self), "steps")
    raise line.wrong(line.tree.lineno, f"expected an integer from 0 to {most:,}, or None, found {quoted(steps)}")


def _refuse_made(kind: type[TransitSampling], attributes: dict[str, Any], base: type[Algorithm]) -> None:
    """OptionError if the class says itself what follows from its methods, or what its kind does not have."""
    bases = {*TransitSampling.__mro__, IndividualSampling, CollectiveSampling}
    own = {name for one in kind.__mro__ if one not in bases for name in vars(one)}
    for name in sorted(own & MADE - kind.options().keys()):
        if getattr(kind, name) is not attributes.get(name):
            raise OptionError(f"{kind.__name__}.{name}: follows from steps, sample_size and next; remove it")
    for name in ("replace", "visited_once", "draws_seeds"):
        if not isinstance(getattr(kind, name), bool):
            raise OptionError(f"{kind.__name__}.{name}: expected True or False, found {quoted(getattr(kind, name))}")
    if kind.draws_seeds and base is not MiniBatches:
        raise OptionError(f"{kind.__name__}.draws_seeds: only an IndividualSampling with sample_size draws seeds")


def _check_names(kind: type[TransitSampling], counts: str) -> None:
    """OptionError if an option has the name of something else, or, with the name ``counts``, is not what steps says."""
    taken = sorted(kind.options().keys() & (vars(TransitSampling).keys() | {"layout", "sizes"}))
    if taken:
        raise OptionError(f"{kind.__name__}.{taken[0]}: an option cannot be called so; choose another name")
    steps = written_method(kind, "steps")
    said = ast.unparse(steps.tree.body[-1])  # type: ignore[index]
    if counts in kind.options() and said != f"return self.{counts}":
        raise steps.wrong(
            steps.tree.lineno, f"expected 'return self.{counts}', because the class has an option of that name"
        )
